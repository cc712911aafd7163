package metrics

import "math"

// What happens to a request in the sweep.
const (
	requestEnds = iota
	requestDecodes
	requestStarts
	changeBits = 2
)

// change is one event of the sweep: an instant, from the window's start, and the request and what
// happens to it.
type change struct {
	atNS int64
	ref  uint32 // index of the interval << changeBits | what
}

// sweep returns the segments of the curves over the window, exactly, in one pass over the events of the
// intervals in order of time.
func sweep(intervals []interval, window span) segments {
	changes := sortedChanges(intervals, window.start)
	return segments{len(changes) + 1, func(yield func(int64, *level)) {
		var s state
		var l level
		at := int64(0)
		for _, c := range changes {
			if c.atNS > at {
				s.level(&l, at, c.atNS)
				yield(c.atNS-at, &l)
				at = c.atNS
			}
			r := &intervals[c.ref>>changeBits]
			switch c.ref & (1<<changeBits - 1) {
			case requestEnds:
				s.end(r, c.atNS)
			case requestDecodes:
				s.decode(r, c.atNS)
			default:
				s.start(r)
			}
		}
		if end := window.length(); end > at {
			s.level(&l, at, end)
			yield(end-at, &l)
		}
	}}
}

// sortedChanges lists the events of the intervals in order of time.
func sortedChanges(intervals []interval, originNS int64) []change {
	changes := make([]change, 0, 3*len(intervals))
	for i := range intervals {
		r, ref := &intervals[i], uint32(i)<<changeBits
		changes = append(changes, change{r.start - originNS, ref + requestStarts}, change{r.end - originNS, ref + requestEnds})
		if r.hasFirst {
			changes = append(changes, change{r.first - originNS, ref + requestDecodes})
		}
	}
	return sortByTime(changes)
}

// sortByTime sorts by radix. Instants are not negative.
func sortByTime(list []change) []change {
	const digitBits = 11
	var latest int64
	for i := range list {
		latest = max(latest, list[i].atNS)
	}
	spare := make([]change, len(list))
	for shift := 0; latest>>shift > 0; shift += digitBits {
		var next [1 << digitBits]int
		for i := range list {
			next[list[i].atNS>>shift&(1<<digitBits-1)]++
		}
		total := 0
		for digit, n := range next {
			next[digit], total = total, total+n
		}
		for _, c := range list {
			digit := c.atNS >> shift & (1<<digitBits - 1)
			spare[next[digit]] = c
			next[digit]++
		}
		list, spare = spare, list
	}
	return list
}

// state is where the sweep stands. Sums are kept in twice the precision, so that what was added and
// taken off again leaves nothing and the order of simultaneous events does not show.
type state struct {
	requests, prefilling, decoding int64
	prefillRate, decodeRate        pair
	imageRate                      pair
	// Tokens in flight are tokens + growth × seconds since the window's start.
	tokens, growth pair
}

func (s *state) start(r *interval) {
	s.requests++
	s.tokens.add(r.input)
	s.imageRate.add(r.imageRate)
	if r.hasFirst {
		s.prefilling++
		s.prefillRate.add(r.prefillRate)
	}
}

func (s *state) decode(r *interval, atNS int64) {
	s.prefilling--
	s.prefillRate.add(-r.prefillRate)
	s.decoding++
	s.decodeRate.add(r.decodeRate)
	s.tokens.add(r.outputAtOrigin(atNS))
	s.growth.add(r.decodeRate)
}

func (s *state) end(r *interval, atNS int64) {
	s.requests--
	s.tokens.add(-r.input)
	s.imageRate.add(-r.imageRate)
	if r.hasFirst {
		s.decoding--
		s.decodeRate.add(-r.decodeRate)
		s.tokens.add(-r.outputAtOrigin(atNS - (r.end - r.first)))
		s.growth.add(-r.decodeRate)
	}
}

// outputAtOrigin is where the line of a request's output tokens, which is at 1 at the first content
// response, meets the window's start.
func (r *interval) outputAtOrigin(firstNS int64) float64 {
	if r.output == 0 {
		return 0
	}
	return 1 - r.decodeRate*seconds(firstNS)
}

// level writes the level between two instants from the window's start.
func (s *state) level(l *level, fromNS, toNS int64) {
	*l = level{}
	if s.requests > 0 {
		tokens, growth := s.tokens.value(), s.growth.value()
		l.concurrency, l.imageRate = float64(s.requests), s.imageRate.value()
		l.tokensFrom, l.tokensTo = tokens, tokens
		if s.decoding > 0 && growth != 0 {
			l.tokensFrom, l.tokensTo = math.FMA(growth, seconds(fromNS), tokens), math.FMA(growth, seconds(toNS), tokens)
		}
	}
	if s.prefilling > 0 {
		l.prefill, l.prefillRate = float64(s.prefilling), s.prefillRate.value()
	}
	if s.decoding > 0 {
		l.decode, l.decodeRate = float64(s.decoding), s.decodeRate.value()
	}
}
