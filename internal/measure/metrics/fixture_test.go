package metrics

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"aiperf/internal/measure/record"
)

// nans compares statistics that a distribution does not have.
var nans = cmpopts.EquateNaNs()

const (
	ms = int64(1e6)
	t0 = int64(1_700_000_000_000_000_000)
)

// chatConfig returns a streaming chat endpoint with every text capability.
func chatConfig() Config {
	cfg := DefaultConfig()
	cfg.Streaming, cfg.ProducesTokens, cfg.TokenizesInput = true, true, true
	return cfg
}

func mustSet(t testing.TB, cfg Config) *Set {
	t.Helper()
	s, err := NewSet(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// success makes a valid record from the instants of its content responses.
func success(offsetNS, endNS int64, contents ...int64) *record.Record {
	r := &record.Record{Facts: record.NewFacts()}
	f := &r.Facts
	f[record.StartWall] = t0 + offsetNS
	f[record.End] = endNS
	f[record.LastResponse] = endNS
	f[record.Contents] = int64(len(contents))
	f[record.FirstContent] = contents[0]
	f[record.FirstOutput] = contents[0]
	f[record.LastContent] = contents[len(contents)-1]
	if len(contents) > 1 {
		f[record.SecondContent] = contents[1]
	}
	for i := 1; i < len(contents); i++ {
		r.GapsNS = append(r.GapsNS, contents[i]-contents[i-1])
	}
	return r
}

// failure makes an error record.
func failure(offsetNS, endNS int64, err record.Error) *record.Record {
	r := &record.Record{Facts: record.NewFacts(), Err: &err}
	r.Facts[record.StartWall] = t0 + offsetNS
	r.Facts[record.End] = endNS
	r.Facts[record.Failed] = 1
	return r
}

func with(r *record.Record, facts map[record.Field]int64) *record.Record {
	for i, v := range facts {
		r.Facts[i] = v
	}
	return r
}

// worked returns the records of the worked example in the metrics reference.
func worked() []*record.Record {
	return []*record.Record{
		with(success(0, 305*ms, 100*ms, 150*ms, 210*ms, 300*ms), map[record.Field]int64{
			record.InputTokens: 100, record.OutputTokens: 10, record.RequestedTokens: 10,
			record.UsagePrompt: 105, record.UsageCompletion: 10}),
		with(success(50*ms, 210*ms, 120*ms, 140*ms, 200*ms), map[record.Field]int64{
			record.InputTokens: 200, record.OutputTokens: 20, record.RequestedTokens: 25,
			record.UsagePrompt: 200, record.UsageCompletion: 23}),
		with(success(400*ms, 330*ms, 80*ms, 100*ms, 180*ms, 260*ms, 330*ms), map[record.Field]int64{
			record.FirstOutput: 180 * ms,
			record.InputTokens: 50, record.OutputTokens: 12, record.ReasoningTokens: 6, record.RequestedTokens: 18,
			record.UsagePrompt: 50, record.UsageCompletion: 18}),
		with(failure(600*ms, 10*ms, record.Error{Code: 500, HasCode: true, Type: "Internal Server Error",
			Message: "boom"}),
			map[record.Field]int64{record.InputTokens: 40}),
	}
}

func engineOf(t testing.TB, cfg Config, records ...*record.Record) *Engine {
	t.Helper()
	e := mustSet(t, cfg).NewEngine()
	for _, r := range records {
		e.Add(r)
	}
	return e
}

// found returns the result with a tag.
func found(t testing.TB, results []Metric, tag string) Metric {
	t.Helper()
	i := slices.IndexFunc(results, func(r Metric) bool { return r.Tag == tag })
	if i < 0 {
		t.Fatalf("no result for %s", tag)
	}
	return results[i]
}

func absent(t testing.TB, results []Metric, tags ...string) {
	t.Helper()
	for _, r := range results {
		if slices.Contains(tags, r.Tag) {
			t.Errorf("%s = %v, want no value", r.Tag, r.Stats.Avg)
		}
	}
}

func scalar(t testing.TB, results []Metric, tag string, want float64) {
	t.Helper()
	if got := found(t, results, tag).Stats.Avg; !near(got, want) {
		t.Errorf("%s = %v, want %v", tag, got, want)
	}
}

func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b))
}

// printed reports whether v shows as text, a number with at most six decimals.
func printed(v float64, text float64) bool {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', 6, 64), 64)
	return near(rounded, text)
}

func populationStd(values []float64, avg float64) float64 {
	var sum float64
	for _, v := range values {
		sum += (v - avg) * (v - avg)
	}
	return math.Sqrt(sum / float64(len(values)))
}

func floatBits(v float64) uint64 { return math.Float64bits(v) }
