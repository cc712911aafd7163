package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// o200k returns the end of the piece of the o200k_base vocabulary that starts at s[i]. Pieces are never
// merged with each other. s must be valid UTF-8 and i < len(s).
func (t *classes) o200k(s string, i int) int { return t.cased(s, i, 3, true) }

// cased returns the end of a piece of the o200k family, which distinguishes upper and lower case; in order of
// preference:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,digits}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
//
// The contractions belong to it if contracts is set.
func (t *classes) cased(s string, i, digits int, contracts bool) int {
	c, size := t.at(s, i)
	if end := t.word(s, i, c, size); end > 0 {
		if contracts {
			end += contraction(s[end:])
		}
		return end
	}
	if c&number != 0 {
		return t.numbers(s, i, digits)
	}
	if end := t.marks(s, i); end > i {
		for end < len(s) && (s[end] == '\n' || s[end] == '\r' || s[end] == '/') {
			end++
		}
		return end
	}
	return t.spaces(s, i, true)
}

// numbers returns the end of a run of at most limit numbers from i.
func (t *classes) numbers(s string, i, limit int) int {
	for ; limit > 0 && i < len(s); limit-- {
		c, size := t.at(s, i)
		if c&number == 0 {
			break
		}
		i += size
	}
	return i
}

// marks returns the end of " ?[^\s\p{L}\p{N}]+" from i, or i.
func (t *classes) marks(s string, i int) int {
	from := i
	if s[i] == ' ' {
		from++
	}
	if end := t.runWithout(s, from, space|letter|number); end > from {
		return end
	}
	return i
}

// word returns the end of the first two alternatives without the contraction, or -1: each is tried
// behind the optional one-character prefix, then without it.
func (t *classes) word(s string, i int, c class, size int) int {
	prefix := c&(letter|number|newline) == 0
	if prefix {
		if end := t.mixed(s, i+size); end > 0 {
			return end
		}
	}
	if c&(upper|lower) != 0 {
		if end := t.mixed(s, i); end > 0 {
			return end
		}
	}
	// Where no lower-case character can be reached, what is left is a run of capitals.
	if prefix {
		if end := t.run(s, i+size, upper); end > i+size {
			return end
		}
	}
	if end := t.run(s, i, upper); end > i {
		return end
	}
	return -1
}

// mixed returns the end of U*W+ from i, or -1, where U is upper and W is lower; some classes are both.
func (t *classes) mixed(s string, i int) int {
	end, last := i, -1 // last: the end of the last character of the U run that is also W
	for end < len(s) {
		c, size := t.at(s, end)
		if c&upper == 0 {
			if c&lower != 0 {
				return t.run(s, end+size, lower)
			}
			break
		}
		end += size
		if c&lower != 0 {
			last = end
		}
	}
	return last
}

// spaces returns the end of a white space piece from i. Of a run it leaves the last character to the
// word that follows, unless breaks is set and the run holds a line break, after the last of which it ends.
func (t *classes) spaces(s string, i int, breaks bool) int {
	end := t.run(s, i, space)
	if breaks {
		if at := strings.LastIndexAny(s[i:end], "\r\n"); at >= 0 {
			return i + at + 1
		}
	}
	if end == len(s) {
		return end
	}
	if _, size := utf8.DecodeLastRuneInString(s[i:end]); end-size > i {
		return end - size
	}
	return end
}

// contraction returns the length of an English contraction at the start of s, or 0. Folding case takes
// the long s (U+017F) for an s.
func contraction(s string) int {
	if len(s) < 2 || s[0] != '\'' {
		return 0
	}
	switch s[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v':
		if len(s) > 2 && s[2]|0x20 == 'e' {
			return 3
		}
	case 'l':
		if len(s) > 2 && s[2]|0x20 == 'l' {
			return 3
		}
	}
	if strings.HasPrefix(s[1:], "ſ") {
		return 3
	}
	return 0
}
