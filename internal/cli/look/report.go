package look

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/goccy/go-yaml"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/scalar"
	"aiperf/internal/cli/command"
	"aiperf/internal/cli/show"
	"aiperf/internal/config"
	"aiperf/internal/config/env"
	"aiperf/internal/config/flags"
	"aiperf/internal/config/option"
	"aiperf/internal/config/parse"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/foreign"
	"aiperf/internal/result/library"
	"aiperf/internal/result/recompute"
	"aiperf/internal/result/summary"
	"aiperf/internal/run"
)

const reportHelp = `Usage: aiperf report RUN_DIR [options]

Recomputes the summaries of a run from its records (profile_export.jsonl and run_state.json),
without a server: JSON, CSV, time slices and the console's report. Without any option they are those
of the run, byte by byte. A run that was killed has no summaries of its own: this makes them of all
but its last second, and says that they are incomplete. Runs of the original AIPerf are read too:
their records, their summary and their GPU telemetry.

With --format llm-d it writes the figures of the run as a benchmark report of llm-d instead
(benchmark_report_v0.2.yaml). That needs no records, and takes results of other tools, too: those of
vllm bench serve, SGLang, GuideLLM, GenAI-Perf and inference-perf.

Options:
`

type reportOptions struct {
	recompute.ReportOptions
	ui     config.UI
	format string
}

func (o *reportOptions) table() *flags.Table {
	return &flags.Table{Command: "report", Page: "results", Examples: []flags.Example{
		{For: "all tables of a run, and a page", Command: "aiperf report artifacts/RUN --report full --html"},
		{For: "only its second minute", Command: "aiperf report artifacts/RUN --from 60 --to 120"},
		{For: "other service levels", Command: "aiperf report artifacts/RUN --goodput 'ttft:200ms e2e:2s'"},
		{For: "for the tools of llm-d", Command: "aiperf report artifacts/RUN --format llm-d"},
	},
		About: reportHelp, Flags: []flags.Flag{
			flags.Value("output-dir", "DIR", "where the files go; default: report below the run's folder",
				flags.Text(&o.OutputDir)),
			flags.Value("goodput", "SLOS", `service levels as "tag:value tag:value", instead of those of the run`,
				func(v string) (err error) { o.SLOs, err = objectives(v); return err }),
			flags.Value("slice-duration", "SECONDS", "length of time slices; 0 for none; default: that of the run",
				length(&o.Slice, 0)),
			flags.Value("percentiles", "LIST", "further percentiles, for example 99.9,99.99; default: those of the run",
				func(v string) (err error) {
					o.Percentiles, err = parse.Percentiles(strings.FieldsFunc(v,
						func(r rune) bool { return r == ',' || r == ' ' }))
					return err
				}),
			flags.Value("from", "SECONDS", "leave out requests that were sent earlier than this after the start of "+
				"profiling",
				length(&o.From, 0)),
			flags.Value("to", "SECONDS", "leave out requests that were sent at this time after the start of profiling, "+
				"or later",
				length(&o.To, 1)),
			flags.Value("exclude-errors", "LIST", "leave out failed requests with these codes or error types, as if "+
				"they had not "+
				"been sent: 429,TimeoutError, or all", flags.List(&o.ExcludeErrors)),
			flags.Switch("html", "write the report as one HTML file with charts too (profile_export_aiperf.html)", &o.HTML),
			flags.Switch("parquet", "write all records as Parquet too (profile_export.parquet)", &o.Parquet),
			flags.Choice("report", "KIND", "what is printed: short, the answer in about ten lines, or full, all tables "+
				"before it; default: short on a terminal", &o.ui.Report, "short", "full"),
			flags.Choice("format", "NAME", "aiperf, or a benchmark report of llm-d as YAML (llm-d) or JSON (llm-d-json); "+
				"default: aiperf", &o.format, "aiperf", "llm-d", "llm-d-json"),
		}}
}

// objectives reads the value of --goodput.
func objectives(text string) ([]metrics.SLO, error) {
	slos, err := parse.SLOs(text, run.Catalog{}.Metric)
	if err != nil {
		return nil, err
	}
	var out []metrics.SLO
	for _, s := range slos {
		slo, err := metrics.NewSLO(s.Tag, s.Value)
		if err != nil {
			return nil, err
		}
		out = append(out, slo)
	}
	return out, nil
}

// length reads a number of seconds of at least so many ns.
func length(to **time.Duration, least time.Duration) func(string) error {
	return func(text string) error {
		seconds, err := scalar.In(time.Second, text)
		if err != nil || !(seconds >= 0) || seconds > math.MaxInt64/2e9 {
			return fmt.Errorf("%q is not a number of seconds", text)
		}
		d := time.Duration(math.Round(seconds * 1e9))
		if d < least || d == 0 && seconds > 0 {
			return fmt.Errorf("%q is too short", text)
		}
		*to = &d
		return nil
	}
}

// runReport recomputes the summaries of a run.
func runReport(e *command.Env, args []string) error {
	var o reportOptions
	runs, err := e.Parse(o.table(), args)
	if err != nil {
		return err
	}
	if len(runs) != 1 {
		return errors.New("aiperf report takes the folder of one run: aiperf report RUN_DIR")
	}
	if o.format == "llm-d" || o.format == "llm-d-json" {
		return reportForLLMD(e, runs[0], &o)
	}
	if foreign.Is(runs[0]) {
		return fmt.Errorf("%s is a result of another tool, which has no records of ours to compute anything from: "+
			"aiperf compare, gate, plot and serve read it, and --format llm-d converts it", runs[0])
	}
	env, _, err := env.Read(e.LookupEnv)
	if err != nil {
		return err
	}
	if _, given := e.LookupEnv(option.EnvPrefix + "UI_CONSOLE_GROUPS"); given {
		o.Groups = env.UI.ConsoleGroups
	}
	limitMemory(e.LookupEnv, reportMemory)
	o.Dir, o.Version, o.ExportWidth, o.GPUGrace = runs[0], command.Version, env.UI.ConsoleExportWidth, env.GPU.FinalGrace
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	result, options, err := recompute.Report(ctx, o.ReportOptions)
	if result != nil && options != nil {
		show.Report(e, result, *options, show.Rendering{Dir: o.Dir, Full: o.ui.Full(e.Terminal.OutTTY),
			ExportWidth: o.ExportWidth})
	}
	if result == nil && err != nil {
		if several := severalRuns(o.Dir); several != nil {
			err = several
		}
	}
	return err
}

// changes reports whether the figures are asked to be other ones than those of the summary.
func (o *reportOptions) changes() bool {
	return o.SLOs != nil || o.Slice != nil || o.Percentiles != nil || o.From != nil || o.To != nil ||
		o.ExcludeErrors != nil
}

// reportForLLMD writes the benchmark report of llm-d of a run.
func reportForLLMD(e *command.Env, path string, o *reportOptions) error {
	switch {
	case o.changes():
		return fmt.Errorf("--format %s writes the figures that the run has: compute others with aiperf report %s "+
			"--output-dir DIR first, then aiperf report DIR --format %[1]s", o.format, path)
	case o.HTML || o.Parquet:
		return fmt.Errorf("--format %s cannot be used together with --html and --parquet", o.format)
	}
	file, err := summary.FindSummary(path)
	if err != nil {
		return err
	}
	document, err := summary.ReadDocument(file)
	if err != nil {
		return err
	}
	report, err := foreign.LLMD(document)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	text, err := artifact.AppendIndented(nil, report)
	if err != nil {
		return err
	}
	name := "benchmark_report_v0.2.json"
	if o.format == "llm-d" {
		name = "benchmark_report_v0.2.yaml"
		if text, err = yaml.JSONToYAML(text); err != nil {
			return err
		}
	} else {
		text = append(text, '\n')
	}
	dir := o.OutputDir
	if dir == "" {
		dir = filepath.Join(filepath.Dir(foreign.File(file)), "report")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	to := filepath.Join(dir, name)
	if err := artifact.WriteFile(to, text); err != nil {
		return err
	}
	fmt.Fprintln(e.Terminal.Out, "Benchmark report of llm-d, version "+foreign.LLMDVersion+": "+to)
	return nil
}

// severalRuns is the error of a folder that has those of several runs below it, nil if it has none.
func severalRuns(dir string) error {
	const most = 5
	found, err := library.Find(dir)
	if err != nil {
		return nil
	}
	var runs []string
	for _, f := range found.Folders {
		if f.Kind == library.Run && filepath.Clean(f.Path) != filepath.Clean(dir) && (f.HasRecords || f.HasState) {
			runs = append(runs, f.Path)
		}
	}
	if len(runs) == 0 {
		return nil
	}
	more := ""
	if len(runs) > most {
		more = fmt.Sprintf(" and %d more", len(runs)-most)
	}
	return fmt.Errorf("%s holds %d %s; aiperf report takes the folder of one: %s%s. aiperf plot and aiperf serve show "+
		"all of them, and aiperf compare compares the whole with another", dir, len(runs),
		command.Plural(len(runs), "run", "runs"), strings.Join(runs[:min(most, len(runs))], ", "), more)
}
