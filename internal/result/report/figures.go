package report

import "aiperf/internal/measure/metrics"

// figure is one statistic of a metric.
type figure struct {
	key   string
	value float64
}

// figures lists the statistics of a metric as tables order them.
func figures(m *metrics.Result) []figure {
	s := &m.Stats
	if !m.Distribution {
		return []figure{{"avg", s.Avg}}
	}
	list := []figure{{"avg", s.Avg}, {"min", s.Min}, {"max", s.Max}, {"sum", s.Sum}}
	for i, key := range percentileKeys {
		list = append(list, figure{key, s.Percentiles[i]})
	}
	for _, p := range m.Further {
		list = append(list, figure{metrics.RankKey(p.Rank), p.Value})
	}
	return append(list, figure{"std", s.Std})
}
