package metrics

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"aiperf/internal/measure/stats"
)

// change is one event of the sweep: the index of an interval << changeBits | what happens to that request.
type change uint32

const (
	requestEnds change = iota
	requestDecodes
	requestStarts
	changeBits = 2
)

func (c change) what() change { return c & (1<<changeBits - 1) }

// events are the changes of intervals in order of time. They are small, and their instants stand in the
// intervals: a run of a million requests has three millions of them.
type events struct {
	intervals []interval
	originNS  int64
	changes   []change
}

func (e *events) request(c change) *interval { return &e.intervals[c>>changeBits] }

// at returns the instant of a change, from the origin.
func (e *events) at(c change) int64 {
	r := e.request(c)
	switch c.what() {
	case requestEnds:
		return r.end - e.originNS
	case requestDecodes:
		return r.first - e.originNS
	default:
		return r.start - e.originNS
	}
}

// sweep returns the segments of the curves over the window, exactly, in one pass over the events of the
// intervals in order of time. Intervals may reach beyond the window.
func sweep(intervals []interval, window span) segments {
	e := newEvents(intervals, window.start)
	length := window.length()
	noImages := !slices.ContainsFunc(intervals, func(r interval) bool { return r.imageRate != 0 })
	return segments{noImages: noImages, n: len(e.changes) + 1, each: func(yield func(int64, *level)) {
		var s state
		var l level
		at := int64(0)
		for _, c := range e.changes {
			now := e.at(c)
			if until := min(now, length); until > at {
				s.level(&l, at, until)
				yield(until-at, &l)
				at = until
			}
			r := e.request(c)
			switch c.what() {
			case requestEnds:
				s.end(r, now)
			case requestDecodes:
				s.decode(r, now)
			default:
				s.start(r)
			}
		}
		if length > at {
			s.level(&l, at, length)
			yield(length-at, &l)
		}
	}}
}

func newEvents(intervals []interval, originNS int64) *events {
	n := 2 * len(intervals)
	for i := range intervals {
		if intervals[i].hasFirst() {
			n++
		}
	}
	e := &events{intervals: intervals, originNS: originNS, changes: make([]change, 0, n)}
	for i := range intervals {
		of := change(i) << changeBits
		e.changes = append(e.changes, of+requestStarts, of+requestEnds)
		if intervals[i].hasFirst() {
			e.changes = append(e.changes, of+requestDecodes)
		}
	}
	e.sort(e.changes, make([]change, n), new([fewChanges]timed))
	return e
}

const (
	// Changes are dealt out by the leading bits of their instants, until few are left to be compared.
	dealBits   = 11
	fewChanges = 2048
)

type timed struct {
	at int64
	c  change
}

// sort orders changes by their instants; spare is as long. Neighbours in the list are near each other in time, so
// that looking at their intervals is cheap.
func (e *events) sort(list, spare []change, few *[fewChanges]timed) {
	if len(list) <= fewChanges {
		for i, c := range list {
			few[i] = timed{e.at(c), c}
		}
		slices.SortFunc(few[:len(list)],
			func(a, b timed) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.c, b.c)) })
		for i := range list {
			list[i] = few[i].c
		}
		return
	}
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for _, c := range list {
		at := e.at(c)
		first, last = min(first, at), max(last, at)
	}
	after := func(at int64) uint64 { return uint64(at) - uint64(first) }
	shift := max(0, bits.Len64(after(last))-dealBits)
	var ends [1 << dealBits]int
	hand := func(c change) *int { return &ends[after(e.at(c))>>shift] }
	for _, c := range list {
		*hand(c)++
	}
	total := 0
	for i, n := range ends {
		ends[i], total = total, total+n
	}
	for _, c := range list {
		next := hand(c)
		spare[*next] = c
		*next++
	}
	copy(list, spare)
	if shift == 0 {
		return
	}
	from := 0
	for _, to := range ends {
		e.sort(list[from:to], spare[from:to], few)
		from = to
	}
}

// state is where the sweep stands. Sums are kept in twice the precision, so that what was added and
// taken off again leaves nothing and the order of simultaneous events does not show.
type state struct {
	requests, prefilling, decoding int64
	prefillRate, decodeRate        stats.Pair
	imageRate                      stats.Pair
	// Tokens in flight are tokens + growth × seconds since the window's start.
	tokens, growth stats.Pair
}

func (s *state) start(r *interval) {
	s.requests++
	s.tokens.Add(r.input)
	s.imageRate.Add(r.imageRate)
	if r.hasFirst() {
		s.prefilling++
		s.prefillRate.Add(r.prefillRate())
	}
}

func (s *state) decode(r *interval, atNS int64) {
	s.prefilling--
	s.prefillRate.Add(-r.prefillRate())
	s.decoding++
	rate := r.decodeRate()
	s.decodeRate.Add(rate)
	s.tokens.Add(r.outputAtOrigin(atNS))
	s.growth.Add(rate)
}

func (s *state) end(r *interval, atNS int64) {
	s.requests--
	s.tokens.Add(-r.input)
	s.imageRate.Add(-r.imageRate)
	if r.hasFirst() {
		s.decoding--
		rate := r.decodeRate()
		s.decodeRate.Add(-rate)
		s.tokens.Add(-r.outputAtOrigin(atNS - (r.end - r.first)))
		s.growth.Add(-rate)
	}
}

// outputAtOrigin returns where the line of a request's output tokens, which is at 1 at the first content
// response, meets the window's start.
func (r *interval) outputAtOrigin(firstNS int64) float64 {
	if r.output == 0 {
		return 0
	}
	return 1 - r.decodeRate()*seconds(firstNS)
}

// level writes the level between two instants from the window's start.
func (s *state) level(l *level, fromNS, toNS int64) {
	*l = level{}
	if s.requests > 0 {
		tokens, growth := s.tokens.Value(), s.growth.Value()
		l.concurrency, l.imageRate = float64(s.requests), s.imageRate.Value()
		l.tokensFrom, l.tokensTo = tokens, tokens
		if s.decoding > 0 && growth != 0 {
			l.tokensFrom, l.tokensTo = math.FMA(growth, seconds(fromNS), tokens),
				math.FMA(growth, seconds(toNS), tokens)
		}
	}
	if s.prefilling > 0 {
		l.prefill, l.prefillRate = float64(s.prefilling), s.prefillRate.Value()
	}
	if s.decoding > 0 {
		l.decode, l.decodeRate = float64(s.decoding), s.decodeRate.Value()
	}
}
