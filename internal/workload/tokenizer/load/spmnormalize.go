package load

import (
	"strings"
	"unicode/utf8"
)

// normalize replaces characters by the model's table, joins and trims white space, and marks where words
// begin, as the model asks.
func (t *SentencePiece) normalize(text string) string {
	if t.p.RemoveExtra {
		for text != "" {
			part, n := t.normalPrefix(text)
			if part != " " {
				break
			}
			text = text[n:]
		}
	}
	if text == "" {
		return ""
	}
	space := " "
	if t.p.EscapeWhitespace {
		space = blank
	}
	b := make([]byte, 0, len(text)+len(text)/2+8)
	if !t.p.WhitespaceSuffix && t.p.DummyPrefix {
		b = append(b, space...)
	}
	afterSpace := t.p.RemoveExtra
	for text != "" {
		part, n := t.normalPrefix(text)
		if afterSpace {
			part = strings.TrimLeft(part, " ")
		}
		if part != "" {
			for i := range len(part) {
				if part[i] == ' ' {
					b = append(b, space...)
				} else {
					b = append(b, part[i])
				}
			}
			afterSpace = strings.HasSuffix(part, " ")
		}
		text = text[n:]
		afterSpace = afterSpace && t.p.RemoveExtra
	}
	out := string(b)
	if t.p.RemoveExtra {
		for strings.HasSuffix(out, space) {
			out = out[:len(out)-len(space)]
		}
	}
	if t.p.WhitespaceSuffix && t.p.DummyPrefix {
		out += space
	}
	return out
}

// normalPrefix returns what the start of text becomes and how much of text that is. User-defined pieces stay.
func (t *SentencePiece) normalPrefix(text string) (string, int) {
	if n, _ := t.user.Longest(text); n > 0 {
		return text[:n], n
	}
	if !t.chars.Empty() {
		if part, n := t.chars.Longest(text); n > 0 {
			return part, n
		}
	}
	_, n := utf8.DecodeRuneInString(text)
	return text[:n], n
}
