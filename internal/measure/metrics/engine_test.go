package metrics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
)

// traffic makes records of a streaming run with everything a default run measures: some hundred
// tokens, usage, a trace, now and then an error.
func traffic(n int, seed uint64) []*record.Record {
	rng := rand.New(rand.NewPCG(seed, 7))
	out := make([]*record.Record, n)
	for i := range out {
		out[i] = request(rng, int64(i))
	}
	return out
}

func request(rng *rand.Rand, i int64) *record.Record {
	start := i*ms + rng.Int64N(ms)
	if rng.IntN(50) == 0 {
		err := record.Error{Code: 500 + rng.IntN(3), HasCode: true, Type: "Internal Server Error", Message: "boom"}
		return with(failure(start, rng.Int64N(90*ms), err), map[record.Field]int64{record.InputTokens: rng.Int64N(500)})
	}
	instants := make([]int64, 1+rng.IntN(6))
	at := 20*ms + rng.Int64N(30*ms)
	for j := range instants {
		instants[j] = at
		at += rng.Int64N(20 * ms)
	}
	r := success(start, at, instants...)
	output := rng.Int64N(200)
	f := &r.Facts
	f[record.CreditIssued] = -rng.Int64N(ms)
	f[record.Ack] = 10*ms + rng.Int64N(5*ms)
	f[record.InputTokens] = 100 + rng.Int64N(100)
	f[record.OutputTokens] = output
	f[record.RequestedTokens] = 100
	f[record.UsagePrompt] = 100 + rng.Int64N(100)
	f[record.UsageCompletion] = output + rng.Int64N(2)
	f[record.UsageTotal] = f[record.UsagePrompt] + f[record.UsageCompletion]
	f[record.Blocked], f[record.DNSLookup], f[record.Connecting] = 0, 0, 0
	f[record.Sending] = rng.Int64N(ms)
	f[record.Waiting] = 20*ms + rng.Int64N(30*ms)
	f[record.Receiving] = at
	f[record.TraceDuration] = at + rng.Int64N(ms)
	f[record.ConnectionReused] = 1
	f[record.BytesSent], f[record.ChunksSent] = 900+rng.Int64N(100), 1
	f[record.BytesReceived], f[record.ChunksReceived] = 4000+rng.Int64N(9000), int64(len(instants))
	return r
}

func fill(e *Engine, records []*record.Record) *Engine {
	for _, r := range records {
		e.Add(r)
	}
	return e
}

func TestResultsDoNotDependOnOrder(t *testing.T) {
	set := mustSet(t, chatConfig())
	records := traffic(3000, 1)
	want := fill(set.NewEngine(), records).Results()
	rand.New(rand.NewPCG(9, 9)).Shuffle(len(records),
		func(i, j int) { records[i], records[j] = records[j], records[i] })
	if diff := cmp.Diff(want, fill(set.NewEngine(), records).Results(), nans); diff != "" {
		t.Error(diff)
	}
}

// Engines merged in any split yield what one engine yields, below the exact limits and beyond them.
func TestMergeEqualsOne(t *testing.T) {
	for _, c := range []struct {
		name          string
		records, gaps int64
		method        Method
	}{
		{"exact", defaultMaxRecords, defaultMaxGaps, MethodExact},
		{"beyond", 1500, 2000, MethodHistogram},
		{"only merging exceeds", 2500, 8000, MethodHistogram},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := chatConfig()
			cfg.MaxRecords, cfg.MaxGaps = c.records, c.gaps
			cfg.SLOs = []SLO{{"time_to_first_token", 35}}
			set := mustSet(t, cfg)
			records := traffic(4000, 2)
			one := fill(set.NewEngine(), records)
			left, right := fill(set.NewEngine(), records[:2300]), fill(set.NewEngine(), records[2300:])
			left.Merge(right)
			if diff := cmp.Diff(one.Results(), left.Results(), nans); diff != "" {
				t.Error(diff)
			}
			for _, tag := range []string{"request_latency", "inter_chunk_latency"} {
				if got := found(t, left.Results(), tag).Method; got != c.method {
					t.Errorf("%s by method %s, want %s", tag, got, c.method)
				}
			}
			if !reflect.DeepEqual(one.Errors(), left.Errors()) || one.Snapshot() != left.Snapshot() ||
				!slices.Equal(one.Warnings(), left.Warnings()) {
				t.Errorf("one engine: %v %v\nmerged: %v %v", one.Errors(), one.Snapshot(), left.Errors(),
					left.Snapshot())
			}
		})
	}
}

// Beyond the limits percentiles keep the stated error; everything else is exact.
func TestBeyondTheLimits(t *testing.T) {
	records := traffic(5000, 3)
	exact := engineOf(t, chatConfig(), records...).Results()
	cfg := chatConfig()
	cfg.MaxRecords, cfg.MaxGaps = 1000, 1000
	results := engineOf(t, cfg, records...).Results()
	if len(results) != len(exact) {
		t.Fatalf("%d results, want %d", len(results), len(exact))
	}
	for i, got := range results {
		want := exact[i]
		if got.Method == MethodTimeBins {
			continue // their own tests say how exact they are
		}
		for j, p := range got.Stats.Percentiles {
			exact := want.Stats.Percentiles[j]
			if math.Abs(p-exact) > stats.RelativeError*(1+1e-9)*math.Abs(exact) {
				t.Errorf("%s p%v = %v, exact %v", got.Tag, PercentileRanks[j], p, exact)
			}
		}
		if got.Distribution && got.Method != MethodHistogram {
			t.Errorf("%s says method %q", got.Tag, got.Method)
		}
		got.Method = want.Method
		got.Stats.Percentiles = want.Stats.Percentiles
		for j, b := range got.Bounds {
			for _, side := range [...][2]float64{{b.Low, want.Bounds[j].Low}, {b.High, want.Bounds[j].High}} {
				if math.Abs(side[0]-side[1]) > stats.RelativeError*(1+1e-9)*math.Abs(side[1]) {
					t.Errorf("%s: bounds of p%v are %+v, exact %+v", got.Tag, b.Rank, b, want.Bounds[j])
				}
			}
		}
		got.Bounds = want.Bounds
		if !cmp.Equal(got, want, nans) {
			t.Errorf("%s = %+v, want %+v", got.Tag, got, want)
		}
	}
}

// A request costs at most 200 bytes up to the exact limit and nothing beyond it.
func TestMemoryOfFinishedRequests(t *testing.T) {
	const kept = 200_000
	cfg := chatConfig()
	cfg.MaxRecords = kept
	e := mustSet(t, cfg).NewEngine()
	rng := rand.New(rand.NewPCG(4, 4))
	before := heap()
	for i := range int64(kept) {
		e.Add(request(rng, i))
	}
	full := heap()
	gaps := gapMemory(e)
	perRequest := float64(full-before-gaps) / kept
	t.Logf("%.1f bytes a request and 4 for each of %d gaps", perRequest, e.gaps.count)
	if perRequest > 200 {
		t.Errorf("a finished request costs %.1f bytes, want at most 200", perRequest)
	}
	// One round makes the histograms, the same requests again must add nothing but gaps.
	again := traffic(2000, 4)
	fill(e, again)
	settled, settledGaps := heap(), gapMemory(e)
	const rounds = 10
	for range rounds {
		fill(e, again)
	}
	growth := float64(heap()-settled-(gapMemory(e)-settledGaps)) / float64(rounds*len(again))
	t.Logf("histograms: %d bytes; growth beyond: %.2f bytes a request", settled-full, growth)
	if growth > 1 {
		t.Errorf("a request beyond the limit costs %.1f bytes", growth)
	}
	runtime.KeepAlive(e)
	runtime.KeepAlive(again)
}

func gapMemory(e *Engine) int64 { return int64(len(e.gaps.pages)) * gapPage * 4 }

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Adding and asking may happen at once.
func TestConcurrentUse(t *testing.T) {
	set := mustSet(t, chatConfig())
	records := traffic(4000, 5)
	e := set.NewEngine()
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := worker; i < len(records); i += 4 {
				e.Add(records[i])
			}
		})
	}
	group.Go(func() {
		for range 5 {
			e.Results()
			e.Snapshot()
			e.Errors()
			e.Warnings()
		}
	})
	group.Wait()
	if diff := cmp.Diff(fill(set.NewEngine(), records).Results(), e.Results(), nans); diff != "" {
		t.Error(diff)
	}
}

func TestResultsOfSomeMetrics(t *testing.T) {
	e := engineOf(t, chatConfig(), worked()...)
	got := e.ResultsOf("output_token_throughput", "request_latency", "min_request_timestamp", "no such metric")
	if len(got) != 2 {
		t.Fatalf("got %+v, want the two that this run shows", got)
	}
	all := e.Results()
	for _, r := range got {
		among := found(t, all, r.Tag)
		among.Bounds = nil // a live view has none
		if diff := cmp.Diff(among, r); diff != "" {
			t.Errorf("%s alone is not what it is among all:\n%s", r.Tag, diff)
		}
	}
}

func TestResultsAreInTableOrder(t *testing.T) {
	at := map[string]int{}
	for i, d := range Table() {
		at[d.Tag] = i
	}
	results := engineOf(t, chatConfig(), worked()...).Results()
	if !slices.IsSortedFunc(results, func(a, b Metric) int { return at[a.Tag] - at[b.Tag] }) {
		t.Error("results are not in table order")
	}
}

// Instants must not pass through a float, which cannot hold epoch nanoseconds.
func TestTimestampsStayExact(t *testing.T) {
	cfg := chatConfig()
	cfg.ShowInternal = true
	results := engineOf(t, cfg, success(1, 10, 3), success(7, 10, 5)).Results()
	first, last := found(t, results, "min_request_timestamp"), found(t, results, "max_response_timestamp")
	if first.EpochNS != t0+1 || last.EpochNS != t0+12 {
		t.Errorf("from %d to %d, want %d and %d", first.EpochNS, last.EpochNS, t0+1, t0+12)
	}
	if got := found(t, results, "benchmark_duration").Stats.Avg; !near(got, 11e-9) {
		t.Errorf("benchmark_duration = %v sec, want 11 ns", got)
	}
}

func TestAllFailedRunHasAnErrorRate(t *testing.T) {
	cfg := chatConfig()
	cfg.SLOs = []SLO{{"request_latency", 1}}
	results := engineOf(t, cfg, worked()[3]).Results()
	scalar(t, results, "request_error_rate", 100)
	scalar(t, results, "completed_request_count", 1)
	scalar(t, results, "good_request_fraction", 0)
	absent(t, results, "request_count", "request_throughput", "benchmark_duration", "good_request_count", "goodput")
}

func TestNothingHappened(t *testing.T) {
	e := engineOf(t, chatConfig())
	if results := e.Results(); len(results) != 0 {
		t.Errorf("results of nothing: %+v", results)
	}
	if e.Snapshot() != (Snapshot{}) || len(e.Errors()) != 0 || len(e.Warnings()) != 0 {
		t.Errorf("%+v %v %v", e.Snapshot(), e.Errors(), e.Warnings())
	}
}

func TestContextOverflowIsCounted(t *testing.T) {
	fail := func(message string) *record.Record {
		return failure(0, ms, record.Error{Code: 400, HasCode: true, Type: "Bad Request", Message: message})
	}
	results := engineOf(t, chatConfig(), fail("This model's Maximum Context is 4096"), fail("nope"),
		fail(`{"code":"context_length_exceeded"}`)).Results()
	scalar(t, results, "context_overflow_count", 2)
	scalar(t, results, "error_request_count", 3)
	if slices.ContainsFunc(results, tagged("skipped_context_overflow_count")) {
		t.Error("a run that skips nothing counts what it skipped")
	}
}

func tagged(tag string) func(Metric) bool { return func(r Metric) bool { return r.Tag == tag } }

// Skipped requests are in no metric but the two counts, nor among the errors.
func TestSkippedContextOverflowsAreNoErrors(t *testing.T) {
	c := chatConfig()
	c.SkipContextOverflow = true
	fail := func(message string) *record.Record {
		return failure(0, 900*ms, record.Error{Code: 400, HasCode: true, Type: "Bad Request", Message: message})
	}
	engine := engineOf(t, c, fail("maximum context is 4096"), fail("nope"))
	other := engine.set.NewEngine()
	other.Add(fail("prompt is too long"))
	engine.Merge(other)
	results := engine.Results()
	scalar(t, results, "context_overflow_count", 2)
	scalar(t, results, "skipped_context_overflow_count", 2)
	scalar(t, results, "error_request_count", 1)
	if list := engine.Errors(); len(list) != 1 || list[0].Error.Message != "nope" {
		t.Errorf("errors %+v", list)
	}
	if s := engine.Snapshot(); s.Errors != 1 || s.Skipped != 2 || s.Requests() != 3 {
		t.Errorf("snapshot %+v", s)
	}
	if i := slices.IndexFunc(results, tagged("error_latency")); results[i].Stats.Count != 1 {
		t.Errorf("latencies of %d errors", results[i].Stats.Count)
	}
}

func TestErrorsAreGroupedInOrderOfFirstOccurrence(t *testing.T) {
	a := record.Error{Code: 500, HasCode: true, Type: "T", Message: "a", Cause: "first"}
	again := a
	again.Cause = "second"
	noCode := record.Error{Type: "T", Message: "a"}
	b := record.Error{Code: 500, HasCode: true, Type: "T", Message: "b"}
	e := engineOf(t, chatConfig(), failure(0, 1, b), failure(0, 1, a), failure(0, 1, noCode), failure(0, 1, again),
		failure(0, 1, b))
	want := []ErrorCount{{b, 2}, {a, 2}, {noCode, 1}}
	if diff := cmp.Diff(want, e.Errors()); diff != "" {
		t.Error(diff)
	}
}

// Records come in the order in which they are processed, which is not that in which requests fail.
func TestErrorsStandInTheOrderOfFailureWhateverTheOrderOfRecords(t *testing.T) {
	early := record.Error{Type: "Early", Message: "m", Cause: "first"}
	late := record.Error{Type: "Late", Message: "m"}
	again := early
	again.Cause = "second"
	records := []*record.Record{failure(30, 1, late), failure(20, 1, again), failure(10, 1, early)}
	want := []ErrorCount{{early, 2}, {late, 1}}
	for range 2 {
		if diff := cmp.Diff(want, engineOf(t, chatConfig(), records...).Errors()); diff != "" {
			t.Error(diff)
		}
		slices.Reverse(records)
	}
}

func TestFurtherPercentiles(t *testing.T) {
	c := chatConfig()
	c.Percentiles = []float64{99.9, 2, 99, 99.9}
	c.SliceNS = 1e9
	e := engineOf(t, c, worked()...)
	for name, results := range map[string][]Metric{"run": e.Results(), "slice": e.Slices()[0].Results} {
		latency := found(t, results, "request_latency") // 200, 300, 330 ms
		if diff := cmp.Diff([]Percentile{{2, 204}, {99.9, 329.94}}, latency.Further,
			cmpopts.EquateApprox(1e-12, 0)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if scalar := found(t, results, "request_count"); scalar.Further != nil {
			t.Errorf("%s: a scalar has percentiles: %v", name, scalar.Further)
		}
	}
	adjusted := found(t, e.Results(), "adj_request_latency") // one request of four failed
	if got := adjusted.Further; len(got) != 2 || got[0].Value != 200 || !math.IsInf(got[1].Value, 1) {
		t.Errorf("percentiles of the adjusted latency: %v", got)
	}
}

func TestBoundsOfPercentiles(t *testing.T) {
	var records []*record.Record
	for i := range int64(400) {
		records = append(records, success(i*ms, (i+2)*ms, (i+1)*ms))
	}
	for _, limit := range []int64{defaultMaxRecords, 100} { // exact, and by histogram
		c := chatConfig()
		c.MaxRecords = limit
		e := engineOf(t, c, records...)
		latency := found(t, e.Results(), "request_latency")
		if len(latency.Bounds) != len(PercentileRanks) {
			t.Fatalf("%d bounds, want one for each percentile", len(latency.Bounds))
		}
		for i, b := range latency.Bounds {
			if p := latency.Stats.Percentiles[i]; b.Rank != PercentileRanks[i] || !(b.Low <= p && p <= b.High) {
				t.Errorf("limit %d: p%v is %v, its bounds are %+v", limit, PercentileRanks[i], p, b)
			}
		}
		p50 := latency.Bounds[4]
		if math.Abs(p50.Low-180) > 1 || math.Abs(p50.High-221) > 1 { // 1.96·√(400/4) = 19.6 places
			t.Errorf("limit %d: bounds of p50: %+v", limit, p50)
		}
		for _, r := range e.Results() {
			if !r.Distribution && r.Bounds != nil || r.Stats.Count == 0 && r.Bounds != nil {
				t.Errorf("%s has bounds: %v", r.Tag, r.Bounds)
			}
		}
	}
}

func TestTrapP99OfAHundredRequestsHasNoUpperBound(t *testing.T) {
	var records []*record.Record
	for i := range int64(100) {
		records = append(records, success(i*ms, (i+2)*ms, (i+1)*ms))
	}
	b := found(t, engineOf(t, chatConfig(), records...).Results(), "request_latency").Bounds[8]
	if b.Rank != 99 || math.IsNaN(b.Low) || !math.IsNaN(b.High) {
		t.Errorf("bounds of p99: %+v, want a lower one alone", b)
	}
}

func TestDistinctErrorsAreBounded(t *testing.T) {
	var tally errorTally
	for i := range maxDistinctErrors + 500 {
		tally.add(&record.Error{Type: "T", Message: fmt.Sprint(i)}, errorTime{atNS: int64(i)}, 1)
	}
	tally.add(&record.Error{Type: "T", Message: "3"}, errorTime{atNS: 10}, 1)
	groups := tally.list()
	last := groups[len(groups)-1]
	if len(groups) != maxDistinctErrors+1 || last.Error.Type != otherErrorsType || last.Count != 500 ||
		groups[3].Count != 2 {
		t.Errorf("%d groups, the last %+v, the fourth %+v", len(groups), last, groups[3])
	}
}

// Long error pages that are all different cannot fill the memory.
func TestMessagesOfErrorsAreBounded(t *testing.T) {
	var tally errorTally
	page := strings.Repeat("x", maxErrorBytes/4)
	for i := range 6 {
		tally.add(&record.Error{Message: page[i:]}, errorTime{atNS: int64(i)}, 1)
	}
	groups := tally.list()
	if last := groups[len(groups)-1]; len(groups) != 5 || last.Error.Type != otherErrorsType || last.Count != 2 ||
		!strings.Contains(last.Error.Message, "first 4 ") {
		t.Errorf("%d groups, the last %.100s", len(groups), fmt.Sprint(groups[len(groups)-1]))
	}
}

func TestSnapshot(t *testing.T) {
	e := engineOf(t, chatConfig(), worked()...)
	want := Snapshot{Successes: 3, Errors: 1, StartNS: t0, EndNS: t0 + 730*ms, UsageReported: true}
	if got := e.Snapshot(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	e.Add(with(success(0, 90*ms, 40*ms), map[record.Field]int64{record.UsageCacheRead: 0}))
	if !e.Snapshot().CacheReported {
		t.Error("a cache field of 0 was not noticed")
	}
}

func TestWarnings(t *testing.T) {
	tokens := func(r *record.Record) *record.Record {
		return with(r, map[record.Field]int64{record.OutputTokens: 5})
	}
	crooked := tokens(success(0, 90*ms, 40*ms, 30*ms))
	crooked.RequestID = "req-7"
	for _, c := range []struct {
		name    string
		records []*record.Record
		want    []string // parts of the warnings, in order
	}{
		{"clean", []*record.Record{tokens(success(0, 100*ms, 40*ms, 100*ms)), tokens(success(0, 101*ms, 50*ms))}, nil},
		{"contradiction", []*record.Record{crooked, tokens(success(0, 100*ms, 40*ms))},
			[]string{"time_to_second_token", "decode_duration",
				"inter_chunk_latency has no value for them (first: req-7)"}},
		{"tail of failures", []*record.Record{tokens(success(0, 100*ms, 100*ms)), failure(0, 106*ms, record.Error{})},
			[]string{"from 0.10 s to 0.11 s"}},
		{"short tail", []*record.Record{tokens(success(0, 100*ms, 100*ms)), failure(0, 105*ms, record.Error{})}, nil},
		{"no output", []*record.Record{success(0, 100*ms, 100*ms), tokens(success(0, 100*ms, 100*ms))},
			[]string{"1 of 2 successful streaming requests have no output tokens"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := engineOf(t, chatConfig(), c.records...).Warnings()
			if !slices.EqualFunc(got, c.want, strings.Contains) {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
}

// A negative gap drops the whole list, of that request alone.
func TestNegativeGapDropsTheList(t *testing.T) {
	bad := success(0, 90*ms, 40*ms, 30*ms, 60*ms)
	e := engineOf(t, chatConfig(), bad, success(0, 90*ms, 40*ms, 47*ms))
	if s := found(t, e.Results(), "inter_chunk_latency").Stats; s.Count != 1 || !near(s.Avg, 7) {
		t.Errorf("inter_chunk_latency %+v, want the one gap of the other request", s)
	}
	line := string(e.set.AppendRecordMetrics(nil, bad))
	if strings.Contains(line, "inter_chunk_latency") || !strings.Contains(line, "request_latency") {
		t.Errorf("line %s", line)
	}
}

func BenchmarkAdd(b *testing.B) {
	records := traffic(4096, 6)
	e := mustSet(b, chatConfig()).NewEngine()
	for i := 0; b.Loop(); i++ {
		e.Add(records[i%len(records)])
	}
}

func BenchmarkAddBeyond(b *testing.B) {
	records := traffic(4096, 6)
	cfg := chatConfig()
	cfg.MaxRecords = 0
	e := mustSet(b, cfg).NewEngine()
	for i := 0; b.Loop(); i++ {
		e.Add(records[i%len(records)])
	}
}

func BenchmarkResultsMillion(b *testing.B) {
	e := mustSet(b, chatConfig()).NewEngine()
	rng := rand.New(rand.NewPCG(8, 8))
	for i := range int64(1_000_000) {
		e.Add(request(rng, i))
	}
	for b.Loop() {
		e.Results()
	}
}

func BenchmarkAppendRecordMetrics(b *testing.B) {
	records := traffic(4096, 6)
	set := mustSet(b, chatConfig())
	var line []byte
	for i := 0; b.Loop(); i++ {
		line = set.AppendRecordMetrics(line[:0], records[i%len(records)])
	}
	b.SetBytes(int64(len(line)))
}
