package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/testkit"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
)

// valuesOfRun are the requests of a run; key says which of them ask the same as those of another.
func valuesOfRun(latencies []float64, key string) *requestValues {
	c := &column{values: latencies}
	v := &requestValues{byTag: map[string]*column{"request_latency": c}}
	for i := range latencies {
		v.keys = append(v.keys, requestKey{conversation: fmt.Sprint(key, i)})
		c.present = append(c.present, true)
	}
	return v
}

// drawn makes two runs of skewed latencies, as servers have them: what a request asks is common to both if they are
// paired, the rest is chance. The second run is slower by factor.
func drawn(r *rand.Rand, n int, paired bool, factor float64) (base, next *requestValues) {
	a, b := make([]float64, n), make([]float64, n)
	for i := range a {
		asked := math.Exp(0.5 * r.NormFloat64())
		a[i] = 100 * asked * math.Exp(0.2*r.NormFloat64())
		if !paired {
			asked = math.Exp(0.5 * r.NormFloat64())
		}
		b[i] = factor * 100 * asked * math.Exp(0.2*r.NormFloat64())
	}
	if paired {
		return valuesOfRun(a, "c"), valuesOfRun(b, "c")
	}
	return valuesOfRun(a, "c"), valuesOfRun(b, "d")
}

// Runs of the same system: the share of verdicts of a difference is about what the confidence leaves, whatever the
// statistic and the number of requests. (5 % of 40 trials are 2, and more than 6 come once in 300 times; the seeds are
// fixed.)
func TestSameSystemsSeldomDiffer(t *testing.T) {
	trials := testkit.Seeds(10, 40)
	most := int(float64(trials) * (0.05 + 3*math.Sqrt(0.05*0.95/float64(trials)))) // three standard errors: 6 of 40
	for _, c := range []struct {
		stat   string
		n      int
		paired bool
	}{
		{"avg", 20, true}, {"avg", 20, false}, {"avg", 60, false}, {"p50", 20, false}, {"p90", 40, true},
		{"p99", 370, false},
	} {
		r := rand.New(rand.NewPCG(3, uint64(c.n)))
		wrong := 0
		for k := range trials {
			if c.n > 100 && k > trials/4 {
				break // these take their time
			}
			base, next := drawn(r, c.n, c.paired, 1)
			found, ok := fromRequests(base, next, "request_latency", c.stat, 0.95)
			if !ok {
				t.Fatalf("%+v: no interval", c)
			}
			if !found.containsZero() {
				wrong++
			}
		}
		if wrong > most {
			t.Errorf("%+v: %d of %d verdicts are wrong", c, wrong, trials)
		}
	}
}

// The same of repeats, where the share is known exactly: 5 % of Welch's, a little less of few runs.
func TestSameRepeatsSeldomDiffer(t *testing.T) {
	const trials = 4000
	for _, c := range [][2]int{{2, 2}, {3, 3}, {5, 5}, {10, 3}, {5, 1}, {2, 1}} {
		r := rand.New(rand.NewPCG(7, uint64(10*c[0]+c[1])))
		wrong := 0
		for range trials {
			sides := [2][]float64{}
			for side, n := range c {
				for range n {
					sides[side] = append(sides[side], 100+5*r.NormFloat64())
				}
			}
			if found, ok := fromRepeats(momentsOf(sides[0]), momentsOf(sides[1]), 0.95); !ok || !found.containsZero() {
				wrong++
			}
		}
		if share := float64(wrong) / trials; share > 0.065 || share < 0.01 {
			t.Errorf("%d and %d runs: %.3f of the verdicts are wrong", c[0], c[1], share)
		}
	}
}

// Differences that matter are found, and their intervals hold them.
func TestRealDifferencesAreFound(t *testing.T) {
	trials := testkit.Seeds(2, 5)
	for _, c := range []struct {
		stat   string
		n      int
		paired bool
		factor float64
	}{
		{"avg", 100, true, 1.15}, {"avg", 400, false, 1.25}, {"p50", 200, true, 1.15}, {"p50", 200, false, 1.5},
		{"p99", 400, false, 3}, {"avg", 8000, true, 1.03},
	} {
		r := rand.New(rand.NewPCG(5, uint64(c.n)))
		found := 0
		for range trials {
			base, next := drawn(r, c.n, c.paired, c.factor)
			if got, ok := fromRequests(base, next, "request_latency", c.stat, 0.95); ok && got.low > 0 {
				found++
			}
		}
		if found < trials-trials/5 {
			t.Errorf("%+v: %d of %d differences are found", c, found, trials)
		}
	}
}

// Of a large run a part is drawn: its interval is about that of the whole.
func TestPartsOfLargeRunsKnowAsMuch(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 1))
	base, next := drawn(r, 20_000, false, 1.1)
	for _, stat := range []string{"avg", "p50"} {
		found, ok := fromRequests(base, next, "request_latency", stat, 0.95)
		if !ok {
			t.Fatal("no interval")
		}
		// By hand: the standard deviation of exp(0.54 z) is 0.66, that of its median 1.2533·0.54/√n.
		want := 2 * 1.96 * 100 * 0.66 * math.Sqrt(1+1.21) / math.Sqrt(20_000)
		if stat == "p50" {
			want = 2 * 1.96 * 100 * 1.2533 * 0.5385 * math.Sqrt(1+1.21) / math.Sqrt(20_000)
		}
		if width := found.high - found.low; width < 0.85*want || width > 1.2*want {
			t.Errorf("%s: the interval is %v wide, want about %v", stat, width, want)
		}
	}
}

// The p99 of a few requests cannot be judged: the verdict says so, except for a run compared with itself.
func TestTooFewRequestsAreNoted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	base, next := drawn(r, 100, true, 3)
	for stat, want := range map[string]Method{"avg": MethodPaired, "p50": MethodPaired, "p99": MethodTooFew} {
		got, ok := fromRequests(base, next, "request_latency", stat, 0.95)
		if got.method != want || ok != (want == MethodPaired) {
			t.Errorf("%s: %+v, want %s", stat, got, want)
		}
	}
	if got, ok := fromRequests(valuesOfRun([]float64{1, 2}, "c"), valuesOfRun([]float64{9, 10}, "c"), "request_latency",
		"avg", 0.95); ok || got.method != MethodTooFew {
		t.Errorf("two requests: %+v", got)
	}
	dir := t.TempDir()
	writeRun(t, dir+"/a", latencies(1, 100, 1), 10, "")
	writeRun(t, dir+"/b", latencies(2, 100, 2), 10, "")
	c := compared(t, dir+"/a", dir+"/b", Options{})
	if f := c.find(t, "request_latency", "p99"); f.Verdict != Undecided || f.Method != MethodTooFew {
		t.Errorf("%+v", f)
	}
	wantNote(t, c, "too few requests to judge: p99 needs 368 in each run")
	wantNote(t, c, "figures are judged: at 95 % confidence about")
	if f := compared(t, dir+"/a", dir+"/a", Options{}).find(t, "request_latency", "p99"); f.Verdict != Same {
		t.Errorf("a run against itself: %+v", f)
	}
}

func wantNote(t *testing.T, c *Comparison, part string) {
	t.Helper()
	for _, note := range c.Notes {
		if strings.Contains(note, part) {
			return
		}
	}
	t.Errorf("no note %q among %q", part, c.Notes)
}

// Which way each metric improves: rates up, times and errors down, lengths neither.
func TestDirections(t *testing.T) {
	want := map[string]int{
		"request_latency": -1, "time_to_first_token": -1, "inter_token_latency": -1, "request_throughput": 1,
		"output_token_throughput_per_user": 1,
		"goodput":                          1, "good_request_count": 1, "good_request_fraction": 1,
		"image_throughput": 1, "image_latency": -1, "rtfx": 1, "effective_decode_throughput": 1,
		"real_time_factor": -1, "time_to_first_audio": -1, "output_audio_byte_rate": 1, "output_audio_throughput": 1,
		"output_audio_duration": 0, "output_audio_bytes": 0, "total_output_audio_bytes": 0,
		"overall_usage_prompt_cache_read_pct": 1, "request_error_rate": -1, "error_request_count": -1,
		"osl_mismatch_count": -1, "usage_prompt_tokens_diff_pct": -1,
		"output_sequence_length": 0, "request_count": 0, "benchmark_duration": 0, "audio_duration": 0,
		"effective_concurrency": 0,
	}
	for tag, sign := range want {
		d, ok := metrics.Lookup(tag)
		if !ok {
			t.Fatalf("there is no %s", tag)
		}
		if got := direction(tag, string(d.Display)); got != sign {
			t.Errorf("%s: %d, want %d", tag, got, sign)
		}
	}
	for _, d := range metrics.Table() {
		if d.LargerIsBetter() && direction(d.Tag, string(d.Display)) < 0 {
			t.Errorf("%s is better when it is larger", d.Tag)
		}
	}
	for _, c := range []struct {
		tag, unit string
		want      int
	}{{"output_tokens_per_joule", "tokens/J", 1}, {"energy_per_user", "joules/user", -1},
		{"nvidia_goodput_per_watt", "good-req/s/W", 1}, {"total_gpu_power", "W", 0}} {
		if got := direction(c.tag, c.unit); got != c.want {
			t.Errorf("%s: %d, want %d", c.tag, got, c.want)
		}
	}
}

// Two aggregates of repeats are compared as their runs are.
func TestAggregatesAreComparedLikeTheirRuns(t *testing.T) {
	dir := t.TempDir()
	write := func(name, metrics string) string {
		path := dir + "/" + name + ".json"
		text := `{"schema_version":"1.0","metadata":{"aggregation_type":"confidence","num_successful_runs":3},"metrics":{` + metrics + `}}`
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// 98, 100, 102 and 108, 110, 112; the goodput is that of two of three runs, the count does not vary.
	base := write("base", `"request_latency_avg":{"mean":100,"std":2,"se":1.1547005383792515,"unit":"ms"},"goodput_avg":{"mean":11,"std":1.4142135623730951,"se":1,"unit":"requests/sec"},
		"request_count_avg":{"mean":5,"std":0,"se":0,"unit":"requests"},"output_sequence_length_avg":{"mean":3,"std":null,"se":null,"unit":"tokens"}`)
	next := write("next", `"request_latency_avg":{"mean":110,"std":2,"se":1.1547005383792515,"unit":"ms"},"goodput_avg":{"mean":12,"std":1.4142135623730951,"se":1,"unit":"requests/sec"},
		"request_count_avg":{"mean":5,"std":0,"se":0,"unit":"requests"},"output_sequence_length_avg":{"mean":4,"std":null,"se":null,"unit":"tokens"}`)
	c := compared(t, base, next, Options{})
	f := c.find(t, "request_latency", "avg")
	want, _ := fromRepeats(momentsOf([]float64{98, 100, 102}), momentsOf([]float64{108, 110, 112}), 0.95)
	if f.Verdict != Worse || f.Method != MethodRepeats || f.Unit != "ms" || math.Abs(f.Low-want.low) > 1e-9 ||
		math.Abs(f.High-want.high) > 1e-9 || math.Abs(f.Noise-0.02) > 1e-12 {
		t.Errorf("%+v, want %+v", f, want)
	}
	if f := c.find(t, "goodput", "avg"); f.Verdict != NotShown || math.Abs(f.High-(1+4.302652729911275*math.Sqrt2)) > 1e-9 {
		t.Errorf("two of three runs: %+v", f)
	}
	if f := c.find(t, "request_count", "avg"); f.Verdict != Same || f.Method != MethodRepeats {
		t.Errorf("%+v", f)
	}
	if f := c.find(t, "output_sequence_length", "avg"); f.Verdict != Undecided {
		t.Errorf("one run each: %+v", f)
	}
	if text := c.Text(); !strings.Contains(text, "next.json: latency avg 10 % worse\n") ||
		!strings.Contains(strings.Join(strings.Fields(text), " "), "(3 runs) against") {
		t.Error(text)
	}
	if _, err := artifact.AppendJSON(nil, c.Object()); err != nil {
		t.Error(err)
	}
}

// Newcombe's own example: 56 of 70 against 48 of 80 (the method 10 of his table II).
func TestDifferencesOfShares(t *testing.T) {
	figures := func(share, n float64) *summary.Figures {
		return &summary.Figures{Blocks: []summary.Block{
			{Tag: "request_error_rate", Stats: map[string]float64{"avg": 100 * share}},
			{Tag: "completed_request_count", Stats: map[string]float64{"avg": n}}}}
	}
	got, ok := fromShares(figures(48./80, 80), figures(56./70, 70), "request_error_rate", 0.95)
	if !ok || math.Abs(got.low-5.24) > 0.01 || math.Abs(got.high-33.39) > 0.01 {
		t.Errorf("%+v", got)
	}
	if got, _ := fromShares(figures(0, 100), figures(0.02, 100), "request_error_rate", 0.95); !got.containsZero() {
		t.Errorf("2 of 100 against none: %+v", got)
	}
	if got, _ := fromShares(figures(0, 100), figures(1, 100), "request_error_rate", 0.95); got.low < 90 {
		t.Errorf("all against none: %+v", got)
	}
}
