package compare

import (
	"math"
	"math/rand/v2"
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/stats"
)

// A rate of a run is what its requests yielded over the time from the first send to the last response. Its noise is
// found from its course: what each request yielded is spread evenly over the time that the request took, as tokens come,
// so that its completion is no event of its own; blocks of consecutive bins of time are resampled (the circular block
// bootstrap of Politis and Romano, "A circular block-resampling procedure for stationary data", 1992), since requests
// that share a server depend on each other. The length of a block is the one that Politis and White choose from the
// correlation of the series ("Automatic block-length selection for the dependent bootstrap", 2004, with the correction
// of Patton, Politis and White, 2009), but at least the mean latency.

// yields are the metrics of a request whose sum over the run's time is the rate; none counts requests.
var yields = map[string][]string{
	"request_throughput":      nil,
	"output_token_throughput": {"output_sequence_length"},
	"input_token_throughput":  {"input_sequence_length"},
	"total_token_throughput":  {"input_sequence_length", "output_sequence_length"},
	"goodput":                 {"good_request_count"},
}

const (
	// fewestBlocks is the number of blocks from which their spread means anything.
	fewestBlocks  = 5
	rateBins      = 512
	rateResamples = 1000
)

// course is a rate over the time of a run.
type course struct {
	// rate is that of the run, per second; bins are the yields of equal parts of its time, relative to their mean.
	rate float64
	bins []float64
	// steady is the number of bins up to the last send: what follows is the end of what was sent until then, which is
	// slower in every run. How long that takes is drawn from the latencies, in bins: ending requests are under way.
	steady    int
	latencies []float64
	ending    int
	// latency is the mean time of a request, in bins.
	latency float64
}

// courseOf returns the course of a rate; false without the times of the requests.
func courseOf(v *requestValues, tag string) (c course, ok bool) {
	parts, known := yields[tag]
	if !known || len(v.ends) < 2 {
		return c, false
	}
	begin, last, end := v.starts[0], v.starts[0], v.ends[0]
	for i := range v.ends {
		if v.starts[i] <= 0 || v.ends[i] < v.starts[i] {
			return c, false
		}
		begin, last, end = min(begin, v.starts[i]), max(last, v.starts[i]), max(end, v.ends[i])
	}
	if end <= begin {
		return c, false
	}
	width := float64(end-begin) / rateBins
	// The course is a sum of steps: changes of the rate at the edges of bins, and what is left of a bin where one begins.
	changes, total, busy := make([]float64, rateBins+2), 0.0, 0.0
	for i := range v.ends {
		yield := 1.0
		if parts != nil {
			yield = v.sum(parts, i)
		}
		from, to := float64(v.starts[i]-begin)/width, float64(v.ends[i]-begin)/width
		total, busy = total+yield, busy+to-from
		c.latencies = append(c.latencies, to-from)
		if v.ends[i] > last {
			c.ending++
		}
		to = max(to, from+1e-6)
		step(changes, from, yield/(to-from))
		step(changes, to, -yield/(to-from))
	}
	c.bins = make([]float64, rateBins)
	level := 0.0
	for i := range c.bins {
		level += changes[i]
		c.bins[i] = level * rateBins / total
	}
	c.steady = int(float64(last-begin) / width)
	c.rate, c.latency = total/float64(end-begin)*1e9, busy/float64(len(v.ends))
	return c, total > 0
}

// step adds to the sums of changes what makes a level that begins at a place within a bin.
func step(changes []float64, at, level float64) {
	bin := int(at)
	part := at - float64(bin)
	if bin < rateBins {
		changes[bin] += level * (1 - part)
		changes[bin+1] += level * part
	}
}

// sum returns the sum of metrics of a request; one that it lacks counts as 0.
func (v *requestValues) sum(tags []string, i int) (sum float64) {
	for _, tag := range tags {
		if c := v.byTag[tag]; c != nil && i < len(c.present) && c.present[i] {
			sum += c.values[i]
		}
	}
	return sum
}

// block returns the length of a block, in bins, and how many cover the steady part of the run.
func (c *course) block() (length, blocks int) {
	length = max(1, int(math.Ceil(c.latency)), min(int(math.Ceil(blockLength(c.bins[:c.steady]))),
		c.steady/fewestBlocks))
	return length, c.steady / length
}

// spread is the standard error of the rate, by resampling blocks, and the degrees of freedom that it has.
func (c *course) spread(r *rand.Rand) (se, freedom float64, ok bool) {
	length, blocks := c.block()
	if blocks < fewestBlocks {
		return 0, 0, false
	}
	// Sums from the beginning of the series, which is continued at its end: a block is a difference of two.
	n := c.steady
	sums := make([]float64, n+length+1)
	for i := range n + length {
		sums[i+1] = sums[i] + c.bins[i%n]
	}
	rates := make([]float64, rateResamples)
	for k := range rates {
		for range blocks {
			at := r.IntN(n)
			rates[k] += (sums[at+length] - sums[at]) / float64(blocks*length)
		}
	}
	freedom = float64(blocks - 1)
	// Resampling understates the variance by (blocks − 1) / blocks.
	steady := momentsOf(rates).variance * float64(blocks) / freedom * float64(n) * float64(n)
	ending := c.endingVariance(r)
	// Satterthwaite's degrees of freedom; those of the end are the requests under way.
	if both := steady + ending; both > 0 {
		freedom = both * both / (steady*steady/freedom + ending*ending/float64(max(1, c.ending)))
	}
	se = c.rate / rateBins * math.Sqrt(steady+ending)
	return se, freedom, artifact.Finite(se)
}

// endingVariance is that of the time from the last send to the last response, in bins: of the requests under way then,
// each has an even share of its latency to go.
func (c *course) endingVariance(r *rand.Rand) float64 {
	const most = 256
	// A request under way is a long one more often than a request is: by its length.
	lengths := make([]float64, len(c.latencies)+1)
	for i, l := range c.latencies {
		lengths[i+1] = lengths[i] + l
	}
	longest := make([]float64, rateResamples/4)
	for k := range longest {
		for i := range min(c.ending, most) {
			left := c.latencies[r.IntN(len(c.latencies))]
			if i > 0 {
				at, _ := slices.BinarySearch(lengths[1:], r.Float64()*lengths[len(c.latencies)])
				left = r.Float64() * c.latencies[min(at, len(c.latencies)-1)]
			}
			longest[k] = max(longest[k], left)
		}
	}
	return momentsOf(longest).variance
}

// fromRates is the interval of the difference of two rates: Student's, with the errors of both and Welch's degrees of
// freedom. Its random numbers are always the same.
func fromRates(base, next *requestValues, tag string, confidence float64) (interval, bool) {
	a, okA := courseOf(base, tag)
	b, okB := courseOf(next, tag)
	if !okA || !okB {
		return interval{}, false
	}
	r := rand.New(rand.NewPCG(seedOfBootstrap, streamSeed))
	x, m, okA := a.spread(r)
	y, n, okB := b.spread(r)
	if !okA || !okB {
		return interval{method: MethodTooFew}, false
	}
	d := b.rate - a.rate
	if x == 0 && y == 0 {
		return interval{d, d, MethodBlocks}, true
	}
	u, v := x*x, y*y
	half := stats.StudentT(confidence, (u+v)*(u+v)/(u*u/m+v*v/n)) * math.Sqrt(u+v)
	return interval{d - half, d + half, MethodBlocks}, true
}

// blockLength is that of Politis and White for the circular block bootstrap of a mean: (2 G² / D)^⅓ n^⅓ with
// D = 4/3 g(0)², where g(0) and G are sums of autocovariances under a flat-top window whose width follows from the lag
// from which on correlations are insignificant.
func blockLength(series []float64) float64 {
	n := len(series)
	if n < 4 {
		return 1
	}
	mean := 0.0
	for _, v := range series {
		mean += v / float64(n)
	}
	covariance := func(lag int) (sum float64) {
		for i := lag; i < n; i++ {
			sum += (series[i] - mean) * (series[i-lag] - mean)
		}
		return sum / float64(n)
	}
	most := min(n/2, int(math.Ceil(math.Sqrt(float64(n))))+5, 500)
	r := make([]float64, most+1)
	for lag := range r {
		r[lag] = covariance(lag)
	}
	if r[0] <= 0 {
		return 1
	}
	window := 2 * significantLag(r, n)
	g, long := 0.0, r[0]
	for lag := 1; lag <= min(window, most); lag++ {
		weight := 1.0
		if share := float64(lag) / float64(window); share > 0.5 {
			weight = 2 * (1 - share)
		}
		g += 2 * weight * float64(lag) * r[lag]
		long += 2 * weight * r[lag]
	}
	if long <= 0 || g == 0 {
		return 1
	}
	return math.Cbrt(2 * g * g / (4. / 3 * long * long) * float64(n))
}

// significantLag returns the last lag before a stretch of insignificant autocorrelations.
func significantLag(covariances []float64, n int) int {
	size := math.Log10(float64(n))
	limit := 2 * math.Sqrt(size/float64(n))
	stretch := max(5, int(math.Ceil(math.Sqrt(size))))
	calm := 0
	for lag := 1; lag < len(covariances); lag++ {
		if math.Abs(covariances[lag]/covariances[0]) >= limit {
			calm = 0
			continue
		}
		if calm++; calm == stretch {
			return max(1, lag-stretch)
		}
	}
	return max(1, len(covariances)-1-calm)
}
