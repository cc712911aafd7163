package console

import (
	"math"
	"strconv"

	"aiperf/internal/watch/servermetrics"
)

// serverMetricsTable appends the key figures of the servers, if the run shows them.
func (p *page) serverMetricsTable(rows []servermetrics.Highlight) {
	if len(rows) == 0 {
		return
	}
	t := table{title: product + " | Server Metrics", titleStyle: title, columns: []column{
		{header: "Server", left: true}, {header: "Endpoint", left: true, wraps: true},
		{header: "Metric", left: true, style: cyan},
		{header: "stat"}, {header: "value", style: green}, {header: "unit", left: true},
	}}
	for _, r := range rows {
		t.rows = append(t.rows, []cell{
			{text: safe(r.Backend)}, {text: safe(r.Endpoint)}, {text: safe(r.Metric)},
			{text: safe(r.Stat)}, {text: figure(r.Value)}, {text: safe(r.Unit)},
		})
	}
	t.print(p)
}

// speculationTable appends what servers said of speculative decoding.
func (p *page) speculationTable(rows []servermetrics.Speculation) {
	if len(rows) == 0 {
		return
	}
	t := table{title: product + " | Server Metrics: Speculative Decoding", titleStyle: title,
		columns: []column{{header: "Metric", style: cyan, wraps: true}}}
	for _, header := range []string{"mean", "min", "max", "p50", "p90"} {
		t.columns = append(t.columns, column{header: header, style: green})
	}
	for _, r := range rows {
		cells := []cell{{text: safe(r.Label)}}
		for i, v := range []float64{r.Mean, r.Min, r.Max, r.P50, r.P90} {
			if r.Single && i > 0 {
				cells = append(cells, cell{notAvailable, dim})
				continue
			}
			cells = append(cells, cell{text: strconv.FormatFloat(v, 'f', r.Decimals, 64)})
		}
		t.rows = append(t.rows, cells)
	}
	t.print(p)
}

// figure prints small values, such as seconds, with more decimals than large ones.
func figure(v float64) string {
	if math.Abs(v) < 10 {
		return strconv.FormatFloat(v, 'f', 4, 64)
	}
	return fixed2(v)
}
