package metrics

import "aiperf/internal/measure/stats"

const (
	// maxTimeBins bounds the time bins of a run, finestBinNS is their length at first.
	maxTimeBins = 1 << 15
	finestBinNS = 1 << 20
)

// timeBins are the curves of any number of requests in bounded memory (some 5 MB): their averages over
// bins of equal length, at most maxTimeBins of them. Averages of requests, rates and tokens over the whole
// window stay exact; all else, with what is per user or active, is that of the bins' averages.
//
// An interval changes two bins however long it is: what it adds to the bins at its edges stands there,
// and what it adds to all bins between them stands as a step up and a step down.
type timeBins struct {
	stats.Bins[timeBin, *timeBin] // of wall ns
}

// timeBin is one bin: what it holds itself, and how much more than the one before it holds of what
// lasts.
type timeBin struct{ own, step integrals }

// Join implements stats.Bin.
func (b *timeBin) Join(o *timeBin, afterNS int64) {
	b.own.add(&o.own, 1)
	b.step.add(&o.step, 1)
	if afterNS > 0 { // the step comes in the middle of b
		b.own.add(&o.step, -afterNS)
	}
}

// integrals over time are request ns, tokens per second × ns, token ns; as steps, the same without ns.
type integrals struct {
	requests, prefill, decode       int64
	prefillRate, decodeRate, tokens stats.Pair
	imageRate                       stats.Pair
}

// add adds k times o.
func (b *integrals) add(o *integrals, k int64) {
	b.requests += o.requests * k
	b.prefill += o.prefill * k
	b.decode += o.decode * k
	b.prefillRate.AddTimes(o.prefillRate, float64(k))
	b.decodeRate.AddTimes(o.decodeRate, float64(k))
	b.tokens.AddTimes(o.tokens, float64(k))
	b.imageRate.AddTimes(o.imageRate, float64(k))
}

// newTimeBins has one more bin than the requests reach, for the last step down.
func newTimeBins() *timeBins {
	return &timeBins{stats.Bins[timeBin, *timeBin]{Width: finestBinNS, Most: maxTimeBins, Spare: 1}}
}

// add adds a request.
func (t *timeBins) add(r *interval) {
	t.Cover(r.start, r.end)
	start, end := t.edge(r.start), t.edge(r.end)
	start.whole(r, 1)
	end.whole(r, -1)
	if !r.hasFirst() {
		return
	}
	first, rate := t.edge(r.first), r.prefillRate()
	start.prefill(rate, 1)
	first.prefill(rate, -1)
	var tokens float64
	if r.output > 0 {
		tokens = 1 + (r.output-1)/2 // the mean of even growth
	}
	rate = r.decodeRate()
	first.decode(rate, tokens, 1)
	end.decode(rate, tokens, -1)
}

// edge is an instant from which on something is added to the bins, or no longer: where its own bin and the step into
// the next one are kept, and how much of its bin is left.
type edge struct {
	own, step *integrals
	left      int64
}

func (t *timeBins) edge(at int64) edge {
	i := t.Index(at)
	return edge{&t.List[i].own, &t.List[i+1].step, (t.First+int64(i)+1)*t.Width - at}
}

// whole adds sign times what a request is all the time.
func (e *edge) whole(r *interval, sign int64) {
	left := sign * e.left
	e.own.requests += left
	e.step.requests += sign
	e.own.tokens.AddProduct(r.input, float64(left))
	e.step.tokens.AddProduct(r.input, float64(sign))
	e.own.imageRate.AddProduct(r.imageRate, float64(left))
	e.step.imageRate.AddProduct(r.imageRate, float64(sign))
}

// prefill adds sign times what a request is before its first content response.
func (e *edge) prefill(rate float64, sign int64) {
	left := sign * e.left
	e.own.prefill += left
	e.step.prefill += sign
	e.own.prefillRate.AddProduct(rate, float64(left))
	e.step.prefillRate.AddProduct(rate, float64(sign))
}

// decode adds sign times what a request is from its first content response on.
func (e *edge) decode(rate, tokens float64, sign int64) {
	left := sign * e.left
	e.own.decode += left
	e.step.decode += sign
	e.own.decodeRate.AddProduct(rate, float64(left))
	e.step.decodeRate.AddProduct(rate, float64(sign))
	e.own.tokens.AddProduct(tokens, float64(left))
	e.step.tokens.AddProduct(tokens, float64(sign))
}

func (t *timeBins) clone() *timeBins {
	if t == nil {
		return nil
	}
	return &timeBins{*t.Clone()}
}

// segments yields the bins as far as they lie in the window.
func (t *timeBins) segments(window span) segments {
	return segments{n: len(t.List) + 2, each: func(yield func(int64, *level)) {
		at := window.start
		var l level
		var lasting integrals
		for i := range t.List {
			lasting.add(&t.List[i].step, 1)
			start := (t.First + int64(i)) * t.Width
			from, to := max(start, window.start), min(start+t.Width, window.end)
			if to <= from {
				continue
			}
			if from > at {
				l = level{}
				yield(from-at, &l)
			}
			whole := t.List[i].own
			whole.add(&lasting, t.Width)
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
		tokens := b.tokens.Value() / d
		l.concurrency, l.tokensFrom, l.tokensTo = float64(b.requests)/d, tokens, tokens
		l.imageRate = b.imageRate.Value() / d
	}
	if b.prefill > 0 {
		l.prefill, l.prefillRate = float64(b.prefill)/d, b.prefillRate.Value()/d
	}
	if b.decode > 0 {
		l.decode, l.decodeRate = float64(b.decode)/d, b.decodeRate.Value()/d
	}
}
