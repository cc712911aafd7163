package metrics

import (
	"math"
	"slices"
)

const (
	// maxTimeBins bounds the time bins of a run, finestBinNS is their length at first.
	maxTimeBins = 1 << 15
	finestBinNS = 1 << 20
)

// timeBins are the curves of any number of requests in bounded memory (some 5 MB): their averages over
// bins of equal length, at most maxTimeBins of them. Bins start at multiples of their length, which
// doubles when the run outgrows them, so that they depend on the requests alone and not on their order.
// Averages of requests, rates and tokens over the whole window stay exact; all else, with what is per
// user or active, is that of the bins' averages.
//
// An interval changes two bins however long it is: what it adds to the bins at its edges stands there,
// and what it adds to all bins between them stands as a step up and a step down.
type timeBins struct {
	lengthNS int64
	first    int64     // number of the first bin
	bins     []timeBin // one more than the requests reach, for the last step down
	reach    span      // of all requests
}

// timeBin is one bin: what it holds itself, and how much more than the one before it holds of what
// lasts.
type timeBin struct{ own, step integrals }

// integrals over time are request ns, tokens per second × ns, token ns; as steps, the same without ns.
type integrals struct {
	requests, prefill, decode       int64
	prefillRate, decodeRate, tokens pair
	imageRate                       pair
}

// add adds k times o.
func (b *integrals) add(o *integrals, k int64) {
	b.requests += o.requests * k
	b.prefill += o.prefill * k
	b.decode += o.decode * k
	b.prefillRate.addTimes(o.prefillRate, float64(k))
	b.decodeRate.addTimes(o.decodeRate, float64(k))
	b.tokens.addTimes(o.tokens, float64(k))
	b.imageRate.addTimes(o.imageRate, float64(k))
}

// addTimes adds k times o, exactly but for the precision of p.
func (p *pair) addTimes(o pair, k float64) {
	for _, v := range [...]float64{o.high, o.low} {
		product := v * k
		p.add(product)
		p.add(math.FMA(v, k, -product))
	}
}

func newTimeBins() *timeBins { return &timeBins{lengthNS: finestBinNS} }

// add takes a request.
func (t *timeBins) add(r *interval) {
	t.cover(r.start, r.end)
	t.interval(r.start, r.end, &integrals{requests: 1, tokens: pair{high: r.input}, imageRate: pair{high: r.imageRate}})
	if !r.hasFirst() {
		return
	}
	t.interval(r.start, r.first, &integrals{prefill: 1, prefillRate: pair{high: r.prefillRate()}})
	decode := integrals{decode: 1, decodeRate: pair{high: r.decodeRate()}}
	if r.output > 0 {
		decode.tokens.high = 1 + (r.output-1)/2 // the mean of even growth
	}
	t.interval(r.first, r.end, &decode)
}

// interval adds a constant from one instant to another.
func (t *timeBins) interval(from, to int64, value *integrals) {
	t.edge(from, value, 1)
	t.edge(to, value, -1)
}

// edge adds sign × value from an instant on.
func (t *timeBins) edge(at int64, value *integrals, sign int64) {
	number := floorDiv(at, t.lengthNS)
	i := number - t.first
	t.bins[i].own.add(value, sign*((number+1)*t.lengthNS-at))
	t.bins[i+1].step.add(value, sign)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// cover makes room for the bins from one instant to another.
func (t *timeBins) cover(from, to int64) {
	t.reach.include(from, to)
	first, last := floorDiv(t.reach.start, t.lengthNS), floorDiv(t.reach.end, t.lengthNS)
	for last-first >= maxTimeBins {
		t.coarsen()
		first, last = floorDiv(first, 2), floorDiv(last, 2)
	}
	if len(t.bins) == 0 {
		t.first = first
	}
	if before := t.first - first; before > 0 {
		t.bins = slices.Concat(make([]timeBin, before), t.bins)
		t.first = first
	}
	if more := int(last-t.first) + 2 - len(t.bins); more > 0 {
		t.bins = append(t.bins, make([]timeBin, more)...)
	}
}

// coarsen doubles the length of the bins.
func (t *timeBins) coarsen() {
	first := floorDiv(t.first, 2)
	last := floorDiv(t.first+int64(len(t.bins))-1, 2)
	bins := make([]timeBin, 0, maxTimeBins+2)
	if len(t.bins) > 0 {
		bins = bins[:last-first+1]
	}
	for i := range t.bins {
		number := t.first + int64(i)
		into, from := &bins[floorDiv(number, 2)-first], &t.bins[i]
		into.own.add(&from.own, 1)
		into.step.add(&from.step, 1)
		if number&1 == 1 { // a step in the middle of the new bin
			into.own.add(&from.step, -t.lengthNS)
		}
	}
	t.first, t.bins, t.lengthNS = first, bins, 2*t.lengthNS
}

// merge adds the requests of o.
func (t *timeBins) merge(o *timeBins) {
	if len(o.bins) == 0 {
		return
	}
	o = o.clone()
	t.cover(o.reach.start, o.reach.end)
	for o.lengthNS < t.lengthNS {
		o.coarsen()
	}
	for t.lengthNS < o.lengthNS {
		t.coarsen()
	}
	t.cover(o.reach.start, o.reach.end)
	for i := range o.bins {
		// A spare bin of o that t has no room for is empty.
		if at := o.first + int64(i) - t.first; at >= 0 && at < int64(len(t.bins)) {
			t.bins[at].own.add(&o.bins[i].own, 1)
			t.bins[at].step.add(&o.bins[i].step, 1)
		}
	}
}

func (t *timeBins) clone() *timeBins {
	if t == nil {
		return nil
	}
	c := *t
	c.bins = slices.Clone(t.bins)
	return &c
}

// segments yields the bins as far as they lie in the window.
func (t *timeBins) segments(window span) segments {
	return segments{len(t.bins) + 2, func(yield func(int64, *level)) {
		at := window.start
		var l level
		var lasting integrals
		for i := range t.bins {
			lasting.add(&t.bins[i].step, 1)
			start := (t.first + int64(i)) * t.lengthNS
			from, to := max(start, window.start), min(start+t.lengthNS, window.end)
			if to <= from {
				continue
			}
			if from > at {
				l = level{}
				yield(from-at, &l)
			}
			whole := t.bins[i].own
			whole.add(&lasting, t.lengthNS)
			whole.level(&l, to-from)
			yield(to-from, &l)
			at = to
		}
		if window.end > at {
			l = level{}
			yield(window.end-at, &l)
		}
	}}
}

// level writes the averages over a time.
func (b *integrals) level(l *level, ns int64) {
	*l = level{}
	d := float64(ns)
	if b.requests > 0 {
		tokens := b.tokens.value() / d
		l.concurrency, l.tokensFrom, l.tokensTo = float64(b.requests)/d, tokens, tokens
		l.imageRate = b.imageRate.value() / d
	}
	if b.prefill > 0 {
		l.prefill, l.prefillRate = float64(b.prefill)/d, b.prefillRate.value()/d
	}
	if b.decode > 0 {
		l.decode, l.decodeRate = float64(b.decode)/d, b.decodeRate.value()/d
	}
}
