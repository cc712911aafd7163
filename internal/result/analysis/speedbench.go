package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/result/summary"
)

// SpeedBenchMetrics that a matrix can show.
const (
	AcceptLength = "accept_length"
	AcceptRate   = "accept_rate"
	Throughput   = "throughput"
)

// SpeedBenchMetrics lists them.
func SpeedBenchMetrics() []string { return []string{AcceptLength, AcceptRate, Throughput} }

// SpeedBenchTitle returns the title of the matrix of a metric.
func SpeedBenchTitle(metric string) string {
	switch metric {
	case AcceptRate:
		return "Acceptance Rate Report"
	case Throughput:
		return "Throughput Report (tokens/sec)"
	}
	return "Acceptance Length Report"
}

// Matrix are the figures by model and category. A cell without a figure is nil.
type Matrix struct {
	Metric  string
	Columns []string
	Rows    []MatrixRow
}

// MatrixRow is a model, or a model at an input length.
type MatrixRow struct {
	Model string
	// Length is the input length of a throughput category, such as 8k; empty for others.
	Length string
	Cells  []*float64
	// Overall is the mean of the cells that are there.
	Overall *float64
}

// FindRuns returns the folders of runs that paths name: a folder with a summary is one, else those of its direct
// children that have one are.
func FindRuns(paths []string) ([]string, error) {
	var runs []string
	for _, path := range paths {
		if holdsRun(path) {
			runs = append(runs, path)
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries { // sorted
			if child := filepath.Join(path, entry.Name()); entry.IsDir() && holdsRun(child) {
				runs = append(runs, child)
			}
		}
	}
	return runs, nil
}

func holdsRun(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	_, err = summary.FindSummary(dir)
	return err == nil
}

// cell is what one run says.
type cell struct {
	model, category string
	value           *float64
	run             string
}

// Assemble makes the matrix of runs. What keeps a run from counting, or a figure from being there, goes to warn.
// It has no rows if no run has a figure.
func Assemble(runs []string, metric string, warn func(string)) *Matrix {
	var cells []cell
	for _, run := range runs {
		c, why := read(run, metric)
		if why != "" {
			warn(why)
		}
		if c != nil {
			cells = append(cells, *c)
		}
	}
	if !slices.ContainsFunc(cells, func(c cell) bool { return c.value != nil }) {
		return &Matrix{Metric: metric}
	}
	return matrixOf(cells, metric, warn)
}

// read returns the figure of a run; why names what is missing. Without a category there is no cell.
func read(run, metric string) (c *cell, why string) {
	file, err := summary.FindSummary(run)
	if err != nil {
		return nil, err.Error()
	}
	configured, err := summary.ReadConfigured(file)
	if err != nil {
		return nil, err.Error()
	}
	category, ok := strings.CutPrefix(configured.Dataset, "speed_bench_")
	if !ok || category == "" {
		return nil, fmt.Sprintf("cannot determine category from %s, skipping", run)
	}
	c = &cell{model: "unknown", category: category, run: run}
	if len(configured.Models) > 0 {
		c.model = configured.Models[0]
	}
	figures, err := summary.ReadFigures(file)
	if err != nil {
		return c, err.Error()
	}
	if metric == Throughput {
		c.value = average(&figures, "output_token_throughput", 1)
		return c, ""
	}
	server, err := readServer(serverMetricsFile(file))
	if err != nil {
		why = err.Error()
	}
	// The figures of the requests are second best: they do not include failed ones.
	if metric == AcceptRate {
		c.value = cmp.Or(server.acceptRate(), average(&figures, "spec_decode_overall_draft_acceptance_rate", 0.01))
	} else {
		c.value = cmp.Or(server.acceptLength(), average(&figures, "spec_decode_token_weighted_acceptance_length", 1))
	}
	switch {
	case c.value != nil:
		return c, ""
	case why == "":
		why = fmt.Sprintf("%s has no %s", run, strings.ReplaceAll(metric, "_", " "))
	}
	return c, why
}

// average is that of a metric of the summary, scaled.
func average(f *summary.Figures, tag string, scale float64) *float64 {
	b, _ := f.Find(tag)
	v, ok := b.Stats["avg"]
	if !ok {
		return nil
	}
	v *= scale
	return &v
}

// serverMetricsFile is the file of server metrics that belongs to a summary.
func serverMetricsFile(file string) string {
	dir, name := filepath.Split(file)
	if stem := strings.TrimSuffix(name, ".json"); stem != "profile_export_aiperf" {
		return filepath.Join(dir, stem+"_server_metrics.json")
	}
	return filepath.Join(dir, "server_metrics_export.json")
}

// Orders of columns; other categories are in alphabetical order.
var (
	qualitative = []string{"coding", "humanities", "math", "multilingual", "qa", "rag", "reasoning", "roleplay", "stem",
		"summarization", "writing"}
	tiers = []string{"low_entropy", "mixed", "high_entropy"}
)

func matrixOf(cells []cell, metric string, warn func(string)) *Matrix {
	type place struct{ model, length, category string }
	byLength := !slices.ContainsFunc(cells, func(c cell) bool {
		length, tier := split(c.category)
		return length == "" || !slices.Contains(tiers, tier)
	})
	values, rows, categories := map[place]cell{}, map[place]bool{}, map[string]bool{}
	for _, c := range cells {
		at := place{model: c.model, category: c.category}
		if byLength { // tiers of different lengths cannot be compared: each length has a row
			at.length, at.category = split(c.category)
		}
		if before, twice := values[at]; twice {
			if c.value == nil {
				continue
			}
			if before.value != nil {
				warn(fmt.Sprintf("%s and %s are both %s of %s; the latter is used", before.run, c.run, c.category,
					c.model))
			}
		}
		values[at], rows[place{model: at.model, length: at.length}], categories[at.category] = c, true, true
	}
	m := &Matrix{Metric: metric, Columns: columns(categories)}
	for _, at := range slices.SortedFunc(maps.Keys(rows), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.model, b.model), cmp.Compare(len(a.length), len(b.length)),
			cmp.Compare(a.length, b.length))
	}) {
		row := MatrixRow{Model: at.model, Length: at.length}
		sum, n := 0.0, 0
		for _, category := range m.Columns {
			v := values[place{at.model, at.length, category}].value
			row.Cells = append(row.Cells, v)
			if v != nil {
				sum, n = sum+*v, n+1
			}
		}
		if n > 0 {
			mean := sum / float64(n)
			row.Overall = &mean
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

// Label is the row's heading.
func (r *MatrixRow) Label() string {
	if r.Length == "" {
		return r.Model
	}
	return r.Model + " (" + r.Length + ")"
}

// split takes throughput_8k_mixed apart; the length is empty for other categories.
func split(category string) (length, tier string) {
	rest, ok := strings.CutPrefix(category, "throughput_")
	if !ok {
		return "", category
	}
	length, tier, _ = strings.Cut(rest, "_")
	return length, tier
}

func columns(categories map[string]bool) []string {
	for _, order := range [][]string{qualitative, tiers} {
		if subset(categories, order) {
			return slices.DeleteFunc(slices.Clone(order), func(c string) bool { return !categories[c] })
		}
	}
	return slices.Sorted(maps.Keys(categories))
}

func subset(categories map[string]bool, of []string) bool {
	for c := range categories {
		if !slices.Contains(of, c) {
			return false
		}
	}
	return true
}
