package console

import (
	"math"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
)

// phaseFigures are the columns of the table of phases after the counts. On a narrow page those with the highest spare
// are left out first; 0 never is.
var phaseFigures = []struct {
	header, tag string
	// percentile is 0 for the average.
	percentile float64
	spare      int
}{
	{"Duration (sec)", "benchmark_duration", 0, 2}, {"Requests/sec", "request_throughput", 0, 0},
	{"Tokens/sec", "output_token_throughput", 0, 0},
	{"TTFT avg", "time_to_first_token", 0, 3}, {"TTFT p99", "time_to_first_token", 99, 0},
	{"ITL avg", "inter_token_latency", 0, 1},
	{"Latency avg", "request_latency", 0, 4}, {"Latency p99", "request_latency", 99, 0},
}

// phaseTable appends a line for each profiling phase where there are several; the tables before it are of all of them.
func (p *page) phaseTable(r *summary.Result) {
	if len(r.Parts) == 0 {
		return
	}
	t := phaseTable(r, 4)
	for most := 3; most >= 0 && t.width(p.width) > p.width; most-- {
		t = phaseTable(r, most)
	}
	t.print(p)
}

// phaseTable returns the table without the columns of a higher spare.
func phaseTable(r *summary.Result, most int) *table {
	t := &table{title: product + " | Profiling Phases (TTFT, ITL and Latency in ms)", titleStyle: title,
		columns: []column{{header: "Phase", style: cyan, left: true, wraps: true}, {header: "Requests", style: green},
			{header: "Errors", style: green}}}
	for i := range r.Parts {
		part := &r.Parts[i]
		t.rows = append(t.rows, []cell{{text: part.Name}, {text: integer(part.Result.Counts.Successes)},
			{text: integer(part.Result.Counts.Errors)}})
	}
	for _, f := range phaseFigures {
		column := column{header: f.header, style: green}
		cells, any := make([]cell, len(r.Parts)), false
		for i := range r.Parts {
			value := figureOf(&r.Parts[i].Result, f.tag, f.percentile)
			cells[i], any = cell{text: fixed2(value)}, any || !math.IsNaN(value)
		}
		if !any || f.spare > most {
			continue
		}
		t.columns = append(t.columns, column)
		for i := range t.rows {
			t.rows[i] = append(t.rows[i], cells[i])
		}
	}
	return t
}

// figureOf returns the average of a metric or a percentile of it; NaN without one.
func figureOf(r *summary.Result, tag string, percentile float64) float64 {
	m := metrics.Find(r.Metrics, tag)
	switch {
	case m == nil:
		return math.NaN()
	case percentile == 0:
		return m.Stats.Avg
	}
	return m.Stats.Percentiles.At(percentile)
}
