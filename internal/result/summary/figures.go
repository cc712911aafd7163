package summary

import (
	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/stats"
)

// Figures are the numbers of one run as files have them: what thresholds and comparisons look at,
// whether the run has just ended or its summary file was read back.
type Figures struct {
	BenchmarkID string
	// Incomplete is the reason why the run degraded; "" when it did not.
	Incomplete   string
	WasCancelled bool
	// Verdict is that on the client's own influence; "" when the file has none.
	Verdict string
	// Kinds are the hashes that tell what was measured: config, dataset, tokenizer; those that the file has.
	Kinds map[string]string
	// Blocks are in the order of the file.
	Blocks []Block
}

// Block are the statistics of one metric in its display unit. A statistic that the metric does not
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

// FiguresOf are the numbers of a result.
func FiguresOf(r *Result) Figures {
	f := Figures{BenchmarkID: r.BenchmarkID, Incomplete: r.Incomplete, WasCancelled: r.WasCancelled}
	for i := range r.Metrics {
		f.Blocks = append(f.Blocks, blockOf(&r.Metrics[i]))
	}
	return f
}

func blockOf(m *metrics.Result) Block {
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
