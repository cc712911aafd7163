package metrics

import (
	"math"
	"slices"

	"aiperf/internal/stats"
)

// adjustment makes the statistics of an adjusted metric from those of its source; false when it has
// none. All values are in the source's internal unit.
type adjustment func(*population) (stats.Summary, bool)

// population is a distribution and what adjustments want to know of it and its run.
type population struct {
	stats.Summary
	// at returns the values at ascending places of the sorted population.
	at     func(places []int64) []float64
	failed int64
	facts  *RunFacts
}

// errorAdjusted adds one infinite value for every failed request. Percentiles are of the nearest rank,
// because there is nothing between a number and infinity.
func errorAdjusted(p *population) (stats.Summary, bool) {
	if p.failed == 0 {
		return stats.Summary{}, false
	}
	infinite := math.Inf(1)
	n := p.Count + p.failed
	out := stats.Summary{Count: n, Avg: infinite, Min: p.Min, Max: infinite, Sum: infinite, Std: math.NaN()}
	places := make([]int64, len(PercentileRanks))
	for i, q := range PercentileRanks {
		places[i] = int64(math.RoundToEven(q / 100 * float64(n-1)))
	}
	finite, _ := slices.BinarySearch(places, p.Count)
	out.Percentiles = p.at(places[:finite])
	for len(out.Percentiles) < len(places) {
		out.Percentiles = append(out.Percentiles, infinite)
	}
	return out, true
}

// networkAdjusted takes one round trip off every statistic of place.
func networkAdjusted(p *population) (stats.Summary, bool) {
	if p.facts.NetworkRTT == nil {
		return stats.Summary{}, false
	}
	rtt := float64(*p.facts.NetworkRTT)
	less := func(v float64) float64 { return max(0, v-rtt) }
	out := p.Summary
	out.Avg, out.Min, out.Max = less(p.Avg), less(p.Min), less(p.Max)
	out.Sum = max(0, p.Sum-rtt*float64(p.Count))
	out.Percentiles = make([]float64, len(p.Percentiles))
	for i, v := range p.Percentiles {
		out.Percentiles[i] = less(v)
	}
	return out, true
}

// adjustments computes the adjusted metrics of a source that was just described.
func (d *describer) adjustments(source *metric, sum stats.Summary, adjusted []*metric, put func(*metric, stats.Summary)) {
	p := population{Summary: sum, failed: d.watch.errors, facts: &d.facts, at: d.exactly}
	if d.overflow != nil {
		p.at = d.nearly(source, sum.Count)
	}
	for _, m := range adjusted {
		if out, ok := m.adjust(&p); ok {
			put(m, out)
		}
	}
}

// exactly selects among the values just described.
func (d *describer) exactly(places []int64) []float64 {
	slices.Sort(d.values)
	out := make([]float64, len(places))
	for i, place := range places {
		out[i] = d.values[place]
	}
	return out
}

// nearly reads the histogram of a metric of n values.
func (d *describer) nearly(source *metric, n int64) func([]int64) []float64 {
	return func(places []int64) []float64 {
		ranks := make([]float64, len(places))
		for i, place := range places {
			ranks[i] = 100 * float64(place) / float64(max(n-1, 1))
		}
		return d.describeRanks(source, ranks).Percentiles
	}
}
