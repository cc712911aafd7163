package summary

import (
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/stats"
	"aiperf/internal/measure/timesplit"
	"aiperf/internal/result/judge"
	"aiperf/internal/watch/servermetrics"
)

// Figures are the numbers of one run as its files have them, which thresholds and comparisons use: of a run that has
// just ended, or read from a summary file.
type Figures struct {
	BenchmarkID string
	// Origin is the tool that measured the run; the zero value for this program and the original.
	Origin Origin
	// Incomplete is the reason why the run degraded; "" when it did not.
	Incomplete   string
	WasCancelled bool
	// Verdict is that on the client's own influence; "" when the file has none.
	Verdict string
	// Judgement is what is to be thought of the run: that of the file, or where it has none by the figures alone.
	Judgement judge.Judgement
	// Kinds are the hashes that identify what was measured: config, dataset, tokenizer, as far as the file has them.
	Kinds map[string]string
	// Config is the configuration and what else decides what was measured, by the names of the file: input_config and
	// provenance; without what the file lacks, and empty for a run that has just ended.
	Config artifact.Object
	// Cached is how much of the prompts came from the server's prefix cache; nil where the file does not say so.
	Cached *servermetrics.Cached
	// Times is where the time of requests went; nil where that is not known.
	Times *timesplit.Times
	// Blocks are in the order of the file.
	Blocks []Block
}

// Origin is another tool that measured a run.
type Origin struct {
	Tool    string `json:"tool"`
	Version string `json:"version"`
}

// String returns the tool with its version, as far as that is known.
func (o Origin) String() string { return strings.TrimSpace(o.Tool + " " + o.Version) }

// Block has the statistics of one metric in its display unit. A statistic that the metric does not
// have, or that is not finite, is absent.
type Block struct {
	Tag, Unit string
	// Stats are by name: avg, min, max, std, sum, count, p50…
	Stats map[string]float64
	// Bounds are the confidence bounds of percentiles by name; a side without one is NaN.
	Bounds map[string]stats.Range
}

// Find returns the block of a tag.
func (f *Figures) Find(tag string) (Block, bool) {
	for _, b := range f.Blocks {
		if b.Tag == tag {
			return b, true
		}
	}
	return Block{}, false
}

// FiguresOf returns the figures of a result.
func FiguresOf(r *Result) Figures {
	f := Figures{BenchmarkID: r.BenchmarkID, Incomplete: r.Incomplete, WasCancelled: r.WasCancelled, Cached: r.Cached,
		Judgement: r.Judge(), Times: r.Times()}
	for i := range r.Metrics {
		f.Blocks = append(f.Blocks, blockOf(&r.Metrics[i]))
	}
	return f
}

func blockOf(m *metrics.Metric) Block {
	b := Block{Tag: m.Tag, Unit: m.Unit, Stats: map[string]float64{}}
	for _, f := range m.Figures() {
		if artifact.Finite(f.Value) {
			b.Stats[f.Key] = f.Value
		}
	}
	for _, bound := range m.Bounds {
		if b.Bounds == nil {
			b.Bounds = map[string]stats.Range{}
		}
		b.Bounds[metrics.RankKey(bound.Rank)] = stats.Range{Low: finite(bound.Low), High: finite(bound.High)}
	}
	return b
}
