package wandb

import (
	"cmp"
	"math"
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/publish/progress"
)

// tableName is the key of the table of results.
const tableName = "summary_metrics"

// statistics are the columns of the table behind the name of the metric.
var statistics = [...]struct {
	name string
	of   func(*metrics.Stats) float64
}{
	{"avg", func(s *metrics.Stats) float64 { return s.Avg }},
	{"min", func(s *metrics.Stats) float64 { return s.Min }},
	{"max", func(s *metrics.Stats) float64 { return s.Max }},
	{"p99", func(s *metrics.Stats) float64 { return s.Percentiles.At(99) }},
	{"p90", func(s *metrics.Stats) float64 { return s.Percentiles.At(90) }},
	{"p50", func(s *metrics.Stats) float64 { return s.Percentiles.At(50) }},
	{"std", func(s *metrics.Stats) float64 { return s.Std }},
}

// values returns the statistics of a metric in the order of the table; a missing one is nil.
func values(m *metrics.Metric) (list [len(statistics)]any) {
	for i, s := range statistics {
		if v := s.of(&m.Stats); artifact.Finite(v) && (m.Distribution || i == 0) {
			list[i] = v
		}
	}
	return list
}

// shown returns the metrics that the tables of the console show, in their order, and the shares of graded answers.
func shown(results []metrics.Metric, groups []metrics.Group) (list []*metrics.Metric) {
	for i := range results {
		if m := &results[i]; m.IsShown() && (slices.Contains(groups, m.Group) || metrics.IsAccuracy(m.Tag)) {
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b *metrics.Metric) int {
		return cmp.Compare(metrics.Place(a.Order), metrics.Place(b.Order))
	})
	return list
}

// table is a table of results.
type table struct {
	columns []string
	rows    [][]any
}

func newTable(list []*metrics.Metric) table {
	t := table{columns: []string{"Metric"}, rows: [][]any{}}
	for _, s := range statistics {
		t.columns = append(t.columns, s.name)
	}
	for _, m := range list {
		row := []any{m.ShortLabel()}
		for _, v := range values(m) {
			if f, ok := v.(float64); ok {
				v = math.Round(f*100) / 100
				if !artifact.Finite(v.(float64)) { // f is larger than the largest number that can be rounded
					v = f
				}
			}
			row = append(row, v)
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// tableDocument is a table as a file of the run.
type tableDocument struct {
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"data"`
}

// storedTable is a table as a file of its artifact, which also holds the types of the columns.
type storedTable struct {
	Type    string     `json:"_type"`
	LogMode string     `json:"log_mode"`
	Columns columnType `json:"column_types"`
	NumCols int        `json:"ncols"`
	NumRows int        `json:"nrows"`
	tableDocument
}

// columnType is a type of the service: of all columns, of one, or of a value.
type columnType struct {
	Name   string      `json:"wb_type"`
	Params *typeParams `json:"params,omitempty"`
}

type typeParams struct {
	Map     artifact.Map[columnType] `json:"type_map,omitempty"`
	Allowed []columnType             `json:"allowed_types,omitempty"`
}

// media returns the table as a file of the run.
func (t *table) media() artifact.Object { return artifact.ObjectOf(t.document()) }

func (t *table) document() tableDocument { return tableDocument{t.columns, t.rows} }

// stored returns the table as a file of its artifact.
func (t *table) stored() artifact.Object {
	var types artifact.Map[columnType]
	for i, name := range t.columns {
		kind := "number"
		if i == 0 {
			kind = "string"
		}
		types.Add(name, columnType{"union", &typeParams{Allowed: []columnType{{Name: "none"}, {Name: kind}}}})
	}
	return artifact.ObjectOf(storedTable{Type: "table", LogMode: "IMMUTABLE",
		Columns: columnType{"typedDict", &typeParams{Map: types}}, NumCols: len(t.columns), NumRows: len(t.rows),
		tableDocument: t.document()})
}

// summary returns the results as values of the run: an object of statistics for each metric.
func summary(list []*metrics.Metric) (out artifact.Object) {
	for _, m := range list {
		var one artifact.Object
		for i, v := range values(m) {
			if v != nil {
				one = append(one, artifact.Member{Key: statistics[i].name, Value: v})
			}
		}
		if one != nil {
			out = append(out, artifact.Member{Key: m.Tag, Value: one})
		}
	}
	return out
}

// config returns the configuration of a run as the service takes it: each value in an object.
func config(bench *progress.Run, redactor *artifact.Redactor) (out artifact.Object) {
	add := func(key string, value any) {
		out = append(out, artifact.Member{Key: key, Value: artifact.Object{{Key: "value", Value: value}}})
	}
	for _, m := range bench.Config {
		if m.Value != nil {
			add(m.Key, redactor.Strings(m.Value))
		}
	}
	add("aiperf.cli_command", redactor.Values(bench.Command))
	return out
}

// tags returns those of this program and of the benchmark, then the user's own, each once.
func tags(bench *progress.Run, own []string) []string {
	list := []string{"aiperf-" + bench.Version, "benchmark-" + bench.ShortID()}
	for _, tag := range own {
		if !slices.Contains(list, tag) {
			list = append(list, tag)
		}
	}
	return list
}
