package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"aiperf/internal/cli/command"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/config"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/file"
	"aiperf/internal/config/flags"
	"aiperf/internal/config/resolve"
	"aiperf/internal/config/settings"
	"aiperf/internal/experiment/search/loop"
	"aiperf/internal/experiment/sweep"
	"aiperf/internal/run"
)

// KubeDeploy are the flags of the sub-commands that make a benchmark of a command line.
type KubeDeploy struct {
	clusterFlags
	name, image, pullPolicy, queue, priority, account, engine string
	workers                                                   int
	ttl                                                       int
	noTTL                                                     bool
	nodeSelector, annotations, labels, env, secretEnv         map[string]string
	tolerations, secretMounts                                 []crd.Object
	pullSecrets                                               []string
	operator, direct, skipEndpoint, dryRun, noWait            bool
	Detach                                                    *bool // nil: unless there is a terminal
	attachPort                                                int
	// of sweeps
	trials, minRuns, maxRuns int
	cooldown                 float64
}

func (o *KubeDeploy) deployment() []flags.Flag {
	o.ttl = -1
	engine := flags.Choice("engine", "ENGINE", "without the operator: jobs are Kubernetes' own, jobset needs JobSet "+
		"[default: jobset where the cluster has it, else jobs]", &o.engine, string(crd.EngineJobs),
		string(crd.EngineJobSet))
	return []flags.Flag{
		flags.Value("name", "NAME", "name of the benchmark: a DNS label of at most 40 characters [default: made up]",
			command.NonEmpty(&o.name)),
		flags.Value("image", "IMAGE", "image of aiperf [default: "+imageVariable+", else "+crd.DefaultImage+"]", func(v string) error {
			if strings.TrimSpace(v) == "" {
				return errors.New("the value is blank")
			}
			o.image = v
			return nil
		}),
		flags.Value("image-pull-policy", "POLICY", "Always, IfNotPresent or Never, in any case", func(v string) error {
			for _, p := range crd.PullPolicies() {
				if strings.EqualFold(p, strings.ReplaceAll(strings.ReplaceAll(v, "-", ""), "_", "")) {
					o.pullPolicy = p
					return nil
				}
			}
			return fmt.Errorf("must be one of %s", strings.Join(crd.PullPolicies(), ", "))
		}),
		flags.Value("total-workers", "N", "workers of all pods, ten in each; more than ten must fill pods [default: "+
			"from the concurrency]", within(&o.workers, 1, 100_000)),
		flags.Value("ttl-seconds", "N", "seconds that finished pods stay, or none for ever [default: 300]",
			func(v string) error {
				if o.noTTL = strings.EqualFold(v, "none"); o.noTTL {
					return nil
				}
				return within(&o.ttl, 0, 1<<31-1)(v)
			}),
		flags.Value("node-selector", "K=V", "labels of the nodes; repeated, or as JSON", pairs(&o.nodeSelector)),
		flags.Value("tolerations", "JSON", "a toleration, or a list of them", objects(&o.tolerations)),
		flags.Value("queue-name", "NAME", "LocalQueue of Kueue", command.NonEmpty(&o.queue)),
		flags.Value("priority-class", "NAME", "WorkloadPriorityClass of Kueue", command.NonEmpty(&o.priority)),
		flags.Value("image-pull-secrets", "NAME,…", "secrets of the registry", flags.List(&o.pullSecrets)),
		flags.Value("env-vars", "K=V", "variables of the environment of all containers; repeated, or as JSON",
			pairs(&o.env)),
		flags.Value("env-from-secrets", "ENV=SECRET/KEY", "the same from secrets of the namespace",
			pairs(&o.secretEnv)),
		flags.Value("secret-mounts", "JSON", "secrets as files: {name, mountPath, subPath}, or a list of them",
			objects(&o.secretMounts)),
		flags.Value("service-account", "NAME", "service account of the pods", command.NonEmpty(&o.account)),
		flags.Value("annotations", "K=V", "annotations of the pods; repeated, or as JSON", pairs(&o.annotations)),
		flags.Value("labels", "K=V", "labels of the pods; repeated, or as JSON", pairs(&o.labels)),
		flags.Switch("operator", "have the operator run it", &o.operator),
		flags.Switch("no-operator", "create its objects from here", &o.direct),
		engine,
	}
}

const kubeDeployFooter = `
All options of aiperf profile apply too: aiperf profile --help. --config FILE may be a configuration file or a manifest
of an AIPerfJob.
`

func (o *KubeDeploy) generateTable() *flags.Table {
	return kubeTable("generate", `Usage: aiperf kube generate [--operator|--no-operator] [options] OPTIONS OF aiperf profile

Prints the manifests of a benchmark: with --operator, the default, the AIPerfJob, or the AIPerfSweep where several runs
are asked for; with --no-operator the objects that a cluster runs without the operator. No cluster is asked. An estimate
of the memory that the pods take goes to the standard error.
  aiperf kube generate -n bench --image IMAGE -m MODEL --url http://SERVER:8000 --request-count 100 | kubectl apply -f -

Options:
`, kubeDeployFooter, &o.clusterFlags, o.deployment()...)
}

func (o *KubeDeploy) ProfileTable() *flags.Table {
	own := slices.Concat([]flags.Flag{
		whether("detach -d", "return once the benchmark was created; the default without a terminal", &o.Detach),
		flags.Switch("no-wait", "do not wait for the pods before following the benchmark", &o.noWait),
		flags.Value("attach-port", "PORT", "port of this machine for the connection to the benchmark [default: a free one]",
			within(&o.attachPort, 0, 65535)),
		flags.Switch("skip-endpoint-check", "do not ask the server before the pods start", &o.skipEndpoint),
		flags.Switch("dry-run", "print what would be created and end; no cluster is asked", &o.dryRun),
	}, o.deployment())
	return kubeTable("profile", `Usage: aiperf kube profile [options] OPTIONS OF aiperf profile

Runs a benchmark in a cluster and follows it. Ctrl-C ends the following, not the benchmark. With the operator one
AIPerfJob is created, and results are stored; without it the objects of the benchmark are, and results stay in its
controller pod until it is shut down. For example:
  aiperf kube profile -n bench --image IMAGE -m MODEL --url http://SERVER:8000 --concurrency 100 --request-count 1000

Options:
`, kubeDeployFooter+`
Exit codes: 0 the benchmark completed, or was created with --detach; 1 it failed or was cancelled, or an error.
`, &o.clusterFlags, own...)
}

func (o *KubeDeploy) sweepTable() *flags.Table {
	own := slices.Concat([]flags.Flag{
		flags.Value("trials", "N", "runs of each variation [default: multiRun.numRuns of the file, else 1]",
			within(&o.trials, 1, crd.MaxTrials)),
		flags.Value("cooldown", "SECONDS", "pause between two runs [default: 0]", command.Real(&o.cooldown, 0, 86400)),
		flags.Value("min-runs", "N", "with convergence: fewest runs of a variation [default: 3]",
			within(&o.minRuns, 1, crd.MaxTrials)),
		flags.Value("max-runs", "N", "with convergence: most runs of a variation [default: --trials, else "+
			"multiRun.numRuns, else 10]", within(&o.maxRuns, 1, crd.MaxTrials)),
		whether("detach -d", "accepted: a sweep is never followed", &o.Detach),
		flags.Switch("skip-endpoint-check", "do not ask the server before the pods start", &o.skipEndpoint),
		flags.Switch("dry-run", "print what would be created and end; no cluster is asked", &o.dryRun),
	}, o.deployment())
	return kubeTable("sweep", `Usage: aiperf kube sweep --config FILE [options] OPTIONS OF aiperf profile

Has the operator run a sweep, or several runs of one benchmark: FILE has a sweep or a multiRun section. The command
returns once the AIPerfSweep was created; aiperf kube list shows how far it is.

Options:
`, kubeDeployFooter, &o.clusterFlags, own...)
}

// pairs reads K=V, or a JSON object of texts.
func pairs(to *map[string]string) func(string) error {
	return func(v string) error {
		if *to == nil {
			*to = map[string]string{}
		}
		if strings.HasPrefix(strings.TrimSpace(v), "{") {
			more := map[string]string{}
			if err := json.Unmarshal([]byte(v), &more); err != nil {
				return fmt.Errorf("must be K=V or a JSON object of texts: %w", err)
			}
			maps.Copy(*to, more)
			return nil
		}
		key, value, ok := strings.Cut(v, "=")
		if !ok || key == "" {
			return errors.New("must be K=V or a JSON object of texts")
		}
		(*to)[key] = value
		return nil
	}
}

// objects reads a JSON object or a list of them.
func objects(to *[]crd.Object) func(string) error {
	return func(v string) error {
		var list []crd.Object
		if strings.HasPrefix(strings.TrimSpace(v), "[") {
			if err := json.Unmarshal([]byte(v), &list); err != nil {
				return fmt.Errorf("must be a JSON object or a list of them: %w", err)
			}
		} else {
			var one crd.Object
			if err := json.Unmarshal([]byte(v), &one); err != nil {
				return fmt.Errorf("must be a JSON object or a list of them: %w", err)
			}
			list = append(list, one)
		}
		*to = append(*to, list...)
		return nil
	}
}

// benchmark is what the arguments of these commands ask for.
type kubeBenchmark struct {
	// kind is crd.JobKind, or crd.SweepKind where several runs are asked for.
	kind string
	name string
	spec crd.Spec
	// run is the resolved benchmark; of a sweep its first variation.
	run      *config.Run
	warnings []fault.Warning
}

// object is the resource.
func (b *kubeBenchmark) object(namespace string) (crd.Object, error) {
	o, err := crd.ToObject(&b.spec)
	if err != nil {
		return nil, err
	}
	return crd.Object{"apiVersion": crd.APIVersion, "kind": b.kind,
		"metadata": crd.Object{"name": b.name, "namespace": namespace}, "spec": o}, nil
}

// job is the job of a benchmark that is one.
func (b *kubeBenchmark) job(namespace string) *crd.Job {
	return &crd.Job{APIVersion: crd.APIVersion, Kind: crd.JobKind,
		Metadata: crd.Metadata{Name: b.name, Namespace: namespace}, Spec: b.spec}
}

// kubeSource is what a configuration file holds for a cluster.
type kubeSource struct {
	source *file.Source
	// manifest is nil for a plain configuration file.
	manifest *crd.Parsed
}

// openKubeConfig reads a configuration file or a manifest.
func openKubeConfig(e *command.Env, name string) (*kubeSource, error) {
	data, err := readInput(e, name)
	if err != nil {
		return nil, fmt.Errorf("the configuration file %s cannot be read: %w", name, err)
	}
	doc, err := document.Read(shownName(name), data)
	if err != nil {
		return nil, err
	}
	if doc.Root.Get("kind") == nil {
		source, err := file.Of(doc, e.LookupEnv)
		return &kubeSource{source: source}, err
	}
	return kubeManifest(e, doc)
}

// kubeManifest reads a document that is a resource.
func kubeManifest(e *command.Env, doc *document.File) (*kubeSource, error) {
	parsed, err := crd.Parse(crd.Plain(doc.Root.Any()).(crd.Object))
	if err == nil {
		err = parsed.Refuse()
	}
	if err != nil {
		return nil, prefixed(doc.Name, err)
	}
	source, err := file.Of(&document.File{Name: doc.Name, Text: doc.Text, Root: envelopeOf(doc.Root.Get("spec"))},
		parsed.Spec.Lookup(e.LookupEnv))
	return &kubeSource{source: source, manifest: parsed}, err
}

// prefixed names a file in each line of an error.
func prefixed(name string, err error) error {
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		lines[i] = name + ": " + lines[i]
	}
	return errors.New(strings.Join(lines, "\n"))
}

// envelopeOf is the part of a specification that is a configuration file, with the places of its values.
func envelopeOf(spec *document.Node) *document.Node {
	root := &document.Node{Kind: document.Map, Pos: spec.Pos}
	known := crd.EnvelopeKeys()
	for _, m := range spec.Members {
		if slices.Contains(known, crd.CamelName(m.Key)) {
			root.Members = append(root.Members, m)
		}
	}
	return root
}

// makeBenchmark makes a benchmark of the arguments of aiperf profile.
func makeBenchmark(e *command.Env, o *KubeDeploy, rest []string) (*kubeBenchmark, error) {
	parsed, err := settings.Parse(rest, e.LookupEnv)
	if err != nil {
		return nil, err
	}
	b := &kubeBenchmark{kind: crd.JobKind, name: o.name}
	var spec crd.Object
	if !parsed.Given("config") {
		spec, err = kubeFromFlags(e, b, parsed)
	} else {
		spec, err = kubeFromFile(e, b, parsed, len(rest) <= 2)
	}
	if err != nil {
		return nil, err
	}
	if err := o.fill(spec, e.LookupEnv); err != nil {
		return nil, err
	}
	if b.kind == crd.SweepKind && spec["sweep"] == nil {
		spec["sweep"] = carrier()
	}
	p, err := crd.ParseSpec(b.kind, spec)
	if err == nil {
		err = p.Refuse()
	}
	if err != nil {
		return nil, err
	}
	b.spec = p.Spec
	if o.workers > 0 {
		b.run.Workers.Max = &o.workers
	}
	if b.name == "" {
		b.name = newName()
	}
	if err := crd.ValidJobName(b.name); err != nil {
		return nil, fmt.Errorf("--name %w", err)
	}
	if err := b.secrets(); err != nil {
		return nil, err
	}
	return b, b.size()
}

// kubeFromFlags makes a specification of flags alone.
func kubeFromFlags(e *command.Env, b *kubeBenchmark, parsed *settings.Settings) (crd.Object, error) {
	own := parsed
	block, err := sweep.Block(parsed)
	if err != nil {
		return nil, err
	}
	if block != nil {
		plan, err := sweep.FromFlags(parsed, nil)
		if err != nil {
			return nil, err
		}
		if own, err = plan.Variations[0].Settings(parsed, false); err != nil {
			return nil, err
		}
	}
	if b.run, b.warnings, err = resolve.Resolve(own, run.Catalog{}); err != nil {
		return nil, err
	}
	tree, _ := file.FromRun(b.run)
	spec := crd.Plain(tree.Any()).(crd.Object)
	several := b.run.Several()
	if block != nil {
		spec["sweep"] = crd.Plain(block.Any())
	}
	if block != nil || several {
		b.kind = crd.SweepKind
	}
	return spec, nil
}

// kubeFromFile makes a specification of a file with flags over it. alone reports that there are no such flags.
func kubeFromFile(e *command.Env, b *kubeBenchmark, parsed *settings.Settings, alone bool) (crd.Object, error) {
	k, err := openKubeConfig(e, parsed.Text("config"))
	if err != nil {
		return nil, err
	}
	e.HideFile(k.source, parsed)
	over := sweep.Over{File: k.source.File, Raw: k.source.Raw, Flags: parsed}
	raw, err := over.Envelope()
	if err != nil {
		return nil, err
	}
	plan, err := sweep.Expand(k.source.File, raw)
	if err != nil {
		return nil, err
	}
	var own *settings.Settings
	block := raw.Get("sweep")
	if plan.Type == sweep.None {
		own, _, err = k.source.Settings(raw, file.Options{Flags: parsed, NoFiles: true})
	} else {
		first := loop.First(plan)
		var given *settings.Settings
		if given, err = first.Settings(parsed, true); err == nil {
			own, _, err = k.source.Settings(first.Envelope(), file.Options{Flags: given, NoFiles: true})
		}
	}
	if err != nil {
		return nil, err
	}
	if b.run, b.warnings, err = resolve.Resolve(own, run.Catalog{}); err != nil {
		return nil, err
	}
	spec := crd.Object{}
	if k.manifest != nil {
		if spec, err = crd.ToObject(&k.manifest.Spec); err != nil {
			return nil, err
		}
		if b.name == "" {
			b.name = k.manifest.Metadata.Name
		}
	}
	if k.manifest == nil || !alone {
		tree, _ := file.FromRun(b.run)
		made := crd.Plain(tree.Any()).(crd.Object)
		delete(made, "schema_version")
		for _, key := range []string{"multiRun", "randomSeed", "variables"} {
			delete(spec, key)
		}
		maps.Copy(spec, made)
		if block != nil && block.Kind != document.Null {
			spec["sweep"] = crd.Plain(block.Any())
			// what the first variation set is set anew by each one
		}
		if m := raw.Get("multi_run"); m != nil && m.Kind == document.Map && spec["multi_run"] == nil {
			spec["multi_run"] = crd.Plain(m.Any())
		}
	}
	if plan.Type != sweep.None || b.run.Several() {
		b.kind = crd.SweepKind
	}
	if k.manifest != nil && k.manifest.Kind == crd.SweepKind {
		b.kind = crd.SweepKind
	}
	return spec, nil
}

// secrets fails where the benchmark needs a secret that the pods do not get: secrets are not written into resources.
func (b *kubeBenchmark) secrets() error {
	var known []string
	if t := b.spec.PodTemplate; t != nil {
		for _, e := range t.Env {
			name, _ := e["name"].(string)
			known = append(known, name)
		}
	}
	for _, name := range references(b.spec.Benchmark) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("the benchmark needs the secret %s, which does not belong into a resource: put it into a "+
				"secret of the namespace and give --env-from-secrets %s=SECRET/KEY", name, name)
		}
	}
	return nil
}

// references are the variables of the environment without a default that texts refer to.
func references(v any) (names []string) {
	switch v := v.(type) {
	case crd.Object:
		for _, x := range v {
			names = append(names, references(x)...)
		}
	case []any:
		for _, x := range v {
			names = append(names, references(x)...)
		}
	case string:
		for _, part := range strings.Split(v, "${")[1:] {
			name, _, ok := strings.Cut(part, "}")
			if ok && !strings.Contains(name, ":") {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// size checks the names and numbers of the jobs of a sweep before any resource exists.
func (b *kubeBenchmark) size() error {
	if b.kind != crd.SweepKind {
		return nil
	}
	trials, _ := b.spec.Trials()
	source, err := b.spec.Source("the sweep", nil)
	if err != nil {
		return err
	}
	plan, err := sweep.Expand(source.File, source.Raw)
	if err != nil {
		return err
	}
	return crd.CheckSweepSize(b.name, max(1, len(plan.Variations)), trials, b.spec.TrialSuffix())
}

// carrier is the sweep of one variation that carries several runs of one benchmark.
func carrier() crd.Object {
	return crd.Object{"type": "scenarios", "runs": []any{crd.Object{"name": "base"}}}
}

func shownName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// checkModes fails on two modes at once.
func (o *KubeDeploy) checkModes() error {
	if o.operator && o.direct {
		return errors.New("--operator and --no-operator exclude each other")
	}
	return nil
}

// titledError is an error with a title of its own.
type titledError struct{ title, text string }

func (e *titledError) Error() string      { return e.text }
func (e *titledError) PanelTitle() string { return e.title }

// needsOperator is the refusal of several runs without the operator.
func needsOperator(instead string) error {
	return &titledError{title: "Kubernetes Operator Required",
		text: "--no-operator runs one benchmark only; a sweep, or several runs, need the operator: " + instead}
}

// kubeGenerate prints manifests.
func kubeGenerate(e *command.Env, args []string) error {
	var o KubeDeploy
	table := o.generateTable()
	own, rest := SplitFlags(table, args)
	if _, err := e.Parse(table, append(own, help(args)...)); err != nil {
		return err
	}
	e.HideSecrets(rest)
	if err := o.checkModes(); err != nil {
		return err
	}
	b, err := kubeBenchmarkOf(e, &o, rest)
	if err != nil {
		return err
	}
	namespace, err := o.options().FindNamespace()
	if err != nil {
		return err
	}
	if o.direct {
		if b.kind == crd.SweepKind {
			return needsOperator("aiperf kube generate --operator prints an AIPerfSweep, aiperf kube sweep creates " +
				"it")
		}
		objects, err := crd.Build(b.job(namespace), crd.BuildOptions{Engine: o.engineOf(false),
			Token: newToken(), Run: b.run})
		if err != nil {
			return err
		}
		e.Terminal.Out.Write(crd.Documents(objects...))
	} else {
		object, err := b.object(namespace)
		if err != nil {
			return err
		}
		e.Terminal.Out.Write(crd.YAML(object))
	}
	kubeEstimate(e, b)
	return nil
}

// kubeBenchmarkOf is kubeBenchmark with its warnings printed.
func kubeBenchmarkOf(e *command.Env, o *KubeDeploy, rest []string) (*kubeBenchmark, error) {
	b, err := makeBenchmark(e, o, rest)
	if err != nil {
		return nil, err
	}
	for _, w := range b.warnings {
		if w.Level == fault.LevelWarning {
			fmt.Fprintln(e.Terminal.Err, "Warning:", e.Redactor.URL(w.Text))
		}
	}
	if b.spec.Image == crd.DefaultImage {
		fmt.Fprintf(e.Terminal.Err, "Warning: the image %s is that of the original AIPerf, which cannot run these pods: "+
			"give --image, or set %s\n", crd.DefaultImage, imageVariable)
	}
	for _, path := range localFiles(b.run) {
		fmt.Fprintf(e.Terminal.Err, "Warning: %s is read in the pods: mount it there, with podTemplate.volumes and "+
			"podTemplate.volumeMounts\n", path)
	}
	return b, nil
}

// localFiles are the files that a benchmark reads.
func localFiles(r *config.Run) (paths []string) {
	for _, name := range []string{"input-file", "system-prompt-file"} {
		if p := r.Asked; p.Given(name) {
			paths = append(paths, p.Text(name))
		}
	}
	return paths
}

// help is --help where the arguments have it.
func help(args []string) []string {
	if flags.WantsHelp(args) {
		return []string{"--help"}
	}
	return nil
}

// engineOf is the engine of the flag, else the best one of the cluster.
func (o *KubeDeploy) engineOf(jobSet bool) crd.Engine {
	switch {
	case o.engine != "":
		return crd.Engine(o.engine)
	case jobSet:
		return crd.EngineJobSet
	}
	return crd.EngineJobs
}

// kubeEstimate prints how much memory the pods of a benchmark take.
func kubeEstimate(env *command.Env, b *kubeBenchmark) {
	e, err := crd.EstimateOf(&b.spec, b.run)
	if err != nil {
		fmt.Fprintf(env.Terminal.Err, "The memory of the pods was not estimated: %v\n", err)
		return
	}
	for _, line := range e.Lines() {
		fmt.Fprintln(env.Terminal.Err, line)
	}
}
