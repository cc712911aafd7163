package selftest

import (
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/watch/trust"
)

// Grade is the outcome of a line.
type Grade string

// The grades. Pass and Fail are those of correctness, Good and Limited those of timing and capacity. A line of grade
// Info shows figures without a limit; one of grade Skipped could not be measured here.
const (
	Pass    Grade = "pass"
	Fail    Grade = "fail"
	Good    Grade = "good"
	Limited Grade = "limited"
	Info    Grade = "info"
	Skipped Grade = "skipped"
)

// graded is Good or Limited.
func graded(good bool) Grade {
	if good {
		return Good
	}
	return Limited
}

// Figure is a value of a line. Its key ends with the unit; values are int64, float64 or string.
type Figure struct {
	Key   string
	Value any
}

// Line is one check.
type Line struct {
	ID, Title string
	Grade     Grade
	// Cells are its figures as the table shows them, under the columns of the section.
	Cells []string
	// Note explains a grade that is not pass or good.
	Note    string
	Figures []Figure
}

// Section is a table of lines.
type Section struct {
	ID, Title string
	// Meaning is a sentence that explains the figures.
	Meaning string
	Columns []string
	Lines   []Line
}

// Report is the outcome of a test.
type Report struct {
	Version     string
	Machine     trust.Machine
	Started     time.Time
	Duration    time.Duration
	Quick       bool
	Interrupted bool
	Sections    []Section
	// Capacity is nil unless all of it was measured.
	Capacity *trust.Capacity
}

// tally counts the lines of a grade.
func (r *Report) tally(g Grade) int {
	n := 0
	for _, s := range r.Sections {
		for _, l := range s.Lines {
			if l.Grade == g {
				n++
			}
		}
	}
	return n
}

// Result is "fail" if a line failed, else "interrupted" if the test was stopped before its end, else "pass".
func (r *Report) Result() string {
	switch {
	case r.tally(Fail) > 0:
		return "fail"
	case r.Interrupted:
		return "interrupted"
	}
	return "pass"
}

// schemaVersion is that of the JSON document; see docs/selftest.md.
const schemaVersion = "1.0"

// JSON returns the report as docs/selftest.md describes it.
func (r *Report) JSON() artifact.Object {
	m := r.Machine
	o := artifact.Object{
		{Key: "schema_version", Value: schemaVersion},
		{Key: "aiperf_version", Value: r.Version},
		{Key: "result", Value: r.Result()},
		{Key: "quick", Value: r.Quick},
		{Key: "started", Value: r.Started.UTC().Format(time.RFC3339)},
		{Key: "duration_seconds", Value: r.Duration.Seconds()},
		{Key: "machine", Value: artifact.Object{
			{Key: "cpus", Value: m.CPUs}, {Key: "model", Value: m.Model}, {Key: "system", Value: m.System},
			{Key: "kernel", Value: m.Kernel},
		}},
	}
	sections := make([]any, len(r.Sections))
	for i, s := range r.Sections {
		lines := make([]any, len(s.Lines))
		for k, l := range s.Lines {
			line := artifact.Object{{Key: "id", Value: l.ID}, {Key: "title", Value: l.Title},
				{Key: "grade", Value: string(l.Grade)}}
			if l.Note != "" {
				line = line.Set("note", l.Note)
			}
			figures := artifact.Object{}
			for _, f := range l.Figures {
				figures = append(figures, artifact.Member{Key: f.Key, Value: f.Value})
			}
			lines[k] = line.Set("figures", figures)
		}
		sections[i] = artifact.Object{{Key: "id", Value: s.ID}, {Key: "title", Value: s.Title},
			{Key: "meaning", Value: s.Meaning}, {Key: "lines", Value: lines}}
	}
	o = o.Set("sections", sections)
	if c := r.Capacity; c != nil {
		o = o.Set("capacity", artifact.Object{
			{Key: "streams", Value: c.Streams}, {Key: "tokens_per_second_each", Value: c.Pace},
			{Key: "unary_requests_per_second", Value: c.UnaryRate},
		})
	}
	return o
}
