package servermetrics

import (
	"strings"

	"aiperf/internal/measure/timeline"
	"aiperf/internal/watch/prom"
)

// Curves returns the series of a store over time: gauges as they were, counters as rates, histograms as the mean of
// what was observed between scrapes. Of pages that several servers answered in turn there are only gauges. Families are in the order of their names.
func Curves(s *Store) []timeline.Curve {
	families, _ := s.Families()
	mixed := s.mixed()
	var out []timeline.Curve
	var samples Samples
	for i := range families {
		f := &families[i]
		for _, series := range f.Series {
			series.Read(&samples, everything)
			if samples.Len() == 0 || mixed[series.endpoint] && series.Grows() {
				continue
			}
			c := NewCurve(series.endpoint.url, f.Name, f.Type, prom.InferUnit(f.Name, f.Help))
			c.Labels = strings.Trim(LabelText(series.Labels), "{}")
			var values, counts []float64
			for k := range samples.Len() {
				c.TimeNS = append(c.TimeNS, samples.TimestampNS(k))
				if f.Type == prom.Histogram {
					values, counts = append(values, samples.Sum(k)), append(counts, samples.Count(k))
				} else {
					values = append(values, samples.Value(k))
				}
			}
			SetValues(&c, f.Type, values, counts)
			out = append(out, c)
		}
	}
	return out
}

// NewCurve returns an empty curve of a family.
func NewCurve(url, name string, t prom.Type, unit string) timeline.Curve {
	c := timeline.Curve{Source: prom.Display(url), Name: name, Unit: unit}
	switch t {
	case prom.Counter:
		c.What = timeline.Rate
		c.Unit += "/s"
	case prom.Histogram:
		c.What = timeline.Mean
	}
	return c
}

// SetValues makes the values of a curve of what a series had: values, or the sums and counts of a histogram.
func SetValues(c *timeline.Curve, t prom.Type, values, counts []float64) {
	switch t {
	case prom.Counter:
		c.Values = timeline.Rates(c.TimeNS, values)
	case prom.Histogram:
		c.Values = timeline.Means(values, counts)
	default:
		c.Values = values
	}
}
