// Package twin compares recorded requests with the requests of their replay: when they came, how long prompts and
// replies were, how many turns sessions had, what prompts shared, and how many requests were in flight.
//
// Vocabulary: a side is the recording as it was to be played, or the replay; its facts are bounded, so that they can be
// stored. A measure is one property of both sides; its distance is 0 where both are the same and at most 1.
//
// The invariant: both sides are reduced to facts by the same function, and distances are functions of the facts alone.
// The package never concludes anything: what a distance means is said by the judgement of the run.
package twin

import (
	"cmp"
	"math"
	"slices"
)

// Most is the number of requests up to which sides are compared.
const Most = 1_000_000

// Request is one request of a side. Times are milliseconds; a time that is not known is NaN, a length -1.
type Request struct {
	// Session tells the sessions of the side apart, Turn is the place in it, from 0.
	Session uint64
	Turn    int
	// AtMS is when it was sent, from any instant; TookMS the time until its reply had ended; ThinkMS the time since the
	// turn before had ended.
	AtMS, TookMS, ThinkMS float64
	// Input and Output are the lengths of prompt and reply in tokens. Failed requests have no reply.
	Input, Output int64
	Failed        bool
}

// Cache counts the tokens of prompts, and those of them that a cache without bounds would have known: tokens in whole
// blocks at the beginning of a prompt that were sent before.
type Cache struct {
	Known  int64 `json:"known_tokens"`
	Tokens int64 `json:"prompt_tokens"`
}

// Share is the part of the tokens that were known.
func (c *Cache) Share() float64 { return float64(c.Known) / float64(c.Tokens) }

// Facts are what is known of a side. What is not known is nil.
type Facts struct {
	Requests int64 `json:"requests"`
	Sessions int64 `json:"sessions"`
	// Scheduled reports that the times of the side are to be kept.
	Scheduled bool `json:"scheduled,omitempty"`
	// SessionStarts and Starts count from the first start, in milliseconds.
	SessionStarts *Sample `json:"session_starts_ms,omitempty"`
	Starts        *Sample `json:"starts_ms,omitempty"`
	// Inputs and Outputs are tokens, Turns requests of a session, Thinks milliseconds.
	Inputs  *Sample `json:"input_tokens,omitempty"`
	Outputs *Sample `json:"output_tokens,omitempty"`
	Turns   *Sample `json:"turns,omitempty"`
	Thinks  *Sample `json:"think_ms,omitempty"`
	// Flight are the requests in flight over time.
	Flight *Flight `json:"in_flight,omitempty"`
	// Cache is what a cache without bounds knows, Server the share of prompt tokens that the server took from its own.
	Cache  *Cache   `json:"cache,omitempty"`
	Server *float64 `json:"server_cache,omitempty"`
}

// Recorded returns the facts of recorded requests, in any order. A property that is not known of each request is not known
// at all.
func Recorded(list []Request) Facts { return factsOf(list, true, nil) }

// Replayed returns the facts of the requests of a replay, in any order; the bins of their flight are those of the
// recording, nil if there are none.
func Replayed(list []Request, recorded *Flight) Facts { return factsOf(list, false, recorded) }

func factsOf(list []Request, strict bool, like *Flight) Facts {
	f := Facts{Requests: int64(len(list))}
	first := math.Inf(1)
	for i := range list {
		first = min(first, list[i].AtMS)
	}
	turns := map[uint64]float64{}
	var opened, starts, inputs, outputs, thinks collector
	for i := range list {
		q := &list[i]
		turns[q.Session]++
		starts.add(q.AtMS-first, true)
		if q.Turn == 0 {
			opened.add(q.AtMS-first, true)
		} else {
			thinks.add(q.ThinkMS, true)
		}
		inputs.add(float64(q.Input), q.Input >= 0)
		if !q.Failed {
			outputs.add(float64(q.Output), q.Output >= 0)
		}
	}
	var perSession collector
	for _, n := range turns {
		perSession.add(n, true)
	}
	f.Sessions = int64(len(turns))
	for _, x := range []struct {
		to   **Sample
		from *collector
	}{{&f.SessionStarts, &opened}, {&f.Starts, &starts}, {&f.Inputs, &inputs}, {&f.Outputs, &outputs},
		{&f.Turns, &perSession}, {&f.Thinks, &thinks}} {
		if len(x.from.values) > 0 && !(strict && x.from.unknown) {
			*x.to = newSample(x.from.values)
		}
	}
	f.Flight = newFlight(list, first, like)
	return f
}

// collector collects the values of a property.
type collector struct {
	values  []float64
	unknown bool
}

func (c *collector) add(v float64, known bool) {
	if !known || math.IsNaN(v) || math.IsInf(v, 0) {
		c.unknown = true
		return
	}
	c.values = append(c.values, v)
}

// Sample is a distribution. Up to a thousand values are kept as they are; of more, a thousand that stand for all, which
// moves a distance by at most 0.001.
type Sample struct {
	Count  int64     `json:"count"`
	Mean   float64   `json:"mean"`
	Max    float64   `json:"max"`
	Values []float64 `json:"values"` // sorted
}

const kept = 1000

func newSample(values []float64) *Sample {
	slices.Sort(values)
	s := &Sample{Count: int64(len(values)), Max: values[len(values)-1], Values: values}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	s.Mean = sum / float64(len(values))
	if n := len(values); n > kept {
		s.Values = make([]float64, kept)
		for i := range s.Values { // the middle of each of so many equal parts
			s.Values[i] = values[(2*i+1)*n/(2*kept)]
		}
	}
	for i, v := range s.Values { // a thousandth of a unit is enough, and short in a file
		s.Values[i] = math.Round(v*1000) / 1000
	}
	return s
}

// Distance is the Kolmogorov-Smirnov distance of two distributions, the largest difference of their shares up to a value:
// max over x of F(x) − G(x + slack) and G(x) − F(x + slack). Values that differ by no more than the slack count as equal.
func Distance(a, b *Sample, slack float64) float64 {
	return max(ahead(a.Values, b.Values, slack), ahead(b.Values, a.Values, slack))
}

// ahead is the largest lead of the distribution a before b; both are sorted.
func ahead(a, b []float64, slack float64) (lead float64) {
	n, m := float64(len(a)), float64(len(b))
	j := 0
	for i := range a {
		if i+1 < len(a) && a[i+1] == a[i] {
			continue // its last one counts all
		}
		for j < len(b) && b[j] <= a[i]+slack {
			j++
		}
		lead = max(lead, float64(i+1)/n-float64(j)/m)
	}
	return lead
}

// Flight are the requests in flight: Means over equal bins of time from the first start, Mean over the whole time, and
// the largest number.
type Flight struct {
	BinMS float64   `json:"bin_ms"`
	Mean  float64   `json:"mean"`
	Peak  float64   `json:"peak"`
	Means []float64 `json:"means"`
}

// bins is how many a side has of its own; mostBins bounds those of a side that lasts longer than the other.
const (
	bins     = 100
	mostBins = 10 * bins
)

// newFlight returns nil where the times are not known.
func newFlight(list []Request, first float64, like *Flight) *Flight {
	end := first
	for i := range list {
		if t := list[i].AtMS + list[i].TookMS; math.IsNaN(t) {
			return nil
		} else if t > end {
			end = t
		}
	}
	span := end - first
	if len(list) == 0 || !(span > 0) {
		return nil
	}
	f := &Flight{BinMS: span / bins, Means: make([]float64, bins)}
	if like != nil {
		f.BinMS = like.BinMS
		f.Means = make([]float64, int(min(math.Ceil(span/f.BinMS), mostBins)))
	}
	total := 0.0
	for i := range list {
		total += list[i].TookMS
		f.spread(list[i].AtMS-first, list[i].TookMS)
	}
	for i := range f.Means {
		f.Means[i] = math.Round(f.Means[i]/f.BinMS*1e4) / 1e4
	}
	f.Mean, f.Peak = total/span, peak(list)
	return f
}

// spread adds the time of a request to the bins in which it passes.
func (f *Flight) spread(at, took float64) {
	for i := min(int(at/f.BinMS), len(f.Means)-1); took > 0; i++ {
		if i == len(f.Means)-1 { // all that is left, where a side has no more bins
			f.Means[i] += took
			return
		}
		part := max(0, min(took, float64(i+1)*f.BinMS-at))
		f.Means[i] += part
		at, took = at+part, took-part
	}
}

// peak is the largest number of requests in flight at once. One that ends when another begins is not in flight with it.
func peak(list []Request) float64 {
	type change struct {
		at float64
		by int
	}
	changes := make([]change, 0, 2*len(list))
	for i := range list {
		if list[i].TookMS > 0 {
			changes = append(changes, change{list[i].AtMS, 1}, change{list[i].AtMS + list[i].TookMS, -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), a.by-b.by) })
	now, most := 0, 0
	for _, c := range changes {
		now += c.by
		most = max(most, now)
	}
	return float64(most)
}

// Area is the distance of two curves over time: the area between them as a part of the area below both together,
// Σ |a − b| / Σ (a + b). 0: they are the same, 1: never were requests of both in flight.
func Area(a, b *Flight) float64 {
	between, below := 0.0, 0.0
	for i := range max(len(a.Means), len(b.Means)) {
		x, y := 0.0, 0.0
		if i < len(a.Means) {
			x = a.Means[i]
		}
		if i < len(b.Means) {
			y = b.Means[i]
		}
		between, below = between+math.Abs(x-y), below+x+y
	}
	if below == 0 {
		return 0
	}
	return between / below
}
