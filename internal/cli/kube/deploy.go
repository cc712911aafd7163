package kube

import (
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
	data, err := readInput(name)
	if err != nil {
		return nil, command.Unreadable("the configuration file", name, err)
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
func makeBenchmark(e *command.Env, o *Deploy, rest []string) (*kubeBenchmark, error) {
	parsed, err := settings.Parse(rest, e.LookupEnv)
	if err != nil {
		return nil, err
	}
	b := &kubeBenchmark{kind: crd.JobKind, name: o.name}
	var spec crd.Object
	if !parsed.Config.Given() {
		spec, err = kubeFromFlags(b, parsed)
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
func kubeFromFlags(b *kubeBenchmark, parsed *settings.Settings) (crd.Object, error) {
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
	k, err := openKubeConfig(e, parsed.Config.Get())
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

// titledError is an error with a title of its own.
type titledError struct{ title, text string }

func (e *titledError) Error() string      { return e.text }
func (e *titledError) PanelTitle() string { return e.title }

// needsOperator is the refusal of several runs without the operator.
func needsOperator(instead string) error {
	return &titledError{title: "Kubernetes Operator Required",
		text: "--no-operator runs one benchmark only; a sweep, or several runs, need the operator: " + instead}
}

// help is --help with its words where the arguments have it.
func help(args []string) []string {
	if words, asked := flags.HelpWords(args); asked {
		return append([]string{"--help"}, words...)
	}
	return nil
}

// engineOf is the engine of the flag, else the best one of the cluster.
func (o *Deploy) engineOf(jobSet bool) crd.Engine {
	switch {
	case o.engine != "":
		return crd.Engine(o.engine)
	case jobSet:
		return crd.EngineJobSet
	}
	return crd.EngineJobs
}
