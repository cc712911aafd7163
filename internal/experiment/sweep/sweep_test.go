package sweep_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/config/document"
	"aiperf/internal/experiment/sweep"
)

// body is a benchmark as the reader of files brings it into shape.
const body = `
benchmark:
  models: {items: [{name: m}]}
  endpoint: {urls: ["http://localhost:8000"]}
  datasets: [{name: main, type: synthetic, prompts: {isl: 512, osl: 128}}]
  phases:
    - {name: warmup, type: concurrency, concurrency: 1, requests: 5}
    - {name: profiling, type: poisson, rate: 5, concurrency: 8, requests: 100}
`

// steady is a body whose measured phase has another name.
var steady = strings.Replace(body, "name: profiling,", "name: steady, kind: profiling,", 1)

// expand expands a sweep, written in one line or several, of a benchmark.
func expand(t testing.TB, s, benchmark string) (*sweep.Plan, error) {
	t.Helper()
	f := read(t, s, benchmark)
	return sweep.Expand(f, f.Root)
}

// read returns the file of a sweep and a benchmark.
func read(t testing.TB, s, benchmark string) *document.File {
	t.Helper()
	f, err := document.Read("f.yaml", []byte(s+"\n"+benchmark))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// plan is the plan of a sweep that must expand.
func plan(t testing.TB, s, benchmark string) *sweep.Plan {
	t.Helper()
	p, err := expand(t, s, benchmark)
	if err != nil {
		t.Fatalf("%s:\n%v", s, err)
	}
	return p
}

// lines are the folder and label of each variation.
func lines(p *sweep.Plan) (out []string) {
	for _, v := range p.Variations {
		out = append(out, v.Dir+" | "+v.Label)
	}
	return out
}

// wantFault fails unless expanding fails with one fault that holds all parts.
func wantFault(t *testing.T, sweep, benchmark string, parts ...string) {
	t.Helper()
	_, err := expand(t, sweep, benchmark)
	if err == nil {
		t.Errorf("%s: no fault, want %q", sweep, parts)
		return
	}
	for _, part := range append([]string{"f.yaml:"}, parts...) {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s:\n%v\nlacks %q", sweep, err, part)
		}
	}
}

// field is a value of a tree by its path; items of lists by index or name.
func field(t *testing.T, n *document.Node, path string) any {
	t.Helper()
	for s := range strings.SplitSeq(path, ".") {
		if n != nil && n.Kind == document.List {
			i, err := strconv.Atoi(s)
			if err != nil {
				i = slices.IndexFunc(n.Items, func(n *document.Node) bool { return n.Get("name").Any() == s })
			}
			if i < 0 || i >= len(n.Items) {
				t.Fatalf("%s: there is no item %s", path, s)
			}
			n = n.Items[i]
			continue
		}
		n = n.Get(s)
	}
	if n == nil {
		return nil
	}
	return n.Any()
}

func TestTrapAxesAreSortedAndTheLastVariesFastest(t *testing.T) {
	p := plan(t, `sweep: {type: grid, parameters: {rate: [1, 2], concurrency: [8, 16]}}`, body)
	want := []string{
		"concurrency_8__rate_1 | phases.profiling.concurrency=8, phases.profiling.rate=1",
		"concurrency_8__rate_2 | phases.profiling.concurrency=8, phases.profiling.rate=2",
		"concurrency_16__rate_1 | phases.profiling.concurrency=16, phases.profiling.rate=1",
		"concurrency_16__rate_2 | phases.profiling.concurrency=16, phases.profiling.rate=2",
	}
	if diff := cmp.Diff(want, lines(p)); diff != "" {
		t.Error(diff)
	}
	e := p.Variations[2].Envelope()
	if c, r := field(t, e, "benchmark.phases.1.concurrency"), field(t, e, "benchmark.phases.1.rate"); c != int64(16) ||
		r != int64(1) {
		t.Errorf("concurrency %v, rate %v", c, r)
	}
	if e.Get("sweep") != nil {
		t.Error("the envelope of a variation holds the sweep")
	}
}

func TestTrapCellsOfOneListKeepItsOrder(t *testing.T) {
	p := plan(t, `sweep: {type: grid, parameters: {concurrency: [30, 10, 20]}}`, body)
	var got []string
	for _, v := range p.Variations {
		got = append(got, fmt.Sprint(v.Dir, " ", *v.Seed, " ", v.Envelope().Get("random_seed").Scalar))
	}
	want := []string{"concurrency_30 42 42", "concurrency_10 43 43", "concurrency_20 44 44"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTrapZipPairsValues(t *testing.T) {
	p := plan(t, `sweep: {type: zip, parameters: {rate: [1.0, 2.0], concurrency: [1, 2]}}`, body)
	want := []string{"concurrency_1__rate_1.0 | phases.profiling.concurrency=1, phases.profiling.rate=1.0",
		"concurrency_2__rate_2.0 | phases.profiling.concurrency=2, phases.profiling.rate=2.0"}
	if diff := cmp.Diff(want, lines(p)); diff != "" {
		t.Error(diff)
	}
	wantFault(t, `sweep: {type: zip, parameters: {rate: [1, 2], concurrency: [3, 4, 5]}}`, body, "equal length",
		"phases.profiling.concurrency: 3", "phases.profiling.rate: 2")
}

func TestTrapTheSameFieldTwice(t *testing.T) {
	for _, parameters := range []string{
		`concurrency: [1, 2], phases.profiling.concurrency: [4]`,
		`phases.1.concurrency: [1, 2], phases.profiling.concurrency: [4]`,
		`profiling.concurrency: [1, 2], concurrency: [4]`,
		`datasets.main.isl: [1, 2], datasets.0.prompts.isl: [4]`,
		`prefillConcurrency: [1, 2], prefill_concurrency: [4]`,
	} {
		wantFault(t, `sweep: {type: grid, parameters: {`+parameters+`}}`, body, "the same field", "keep one")
	}
	wantFault(t, `sweep: {type: grid, parameters: {datasets.main.prompts: [{isl: 5}], datasets.main.prompts.isl: [4]}}`,
		body, "overlaps")
	wantFault(t, `sweep: {type: sobol, samples: 4, dimensions: [{path: rate, lo: 1, hi: 2}, {path: phases.1.rate, `+
		`lo: 1, hi: 2}]}`, body, "the same field")
}

func TestTrapTheMeasuredPhaseIsFoundWhateverItsName(t *testing.T) {
	p := plan(t, `sweep: {type: grid, parameters: {phases.profiling.rate: [1, 2]}}`, steady)
	if rate := field(t, p.Variations[1].Envelope(), "benchmark.phases.steady.rate"); rate != int64(2) {
		t.Errorf("rate %v", rate)
	}
	if p.Variations[0].Label != "phases.profiling.rate=1" {
		t.Error(p.Variations[0].Label)
	}
	two := steady + "    - {name: p2, kind: profiling, type: poisson, rate: 5, requests: 100}\n"
	for _, path := range []string{"phases.profiling.rate", "rate"} {
		wantFault(t, `sweep: {type: grid, parameters: {`+path+`: [1, 2]}}`, two, "several phases", "'steady', 'p2'")
	}
	if plan(t, `sweep: {type: grid, parameters: {phases.p2.rate: [1, 2]}}`, two).Variations == nil {
		t.Error("no variations")
	}
}

func TestTrapSeedsOfVariations(t *testing.T) {
	const grid = "sweep: {type: grid, parameters: {rate: [1, 2, 3]}}"
	same := strings.Replace(grid, "{type", "{same_seed: true, type", 1)
	for head, want := range map[string]string{
		"":                                  "none",
		"multi_run: {num_runs: 2}":          "none",
		"random_seed: 7":                    "none",
		grid:                                "42 43 44",
		same:                                "42 42 42",
		grid + "\nrandom_seed: 7":           "7 8 9",
		same + "\nrandom_seed: 7":           "7 7 7",
		grid + "\nmulti_run: {num_runs: 2}": "42 43 44",
		grid + "\nmulti_run: {set_consistent_seed: false}":                 "none none none",
		grid + "\nmulti_run: {set_consistent_seed: false}\nrandom_seed: 3": "3 4 5",
	} {
		var got []string
		for _, v := range plan(t, head, body).Variations {
			seed := "none"
			if v.Seed != nil {
				seed = fmt.Sprint(*v.Seed)
			}
			if n := v.Envelope().Get("random_seed"); n != nil && v.Seed != nil && fmt.Sprint(n.Scalar) != seed {
				t.Errorf("%s: the envelope has seed %v", head, n.Scalar)
			}
			got = append(got, seed)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: seeds %v, want %s", head, got, want)
		}
	}
	wantFault(t, grid+"\nrandom_seed: 9223372036854775807", body, "random_seed", "too large")
}

func TestRulesBetweenASweepAndTheRestOfTheFile(t *testing.T) {
	const grid = `sweep: {type: grid, parameters: {rate: [1, 2]}}`
	wantFault(t, grid, body+"  scenario: mlperf\n", "benchmark.scenario", "remove the sweep or the scenario")
	p := plan(t, grid, body+"  scenario: mlperf\n  unsafe_override: true\n")
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0].Text, "scenario") {
		t.Errorf("warnings %v", p.Warnings)
	}
	const search = `sweep: {type: adaptive_search, max_iterations: 20, objectives: [{metric: goodput, direction: ` +
		`maximize}], search_space: [{path: concurrency, lo: 1, hi: 9, kind: int}]}`
	for value, refused := range map[string]bool{"true": true, "'yes'": true, "{window: 5}": true, "false": false,
		"{enabled: false}": false} {
		_, err := expand(t, search, strings.Replace(body, "rate: 5,", "rate: 5, adaptive_scale: "+value+",", 1))
		if refused != (err != nil) {
			t.Errorf("adaptive_scale: %s: %v", value, err)
		}
	}
}

func TestTrapAListInAPhaseIsRefusedWithTheSweepToWrite(t *testing.T) {
	lists := strings.Replace(body, "concurrency: 8,", "concurrency: [8, 16],", 1)
	wantFault(t, "", lists, "f.yaml:9", "benchmark.phases[1].concurrency", "is a list",
		`"sweep: {type: grid, parameters: {phases.profiling.concurrency: [8, 16]}}"`)
	wantFault(t, `sweep: {type: grid, parameters: {rate: [1, 2]}}`, lists,
		"phases.profiling.concurrency: [8, 16] below sweep.parameters")
	wantFault(t, "", strings.Replace(steady, "rate: 5,", "rate: [1, 2],", 1), "phases.steady.rate: [1, 2]")
}

func TestPaths(t *testing.T) {
	for path, want := range map[string]string{
		"concurrency":                "benchmark.phases.1.concurrency",
		"requests":                   "benchmark.phases.1.requests",
		"rateRamp":                   "benchmark.phases.1.rate_ramp",
		"grace_period":               "benchmark.phases.1.grace_period",
		"phases.warmup.requests":     "benchmark.phases.0.requests",
		"warmup.requests":            "benchmark.phases.0.requests",
		"phases.0.requests":          "benchmark.phases.0.requests",
		"datasets.main.entries":      "benchmark.datasets.0.entries",
		"datasets.main.randomSeed":   "benchmark.datasets.0.random_seed",
		"dataset.entries":            "benchmark.datasets.0.entries",
		"datasets.main.isl":          "benchmark.datasets.0.prompts.isl",
		"datasets.main.prompts.isl":  "benchmark.datasets.0.prompts.isl",
		"endpoint.headers.xTraceId":  "benchmark.endpoint.headers.xTraceId",
		"artifacts.slice_duration":   "benchmark.artifacts.slice_duration",
		"variables.myVar":            "variables.myVar",
		"models.items.m.lora":        "benchmark.models.items.0.lora",
		"models.items.0.lora":        "benchmark.models.items.0.lora",
		"accuracy.nShots":            "benchmark.accuracy.n_shots",
		"phases.profiling.sla.a.p95": "benchmark.phases.1.sla.a.p95",
	} {
		f := read(t, `sweep: {type: grid, parameters: {`+path+`: [77, 78]}}`, body)
		p, err := sweep.Expand(f, f.Root)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		e := p.Variations[1].Envelope()
		if got := field(t, e, want); got != int64(78) {
			t.Errorf("%s: %s is %v", path, want, got)
		}
		if before, after := count(f.Root), count(e); after < before-10 {
			t.Errorf("%s: the tree lost values", path)
		}
	}
}

// count is the number of values of a tree.
func count(n *document.Node) int {
	c := 1
	for _, i := range n.Items {
		c += count(i)
	}
	for _, m := range n.Members {
		c += count(m.Value)
	}
	return c
}

func TestTrapPathsBeginBelowTheBenchmark(t *testing.T) {
	wantFault(t, `sweep: {type: grid, parameters: {benchmark.phases.profiling.rate: [1, 2]}}`, body,
		`without "benchmark.": phases.profiling.rate`)
}

func TestPathsThatAreRefused(t *testing.T) {
	for path, want := range map[string]string{
		`""`:                              "must not be empty",
		`.rate`:                           "dot",
		`rate.`:                           "dot",
		`phases..rate`:                    "two in a row",
		`benchmark.phases.profiling.rate`: `without "benchmark.": phases.profiling.rate`,
		`sweep.type`:                      "cannot be swept",
		`multi_run.num_runs`:              "cannot be swept",
		`multiRun.numRuns`:                "cannot be swept",
		`random_seed`:                     "cannot be swept",
		`plot`:                            "cannot be swept",
		`phases.foo.rate`:                 "no entry 'foo', only 'warmup', 'profiling'",
		`phases.profling.rate`:            "did you mean 'profiling'?",
		`phases.9.rate`:                   "no entry '9'",
		`datasets.other.entries`:          "no entry 'other', only 'main'",
		`datasets.main.prompts.isl.mean`:  "datasets.main.prompts.isl is a whole number, which has no mean",
		`endpoint.urls.5`:                 "has 1 entries; write the index",
		`endpont.timeout`:                 "did you mean endpoint?",
		`concurency`:                      "did you mean concurrency?",
		`"phases.profiling .rate"`:        "blanks",
	} {
		wantFault(t, `sweep: {type: grid, parameters: {`+path+`: [1, 2]}}`, body, want)
	}
	wantFault(t, `sweep: {type: grid, parameters: {rate: [1, 2]}}`, "benchmark: {endpoint: {}}",
		"the file has no phases")
}

func TestValues(t *testing.T) {
	for parameters, want := range map[string][]string{
		`endpoint.streaming: [true, false]`: {"streaming_True | endpoint.streaming=True",
			"streaming_False | endpoint.streaming=False"},
		`rate: [1.0, 0.00001, 100000.5]`: {"rate_1.0 | phases.profiling.rate=1.0",
			"rate_1e-05 | phases.profiling.rate=1e-05", "rate_100000.5 | phases.profiling.rate=100000.5"},
		`datasets.main.prompts.isl: [{mean: 5, stddev: 1}, 7]`: {
			"datasets.main.prompts.isl={'mean' 5, 'stddev' 1} | datasets.main.prompts.isl={'mean': 5, 'stddev': 1}",
			"isl_7 | datasets.main.prompts.isl=7"},
		`endpoint.urls: [["http://a"], "http://b"]`: {"endpoint.urls=['httpa'] | endpoint.urls=['http://a']",
			"urls_httpb | endpoint.urls=http://b"},
		`models: [m1, org/m2]`:              {"models_m1 | models=m1", "models_orgm2 | models=org/m2"},
		`endpoint.path: [null, "/v1/it's"]`: {"path_None | endpoint.path=None", "path_v1it's | endpoint.path=/v1/it's"},
	} {
		p := plan(t, `sweep: {type: grid, parameters: {`+parameters+`}}`, body)
		if diff := cmp.Diff(want, lines(p)); diff != "" {
			t.Errorf("%s: %s", parameters, diff)
		}
	}
	p := plan(t, `sweep: {type: grid, parameters: {models: [m1, m2], endpoint.urls: ["http://b"]}}`, body)
	e := p.Variations[1].Envelope()
	if m, u := field(t, e, "benchmark.models.items.0.name"), field(t, e, "benchmark.endpoint.urls.0"); m != "m2" ||
		u != "http://b" {
		t.Errorf("model %v, url %v", m, u)
	}
	for parameters, want := range map[string]string{
		`rate: [.nan, 1]`: "finite", `rate: [.inf]`: "finite", `rate: [{a: [.inf]}]`: "finite",
		`rate: []`: "at least one",
		`rate: 5`:  "must be a list", `rate: [1, 1]`: "in the list twice",
		`endpoint.path: ["a/b", "ab"]`: "the same folder",
		`endpoint.path: [ab, AB]`:      "the same folder",
	} {
		wantFault(t, `sweep: {type: grid, parameters: {`+parameters+`}}`, body, want)
	}
}

// Two lengths in one folder name would collide if both were called mean.
func TestTrapFoldersOfLengthsAreCalledByTheLength(t *testing.T) {
	lengths := strings.Replace(body, "isl: 512, osl: 128", "isl: {mean: 512, stddev: 2}, osl: {mean: 128}", 1)
	p := plan(t, `sweep: {type: grid, parameters: {datasets.main.prompts.isl.mean: [128], `+
		`datasets.main.prompts.isl.stddev: [5], datasets.main.prompts.osl.mean: [10, 20]}}`, lengths)
	if diff := cmp.Diff("isl_128__isl_stddev_5__osl_10", p.Variations[0].Dir); diff != "" {
		t.Error(diff)
	}
}

func TestVariablesAreSetUnrendered(t *testing.T) {
	p := plan(t, "variables: {n: 3, twice: \"{{ n * 2 }}\"}\n"+
		"sweep: {type: grid, parameters: {variables.n: [1, 2]}}", body)
	e := p.Variations[1].Envelope()
	if n, twice := field(t, e, "variables.n"), field(t, e, "variables.twice"); n != int64(2) || twice != "{{ n * 2 }}" {
		t.Errorf("n %v, twice %v", n, twice)
	}
	if got := lines(p)[1]; got != "n_2 | variables.n=2" {
		t.Error(got)
	}
	e.Get("variables").Set("n", document.Of(99))
	if n := field(t, p.Variations[1].Envelope(), "variables.n"); n != int64(2) {
		t.Error("an envelope is shared")
	}
}

func TestFileWithoutASweep(t *testing.T) {
	for _, head := range []string{"", "sweep: null"} {
		p := plan(t, head, body)
		if diff := cmp.Diff([]string{"base | base"}, lines(p)); diff != "" || p.Type != sweep.None {
			t.Error(p.Type, diff)
		}
	}
}

func TestFaultsOfTheBlock(t *testing.T) {
	for _, c := range [][2]string{
		{`sweep: [1, 2]`, "is a list; it must be a mapping"},
		{`sweep: {parameters: {rate: [1]}}`, "the key type is missing; allowed are grid, zip"},
		{`sweep: {type: foo}`, "foo is not a type of sweep"},
		{`sweep: {type: grid, variables: {rate: [1, 2]}}`, "unknown key"},
		{`sweep: {type: grid, parmeters: {rate: [1, 2]}}`, "did you mean parameters?"},
		{`sweep: {type: grid}`, "the key parameters is missing"},
		{`sweep: {type: grid, parameters: {}}`, "at least one path"},
		{`sweep: {type: grid, cooldown_seconds: -1, parameters: {rate: [1]}}`,
			"sweep.cooldown_seconds: -1 is out of range"},
		{`sweep: {type: grid, iteration_order: foo, parameters: {rate: [1]}}`,
			"must be one of repeated, independent"},
		{`sweep: {type: grid, same_seed: maybe, parameters: {rate: [1]}}`, "must be true or false"},
		{`sweep: {type: grid, sla_filters: [{op: lt, threshold: 1}], parameters: {rate: [1]}}`,
			"metric_tag is missing"},
		{`sweep: {type: grid, sla_filters: [{metric_tag: a, op: lx, threshold: 1}], parameters: {rate: [1]}}`,
			"one of lt"},
		{`sweep: {type: grid, post_process: {handler: x, output_filename: ../y.json}, parameters: {rate: [1]}}`,
			".json"},
	} {
		wantFault(t, c[0], body, c[1])
	}
	_, err := expand(t, `sweep: {type: grid, foo: 1, same_seed: maybe, parameters: {rate: [1]}}`, body)
	if n := strings.Count(err.Error(), "f.yaml:"); n != 2 {
		t.Errorf("%d faults at once, want 2:\n%v", n, err)
	}
	plan(t, `sweep: {type: grid, cooldown_seconds: 5, iteration_order: independent, same_seed: true, recipe_name: r, `+
		`sla_filters: [{metric_tag: request_latency, stat: p95, op: lt, threshold: 3}], post_process: {handler: x, `+
		`params: {}, output_filename: y.json}, parameters: {rate: [1, 2]}}`, body)
}

func TestTheNumberOfVariationsIsBounded(t *testing.T) {
	list := make([]string, 200)
	for i := range list {
		list[i] = fmt.Sprint(i + 1)
	}
	values := strings.Join(list, ", ")
	wantFault(t, `sweep: {type: grid, parameters: {rate: [`+values+`], concurrency: [`+values+`], requests: [`+values+
		`], sessions: [`+values+`], users: [`+values+`], duration: [`+values+`], smoothness: [`+values+`], `+
		`grace_period: [`+values+`], variables.a: [`+values+`], variables.b: [`+values+`]}}`, body,
		"at most 10000 variations")
	wantFault(t, `sweep: {type: sobol, samples: 1048576, dimensions: [{path: rate, lo: 1, hi: 2}]}`, body,
		"at most 10000 variations")
	if n := len(plan(t, `sweep: {type: grid, parameters: {rate: [`+values+`], concurrency: [`+
		strings.Join(list[:50], ", ")+`]}}`, body).Variations); n != sweep.MaxVariations {
		t.Errorf("%d variations", n)
	}
}
