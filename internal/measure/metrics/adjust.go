package metrics

import (
	"math"
	"slices"

	"aiperf/internal/measure/stats"
)

// adjustment makes the statistics of an adjusted metric from those of its source; false when it has
// none. All values are in the source's internal unit.
type adjustment func(*population) (stats.Summary, bool)

// population is a distribution and what adjustments want to know of it and its run.
type population struct {
	stats.Summary
	ranks  []float64
	bounds bool
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
	nearest := func(q float64) int64 { return int64(math.RoundToEven(q / 100 * float64(n-1))) }
	var places []int64
	for _, q := range p.ranks {
		places = append(places, nearest(q))
	}
	var sides stats.Sides
	if p.bounds {
		sides = stats.SidesOf(p.ranks, n, BoundsConfidence)
		places = append(places, sides.Places()...)
	}
	slices.Sort(places)
	places = slices.Compact(places)
	finite, _ := slices.BinarySearch(places, p.Count)
	found := stats.Lookup(places[:finite], p.at(places[:finite]))
	value := func(place int64) float64 {
		if place >= p.Count {
			return infinite
		}
		return found(place)
	}
	for _, q := range p.ranks {
		out.Percentiles = append(out.Percentiles, value(nearest(q)))
	}
	if p.bounds {
		out.Bounds = sides.Bounds(value)
	}
	return out, true
}

// networkAdjusted subtracts one round trip from every statistic of place.
func networkAdjusted(p *population) (stats.Summary, bool) {
	if p.facts.NetworkRTT == nil {
		return stats.Summary{}, false
	}
	rtt := float64(*p.facts.NetworkRTT)
	less := func(v float64) float64 { return max(0, v-rtt) } // NaN stays
	out := p.Summary
	out.Avg, out.Min, out.Max = less(p.Avg), less(p.Min), less(p.Max)
	out.Sum = max(0, p.Sum-rtt*float64(p.Count))
	out.Percentiles = make([]float64, len(p.Percentiles))
	for i, v := range p.Percentiles {
		out.Percentiles[i] = less(v)
	}
	out.Bounds = nil
	for _, b := range p.Bounds {
		out.Bounds = append(out.Bounds, stats.Range{Low: less(b.Low), High: less(b.High)})
	}
	return out, true
}

// adjustments computes the adjusted metrics of a source that was just described.
func (d *describer) adjustments(source *metric, sum stats.Summary, adjusted []*metric,
	put func(*metric, stats.Summary)) {
	p := population{Summary: sum, ranks: d.ranks, bounds: d.bounds, failed: d.watch.errors, facts: &d.facts}
	p.at = func(places []int64) []float64 { return stats.Select(d.values, places) }
	if d.overflow != nil {
		p.at = func(places []int64) []float64 { return d.histogram(source).At(places) }
	}
	for _, m := range adjusted {
		if out, ok := m.adjust(&p); ok {
			put(m, out)
		}
	}
}
