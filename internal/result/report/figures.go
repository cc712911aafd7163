package report

import "aiperf/internal/measure/metrics"

// figures lists the statistics of a metric as tables order them.
func figures(m *metrics.Result) []metrics.Figure {
	s := &m.Stats
	list := []metrics.Figure{
		{Key: "avg", Value: s.Avg}, {Key: "min", Value: s.Min}, {Key: "max", Value: s.Max}, {Key: "sum", Value: s.Sum},
	}
	if !m.Distribution {
		return list[:1]
	}
	return append(m.AppendPercentiles(list), metrics.Figure{Key: "std", Value: s.Std})
}
