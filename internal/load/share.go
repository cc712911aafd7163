package load

import "fmt"

// Share is one of several equal parts of a run that are made at the same time, in processes that exchange no requests:
// share Index of Of takes the arrivals, sessions and draws k with k mod Of = Index, and its part of each limit. The
// parts of a number differ by 1 at most and add up to it. The zero value is the whole run.
type Share struct{ Index, Of int }

// Whole reports whether the share is the whole run.
func (s Share) Whole() bool { return s.Of <= 1 }

// Validate returns an error for a share that does not exist.
func (s Share) Validate() error {
	if s.Of < 0 || s.Index < 0 || s.Index >= max(1, s.Of) {
		return fmt.Errorf("share %d of %d does not exist: shares are counted from 0", s.Index, s.Of)
	}
	return nil
}

// Part returns the part of a number of things that belongs to the share: those of 0 … n-1 that are Index modulo Of.
func (s Share) Part(n int64) int64 {
	if s.Whole() {
		return n
	}
	return (n + int64(s.Of) - 1 - int64(s.Index)) / int64(s.Of)
}

// Used is what has been used up, by a run or by a share of one, of what is numbered through all phases: of each the
// number after the highest one. Shares agree on the highest of all of them before a phase, so that the phase begins
// where all of them have ended.
type Used struct {
	// Sessions counts the sessions of the source, Begun those that began, Credits the profiling credits.
	Sessions, Begun, Credits uint64
}

// Max returns the higher of each.
func (u Used) Max(o Used) Used {
	return Used{max(u.Sessions, o.Sessions), max(u.Begun, o.Begun), max(u.Credits, o.Credits)}
}
