package capacity

import (
	"math"
	"strconv"
	"strings"

	"aiperf/internal/experiment/search"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
)

// condition is a filter with what the requests so far say of it.
type condition struct {
	filter search.Filter
	// value returns what a request adds: the value of the metric in its display unit; false for a request that the
	// figure does not have.
	value func(*record.Record) (float64, bool)
	kind  conditionKind
	// share is the least share of requests that must pass; of quantiles and shares only.
	share float64
	// rank is that of a quantile, between 0 and 1.
	rank float64
	// scale is the figure of a share of 1.
	scale float64

	values, passes Blocks
	sketch         stats.Sketch
	worst          float64
	sum            float64
	// sinceS and sumThen are where the interval of a rate began, in seconds since the start of the phase; counting
	// reports that one has, begun that a request was added.
	sinceS, sumThen float64
	counting, begun bool
	// inFlight is how many requests are in flight at a time, at least 1.
	inFlight float64
	// metEvidence and violatedEvidence are the largest logarithms of e-values at any look so far: evidence once found
	// stays valid.
	metEvidence, violatedEvidence float64
}

// conditionKind is what kind of figure a filter is about.
type conditionKind uint8

const (
	// notJudged figures are known at the end of a run only.
	notJudged conditionKind = iota
	// quantile and fraction figures are conditions on the share of requests that pass.
	quantile
	fraction
	// mean figures are averages, rate figures sums over requests per second.
	mean
	rate
	// extreme figures, and counts that only grow, can be violated for certain, never met.
	extreme
	count
)

// newCondition binds a filter to the requests of a run.
func newCondition(f search.Filter) *condition {
	c := &condition{filter: f, scale: 1, metEvidence: math.Inf(-1), violatedEvidence: math.Inf(-1)}
	if c.bindShare() {
		return c
	}
	d, known := metrics.Lookup(metrics.Canonical(f.Metric))
	if !known || d.Kind != metrics.KindRecord || d.IsList() {
		return c
	}
	factor, err := metrics.RatioOf(d.Unit, d.Display)
	if err != nil {
		return c
	}
	failed := d.Flags.Has(metrics.ErrorOnly)
	c.value = func(r *record.Record) (float64, bool) {
		v, ok := d.ValueOf(&r.Facts)
		return v * factor, ok && r.IsError() == failed && !r.ContextOverflowSkip
	}
	rank, percentile := rankOf(f.Stat)
	upper := f.Op == search.LT || f.Op == search.LE
	switch {
	case percentile:
		c.kind, c.rank, c.share = quantile, rank, rank
		if !upper {
			c.share = 1 - rank
		}
	case f.Stat == "avg":
		c.kind = mean
	case f.Stat == "max" && upper, f.Stat == "min" && !upper:
		c.kind = extreme
	}
	return c
}

// rankOf reads the name of a percentile, such as p99.
func rankOf(stat string) (rank float64, ok bool) {
	digits, ok := strings.CutPrefix(stat, "p")
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseFloat(digits, 64)
	return v / 100, err == nil && v > 0 && v < 100
}

// bindShare binds the filters of figures that are shares or counts of requests.
func (c *condition) bindShare() bool {
	f := c.filter
	upper := f.Op == search.LT || f.Op == search.LE
	indicator := func(holds func(*record.Record) bool) func(*record.Record) (float64, bool) {
		return func(r *record.Record) (float64, bool) {
			if r.ContextOverflowSkip {
				return 0, false
			}
			if holds(r) {
				return 1, true
			}
			return 0, true
		}
	}
	failed := func(r *record.Record) bool { return r.IsError() }
	good := func(r *record.Record) bool { v, ok := r.Get(record.Good); return ok && v == 1 && !r.IsError() }
	switch f.Metric {
	case "request_error_rate":
		c.value, c.scale = indicator(failed), 100
	case "good_request_fraction":
		c.value = indicator(good)
	case "request_throughput":
		c.value, c.kind = indicator(func(r *record.Record) bool { return !r.IsError() }), rate
		return true
	case "goodput":
		c.value, c.kind = indicator(good), rate
		return true
	case "output_token_throughput":
		tokens, _ := metrics.Lookup("output_sequence_length")
		c.value, c.kind = func(r *record.Record) (float64, bool) {
			v, ok := tokens.ValueOf(&r.Facts)
			return v, ok && !r.IsError()
		}, rate
		return true
	case "error_request_count":
		if c.value = indicator(failed); upper {
			c.kind = count
		}
		return true
	default:
		return false
	}
	limit := f.Threshold / c.scale
	// A share is at most that of a filter with an upper limit, and at least that of one with a lower limit. Limits at
	// the ends of the range are met or violated by a single request.
	if limit > 0 && limit < 1 {
		c.kind, c.share = fraction, limit
		if upper {
			c.share = 1 - limit
		}
	} else if upper == (limit <= 0) {
		c.kind, c.share = extreme, 1
	}
	return true
}

// add adds a request.
func (c *condition) add(r *record.Record) {
	if c.value == nil {
		return
	}
	v, ok := c.value(r)
	if !ok {
		return
	}
	c.sum, c.begun = c.sum+v, true
	if c.kind == rate {
		return
	}
	v *= c.scale
	c.values.Add(v)
	c.sketch.Add(v)
	passed := c.filter.Passes(v)
	if c.kind == fraction {
		upper := c.filter.Op == search.LT || c.filter.Op == search.LE
		passed = (v > 0) != upper
	}
	if passed {
		c.passes.Add(1)
	} else {
		c.passes.Add(0)
	}
	if m := c.filter.Margin(v); c.values.N() == 1 || m > c.worst {
		c.worst = m
	}
}

// rateInterval is the least length of the intervals of a rate, in seconds.
const rateInterval = 0.1

// closeInterval ends an interval of a rate at an instant, in seconds since the start of the phase. The first one begins
// with the first request that counts.
func (c *condition) closeInterval(at float64) {
	if c.kind != rate || !c.begun {
		return
	}
	if length := at - c.sinceS; c.counting && length >= rateInterval {
		c.values.Add((c.sum - c.sumThen) / length)
	} else if c.counting {
		return
	}
	c.counting, c.sinceS, c.sumThen = true, at, c.sum
}

// evidence returns the logarithms of the e-values that the filter is met and that it is violated. The counts are
// divided by the inflation of the variance first, so that dependent requests weigh as their number of independent ones.
func (c *condition) evidence(confidence float64) (met, violated float64) {
	n, tau := c.values.N(), c.inflation()
	none := math.Inf(-1)
	switch c.kind {
	case quantile, fraction:
		passed := c.passes.N() * c.passes.Mean()
		return Evidence(passed/tau, (c.passes.N()-passed)/tau, c.share)
	case mean, rate:
		// Asymptotic: met or violated by the interval at the level asked for, nothing in between.
		half := MeanHalfWidth(c.values.Deviation(), n/tau, confidence)
		m, enough := c.filter.Margin(c.values.Mean()), n/tau >= minIndependent
		met, violated = none, none
		if certain := -math.Log(1 - confidence); enough && m+half < 0 {
			met = certain
		} else if enough && m-half > 0 {
			violated = certain
		}
		return met, violated
	case extreme:
		if n > 0 && c.passes.Mean() < 1 {
			return none, math.Inf(1)
		}
	case count:
		if !c.filter.Passes(c.sum) && c.filter.Margin(c.sum) >= 0 {
			return none, math.Inf(1)
		}
	}
	return none, none
}

// minIndependent is the number of independent requests from which the interval of a mean is trusted: it is asymptotic,
// and latencies are skewed.
const minIndependent = 50

// weigh adds a look at the evidence so far.
func (c *condition) weigh(confidence float64) {
	met, violated := c.evidence(confidence)
	c.metEvidence, c.violatedEvidence = max(c.metEvidence, met), max(c.violatedEvidence, violated)
}

// minDependenceWaves is the number of requests, in multiples of those in flight together, from which the means of
// blocks show their dependence: with fewer there are less than eight blocks of a wave. Below, all that are in flight
// together count as one.
const minDependenceWaves = 8

// inflation is by how much the variance is above that of independent requests.
func (c *condition) inflation() float64 {
	d := c.values.Inflation()
	if c.kind == quantile || c.kind == fraction {
		d = Dependence(&c.values, &c.passes)
	}
	if c.values.N() < minDependenceWaves*c.inFlight {
		d = max(d, c.inFlight)
	}
	return d
}

// figure returns the value so far and its standard error, NaN where it is not known.
func (c *condition) figure() (value, deviation float64) {
	n, tau := c.values.N(), c.inflation()
	if n == 0 {
		return math.NaN(), math.NaN()
	}
	spread := c.values.Deviation() * math.Sqrt(tau/n)
	switch c.kind {
	case fraction, mean, rate:
		return c.values.Mean(), spread
	case count:
		return c.sum, math.NaN()
	case extreme:
		return c.filter.Threshold + c.signed(c.worst), math.NaN()
	case quantile:
		return c.quantile(c.rank)
	}
	return math.NaN(), math.NaN()
}

// quantile returns a quantile of the values so far and its standard error: the distance of the order statistics one
// standard error of the rank to either side (Woodruff).
func (c *condition) quantile(rank float64) (value, deviation float64) {
	d := math.Sqrt(rank * (1 - rank) * c.inflation() / c.values.N())
	ranks := []float64{100 * max(0, rank-d), 100 * rank, 100 * min(1, rank+d)}
	p := c.sketch.Summary(ranks).Percentiles
	return p[1], (p[2] - p[0]) / 2
}

// signed returns the distance from the threshold that a margin stands for.
func (c *condition) signed(margin float64) float64 {
	if c.filter.Op == search.LT || c.filter.Op == search.LE {
		return margin
	}
	return -margin
}
