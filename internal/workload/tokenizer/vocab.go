package tokenizer

import (
	"math/bits"
	"unsafe"
)

// none is the id of what is not a token.
const none = -1

// Vocab is a set of tokens. It does not change.
type Vocab struct {
	blob    string   // the bytes of all tokens, by id
	ends    []uint32 // token i is blob[ends[i]:ends[i+1]]; an id without a token is empty
	slots   []uint32 // open addressing: bits of the hash above, then id+1; 0 is empty
	shift   uint     // the top bits of the hash choose the slot
	mask    uint32   // the bits of id+1 in a slot
	longest int      // length of the longest token
	empty   int32    // id of the token without bytes, or None
	more    map[string]int32
}

// Len returns one more than the largest id.
func (v *Vocab) Len() int { return len(v.ends) - 1 }

// Longest returns the length of the longest token.
func (v *Vocab) Longest() int { return v.longest }

// Text returns the token of an id from 0 to Len-1, empty where there is none.
func (v *Vocab) Text(id int32) string { return v.blob[v.ends[id]:v.ends[id+1]] }

// Has reports whether an id has a token.
func (v *Vocab) Has(id int) bool {
	return id >= 0 && id < v.Len() && (v.ends[id+1] > v.ends[id] || int32(id) == v.empty)
}

// Find returns the id of a token, or None.
func (v *Vocab) Find(s string) int32 {
	if len(s) > v.longest {
		return none
	}
	return v.FindHashed(s, Hash(s))
}

// FindHashed is Find where the hash is known.
func (v *Vocab) FindHashed(s string, h uint64) int32 {
	if s == "" {
		return v.another(s)
	}
	tag := uint32(h) &^ v.mask
	for at := h >> v.shift; ; at = (at + 1) & uint64(len(v.slots)-1) {
		slot := v.slots[at]
		if slot == 0 {
			return v.another(s)
		}
		if slot&^v.mask == tag {
			if id := int32(slot&v.mask) - 1; v.Text(id) == s {
				return id
			}
		}
	}
}

// another returns the id of a token that is not in the slots.
func (v *Vocab) another(s string) int32 {
	if s == "" && v.empty != none {
		return v.empty
	}
	if id, ok := v.more[s]; ok {
		return id
	}
	return none
}

// fill makes the slots. It reports whether two ids have the same token; the lower one is found then.
func (v *Vocab) fill() (twice bool) {
	n := v.Len()
	log := bits.Len(uint(2*n + 1)) // at most half full
	v.slots = make([]uint32, 1<<log)
	v.shift, v.mask = 64-uint(log), 1<<bits.Len(uint(n))-1
	for i := range n {
		s := v.Text(int32(i))
		if s == "" {
			continue
		}
		v.longest = max(v.longest, len(s))
		h := Hash(s)
		tag := uint32(h) &^ v.mask
		at := h >> v.shift
		for v.slots[at] != 0 {
			if slot := v.slots[at]; slot&^v.mask == tag && v.Text(int32(slot&v.mask)-1) == s {
				twice = true
			}
			at = (at + 1) & uint64(len(v.slots)-1)
		}
		v.slots[at] = tag | uint32(i+1)
	}
	return twice
}

// Hash returns a multiplicative hash over words of eight bytes. It need not resist an adversary: the table is fixed and
// half empty.
func Hash(s string) uint64 {
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

// FindBytes is Find for bytes.
func (v *Vocab) FindBytes(b []byte) int32 { return v.Find(unsafe.String(unsafe.SliceData(b), len(b))) }

// Each calls token for every token, those that share their id with another one last.
func (v *Vocab) Each(token func(text string, id int32)) {
	for id := range int32(v.Len()) {
		if v.Has(int(id)) {
			token(v.Text(id), id)
		}
	}
	for text, id := range v.more {
		token(text, id)
	}
}
