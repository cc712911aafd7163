package kube

import (
	"fmt"

	"aiperf/internal/cli/command"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/config"
	"aiperf/internal/config/fault"
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
