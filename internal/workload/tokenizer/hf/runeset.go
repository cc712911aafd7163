package hf

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// runeSet is a set of code points as ranges in order, without overlap.
type runeSet []runeRange

type runeRange struct{ lo, hi rune }

func (s runeSet) normal() runeSet {
	slices.SortFunc(s, func(a, b runeRange) int { return int(a.lo - b.lo) })
	out := s[:0]
	for _, r := range s {
		if n := len(out); n > 0 && r.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, r.hi)
		} else {
			out = append(out, r)
		}
	}
	return out
}

func (s runeSet) negated() runeSet {
	var out runeSet
	next := rune(0)
	for _, r := range s {
		if r.lo > next {
			out = append(out, runeRange{next, r.lo - 1})
		}
		next = r.hi + 1
	}
	if next <= unicode.MaxRune {
		out = append(out, runeRange{next, unicode.MaxRune})
	}
	return out
}

func (s runeSet) and(t runeSet) runeSet {
	return slices.Concat(s.negated(), t.negated()).normal().negated()
}

// spell returns the set as a class of the matcher.
func (s runeSet) spell() string {
	if len(s) == 0 {
		return `(?!)` // matches nothing
	}
	if len(s) == 1 && s[0] == (runeRange{0, unicode.MaxRune}) {
		return `[\s\S]`
	}
	var b strings.Builder
	b.WriteByte('[')
	put := func(r rune) {
		switch {
		case r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0xd800 && r <= 0xdfff || strings.ContainsRune(`\]^-[`, r):
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	for _, r := range s {
		put(r.lo)
		if r.hi > r.lo {
			b.WriteByte('-')
			put(r.hi)
		}
	}
	b.WriteByte(']')
	return b.String()
}

func setOf(c charset) runeSet {
	var out runeSet
	for i, bits := range c {
		for b := range 64 {
			if bits>>b&1 == 0 {
				continue
			}
			r := rune(i*64 + b)
			if n := len(out); n > 0 && out[n-1].hi == r-1 {
				out[n-1].hi = r
			} else {
				out = append(out, runeRange{r, r})
			}
		}
	}
	return out
}

// later are the members of a property that Unicode 15.1 and 16.0 added.
var later = map[string]string{
	"Lu": "1c89 a7cb-a7cc a7da a7dc 10d50-10d65",
	"Ll": "1c8a a7cd a7db 10d70-10d85",
	"Lm": "10d4e 10d6f 16d40-16d42 16d6b-16d6c",
	"Lo": "105c0-105f3 10d4a-10d4d 10d4f 10ec2-10ec4 11380-11389 1138b 1138e 11390-113b5 113b7 113d1 113d3 " +
		"11bc0-11be0 13460-143fa 16100-1611d 16d43-16d6a 18cff 1e5d0-1e5ed 1e5f0 2ebf0-2ee5d",
	"M": "897 10d69-10d6d 10efc 113b8-113c0 113c2 113c5 113c7-113ca 113cc-113d0 113d2 113e1-113e2 11f5a " +
		"1611e-1612f 1e5ee-1e5ef",
	"Nd": "10d40-10d49 116d0-116e3 11bf0-11bf9 16130-16139 16d70-16d79 1ccf0-1ccf9 1e5f1-1e5fa",
	"P":  "1b4e-1b4f 1b7f 10d6e 113d4-113d5 113d7-113d8 11be1 16d6d-16d6f 1e5ff",
	"S": "2427-2429 2ffc-2fff 31e4-31e5 31ef 10d8e-10d8f 1cc00-1ccef 1cd00-1ceb3 1f8b2-1f8bb 1f8c0-1f8c1 1fa89 " +
		"1fa8f 1fabe 1fac6 1fadc 1fadf 1fae9 1fbcb-1fbef",
	"Han": "2ebf0-2ee5d",
}

// properties are the sets that were made already. They are shared and must not be changed.
var properties sync.Map

// property returns the set of \p{name}; names are compared without case, blanks, - and _.
func property(name string) (runeSet, error) {
	if s, ok := properties.Load(name); ok {
		return s.(runeSet), nil
	}
	s, err := makeProperty(name)
	if err == nil {
		properties.Store(name, s)
	}
	return s, err
}

// makeProperty returns the characters of a Unicode property by any of its names, as a regular expression may write
// them. Go's tables are older than those of the library's Rust: what was assigned since is added.
func makeProperty(name string) (runeSet, error) {
	plain := func(s string) string {
		return strings.ToLower(strings.NewReplacer(" ", "", "-", "", "_", "").Replace(s))
	}
	want := plain(name)
	if long, ok := longNames[want]; ok {
		want = long
	}
	var c charset
	for _, tables := range []map[string]*unicode.RangeTable{unicode.Categories, unicode.Scripts, unicode.Properties} {
		for n, t := range tables {
			if plain(n) != want {
				continue
			}
			c.addTable(t)
			c.addRanges(later[n])
			switch n {
			case "L":
				c.addRanges(strings.Join([]string{later["Lu"], later["Ll"], later["Lm"], later["Lo"]}, " "))
			case "N":
				c.addRanges(later["Nd"])
			}
			return setOf(c), nil
		}
	}
	switch want {
	case "any":
		return runeSet{{0, unicode.MaxRune}}, nil
	case "ascii":
		return runeSet{{0, 0x7f}}, nil
	case "alnum":
		letters, _ := property("L")
		digits, _ := property("Nd")
		return slices.Concat(letters, digits).normal(), nil
	case "punct":
		marks, _ := property("P")
		symbols, _ := property("S")
		return slices.Concat(marks, symbols).normal(), nil
	case "word":
		return wordSet(), nil
	case "space":
		return spaceSet(), nil
	}
	return nil, fmt.Errorf("the property %q is not known", name)
}

var longNames = map[string]string{
	"letter": "l", "uppercaseletter": "lu", "lowercaseletter": "ll", "titlecaseletter": "lt", "modifierletter": "lm",
	"otherletter": "lo",
	"mark":        "m", "nonspacingmark": "mn", "number": "n", "decimalnumber": "nd", "letternumber": "nl",
	"othernumber": "no",
	"punctuation": "p", "symbol": "s", "separator": "z", "other": "c", "control": "cc", "alpha": "l", "alphabetic": "l",
	"digit": "nd",
	"upper": "lu", "lower": "ll", "cntrl": "cc",
}

func spaceSet() runeSet {
	var c charset
	c.addTable(unicode.White_Space)
	return setOf(c)
}

// wordSet is \w of the expression engine, which takes superscripts and fractions of Latin-1 for word
// characters and joiners not.
func wordSet() runeSet {
	return slices.Concat(setOf(wordChars()), runeSet{{0xb2, 0xb3}, {0xb9, 0xb9}, {0xbc, 0xbe}}).normal().
		and(runeSet{{0x200c, 0x200d}}.negated())
}

// setEscape reads an escape for a set or a code point.
func (t *translator) setEscape() (runeSet, error) {
	t.at++
	if !t.more() {
		return nil, errors.New("it ends with a backslash")
	}
	r, size := utf8.DecodeRuneInString(t.src[t.at:])
	t.at += size
	switch r {
	case 'p', 'P':
		return t.propertyEscape(r == 'P')
	case 'w':
		return wordSet(), nil
	case 'W':
		return wordSet().negated(), nil
	case 's':
		return spaceSet(), nil
	case 'S':
		return spaceSet().negated(), nil
	case 'd':
		return property("Nd")
	case 'D':
		s, err := property("Nd")
		return s.negated(), err
	case 'h':
		return runeSet{{'0', '9'}, {'A', 'F'}, {'a', 'f'}}, nil
	case 'H':
		return runeSet{{'0', '9'}, {'A', 'F'}, {'a', 'f'}}.negated(), nil
	case 'x', 'u':
		return t.codePoint(r)
	}
	if plain := strings.IndexRune("nrtfvae", r); plain >= 0 {
		r = rune("\n\r\t\f\v\a\x1b"[plain])
	}
	return runeSet{{r, r}}, nil
}

// propertyEscape reads the name of a property, one letter or in braces; ^ in front negates it once more.
func (t *translator) propertyEscape(negated bool) (runeSet, error) {
	if !t.more() {
		return nil, errors.New("a property has no name")
	}
	name := t.src[t.at : t.at+1]
	if name == "{" {
		end := strings.IndexByte(t.src[t.at:], '}')
		if end < 0 {
			return nil, errors.New("a property is not closed")
		}
		name = t.take(end + 1)
		name = name[1 : len(name)-1]
	} else {
		t.at++
	}
	if strings.HasPrefix(name, "^") {
		name, negated = name[1:], !negated
	}
	s, err := property(name)
	if err == nil && negated {
		s = s.negated()
	}
	return s, err
}

// codePoint takes the digits of \xHH, \x{H…} and \uHHHH.
func (t *translator) codePoint(kind rune) (runeSet, error) {
	n := 2
	if kind == 'u' {
		n = 4
	}
	digits := ""
	if t.has("{") {
		end := strings.IndexByte(t.src[t.at:], '}')
		if end < 0 {
			return nil, errors.New("a code point is not closed")
		}
		digits = strings.Trim(t.take(end+1), "{} ")
	} else {
		digits = t.take(min(n, len(t.src)-t.at))
	}
	v, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || v > unicode.MaxRune {
		return nil, fmt.Errorf("%q is not a code point", digits)
	}
	return runeSet{{rune(v), rune(v)}}, nil
}

// class takes a bracketed class: nested ones are joined, && intersects.
func (t *translator) class() (runeSet, error) {
	if t.depth++; t.depth > 200 {
		return nil, errors.New("it nests too deeply")
	}
	defer func() { t.depth-- }()
	t.at++
	negated := t.has("^")
	if negated {
		t.at++
	}
	var set, both runeSet
	intersects := false
	for start := t.at; ; {
		if !t.more() {
			return nil, errors.New("a class is not closed")
		}
		if t.has("]") && t.at > start {
			t.at++
			break
		}
		if t.has("&&") {
			t.at += 2
			if set = set.normal(); intersects {
				set = both.and(set)
			}
			both, set, intersects = set, nil, true
			continue
		}
		item, single, err := t.classItem()
		if err != nil {
			return nil, err
		}
		if single && t.has("-") && t.at+1 < len(t.src) && t.src[t.at+1] != ']' {
			t.at++
			to, single, err := t.classItem()
			if err != nil {
				return nil, err
			}
			if !single || to[0].lo < item[0].lo {
				return nil, errors.New("a range of a class has no end")
			}
			item = runeSet{{item[0].lo, to[0].lo}}
		}
		set = append(set, item...)
	}
	if set = set.normal(); intersects {
		set = both.and(set)
	}
	if negated {
		set = set.negated()
	}
	return set, nil
}

// classItem takes a character, an escape, a nested class or [:name:]. single reports that it is one
// character, which may start a range.
func (t *translator) classItem() (set runeSet, single bool, err error) {
	switch {
	case t.has("[:"):
		if end := strings.Index(t.src[t.at:], ":]"); end > 1 { // 1 is [:], a class of a colon
			name := t.take(end + 2)
			name = name[2 : len(name)-2]
			negated := strings.HasPrefix(name, "^")
			s, err := property(strings.TrimPrefix(name, "^"))
			if err == nil && negated {
				s = s.negated()
			}
			return s, false, err
		}
		fallthrough
	case t.has("["):
		s, err := t.class()
		return s, false, err
	case t.has(`\`):
		s, err := t.setEscape()
		return s, len(s) == 1 && s[0].lo == s[0].hi, err
	}
	r, size := utf8.DecodeRuneInString(t.src[t.at:])
	t.at += size
	return runeSet{{r, r}}, true, nil
}
