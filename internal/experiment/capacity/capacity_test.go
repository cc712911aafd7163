package capacity_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/config/settings"
	"aiperf/internal/experiment/capacity"
	"aiperf/internal/experiment/search"
	"aiperf/internal/experiment/search/boundary"
	"aiperf/internal/experiment/search/loop"
	"aiperf/internal/experiment/series"
	"aiperf/internal/experiment/sweep"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/summary"
	"aiperf/internal/run"
)

// question asks for a p95 time to first token of 300 ms.
func question(t *testing.T) capacity.Question {
	t.Helper()
	limit, err := capacity.Limit("ttft", "300")
	if err != nil {
		t.Fatal(err)
	}
	return capacity.Question{Limits: []search.Filter{limit, capacity.ErrorRate(0.01)}, Implied: 1,
		Over: capacity.Concurrency, Min: 1, Max: 100,
		Budget: time.Hour, Precision: 0.1, Probe: time.Minute, Warmup: 15 * time.Second, MaxProbes: 40,
		Confidence: 0.95}
}

func TestLimits(t *testing.T) {
	for text, want := range map[string]string{
		"300": "time_to_first_token:p95:le:300.0", "p99:300": "time_to_first_token:p99:le:300.0",
		"avg:1.5": "time_to_first_token:avg:le:1.5",
	} {
		if f, err := capacity.Limit("ttft", text); err != nil || f.String() != want {
			t.Errorf("%s: %v, %v", text, f, err)
		}
	}
	for text, want := range map[string]string{"p97:300": "not a statistic", "p99:": "not a number", "p99:-1": "above 0",
		"NaN": "above 0", "inf": "above 0"} {
		if _, err := capacity.Limit("ttft", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if f := capacity.ErrorRate(0.01); f.Threshold != 1 { // the metric is in percent
		t.Errorf("%v", f)
	}
}

func TestQuestionsThatCannotBeAsked(t *testing.T) {
	for want, change := range map[string]func(*capacity.Question){
		"no limit":      func(q *capacity.Question) { q.Limits = nil },
		"--min 0":       func(q *capacity.Question) { q.Min = 0 },
		"--max 1 must":  func(q *capacity.Question) { q.Max = 1 },
		"whole numbers": func(q *capacity.Question) { q.Max = 10.5 },
	} {
		q := question(t)
		change(&q)
		if err := q.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	q := question(t)
	if err := q.Check(); err != nil {
		t.Error(err)
	}
}

// asked resolves nothing: it is what a run was asked for.
func asked(t *testing.T, args ...string) *settings.Settings {
	t.Helper()
	p, err := settings.Parse(append([]string{"--model", "m"}, args...),
		func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The block of a question is one that the reader of blocks takes.
func TestBlockIsASearch(t *testing.T) {
	for _, over := range []string{capacity.Concurrency, capacity.Rate} {
		q := question(t)
		q.Over = over
		plan, err := sweep.FromFlags(asked(t), q.Block())
		if err != nil {
			t.Fatal(err)
		}
		spec, _ := loop.Read(plan.Block)
		d := spec.Space[0]
		if len(spec.Filters) != 2 || d.Path != q.Path() || d.Lo != 1 || d.Hi != 100 ||
			d.Int != (over == capacity.Concurrency) ||
			!d.LogUniform {
			t.Errorf("%s: %+v", over, spec)
		}
	}
}

func TestProbesAreBoundedAndWarmedUp(t *testing.T) {
	n := int64(40)
	cfg := func(args ...string) *config.Run {
		return &config.Run{Asked: asked(t, args...), Phases: []config.Phase{
			{Name: "profiling", Kind: config.ProfilingPhase, Mode: config.Burst, Concurrency: new(int), Requests: &n}}}
	}
	s, err := capacity.New(question(t))
	if err != nil {
		t.Fatal(err)
	}
	own := cfg()
	p := s.Probe(own).Phases
	if len(p) != 2 || p[0].Kind != config.WarmupPhase || *p[0].Duration != 15*time.Second || p[1].Requests != nil ||
		*p[1].Duration != time.Minute {
		t.Errorf("%+v", p)
	}
	if len(own.Phases) != 1 || own.Phases[0].Requests != &n {
		t.Error("the configuration changed")
	}
	if p := s.Probe(cfg("--request-count", "40")).Phases; len(p) != 2 || p[1].Requests != &n || p[1].Duration != nil {
		t.Errorf("requests that were asked for: %+v", p)
	}
}

// told takes the verdict of a run.
func told(s *capacity.Study, label string, v capacity.Verdict) loop.Trial {
	s.Take(label, v, time.Minute)
	t, _ := s.Trial(&series.Run{Info: summary.RunInfo{RunLabel: label}})
	return t
}

func TestWhatAVerdictSays(t *testing.T) {
	margin, deviation := -50.0, 4.0
	filters := []capacity.FilterVerdict{{Margin: &margin, StandardError: &deviation}}
	s, err := capacity.New(question(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		v    capacity.Verdict
		want boundary.Verdict
	}{
		"undecided":   {capacity.Verdict{Decision: capacity.Undecided, Filters: filters}, boundary.Measured},
		"decided":     {capacity.Verdict{Decision: capacity.Met, Filters: filters}, boundary.Measured},
		"ended early": {capacity.Verdict{Decision: capacity.Met, Filters: filters, EndedEarly: true}, boundary.Certain},
		"saturated": {capacity.Verdict{Decision: capacity.Violated, Saturated: true, Evidence: "x", Binding: -1},
			boundary.Saturated},
		"client-limited": {capacity.Verdict{Decision: capacity.Undecided, ClientLimited: true, Binding: -1},
			boundary.ClientLimited},
		"limited at last": {capacity.Verdict{Decision: capacity.Met, EndedEarly: true, ClientLimited: true,
			Binding: -1},
			boundary.ClientLimited},
	} {
		trial := told(s, name, c.v)
		if last := s.Evidence(); last.Verdict != c.want || last.Seconds != 60 || len(last.Errors) != 2 {
			t.Errorf("%s: %+v", name, last)
		}
		if (trial.Limited != "") != c.v.ClientLimited || (trial.Saturated != "") != (c.want == boundary.Saturated) {
			t.Errorf("%s: %+v", name, trial)
		}
	}
}

// server answers with a time to first token that grows with the load: 300 ms at 42.
func server(load float64) float64 { return 300 * math.Pow(load/42, 1.5) }

// full answers in 40 ms until its batch of 24 is full: a request more waits for one to end.
func full(load float64) float64 {
	if load <= 24 {
		return 40
	}
	return 500 + load
}

// The answer is a load that was measured within the limits, never one beyond a cliff that the fitted curve smooths.
func TestTheAnswerIsALoadThatWasMeasured(t *testing.T) {
	for _, precision := range []float64{0.05, 0.1, 0.3} {
		q := question(t)
		q.Min, q.Max, q.Precision = 1, 200, precision
		s, err := capacity.New(q)
		if err != nil {
			t.Fatal(err)
		}
		problem := search.Problem{Filters: q.Limits}
		shown := &answer.Sweep{Parameters: []answer.Parameter{{Name: capacity.Concurrency, Path: q.Path()}}}
		met := map[float64]bool{}
		for at, more := s.Planner().Ask(); more; at, more = s.Planner().Ask() {
			ttft, verdict := full(at[0]), answer.Infeasible
			if ttft <= 300 {
				met[at[0]], verdict = true, answer.Feasible
			}
			trial := func(metric, stat string) (float64, bool) {
				return map[string]float64{"time_to_first_token": ttft}[metric], true
			}
			margin, deviation := ttft-300, 2.0
			told(s, "probe", capacity.Verdict{
				Filters: []capacity.FilterVerdict{{Margin: &margin, StandardError: &deviation}}})
			s.Planner().Tell(problem.Judge(at, []search.Trial{trial}, nil))
			shown.Cells = append(shown.Cells, answer.Cell{Values: []any{at[0]}, Verdict: verdict})
		}
		a := s.Answer(shown, time.Minute, "aiperf capacity")
		if a.Outcome != answer.Found || !met[a.Value] || a.Within != a.Value || !(a.Beyond > 24) ||
			!(a.Low <= a.Value && a.Value <= a.High) || !(a.Value >= 24/(1+2*precision)) {
			t.Errorf("precision %v: %v in %v to %v, measured: %s", precision, a.Value, a.Low, a.High, a.Measured())
		}
	}
}

// A whole study on a server that can be computed: the answer holds the truth, and says what binds.
func TestStudyOfAComputedServer(t *testing.T) {
	for _, c := range []struct {
		name     string
		min, max float64
		want     answer.Outcome
		lo, hi   float64
	}{
		{"inside", 1, 1000, answer.Found, 41, 43},
		{"below", 100, 1000, answer.NotEvenSmallest, 0, 100},
		{"beyond", 1, 20, answer.WholeRange, 20, 20},
	} {
		q := question(t)
		q.Min, q.Max = c.min, c.max
		s, err := capacity.New(q)
		if err != nil {
			t.Fatal(err)
		}
		problem := search.Problem{Filters: q.Limits}
		shown := &answer.Sweep{Parameters: []answer.Parameter{{Name: capacity.Concurrency, Path: q.Path()}}}
		for {
			at, more := s.Planner().Ask()
			if !more {
				break
			}
			ttft := server(at[0])
			trial := func(metric, stat string) (float64, bool) {
				return map[string]float64{"time_to_first_token": ttft}[metric], true
			}
			margin, deviation := ttft-300, 2.0
			told(s, "probe", capacity.Verdict{
				Filters: []capacity.FilterVerdict{{Margin: &margin, StandardError: &deviation}}})
			s.Planner().Tell(problem.Judge(at, []search.Trial{trial}, nil))
			shown.Cells = append(shown.Cells, answer.Cell{Values: []any{at[0]}, Figures: map[string]answer.Figure{
				"time_to_first_token_p95": answer.Single(ttft), "request_throughput_avg": answer.Single(at[0] / 2)}})
		}
		a := s.Answer(shown, time.Minute, "aiperf capacity")
		if a.Outcome != c.want {
			t.Errorf("%s: %s: %+v", c.name, a.Outcome, s.Members(&answer.Capacity{Binding: -1}))
		}
		if c.want == answer.NotEvenSmallest {
			continue
		}
		if !(a.Value >= c.lo && a.Value <= c.hi) || c.want == answer.Found &&
			(a.Binding != 0 || !(a.Low <= 42 && 42 <= a.High) ||
				math.Abs(a.Rate.Mean-a.Value/2) > 1) {
			t.Errorf("%s: %v in %v to %v, bound by %d, %v requests/s", c.name, a.Value, a.Low, a.High, a.Binding,
				a.Rate.Mean)
		}
		if o := s.Members(&answer.Capacity{Binding: -1}); len(o) == 0 {
			t.Error("the history has no members")
		}
	}
}

// A server that is gone ends the search; one run without results may be an accident.
func TestRunsWithoutResultsEndASearch(t *testing.T) {
	s, err := capacity.New(question(t))
	if err != nil {
		t.Fatal(err)
	}
	made := func(f series.Finished) error {
		step := series.Step{Config: &config.Run{}}
		s.Observe(&step, &run.Options{})
		s.Done(&step, &f)
		return s.Lost()
	}
	gone := series.Finished{Err: errors.New("never reached")}
	for i, f := range []series.Finished{gone, {Outcome: &run.Outcome{}}, gone} {
		if err := made(f); err != nil {
			t.Errorf("run %d: %v", i, err)
		}
	}
	if err := made(gone); err == nil || !strings.Contains(err.Error(), "never reached") {
		t.Errorf("got %v", err)
	}
}

// The two sides of a limit are those of the answer, also where a load beyond it held once.
func TestSidesOfTheAnswerAreDifferentLoads(t *testing.T) {
	q := question(t)
	q.Max = 32
	s, err := capacity.New(q)
	if err != nil {
		t.Fatal(err)
	}
	problem := search.Problem{Filters: q.Limits}
	shown := &answer.Sweep{Parameters: []answer.Parameter{{Name: capacity.Concurrency, Path: q.Path()}}}
	seen := map[float64]int{}
	for {
		at, more := s.Planner().Ask()
		if !more {
			break
		}
		load := at[0]
		ttft, verdict := 200+load, answer.Feasible
		if load >= 9 {
			ttft, verdict = 450+10*load, answer.Infeasible
		}
		if load == 9 && seen[load]%2 == 0 {
			ttft, verdict = 150, answer.Feasible
		}
		seen[load]++
		trial := func(metric, stat string) (float64, bool) {
			return map[string]float64{"time_to_first_token": ttft}[metric], true
		}
		margin := ttft - 300
		told(s, "probe", capacity.Verdict{Filters: []capacity.FilterVerdict{{Margin: &margin}}})
		s.Planner().Tell(problem.Judge(at, []search.Trial{trial}, nil))
		shown.Cells = append(shown.Cells, answer.Cell{Values: []any{load}, Verdict: verdict, Figures: map[string]answer.Figure{
			"time_to_first_token_p95": answer.Single(ttft)}})
	}
	a := s.Answer(shown, time.Minute, "aiperf capacity")
	l := a.Limits[0]
	if l.Passing == nil || l.Failing == nil || *l.Passing == 150 {
		t.Fatalf("%v, %+v", seen, a)
	}
	if seen[9] > 1 && !(a.Low <= 8 && a.High >= 9) {
		t.Errorf("%v, %v to %v", seen, a.Low, a.High)
	}
	if seen[9] > 1 && !strings.Contains(strings.Join(a.Notes, "\n"), "probes of one load contradict each other: concurrency 9") {
		t.Errorf("%v: %q", seen, a.Notes)
	}
}
