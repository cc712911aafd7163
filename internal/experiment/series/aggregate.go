package series

import (
	"math"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/result/answer"
)

// AggregateVersion is the version of the aggregate's shape.
const AggregateVersion = "1.0"

// Aggregate has the statistics over repeated runs.
type Aggregate struct {
	AIPerfVersion string
	// Runs are all that were executed.
	Runs     []Run
	Level    float64
	Cooldown time.Duration
	Rows     []Row
	// Further is what the metadata says beyond that of every series, such as the cell of a sweep.
	Further []Metadata
}

// Metadata is a member of an aggregate's metadata. Text is its value in the CSV.
type Metadata struct {
	artifact.Member
	Text string
}

// NewAggregate aggregates the successful ones of the runs.
func NewAggregate(version string, runs []Run, level float64, cooldown time.Duration) *Aggregate {
	return &Aggregate{AIPerfVersion: version, Runs: runs, Level: level, Cooldown: cooldown,
		Rows: Summarize(Successes(runs), level)}
}

// figureColumn is a figure of a row in the files. Decimals are those of the CSV.
type figureColumn struct {
	name     string
	decimals int
	of       func(*Row) float64
}

var figureColumns = []figureColumn{
	{"mean", 2, func(r *Row) float64 { return r.Mean }},
	{"std", 2, func(r *Row) float64 { return r.Std }},
	{"min", 2, func(r *Row) float64 { return r.Min }},
	{"max", 2, func(r *Row) float64 { return r.Max }},
	{"cv", 4, func(r *Row) float64 { return r.CV }},
	{"se", 4, func(r *Row) float64 { return r.SE }},
	{"ci_low", 2, func(r *Row) float64 { return r.Low }},
	{"ci_high", 2, func(r *Row) float64 { return r.High }},
	{"t_critical", 4, func(r *Row) float64 { return r.T }},
}

// Document returns profile_export_aiperf_aggregate.json.
func (a *Aggregate) Document() artifact.Object {
	rows := artifact.Object{}
	for i := range a.Rows {
		r := &a.Rows[i]
		row := artifact.Object{}
		for _, c := range figureColumns {
			row = append(row, artifact.Member{Key: c.name, Value: numberOrNull(c.of(r))})
		}
		rows = append(rows, artifact.Member{Key: r.Key(),
			Value: append(row, artifact.Member{Key: "unit", Value: r.Unit})})
	}
	d := answer.RepeatsDocument{SchemaVersion: AggregateVersion, AIPerfVersion: a.AIPerfVersion, Metrics: rows,
		Metadata: answer.RepeatsMetadata{RunsDocument: RunsDocument("confidence", a.Runs), Level: a.Level,
			Labels: labels(a.Runs), Cooldown: a.Cooldown.Seconds()}}
	for _, m := range a.Further {
		d.Metadata.Further = append(d.Metadata.Further, m.Member)
	}
	return artifact.ObjectOf(d)
}

// RunsDocument says of which runs a document about several runs is.
func RunsDocument(kind string, runs []Run) answer.RunsDocument {
	d := answer.RunsDocument{Type: kind, Runs: len(runs)}
	for _, r := range runs {
		if !r.Succeeded() {
			d.FailedRuns = append(d.FailedRuns, answer.FailedRunDocument{Label: r.Info.RunLabel, Error: r.Err})
		}
	}
	d.Successful = d.Runs - len(d.FailedRuns)
	return d
}

// labels returns the labels of the successful runs.
func labels(runs []Run) (list []string) {
	for _, r := range Successes(runs) {
		list = append(list, r.Info.RunLabel)
	}
	return list
}

// numberOrNull returns nil for a number that JSON cannot represent, so that its key is written.
func numberOrNull(v float64) any {
	if !artifact.Finite(v) {
		return nil
	}
	return v
}

// CSV returns profile_export_aiperf_aggregate.csv.
func (a *Aggregate) CSV() []byte {
	header := []string{"metric"}
	for _, c := range figureColumns {
		header = append(header, c.name)
	}
	out := artifact.AppendCSVRow(nil, append(header, "unit")...)
	for i := range a.Rows {
		r := &a.Rows[i]
		row := []string{r.Key()}
		for _, c := range figureColumns {
			row = append(row, Fixed(c.of(r), c.decimals))
		}
		out = artifact.AppendCSVRow(out, append(row, r.Unit)...)
	}
	var quoted []string
	for _, label := range labels(a.Runs) {
		quoted = append(quoted, "'"+label+"'")
	}
	out = artifact.AppendCSVRow(out)
	for _, row := range [...][2]string{
		{"Aggregation Type", "confidence"},
		{"Total Runs", strconv.Itoa(len(a.Runs))},
		{"Successful Runs", strconv.Itoa(len(quoted))},
		{"Confidence Level", string(artifact.AppendFloat(nil, a.Level))},
		{"Run Labels", "[" + strings.Join(quoted, ", ") + "]"},
		{"Cooldown Seconds", string(artifact.AppendFloat(nil, a.Cooldown.Seconds()))},
	} {
		out = artifact.AppendCSVRow(out, row[0], row[1])
	}
	for _, m := range a.Further {
		out = artifact.AppendCSVRow(out, Titled(m.Key), m.Text)
	}
	return out
}

// Titled makes the name for people of a key: run_labels is Run Labels.
func Titled(key string) string {
	words := strings.Split(key, "_")
	for i, w := range words {
		if w != "" {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, " ")
}

// Fixed formats a number with so many decimals; NaN and infinities have names.
func Fixed(v float64, decimals int) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}
