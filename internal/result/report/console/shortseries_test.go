package console

import (
	"bytes"
	"regexp"
	"slices"
	"testing"

	"aiperf/internal/result/answer"
)

// answerRows are the rows of the short report that say what a search found.
func answerRows(t *testing.T, s *answer.Sweep) (rows []string) {
	t.Helper()
	var out bytes.Buffer
	if err := RenderSweepShort(&out, s, Options{}); err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`\n {10,}`).ReplaceAllString(out.String(), " ") // broken lines
	for _, m := range regexp.MustCompile(`(?m)^  answer +(.*)$`).FindAllStringSubmatch(text, -1) {
		rows = append(rows, m[1])
	}
	return rows
}

// TestAnswerOfASearchIsWhatItLookedFor: a model looks for the best points, others for the limit of one value, and tiers
// have a limit each.
func TestAnswerOfASearchIsWhatItLookedFor(t *testing.T) {
	pass, fail := 4.0, 8.0
	made := func() *answer.Sweep {
		return &answer.Sweep{Title: "m", Kind: "Search", Parameters: []answer.Parameter{{Name: "concurrency"}},
			Cells: []answer.Cell{{Label: "concurrency 4", Objectives: []float64{100, 20}, Verdict: answer.Feasible},
				{Label: "concurrency 8", Objectives: []float64{150, 30}, Verdict: answer.Infeasible}},
			Search: &answer.Search{Planner: "bayesian", Best: []int{0},
				Scored: []answer.Metric{answer.NewMetric("request_throughput", "avg", "requests/sec"),
					answer.NewMetric("request_latency", "p99", "ms")},
				Boundary: &answer.Boundary{FeasibleMax: &pass, InfeasibleMin: &fail, Breach: "why"}}}
	}
	none := answer.Tier{Label: "gold", Status: "no_pass_in_range"}
	for name, c := range map[string]struct {
		change func(*answer.Search)
		want   []string
	}{
		"best": {func(*answer.Search) {},
			[]string{"concurrency 4, Request Throughput 100 requests/sec, Request Latency p99 20.0 ms"}},
		"front": {func(s *answer.Search) { s.Best = []int{0, 1} }, []string{
			"concurrency 4, Request Throughput 100 requests/sec, Request Latency p99 20.0 ms",
			"concurrency 8, Request Throughput 150 requests/sec, Request Latency p99 30.0 ms; no point meets the limits"}},
		"boundary": {func(s *answer.Search) { s.Planner = "smooth_isotonic" },
			[]string{"concurrency 4 meets the limits, concurrency 8 does not: why"}},
		"whole range": {func(s *answer.Search) {
			s.Planner, s.Boundary.InfeasibleMin, s.Boundary.Breach = "monotonic_sla", nil, ""
		},
			[]string{"at least concurrency 4: no larger value was tried"}},
		"nothing": {func(s *answer.Search) { s.Planner, s.Boundary.FeasibleMax = "monotonic_sla", nil },
			[]string{"none of the values tried meets the limits, not even concurrency 8: why"}},
		"tiers": {func(s *answer.Search) {
			s.Planner = "smooth_isotonic"
			s.Tiers = []answer.Tier{none, {Label: "a", Boundary: &pass, Status: "converged"},
				{Label: "b", Boundary: &pass, Status: "partial"},
				{Label: "c", Boundary: &fail, Status: "no_failure_in_range"}}
		}, []string{"gold: none of the values meets its limits", "a: concurrency 4",
			"b: concurrency 4, not as precisely as asked for", "c: at least concurrency 8"}},
	} {
		s := made()
		c.change(s.Search)
		if got := answerRows(t, s); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestLoweredTitlesKeepAbbreviations(t *testing.T) {
	for title, want := range map[string]string{"Best TTFT P99": "best TTFT p99", "Best Latency P99": "best latency p99",
		"Best Throughput": "best throughput", "": ""} {
		if got := lowered(title); got != want {
			t.Errorf("%q: %q", title, got)
		}
	}
}
