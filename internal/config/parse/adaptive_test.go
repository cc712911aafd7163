package parse_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/config/document"
	"aiperf/internal/config/parse"
	"aiperf/internal/load"
)

// object makes a map of keys and values in turn.
func object(pairs ...any) artifact.Object {
	o := artifact.Object{}
	for i := 0; i < len(pairs); i += 2 {
		o = append(o, artifact.Member{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	return o
}

// adaptive reads a phase of keys and values in turn.
func adaptive(pairs ...any) (a *load.Adaptive, faults []string) {
	report := func(_ *document.Node, path, format string, args ...any) {
		faults = append(faults, path+": "+fmt.Sprintf(format, args...))
	}
	a = parse.Adaptive(document.Of(object(pairs...)), "phases.0", report)
	return a, faults
}

var latencyBelow500 = object("request_latency", object("p95", object("le", int64(500))))

func TestTrapEveryAliasOfASettingMeansTheSame(t *testing.T) {
	for flat, same := range map[string]struct {
		value  any
		nested []any
		want   load.Adaptive
	}{
		"adaptive_control_variable": {"users", []any{object("control_variable", "users"),
			object("control", object("variable", "users"))}, load.Adaptive{Variable: load.ControlUsers}},
		"adaptive_control_min": {int64(3), []any{object("control_min", int64(3)), object("min_concurrency", int64(3)),
			object("control", object("min", int64(3)))}, load.Adaptive{Min: 3}},
		"adaptive_control_max": {int64(30), []any{object("control_max", int64(30)),
			object("max_concurrency", int64(30)), object("control", object("max", int64(30)))}, load.Adaptive{Max: 30}},
		"adaptive_assessment_period": {2.5, []any{object("window", 2.5), object("assessment_period", 2.5)},
			load.Adaptive{Period: 2500 * time.Millisecond}},
		"adaptive_min_completed_requests": {int64(7), []any{object("min_completed_requests", int64(7))},
			load.Adaptive{MinCompleted: 7}},
		"adaptive_sustain_duration": {"1m", []any{object("sustain_duration", int64(60)),
			object("sustain_duration", "60s")}, load.Adaptive{Sustain: time.Minute}},
		"adaptive_scale_strategy_type": {"ramp_until_fail",
			[]any{object("strategy", object("type", "ramp_until_fail"))}, load.Adaptive{}},
		"adaptive_scale_step_policy": {"fixed_percent_step",
			[]any{object("strategy", object("step_policy", "fixed_percent_step"))},
			load.Adaptive{Policy: load.FixedPercentStep}},
		"adaptive_scale_base_step": {int64(4), []any{object("strategy", object("base_step", int64(4)))},
			load.Adaptive{BaseStep: 4}},
		"adaptive_scale_max_step_multiplier": {int64(2),
			[]any{object("strategy", object("max_step_multiplier", int64(2)))}, load.Adaptive{MaxMultiplier: 2}},
		"adaptive_scale_step_percent": {12.5, []any{object("strategy", object("step_percent", 12.5))},
			load.Adaptive{StepPercent: 12.5}},
	} {
		read := func(pairs ...any) {
			t.Helper()
			a, faults := adaptive(pairs...)
			if len(faults) > 0 || a == nil || !reflect.DeepEqual(*a, same.want) {
				t.Errorf("%v: %+v %v, want %+v", pairs, a, faults, same.want)
			}
		}
		read("adaptive_scale", true, flat, same.value)
		for _, block := range same.nested {
			read("adaptive_scale", block)
		}
		if !slices.Contains(parse.AdaptiveKeys(), flat) {
			t.Errorf("%s is not among the keys of a phase", flat)
		}
	}
}

func TestSwitchOfTheAdaptiveSearch(t *testing.T) {
	for _, test := range []struct {
		value any
		on    bool
	}{
		{true, true}, {false, false}, {"yes", true}, {"On", true}, {"off", false}, {"no", false}, {int64(1), true},
		{int64(0), false}, {nil, false}, {object(), true}, {object("enabled", false), false},
		{object("enabled", "yes"), true},
	} {
		a, faults := adaptive("adaptive_scale", test.value, "sla", latencyBelow500)
		if (a != nil) != test.on || len(faults) > 0 {
			t.Errorf("%v: %+v %v", test.value, a, faults)
		}
	}
	a, faults := adaptive("sla", latencyBelow500, "adaptive_sustain_duration", int64(5))
	if a != nil || len(faults) > 0 {
		t.Errorf("without a switch: %+v %v", a, faults)
	}
}

func TestAdaptiveLimitsAsAListAndAsAMap(t *testing.T) {
	want := []load.SLA{{Metric: "ttft", Stat: "p95", Op: "le", Threshold: 200},
		{Metric: "error_rate", Stat: "avg", Op: "lt", Threshold: 1.5}}
	asMap := object("ttft", object("p95", object("le", int64(200))), "error_rate", object("avg", object("lt", 1.5)))
	asList := []any{object("metric_tag", "ttft", "op", "le", "threshold", int64(200)),
		object("metric_tag", "error_rate", "stat", "avg", "op", "lt", "threshold", 1.5)}
	for _, pairs := range [][]any{
		{"adaptive_scale", true, "sla", asMap}, {"adaptive_scale", true, "sla", asList},
		{"adaptive_scale", object("sla", asMap)}, {"adaptive_scale", object("sla", asList)},
	} {
		if a, faults := adaptive(pairs...); len(faults) > 0 || !slices.Equal(a.SLA, want) {
			t.Errorf("%v: %v %v", pairs, a, faults)
		}
	}
	two := object("ttft", object("p95", object("le", int64(200), "gt", int64(1))))
	if a, faults := adaptive("adaptive_scale", true, "sla", two); len(faults) > 0 || len(a.SLA) != 2 {
		t.Errorf("two comparisons: %+v %v", a, faults)
	}
}

func TestFaultsOfAnAdaptiveBlock(t *testing.T) {
	limit := func(metric, stat, op string, threshold any) artifact.Object {
		return object("sla", object(metric, object(stat, object(op, threshold))))
	}
	listed := func(pairs ...any) artifact.Object { return object("sla", []any{object(pairs...)}) }
	for want, block := range map[string]any{
		`phases.0.adaptive_scale.windw: unknown key "windw"; did you mean "window"`: object("windw", int64(4)),
		`adaptive_scale.control.mim: unknown key "mim"; did you mean "min"? The keys are max, min, variable`: object(
			"control", object("mim", int64(4))),
		`adaptive_scale.strategy.base: unknown key "base"; did you mean "base_step"`: object("strategy",
			object("base", int64(4))),
		"adaptive_scale.control: must be a mapping with the keys max, min, variable": object("control", int64(4)),
		"adaptive_scale.control.variable: must be one of concurrency, prefill_concurrency, request_rate, users, got " +
			"concurency (did you mean concurrency?)": object("control", object("variable", "concurency")),
		"adaptive_scale.window: must be at least 1 second, got 0.5": object("window", 0.5),
		"adaptive_scale.window: must be a number of seconds":        object("window", "soon"),
		"adaptive_scale.sustain_duration: must be a time above 0":   object("sustain_duration", int64(0)),
		"adaptive_scale.control.min: must be above 0, got -1":       object("control", object("min", int64(-1))),
		"adaptive_scale.strategy.base_step: must be a whole number": object("strategy", object("base_step", 2.5)),
		"adaptive_scale.assessment_period: is 7, but phases.0.adaptive_scale.window, which is the same setting, " +
			"is 5": object("window", int64(5), "assessment_period", int64(7)),
		`adaptive_scale: "maybe" is neither true nor false`: "maybe",
		"adaptive_scale: must be true, false or a mapping":  []any{},
		`adaptive_scale.sla.ttft.p95.le: must be a number`:  limit("ttft", "p95", "le", "x"),
		`sla.tfft.p95.le: unknown metric "tfft"`:            limit("tfft", "p95", "le", 1.5),
		`(did you mean ttft?); known are`:                   limit("ttfl", "p95", "le", 1.5),
		`unknown statistic "p96"`:                           limit("ttft", "p96", "le", 1.5),
		`unknown comparison "=<" (did you mean lt?)`:        limit("ttft", "p95", "=<", 1.5),
		"sla[0].op: is missing":                             listed("metric_tag", "ttft", "threshold", 1.5),
		"sla[0].threshold: is missing":                      listed("metric_tag", "ttft", "op", "le"),
		`sla[0].metric: unknown key "metric"`:               listed("metric", "ttft"),
		"sla.ttft.p95: must be a mapping comparison: number": object("sla",
			object("ttft", object("p95", int64(5)))),
	} {
		_, faults := adaptive("adaptive_scale", block)
		if !strings.Contains(strings.Join(faults, "\n"), want) {
			t.Errorf("faults %q, want %q", faults, want)
		}
	}
	_, faults := adaptive("adaptive_scale", object("sla", latencyBelow500), "sla", latencyBelow500)
	if len(faults) != 1 || !strings.Contains(faults[0], "the phase has an sla of its own") {
		t.Errorf("limits in two places: %q", faults)
	}
	if _, faults = adaptive("adaptive_scale", object("windw", int64(4), "enabled", false)); len(faults) != 1 {
		t.Errorf("unknown key beside a switch that is off: %q", faults)
	}
}

func ptr[T any](v T) *T { return &v }

// searched returns a phase that can be searched.
func searched() *config.Phase {
	return &config.Phase{Mode: config.Burst, Concurrency: ptr(50), Duration: ptr(time.Minute),
		Adaptive: &load.Adaptive{Period: time.Second, Sustain: time.Second, SLA: []load.SLA{
			{Metric: "request_latency", Stat: "avg", Op: "le", Threshold: 1}}}}
}

func TestTrapAdaptiveChecksComeInTheirOrder(t *testing.T) {
	check := func(p *config.Phase, streaming bool) (all []string) {
		phase := document.Of(object("adaptive_scale", true))
		parse.CheckAdaptive(phase, "phases.0", p, streaming, func(n *document.Node, path, format string, args ...any) {
			all = append(all, path+": "+fmt.Sprintf(format, args...))
			if n == nil {
				t.Errorf("%s: no node", path)
			}
		})
		return all
	}
	if faults := check(searched(), false); faults != nil {
		t.Fatal(faults)
	}
	if faults := check(&config.Phase{}, false); faults != nil {
		t.Fatal("a phase without a search:", faults)
	}
	// Each step mends the fault before it; all faults but the first are already there.
	p := &config.Phase{Mode: config.FixedSchedule, Adaptive: &load.Adaptive{Min: 60.5}}
	ttft := load.SLA{Metric: "ttft", Stat: "p95", Op: "le", Threshold: 1}
	for _, step := range []struct {
		want string
		mend func()
	}{
		{"needs a duration", func() { p.Duration = ptr(time.Minute) }},
		{"needs sustain_duration", func() { p.Adaptive.Sustain = time.Second }},
		{"needs limits", func() { p.Adaptive.SLA = []load.SLA{ttft} }},
		{"replays a recording", func() { p.Mode, p.ConcurrencyRamp = config.Burst, time.Second }},
		{"has no concurrency of its own", func() { p.Concurrency = ptr(50) }},
		{"concurrency_ramp: excludes", func() { p.ConcurrencyRamp = 0 }},
		{"the largest concurrency of the search, 50, must be above the smallest one, 60.5",
			func() { p.Adaptive.Max = 70.5 }},
		{"control.min must be whole", func() { p.Adaptive.Min = 60 }},
		{"control.max must be whole", func() { p.Adaptive.Max = 70 }},
		{"must not be above the concurrency", func() { p.Concurrency = ptr(60) }},
		{"sla: a limit on ttft needs replies that are streamed", func() {}},
	} {
		if faults := check(p, false); len(faults) != 1 || !strings.Contains(faults[0], step.want) {
			t.Errorf("faults %q, want %q", faults, step.want)
		}
		step.mend()
	}
	if faults := check(p, true); faults != nil {
		t.Error(faults)
	}
	p = searched()
	p.Adaptive.Variable, p.Adaptive.Max = load.ControlPrefill, 9
	if faults := check(p, true); faults != nil {
		t.Error(faults)
	}
	want := "prefill_concurrency needs replies"
	if faults := check(p, false); len(faults) != 1 || !strings.Contains(faults[0], want) {
		t.Error(faults)
	}
}

func TestAdaptiveVariablesAndTheirPhases(t *testing.T) {
	for want, change := range map[string]func(*config.Phase){
		"request_rate is searched in phases of the types constant": func(p *config.Phase) {
			p.Adaptive.Variable = load.ControlRequestRate
		},
		"users are searched in phases of the type user_centric": func(p *config.Phase) {
			p.Adaptive.Variable = load.ControlUsers
		},
		"has no prefill_concurrency of its own": func(p *config.Phase) { p.Adaptive.Variable = load.ControlPrefill },
		"control.max 51 must not be above the concurrency": func(p *config.Phase) {
			p.Adaptive.Variable, p.Adaptive.Max = load.ControlPrefill, 51
		},
		"rate_series: excludes": func(p *config.Phase) {
			p.Mode, p.Adaptive.Variable, p.Adaptive.Max = config.Rate, load.ControlRequestRate, 9
			p.Series = []config.RatePoint{{}, {}}
		},
		"rate_ramp: excludes": func(p *config.Phase) {
			p.Mode, p.Adaptive.Variable, p.Rate, p.RateRamp = config.Rate, load.ControlRequestRate, 9, time.Second
		},
		"simultaneous start": func(p *config.Phase) { p.Simultaneous = true },
		"a limit on goodput needs one on a latency": func(p *config.Phase) {
			p.Adaptive.SLA = []load.SLA{{Metric: "goodput", Stat: "avg", Op: "ge", Threshold: 1}}
		},
		"": func(p *config.Phase) {
			p.Mode, p.Adaptive.Variable, p.Rate, p.Adaptive.Min = config.Rate, load.ControlRequestRate, 9.5, 0.5
		},
	} {
		p := searched()
		change(p)
		var faults []string
		parse.CheckAdaptive(nil, "", p, true, func(_ *document.Node, path, format string, args ...any) {
			faults = append(faults, path+": "+fmt.Sprintf(format, args...))
		})
		if got := strings.Join(faults, "\n"); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("faults %q, want %q", faults, want)
		}
	}
}
