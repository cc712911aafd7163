package report

import (
	"context"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/timesplit"
	"aiperf/internal/result/judge"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/trust"
)

// SummaryCSV writes profile_export_aiperf.csv.
type SummaryCSV struct{ Path string }

// Name implements Exporter.
func (SummaryCSV) Name() string { return "CSV summary" }

// Export implements Exporter.
func (s SummaryCSV) Export(_ context.Context, r *summary.Result) error {
	text := AppendSummaryCSV(nil, r.Metrics, slices.Concat(endingRows(r.FinishReasons), timeRows(r), twinRows(r), stateRows(r))...)
	if r.Telemetry != nil {
		text = appendTelemetryCSV(text, r.Telemetry)
	}
	return artifact.WriteFile(s.Path, text)
}

// AppendSummaryCSV appends the two sections: distributions and single values, each by tag, with an
// empty line between them when both exist. more are rows at the end of the second.
func AppendSummaryCSV(dst []byte, results []metrics.Metric, more ...[]string) []byte {
	sorted := summary.ByTag(results)
	further := furtherKeys(results)
	start := len(dst)
	for _, m := range sorted {
		if !m.Distribution {
			continue
		}
		if len(dst) == start {
			header := append([]string{"Metric", "avg", "min", "max", "sum"}, metrics.PercentileKeys[:]...)
			header = append(header, further...)
			dst = artifact.AppendCSVRow(dst, append(header, "std")...)
		}
		dst = artifact.AppendCSVRow(dst, distributionCells(&m, further)...)
	}
	var scalars [][]string
	for _, m := range sorted {
		if !m.Distribution && artifact.Finite(m.Stats.Avg) {
			scalars = append(scalars, []string{csvLabel(&m), artifact.Fixed2(m.Stats.Avg)})
		}
	}
	if scalars = append(scalars, more...); len(scalars) == 0 {
		return dst
	}
	if len(dst) > start {
		dst = artifact.AppendCSVRow(dst)
	}
	dst = artifact.AppendCSVRow(dst, "Metric", "Value")
	for _, row := range scalars {
		dst = artifact.AppendCSVRow(dst, row...)
	}
	return dst
}

// endingRows are single values: how many replies ended for each reason, the most frequent first. There are none if all of
// them ended as usual, so that the file of an ordinary run has the rows that AIPerf writes.
func endingRows(endings map[string]int64) [][]string {
	var rows [][]string
	unusual := false
	for _, of := range artifact.LargestFirst(endings) {
		unusual = unusual || !trust.UsualEnding(of.Key)
		rows = append(rows, []string{"Finish Reason " + of.Key, artifact.Fixed2(float64(endings[of.Key]))})
	}
	if !unusual {
		return nil
	}
	return rows
}

// stateRows are the state of a run and its first finding, where the run is not complete or something is wrong with it: the
// file of an ordinary run has the rows that AIPerf writes.
func stateRows(r *summary.Result) [][]string {
	j := r.Judge()
	if j.State.Code == judge.StateComplete {
		return nil
	}
	first := j.First()
	return [][]string{{"State", j.State.Title}, {"Finding", first.Title + ": " + first.Text}}
}

// timeRows are where the mean time to the first token and the mean latency went, where a server or a round trip says it.
func timeRows(r *summary.Result) (rows [][]string) {
	t := r.Times()
	for _, of := range [...]struct {
		title string
		split *timesplit.Split
	}{{"Time to First Token", t.OfTTFT()}, {"Request Latency", t.OfLatency()}} {
		if of.split == nil {
			continue
		}
		for _, p := range of.split.Parts {
			rows = append(rows, []string{of.title + ": " + p.Stage.Name() + " (ms)", artifact.Fixed2(p.Milliseconds)})
		}
	}
	return rows
}

// furtherKeys returns the percentiles in addition to the usual ones. A timeline has none.
func furtherKeys(results []metrics.Metric) []string {
	var keys []string
	for i := range results {
		if m := &results[i]; len(m.Further) > len(keys) {
			keys = nil
			for _, p := range m.Further {
				keys = append(keys, metrics.RankKey(p.Rank))
			}
		}
	}
	return keys
}

func distributionCells(m *metrics.Metric, further []string) []string {
	cells := []string{csvLabel(m)}
	list := figures(m)
	for _, f := range list[:len(list)-1] {
		cells = append(cells, artifact.Fixed2(f.Value))
	}
	for range len(further) - len(m.Further) {
		cells = append(cells, "")
	}
	return append(cells, artifact.Fixed2(list[len(list)-1].Value))
}

// csvLabel is the header with its unit, but for units that the header already says.
func csvLabel(m *metrics.Metric) string {
	switch strings.ToLower(m.Unit) {
	case "", "count", "requests":
		return m.Header
	}
	return m.Header + " (" + m.Unit + ")"
}
