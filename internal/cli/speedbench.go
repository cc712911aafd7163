package cli

import (
	"errors"
	"fmt"

	"aiperf/internal/config/flags"
	"aiperf/internal/result/analysis"
	"aiperf/internal/result/report/console"
)

const speedBenchHelp = `Usage: aiperf speed-bench-report PATH [PATH …] [options]

Shows runs, one for each category of SPEED-Bench, as a matrix of models and categories. A path is the
folder of a run or one that holds such folders. Acceptance lengths and rates are those of the server
metrics; where there are none, those of the requests.

Options:
`

type speedBenchOptions struct {
	paths                  []string
	empty                  bool
	output, format, metric string
}

func (o *speedBenchOptions) table() *flags.Table {
	return &flags.Table{Command: "speed-bench-report", About: speedBenchHelp, Flags: []flags.Flag{
		flags.Value("paths", "PATH", "the same as PATH; may be repeated", flags.Texts(&o.paths)),
		flags.Switch("empty-paths", "no path at all", &o.empty),
		flags.Value("output", "FILE", "the CSV file; default: speed_bench_report.csv", flags.Text(&o.output)),
		flags.Choice("format", "NAME", "csv, table or both; default: both", &o.format, "csv", "table", "both"),
		flags.Choice("metric", "NAME", "accept_length, accept_rate or throughput; default: accept_length", &o.metric,
			analysis.SpeedBenchMetrics()...),
	}}
}

// speedBenchReport lays runs out as a matrix.
func (a *app) speedBenchReport(args []string) int {
	o := speedBenchOptions{output: "speed_bench_report.csv", format: "both", metric: analysis.AcceptLength}
	paths, code, done := a.parse(o.table(), args)
	if done {
		return code
	}
	switch paths = append(paths, o.paths...); {
	case o.empty && len(paths) > 0:
		return a.fail(errors.New("--empty-paths and a path cannot be used together"))
	case len(paths) == 0 && !o.empty:
		return a.fail(fmt.Errorf("no run given: aiperf speed-bench-report PATH [PATH …]"))
	}
	t := a.terminal
	runs, err := analysis.FindRuns(paths)
	if err != nil {
		return a.fail(err)
	}
	if len(runs) == 0 {
		fmt.Fprintln(t.err, "Error: no aiperf run directories found.")
		return ExitFailure
	}
	fmt.Fprintf(t.out, "Found %d run %s.\n", len(runs), plural(len(runs), "directory", "directories"))
	matrix := analysis.Assemble(runs, o.metric, func(text string) { fmt.Fprintln(t.err, "Warning: "+text) })
	if len(matrix.Rows) == 0 {
		fmt.Fprintln(t.err, "Error: no SPEED-Bench results extracted.")
		return ExitFailure
	}
	if o.format != "csv" {
		if err := console.RenderTable(t.styledOut, analysis.SpeedBenchTitle(o.metric), matrix.Table("-"), console.Options{
			Width: console.Width(t.outTTY, t.width(), 0), Styles: t.outTTY && t.colour,
		}); err != nil {
			return a.fail(err)
		}
	}
	if o.format != "table" {
		if err := matrix.WriteCSV(o.output); err != nil {
			return a.fail(err)
		}
		fmt.Fprintln(t.out, "CSV written to "+o.output)
	}
	return ExitOK
}
