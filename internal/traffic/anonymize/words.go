package anonymize

import (
	"hash/maphash"
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// window is how many words in a row must not be found again.
const window = 5

// filterBits is the size of the filter of sequences: 32 MiB.
const filterBits = 1 << 28

// Words remembers every sequence of five words of texts, in memory of fixed size: a Bloom filter. It never misses one;
// when it is full it takes others for one, too, which does no harm: a recording holds no text of five words at all.
//
// A word is a run of letters, digits and marks, with the signs that stand inside of names (-_./:@+). Of scripts that
// write no spaces each letter is a word.
type Words struct {
	seed   maphash.Seed
	filter []uint64
	count  int64
}

// NewWords returns an empty memory.
func NewWords() *Words {
	return &Words{seed: maphash.MakeSeed(), filter: make([]uint64, filterBits/64)}
}

// Count is the number of sequences that were added, each as often as it stands in the texts.
func (w *Words) Count() int64 { return w.count }

// Add takes the sequences of a text in. Where the text is JSON, its escapes are undone.
func (w *Words) Add(text []byte, json bool) {
	w.each(text, json, func(at [2]uint64) bool {
		for _, bit := range places(at) {
			w.filter[bit/64] |= 1 << (bit % 64)
		}
		w.count++
		return true
	})
}

// Has reports whether a text has a sequence that was added.
func (w *Words) Has(text []byte) (found bool) {
	w.each(text, false, func(at [2]uint64) bool {
		for _, bit := range places(at) {
			if w.filter[bit/64]&(1<<(bit%64)) == 0 {
				return true
			}
		}
		found = true
		return false
	})
	return found
}

// places are the bits of a sequence.
func places(h [2]uint64) (bits [4]uint64) {
	for i := range bits {
		bits[i] = (h[0] + uint64(i)*h[1]) % filterBits
	}
	return bits
}

// each calls f with two hashes of every sequence until f returns false.
func (w *Words) each(text []byte, json bool, f func([2]uint64) bool) {
	var last [window]uint64
	have := 0
	var word []byte
	take := func(word []byte) bool {
		copy(last[:], last[1:])
		last[window-1] = maphash.Bytes(w.seed, word)
		if have++; have < window {
			return true
		}
		var h uint64
		for _, one := range last {
			h = bits.RotateLeft64(h, 13)*0x9e3779b97f4a7c15 ^ one
		}
		return f([2]uint64{h, h>>32 | h<<32 | 1})
	}
	end := func() bool {
		for len(word) > 0 && inside(rune(word[len(word)-1])) {
			word = word[:len(word)-1]
		}
		if len(word) == 0 {
			return true
		}
		more := take(word)
		word = word[:0]
		return more
	}
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if json && r == '\\' {
			r, size = unescape(text)
		}
		text = text[size:]
		switch {
		case alone(r):
			if !end() || !take(utf8.AppendRune(nil, r)) {
				return
			}
		case r < utf8.RuneSelf && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z'),
			r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)),
			inside(r) && len(word) > 0:
			word = utf8.AppendRune(word, unicode.ToLower(r))
		default:
			if !end() {
				return
			}
		}
	}
	end()
}

// inside reports whether a sign stands inside of names.
func inside(r rune) bool {
	switch r {
	case '-', '_', '.', '/', ':', '@', '+':
		return true
	}
	return false
}

// alone reports whether a letter is of a script that writes no spaces.
func alone(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
		unicode.Khmer, unicode.Myanmar)
}

// unescape returns the character of an escape of JSON and its length; white space stands for what is none.
func unescape(text []byte) (rune, int) {
	if len(text) < 2 {
		return ' ', len(text)
	}
	switch text[1] {
	case 'u':
		r, ok := unit(text)
		if !ok {
			return ' ', 2
		}
		if low, ok := unit(text[6:]); ok && r >= 0xd800 && r < 0xdc00 && low >= 0xdc00 && low < 0xe000 {
			return (r-0xd800)<<10 + low - 0xdc00 + 0x10000, 12
		}
		return r, 6
	case 'n', 't', 'r', 'b', 'f':
		return ' ', 2
	}
	return rune(text[1]), 2
}

// unit reads an escape of four digits.
func unit(text []byte) (r rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	for _, c := range text[2:6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
