package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// SplitFunc finds the first match of a pattern at or after s[i]: s[start:end]. start == len(s) means that
// there is none. s must be valid UTF-8.
type SplitFunc func(s string, i int) (start, end int)

// covering makes a Func of a scanner whose pieces lie side by side.
func covering(scan func(s string, i int) int) SplitFunc {
	return func(s string, i int) (int, int) {
		if i >= len(s) {
			return len(s), len(s)
		}
		return i, scan(s, i)
	}
}

// gpt2 returns the end of the piece that starts at s[i]; it knows no line breaks and no upper case
// contractions. s must be valid UTF-8 and i < len(s).
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func (t *classes) gpt2(s string, i int) int {
	if n := contraction(s[i:]); n > 0 && strings.ToLower(s[i:i+n]) == s[i:i+n] && s[i+1] < utf8.RuneSelf {
		return i + n
	}
	from := i
	if s[i] == ' ' {
		from++
	}
	if from < len(s) {
		switch c, size := t.at(s, from); {
		case c&letter != 0:
			return t.run(s, from+size, letter)
		case c&number != 0:
			return t.run(s, from+size, number)
		case c&space == 0:
			return t.runWithout(s, from+size, space|letter|number)
		}
	}
	return t.spaces(s, i, false)
}

// cl100k returns the end of the piece that starts at s[i], with at most that many digits to a piece. s must be valid
// UTF-8 and i < len(s). The newer spelling of the pattern has \s+$ before the line breaks, which makes one piece of
// white space that ends the text: closing.
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,digits}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func (t *classes) cl100k(s string, i, digits int, closing bool) int {
	if n := contraction(s[i:]); n > 0 {
		return i + n
	}
	c, size := t.at(s, i)
	from := i
	if c&(letter|number|newline) == 0 {
		from += size
	}
	if end := t.run(s, from, letter); end > from {
		return end
	}
	if c&number != 0 {
		return t.numbers(s, i, digits)
	}
	if end := t.marks(s, i); end > i {
		for end < len(s) && (s[end] == '\n' || s[end] == '\r') {
			end++
		}
		return end
	}
	if end := len(s); closing && t.run(s, i, space) == end {
		return end
	}
	return t.spaces(s, i, true)
}

// deepSeekWords returns the last of the three patterns of DeepSeek-V3; code points of other kinds, such as controls,
// lie between its matches.
//
//	[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func (t *classes) deepSeekWords(s string, i int) (int, int) {
	for i < len(s) {
		c, size := t.at(s, i)
		if end := t.deepSeekWord(s, i, c, size); end > i {
			return i, end
		}
		i += size
	}
	return len(s), len(s)
}

// deepSeekWord returns the end of the word at i, by DeepSeek's pattern: its alternatives are tried in their order, the
// first one that matches counts. i if none does. c is the class of the character at i, size its length.
func (t *classes) deepSeekWord(s string, i int, c class, size int) int {
	if s[i] < utf8.RuneSelf && c&symbol != 0 {
		end := i + 1
		for end < len(s) && isASCIILetter(s[end]) {
			end++
		}
		if end > i+1 {
			return end
		}
	}
	// Letters and marks, after one character that is neither letter nor symbol, or alone.
	if c&(letter|newline|symbol) == 0 {
		if end := t.run(s, i+size, upper|lower); end > i+size {
			return end
		}
	}
	if c&(upper|lower) != 0 {
		return t.run(s, i+size, upper|lower)
	}
	from := i
	if s[i] == ' ' {
		from++
	}
	if end := t.run(s, from, symbol); end > from {
		for end < len(s) && (s[end] == '\n' || s[end] == '\r') {
			end++
		}
		return end
	}
	if c&space != 0 {
		return t.spaces(s, i, true)
	}
	return i
}

func isASCIILetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// digitGroups finds \p{N}{1,limit}.
func (t *classes) digitGroups(limit int) SplitFunc {
	return func(s string, i int) (int, int) {
		for i < len(s) {
			c, size := t.at(s, i)
			if c&number != 0 {
				return i, t.numbers(s, i, limit)
			}
			i += size
		}
		return len(s), len(s)
	}
}

// eastAsian finds [一-龥぀-ゟ゠-ヿ]+.
func eastAsian(s string, i int) (int, int) {
	in := func(r rune) bool { return r >= 0x4e00 && r <= 0x9fa5 || r >= 0x3040 && r <= 0x30ff }
	for i < len(s) {
		if s[i] < 0xe3 { // no lead byte of the set
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !in(r) {
			i += size
			continue
		}
		end := i + size
		for end < len(s) {
			r, size := utf8.DecodeRuneInString(s[end:])
			if !in(r) {
				break
			}
			end += size
		}
		return i, end
	}
	return len(s), len(s)
}
