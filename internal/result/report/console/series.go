package console

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/stats"
)

// SeriesRow is what repeated runs say of one statistic of one metric.
type SeriesRow struct {
	Tag, Header, Unit, Stat string
	Order                   int
	stats.Estimate          // over the runs that have the metric
}

// repeatability says what a coefficient of variation means: below each bound its word.
var repeatability = [...]struct {
	below float64
	word  string
	style style
}{{0.05, "excellent", green}, {0.10, "good", green}, {0.20, "fair", yellow}}

const unstable = "unstable"

// RenderSeries writes the table of repeated runs: where the mean lies with that confidence, and how well the runs
// repeat one another.
func RenderSeries(w io.Writer, rows []SeriesRow, level float64, o Options) error {
	p := newPage(&o)
	t := table{
		title: fmt.Sprintf("%s | Repeated Runs, %s Confidence", product, Percent(level)), titleStyle: title,
		columns: []column{{header: "Metric", style: cyan, wraps: true}},
	}
	for _, name := range [...]string{"stat", "mean", "CI low", "CI high", "std", "cv"} {
		t.columns = append(t.columns, column{header: name, style: green})
	}
	t.columns = append(t.columns, column{header: "repeats", left: true}, column{header: "runs"})
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b SeriesRow) int {
		return cmp.Compare(metrics.Place(a.Order), metrics.Place(b.Order))
	})
	for i := range rows {
		r := &rows[i]
		word, look := repeats(r.CV)
		t.rows = append(t.rows, []cell{
			{text: metricLabel(&metrics.Metric{Header: r.Header, Unit: r.Unit})}, {text: r.Stat}, number(r.Mean),
			number(r.Low), number(r.High), number(r.Std),
			{text: ratio(r.CV)}, {word, look}, {text: integer(int64(r.N))},
		})
	}
	t.print(p)
	p.remark("cv is std / mean: below 5 % the runs repeat excellently, below 10 % well, below 20 % fairly; above, "+
		"make more runs or find the cause.", dim)
	_, err := w.Write(p.bytes(o.Styles))
	return err
}

// RenderTable writes a table of which the first row are the headings and the first column names.
func RenderTable(w io.Writer, heading string, rows [][]string, o Options) error {
	p := newPage(&o)
	t := table{title: heading, titleStyle: title}
	for i, name := range rows[0] {
		c := column{header: name, style: green}
		if i == 0 {
			c = column{header: name, style: cyan, left: true, wraps: true}
		}
		t.columns = append(t.columns, c)
	}
	for _, row := range rows[1:] {
		var cells []cell
		for _, text := range row {
			cells = append(cells, cell{text: text})
		}
		t.rows = append(t.rows, cells)
	}
	t.print(p)
	_, err := w.Write(p.bytes(o.Styles))
	return err
}

// Percent writes a share as a percentage without trailing zeros.
func Percent(share float64) string {
	text := strings.TrimRight(fmt.Sprintf("%.6f", 100*share), "0")
	return strings.TrimSuffix(text, ".") + " %"
}

func ratio(v float64) string {
	if !artifact.Finite(v) {
		return notAvailable
	}
	return fixed2(100*v) + " %"
}

func repeats(cv float64) (string, style) {
	if !artifact.Finite(cv) {
		return notAvailable, dim
	}
	for _, r := range repeatability {
		if cv < r.below {
			return r.word, r.style
		}
	}
	return unstable, red
}
