package servermetrics

import (
	"math"

	"aiperf/internal/watch/prom"
)

var inf = math.Inf(1)

func gaugeOf(name string) *prom.Series {
	return &prom.Series{Family: &prom.Family{Name: name, Type: prom.Gauge}}
}

func counterOf(name string) *prom.Series {
	return &prom.Series{Family: &prom.Family{Name: name, Type: prom.Counter}}
}

func histogramOf(name string, upper ...float64) *prom.Series {
	s := &prom.Series{Family: &prom.Family{Name: name, Type: prom.Histogram}, Upper: upper}
	for _, u := range upper {
		s.Bounds = append(s.Bounds, number(u))
	}
	return s
}

func samplesOf(s *prom.Series, value float64) []prom.Sample {
	return []prom.Sample{{Series: s, Value: value}}
}
