package metrics

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"aiperf/internal/base/testkit"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
)

const second = int64(1e9)

func slicedConfig(sliceNS int64) Config {
	cfg := chatConfig()
	cfg.SliceNS = sliceNS
	return cfg
}

func TestWorkedExampleSlices(t *testing.T) {
	got := engineOf(t, slicedConfig(250*ms), worked()[:3]...).Slices()
	if len(got) != 2 {
		t.Fatalf("%d slices, want 2", len(got))
	}
	for i, want := range []struct {
		startNS                       int64
		requests, seconds, throughput float64
	}{{t0, 2, 0.3, 8}, {t0 + 250*ms, 1, 0.33, 4}} {
		s := got[i]
		if s.Index != i || s.StartNS != want.startNS || s.EndNS != want.startNS+250*ms || !s.Complete {
			t.Errorf("slice %d: %d from %d to %d, complete %v", i, s.Index, s.StartNS, s.EndNS, s.Complete)
		}
		scalar(t, s.Results, "request_count", want.requests)
		scalar(t, s.Results, "benchmark_duration", want.seconds)
		if v := found(t, s.Results, "request_throughput").Stats.Avg; !printed(v, want.throughput) {
			t.Errorf("slice %d: request_throughput = %v, want %v", i, v, want.throughput)
		}
		absent(t, s.Results, "error_request_count", "min_request_timestamp")
	}
	if s := found(t, got[0].Results, "request_latency"); s.Stats.Count != 2 || !near(s.Stats.Avg, 250) ||
		s.Unit != "ms" || s.Method != MethodExact {
		t.Errorf("request_latency of slice 0 is %+v", s)
	}
	if s := found(t, got[0].Results, "inter_chunk_latency").Stats; s.Count != 5 || !near(s.Sum, 280) {
		t.Errorf("inter_chunk_latency of slice 0 is %+v", s)
	}
	if s := found(t, got[1].Results, "inter_chunk_latency").Stats; s.Count != 4 || !near(s.Sum, 250) {
		t.Errorf("inter_chunk_latency of slice 1 is %+v", s)
	}
}

// An error record lands in the slice of its start, also where nothing else is.
func TestErrorsLandInTheirSlice(t *testing.T) {
	tooLong := failure(620*ms, 5*ms, record.Error{Type: "Bad Request", Message: "maximum context exceeded"})
	cfg := slicedConfig(250 * ms)
	cfg.ShowInternal = true
	got := engineOf(t, cfg, append(worked(), tooLong)...).Slices()
	if len(got) != 3 {
		t.Fatalf("%d slices, want 3", len(got))
	}
	last := got[2].Results
	scalar(t, last, "error_request_count", 2)
	scalar(t, last, "context_overflow_count", 1)
	scalar(t, last, "error_isl", 40)
	scalar(t, last, "total_error_isl", 40)
	scalar(t, last, "request_error_rate", 100)
	absent(t, last, "request_count", "request_latency", "benchmark_duration", "request_throughput")
	absent(t, got[1].Results, "error_request_count")
	if first := found(t, got[1].Results, "min_request_timestamp"); first.EpochNS != t0+400*ms {
		t.Errorf("min_request_timestamp of slice 1 is %d", first.EpochNS)
	}
}

// A phase starts 3 s after a multiple of 10 s, its first request is sent 1 s later, and it is silent for one
// whole slice.
func TestTrapTimeslicesAreAlignedToThePhase(t *testing.T) {
	start := t0 + 3*second
	e := mustSet(t, slicedConfig(10*second)).NewEngine()
	e.SliceFrom(start)
	for s := int64(1); s < 37; s++ {
		if s < 10 || s >= 20 {
			e.Add(success(start-t0+s*second, 100*ms, 100*ms))
		}
	}
	e.SetRunFacts(RunFacts{WindowStartNS: start, WindowEndNS: start + 38*second})
	type bounds struct {
		index                int
		from, to             int64
		requests, throughput float64
		complete             bool
	}
	var have []bounds
	for _, s := range e.Slices() {
		have = append(have, bounds{s.Index, (s.StartNS - start) / second, (s.EndNS - start) / second,
			found(t, s.Results, "request_count").Stats.Avg, found(t, s.Results, "request_throughput").Stats.Avg,
			s.Complete})
	}
	want := []bounds{{0, 0, 10, 9, 0.9, true}, {1, 20, 30, 10, 1, true}, {2, 30, 38, 7, 7.0 / 8, false}}
	if diff := cmp.Diff(want, have, cmp.AllowUnexported(bounds{})); diff != "" {
		t.Error(diff)
	}
}

// Next to 2^60 neighbouring float64 values are 256 apart: a boundary needs integers.
func TestSliceBoundariesAreExact(t *testing.T) {
	for _, sliceNS := range []int64{1, 7, 1000, 100 * ms, 3333333333, 10 * second} {
		boundary := (1<<60)/sliceNS*sliceNS + sliceNS
		at := func(wallNS int64) *record.Record { return success(wallNS-t0, 5, 5) }
		got := engineOf(t, slicedConfig(sliceNS), at(boundary), at(boundary-1), at(boundary+sliceNS-1),
			at(boundary+sliceNS)).Slices()
		var starts []int64
		var requests []float64
		for _, s := range got {
			starts = append(starts, s.StartNS-boundary)
			requests = append(requests, found(t, s.Results, "request_count").Stats.Avg)
		}
		wantRequests := []float64{1, 2, 1}
		if !slices.Equal(starts, []int64{-sliceNS, 0, sliceNS}) || !slices.Equal(requests, wantRequests) {
			t.Errorf("slices of %d ns start at %v with %v requests", sliceNS, starts, requests)
		}
	}
}

// Before its origin slices are numbered downwards, too.
func TestSliceNumberRoundsDown(t *testing.T) {
	store := newSliceStore(mustSet(t, slicedConfig(10)))
	store.originNS = 3
	for _, c := range [][2]int64{{3, 0}, {12, 0}, {13, 1}, {2, -1}, {-7, -1}, {-8, -2}} {
		if got := store.number(c[0]); got != c[1] {
			t.Errorf("instant %d is in slice %d, want %d", c[0], got, c[1])
		}
	}
}

// Rates of a slice divide by its length, in the one in which the phase ended up to that; all else is its own.
func TestRatesDivideByTheLengthOfTheSlice(t *testing.T) {
	tokens := func(r *record.Record) *record.Record {
		return with(r, map[record.Field]int64{record.OutputTokens: 46, record.InputTokens: 23})
	}
	cfg := slicedConfig(250 * ms)
	cfg.SLOs = []SLO{{"request_latency", 50}}
	e := mustSet(t, cfg).NewEngine()
	e.SliceFrom(t0 - 100*ms)
	for _, r := range []*record.Record{
		tokens(success(0, 100*ms, 100*ms)), tokens(success(20*ms, 40*ms, 40*ms)), // 100 and 120 ms after the start
		tokens(success(700*ms, 30*ms, 30*ms)), // 800 ms after it
	} {
		e.set.Judge(r)
		e.Add(r)
	}
	e.SetRunFacts(RunFacts{WindowStartNS: t0 - 100*ms, WindowEndNS: t0 + 860*ms})
	got := e.Slices()
	last := got[len(got)-1]
	if len(got) != 2 || last.Complete || last.StartNS != t0+650*ms || last.EndNS != t0+860*ms {
		t.Fatalf("the last of %d slices is %+v", len(got), last)
	}
	scalar(t, last.Results, "benchmark_duration", 0.03)
	scalar(t, last.Results, "request_throughput", 1/0.21)
	scalar(t, last.Results, "output_token_throughput", 46/0.21)
	scalar(t, last.Results, "goodput", 1/0.21)
	scalar(t, got[0].Results, "benchmark_duration", 0.1)
	scalar(t, got[0].Results, "request_throughput", 8)
	scalar(t, got[0].Results, "output_token_throughput", 368)
	scalar(t, got[0].Results, "total_token_throughput", 552)
	scalar(t, got[0].Results, "goodput", 4)

	// Where the end of the phase is not known it is that of the last request, failed ones included.
	only := engineOf(t, slicedConfig(second), success(500*ms, 30*ms, 30*ms),
		failure(600*ms, 100*ms, record.Error{})).Slices()
	if len(only) != 1 || only[0].Complete || only[0].EndNS != t0+700*ms {
		t.Fatalf("slices %+v", only)
	}
	scalar(t, only[0].Results, "request_throughput", 1/0.7)

	// A run that ends with its slice has none that is not complete.
	if got := engineOf(t, slicedConfig(250*ms), success(200*ms, 50*ms, 50*ms)).Slices(); !got[0].Complete {
		t.Error("a slice that ended with the run is not complete")
	}
}

// Figures of the replay schedule are those of whole runs.
func TestReplayScheduleIsNotSliced(t *testing.T) {
	lag := one
	defs := []Definition{
		{Tag: "request_count", Kind: KindAggregate, increment: lag},
		{Tag: "replay_sched_degraded", Kind: KindAggregate, Flags: FixedScheduleOnly, increment: lag},
	}
	cfg := slicedConfig(second)
	cfg.FixedSchedule = true
	set, err := newSet(defs, cfg)
	if err != nil {
		t.Fatal(err)
	}
	e := fill(set.NewEngine(), worked())
	scalar(t, e.Results(), "replay_sched_degraded", 3)
	scalar(t, e.Slices()[0].Results, "request_count", 3)
	absent(t, e.Slices()[0].Results, "replay_sched_degraded")
}

// A slice has the results of an engine of its own, whatever the order in which requests ended.
func TestSlicesAreIndependentOfTheRun(t *testing.T) {
	const length = 170 * ms
	cfg := slicedConfig(length)
	cfg.SLOs = []SLO{{"time_to_first_token", 35}}
	set := mustSet(t, cfg)
	records := traffic(3000, 11)
	shuffle(records, 12)
	bySlice := map[int64][]*record.Record{}
	for _, r := range records {
		n := r.Facts[record.StartWall] / length
		bySlice[n] = append(bySlice[n], r)
	}
	// The run ends after its last slice: all of them are complete.
	late := success(3100*ms, 170*ms, 170*ms)
	records = append(records, late)
	bySlice[late.Facts[record.StartWall]/length] = append(bySlice[late.Facts[record.StartWall]/length], late)
	got := fill(set.NewEngine(), records).Slices()
	if len(got) != len(bySlice) || len(got) < 15 {
		t.Fatalf("%d slices, want %d", len(got), len(bySlice))
	}
	rated := map[string][]string{"request_throughput": {"request_count"}, "goodput": {"good_request_count"},
		"output_token_throughput": {"total_osl"}, "input_token_throughput": {"total_isl"},
		"total_token_throughput": {"total_isl", "total_osl"}}
	for i, s := range got {
		want := slices.DeleteFunc(fill(set.NewEngine(), bySlice[s.StartNS/length]).Results(), isTimeline)
		for k := range want {
			want[k].Bounds = nil // those of slices are not computed
			if counts, ok := rated[want[k].Tag]; ok {
				want[k].Stats.Avg = 0
				for _, tag := range counts {
					want[k].Stats.Avg += found(t, want, tag).Stats.Avg / 0.17
				}
			}
		}
		if diff := cmp.Diff(want, slices.DeleteFunc(s.Results, isTimeline), lastBit()); diff != "" {
			t.Errorf("slice %d: %s", i, diff)
		}
	}
}

func isTimeline(r Metric) bool {
	d, _ := Lookup(r.Tag)
	return d.Kind == KindTimeline
}

// The curves of a slice are those of the run between its bounds, whatever requests started in it.
func TestCurvesOfSlices(t *testing.T) {
	set := mustSet(t, slicedConfig(second))
	e := fill(set.NewEngine(), []*record.Record{
		success(0, 1500*ms, 500*ms), success(200*ms, 2900*ms, 1300*ms), success(1200*ms, 600*ms, 300*ms),
		failure(2500*ms, 300*ms, record.Error{}),
	})
	e.SetRunFacts(RunFacts{WindowStartNS: t0, WindowEndNS: t0 + 3200*ms})
	got := e.Slices()
	for i, want := range []struct{ concurrency, decode, prefill float64 }{
		{1.8, 0.5, 1.3},
		{500./1000 + 1 + 600./1000, 500./1000 + 500./1000 + 300./1000, 500./1000 + 300./1000},
		// A failed request is in flight and no more.
		{1 + 300./1000, 1, 0},
	} {
		for tag, v := range map[string]float64{"effective_concurrency": want.concurrency,
			"effective_decode_concurrency":  want.decode,
			"effective_prefill_concurrency": want.prefill} {
			if r := found(t, got[i].Results, tag); !near(r.Stats.Avg, v) || r.Method != MethodExact {
				t.Errorf("slice %d: %s = %v (%s), want %v", i, tag, r.Stats.Avg, r.Method, v)
			}
		}
	}
	if len(got) != 3 {
		t.Errorf("%d slices", len(got))
	}
}

// The curves of slices without a gap are together the curve of the run.
func TestCurvesOfSlicesAddUp(t *testing.T) {
	records := traffic(3000, 21)
	records = append(records, success(3400*ms, 50*ms, 20*ms))
	e := fill(mustSet(t, slicedConfig(500*ms)).NewEngine(), records)
	whole, parts := e.Results(), e.Slices()
	_, window := e.freeze().intervals()
	if len(parts) != 7 || window.start < parts[0].StartNS || window.end > parts[6].EndNS {
		t.Fatalf("%d slices do not hold the window %v", len(parts), window)
	}
	for _, tag := range []string{"effective_concurrency", "effective_decode_throughput", "effective_prefill_throughput",
		"tokens_in_flight"} {
		var area float64
		for i, s := range parts {
			if i > 0 && s.StartNS != parts[i-1].EndNS {
				t.Fatalf("a gap before slice %d", i)
			}
			area += found(t, s.Results, tag).Stats.Avg * float64(s.EndNS-s.StartNS)
		}
		if want := found(t, whole, tag).Stats.Avg * float64(window.length()); math.Abs(area-want) > 1e-9*want {
			t.Errorf("%s: the slices have %v, the run %v", tag, area, want)
		}
	}
}

// A run whose requests are not all kept has no curves in its slices.
func TestNoCurvesOfSlicesBeyondTheLimits(t *testing.T) {
	cfg := slicedConfig(second)
	cfg.MaxRecords = 10
	for _, s := range fill(mustSet(t, cfg).NewEngine(), traffic(100, 3)).Slices() {
		absent(t, s.Results, "effective_concurrency", "tokens_in_flight")
	}
}

// Slices are corrected like the run: by the mean round trip of the run and by their own failures.
func TestAdjustedMetricsOfSlices(t *testing.T) {
	e := fill(mustSet(t, slicedConfig(second)).NewEngine(), []*record.Record{
		success(0, 100*ms, 20*ms, 100*ms), success(100*ms, 300*ms, 20*ms, 300*ms),
		success(1100*ms, 500*ms, 20*ms, 500*ms),
		failure(1200*ms, 10*ms, record.Error{}),
	})
	rtt := 5 * time.Millisecond
	e.SetRunFacts(RunFacts{NetworkRTT: &rtt})
	got := e.Slices()
	for i, want := range []float64{195, 495} {
		scalar(t, got[i].Results, "network_rtt", 5)
		if r := found(t, got[i].Results, "network_adjusted_request_latency"); !near(r.Stats.Avg, want) {
			t.Errorf("slice %d: network_adjusted_request_latency = %v, want %v", i, r.Stats.Avg, want)
		}
	}
	absent(t, got[0].Results, "adj_request_latency")
	if r := found(t, got[1].Results, "adj_request_latency"); r.Stats.Count != 2 || r.Stats.Min != 500 ||
		!math.IsInf(r.Stats.Max, 1) {
		t.Errorf("adj_request_latency = %+v", r.Stats)
	}
}

func shuffle(records []*record.Record, seed uint64) {
	rand.New(rand.NewPCG(seed, seed)).Shuffle(len(records),
		func(i, j int) { records[i], records[j] = records[j], records[i] })
}

// Each check of a property adds hundreds of requests.
func init() { _ = flag.Set("rapid.checks", strconv.Itoa(testkit.Seeds(25, 100))) }

// What is counted adds up over the slices, at any length, within the limits and beyond them.
func TestSlicesAddUp(t *testing.T) {
	records := traffic(400, 13)
	rapid.Check(t, func(t *rapid.T) {
		cfg := slicedConfig(rapid.Int64Range(1*ms, 500*ms).Draw(t, "slice"))
		cfg.MaxRecords = rapid.Int64Range(0, 500).Draw(t, "records kept")
		cfg.MaxGaps = rapid.Int64Range(0, 1500).Draw(t, "gaps kept")
		set, err := NewSet(cfg)
		if err != nil {
			t.Fatal(err)
		}
		e := fill(set.NewEngine(), records[:rapid.IntRange(1, len(records)).Draw(t, "requests")])
		whole := e.Results()
		parts := e.Slices()
		for _, tag := range []string{"request_count", "error_request_count", "completed_request_count", "total_osl",
			"total_isl", "total_error_isl"} {
			if want, got := sumOver([]Slice{{Results: whole}}, tag), sumOver(parts, tag); !near(got, want) {
				t.Errorf("%s: the slices have %v, the run %v", tag, got, want)
			}
		}
		for _, tag := range []string{"request_latency", "inter_chunk_latency"} {
			var want, got int64
			if i := slices.IndexFunc(whole, func(r Metric) bool { return r.Tag == tag }); i >= 0 {
				want = whole[i].Stats.Count
			}
			for _, s := range parts {
				for _, r := range s.Results {
					if r.Tag == tag {
						got += r.Stats.Count
					}
				}
			}
			if got != want {
				t.Errorf("%s: the slices have %d values, the run %d", tag, got, want)
			}
		}
	})
}

func sumOver(parts []Slice, tag string) float64 {
	var sum float64
	for _, s := range parts {
		for _, r := range s.Results {
			if r.Tag == tag {
				sum += r.Stats.Avg
			}
		}
	}
	return sum
}

// Engines merged in any split have the slices of one, within the limits and beyond them.
func TestMergedSlicesEqualOne(t *testing.T) {
	for _, c := range []struct {
		name          string
		records, gaps int64
		slices        int
		method        Method
	}{
		{"exact", defaultMaxRecords, defaultMaxGaps, defaultMaxSlices, MethodExact},
		{"beyond", 1500, 2000, defaultMaxSlices, MethodSketch},
		{"only merging exceeds", 2500, 8000, defaultMaxSlices, MethodSketch},
		{"gaps beyond", defaultMaxRecords, 2000, defaultMaxSlices, MethodExact},
		{"too many slices", 2500, defaultMaxGaps, 9, MethodSketch},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := slicedConfig(230 * ms)
			cfg.MaxRecords, cfg.MaxGaps, cfg.MaxSlices = c.records, c.gaps, c.slices
			set := mustSet(t, cfg)
			records := traffic(4000, 14)
			shuffle(records, 15)
			one := fill(set.NewEngine(), records)
			left, right := fill(set.NewEngine(), records[:1700]), fill(set.NewEngine(), records[1700:])
			left.Merge(right)
			want, got := one.Slices(), left.Slices()
			if diff := cmp.Diff(want, got, lastBit()); diff != "" {
				t.Error(diff)
			}
			if len(got) != min(19, c.slices) {
				t.Errorf("%d slices", len(got))
			}
			if m := found(t, got[0].Results, "request_latency").Method; m != c.method {
				t.Errorf("request_latency by method %s, want %s", m, c.method)
			}
			if diff := cmp.Diff(one.Warnings(), left.Warnings()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// lastBit lets sums of fractions differ where a sketch adds them in another order.
func lastBit() cmp.Option {
	return cmp.Comparer(func(a, b float64) bool {
		return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-15*max(math.Abs(a), math.Abs(b))
	})
}

// Beyond the limits only percentiles are estimates, within the stated error.
func TestSlicesBeyondTheLimits(t *testing.T) {
	records := traffic(6000, 16)
	exact := engineOf(t, slicedConfig(second), records...).Slices()
	for i := range exact {
		exact[i].Results = slices.DeleteFunc(exact[i].Results, isTimeline)
	}
	cfg := slicedConfig(second)
	cfg.MaxRecords, cfg.MaxGaps = 2500, 2500
	got := engineOf(t, cfg, records...).Slices()
	if len(got) != len(exact) {
		t.Fatalf("%d slices, want %d", len(got), len(exact))
	}
	for i, s := range got {
		if len(s.Results) != len(exact[i].Results) {
			t.Fatalf("slice %d: %d results, want %d", i, len(s.Results), len(exact[i].Results))
		}
		for j, r := range s.Results {
			want := exact[i].Results[j]
			if r.Distribution && r.Method != MethodSketch {
				t.Errorf("%s says method %q", r.Tag, r.Method)
			}
			for k, p := range r.Stats.Percentiles {
				if w := want.Stats.Percentiles[k]; math.Abs(p-w) > stats.SketchRelativeError*(1+1e-9)*math.Abs(w) {
					t.Errorf("slice %d: %s p%v = %v, exact %v", i, r.Tag, PercentileRanks[k], p, w)
				}
			}
			r.Method, r.Stats.Percentiles = want.Method, want.Stats.Percentiles
			if diff := cmp.Diff(want, r, lastBit()); diff != "" {
				t.Errorf("slice %d: %s", i, diff)
			}
		}
	}
}

// Slices beyond the limit are left out, the later ones, whatever came first, and that is said.
func TestTooManySlices(t *testing.T) {
	cfg := slicedConfig(second)
	cfg.MaxSlices = 3
	e := mustSet(t, cfg).NewEngine()
	for _, s := range []int64{9, 5, 7, 5, 1, 9, 3, 11} {
		e.Add(success(s*second, 5*ms, 5*ms))
	}
	var got []int64
	for _, s := range e.Slices() {
		got = append(got, (s.StartNS-t0)/second)
		if !s.Complete {
			t.Errorf("slice %d had ended when the run did", s.Index)
		}
	}
	if !slices.Equal(got, []int64{1, 3, 5}) {
		t.Errorf("slices start at %v s, want the first three: 1, 3, 5", got)
	}
	if w := e.Warnings(); !slices.ContainsFunc(w, func(s string) bool {
		return strings.Contains(s, "4 requests started after the first 3 time slices of 1 s")
	}) {
		t.Errorf("warnings %q", w)
	}
}

func TestSlicesAreOff(t *testing.T) {
	e := engineOf(t, chatConfig(), worked()...)
	if got := e.Slices(); got != nil {
		t.Errorf("slices %+v", got)
	}
	if e.slices != nil {
		t.Error("an engine without slices keeps them")
	}
	if got := engineOf(t, slicedConfig(second)).Slices(); got != nil {
		t.Errorf("slices without records: %+v", got)
	}
}

// Gaps are described slice by slice also where a slice has more than are unpacked at once, and where
// it takes several passes.
func TestGapsOfLargeSlices(t *testing.T) {
	if testing.Short() {
		t.Skip("adds many records on one goroutine: slow, and nothing for the race detector to find")
	}
	if !testkit.Full() {
		before := gapsAtOnce
		gapsAtOnce = 1 << 12
		t.Cleanup(func() { gapsAtOnce = before })
	}
	rng := rand.New(rand.NewPCG(17, 17))
	request := func(offsetNS int64, gaps int) *record.Record {
		r := success(offsetNS, 5*ms, 1*ms)
		r.GapsNS = make([]int64, gaps)
		for i := range r.GapsNS {
			r.GapsNS[i] = rng.Int64N(20 * ms)
		}
		r.GapsNS[0] = 5 * second // does not fit into four bytes
		return r
	}
	records := []*record.Record{
		request(2*second, gapsAtOnce/3), request(0, 10), request(second, gapsAtOnce), request(0, 7),
		request(3*second, gapsAtOnce), request(second, 1), request(2*second, 9),
	}
	set := mustSet(t, slicedConfig(second))
	got := fill(set.NewEngine(), records).Slices()
	for i, members := range [][]int{{1, 3}, {2, 5}, {0, 6}, {4}} {
		own := set.NewEngine()
		for _, r := range members {
			own.Add(records[r])
		}
		want := found(t, own.ResultsOf("inter_chunk_latency"), "inter_chunk_latency")
		if diff := cmp.Diff(want, found(t, got[i].Results, "inter_chunk_latency")); diff != "" {
			t.Errorf("slice %d: %s", i, diff)
		}
	}
}

// Asking for slices and adding may happen at once.
func TestConcurrentSlices(t *testing.T) {
	set := mustSet(t, slicedConfig(500*ms))
	records := traffic(2000, 18)
	e := set.NewEngine()
	done := make(chan struct{})
	go func() {
		defer close(done)
		fill(e, records)
	}()
	for range 3 {
		e.Slices()
	}
	<-done
	if diff := cmp.Diff(fill(set.NewEngine(), records).Slices(), e.Slices(), nans); diff != "" {
		t.Error(diff)
	}
}

// A slice costs a bounded number of bytes beyond the exact limits, however many requests it has.
func TestMemoryOfSlicesBeyondTheLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("adds many records on one goroutine: slow, and nothing for the race detector to find")
	}
	parts := testkit.Seeds(20, 50)
	cfg := slicedConfig(second)
	cfg.MaxRecords, cfg.MaxGaps = 0, 0
	records := traffic(parts*1000, 19)
	e := mustSet(t, cfg).NewEngine()
	fill(e, records[:1000])
	before := heap()
	fill(e, records)
	perSlice := float64(heap()-before-binMemory(e)) / float64(parts)
	t.Logf("%.0f bytes a slice", perSlice)
	if perSlice > 64<<10 {
		t.Errorf("a slice costs %.0f bytes", perSlice)
	}
	settled := heap()
	fill(e, records)
	if grown := float64(heap()-settled) / float64(parts); grown > 1<<10 {
		t.Errorf("a slice grew by %.0f bytes with its requests", grown)
	}
	if n := len(e.slices.parts); n != parts && n != parts+1 {
		t.Errorf("%d slices", n)
	}
}

func BenchmarkSlicesMillion(b *testing.B) {
	for _, c := range []struct {
		name    string
		records int64
		sliceNS int64
	}{
		{"60 slices", defaultMaxRecords, 1_000_000 * ms / 60},
		{"5000 slices", defaultMaxRecords, 1_000_000 * ms / 5000},
		{"60 slices beyond the limits", 500_000, 1_000_000 * ms / 60},
	} {
		b.Run(c.name, func(b *testing.B) {
			cfg := slicedConfig(c.sliceNS)
			cfg.MaxRecords = c.records
			e := mustSet(b, cfg).NewEngine()
			rng := rand.New(rand.NewPCG(8, 8))
			for i := range int64(1_000_000) {
				e.Add(request(rng, i))
			}
			b.ReportAllocs()
			for b.Loop() {
				e.Slices()
			}
		})
	}
}

func BenchmarkAddSliced(b *testing.B) {
	records := traffic(4096, 6)
	e := mustSet(b, slicedConfig(second)).NewEngine()
	for i := 0; b.Loop(); i++ {
		e.Add(records[i%len(records)])
	}
}
