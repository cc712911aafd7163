package look

import (
	"errors"
	"fmt"

	"aiperf/internal/cli/command"
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
	return &flags.Table{Command: "speed-bench-report", Page: "public-datasets", Examples: []flags.Example{
		{For: "a matrix of the runs of a folder", Command: "aiperf speed-bench-report artifacts"},
	},
		About: speedBenchHelp, Flags: []flags.Flag{
			flags.Value("paths", "PATH", "the same as PATH; may be repeated", flags.Texts(&o.paths)),
			flags.Switch("empty-paths", "no path at all", &o.empty),
			flags.Value("output", "FILE", "the CSV file; default: speed_bench_report.csv", flags.Text(&o.output)),
			flags.Choice("format", "NAME", "csv, table or both; default: both", &o.format, "csv", "table", "both"),
			flags.Choice("metric", "NAME", "accept_length, accept_rate or throughput; default: accept_length", &o.metric,
				analysis.SpeedBenchMetrics()...),
		}}
}

// runSpeedBench lays runs out as a matrix.
func runSpeedBench(e *command.Env, args []string) error {
	o := speedBenchOptions{output: "speed_bench_report.csv", format: "both", metric: analysis.AcceptLength}
	paths, err := e.Parse(o.table(), args)
	if err != nil {
		return err
	}
	switch paths = append(paths, o.paths...); {
	case o.empty && len(paths) > 0:
		return errors.New("--empty-paths and a path cannot be used together")
	case len(paths) == 0 && !o.empty:
		return fmt.Errorf("no run given: aiperf speed-bench-report PATH [PATH …]")
	}
	t := e.Terminal
	runs, err := analysis.FindRuns(paths)
	if err != nil {
		return err
	}
	if len(runs) == 0 {
		fmt.Fprintln(t.Err, "Error: no aiperf run directories found.")
		return command.Exit(command.ExitFailure)
	}
	fmt.Fprintf(t.Out, "Found %d run %s.\n", len(runs), command.Plural(len(runs), "directory", "directories"))
	matrix := analysis.Assemble(runs, o.metric, func(text string) { fmt.Fprintln(t.Err, "Warning: "+text) })
	if len(matrix.Rows) == 0 {
		fmt.Fprintln(t.Err, "Error: no SPEED-Bench results extracted.")
		return command.Exit(command.ExitFailure)
	}
	if o.format != "csv" {
		if err := console.RenderTable(t.StyledOut, analysis.SpeedBenchTitle(o.metric), matrix.Table("-"), console.Options{
			Width: console.Width(t.OutTTY, t.Width(), 0), Styles: t.OutTTY && t.Colour,
		}); err != nil {
			return err
		}
	}
	if o.format != "table" {
		if err := matrix.WriteCSV(o.output); err != nil {
			return err
		}
		fmt.Fprintln(t.Out, "CSV written to "+o.output)
	}
	return nil
}
