package series

import (
	"math"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
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
	meta := append(counts("confidence", a.Runs),
		artifact.Member{Key: "confidence_level", Value: a.Level},
		artifact.Member{Key: "run_labels", Value: labels(a.Runs)},
		artifact.Member{Key: "cooldown_seconds", Value: a.Cooldown.Seconds()})
	for _, m := range a.Further {
		meta = append(meta, m.Member)
	}
	return artifact.Object{
		{Key: "schema_version", Value: AggregateVersion},
		{Key: "aiperf_version", Value: a.AIPerfVersion},
		{Key: "metadata", Value: meta},
		{Key: "metrics", Value: rows},
	}
}

// counts returns the first members of the metadata of a file about several runs.
func counts(kind string, runs []Run) artifact.Object {
	failed := []any{}
	for _, r := range runs {
		if !r.Succeeded() {
			failed = append(failed, artifact.Object{{Key: "label", Value: r.Info.RunLabel},
				{Key: "error", Value: r.Err}})
		}
	}
	return artifact.Object{
		{Key: "aggregation_type", Value: kind},
		{Key: "num_profile_runs", Value: len(runs)},
		{Key: "num_successful_runs", Value: len(runs) - len(failed)},
		{Key: "failed_runs", Value: failed},
	}
}

// labels returns the labels of the successful runs.
func labels(runs []Run) []any {
	list := []any{}
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
		quoted = append(quoted, "'"+label.(string)+"'")
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
