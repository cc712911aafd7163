package sweep_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/base/artifact"
	"aiperf/internal/experiment/sweep"
)

func runs(list string) string { return "sweep: {type: scenarios, runs: [" + list + "]}" }

func TestTrapAScenarioChangesOnlyWhatItNames(t *testing.T) {
	f := read(t, runs(`{name: x, benchmark: {phases: [{name: profiling, rate: 100}]}}`), body)
	p, err := sweep.Expand(f, f.Root)
	if err != nil {
		t.Fatal(err)
	}
	e := p.Variations[0].Envelope()
	got := fmt.Sprint(field(t, e, "benchmark.phases.0.requests"), " ", field(t, e, "benchmark.phases.1.rate"), " ",
		field(t, e, "benchmark.phases.1.concurrency"), " ", len(e.Get("benchmark").Get("phases").Items))
	if got != "5 100 8 2" {
		t.Error(got)
	}
	if rate := field(t, f.Root, "sweep.runs.0.benchmark.phases.0.rate"); rate != int64(100) {
		t.Errorf("the file was changed: %v", rate)
	}
}

func TestTrapAnUnknownPhaseIsAFaultNotANewPhase(t *testing.T) {
	wantFault(t, runs(`{name: a, benchmark: {phases: [{name: nope, rate: 100}]}}`), body, "no phase 'nope'",
		"'warmup', 'profiling'")
	wantFault(t, runs(`{name: a, benchmark: {phases: [{rate: 100}]}}`), body, "has no name")
	wantFault(t, runs(`{name: a, benchmark: {datasets: [{name: other, entries: 3}]}}`), body, "no dataset 'other'")
	p := plan(t, runs(`{name: a, benchmark: {phases: [{name: more, kind: profiling, type: concurrency, `+
		`requests: 5}]}}`), body)
	if n := len(p.Variations[0].Envelope().Get("benchmark").Get("phases").Items); n != 3 {
		t.Errorf("%d phases; one with a type is added", n)
	}
}

func TestTrapRunsAllowFourKeys(t *testing.T) {
	wantFault(t, runs(`{values: {a: [1]}}`), body, "sweep.runs[0].values.a", "single value")
	wantFault(t, runs(`{foo: 1}`), body, "sweep.runs[0].foo", "known are name, benchmark, variables, values")
	p := plan(t, runs(`{values: {isl: 128, c: 4}, benchmark: {phases: [{name: profiling, rate: 7}]}}`), body)
	if got := lines(p)[0]; got != "isl_128__c_4 | scenario_0" {
		t.Error(got)
	}
}

func TestNamesOfScenarios(t *testing.T) {
	p := plan(t, runs(`{name: a, variables: {n: 4}}, {benchmark: {endpoint: {streaming: true}}}, {name: CON}, `+
		`{name: "a b"}, {name: "x."}, {name: "日本"}, {name: lpt1.txt}`), body)
	want := []string{"a | a", "scenario_1 | scenario_1", "CON_ | CON", "a b | a b", "x | x.", "日本 | 日本",
		"lpt1_.txt | lpt1.txt"}
	if diff := cmp.Diff(want, lines(p)); diff != "" {
		t.Error(diff)
	}
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0].Text, "sweep.runs[1]: has no name") {
		t.Errorf("warnings %v", p.Warnings)
	}
	for name, want := range map[string]string{`"a/b"`: "name of a folder", `".."`: "name of a folder",
		`"..."`: "name of a folder", `"a\\b"`: "name of a folder", `"*"`: "name of a folder", `5`: "must be a text",
		`""`: "must be a text", strings.Repeat("x", 200): "at most 180"} {
		wantFault(t, runs(`{name: `+name+`}`), body, "sweep.runs[0].name", want)
	}
	wantFault(t, runs(`{name: a}, {name: A}`), body, "run 0 has the name A as well")
	wantFault(t, runs(`{name: "a."}, {name: a}`), body, "the same folder")
	wantFault(t, runs(`{name: scenario_1}, {}`), body, "run 0 has the name scenario_1 as well")
	wantFault(t, runs(`"x"`), body, "sweep.runs[0]: is a text; it must be a mapping")
	wantFault(t, `sweep: {type: scenarios, runs: []}`, body, "at least one item")
}

func TestDistributionsOfAScenario(t *testing.T) {
	for _, c := range []struct{ base, over, want string }{
		{"{mean: 512, stddev: 5}", "{mean: 7}", `{"mean":7,"stddev":5}`},
		{"{mean: 512, stddev: 5}", "{value: 7}", `{"value":7}`},
		{"{mean: 512, median: 5}", "{mean: 700}", `{"mean":700,"median":5}`},
		{"{mean: 512, stddev: 5}", "{median: 7, mean: 9}", `{"median":7,"mean":9}`},
		{"{mean: 512, stddev: 5}", "{type: fixed, value: 7}", `{"type":"fixed","value":7}`},
		{"{mean: 512, stddev: 5}", "{min: 7}", `{"mean":512,"stddev":5,"min":7}`},
		{"{mean: 512, stddev: 5, max: 600}", "{points: [{value: 3}]}", `{"points":[{"value":3}]}`},
		{"{mean: 512, stddev: 5}", "77", `77`},
		{"{type: normal, mean: 512, stddev: 5}", "{median: 7, mean: 9}", `{"median":7,"mean":9}`},
		{"{type: normal, mean: 512, stddev: 5}", "{mean: 9}", `{"type":"normal","mean":9,"stddev":5}`},
		{"{type: lognormal, mean: 512, median: 5}", "{mean: 9}", `{"type":"lognormal","mean":9,"median":5}`},
		{"{type: lognormal, mean: 512, median: 5}", "{stddev: 9, mean: 8}", `{"stddev":9,"mean":8}`},
		{"512", "{stddev: 9, mean: 8}", `{"stddev":9,"mean":8}`},
		// The original merges a mean into a fixed value, which is then refused.
		{"{value: 512, max: 600}", "{mean: 9}", `{"mean":9}`},
	} {
		p := plan(t, runs(`{name: a, benchmark: {datasets: [{name: main, prompts: {isl: `+c.over+`}}]}}`),
			strings.Replace(body, "isl: 512", "isl: "+c.base, 1))
		got, err := artifact.AppendJSON(nil, field(t, p.Variations[0].Envelope(), "benchmark.datasets.0.prompts.isl"))
		if err != nil || string(got) != c.want {
			t.Errorf("%s over %s: %s, want %s", c.over, c.base, got, c.want)
		}
	}
}

func TestShortFormsOfAScenario(t *testing.T) {
	for over, want := range map[string]string{
		"dataset: {entries: 7}":                         "datasets.0.entries=7",
		"dataset: {isl: 7}":                             "datasets.0.prompts.isl=7",
		"dataset: {isl: 7, prompts: {isl: 9}}":          "datasets.0.prompts.isl=9",
		"datasets: [{name: main, osl: 3}]":              "datasets.0.prompts.osl=3",
		"endpoint: {url: 'http://x:1'}":                 "endpoint.urls.0=http://x:1",
		"endpoint: {headers: {X-B: c}}":                 "endpoint.headers.X-A=b",
		"model: zz":                                     "models.items.0.name=zz",
		"models: [aa, zz]":                              "models.items.zz.name=zz",
		"profiling: {rate: 9}":                          "phases.1.rate=9",
		"warmup: {requests: 9}":                         "phases.0.requests=9",
		"phases: {type: gamma, rate: 3, smoothness: 2}": "phases.0.smoothness=2",
		"slos: {request_latency: 5}":                    "slos.request_latency=5",
	} {
		base := strings.Replace(body, "endpoint: {", "endpoint: {headers: {X-A: b}, ", 1)
		p := plan(t, runs(`{name: a, benchmark: {`+over+`}}`), base)
		path, value, _ := strings.Cut(want, "=")
		e := p.Variations[0].Envelope()
		if got := fmt.Sprint(field(t, e, "benchmark."+path)); got != value {
			t.Errorf("%s: %s is %s", over, path, got)
		}
		if osl := field(t, e, "benchmark.datasets.0.prompts.osl"); osl != int64(128) && !strings.Contains(over, "osl") {
			t.Errorf("%s: osl %v", over, osl)
		}
	}
	p := plan(t, runs(`{name: a, benchmark: {phases: [{name: profiling, rate: 9}]}}`), steady)
	phase := p.Variations[0].Envelope().Get("benchmark").Get("phases").Items[1]
	if phase.Get("name").Scalar != "steady" || phase.Get("rate").Scalar != int64(9) {
		t.Error("profiling does not name the measured phase")
	}
	for over, want := range map[string]string{
		"phases: {profiling: {rate: 100}}": "must be a list of phases",
		"model: a, models: b":              "cannot be used with models",
		"profiling: {rate: 1}, phases: []": "cannot be used with phases", "endpoint: {timeout: .inf}": "finite",
	} {
		wantFault(t, runs(`{name: a, benchmark: {`+over+`}}`), body, want)
	}
}
