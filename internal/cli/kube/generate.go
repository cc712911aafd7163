package kube

import (
	"fmt"

	"aiperf/internal/base/manual"
	"aiperf/internal/cli/command"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/config"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
)

// kubeGenerate prints manifests.
func kubeGenerate(e *command.Env, args []string) error {
	var o Deploy
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
func kubeBenchmarkOf(e *command.Env, o *Deploy, rest []string) (*kubeBenchmark, error) {
	b, err := makeBenchmark(e, o, rest)
	if err != nil {
		return nil, err
	}
	for _, w := range b.warnings {
		if w.Level == fault.LevelWarning {
			fmt.Fprintln(e.Terminal.Err, "Warning:", e.Redactor.URL(w.Text))
		}
	}
	if b.spec.Image == DefaultImage {
		fmt.Fprintf(e.Terminal.Err, "Warning: no registry has the image %s: load it into the nodes, or push it to a registry of "+
			"yours and give --image, or set %s (%s)\n", DefaultImage, imageVariable, manual.Page("kubernetes"))
	}
	for _, path := range localFiles(b.run) {
		fmt.Fprintf(e.Terminal.Err, "Warning: %s is read in the pods: mount it there, with podTemplate.volumes and "+
			"podTemplate.volumeMounts\n", path)
	}
	return b, nil
}

// localFiles are the files that a benchmark reads.
func localFiles(r *config.Run) (paths []string) {
	for _, o := range []*option.Opt[string]{&r.Asked.InputFile, &r.Asked.SystemPromptFile} {
		if o.Given() {
			paths = append(paths, o.Get())
		}
	}
	return paths
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
