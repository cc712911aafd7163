package sweep_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/config/document"
	"aiperf/internal/config/file"
	"aiperf/internal/config/settings"
	"aiperf/internal/experiment/sweep"
)

// none is an empty environment.
func none(string) (string, bool) { return "", false }

// flagged expands the sweep of a command line.
func flagged(t *testing.T, args ...string) (*settings.Settings, *sweep.Plan) {
	t.Helper()
	p, err := settings.Parse(append([]string{"--model", "m"}, args...), none)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sweep.FromFlags(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p, plan
}

// told are the folders and seeds of a plan.
func told(p *sweep.Plan) string {
	var parts []string
	for _, v := range p.Variations {
		parts = append(parts, fmt.Sprintf("%s %d", v.Dir, *v.Seed))
	}
	return strings.Join(parts, ", ")
}

func TestTrapsOfListsOfFlags(t *testing.T) {
	for args, want := range map[string]string{
		"--isl 128,256 --osl 10,20": "isl_128__osl_10 42, isl_128__osl_20 43, " +
			"isl_256__osl_10 44, isl_256__osl_20 45",
		"--concurrency 30,10,20": "concurrency_30 42, concurrency_10 43, " +
			"concurrency_20 44",
		"--concurrency 10,20,30 --random-seed 7": "concurrency_10 7, concurrency_20 8, " +
			"concurrency_30 9",
		"--concurrency 1,2 --no-set-consistent-seed":                   "concurrency_1 42, concurrency_2 43",
		"--concurrency 1,2 --parameter-sweep-same-seed":                "concurrency_1 42, concurrency_2 42",
		"--concurrency 1,2 --num-profile-runs 2 --vary-seed-per-trial": "concurrency_1 42, concurrency_2 42",
		"--concurrency 1,2 --request-rate 1,2 --sweep-type zip": "concurrency_1__rate_1.0 42, " +
			"concurrency_2__rate_2.0 43",
		"--session-turns-mean 2,3 --num-sessions 4":                        "turns_2 42, turns_3 43",
		"--variant a:concurrency=1 --variant concurrency=2,request-rate=3": "a 42, v1 43",
	} {
		if _, plan := flagged(t, strings.Fields(args)...); told(plan) != want {
			t.Errorf("%s: %s, want %s", args, told(plan), want)
		}
	}
}

// A cell has one value in the place of each list, its own seed, and nothing of the sweep.
func TestSettingsOfACell(t *testing.T) {
	p, plan := flagged(t, "--concurrency", "4,8", "--isl", "16,32", "--request-count", "9")
	own, err := plan.Variations[3].Settings(p, false)
	if err != nil {
		t.Fatal(err)
	}
	if own.Concurrency.Get() != 8 || float64(own.ISL.Get()) != 32 || own.RequestCount.Get() != 9 ||
		own.RandomSeed.Get() != 45 || !own.Cell || len(sweep.Lists(own)) > 0 {
		t.Errorf("%v %v %v %v", own.Concurrency.Value(), own.ISL.Value(),
			own.RandomSeed.Value(), own.Cell)
	}
	if len(sweep.Lists(p)) != 2 || p.Cell {
		t.Error("the settings of the command line changed")
	}
}

// TestTrapSeedsOfCellsGoByTheList: the order of the list decides, not that of the values, and a sweep has seeds even
// where a series of runs would have none.
func TestTrapSeedsOfCellsGoByTheList(t *testing.T) {
	for line, want := range map[string][]int64{
		"--concurrency 10,20,30 --random-seed 7":                             {7, 8, 9},
		"--concurrency 30,10,20 --random-seed 7":                             {7, 8, 9},
		"--concurrency 30,10,20 --no-set-consistent-seed":                    {42, 43, 44},
		"--concurrency 30,10,20 --random-seed 7 --parameter-sweep-same-seed": {7, 7, 7},
	} {
		_, plan := flagged(t, strings.Fields(line)...)
		var got []int64
		for _, v := range plan.Variations {
			got = append(got, *v.Seed)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
}

func TestVariantsThatCannotBeRead(t *testing.T) {
	for text, want := range map[string]string{
		"a: concurrency":                  "is not key=value",
		"a:":                              "sets nothing",
		"a: concurrency=1, concurrency=2": "given twice",
		"a: concurency=1":                 "there is no flag --concurency",
		"a/b: concurrency=1":              "cannot be that of a folder",
	} {
		p, err := settings.Parse([]string{"--model", "m", "--variant", text, "--variant", "b: concurrency=3"}, none)
		if err == nil {
			_, err = sweep.FromFlags(p, nil)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

const sweptFile = `
sweep: {type: %s, parameters: {concurrency: [1, 2], rate: [5, 6]}}
benchmark:
  model: m
  endpoint: {url: "http://localhost:8000"}
  dataset: {type: synthetic, isl: 128}
  phases: {name: steady, kind: profiling, type: poisson, rate: 3, requests: 10}
`

func TestTrapListsOverAFileAreAGrid(t *testing.T) {
	text := strings.ReplaceAll(body, "name: profiling", "name: steady, kind: profiling")
	source, err := file.Open("f.yaml", []byte(text), none)
	if err != nil {
		t.Fatal(err)
	}
	flags, err := settings.Parse([]string{"--concurrency", "8,16"}, none)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := (&sweep.Over{File: source.File, Raw: source.Raw, Flags: flags}).Expand()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"concurrency_8 | phases.profiling.concurrency=8",
		"concurrency_16 | phases.profiling.concurrency=16"}
	if got := lines(plan); plan.Type != sweep.Grid || !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", plan.Type, got, want)
	}
}

// A list of a flag is an axis in the place of the file's own values; a flag with one value applies to every cell.
func TestListsOverAFile(t *testing.T) {
	source, err := file.Open("f.yaml", fmt.Appendf(nil, sweptFile, sweep.Grid), none)
	if err != nil {
		t.Fatal(err)
	}
	flags, err := settings.Parse([]string{"--concurrency", "7,8", "--isl", "9,10", "--request-count", "20"}, none)
	if err != nil {
		t.Fatal(err)
	}
	over := sweep.Over{File: source.File, Raw: source.Raw, Flags: flags}
	plan, err := over.Expand()
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Variations) != 8 || plan.Variations[7].Dir != "isl_10__concurrency_8__rate_6" {
		t.Fatalf("%d variations, the last is %s", len(plan.Variations), plan.Variations[7].Dir)
	}
	own, err := plan.Variations[7].Settings(flags, true)
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := source.Settings(plan.Variations[7].Envelope(), file.Options{Flags: own, NoFiles: true})
	if err != nil {
		t.Fatal(err)
	}
	phase := p.Phases[0]
	if phase.Concurrency.Get() != 8 || phase.RequestRate.Get() != 6 || phase.RequestCount.Get() != 20 ||
		float64(p.ISL.Get()) != 10 {
		t.Errorf("concurrency %v, rate %v, requests %v, isl %v", phase.Concurrency.Value(),
			phase.RequestRate.Value(),
			phase.RequestCount.Value(), p.ISL.Value())
	}

	zipped, err := file.Open("f.yaml", fmt.Appendf(nil, sweptFile, sweep.Zip), none)
	if err != nil {
		t.Fatal(err)
	}
	over = sweep.Over{File: zipped.File, Raw: zipped.Raw, Flags: flags}
	if _, err := over.Expand(); err == nil || !strings.Contains(err.Error(), "--isl, --concurrency") ||
		!strings.Contains(err.Error(), "of type zip") {
		t.Errorf("a list over a zip: %v", err)
	}
}

// The first point of a search has the seed itself, later ones that of the original.
func TestSeedsOfPoints(t *testing.T) {
	p, err := settings.Parse([]string{"--model", "m"}, none)
	if err != nil {
		t.Fatal(err)
	}
	source, err := document.Read("s.yaml", []byte(`{type: adaptive_search, max_iterations: 8, n_initial_points: 3,
search_space: [{path: concurrency, lo: 1, hi: 4, kind: int}], objectives: [{metric: goodput, direction: maximize}]}`))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sweep.FromFlags(p, source.Root)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{42, 7270971771351893726, 703869133352063571} {
		v := plan.Point(i, []any{int64(2)})
		own, err := v.Settings(p, false)
		if err != nil || *v.Seed != want || own.Concurrency.Get() != 2 {
			t.Errorf("point %d: seed %d, want %d: %v", i, *v.Seed, want, err)
		}
	}
}
