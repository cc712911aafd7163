package aggregate_test

import (
	"fmt"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/experiment/aggregate"
	"aiperf/internal/experiment/series"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
)

const concurrencyPath = "phases.profiling.concurrency"

// cellsOf makes a cell for each value of a concurrency.
func cellsOf(values ...int64) (cells []series.Cell) {
	for i, v := range values {
		name := fmt.Sprintf("concurrency_%d", v)
		cells = append(cells, series.Cell{Index: i, Dir: name, Label: fmt.Sprintf("%s=%d", concurrencyPath, v),
			Values: artifact.Object{{Key: concurrencyPath, Value: v}}})
	}
	return cells
}

// scalarOf and distributionOf make metrics; a distribution has the value as its average and its p99.
func scalarOf(tag, unit string, v float64) metrics.Metric {
	return metrics.Metric{Tag: tag, Unit: unit, Stats: metrics.Stats{Avg: v}}
}

func distributionOf(tag string, v float64) metrics.Metric {
	m := metrics.Metric{Tag: tag, Unit: "ms", Distribution: true,
		Stats: metrics.Stats{Avg: v, Min: v, Max: v, Count: 9}}
	for i := range m.Stats.Percentiles {
		m.Stats.Percentiles[i] = v
	}
	return m
}

// runOf makes a successful run of a cell.
func runOf(c *series.Cell, trial int, list ...metrics.Metric) series.Run {
	return series.Run{Metrics: list, Info: summary.RunInfo{Trial: trial, VariationIndex: c.Index,
		VariationLabel: c.Label, RunLabel: fmt.Sprintf("trial_%04d_%s", trial+1, c.Dir)}}
}

// figuresOf are request throughput and p99 of the time to first token.
func figuresOf(throughput, ttft float64) []metrics.Metric {
	return []metrics.Metric{scalarOf("request_throughput", "requests/sec", throughput),
		distributionOf("time_to_first_token", ttft)}
}

// sweepOf makes a sweep with one trial of each cell.
func sweepOf(o aggregate.Options, cells []series.Cell, figures ...[]metrics.Metric) *aggregate.Sweep {
	o.Trials = max(1, o.Trials)
	o.Level = 0.95
	s := aggregate.New(cells, o)
	for i := range cells {
		if i < len(figures) && figures[i] != nil {
			s.Add(runOf(&cells[i], 0, figures[i]...))
		}
	}
	return s
}

// parsed returns the document as it reads back.
func parsed(t *testing.T, s *aggregate.Sweep) artifact.Object {
	t.Helper()
	text, err := artifact.AppendIndented(nil, s.Document())
	if err != nil {
		t.Fatal(err)
	}
	o, err := artifact.ParseObject(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return o
}

// at returns the value below keys and indices of a document.
func at(t *testing.T, v any, path ...any) any {
	t.Helper()
	for _, p := range path {
		switch p := p.(type) {
		case string:
			o, ok := v.(artifact.Object)
			if !ok {
				t.Fatalf("%v: %q of %v", path, p, v)
			}
			if v, ok = o.Get(p); !ok {
				t.Fatalf("%v: no %q", path, p)
			}
		case int:
			list, ok := v.([]any)
			if !ok || p >= len(list) {
				t.Fatalf("%v: %d of %v", path, p, v)
			}
			v = list[p]
		}
	}
	return v
}

func textOf(t *testing.T, v any) string {
	t.Helper()
	text, err := artifact.AppendJSON(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func keysOf(v any) (keys []string) {
	for _, m := range v.(artifact.Object) {
		keys = append(keys, m.Key)
	}
	return keys
}
