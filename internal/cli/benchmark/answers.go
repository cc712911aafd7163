package benchmark

import (
	"fmt"

	"aiperf/internal/cli/show"
	"aiperf/internal/config"
	"aiperf/internal/experiment/aggregate"
	"aiperf/internal/experiment/recipe"
	"aiperf/internal/experiment/search"
	"aiperf/internal/experiment/sweep"
	"aiperf/internal/result/compare"
)

// answerOfOneRun returns an error if a condition of a single run is on what only several runs can answer.
func answerOfOneRun(cfg *config.Run) error {
	for _, text := range cfg.FailIf {
		if compare.IsAnswer(text) {
			return fmt.Errorf("--fail-if %s is on the answer of a sweep or a search, and this is one run; give a "+
				"list of values, such as --concurrency 1,2,4", text)
		}
	}
	return nil
}

// names are those of what an experiment varies.
func names(plan *aggregate.Plan, whole *aggregate.Sweep) []string {
	if plan.Search == nil {
		return whole.Parameters()
	}
	var paths []string
	for _, d := range plan.Search.Space {
		paths = append(paths, d.Path)
	}
	return sweep.DisplayNames(paths)
}

// failedConditions prints a line for each condition of --fail-if, and counts those under which the results of an
// experiment are a failure. It reads the files, as aiperf gate does.
func (s *several) failedConditions() int {
	if len(s.conditions) == 0 {
		return 0
	}
	results, err := compare.LoadSweep(s.layout.Dir)
	if err != nil {
		fmt.Fprintln(s.Terminal.Err, "--fail-if:", err)
		return len(s.conditions)
	}
	if results == nil {
		fmt.Fprintln(s.Terminal.Err, "--fail-if: there are no results to check")
		return len(s.conditions)
	}
	return show.Judgements(s.Terminal, results.Judge(s.conditions))
}

// axes are those of the Pareto front that were chosen.
func (s *several) axes(swept []string) (*aggregate.Axes, error) {
	text := s.base.Asked.Text("pareto-objectives")
	if text == "" {
		return recipeAxes(s.asked.plan.Recipe), nil
	}
	axes, err := aggregate.ParseAxes(text, swept)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", s.base.Asked.Flag("pareto-objectives"), text, err)
	}
	return axes, nil
}

// recipeAxes are those of the Pareto front of a recipe, nil if it has none.
func recipeAxes(name string) *aggregate.Axes {
	own, ok := recipe.AxesOf(name)
	if !ok {
		return nil
	}
	return &aggregate.Axes{X: search.Objective{Metric: own.XMetric, Stat: own.XStat},
		Y: search.Objective{Metric: own.YMetric, Stat: own.YStat, Maximize: true}, Series: own.Series}
}
