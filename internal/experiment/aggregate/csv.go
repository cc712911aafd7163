package aggregate

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/experiment/series"
	"aiperf/internal/experiment/sweep"
	"aiperf/internal/measure/stats"
)

// CSV returns profile_export_aiperf_sweep.csv: the cells, the best of them, the Pareto front, the metadata, and
// the accuracies where answers were graded, with an empty line between two parts.
func (s *Sweep) CSV() []byte {
	out := s.table(nil)
	out = artifact.AppendCSVRow(out)
	out = artifact.AppendCSVRow(out, "Best Configurations")
	for i, b := range s.Best() {
		if i == 0 {
			out = artifact.AppendCSVRow(out, slices.Concat([]string{"Configuration"}, s.names,
				[]string{"Metric", "Unit"})...)
		}
		out = artifact.AppendCSVRow(out, slices.Concat([]string{b.Name}, s.texts(b.Cell),
			[]string{artifact.Fixed2(b.Value), b.Unit})...)
	}
	out = artifact.AppendCSVRow(out)
	out = artifact.AppendCSVRow(out, "Pareto Optimal Points")
	front := s.Front()
	if len(front) == 0 {
		out = artifact.AppendCSVRow(out, "None")
	} else {
		out = artifact.AppendCSVRow(out, s.names...)
		for _, c := range front {
			out = artifact.AppendCSVRow(out, s.texts(c)...)
		}
	}
	out = artifact.AppendCSVRow(out)
	for _, row := range [...][2]string{
		{"Metadata", ""},
		{"Field", "Value"},
		{"Aggregation Type", "sweep"},
		{"Sweep Parameters", strings.Join(s.names, ", ")},
		{"Number of Combinations", strconv.Itoa(max(1, len(s.cells)))},
		{"Number of Profile Runs", strconv.Itoa(len(s.runs))},
		{"Number of Successful Runs", strconv.Itoa(len(s.runs) - len(s.Failed()))},
	} {
		if row[1] == "" {
			out = artifact.AppendCSVRow(out, row[0])
			continue
		}
		out = artifact.AppendCSVRow(out, row[0], row[1])
	}
	return s.accuracyCSV(out)
}

// table appends a row for each cell: its values, then the columns of all figures that any cell has, by their names. With
// one trial of each cell the metrics as wholes are among them (request_throughput_mean beside
// request_throughput_avg_mean).
func (s *Sweep) table(out []byte) []byte {
	list, single := s.listed(), s.trials() == 1
	at := map[string]int{}
	for _, c := range list {
		for i := range c.shape.keys {
			at[c.shape.keys[i].name] = 0
		}
		if single {
			for w := range c.wholes() {
				at[w.tag] = 0
			}
		}
	}
	header := slices.Clone(s.names)
	for i, name := range slices.Sorted(maps.Keys(at)) {
		at[name] = i
		for _, col := range columns {
			if col.decimals >= 0 {
				header = append(header, name+"_"+col.name)
			}
		}
	}
	out = artifact.AppendCSVRow(out, header...)
	shown := (len(header) - len(s.names)) / max(1, len(at))
	row := make([]string, len(header))
	for _, c := range list {
		clear(row)
		copy(row, s.texts(c))
		fill := func(name string, e *stats.Estimate) {
			to := row[len(s.names)+shown*at[name]:]
			for _, col := range columns {
				if col.decimals < 0 {
					continue
				}
				to[0] = fixed(col.of(e), col.decimals, e.N)
				to = to[1:]
			}
		}
		s.figures(c, func(k *key, e *stats.Estimate) { fill(k.name, e) })
		if single {
			for w := range c.wholes() {
				fill(w.tag, &w.Estimate)
			}
		}
		out = artifact.AppendCSVRow(out, row...)
	}
	return out
}

// texts returns the values of a cell, one for each parameter; empty where it has none.
func (s *Sweep) texts(c *Cell) []string {
	list := make([]string, len(s.names))
	for i, name := range s.names {
		if v, ok := c.Parameters.Get(name); ok {
			list[i] = sweep.ValueText(v)
		}
	}
	return list
}

// fixed formats a number of a figure over n values. What takes two of them is empty where there is one.
func fixed(v float64, decimals, n int) string {
	if n < 2 && math.IsNaN(v) {
		return ""
	}
	return series.Fixed(v, decimals)
}
