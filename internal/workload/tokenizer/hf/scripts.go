package hf

import (
	"sync"
	"unicode"
)

// anyScript is the script of blanks and of what has none: it joins its neighbours.
const anyScript = ""

// scriptPages holds the index of the script of each code point, by pages of 256; a nil page has none.
type scriptPages struct {
	pages [(unicode.MaxRune + 1) / 256]*[256]uint8
	names []string
}

var scripts = sync.OnceValue(func() *scriptPages {
	p := &scriptPages{names: []string{anyScript}}
	set := func(r rune, index uint8) {
		page := &p.pages[r/256]
		if *page == nil {
			*page = new([256]uint8)
		}
		(*page)[r%256] = index
	}
	for name, table := range unicode.Scripts {
		index := uint8(len(p.names))
		p.names = append(p.names, name)
		var all charset
		all.addTable(table)
		for i, bits := range all {
			for b := range 64 {
				if bits>>b&1 != 0 {
					set(rune(i*64+b), index)
				}
			}
		}
	}
	index := func(name string) uint8 {
		for i, n := range p.names {
			if n == name {
				return uint8(i)
			}
		}
		return 0
	}
	// What the reference engine's older table has otherwise.
	for r := range rune(unicode.MaxRune + 1) {
		if page := p.pages[r/256]; page != nil && scriptless().has(r) {
			page[r%256] = 0
		}
	}
	common, han := index("Common"), index("Han")
	set(0x589, common)
	set(0x61c, common)
	set(0x953, index("Devanagari"))
	set(0x954, index("Devanagari"))
	set(0x30fc, han)
	set(' ', 0)
	kana := [2]uint8{index("Hiragana"), index("Katakana")}
	for _, page := range p.pages {
		if page == nil {
			continue
		}
		for i, s := range page {
			if s == kana[0] || s == kana[1] {
				page[i] = han
			}
		}
	}
	return p
})

func (p *scriptPages) of(r rune) uint8 {
	if page := p.pages[r/256]; page != nil {
		return page[r%256]
	}
	return 0
}

// splitScripts cuts where the script changes; what comes before the first character with a script is
// dropped, as the reference engine does.
func splitScripts(text string, lead int, emit func(string, int)) {
	p := scripts()
	start, last := -1, uint8(0)
	for i, r := range text {
		s := p.of(r)
		if s == 0 {
			continue
		}
		if s != last {
			if start >= 0 {
				emit(text[start:i], max(0, lead-start))
			}
			start, last = i, s
		}
	}
	if start >= 0 {
		emit(text[start:], max(0, lead-start))
	}
}
