package html

import (
	"fmt"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
)

// jobsView is how long jobs took and what their critical path was made of: one bar, and a row for each part.
type jobsView struct {
	Path splitView
	// Ranks are the statistics of the rows.
	Ranks []string
	Rows  []jobRow
	// Counts are the numbers of jobs and their rates.
	Counts []metricRow
	Note   string
}

// jobRow is a duration with a statistic in each column.
type jobRow struct {
	Header, Unit string
	Cells        []string
}

// jobParts are the parts of the critical path, with the class that has their colour.
var jobParts = [...]struct{ tag, class, name, meaning string }{
	{"job_model_time", "t-compute", "model", "requests of the critical path, from the send to the end of the reply"},
	{"job_tool_time", "t-network", "tools", "planned delays on the critical path: tools, think times, gaps of a recording"},
	{"job_waiting_time", "t-queue", "waiting", "for a slot, for an arrival, or inside this program"},
}

// newJobsView returns nil where no job ended.
func newJobsView(r *summary.Result) *jobsView {
	latency := metrics.Find(r.Metrics, "job_latency")
	if latency == nil || !(latency.Stats.Avg > 0) {
		return nil
	}
	milliseconds := func(ms float64) string { return artifact.Significant(ms) + " ms" }
	v := &jobsView{Path: splitView{Title: "Critical path", Total: milliseconds(latency.Stats.Avg),
		Description: "Critical path of a job, mean:"}}
	x := 0.0
	for i, p := range jobParts {
		ms, ok := r.Value(p.tag)
		if !ok {
			continue
		}
		share := ms / latency.Stats.Avg
		part := timePart{Class: p.class, Name: p.name + ": " + p.meaning, Source: p.tag, Time: milliseconds(ms),
			Short: p.name, Number: artifact.Significant(ms), Share: fmt.Sprintf("%.1f %%", 100*share),
			X: fmt.Sprintf("%.2f", 100*x), Width: fmt.Sprintf("%.2f", 100*share),
			Middle: fmt.Sprintf("%.2f", 100*(x+share/2)), Roomy: share >= leastRoomy}
		if share >= leastLabelled {
			part.Label = fmt.Sprintf("%s %.0f %%", p.name, 100*share)
		}
		if i > 0 {
			v.Path.Description += ","
		}
		v.Path.Description += " " + p.name + " " + part.Share
		v.Path.Parts = append(v.Path.Parts, part)
		x += share
	}
	v.tables(r)
	if steady, ok := r.Value("job_window_steady"); ok && steady == 0 {
		v.Note = "The run is too short for a steady window: jobs per hour are over the whole time, begin and end of the " +
			"load included."
	}
	return v
}

// tables fills the rows of distributions and the numbers of jobs.
func (v *jobsView) tables(r *summary.Result) {
	v.Ranks = []string{"avg", "p50", "p90", "p99", "max"}
	for i := range r.Metrics {
		m := &r.Metrics[i]
		switch {
		case m.Group != metrics.GroupJobs || !m.IsShown():
		case m.Distribution:
			row := jobRow{Header: m.Header, Unit: m.Unit}
			for _, rank := range v.Ranks {
				text := "N/A"
				if value, ok := m.Stat(rank); ok {
					text = artifact.Significant(value)
				}
				row.Cells = append(row.Cells, text)
			}
			v.Rows = append(v.Rows, row)
		default:
			v.Counts = append(v.Counts, newMetricRow(m, nil, nil))
		}
	}
}
