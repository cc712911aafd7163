package cli

import (
	"errors"
	"fmt"

	"aiperf/internal/config/flags"
	"aiperf/internal/result/compare"
	"aiperf/internal/result/summary"
)

const gateHelp = `Usage: aiperf gate RUN --fail-if CONDITION [--fail-if CONDITION …]

Checks a finished run against thresholds. RUN is the folder of a run or its JSON summary, of this
program or of the original one. The exit code is 3 if a condition is met or a figure is missing, one
line each; 1 if the run is not complete; 0 if all is well.

RUN may be the folder of a sweep or of a search. A condition on a metric is then checked in every
cell. A condition on an answer is checked once: best_throughput, best_latency_p99, max_TAG[:STAT] and
min_TAG[:STAT] of a metric or a swept parameter among the cells that meet the limits, failed_runs,
feasible_cells, pareto_cells, skipped_cells. Example: --fail-if 'max_goodput<10'

Options:
`

type gateOptions struct{ conditions []string }

func (o *gateOptions) table() *flags.Table {
	return &flags.Table{Command: "gate", About: gateHelp, Flags: []flags.Flag{
		flags.Value("fail-if", "CONDITION", "the result is a failure if it is like this: TAG[:STAT]OP NUMBER[UNIT], "+
			"for example 'time_to_first_token:p99>250ms'; STAT is avg unless given, the unit that of the result",
			flags.Texts(&o.conditions)),
	}}
}

// gate checks a finished run against thresholds.
func (a *app) gate(args []string) int {
	var o gateOptions
	runs, code, done := a.parse(o.table(), args)
	switch {
	case done:
		return code
	case len(runs) != 1:
		return a.fail(fmt.Errorf("aiperf gate takes one run, the folder or its JSON summary, not %d", len(runs)))
	case len(o.conditions) == 0:
		return a.fail(errors.New("no condition given: aiperf gate RUN --fail-if 'time_to_first_token:p99>250ms'"))
	}
	sweep, err := compare.LoadSweep(runs[0])
	if err != nil {
		return a.fail(err)
	}
	if sweep != nil {
		return a.gateSweep(sweep, o.conditions)
	}
	figures, err := summary.ReadFigures(runs[0])
	if err != nil {
		return a.fail(err)
	}
	thresholds, err := parseThresholds(o.conditions, &figures)
	if err != nil {
		return a.fail(err)
	}
	if figures.WasCancelled {
		fmt.Fprintln(a.terminal.err,
			"warning: the run was cancelled early; its figures are those of the requests until then")
	}
	failed := compare.Check(thresholds, &figures)
	for _, line := range failed {
		fmt.Fprintln(a.terminal.err, "--fail-if", line)
	}
	if figures.Incomplete != "" {
		return a.fail(fmt.Errorf("the run is not complete: %s. %s", figures.Incomplete, summary.PartOnly))
	}
	if len(failed) > 0 {
		return ExitThreshold
	}
	fmt.Fprintf(a.terminal.out, "%s: passed %d of %d conditions\n", runs[0], len(thresholds), len(thresholds))
	return ExitOK
}

// gateSweep checks a finished sweep or search.
func (a *app) gateSweep(s *compare.Sweep, texts []string) int {
	conditions, err := parseConditions(texts, s.Parameters())
	if err != nil {
		return a.fail(err)
	}
	failed := s.Check(conditions)
	for _, line := range failed {
		fmt.Fprintln(a.terminal.err, "--fail-if", line)
	}
	if len(failed) > 0 {
		return ExitThreshold
	}
	fmt.Fprintf(a.terminal.out, "%s: passed %d of %d conditions\n", s.Name, len(conditions), len(conditions))
	return ExitOK
}

// parseConditions reads all conditions on a sweep and joins what is wrong with them.
func parseConditions(texts, parameters []string) ([]compare.Condition, error) {
	var conditions []compare.Condition
	var faults []error
	for _, text := range texts {
		c, err := compare.ParseCondition(text, parameters)
		if err != nil {
			faults = append(faults, fmt.Errorf("--fail-if: %w", err))
		}
		conditions = append(conditions, c)
	}
	return conditions, errors.Join(faults...)
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
