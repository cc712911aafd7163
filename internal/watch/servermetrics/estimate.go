package servermetrics

import (
	"math"
	"slices"

	"aiperf/internal/measure/metrics"
)

// maxPlaced is the number of observations that are placed one by one; larger distributions are scaled to it.
const maxPlaced = 100_000

// Distribution is what a histogram shows about the observations of a stretch of time.
type Distribution struct {
	// Upper are the bounds of the buckets, ascending, +Inf last if present.
	Upper []float64
	// Buckets are the numbers of observations at or below each bound.
	Buckets []int64
	Sum     float64
	Count   int64
	// Learned is what is known about the finite buckets, in their order; nil means nothing.
	Learned []Learned
}

// Learned is what the intervals tell in which all observations fell into one bucket.
type Learned struct {
	// Mean of the observations, weighted by their number; set if Intervals is positive.
	Mean float64
	// Variance is the sample variance of the intervals' unweighted means; defined from three intervals on.
	Variance  float64
	Intervals int
}

// finite returns the number of buckets with a finite bound.
func (d *Distribution) finite() int {
	n := len(d.Buckets)
	if n > 0 && math.IsInf(d.Upper[n-1], 1) {
		n--
	}
	return n
}

// lower returns the lower bound of finite bucket k. Observations are taken as not negative; a first bound below
// zero holds all of its bucket.
func (d *Distribution) lower(k int) float64 {
	if k > 0 {
		return d.Upper[k-1]
	}
	return min(0, d.Upper[0])
}

// own returns the number of observations in bucket k alone.
func (d *Distribution) own(k int) float64 {
	if k == 0 {
		return float64(d.Buckets[0])
	}
	return float64(d.Buckets[k] - d.Buckets[k-1])
}

// estimable reports whether there is anything to estimate percentiles from.
func (d *Distribution) estimable() bool {
	return d.Count > 0 && !math.IsNaN(d.Sum) && !math.IsInf(d.Sum, 0) && d.Sum >= 0 && d.finite() > 0
}

// Estimator estimates percentiles; it reuses its memory. The zero value is ready.
//
// It places every observation within its bucket: around what was learned about the bucket, those above the
// last bound so that the sum is accounted for, then moves all of them a little towards the known sum, and
// takes the percentiles of what it placed.
type Estimator struct {
	values  []float64
	buckets []placed
}

// Estimate returns the percentiles, unless there is nothing to estimate them from.
func (e *Estimator) Estimate(d Distribution) (metrics.Percentiles, bool) {
	if !d.estimable() {
		return metrics.Percentiles{}, false
	}
	if d.Sum == 0 {
		return metrics.Percentiles{}, true
	}
	e.spread(&d)
	if len(e.values) == 0 {
		return metrics.Percentiles{}, false
	}
	if !slices.IsSorted(e.values) {
		slices.Sort(e.values)
	}
	return percentilesOfSorted(e.values), true
}

// spread places the observations.
func (e *Estimator) spread(d *Distribution) {
	e.values, e.buckets = e.values[:0], e.buckets[:0]
	finite := d.finite()
	infinite, total := 0.0, 0.0
	for k := range finite {
		b := newPlaced(d, k)
		total += b.count
		e.buckets = append(e.buckets, b)
	}
	if finite < len(d.Buckets) {
		infinite = d.own(finite)
	}
	total += infinite
	sum := d.Sum
	if total > maxPlaced {
		ratio := maxPlaced / total
		e.scale(ratio)
		infinite *= ratio
		sum *= ratio
	}
	tail := e.tail(sum, infinite, d.Upper[finite-1])
	e.placeFinite(sum - sumOf(tail))
	e.values = append(e.values, tail...)
}

func (e *Estimator) scale(ratio float64) {
	for k := range e.buckets {
		e.buckets[k].count *= ratio
	}
}

// tail returns the observations above the last finite bound: evenly spaced around the mean that the finite
// buckets leave over for them.
func (e *Estimator) tail(sum, infinite, last float64) []float64 {
	if infinite <= 0 {
		return nil
	}
	below := 0.0
	for _, b := range e.buckets {
		if b.count > 0 {
			below += b.count * b.centre()
		}
	}
	sum -= below
	n := math.Ceil(infinite)
	mean := 1.5 * last
	if sum > 0 {
		mean = sum / n
	}
	if mean <= last {
		mean = 1.5 * last
	}
	if n == 1 {
		return []float64{mean}
	}
	highest := 2*mean - last
	if highest <= last {
		highest = 2 * last
	}
	values := make([]float64, int(n))
	for i := range values {
		values[i] = last + (highest-last)*float64(i)/(n-1)
	}
	return values
}

// placeFinite places the observations of the finite buckets, whose sum is known.
func (e *Estimator) placeFinite(sum float64) {
	count := e.count()
	if count > maxPlaced { // by rounding only
		ratio := maxPlaced / count
		e.scale(ratio)
		sum *= ratio
		count = e.count()
	}
	mean := 0.0
	if count != 0 {
		mean = sum / count
	}
	dominant := e.dominant(count)
	for k := range e.buckets {
		b := &e.buckets[k]
		b.from = len(e.values)
		e.values = b.place(e.values, k == dominant, mean)
		b.to = len(e.values)
	}
	e.constrain(sum)
}

func (e *Estimator) count() float64 {
	count := 0.0
	for _, b := range e.buckets {
		count += b.count
	}
	return count
}

// dominant returns the bucket that holds nearly everything, or -1.
func (e *Estimator) dominant(count float64) int {
	const share = 0.95
	largest := 0
	for k, b := range e.buckets {
		if b.count > e.buckets[largest].count {
			largest = k
		}
	}
	if e.buckets[largest].count/count >= share {
		return largest
	}
	return -1
}

// constrain moves the placed observations so that their sum comes closer to the known one: each bucket
// independently, in proportion to its share, and by less than half of its width.
func (e *Estimator) constrain(sum float64) {
	const (
		tolerance = 0.001
		furthest  = 0.4
	)
	total := 0.0
	for k := range e.buckets {
		b := &e.buckets[k]
		b.sum = sumOf(e.values[b.from:b.to])
		total += b.sum
	}
	if total <= 0 || sum <= 0 || math.Abs(sum-total)/sum < tolerance {
		return
	}
	missing := sum - total
	for _, b := range e.buckets {
		if b.from == b.to {
			continue
		}
		limit := furthest * b.width()
		shift := missing * (b.sum / total) / float64(b.to-b.from)
		shift = min(max(shift, -limit), limit)
		for i := b.from; i < b.to; i++ {
			e.values[i] = b.clip(e.values[i] + shift)
		}
	}
}
