package look

import (
	"errors"
	"fmt"

	"aiperf/internal/cli/command"
	"aiperf/internal/cli/show"
	"aiperf/internal/config/flags"
	"aiperf/internal/result/compare"
	"aiperf/internal/result/judge"
	"aiperf/internal/result/summary"
)

const gateHelp = `Usage: aiperf gate RUN [RUN …] --fail-if CONDITION [--fail-if CONDITION …]

Checks finished runs against thresholds. RUN is the folder of a run, its JSON summary, or a folder of
repeats, of this program or of the original one, or a result of another tool: aiperf docs
other-results lists them. Each condition has a line, and the last one counts
the failures. The exit code is 3 if a condition is met or a figure is missing; 1 if a run is not
complete; 0 if all is well.

RUN may be the folder of a sweep or of a search. A condition on a metric is then checked in every
cell. A condition on an answer is checked once: best_throughput, best_latency_p99, max_TAG[:STAT] and
min_TAG[:STAT] of a metric or a swept parameter among the cells that meet the limits, failed_runs,
feasible_cells, pareto_cells, skipped_cells. Example: --fail-if 'max_goodput<10'

Options:
`

type gateOptions struct{ conditions []string }

func (o *gateOptions) table() *flags.Table {
	return &flags.Table{Command: "gate", Page: "results", Examples: []flags.Example{
		{For: "exit code 3 if the server is too slow", Command: "aiperf gate artifacts/RUN --fail-if 'ttft:p99>250ms' --fail-if 'request_error_rate>1%'"},
		{For: "a result of vllm bench serve --save-result", Command: "aiperf gate vllm.json --fail-if 'ttft:p99>250ms'"},
		{For: "on the answer of a sweep", Command: "aiperf gate artifacts/SWEEP --fail-if 'failed_runs>0'"},
	},
		About: gateHelp, Flags: []flags.Flag{
			flags.Value("fail-if", "CONDITION", "the result is a failure if it is like this: TAG[:STAT]OP NUMBER[UNIT], "+
				"for example 'time_to_first_token:p99>250ms'; STAT is avg unless given, the unit that of the result",
				flags.Texts(&o.conditions)),
		}}
}

// runGate checks finished runs against thresholds.
func runGate(e *command.Env, args []string) error {
	var o gateOptions
	paths, err := e.Parse(o.table(), args)
	switch {
	case err != nil:
		return err
	case len(paths) == 0:
		return errors.New("aiperf gate takes the folder of a run or its JSON summary, or several of them")
	case len(o.conditions) == 0:
		return errors.New("no condition given: aiperf gate RUN --fail-if 'time_to_first_token:p99>250ms'")
	}
	var all []compare.Judgement
	var incomplete []error
	for _, path := range paths {
		checked, err := judgedRuns(path, o.conditions)
		if err != nil {
			return err
		}
		for _, run := range checked {
			if len(paths)+len(checked) > 2 {
				fmt.Fprintln(e.Terminal.Out, run.name)
			}
			show.PrintJudgements(e.Terminal, e.Terminal.Out, e.Terminal.StyledOut, e.Terminal.OutTTY, run.list)
			all = append(all, run.list...)
			if run.cancelled && run.incomplete == "" {
				run.incomplete = "it was cancelled early"
			}
			if run.incomplete != "" {
				incomplete = append(incomplete, fmt.Errorf("%s: the run is not complete: %s. %s", run.name,
					run.incomplete, judge.PartOnly))
			}
		}
	}
	fmt.Fprintln(e.Terminal.Out, show.ResultLine(all))
	switch {
	case len(incomplete) > 0:
		return errors.Join(incomplete...)
	case compare.Failures(all) > 0:
		return command.Exit(command.ExitThreshold)
	}
	return nil
}

// judged is what the conditions say of a run, or of a sweep.
type judged struct {
	name, incomplete string
	cancelled        bool
	list             []compare.Judgement
}

// judgedRuns checks what a path names: a sweep, a run, or repeats of one.
func judgedRuns(path string, texts []string) ([]judged, error) {
	sweep, err := compare.LoadSweep(path)
	if err != nil {
		return nil, err
	}
	if sweep != nil {
		conditions, err := show.ParseConditions(texts, sweep.Parameters())
		if err != nil {
			return nil, err
		}
		return []judged{{name: path, list: sweep.Judge(conditions)}}, nil
	}
	for _, text := range texts {
		if compare.IsAnswer(text) {
			return nil, fmt.Errorf("--fail-if %s is on the answer of a sweep or a search, and %s has none: a sweep that "+
				"was cut off gets it by --resume", text, path)
		}
	}
	var list []judged
	check := func(name string, figures summary.Figures) error {
		thresholds, err := parseThresholds(texts, &figures)
		if err != nil {
			return err
		}
		j := judged{name: name, incomplete: figures.Incomplete, cancelled: figures.WasCancelled}
		for i := range thresholds {
			j.list = append(j.list, thresholds[i].Judge(&figures))
		}
		list = append(list, j)
		return nil
	}
	figures, err := summary.ReadFigures(path)
	var none *summary.NoSummaryError
	var several *summary.SeveralRunsError
	if !errors.As(err, &none) && !errors.As(err, &several) {
		if err == nil {
			err = check(path, figures)
		}
		return list, err
	}
	repeats, loadErr := compare.Load(path)
	if loadErr != nil || len(repeats.Runs) == 0 {
		return nil, err
	}
	for i := range repeats.Runs {
		if err := check(repeats.Runs[i].Summary, repeats.Runs[i].Figures); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// parseThresholds reads all conditions and joins what is wrong with them.
func parseThresholds(conditions []string, figures *summary.Figures) ([]compare.Threshold, error) {
	var thresholds []compare.Threshold
	var faults []error
	for _, text := range conditions {
		t, err := compare.ParseThreshold(text, nil, figures)
		if err != nil {
			faults = append(faults, fmt.Errorf("--fail-if: %w", err))
		}
		thresholds = append(thresholds, t)
	}
	return thresholds, errors.Join(faults...)
}
