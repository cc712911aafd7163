package sweep_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/base/artifact"
	"aiperf/internal/experiment/sweep"
)

func sobol(rest string) string { return "sweep: {type: sobol, " + rest + "}" }

// The folders are those that AIPerf 0.13.0 prints for the same files.
func TestPointsAreThoseOfTheOriginal(t *testing.T) {
	const concurrency = `{path: concurrency, lo: 1, hi: 64, kind: int, scale: log}`
	const rate = `{path: rate, lo: 1, hi: 10}`
	for sweep, want := range map[string][]string{
		sobol(`samples: 4, seed: 3, dimensions: [` + concurrency + `]`): {
			"concurrency_18", "concurrency_3", "concurrency_2", "concurrency_32"},
		sobol(`samples: 4, seed: 3, dimensions: [` + concurrency + `, ` + rate +
			`, {path: endpoint.streaming, choices: [true, false]}]`): {
			"concurrency_18__rate_5.812230377458036__streaming_True",
			"concurrency_4__rate_1.5701076332479715__streaming_False",
			"concurrency_1__rate_8.48040376137942__streaming_True",
			"concurrency_48__rate_3.6741159688681364__streaming_False"},
		sobol(`samples: 4, seed: 1, scramble: false, dimensions: [` + concurrency + `, ` + rate + `]`): {
			"concurrency_1__rate_1.0", "concurrency_8__rate_5.5", "concurrency_23__rate_3.25",
			"concurrency_3__rate_7.75"},
		`sweep: {type: latin_hypercube, samples: 5, seed: 3, dimensions: [` + concurrency + `, ` + rate + `]}`: {
			"concurrency_60__rate_5.973741088127021", "concurrency_6__rate_8.952108335084137",
			"concurrency_2__rate_3.8203715075743476", "concurrency_4__rate_7.912469953653259",
			"concurrency_15__rate_2.5953903641414735"},
		`sweep: {type: latin_hypercube, samples: 5, seed: 3, optimization: random-cd, dimensions: [` + rate + `, ` +
			`{path: variables.a, lo: 1, hi: 10}, {path: variables.b, lo: 1, hi: 10}]}`: {
			"rate_5.3521083350841385__a_9.57374108812702__b_5.6203715075743474",
			"rate_9.845831499141475__a_3.8957892571078085__b_6.757705962628486",
			"rate_7.3377076633464995__a_7.912469953653259__b_1.8698676712815454",
			"rate_2.5953903641414735__a_6.2305684439672815__b_8.677761127463413",
			"rate_3.82486956325448__a_1.7437625714113465__b_3.2718919828741115"},
	} {
		p := plan(t, sweep, body)
		var got []string
		for _, v := range p.Variations {
			got = append(got, v.Dir)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", sweep, diff)
		}
	}
	if label := plan(t, sobol(`samples: 2, dimensions: [`+rate+`]`), body).Variations[1].Label; label != "sobol_0001" {
		t.Error(label)
	}
	kv := plan(t, sobol(`samples: 2, scramble: false, label_format: kv, dimensions: [`+rate+`]`), body)
	if label := kv.Variations[1].Label; label != "phases.profiling.rate=5.5" {
		t.Error(label)
	}
}

func TestTrapWholeNumbersOnALogarithmicScale(t *testing.T) {
	sweep := sobol(`samples: 4, seed: 5, dimensions: [{path: concurrency, lo: 1, hi: 64, kind: int, scale: log}]`)
	p := plan(t, sweep, body)
	for _, v := range p.Variations {
		c, ok := field(t, v.Envelope(), "benchmark.phases.1.concurrency").(int64)
		if !ok || c < 1 || c > 64 {
			t.Errorf("concurrency %v", c)
		}
	}
	var designs [2]bytes.Buffer
	for i := range designs {
		if err := artifact.WriteIndented(&designs[i], plan(t, sweep, body).Design.Object()); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(designs[0].Bytes(), designs[1].Bytes()) || !strings.Contains(designs[0].String(), `"seed": 5`) ||
		!strings.Contains(designs[0].String(), `"optimization": null`) {
		t.Errorf("designs of one seed:\n%s\n%s", &designs[0], &designs[1])
	}
	p = plan(t, sobol(`samples: 6, dimensions: [{path: rate, lo: 1, hi: 64}]`), body)
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0].Text, "powers of 2, such as 8") {
		t.Errorf("warnings %v", p.Warnings)
	}
	if p.Design.Seed != 42 {
		t.Errorf("seed %d", p.Design.Seed)
	}
	if p := plan(t, "random_seed: 9\n"+sweep, body); p.Design.Seed != 5 {
		t.Errorf("seed %d", p.Design.Seed)
	}
}

func TestTrapChoicesAtTheEndsOfTheRange(t *testing.T) {
	d := sweep.Dimension{Choices: []any{"a", "b", "c"}}
	for u, want := range map[float64]string{0: "a", 0.34: "b", 0.999999: "c", math.Nextafter(1, 0): "c"} {
		if got := d.At(u); got != want {
			t.Errorf("%v: %v, want %s", u, got, want)
		}
	}
	whole := sweep.Dimension{Lo: 1.5, Hi: 4.5, Int: true}
	for u, want := range map[float64]int64{0: 2, 1.0 / 3: 2, 2.0 / 3: 4, math.Nextafter(1, 0): 4} {
		if got := whole.At(u); got != want {
			t.Errorf("%v: %v, want %d (round half to even, within the range)", u, got, want)
		}
	}
}

func TestRepeatedPointsHaveFoldersOfTheirOwn(t *testing.T) {
	for _, format := range []string{"kv", "index"} {
		p := plan(t, sobol(`samples: 8, seed: 1, label_format: `+format+
			`, dimensions: [{path: concurrency, lo: 1, hi: 3, kind: int}]`), body)
		dirs, labels := map[string]bool{}, map[string]bool{}
		for _, v := range p.Variations {
			dirs[v.Dir], labels[v.Label] = true, true
		}
		if len(dirs) != 8 || len(labels) != 8 || !dirs["concurrency_2__sample_3"] || len(p.Warnings) == 0 {
			t.Errorf("%v %v %v", lines(p), dirs, p.Warnings)
		}
	}
}

func TestFaultsOfDimensions(t *testing.T) {
	for dimension, want := range map[string]string{
		`path: rate, lo: 5, hi: 5`:                       "must be above lo, which is 5",
		`path: rate, lo: 0, hi: 5, scale: log`:           "above 0 on a logarithmic scale",
		`path: rate, lo: 1, hi: 5, choices: [1]`:         "either lo and hi, or choices",
		`path: rate, lo: 1`:                              "either lo and hi, or choices",
		`path: rate, choices: []`:                        "at least one item",
		`path: rate, choices: [[1]]`:                     "single value",
		`path: rate, choices: [1, 1]`:                    "twice",
		`path: rate, choices: [.nan]`:                    "finite",
		`path: rate, lo: 1, hi: .inf`:                    "finite",
		`path: rate, lo: -1.7e308, hi: 1.7e308`:          "too wide",
		`path: rate, lo: 1, hi: 5, foo: 3`:               "unknown key",
		`path: concurrency, lo: 1.2, hi: 1.8, kind: int`: "no whole number",
		`path: concurrency, lo: 1, hi: 8, kind: whole`:   "must be one of real, int",
		`lo: 1, hi: 8`:                                   "the key path is missing",
		`path: phases.nope.rate, lo: 1, hi: 8`:           "no entry 'nope'",
	} {
		wantFault(t, sobol(`samples: 2, dimensions: [{`+dimension+`}]`), body, want)
	}
	for rest, want := range map[string]string{
		`samples: 1, dimensions: [{path: rate, lo: 1, hi: 2}]`:                      "from 2 to 1048576",
		`samples: 2, dimensions: []`:                                                "at least one item",
		`samples: 2, seed: -1, dimensions: [{path: rate, lo: 1, hi: 2}]`:            "at least 0",
		`samples: 2, optimization: lloyd, dimensions: [{path: rate, lo: 1, hi: 2}]`: "unknown key",
	} {
		wantFault(t, sobol(rest), body, want)
	}
	wantFault(t, `sweep: {type: latin_hypercube, samples: 4, optimization: lloyd, dimensions: [{path: rate, lo: 1, `+
		`hi: 2}]}`, body, "lloyd is not in this release; use random-cd")
	wantFault(t, `sweep: {type: latin_hypercube, samples: 4, scramble: true, dimensions: [{path: rate, lo: 1, hi: 2}]}`,
		body, "sweep.scramble: unknown key")
}
