package hf

import (
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// charset is a set of code points; a bit for each up to the last one it holds.
type charset []uint64

func (s charset) has(r rune) bool {
	at := int(r) >> 6
	return at < len(s) && s[at]>>(r&63)&1 != 0
}

func (s *charset) add(lo, hi rune) {
	for int(hi)>>6 >= len(*s) {
		*s = append(*s, make([]uint64, int(hi)>>6+1-len(*s))...)
	}
	for r := lo; r <= hi; r++ {
		(*s)[r>>6] |= 1 << (r & 63)
	}
}

func (s *charset) addTable(tables ...*unicode.RangeTable) {
	for _, t := range tables {
		for _, r := range t.R16 {
			for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
				s.add(c, c)
			}
		}
		for _, r := range t.R32 {
			for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
				s.add(c, c)
			}
		}
	}
}

// addRanges adds hexadecimal ranges: "61-7a 41".
func (s *charset) addRanges(text string) {
	for _, field := range strings.Fields(text) {
		from, to, isRange := strings.Cut(field, "-")
		if !isRange {
			to = from
		}
		lo, err1 := strconv.ParseUint(from, 16, 32)
		hi, err2 := strconv.ParseUint(to, 16, 32)
		if err1 != nil || err2 != nil {
			panic("charset " + field) // the tables are constants
		}
		s.add(rune(lo), rune(hi))
	}
}

func ranges(text string, tables ...*unicode.RangeTable) func() charset {
	return sync.OnceValue(func() charset {
		var s charset
		s.addTable(tables...)
		s.addRanges(text)
		return s
	})
}

var (
	punctuation = ranges(oldPunctuation + "21-2f 3a-40 5b-60 7b-7e")
	nonspacing  = ranges(oldNonspacing)
	marks       = ranges(oldMarks)
	controls    = ranges(oldControls + "e000-f8ff f0000-ffffd 100000-10fffd")
	numeric     = ranges(newNumbers, unicode.N)
	wordChars   = ranges(newWords, unicode.L, unicode.M, unicode.Nl, unicode.Nd, unicode.Pc, unicode.Other_Alphabetic,
		unicode.Join_Control)
	leftAlone  = ranges(opaque)
	scriptless = ranges(noScript)
)

// isSpace is White_Space, on which all versions agree.
func isSpace(r rune) bool {
	if r < 0x80 {
		return r == ' ' || r >= '\t' && r <= '\r'
	}
	return r == 0x85 || r == 0xa0 || r == 0x1680 || r >= 0x2000 && r <= 0x200a || r == 0x2028 || r == 0x2029 ||
		r == 0x202f || r == 0x205f || r == 0x3000
}
