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
	file, err := artifact.CreateAtomic(t.Path)
	if err != nil {
		return err
	}
	defer file.Abort()
	out := bufio.NewWriterSize(file, 64<<10)
	row := artifact.AppendCSVRow(nil, "Timeslice", "Metric", "Unit", "Stat", "Value")
	_, _ = out.Write(row) // write errors stick to the writer
	for i := range r.Slices {
		row = appendTimesliceRows(row[:0], &r.Slices[i])
		_, _ = out.Write(row)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return file.Commit()
}

// appendTimesliceRows appends the figures of a slice, by tag; a figure that is not finite is absent.
func appendTimesliceRows(dst []byte, s *metrics.Slice) []byte {
	index := strconv.Itoa(s.Index)
	for _, m := range summary.ByTag(s.Results) {
		for _, stat := range figures(&m) {
			if artifact.Finite(stat.Value) {
				dst = artifact.AppendCSVRow(dst, index, m.Header, m.Unit, stat.Key, artifact.Fixed2(stat.Value))
			}
		}
	}
	return dst
}
