package tokenizer

import (
	"encoding/binary"
	"math/bits"
	"strings"
)

// noRank is the rank of a byte string that is no token.
const noRank = ^uint32(0)

// ranks is the table of the mergeable tokens: byte string → rank and back. In the vocabularies
// held in this form the rank of a token is its id.
type ranks struct {
	blob    string   // the bytes of all tokens, by rank
	ends    []uint32 // the end of each token in blob; ends[0] is 0, token r ends at ends[r+1]
	slots   []uint64 // open addressing: high half of the hash, then rank+1; 0 is empty
	shift   uint     // the top bits of the hash choose the slot
	longest int      // length of the longest token
}

// newRanks reads the packed form that the pack command writes.
func newRanks(packed string) *ranks {
	n := int(binary.LittleEndian.Uint32([]byte(packed[:4])))
	lengths := packed[4 : 4+n]
	return fillRanks(packed[4+n:], n, func(i int) int { return int(lengths[i]) })
}

// newRanksOf makes the table of tokens in the order of their ranks; an empty one leaves its rank out.
func newRanksOf(tokens []string) *ranks {
	return fillRanks(strings.Join(tokens, ""), len(tokens), func(i int) int { return len(tokens[i]) })
}

func fillRanks(blob string, n int, length func(i int) int) *ranks {
	r := &ranks{blob: blob, ends: make([]uint32, n+1)}
	logSlots := bits.Len(uint(2*n + 1)) // at most half full
	r.slots = make([]uint64, 1<<logSlots)
	r.shift = 64 - uint(logSlots)
	end := 0
	for i := range n {
		start := end
		end += length(i)
		r.ends[i+1] = uint32(end)
		if end == start {
			continue
		}
		r.longest = max(r.longest, end-start)
		h := hashBytes(r.blob[start:end])
		at := h >> r.shift
		for r.slots[at] != 0 {
			at = (at + 1) & uint64(len(r.slots)-1)
		}
		r.slots[at] = h<<32 | uint64(i+1)
	}
	return r
}

// all lists the tokens by rank.
func (r *ranks) all() []string {
	list := make([]string, r.len())
	for i := range list {
		list[i] = r.token(uint32(i))
	}
	return list
}

func (r *ranks) len() int { return len(r.ends) - 1 }

// token is the byte string of a rank below len.
func (r *ranks) token(rank uint32) string { return r.blob[r.ends[rank]:r.ends[rank+1]] }

// rank is the rank of a byte string, or noRank.
func (r *ranks) rank(s string) uint32 {
	if len(s) > r.longest {
		return noRank
	}
	return r.rankHashed(s, hashBytes(s))
}

func (r *ranks) rankHashed(s string, h uint64) uint32 {
	at := h >> r.shift
	for {
		slot := r.slots[at]
		if slot == 0 {
			return noRank
		}
		// The slot keeps the low half of the hash; the place was chosen by the high bits.
		if slot>>32 == h&0xffffffff {
			if rank := uint32(slot) - 1; r.token(rank) == s {
				return rank
			}
		}
		at = (at + 1) & uint64(len(r.slots)-1)
	}
}

// hashBytes is a multiplicative hash over words of eight bytes. It need not resist an adversary:
// the table is fixed and half empty.
func hashBytes(s string) uint64 {
	h := uint64(len(s)) * 0x9e3779b97f4a7c15
	for len(s) > 8 {
		h = hashWord(h ^ (uint64(load32(s, 0)) | uint64(load32(s, 4))<<32))
		s = s[8:]
	}
	switch n := len(s); {
	case n >= 4:
		h ^= uint64(load32(s, 0)) | uint64(load32(s, n-4))<<32
	case n > 0:
		h ^= uint64(s[0]) | uint64(s[n/2])<<8 | uint64(s[n-1])<<16
	}
	return hashWord(h)
}

func hashWord(h uint64) uint64 {
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 32
	h *= 0x94d049bb133111eb
	return h ^ h>>29
}

func load32(s string, i int) uint32 {
	s = s[i : i+4]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}
