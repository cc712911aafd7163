package hf

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// form is a normalization form as the reference engine computes it: an older Unicode, and no limit to
// the marks on one character (the text package would put a joiner after thirty).
type form struct {
	form    norm.Form
	compose bool
}

var forms = map[string]form{
	"NFC": {norm.NFC, true}, "NFD": {norm.NFD, false}, "NFKC": {norm.NFKC, true}, "NFKD": {norm.NFKD, false},
}

// manyMarks is from how many marks in a row on the text package is not asked.
const manyMarks = 8

// apply returns the normal form. ASCII has none, and most other texts go to the library; texts with a character in
// which it differs, or with long runs of marks, which it treats otherwise, take the slower way.
func (f form) apply(s string) string {
	odd, run := leftAlone(), 0
	ascii, plain := true, true
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i, run = i+1, 0
			continue
		}
		ascii = false
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		if r < 0x300 {
			run = 0
			continue
		}
		if run++; run >= manyMarks && f.form.PropertiesString(s[i-size:i]).CCC() == 0 {
			run = 0
		}
		if run >= manyMarks || odd.has(r) {
			plain = false
			break
		}
	}
	switch {
	case ascii:
		return s
	case plain:
		return f.form.String(s)
	}
	return f.whole(s)
}

// ranked is a code point and its combining class.
type ranked struct {
	r   rune
	ccc uint8
}

// whole normalizes without the text package's limit.
func (f form) whole(s string) string {
	decomposed := norm.NFD
	if f.form == norm.NFKC || f.form == norm.NFKD {
		decomposed = norm.NFKD
	}
	odd := leftAlone()
	var list []ranked
	add := func(r rune) {
		ccc := uint8(0)
		if !odd.has(r) {
			ccc = norm.NFD.PropertiesString(string(r)).CCC()
		}
		list = append(list, ranked{r, ccc})
	}
	for _, r := range s {
		if odd.has(r) || r < utf8.RuneSelf {
			list = append(list, ranked{r, 0})
			continue
		}
		for _, d := range decomposed.String(string(r)) {
			add(d)
		}
	}
	for i := 0; i < len(list); {
		j := i
		for j < len(list) && list[j].ccc != 0 {
			j++
		}
		slices.SortStableFunc(list[i:j], func(a, b ranked) int { return int(a.ccc) - int(b.ccc) })
		i = j + 1
	}
	if f.compose {
		list = composed(list)
	}
	var b strings.Builder
	for _, c := range list {
		b.WriteRune(c.r)
	}
	return b.String()
}

// composed joins characters with the starter before them unless something of the same or a higher
// class stands between.
func composed(list []ranked) []ranked {
	out := list[:0:0]
	starter, last := -1, -1 // index of the starter; class of what follows it, -1 directly behind it
	for _, c := range list {
		if starter >= 0 && last < int(c.ccc) {
			if r := composePair(out[starter].r, c.r); r >= 0 {
				out[starter].r = r
				continue
			}
		}
		if c.ccc == 0 {
			starter, last = len(out), -1
		} else {
			last = int(c.ccc)
		}
		out = append(out, c)
	}
	return out
}

// pairs are the primary composites by their two parts.
var pairs = sync.OnceValue(func() map[[2]rune]rune {
	table := map[[2]rune]rune{}
	odd := leftAlone()
	for r := rune(0xa0); r < 0x30000; r++ {
		if r >= 0xac00 && r <= 0xd7ff || odd.has(r) {
			continue
		}
		s := string(r)
		d := norm.NFD.PropertiesString(s).Decomposition()
		if d == nil || norm.NFC.String(s) != s {
			continue
		}
		second, size := utf8.DecodeLastRune(d)
		first := []rune(norm.NFC.String(string(d[:len(d)-size])))
		if len(first) == 1 {
			table[[2]rune{first[0], second}] = r
		}
	}
	return table
})

func composePair(a, b rune) rune {
	switch {
	case a >= 0x1100 && a < 0x1113 && b >= 0x1161 && b < 0x1176:
		return 0xac00 + ((a-0x1100)*21+b-0x1161)*28
	case a >= 0xac00 && a <= 0xd7a3 && (a-0xac00)%28 == 0 && b > 0x11a7 && b < 0x11c3:
		return a + b - 0x11a7
	}
	if r, ok := pairs()[[2]rune{a, b}]; ok {
		return r
	}
	return -1
}
