package console

import (
	"math"
	"strconv"
)

// ServerMetric is a row of the table of server metrics.
type ServerMetric struct {
	Backend, Endpoint, Metric, Stat, Unit string
	Value                                 float64
}

// serverMetricsTable appends the key figures of the servers, if the run shows them.
func (p *page) serverMetricsTable(rows []ServerMetric) {
	if len(rows) == 0 {
		return
	}
	t := table{title: product + " | Server Metrics", titleStyle: title, columns: []column{
		{header: "Server", left: true}, {header: "Endpoint", left: true, wraps: true}, {header: "Metric", left: true, style: cyan},
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

// figure prints small values, such as seconds, with more decimals than large ones.
func figure(v float64) string {
	if math.Abs(v) < 10 {
		return strconv.FormatFloat(v, 'f', 4, 64)
	}
	return fixed2(v)
}
