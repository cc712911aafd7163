package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"aiperf/internal/measure/record"
)

// The curves of the worked example, valid records only.
func TestWorkedExampleTimelines(t *testing.T) {
	results := engineOf(t, chatConfig(), worked()[:3]...).Results()
	for _, c := range []struct {
		tag, figure string
		want        float64
	}{
		{"effective_concurrency", "avg", 1.157534}, {"effective_concurrency", "std", 0.62689},
		{"effective_concurrency", "p50", 1}, {"effective_concurrency", "p90", 2},
		{"effective_decode_concurrency", "avg", 0.746575},
		{"effective_prefill_concurrency", "avg", 0.410959}, {"effective_prefill_concurrency", "p50", 0},
		{"effective_prefill_concurrency", "p90", 1}, {"effective_prefill_concurrency", "p95", 2},
		{"effective_decode_throughput", "avg", 61.643836}, {"effective_decode_throughput", "max", 255.01355},
		{"effective_decode_throughput", "p50", 43.902439},
		{"active_decode_throughput", "avg", 98.901099}, {"active_decode_throughput", "p50", 68},
		{"effective_prefill_throughput", "avg", 479.452055}, {"active_prefill_throughput", "avg", 1400},
		{"effective_total_throughput", "avg", 541.09589}, {"active_total_throughput", "avg", 622.047244},
		// Rates of all over those that decode or prefill, moment by moment: decoding A alone for 70 and 45 ms, A and B
		// for 90, C for 250; prefilling A alone for 50 ms, A and B for 50, B for 70, C for 80.
		{"active_decode_throughput_per_user", "avg", (115*9/0.205 + 90*(9/0.205+19/0.09)/2 + 250*68) / 455},
		{"effective_decode_throughput_per_user", "avg", (115*9/0.205 + 90*(9/0.205+19/0.09)/2 + 250*68) / 730},
		{"active_prefill_throughput_per_user", "avg", (50*1000 + 50*(1000+200/0.12)/2 + 70*200/0.12 + 80*625) / 250},
		{"effective_prefill_throughput_per_user", "avg", (50*1000 + 50*(1000+200/0.12)/2 + 70*200/0.12 + 80*625) / 730},
		{"active_decode_throughput_per_user", "max", (9/0.205 + 19/0.09) / 2},
		{"active_prefill_throughput_per_user", "min", 625},
	} {
		if got := figureOf(found(t, results, c.tag), c.figure); !printed(got, c.want) && !near(got, c.want) {
			t.Errorf("%s %s = %v, want %v", c.tag, c.figure, got, c.want)
		}
	}
}

func figureOf(r Metric, name string) float64 {
	return map[string]float64{"avg": r.Stats.Avg, "min": r.Stats.Min, "max": r.Stats.Max, "std": r.Stats.Std,
		"sum": r.Stats.Sum,
		"p50": r.Stats.Percentiles[4], "p90": r.Stats.Percentiles[6], "p95": r.Stats.Percentiles[7],
		"p99": r.Stats.Percentiles[8]}[name]
}

func TestTrapPrefillIsIdleMostOfTheTime(t *testing.T) {
	r := found(t, engineOf(t, chatConfig(), worked()[:3]...).Results(), "effective_prefill_throughput")
	if got := figureOf(r, "p50"); got != 0 {
		t.Errorf("p50 = %v, want 0: no request prefills in 480 of 730 ms", got)
	}
}

// A timeline has no count, no sum and only four percentiles, so that files leave the others out.
func TestTimelinesHaveOnlyTheirOwnStatistics(t *testing.T) {
	for _, r := range engineOf(t, chatConfig(), worked()...).Results() {
		if d, _ := Lookup(r.Tag); d.Kind != KindTimeline {
			continue
		}
		var has []float64
		for i, v := range r.Stats.Percentiles {
			if !math.IsNaN(v) {
				has = append(has, PercentileRanks[i])
			}
		}
		if !slices.Equal(has, []float64{50, 90, 95, 99}) || r.Stats.Count != 0 || !math.IsNaN(r.Stats.Sum) ||
			r.Method != MethodExact {
			t.Errorf("%s has %+v by %s", r.Tag, r.Stats, r.Method)
		}
	}
}

// One request of 100 input and 101 output tokens: its tokens in flight are a step and a slope.
func TestTokensInFlightGrowWhileDecoding(t *testing.T) {
	r := with(success(0, 300*ms, 100*ms, 300*ms),
		map[record.Field]int64{record.InputTokens: 100, record.OutputTokens: 101})
	got := found(t, engineOf(t, chatConfig(), r).Results(), "tokens_in_flight")
	variance := (100*(34.*34) + 200*(17.*17+100.*100/12)) / 300
	for figure, want := range map[string]float64{"avg": 134, "min": 100, "max": 201, "std": math.Sqrt(variance),
		"p50": 126, "p90": 186, "p95": 193.5, "p99": 199.5} {
		if v := figureOf(got, figure); !near(v, want) {
			t.Errorf("%s = %v, want %v", figure, v, want)
		}
	}
}

func TestFailedRequestsHoldTheirPlace(t *testing.T) {
	clean := engineOf(t, chatConfig(), worked()[:3]...).Results()
	long := with(failure(0, 730*ms, record.Error{Type: "X"}), map[record.Field]int64{
		record.InputTokens: 40, record.FirstContent: 100 * ms, record.OutputTokens: 7})
	results := engineOf(t, chatConfig(), append(worked()[:3], long)...).Results()
	scalar(t, results, "effective_concurrency", found(t, clean, "effective_concurrency").Stats.Avg+1)
	for _, tag := range []string{"effective_decode_concurrency", "effective_prefill_concurrency",
		"effective_decode_throughput", "effective_prefill_throughput"} {
		scalar(t, results, tag, found(t, clean, tag).Stats.Avg)
	}
}

func TestWindowOfTheRun(t *testing.T) {
	e := engineOf(t, chatConfig(), worked()[:3]...)
	e.SetRunFacts(RunFacts{WindowStartNS: t0 - 270*ms, WindowEndNS: t0 + 1730*ms})
	results := e.Results()
	scalar(t, results, "effective_concurrency", 1.157534246575342465*730/2000)
	scalar(t, results, "active_total_throughput", 622.0472440944882)
	if got := found(t, results, "effective_concurrency"); got.Stats.Min != 0 || figureOf(got, "p50") != 0 {
		t.Errorf("%+v, want 0 for most of the window", got.Stats)
	}
	e.SetRunFacts(RunFacts{WindowStartNS: t0 + 100*ms, WindowEndNS: t0 + 200*ms})
	scalar(t, e.Results(), "effective_concurrency", 1.157534246575342465)
}

func TestTimelinesOfOtherEndpoints(t *testing.T) {
	cfg := chatConfig()
	cfg.Streaming = false
	results := engineOf(t, cfg, worked()...).Results()
	found(t, results, "effective_concurrency")
	absent(t, results, "effective_decode_throughput", "effective_prefill_concurrency", "tokens_in_flight",
		"active_total_throughput")
	absent(t, engineOf(t, chatConfig()).Results(), "effective_concurrency", "active_decode_throughput")
	absent(t, engineOf(t, chatConfig(), success(0, 0, 0)).Results(), "effective_concurrency")
}

// The sweep against the definition: at every instant between two events the curves are sums over the
// requests that are there.
func TestSweepEqualsTheDefinition(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		list := randomIntervals(rng, 1+rng.IntN(60))
		window := span{1000 * tick, (1000 + 1 + rng.Int64N(400)) * tick}
		var instants []int64
		for _, r := range list {
			window.include(r.start, r.end)
			instants = append(instants, r.start, r.end)
			if r.hasFirst() {
				instants = append(instants, r.first)
			}
		}
		instants = append(instants, window.start, window.end)
		slices.Sort(instants)
		instants = slices.Compact(instants)
		i := 0
		sweep(list, window).each(func(ns int64, got *level) {
			if i+1 == len(instants) {
				t.Fatal("the sweep goes on after the window")
			}
			from, to := instants[i], instants[i+1]
			i++
			if want := levelAt(list, from, to); to-from != ns || !sameLevel(*got, want) {
				t.Fatalf("seed %d: %d ns of %+v\nwant %d of %+v", seed, ns, *got, to-from, want)
			}
		})
		if i != len(instants)-1 {
			t.Fatalf("seed %d: %d of %d segments", seed, i, len(instants)-1)
		}
	}
}

// tick is the grain of random instants: one and two of them are too short to divide by, and just long enough.
const tick = int64(record.InstantError / 2)

func randomIntervals(rng *rand.Rand, n int) []interval {
	list := make([]interval, n)
	for i := range list {
		f := record.NewFacts()
		f[record.StartWall] = (1000 + rng.Int64N(300)) * tick
		f[record.LastResponse] = rng.Int64N(200) * tick
		f[record.InputTokens] = rng.Int64N(50)
		f[record.OutputTokens] = rng.Int64N(50)
		switch rng.IntN(5) {
		case 0:
			f[record.Failed], f[record.End] = 1, rng.Int64N(200)*tick
		case 1:
		default:
			f[record.FirstContent] = rng.Int64N(f[record.LastResponse]/tick+1) * tick
		}
		list[i], _ = newInterval(&f)
	}
	return list
}

func levelAt(list []interval, from, to int64) (l level) {
	for _, r := range list {
		if r.start > from || r.end <= from {
			continue
		}
		l.concurrency++
		l.imageRate += r.imageRate
		l.tokensFrom += r.input
		l.tokensTo += r.input
		switch {
		case !r.hasFirst():
		case from < r.first:
			l.prefill++
			if r.first-r.start >= 2*tick {
				l.prefillRate += r.input / (float64(r.first-r.start) * 1e-9)
			}
		default:
			l.decode++
			if r.output > 0 {
				rate := (r.output - 1) / (float64(r.end-r.first) * 1e-9)
				l.decodeRate += rate
				l.tokensFrom += 1 + rate*float64(from-r.first)*1e-9
				l.tokensTo += 1 + rate*float64(to-r.first)*1e-9
			}
		}
	}
	return l
}

func sameLevel(a, b level) bool {
	close := func(x, y float64) bool { return math.Abs(x-y) <= 1e-9*max(1, math.Abs(x)) }
	return a.concurrency == b.concurrency && a.prefill == b.prefill && a.decode == b.decode &&
		close(a.prefillRate, b.prefillRate) && close(a.decodeRate, b.decodeRate) &&
		close(a.imageRate, b.imageRate) &&
		close(a.tokensFrom, b.tokensFrom) && close(a.tokensTo, b.tokensTo)
}

// What must hold of any run: the time in flight adds up, and what is averaged over less time is higher.
func TestTimelineInvariants(t *testing.T) {
	for seed := range uint64(5) {
		for _, limit := range []int64{defaultMaxRecords, 100} {
			cfg := chatConfig()
			cfg.MaxRecords = limit
			records := traffic(700, seed)
			results := engineOf(t, cfg, records...).Results()
			var inFlight int64
			window := span{}
			for _, r := range records {
				start, end := r.Facts[record.StartWall], r.Facts[record.StartWall]+r.Ended()
				inFlight += end - start
				window.include(start, end)
			}
			scalar(t, results, "effective_concurrency", float64(inFlight)/float64(window.length()))
			for _, r := range results {
				if r.Group != GroupActive {
					continue
				}
				whole := found(t, results, "effective"+r.Tag[len("active"):])
				if r.Stats.Avg < whole.Stats.Avg*(1-1e-12) || r.Stats.Max != whole.Stats.Max {
					t.Errorf("%s %+v\n%s %+v", r.Tag, r.Stats, whole.Tag, whole.Stats)
				}
				for i := range PercentileRanks {
					if p, q := r.Stats.Percentiles[i], whole.Stats.Percentiles[i]; p < q {
						t.Errorf("%s p%v = %v, below %v of the whole window", r.Tag, PercentileRanks[i], p, q)
					}
				}
			}
		}
	}
}

// A run beyond the exact limit has the same averages, and bins that do not depend on where the limit
// was or on how the run was split.
func TestTimelinesBeyondTheLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("adds many records on one goroutine: slow, and nothing for the race detector to find")
	}
	records := traffic(6000, 31)
	for i, r := range records {
		r.Facts[record.StartWall] += int64(i) * 20 * ms // 120 s, so that bins must grow
	}
	exact := engineOf(t, chatConfig(), records...).Results()
	binned := func(limit int64, records []*record.Record) []Metric {
		cfg := chatConfig()
		cfg.MaxRecords = limit
		return engineOf(t, cfg, records...).Results()
	}
	want := binned(0, records)
	for _, r := range want {
		if d, _ := Lookup(r.Tag); d.Kind != KindTimeline {
			continue
		}
		at := found(t, exact, r.Tag)
		if r.Method != MethodTimeBins {
			t.Errorf("%s by %s", r.Tag, r.Method)
		}
		if r.Tag != "effective_decode_throughput_per_user" && r.Tag != "effective_prefill_throughput_per_user" &&
			r.Group == GroupEffective && !near(r.Stats.Avg, at.Stats.Avg) {
			t.Errorf("%s avg %v, exact %v", r.Tag, r.Stats.Avg, at.Stats.Avg)
		}
		if p, q := figureOf(r, "p50"), figureOf(at, "p50"); math.Abs(p-q) > 0.25*max(q, 1) {
			t.Errorf("%s p50 %v, exact %v", r.Tag, p, q)
		}
	}
	shuffle(records, 5)
	for _, limit := range []int64{1, 1000, 5999} {
		for i, r := range binned(limit, records) {
			if d, _ := Lookup(r.Tag); d.Kind == KindTimeline && !closeStats(r.Stats, want[i].Stats) {
				t.Errorf("limit %d: %s %+v\nwant %+v", limit, r.Tag, r.Stats, want[i].Stats)
			}
		}
	}
}

func closeStats(a, b Stats) bool {
	return slices.EqualFunc(append(a.Percentiles[:], a.Avg, a.Min, a.Max, a.Std),
		append(b.Percentiles[:], b.Avg, b.Min, b.Max, b.Std),
		func(x, y float64) bool { return near(x, y) || math.IsNaN(x) && math.IsNaN(y) })
}

func TestTimeBinsMerge(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	one, left, right := newTimeBins(), newTimeBins(), newTimeBins()
	for i := range 3000 {
		start := t0 + rng.Int64N(int64(1+i)*100*ms)
		r := interval{start: start, first: start + 50*ms, end: start + rng.Int64N(90_000)*ms + 60*ms,
			imageRate: rng.Float64(), input: 100 * rng.Float64(), output: 100 * rng.Float64()}
		one.add(&r)
		if i%3 == 0 {
			left.add(&r)
		} else {
			right.add(&r)
		}
	}
	left.Merge(&right.Bins)
	var got, want []level
	window := span{one.Low, one.High}
	one.segments(window).each(func(_ int64, l *level) { want = append(want, *l) })
	left.segments(window).each(func(_ int64, l *level) { got = append(got, *l) })
	if left.Width != one.Width || len(got) != len(want) || len(one.List) > maxTimeBins+1 {
		t.Fatalf("%d bins of %d ns, want %d of %d", len(got), left.Width, len(want), one.Width)
	}
	for i := range got {
		if !sameLevel(got[i], want[i]) {
			t.Fatalf("bin %d: %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestWeightedQuantiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		var c timeDistribution
		n := 1 + rng.IntN(300)
		spread := 1 + rng.IntN(400)
		var flattened []float64
		for range n {
			v, ns := float64(rng.IntN(spread)), 1+rng.Int64N(5)
			c.add(v, v, ns)
			for range ns {
				flattened = append(flattened, v)
			}
		}
		slices.Sort(flattened)
		targets := []int64{c.share(1), c.share(50), c.share(50), c.share(99), c.share(100)}
		for i, got := range c.quantiles(targets) {
			if want := flattened[targets[i]-1]; got != want {
				t.Fatalf("%d of %d ns: %v, want %v", targets[i], c.total, got, want)
			}
		}
	}
}

// Narrowing changes nothing but the effort.
func TestQuantilesOfRisingPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for round := range 6 {
		var c timeDistribution
		var list []slope
		outlier := []float64{0, 1e6}[round%2]
		for i := range 20_000 {
			from := 100 + rng.Float64()*50
			to := from + rng.Float64()*float64(rng.IntN(3))
			if i == 77 {
				to = from + outlier
			}
			ns := 1 + rng.Int64N(1000)
			c.add(from, to, ns)
			list = append(list, slope{from, to, float64(ns)})
		}
		for _, q := range []int64{1, 50, 90, 99} {
			got := c.rising(float64(c.share(q)), c.min(), c.max())
			if want := crossing(list, float64(c.share(q)), c.max()); math.Abs(got-want) > 1e-6*want {
				t.Errorf("round %d p%d = %v, want %v", round, q, got, want)
			}
		}
	}
}

// Changes are in order whether they are spread, crowded at an instant, or both.
func TestSortByTime(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name    string
		instant func() int64
	}{
		{"few", func() int64 { return rng.Int64N(1 << (1 + rng.IntN(50))) }},
		{"spread", func() int64 { return rng.Int64N(1 << (1 + rng.IntN(50))) }},
		{"crowded", func() int64 { return t0 + rng.Int64N(2) }},
		{"crowded and far apart", func() int64 { return t0 + rng.Int64N(3)<<40 + rng.Int64N(300) }},
		{"one outlier", func() int64 { return t0 + rng.Int64N(1000)*rng.Int64N(1000)<<(39*(rng.Int64N(4000)/3999)) }},
	} {
		list := make([]interval, 10_000)
		if c.name == "few" {
			list = list[:500]
		}
		for i := range list {
			start := c.instant()
			list[i] = interval{start: start, first: noFirst, end: start + rng.Int64N(1000)}
			if i%3 == 0 {
				list[i].first = start + rng.Int64N(list[i].end-start+1)
			}
		}
		e := newEvents(list, t0)
		seen := map[change]bool{}
		for i, c2 := range e.changes {
			if i > 0 && e.at(c2) < e.at(e.changes[i-1]) {
				t.Fatalf("%s: change %d at %d is after one at %d", c.name, i, e.at(c2), e.at(e.changes[i-1]))
			}
			seen[c2] = true
		}
		if want := 2*len(list) + (len(list)+2)/3; len(seen) != want || len(e.changes) != want {
			t.Errorf("%s: %d changes, %d of them different, want %d", c.name, len(e.changes), len(seen), want)
		}
	}
}

func binMemory(e *Engine) int64 {
	if e.bins == nil {
		return 0
	}
	return int64(cap(e.bins.List)) * 160
}

func BenchmarkTimelinesMillion(b *testing.B) {
	e := mustSet(b, chatConfig()).NewEngine()
	rng := rand.New(rand.NewPCG(8, 8))
	for i := range int64(1_000_000) {
		e.Add(request(rng, i))
	}
	var tags []string
	for _, d := range timelineTable() {
		tags = append(tags, d.Tag)
	}
	b.ReportAllocs()
	for b.Loop() {
		e.results(func(m *metric) bool { return slices.Contains(tags, m.Tag) }, 2, false)
	}
}
