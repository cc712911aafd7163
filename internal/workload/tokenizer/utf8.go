package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// Lossy makes text valid UTF-8: each longest start of a character that stays incomplete, and each
// byte that starts none, becomes one U+FFFD (the practice that the Unicode standard recommends).
func Lossy(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 8)
	for len(text) > 0 {
		if _, size := utf8.DecodeRuneInString(text); size > 1 || text[0] < utf8.RuneSelf {
			b.WriteString(text[:size])
			text = text[size:]
			continue
		}
		b.WriteRune(utf8.RuneError)
		text = text[badLength(text):]
	}
	return b.String()
}

// badLength returns the length of the ill-formed stretch at the start of s that one U+FFFD stands for.
func badLength(s string) int {
	want, lo, hi := 1, byte(0x80), byte(0xbf) // the bytes of the character; the bounds of its second byte
	switch b := s[0]; {
	case b >= 0xc2 && b <= 0xdf:
		want = 2
	case b >= 0xe0 && b <= 0xef:
		want = 3
		if b == 0xe0 {
			lo = 0xa0
		} else if b == 0xed {
			hi = 0x9f
		}
	case b >= 0xf0 && b <= 0xf4:
		want = 4
		if b == 0xf0 {
			lo = 0x90
		} else if b == 0xf4 {
			hi = 0x8f
		}
	}
	n := 1
	for n < want && n < len(s) && s[n] >= lo && s[n] <= hi {
		n, lo, hi = n+1, 0x80, 0xbf
	}
	return n
}
