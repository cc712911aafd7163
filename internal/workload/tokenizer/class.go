package tokenizer

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// class says to which sets of the splitting patterns a code point belongs.
type class uint8

const (
	letter  class = 1 << iota // \p{L}
	number                    // \p{N}
	space                     // \s: White_Space
	upper                     // \p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}
	lower                     // \p{Ll}\p{Lm}\p{Lo}\p{M}
	newline                   // CR, LF
	symbol                    // \p{P}\p{S}
)

const pageSize = 256

// classes holds the class of every code point in two stages; equal pages are shared.
type classes struct {
	ascii [utf8.RuneSelf]class
	pages [(unicode.MaxRune + 1) / pageSize]*[pageSize]class
}

// CharacterClasses is the table of all code points, made when it is first asked for.
var CharacterClasses = sync.OnceValue(newClasses)

// newClasses makes the table of the classes of characters, in pages of which equal ones are shared: one look-up a
// character, with ASCII in a table of its own. Go's tables are those of Unicode 15.0; what was assigned since is added,
// as the tokenizers' own libraries know it.
func newClasses() *classes {
	marks := []struct {
		table *unicode.RangeTable
		class class
	}{
		{unicode.Lu, letter | upper},
		{unicode.Lt, letter | upper},
		{unicode.Ll, letter | lower},
		{unicode.Lm, letter | upper | lower},
		{unicode.Lo, letter | upper | lower},
		{unicode.M, upper | lower},
		{unicode.N, number},
		{unicode.White_Space, space},
		{unicode.P, symbol},
		{unicode.S, symbol},
	}
	t := &classes{}
	empty := new([pageSize]class)
	for i := range t.pages {
		t.pages[i] = empty
	}
	full := map[class]*[pageSize]class{} // pages of one class throughout, such as the ideographs
	mark := func(lo, hi, stride uint32, c class) {
		for r := lo; r <= hi; r += stride {
			page := &t.pages[r/pageSize]
			if stride == 1 && r%pageSize == 0 && r+pageSize-1 <= hi && *page == empty {
				*page = fullPage(full, c)
				r += pageSize - 1
				continue
			}
			if *page == empty {
				*page = new([pageSize]class)
			}
			(*page)[r%pageSize] |= c
		}
	}
	for _, m := range marks {
		for _, r := range m.table.R16 {
			mark(uint32(r.Lo), uint32(r.Hi), uint32(r.Stride), m.class)
		}
		for _, r := range m.table.R32 {
			mark(r.Lo, r.Hi, r.Stride, m.class)
		}
	}
	for _, r := range assignedSince15 {
		mark(r.lo, r.hi, 1, r.class)
	}
	mark('\n', '\n', 1, newline)
	mark('\r', '\r', 1, newline)
	copy(t.ascii[:], t.pages[0][:])
	return t
}

func fullPage(full map[class]*[pageSize]class, c class) *[pageSize]class {
	if full[c] == nil {
		page := new([pageSize]class)
		for i := range page {
			page[i] = c
		}
		full[c] = page
	}
	return full[c]
}

// at returns the class and the size in bytes of the code point at s[i], which must exist and be valid.
func (t *classes) at(s string, i int) (class, int) {
	if s[i] < utf8.RuneSelf {
		return t.ascii[s[i]], 1
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	return t.pages[r/pageSize][r%pageSize], size
}

// run returns the end of the longest run from i whose classes all have a bit of any.
func (t *classes) run(s string, i int, any class) int {
	for i < len(s) {
		if b := s[i]; b < utf8.RuneSelf {
			if t.ascii[b]&any == 0 {
				return i
			}
			i++
			continue
		}
		c, size := t.at(s, i)
		if c&any == 0 {
			return i
		}
		i += size
	}
	return i
}

// runWithout returns the end of the longest run from i whose classes have no bit of none.
func (t *classes) runWithout(s string, i int, none class) int {
	for i < len(s) {
		c, size := t.at(s, i)
		if c&none != 0 {
			return i
		}
		i += size
	}
	return i
}
