package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"aiperf/internal/cli/command"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/config/document"
	"aiperf/internal/config/file"
	"aiperf/internal/config/flags"
	"aiperf/internal/experiment/sweep"
	"aiperf/internal/result/analysis"
)

// readInput reads a file, or the standard input where it is called "-".
func readInput(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(os.Stdin, document.MaxBytes+1))
	}
	return command.ReadConfig(name)
}

type kubeValidateOptions struct {
	strict bool
	files  []string
	format string
}

func (o *kubeValidateOptions) table() *flags.Table {
	return &flags.Table{Command: "kube validate", Page: "kubernetes", Examples: []flags.Example{
		{For: "check a file", Command: "aiperf kube validate job.yaml"},
		{For: "unknown fields are errors", Command: "aiperf kube validate job.yaml --strict"},
	},

		About: `Usage: aiperf kube validate FILES... [--strict] [-o text|json]

Checks files without a cluster: manifests of an AIPerfJob or an AIPerfSweep, in YAML or JSON, or configuration files,
which are checked as the benchmark of one. FILE may be - for the standard input.

Options:
`, Footer: `Exit codes: 0 all files are valid, perhaps with warnings; 1 one is not.
`, Flags: []flags.Flag{
			flags.Switch("strict -s", "unknown fields are errors, not warnings", &o.strict),
			command.Off("no-strict", &o.strict),
			flags.Value("files", "FILE", "a file, as the words without a flag are", func(v string) error {
				o.files = append(o.files, v)
				return nil
			}),
			flags.Choice("output -o", "FORMAT", "text or json", &o.format, "text", "json"),
		}}
}

// kubeVerdict is what was found about a file.
type kubeVerdict struct {
	Path     string   `json:"path"`
	Passed   bool     `json:"passed"`
	Errors   []string `json:"errors"`
	Warnings []string `json:"warnings"`
}

// kubeValidate checks files.
func kubeValidate(e *command.Env, args []string) error {
	o := kubeValidateOptions{format: "text"}
	files, err := e.Parse(o.table(), args)
	if err != nil {
		return err
	}
	if files = append(o.files, files...); len(files) == 0 {
		return errors.New("aiperf kube validate needs files")
	}
	var all []kubeVerdict
	failed := 0
	for _, name := range files {
		v := verdictOn(e, name, o.strict)
		if !v.Passed {
			failed++
		}
		all = append(all, v)
	}
	w := e.Terminal.Out
	if o.format == "json" {
		data, err := json.MarshalIndent(all, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintln(w, string(data))
	} else {
		for _, v := range all {
			mark := "✓"
			if !v.Passed {
				mark = "✗"
			}
			fmt.Fprintf(w, "%s %s\n", mark, v.Path)
			for _, text := range v.Errors {
				fmt.Fprintf(w, "  ERROR: %s\n", strings.ReplaceAll(text, "\n", "\n         "))
			}
			for _, text := range v.Warnings {
				fmt.Fprintf(w, "  WARN: %s\n", text)
			}
		}
		if failed > 0 {
			fmt.Fprintf(w, "\n%d of %d files are not valid\n", failed, len(all))
		}
	}
	if failed > 0 {
		return command.Exit(command.ExitFailure)
	}
	return nil
}

// verdictOn checks a file.
func verdictOn(e *command.Env, name string, strict bool) kubeVerdict {
	v := kubeVerdict{Path: name, Errors: []string{}, Warnings: []string{}}
	warnings, errs := kubeCheck(e, name, strict)
	v.Warnings = append(v.Warnings, warnings...)
	for _, err := range errs {
		v.Errors = append(v.Errors, e.Redactor.URL(err.Error()))
	}
	v.Passed = len(errs) == 0
	return v
}

func kubeCheck(e *command.Env, name string, strict bool) (warnings []string, errs []error) {
	data, err := readInput(name)
	if err != nil {
		return nil, []error{fmt.Errorf("the file cannot be read: %w", err)}
	}
	doc, err := document.Read(shownName(name), data)
	if err != nil {
		return nil, []error{err}
	}
	if doc.Root.Get("kind") == nil && doc.Root.Get("apiVersion") == nil {
		return kubeCheckBare(e, doc)
	}
	parsed, err := crd.Parse(crd.Plain(doc.Root.Any()).(crd.Object))
	if err != nil {
		var faults crd.Faults
		if errors.As(err, &faults) {
			for _, f := range faults {
				errs = append(errs, errors.New(f))
			}
		} else {
			errs = append(errs, err)
		}
	}
	if parsed == nil {
		return nil, errs
	}
	if err := parsed.Refuse(); err != nil {
		if strict {
			errs = append(errs, err)
		} else {
			warnings = append(warnings, strings.Split(err.Error(), "\n")...)
		}
	}
	spec := doc.Root.Get("spec")
	if spec == nil || spec.Get("benchmark") == nil || len(errs) > 0 {
		return warnings, errs
	}
	if parsed.Spec.Image == "" {
		warnings = append(warnings, "spec.image is missing: aiperf kube profile gives its own, the cluster refuses the "+
			"resource")
	}
	source, err := file.Of(&document.File{Name: doc.Name, Text: doc.Text, Root: envelopeOf(spec)},
		parsed.Spec.Lookup(e.LookupEnv))
	if err != nil {
		return warnings, append(errs, err)
	}
	more, err := kubeCheckSource(source, &parsed.Spec, parsed.Metadata.Name, parsed.Kind)
	if err != nil {
		errs = append(errs, err)
	}
	return append(warnings, more...), errs
}

// kubeCheckSource checks a benchmark, and the size of a sweep.
func kubeCheckSource(source *file.Source, spec *crd.Spec, name, kind string) (warnings []string, err error) {
	if len(source.Faults) > 0 {
		return nil, source.Faults
	}
	plan, err := sweep.Expand(source.File, source.Raw)
	if err != nil {
		return nil, err
	}
	if plan.Type == sweep.None {
		_, found, err := crd.ResolveSource(source)
		for _, w := range found {
			warnings = append(warnings, w.Text)
		}
		return warnings, err
	}
	for i := range plan.Variations {
		if i >= crd.MaxVariations {
			break
		}
		one := *source
		one.Raw = plan.Variations[i].Envelope()
		if _, _, err := crd.ResolveSource(&one); err != nil {
			return nil, fmt.Errorf("variation %d (%s): %w", i, plan.Variations[i].Label, err)
		}
	}
	if kind == crd.SweepKind && spec != nil {
		trials, _ := spec.Trials()
		return nil, crd.CheckSweepSize(name, max(1, len(plan.Variations)), trials, spec.TrialSuffix())
	}
	return nil, nil
}

// kubeCheckBare checks a configuration file as the benchmark of a job, or of a sweep.
func kubeCheckBare(e *command.Env, doc *document.File) (warnings []string, errs []error) {
	source, err := file.Of(doc, e.LookupEnv)
	if err != nil {
		return nil, []error{err}
	}
	kind := crd.JobKind
	if source.Raw.Get("sweep") != nil || source.Raw.Get("multi_run") != nil {
		kind = crd.SweepKind
	}
	warnings = []string{fmt.Sprintf("no apiVersion and kind: a configuration file, checked as the benchmark of an %s; a "+
		"name is not checked", kind)}
	for _, w := range source.Warnings {
		warnings = append(warnings, w.Text)
	}
	more, err := kubeCheckSource(source, nil, "", kind)
	if err != nil {
		errs = append(errs, err)
	}
	return append(warnings, more...), errs
}

type kubeShowOptions struct{ path string }

func (o *kubeShowOptions) table() *flags.Table {
	return &flags.Table{Command: "kube show", Page: "kubernetes", Examples: []flags.Example{
		{For: "a file with its variables resolved", Command: "aiperf kube show -f job.yaml"},
	},

		About: `Usage: aiperf kube show -f PATH

Prints the AIPerfJob of a file with its expressions and variables of the environment resolved; or, where PATH is a folder
with results that were fetched, what its runs say. Secrets are hidden.

Options:
`, Places: []string{"path"}, Flags: []flags.Flag{
			flags.Value("path -f", "PATH", "the file or the folder; required", command.NonEmpty(&o.path))}}
}

// kubeShow prints a manifest, or results.
func kubeShow(e *command.Env, args []string) error {
	var o kubeShowOptions
	if err := e.ParseOnly(o.table(), args); err != nil {
		return err
	}
	if o.path == "" {
		return errors.New("aiperf kube show needs -f PATH")
	}
	if info, err := os.Stat(o.path); err == nil && info.IsDir() || strings.HasPrefix(filepath.Base(o.path),
		"profile_export_aiperf") {
		dir := o.path
		if err == nil && !info.IsDir() {
			dir = filepath.Dir(o.path)
		}
		card, err := analysis.ReadCard(dir)
		if err != nil {
			return err
		}
		fmt.Fprint(e.Terminal.Out, card.Markdown())
		return nil
	}
	data, err := readInput(o.path)
	if err != nil {
		return err
	}
	doc, err := document.Read(shownName(o.path), data)
	if err != nil {
		return err
	}
	if doc.Root.Get("kind") == nil {
		return fmt.Errorf("%s is no manifest: it has no kind", doc.Name)
	}
	k, err := kubeManifest(e, doc)
	if err != nil {
		return err
	}
	if k.manifest.Kind != crd.JobKind {
		return fmt.Errorf("%s is an %s; aiperf kube show shows an %s, aiperf config expand the variations of a "+
			"configuration", doc.Name, k.manifest.Kind, crd.JobKind)
	}
	e.HideFile(k.source, nil)
	_, tree, err := k.source.Settings(k.source.Raw, file.Options{NoFiles: true})
	if err != nil {
		return err
	}
	shown := file.Hide(tree, e.Redactor.Values)
	object, err := crd.ToObject(k.manifest.Job())
	if err != nil {
		return err
	}
	spec := object["spec"].(crd.Object)
	envelope := crd.Plain(shown.Any()).(crd.Object)
	parsed, err := crd.ParseSpec(crd.JobKind, crd.Object{"benchmark": envelope["benchmark"]})
	if err != nil {
		return err
	}
	spec["benchmark"] = parsed.Spec.Benchmark
	e.Terminal.Out.Write(crd.YAML(object))
	return nil
}
