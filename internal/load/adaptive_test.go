package load

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/clock"
)

func adaptive(slas ...SLA) *Adaptive {
	return &Adaptive{Period: time.Second, Sustain: 3 * time.Second, SLA: slas}
}

func TestTrapStepFollowsTheSmallestMargin(t *testing.T) {
	opt := adaptive().withDefaults(Phase{Concurrency: 1000})
	for margin, want := range map[float64]float64{0.9: 30, 0.74: 20, 0.3: 10, 0: 10, 1.5: 40, -1: 10} {
		same(t, fmt.Sprint("margin ", margin), opt.step(50, margin), want)
	}
	// Two limits with margins of 0.5 and 0.4.
	c := newController(Phase{Concurrency: 1000, Adaptive: adaptive(
		SLA{"request_latency", "avg", "le", 100}, SLA{"ttft", "avg", "le", 10},
	)}, fixedWindow{Window{Successes: []Sample{{LatencyMS: 50, TTFTMS: 6}}}}, clock.New(), 0)
	c.start(1)
	c.assess(1+int64(time.Second), tally{})
	same(t, "step of two limits", c.value, 11)
	same(t, "binding", *c.result.Events[1].BindingSLA, "ttft:avg:le:10")

	opt.Policy, opt.StepPercent = FixedPercentStep, 100
	same(t, "100 %", []float64{4 + opt.step(4, 0), 8 + opt.step(8, 0)}, []float64{8, 16})
	opt.StepPercent = 25
	same(t, "25 % of 1 and 9", []float64{opt.step(1, 0), opt.step(9, 0)}, []float64{1, 3})
}

type fixedWindow struct{ w Window }

func (f fixedWindow) TakeWindow(int) Window { return f.w }

func assessed(w Window, slas ...SLA) assessment {
	c := newController(Phase{Concurrency: 9, Adaptive: adaptive(slas...)}, fixedWindow{w}, clock.New(), 0)
	c.sinceNS = 1
	return c.measureWindow(1+int64(2*time.Second), tally{})
}

func TestTrapErrorRateIsPercentAndSuccessRateAFraction(t *testing.T) {
	w := Window{Successes: make([]Sample, 99), Errors: 1}
	for sla, want := range map[SLA]bool{
		{"error_rate", "avg", "le", 1}:        true,
		{"error_rate", "avg", "lt", 1}:        false,
		{"error_rate", "avg", "le", 0.01}:     false,
		{"success_rate", "avg", "ge", 0.99}:   true,
		{"success_rate", "avg", "ge", 99}:     false,
		{"cancellation_rate", "max", "le", 0}: true,
	} {
		same(t, sla.String(), assessed(w, sla).verdict == passed, want)
	}
}

func TestMetricsOfAWindow(t *testing.T) {
	nan := math.NaN()
	w := Window{Successes: []Sample{
		{LatencyMS: 10, TTFTMS: 1, ITLMS: nan, OutputTokens: 5},
		{LatencyMS: 20, TTFTMS: 3, ITLMS: nan, OutputTokens: 7},
		{LatencyMS: 40, TTFTMS: nan, ITLMS: nan},
	}, Errors: 1, Cancelled: 1}
	for name, want := range map[string]float64{
		"request_latency:avg": 70. / 3, "request_latency:min": 10, "request_latency:max": 40,
		"request_latency:p50": 20, "request_latency:p75": 30, "request_latency:p99": 39.6,
		"ttft:p50": 2, "time_to_first_token:max": 3, "itl:avg": math.Inf(1),
		"throughput:avg": 1.5, "output_token_throughput:avg": 6,
		"success_rate:avg": 0.6, "cancellation_rate:min": 0.2, "error_rate:avg": 25,
	} {
		metric, stat, _ := strings.Cut(name, ":")
		a := assessed(w, SLA{metric, stat, "le", 1})
		if got := a.values[0]; got != want && !(math.Abs(got-want) < 1e-9) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	a := assessed(w, SLA{"request_latency", "p99", "lt", 40}, SLA{"goodput", "avg", "ge", 1},
		SLA{"goodput_ratio", "avg", "ge", 1})
	same(t, "goodput, good of all attempts", a.values[1:], []float64{1, 0.4})
}

// Requests that were under way when the value was changed come back later, and say nothing about the new one.
func TestRequestsOfTheValueBeforeAreNotJudged(t *testing.T) {
	c := newController(Phase{Concurrency: 99, Adaptive: adaptive(SLA{"request_latency", "max", "le", 100})}, nil,
		clock.New(), 0)
	window := &fixedWindow{}
	c.windows = window
	now := int64(time.Second)
	c.start(now)
	pass := func(values ...Sample) float64 {
		now += int64(time.Second)
		window.w = Window{Successes: values}
		c.assess(now, tally{})
		return c.value
	}
	issued := func(before time.Duration, latency float64) Sample {
		return Sample{IssuedNS: c.clock.WallNS(now - int64(before)), LatencyMS: latency}
	}
	same(t, "raised", pass(issued(0, 100)), 11.)
	same(t, "only requests from before", pass(issued(time.Millisecond, 500)), 11.)
	same(t, "reason", *c.result.Summary.Candidates[1].RejectionReason, "insufficient_samples")
	same(t, "one of its own", pass(issued(time.Millisecond, 100), issued(2*time.Second, 500)), 21.)
	same(t, "throughput of all", c.result.Summary.Candidates[2].ThroughputRPS, 2.)
	same(t, "missed", pass(issued(0, 101)), 11.)
	same(t, "held in spite of the queue", pass(issued(0, 50), issued(time.Second, 500)), 11.)
	same(t, "passed", c.result.Summary.SustainPassedWindows, 1)
}

func TestWindowsWithoutEnoughSuccesses(t *testing.T) {
	latency, errorRate := SLA{"request_latency", "avg", "le", 10}, SLA{"error_rate", "avg", "le", 100}
	for _, test := range []struct {
		name string
		w    Window
		slas []SLA
		want verdict
	}{
		{"nothing came back", Window{}, []SLA{latency}, inconclusive},
		{"only errors", Window{Errors: 1}, []SLA{latency}, failedSLA},
		{"only errors, and a limit on them", Window{Errors: 1}, []SLA{errorRate}, passed},
		{"errors and cancellations, a limit on one", Window{Errors: 1, Cancelled: 1}, []SLA{errorRate}, failedSLA},
		{"a limit on latency beside it", Window{Errors: 1}, []SLA{errorRate, latency}, failedSLA},
		{"one success", Window{Successes: []Sample{{LatencyMS: 5}}}, []SLA{latency}, passed},
	} {
		same(t, test.name, assessed(test.w, test.slas...).verdict, test.want)
	}
}

// capacity is a service whose latency exceeds its limit of 100 ms above a load.
type capacity struct {
	load  func() float64
	limit float64
	// from is the first window that is worse than the load explains, up to to.
	window, from, to int
}

func (c *capacity) TakeWindow(int) Window {
	c.window++
	latency := 100.
	if c.load() > c.limit || c.window >= c.from && c.window < c.to {
		latency = 101
	}
	return Window{Successes: []Sample{{LatencyMS: latency}}, Errors: 0}
}

// search drives the controller of a phase against a service.
func search(phase Phase, service *capacity) AdaptiveResult {
	c := newController(phase, service, clock.New(), 0)
	if service.load == nil {
		service.load = func() float64 { return c.value }
	}
	now := int64(1)
	c.start(now)
	for done := false; !done; {
		now += int64(phase.Adaptive.Period)
		done = c.assess(now, tally{})
	}
	return c.result
}

func values(r AdaptiveResult) (all []float64) {
	for _, c := range r.Summary.Candidates {
		all = append(all, c.CandidateValue)
	}
	return all
}

func TestSearchFindsTheBoundaryAndHoldsIt(t *testing.T) {
	phase := Phase{Concurrency: 100, Adaptive: adaptive(SLA{"request_latency", "avg", "le", 100})}
	r := search(phase, &capacity{limit: 35})
	same(t, "values", values(r), []float64{1, 11, 21, 31, 41, 31, 31, 31})
	s := r.Summary
	same(t, "end", []string{s.Status, s.CompletedReason}, []string{"completed", "sustain_duration_completed"})
	same(t, "found", []float64{*s.BoundaryValue, *s.LastPassingValue, *s.FirstFailingValue}, []float64{31, 31, 41})
	same(t, "sustain", []any{s.SustainWindows, s.SustainPassedWindows, s.SLAPassedDuringSustain,
		s.SustainDurationSeconds}, []any{3, 3, true, 3})
	var names []string
	for _, e := range r.Events {
		if e.Event != "adaptive_window" && e.Event != "adaptive_decision" {
			names = append(names, e.Event)
		}
	}
	same(t, "events", names, []string{"adaptive_phase_started", "sustain_started", "boundary_discovered",
		"adaptive_complete"})
	reasons := s.Candidates[4].RejectionReason
	same(t, "rejection", *reasons, "sla_miss")
}

func TestSearchEnds(t *testing.T) {
	for _, test := range []struct {
		name           string
		max            float64
		service        capacity
		status, reason string
		values         []float64
	}{
		{"at the maximum", 25, capacity{limit: 100}, "incomplete", "max_control_value_reached_without_saturation",
			[]float64{1, 11, 21, 25}},
		{"at once", 25, capacity{limit: 0}, "failed", "no_sustainable_concurrency_found", []float64{1}},
		{"recovered", 50, capacity{limit: 15, from: 5, to: 6}, "completed", "sustain_duration_completed",
			[]float64{1, 11, 21, 11, 1, 1}},
		{"not recovered", 50, capacity{limit: 25, from: 6, to: 9}, "failed", "sustain_failed_after_recovery",
			[]float64{1, 11, 21, 31, 21, 11}},
		{"no way down", 50, capacity{limit: 5, from: 4, to: 9}, "failed", "sustain_failed_sla_unrecoverable",
			[]float64{1, 11, 1}},
	} {
		phase := Phase{Concurrency: 100, Adaptive: adaptive(SLA{"request_latency", "avg", "le", 100})}
		phase.Adaptive.Max = test.max
		r := search(phase, &test.service)
		same(t, test.name, values(r), test.values)
		same(t, test.name, []string{r.Summary.Status, r.Summary.CompletedReason}, []string{test.status, test.reason})
	}
}

// steady passes every window.
type steady struct{}

func (steady) TakeWindow(int) Window { return Window{Successes: []Sample{{LatencyMS: 1}}} }

func TestAdaptivePhaseChangesItsLoad(t *testing.T) {
	perSecond := func(p played) (all []int) {
		all = make([]int, 1+int(p.took/time.Second))
		for _, c := range p.sent {
			all[(c.IssuedNS-p.result.Phases[0].StartNS)/int64(time.Second)]++
		}
		return all
	}
	for _, test := range []struct {
		name  string
		phase Phase
		serve time.Duration
		want  []int
	}{
		{"concurrency", Phase{Concurrency: 9, Adaptive: &Adaptive{Min: 2, BaseStep: 3, MaxMultiplier: 1}}, 500 * ms,
			[]int{4, 10, 16, 18, 0}},
		{"prefill", Phase{Prefill: 9, Adaptive: &Adaptive{Variable: ControlPrefill, Min: 2, BaseStep: 3,
			MaxMultiplier: 1}}, 500 * ms, []int{4, 10, 16, 18, 0}},
		{"rate", Phase{Arrivals: constantly(40),
			Adaptive: &Adaptive{Variable: ControlRequestRate, Min: 10, BaseStep: 10, MaxMultiplier: 1}}, ms,
			[]int{9, 20, 30, 40, 1}},
		{"users", Phase{Users: &Users{Count: 8, Rate: 2, MeanTurns: 2},
			Adaptive: &Adaptive{Variable: ControlUsers, Min: 2, BaseStep: 3, MaxMultiplier: 1}}, ms, nil},
	} {
		phase := test.phase
		phase.Duration = time.Hour
		phase.Adaptive.Period, phase.Adaptive.Sustain = time.Second, time.Second
		phase.Adaptive.SLA = []SLA{{"request_latency", "avg", "le", 1}}
		p := scenario{plan: one(phase), turns: turns(1), serve: within(test.serve),
			opt: Options{Windows: steady{}}}.run(t)
		if test.want != nil {
			// The search ends with the window in which the maximum passed; the requests of its last instant may come
			// first.
			same(t, test.name, perSecond(p)[:3], test.want[:3])
		}
		r := p.result.Adaptive[0]
		same(t, test.name+": end", r.Summary.CompletedReason, "max_control_value_reached_without_saturation")
		same(t, test.name+": value", r.Summary.ControlValue, phase.Adaptive.withDefaults(phase).Max)
		same(t, test.name+": flags", p.result.Phases[0].TimeoutTriggered, false)
	}
}

func TestPhaseThatEndsBeforeItsSearch(t *testing.T) {
	phase := Phase{Concurrency: 50, Duration: 2500 * ms, Adaptive: adaptive(SLA{"request_latency", "avg", "le", 1})}
	p := scenario{plan: one(phase), serve: within(time.Second), opt: Options{Windows: steady{}}}.run(t)
	r := p.result.Adaptive[0]
	same(t, "end", []string{r.Summary.Status, r.Summary.CompletedReason}, []string{"incomplete", "phase_stopped"})
	same(t, "last event", r.Events[len(r.Events)-1].Event, "adaptive_incomplete")
	same(t, "sent", r.Summary.Totals.Sent, p.result.Phases[0].RequestsSent)
}

// Windows are looked at when they are over, also where nothing else happens.
func TestSearchGoesOnWhileNothingReturns(t *testing.T) {
	phase := Phase{Concurrency: 50, Duration: time.Minute, Adaptive: adaptive(SLA{"request_latency", "avg", "le", 1})}
	p := scenario{plan: one(phase), serve: never, opt: Options{Windows: fixedWindow{Window{Errors: 1}}}}.run(t)
	r, s := p.result.Adaptive[0], p.result.Phases[0]
	same(t, "end", r.Summary.CompletedReason, "no_sustainable_concurrency_found")
	same(t, "after one window", time.Duration(s.SentEndNS-s.StartNS), time.Second)
}

// The search of users begins with the smallest number: each sends more often than with all of them.
func TestSearchOfUsersBeginsWithTheFewest(t *testing.T) {
	phase := users(10, 10, 3)
	phase.Duration = 900 * ms
	phase.Adaptive = adaptive(SLA{"request_latency", "avg", "le", 1})
	phase.Adaptive.Variable, phase.Adaptive.Min = ControlUsers, 2
	p := scenario{plan: one(phase), turns: turns(3), opt: Options{Windows: steady{}}}.run(t)
	last := map[uint64]int64{}
	for _, c := range p.sent {
		if c.Turn > 0 {
			same(t, "gap of a user", time.Duration(c.IssuedNS-last[c.User]), 200*ms)
		}
		last[c.User] = c.IssuedNS
	}
	same(t, "requests", len(p.sent), 9)
}

func TestKeysOfAdaptiveFilesAreSortedAndComplete(t *testing.T) {
	phase := Phase{Concurrency: 100, Adaptive: adaptive(SLA{"itl", "p99", "le", 100})}
	r := search(phase, &capacity{limit: 35, load: func() float64 { return 0 }})
	for _, test := range []struct {
		value any
		keys  string
	}{
		{r.Events[1], `schema_version timestamp timestamp_ns timestamp_utc event phase control_variable control_value_before
			accepted_value adaptive_iteration candidate_value fault_window_id phase_end_ts phase_id phase_index phase_kind
			phase_name phase_start_ts profiling_index run_id
			control_value_after control_value control boundary_value last_passing_value first_failing_value sla_metric sla_stat
			sla_op sla_value sla_bound sla_values binding_sla throughput sample_count completed sent in_flight cancelled errored
			error_count sla_passed strategy_type step_policy step_size reason`},
		{r.Summary, `schema_version status control_variable control_value control boundary_value last_passing_value
			phase_index phase_kind phase_name profiling_index
			first_failing_value result sustain_started_at sustain_duration_seconds completed_reason sla_passed_during_sustain
			sustain_windows sustain_passed_windows sla_metric sla_stat sla_op sla_bound sla totals throughput candidates
			strategy_type step_policy base_step max_step_multiplier step_percent`},
		{r.Summary.Candidates[0], `adaptive_iteration candidate_value control_value start_ts end_ts duration_s request_count
			error_count cancelled success_count success_rate throughput_rps latency_avg_ms latency_p50_ms latency_p95_ms
			latency_p99_ms ttft_p50_ms ttft_p95_ms ttft_p99_ms itl_p50_ms itl_p95_ms itl_p99_ms accepted rejection_reason`},
	} {
		data, err := json.Marshal(test.value)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Fields(test.keys)
		slices.Sort(want)
		same(t, "keys", topKeys(t, data), want)
	}
}

// topKeys lists the keys of a JSON object in their order.
func topKeys(t *testing.T, data []byte) (keys []string) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(data)))
	depth, isKey := 0, false
	for {
		token, err := d.Token()
		if err != nil {
			return keys
		}
		switch v := token.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				depth++
			} else {
				depth--
			}
			isKey = depth == 1
		case string:
			if depth == 1 && isKey {
				keys = append(keys, v)
				isKey = false
				continue
			}
			isKey = depth == 1
		default:
			isKey = depth == 1
		}
	}
}

func TestAdaptivePlansThatCannotRun(t *testing.T) {
	good := Phase{Concurrency: 10, Duration: time.Minute, Adaptive: adaptive(SLA{"ttft", "p99", "le", 100})}
	if err := one(good).Validate(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Phase, *Adaptive){
		"needs a duration":         func(p *Phase, _ *Adaptive) { p.Duration, p.Requests = 0, 5 },
		"its own value":            func(_ *Phase, a *Adaptive) { a.Variable = ControlUsers },
		"cannot be adaptive":       func(p *Phase, _ *Adaptive) { p.Schedule = &Schedule{} },
		"no barrier":               func(p *Phase, _ *Adaptive) { p.Barrier = true },
		"cannot be ramped":         func(p *Phase, _ *Adaptive) { p.ConcurrencyRamp.Duration = 1 },
		"above the minimum":        func(_ *Phase, a *Adaptive) { a.Min = 10 },
		"whole":                    func(_ *Phase, a *Adaptive) { a.Min = 1.5 },
		"more than the concur":     func(p *Phase, a *Adaptive) { a.Variable, p.Prefill = ControlPrefill, 11 },
		"at least 1 s":             func(_ *Phase, a *Adaptive) { a.Period = ms },
		"must not be negative":     func(_ *Phase, a *Adaptive) { a.BaseStep = -1 },
		"at least one SLA":         func(_ *Phase, a *Adaptive) { a.SLA = nil },
		"unknown metric":           func(_ *Phase, a *Adaptive) { a.SLA = []SLA{{"tps", "avg", "le", 1}} },
		"unknown statistic \"p2\"": func(_ *Phase, a *Adaptive) { a.SLA = []SLA{{"ttft", "p2", "le", 1}} },
		"unknown comparison":       func(_ *Phase, a *Adaptive) { a.SLA = []SLA{{"ttft", "p99", "<", 1}} },
		"threshold must be":        func(_ *Phase, a *Adaptive) { a.SLA = []SLA{{"ttft", "p99", "le", math.NaN()}} },
		"goodput needs":            func(_ *Phase, a *Adaptive) { a.SLA = []SLA{{"goodput", "avg", "ge", 1}} },
	} {
		phase := good
		opt := *good.Adaptive
		phase.Adaptive = &opt
		change(&phase, &opt)
		if err := one(phase).Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := New(one(good), &echo{}, &echo{}, Options{}).Run(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "windows") {
		t.Errorf("error %v", err)
	}
}
