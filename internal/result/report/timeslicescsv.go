package report

import (
	"bufio"
	"context"
	"strconv"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
)

// TimeslicesCSV writes profile_export_aiperf_timeslices.csv: one tidy table, a row for each figure. A
// run without slices has no such file.
type TimeslicesCSV struct{ Path string }

// Name implements Exporter.
func (TimeslicesCSV) Name() string { return "time slices CSV" }

// Export implements Exporter.
func (t TimeslicesCSV) Export(_ context.Context, r *summary.Result) error {
	if len(r.Slices) == 0 {
		return nil
	}
	return artifact.WriteStream(t.Path, func(out *bufio.Writer) error {
		row := artifact.AppendCSVRow(nil, "Timeslice", "Start_NS", "End_NS", "Metric", "Unit", "Stat", "Value")
		_, _ = out.Write(row)
		for i := range r.Slices {
			row = appendTimesliceRows(row[:0], &r.Slices[i])
			_, _ = out.Write(row)
		}
		return nil
	})
}

// appendTimesliceRows appends the figures of a slice, by tag; a figure that is not finite is absent.
func appendTimesliceRows(dst []byte, s *metrics.Slice) []byte {
	index, start, end := strconv.Itoa(s.Index), strconv.FormatInt(s.StartNS, 10), strconv.FormatInt(s.EndNS, 10)
	for _, m := range summary.ByTag(s.Results) {
		for _, stat := range figures(&m) {
			if artifact.Finite(stat.Value) {
				dst = artifact.AppendCSVRow(dst, index, start, end, m.Header, m.Unit, stat.Key,
					artifact.Fixed2(stat.Value))
			}
		}
	}
	return dst
}
