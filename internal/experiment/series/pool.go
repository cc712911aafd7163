package series

import "aiperf/internal/measure/stats"

// mostKept is the number of values of one metric beyond which percentiles come from a histogram.
const mostKept = 1_000_000

var poolRanks = []float64{50, 90, 95, 99}

// pool is one metric's values over all requests of several runs.
type pool struct {
	moments stats.Moments
	values  []float64
	coarse  *stats.Histogram
	runs    []poolShare
}

// poolShare has the values of one run in a pool.
type poolShare struct {
	label   string
	moments stats.Moments
}

func (p *pool) add(label string, v float64) {
	if len(p.runs) == 0 || p.runs[len(p.runs)-1].label != label {
		p.runs = append(p.runs, poolShare{label: label})
	}
	p.runs[len(p.runs)-1].moments.Add(v)
	p.moments.Add(v)
	if p.coarse != nil {
		p.coarse.Add(v)
		return
	}
	if p.values = append(p.values, v); len(p.values) > mostKept {
		p.coarse = new(stats.Histogram)
		for _, v := range p.values {
			p.coarse.Add(v)
		}
		p.values = nil
	}
}

// percentiles returns the percentiles of poolRanks.
func (p *pool) percentiles() []float64 {
	if p.coarse != nil {
		return p.coarse.Summary(poolRanks).Percentiles
	}
	return stats.Percentiles(p.values, poolRanks)
}

// std returns the standard deviation of the sample, 0 for a single value.
func (p *pool) std() float64 {
	if p.moments.Count() < 2 {
		return 0
	}
	return p.moments.SampleStd()
}
