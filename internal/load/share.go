package load

import (
	"fmt"
	"math"
)

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

// width returns the number of shares as a divisor.
func (s Share) width() float64 { return float64(max(1, s.Of)) }

// numbering gives out the numbers of one kind that belong to a share: next, next+step, … The first one of all shares is
// base.
type numbering struct{ next, step, base uint64 }

// numbering returns the numbers of the share from a first one of all on.
func (s Share) numbering(first uint64) numbering {
	return numbering{next: first + uint64(s.Index), step: uint64(max(1, s.Of)), base: first}
}

// take returns the next number and goes on to the one after it.
func (n *numbering) take() uint64 {
	k := n.next
	n.next += n.step
	return k
}

// after returns the number that is taken after some more.
func (n *numbering) after(more int64) uint64 { return n.next + uint64(more)*n.step }

// shareOf returns the share of a phase that is made here, and whether it has any part in the phase: no more shares take
// part than the smallest of its limits has places. Phases that run together, and those that go on with the same lanes,
// are cut alike.
func (p Plan) shareOf(index int) (s Share, takesPart bool) {
	if p.Share.Whole() {
		return Share{}, true
	}
	width := p.Share.Of
	first, end := p.chain(index)
	for i := range p.Phases {
		if i >= first && i < end || p.Phases[i].mode() == byLanes && p.Phases[index].mode() == byLanes {
			width = min(width, p.Phases[i].places())
		}
	}
	return Share{Index: p.Share.Index, Of: width}, p.Share.Index < width
}

// chain returns the phases that may run together with one: from first up to end, exclusive.
func (p *Plan) chain(index int) (first, end int) {
	first, end = index, index+1
	for first > 0 && p.Phases[first].Seamless {
		first--
	}
	for end < len(p.Phases) && p.Phases[end].Seamless {
		end++
	}
	return first, end
}

// places returns how many can send at the same time at most.
func (p *Phase) places() int {
	places := math.MaxInt
	for _, limit := range []int{p.Concurrency, p.Prefill} {
		if limit > 0 {
			places = min(places, limit)
		}
	}
	if p.mode() == byUsers {
		places = min(places, p.Users.Count)
	}
	return places
}

// plain reports whether the sessions of a phase begin in the order of their numbers.
func (p *Phase) plain() bool { return p.burst() || p.mode() == atRate }

// KeepsResidues reports whether, in all phases, a share takes only sessions whose numbers are its index modulo the
// number of shares. Otherwise it may take any.
func (p Plan) KeepsResidues() bool {
	for i := range p.Phases {
		if s, _ := p.shareOf(i); !p.Phases[i].plain() || s.width() != p.Share.width() {
			return false
		}
	}
	return true
}

// takeFrom chooses what the phase takes of arrivals, sessions and counts, where its first session has a number: those
// that give it the same sessions modulo the number of shares as every other phase.
func (p *phaseRun) takeFrom(first uint64) {
	plan := &p.e.plan
	p.taking = p.share
	if of := plan.Share.Of; of > 1 && p.share.Of == of && plan.Phases[p.stats.Index].plain() {
		p.taking.Index = (p.share.Index + of - int(first%uint64(of))) % of
		if from, end := plan.chain(p.stats.Index); end-from == 1 {
			p.share = p.taking // phases that run together have the same places
		}
	}
}

// part returns the part of a phase that is made by a share with places, which takes arrivals, sessions and counts like
// another; but for the arrivals and users, which have their places in the whole.
func (p Phase) part(places, taking Share) Phase {
	p.Concurrency, p.Prefill = int(places.Part(int64(p.Concurrency))), int(places.Part(int64(p.Prefill)))
	p.Requests, p.Sessions = taking.Part(p.Requests), taking.Part(p.Sessions)
	return p
}

// partWithin returns the part of n things for one of some shares, none of which can take more than it has room for. The
// parts differ by 1 at most, but for those of shares that are full.
func partWithin(n int64, room []int64, index int) int64 {
	parts := make([]int64, len(room))
	for n > 0 {
		var open []int
		for i := range room {
			if parts[i] < room[i] {
				open = append(open, i)
			}
		}
		if len(open) == 0 {
			break
		}
		left := n
		for at, i := range open {
			more := min(room[i]-parts[i], Share{at, len(open)}.Part(left))
			parts[i] += more
			n -= more
		}
	}
	return parts[index]
}
