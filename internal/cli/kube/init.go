package kube

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/cli/command"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/config/document"
	"aiperf/internal/config/file"
	"aiperf/internal/config/flags"
)

// kubeInitOptions are those of aiperf config init and the name of the job.
type kubeInitOptions struct {
	command.TemplateOptions
	job string
}

func (o *kubeInitOptions) table() *flags.Table {
	t := o.TemplateOptions.Table()
	t.Command, t.Page = "kube init", "kubernetes"
	t.Examples = []flags.Example{
		{For: "a resource to start from", Command: "aiperf kube init -t minimal --model MODEL --url http://SERVER:8000 -o job.yaml"},
		{For: "which templates there are", Command: "aiperf kube init --list"},
	}
	t.About = `Usage: aiperf kube init [--template] NAME [--job-name NAME] [-o FILE]
       aiperf kube init --list [-c CATEGORY] [-v]
       aiperf kube init --search WORD [-v]

Writes an AIPerfJob, or an AIPerfSweep, made of a template of aiperf config init; or lists the templates.

Options:
`
	t.Flags = append(t.Flags, flags.Value("job-name", "NAME", "name of the benchmark [default: my-benchmark]",
		func(v string) error { o.job = v; return crd.ValidJobName(v) }))
	return t
}

// kubeInit lists templates, or writes one as a resource.
func kubeInit(e *command.Env, args []string) error {
	o := kubeInitOptions{job: "my-benchmark"}
	if _, err := e.Parse(o.table(), args); err != nil {
		return err
	}
	if o.List || o.Search != "" || o.Category != "" || o.Template == "" {
		err := command.RunTemplates(e, slices.DeleteFunc(slices.Clone(args), func(s string) bool {
			return strings.HasPrefix(s, "--job-name")
		}))
		if err == nil {
			fmt.Fprintln(e.Terminal.Out, "For a cluster: aiperf kube init --template NAME --output FILE")
		}
		return err
	}
	t, err := file.FindTemplate(o.Template)
	if err != nil {
		return err
	}
	text, err := wrapped(t, t.Fill(o.Model, o.Servers), o.job)
	if err != nil {
		return err
	}
	if o.Output == "" || o.Output == "-" {
		fmt.Fprint(e.Terminal.Out, text)
		return nil
	}
	return command.WriteTemplate(e, t, text, o.Output)
}

const kubeInitHead = `# A benchmark for a Kubernetes cluster.
#
#   aiperf kube validate FILE                                   checks this file
#   aiperf kube %-7s --config FILE --image IMAGE -n NAMESPACE   runs it from here
#   kubectl apply -n NAMESPACE -f FILE                          has the operator run it
#
`

const kubeInitFoot = `
  # Where and how it runs.
  # connectionsPerWorker: 100
  # timeoutSeconds: 0
  # ttlSecondsAfterFinished: 300
  # resourceMode: burstable     # or guaranteed, none
  # podTemplate:
  #   nodeSelector: {kubernetes.io/arch: amd64}
  #   env:
  #     - name: AIPERF_API_KEY
  #       valueFrom: {secretKeyRef: {name: SECRET, key: KEY}}
  # scheduling:
  #   queueName: QUEUE          # of Kueue
`

// wrapped is the text of a template as a resource, with its comments.
func wrapped(t file.Template, text, job string) (string, error) {
	f, err := document.Read(t.Name, []byte(text))
	if err != nil {
		return "", err
	}
	kind, action := crd.JobKind, "profile"
	if f.Root.Get("sweep") != nil || f.Root.Get("multi_run") != nil || f.Root.Get("multiRun") != nil {
		kind, action = crd.SweepKind, "sweep"
	}
	var b strings.Builder
	fmt.Fprintf(&b, kubeInitHead, action)
	fmt.Fprintf(&b, "apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\nspec:\n  image: %s\n", crd.APIVersion, kind, job,
		DefaultImage)
	top := map[string]string{"schema_version": "schemaVersion", "multi_run": "multiRun", "random_seed": "randomSeed",
		"no_sweep_table": "noSweepTable"}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		for old, name := range top {
			if strings.HasPrefix(line, old+":") {
				line = name + strings.TrimPrefix(line, old)
			}
		}
		if line == "# @template" {
			continue
		}
		if line != "" {
			line = "  " + line
		}
		b.WriteString(line + "\n")
	}
	if kind == crd.SweepKind && f.Root.Get("sweep") == nil {
		b.WriteString("\n  sweep:\n    type: scenarios\n    runs:\n      - name: base\n")
	}
	b.WriteString(kubeInitFoot)
	return b.String(), nil
}
