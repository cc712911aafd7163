package hf

import (
	"errors"
	"math/bits"
	"unicode/utf8"
)

// runePairs is a set of pairs of code points. Open addressing; an empty slot is 0.
type runePairs struct {
	slots []uint64 // the first code point + 1 above, the second below
	count int
	shift uint
}

func newRunePairs() *runePairs { return &runePairs{slots: make([]uint64, 64), shift: 64 - 6} }

// loadRunePairs returns the set with the slots of another one.
func loadRunePairs(slots []uint64) (*runePairs, error) {
	p := &runePairs{slots: slots}
	for _, s := range slots {
		if s == 0 {
			continue
		}
		if p.count++; s>>32 == 0 || s>>32 > utf8.MaxRune+1 || s<<32>>32 > utf8.MaxRune {
			return nil, errors.New("the cuts of the packed file are wrong: they contain a value that is not a character")
		}
	}
	if n := len(slots); n < 2 || n&(n-1) != 0 || p.count == n {
		return nil, errors.New("the cuts of the packed file are wrong: their number does not fit")
	}
	p.shift = 64 - uint(bits.Len(uint(len(slots)-1)))
	return p, nil
}

func pairOf(a, b rune) uint64 { return uint64(uint32(a)+1)<<32 | uint64(uint32(b)) }

// at returns the slot of a pair, or the empty one where it would be.
func (p *runePairs) at(pair uint64) uint64 {
	at := pair * 0x9e3779b97f4a7c15 >> p.shift
	for p.slots[at] != 0 && p.slots[at] != pair {
		at = (at + 1) & uint64(len(p.slots)-1)
	}
	return at
}

func (p *runePairs) has(a, b rune) bool { return p.slots[p.at(pairOf(a, b))] != 0 }

func (p *runePairs) add(a, b rune) {
	pair := pairOf(a, b)
	at := p.at(pair)
	if p.slots[at] != 0 {
		return
	}
	p.slots[at] = pair
	if p.count++; 2*p.count < len(p.slots) {
		return
	}
	old := p.slots
	p.slots, p.shift = make([]uint64, 4*len(old)), p.shift-2
	for _, pair := range old {
		if pair != 0 {
			p.slots[p.at(pair)] = pair
		}
	}
}

// each calls pair for all.
func (p *runePairs) each(pair func(a, b rune)) {
	for _, s := range p.slots {
		if s != 0 {
			pair(rune(s>>32)-1, rune(s&(1<<32-1)))
		}
	}
}
