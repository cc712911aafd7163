package capacity_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/experiment/capacity"
	"aiperf/internal/experiment/search"
	"aiperf/internal/experiment/search/boundary"
	"aiperf/internal/experiment/series"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/summary"
	"aiperf/internal/workload/recipe"
)

// The range of a length is what the model's context has room for, where the server says how long it is.
func TestRangesOfLoads(t *testing.T) {
	for _, c := range []struct {
		over     string
		min, max float64
		context  int64
		other    float64
		lo, hi   float64
	}{
		{capacity.Concurrency, -1, -1, 0, 0, 1, 1000},
		{capacity.Users, -1, -1, 0, 0, 1, 1000},
		{capacity.ISL, -1, -1, 0, 0, 16, 32768},
		{capacity.ISL, -1, -1, 4096, 96, 16, 4000},
		{capacity.ISL, 100, 8000, 4096, 96, 100, 8000}, // what is asked for counts
		{capacity.OSL, -1, -1, 0, 550, 16, 4096},
		{capacity.OSL, -1, -1, 4096, 1096, 16, 3000},
		{capacity.OSL, -1, -1, 100, 550, 16, 4096}, // a context without room says nothing
	} {
		q := question(t)
		q.Over, q.Min, q.Max, q.Context = c.over, c.min, c.max, c.context
		if q.FitRange(c.other); q.Min != c.lo || q.Max != c.hi {
			t.Errorf("%+v: %v to %v", c, q.Min, q.Max)
		}
	}
}

// A user has a pace of their own, so that the rate of a phase grows with the number of users; of long prompts there are
// fewer, as they are made before the probe.
func TestProbesOfUsersAndOfLengths(t *testing.T) {
	q := question(t)
	q.Over, q.Interval = capacity.Users, 10*time.Second
	s, err := capacity.New(q)
	if err != nil {
		t.Fatal(err)
	}
	cfg := &config.Run{Asked: asked(t), Phases: []config.Phase{
		{Name: "profiling", Kind: config.ProfilingPhase, Mode: config.UserCentric, Rate: 0.1, Users: 40}}}
	for _, p := range s.Probe(cfg).Phases {
		if p.Rate != 4 || p.Users != 40 {
			t.Errorf("%s: %v requests/s of %d users", p.Name, p.Rate, p.Users)
		}
	}

	q.Over = capacity.ISL
	if s, err = capacity.New(q); err != nil {
		t.Fatal(err)
	}
	for isl, want := range map[float64]int{100: 2000, 4000: 1000, 1_000_000: 32} {
		cfg := &config.Run{Asked: asked(t), Dataset: config.Dataset{Kind: config.SyntheticDataset, Entries: 2000,
			ISL: recipe.Normal{Mean: isl}}, Phases: []config.Phase{
			{Name: "profiling", Kind: config.ProfilingPhase, Mode: config.Burst, Concurrency: new(int)}}}
		if own := s.Probe(cfg); own.Dataset.Entries != want {
			t.Errorf("%d prompts of %v tokens", own.Dataset.Entries, isl)
		}
	}
}

// lengthOf is a run at a length with replies of some tokens.
func lengthOf(label string, at int64, got float64) *series.Run {
	r := &series.Run{Info: summary.RunInfo{RunLabel: label,
		VariationValues: artifact.Object{{Key: "datasets.main.prompts.osl", Value: at}}}}
	r.Metrics = []metrics.Metric{{Tag: "output_sequence_length", Unit: "tokens", Stats: metrics.Stats{Avg: got}}}
	return r
}

// Replies that the server ends by itself say nothing of the length that was asked for.
func TestRepliesThatEndEarlyDoNotCount(t *testing.T) {
	q := question(t)
	q.Over = capacity.OSL
	s, err := capacity.New(q)
	if err != nil {
		t.Fatal(err)
	}
	for label, c := range map[string]struct {
		got  float64
		want boundary.Verdict
	}{"whole": {512, boundary.Measured}, "nearly": {500, boundary.Measured}, "short": {60, boundary.ClientLimited}} {
		s.Take(label, capacity.Verdict{Binding: -1}, time.Minute)
		trial, _ := s.Trial(lengthOf(label, 512, c.got))
		if s.Evidence().Verdict != c.want || (trial.Limited != "") != (c.want == boundary.ClientLimited) {
			t.Errorf("%s: %+v, %q", label, s.Evidence(), trial.Limited)
		}
	}
	line := s.Line(1, 512, lengthOf("short", 512, 60), false)
	if !strings.Contains(line, "replies of 512 tokens do not count: the replies ended after 60 of 512 tokens") {
		t.Error(line)
	}
}

// A prompt that the server refuses as too long is beyond the limits, and the answer says so.
func TestRefusedPromptsAreBeyond(t *testing.T) {
	q := question(t)
	q.Over, q.Min, q.Max = capacity.ISL, 16, 8000
	s, err := capacity.New(q)
	if err != nil {
		t.Fatal(err)
	}
	v := capacity.Verdict{Decision: capacity.Violated, Binding: -1,
		Refused: "the server refused 20 of 20 prompts as too long"}
	s.Take("probe", v, time.Second)
	trial, extra := s.Trial(&series.Run{Err: "All 20 requests failed", Info: summary.RunInfo{RunLabel: "probe",
		VariationValues: artifact.Object{{Key: "datasets.main.prompts.isl", Value: int64(8000)}}}})
	if trial.Refused != v.Refused || trial.Limited != "" || s.Evidence().Verdict != boundary.Saturated || extra == nil {
		t.Errorf("%+v, %+v", trial, s.Evidence())
	}
	line := s.Line(1, 8000, &series.Run{Err: "x", Info: summary.RunInfo{RunLabel: "probe"}}, false)
	if line != "Probe 1: prompts of 8,000 tokens are beyond the limits: the server refused 20 of 20 prompts as too long" {
		t.Error(line)
	}
}

// A run that is taken over from an earlier start says to the search what it said then.
func TestVerdictsAreRestored(t *testing.T) {
	margin, deviation := -50.0, 4.0
	said := capacity.Verdict{Decision: capacity.Met, Confidence: 0.99, EndedEarly: true,
		Reason:  "all service levels are met",
		Filters: []capacity.FilterVerdict{{Filter: question(t).Limits[0], Margin: &margin, StandardError: &deviation}}}
	first, err := capacity.New(question(t))
	if err != nil {
		t.Fatal(err)
	}
	probe := &series.Run{Info: summary.RunInfo{RunLabel: "probe"}, Metrics: []metrics.Metric{
		{Tag: "benchmark_duration", Stats: metrics.Stats{Avg: 60}}, {Tag: "request_count", Stats: metrics.Stats{Avg: 40}}}}
	first.Take("probe", said, time.Minute)
	_, extra := first.Trial(probe)
	text, err := artifact.AppendJSON(nil, artifact.Object{{Key: "iterations", Value: []any{extra}}})
	if err != nil {
		t.Fatal(err)
	}

	again, err := capacity.New(question(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Restore(text); err != nil {
		t.Fatal(err)
	}
	_, restored := again.Trial(probe)
	if diff := cmp.Diff(first.Evidence(), again.Evidence()); diff != "" {
		t.Errorf("evidence (-first +again):\n%s", diff)
	}
	if diff := cmp.Diff(extra, restored); diff != "" {
		t.Errorf("history (-first +again):\n%s", diff)
	}
	if spent := again.Answer(nil, time.Minute, "").Spent; spent.Runs != 1 || spent.Requests != 40 {
		t.Errorf("%+v", spent)
	}
}

// The time to first token grows by 0.1 ms for each token of the prompt from 20 ms: 200 ms are reached with 1,800 tokens.
// Beyond 1,000 the second server refuses prompts.
func TestLongestPromptOfAComputedServer(t *testing.T) {
	for _, c := range []struct {
		context, want float64
		boundBy       string
	}{{math.Inf(1), 1800, ""}, {1000, 1000, "the server refuses longer prompts: prompts of 1,"}} {
		q := question(t)
		q.Limits, q.Over, q.Min, q.Max = q.Limits[:1], capacity.ISL, -1, -1
		q.Limits[0].Threshold = 200
		q.FitRange(0)
		s, err := capacity.New(q)
		if err != nil {
			t.Fatal(err)
		}
		problem := search.Problem{Filters: q.Limits}
		for n := 0; ; n++ {
			at, more := s.Planner().Ask()
			if !more {
				break
			}
			label := fmt.Sprint(n)
			run := &series.Run{Info: summary.RunInfo{RunLabel: label,
				VariationValues: artifact.Object{{Key: "datasets.main.prompts.isl", Value: int64(at[0])}}}}
			ttft := 20 + 0.1*at[0]
			margin, deviation := ttft-200, 0.5
			v := capacity.Verdict{Binding: 0, Filters: []capacity.FilterVerdict{{Filter: q.Limits[0], Margin: &margin,
				StandardError: &deviation}}}
			var trials []search.Trial
			if at[0] > c.context {
				v = capacity.Verdict{Decision: capacity.Violated, Binding: -1, Refused: "refused as too long"}
			} else {
				trials = append(trials, func(string, string) (float64, bool) { return ttft, true })
			}
			s.Take(label, v, time.Minute)
			s.Trial(run)
			s.Planner().Tell(problem.Judge(at, trials, nil))
		}
		a := s.Answer(nil, time.Minute, "")
		if a.Outcome != answer.Found || !(a.Low <= c.want && c.want <= a.High) ||
			math.Abs(a.Value-c.want) > 0.05*c.want || a.Value != math.Trunc(a.Value) ||
			!strings.HasPrefix(a.BoundBy, c.boundBy) || (a.BoundBy == "") != (c.boundBy == "") {
			t.Errorf("%v: %s %v in %v to %v, %q", c.context, a.Outcome, a.Value, a.Low, a.High, a.BoundBy)
		}
		if !strings.HasPrefix(a.Headline(), "prompts of 1,") && !strings.HasPrefix(a.Headline(), "prompts of 9") {
			t.Error(a.Headline())
		}
	}
}
