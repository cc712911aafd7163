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

// Document is the report as docs/selftest.md describes it.
type Document struct {
	SchemaVersion   string            `json:"schema_version"`
	Version         string            `json:"aiperf_version"`
	Result          string            `json:"result"`
	Quick           bool              `json:"quick"`
	Started         string            `json:"started"`
	DurationSeconds float64           `json:"duration_seconds"`
	Machine         MachineDocument   `json:"machine"`
	Sections        []SectionDocument `json:"sections"`
	Capacity        *CapacityDocument `json:"capacity,omitempty"`
}

// MachineDocument is the machine that was tested.
type MachineDocument struct {
	CPUs   int    `json:"cpus"`
	Model  string `json:"model"`
	System string `json:"system"`
	Kernel string `json:"kernel"`
}

// SectionDocument is a table of lines.
type SectionDocument struct {
	ID      string         `json:"id"`
	Title   string         `json:"title"`
	Meaning string         `json:"meaning"`
	Lines   []LineDocument `json:"lines"`
}

// LineDocument is one test with its figures.
type LineDocument struct {
	ID      string            `json:"id"`
	Title   string            `json:"title"`
	Grade   Grade             `json:"grade"`
	Note    string            `json:"note,omitempty"`
	Figures artifact.Map[any] `json:"figures"`
}

// CapacityDocument is what the client can observe.
type CapacityDocument struct {
	Streams   int     `json:"streams"`
	Pace      float64 `json:"tokens_per_second_each"`
	UnaryRate float64 `json:"unary_requests_per_second"`
}

// JSON returns the report as docs/selftest.md describes it.
func (r *Report) JSON() artifact.Object {
	m := r.Machine
	d := Document{SchemaVersion: schemaVersion, Version: r.Version, Result: r.Result(), Quick: r.Quick,
		Started: r.Started.UTC().Format(time.RFC3339), DurationSeconds: r.Duration.Seconds(),
		Machine: MachineDocument{CPUs: m.CPUs, Model: m.Model, System: m.System, Kernel: m.Kernel}}
	for _, s := range r.Sections {
		section := SectionDocument{ID: s.ID, Title: s.Title, Meaning: s.Meaning}
		for _, l := range s.Lines {
			line := LineDocument{ID: l.ID, Title: l.Title, Grade: l.Grade, Note: l.Note}
			for _, f := range l.Figures {
				line.Figures.Add(f.Key, f.Value)
			}
			section.Lines = append(section.Lines, line)
		}
		d.Sections = append(d.Sections, section)
	}
	if c := r.Capacity; c != nil {
		d.Capacity = &CapacityDocument{Streams: c.Streams, Pace: c.Pace, UnaryRate: c.UnaryRate}
	}
	return artifact.ObjectOf(d)
}
