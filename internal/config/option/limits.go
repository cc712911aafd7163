package option

import (
	"math"
	"strconv"
)

// What nobody means, so that it is refused before memory is: far above the largest models, machines and data sets of
// 2026.
const (
	// MaxTokens is the greatest length of a text in tokens: a hundred times the longest contexts.
	MaxTokens = 100_000_000
	// maxEntries is the largest number of conversations, or prefixes, to generate.
	maxEntries = 100_000_000
	// maxItems is the largest number of turns of a conversation, and of texts or media of a request.
	maxItems = 1_000_000
	// maxAtATime is the largest number of sessions, requests or users at a time: hundreds of machines' worth of ports.
	maxAtATime = 100_000_000
	// maxRequests is the largest number of requests or sessions: a million a second for eleven days.
	maxRequests = 1_000_000_000_000
	// MaxSize is the greatest value of a distribution of sizes.
	MaxSize = 1_000_000_000
)

// Limits is the range of a number. The zero value allows every finite number.
type Limits struct {
	set            bool
	lo, hi         float64
	loOpen, hiOpen bool
}

// AtLeast is [lo, ∞), Above is (lo, ∞), Between is [lo, hi].
func AtLeast(lo float64) Limits     { return Limits{set: true, lo: lo, hi: math.Inf(1)} }
func Above(lo float64) Limits       { return Limits{set: true, lo: lo, hi: math.Inf(1), loOpen: true} }
func Between(lo, hi float64) Limits { return Limits{set: true, lo: lo, hi: hi} }

// AboveUpTo is (lo, hi].
func AboveUpTo(lo, hi float64) Limits { return Limits{set: true, lo: lo, hi: hi, loOpen: true} }

// within is (lo, hi).
func within(lo, hi float64) Limits {
	return Limits{set: true, lo: lo, hi: hi, loOpen: true, hiOpen: true}
}

// Contains reports whether v is allowed.
func (l Limits) Contains(v float64) bool {
	switch {
	case math.IsNaN(v):
		return false
	case !l.set:
		return true
	case v < l.lo || (l.loOpen && v == l.lo):
		return false
	case v > l.hi || (l.hiOpen && v == l.hi):
		return false
	}
	return true
}

// share reports whether the values are parts of a whole, percent whether they are percent of one.
func (l Limits) share() bool   { return l.set && l.lo == 0 && l.hi == 1 }
func (l Limits) percent() bool { return l.set && l.lo == 0 && l.hi == 100 }

// String is the range in words: "at least 1", "above 0", "from 1 to 10"; empty without limits.
func (l Limits) String() string {
	lo, hi := PlainNumber(l.lo), PlainNumber(l.hi)
	switch {
	case !l.set:
		return ""
	case math.IsInf(l.hi, 1) && l.loOpen:
		return "above " + lo
	case math.IsInf(l.hi, 1):
		return "at least " + lo
	case l.loOpen && l.hiOpen:
		return "above " + lo + " and below " + hi
	case l.loOpen:
		return "above " + lo + " and at most " + hi
	case l.hiOpen:
		return "at least " + lo + " and below " + hi
	default:
		return "from " + lo + " to " + hi
	}
}

// PlainNumber writes a number without exponent and without a needless ".0".
func PlainNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Least is the lower limit; open reports that it is not itself allowed, ok that there is one.
func (l Limits) Least() (lo float64, open, ok bool) {
	return l.lo, l.loOpen, l.set && !math.IsInf(l.lo, -1)
}

// Most is the upper limit; ok reports that there is one.
func (l Limits) Most() (hi float64, ok bool) { return l.hi, l.set && !math.IsInf(l.hi, 1) }
