package report

import "aiperf/internal/measure/metrics"

// figures lists the statistics of a metric as tables order them.
func figures(m *metrics.Metric) []metrics.Statistic {
	s := &m.Stats
	list := []metrics.Statistic{
		{Key: "avg", Value: s.Avg}, {Key: "min", Value: s.Min}, {Key: "max", Value: s.Max}, {Key: "sum", Value: s.Sum},
	}
	if !m.Distribution {
		return list[:1]
	}
	return append(m.AppendPercentiles(list), metrics.Statistic{Key: "std", Value: s.Std})
}
