package hf

import (
	"strings"
	"unicode/utf8"
)

// byteChars are the printable characters that stand for the bytes in a byte-level vocabulary: bytes
// that are printable in Latin-1 stand for themselves, the others for the code points from U+0100 on.
var byteChars, charBytes = func() (chars [256]rune, bytes map[rune]byte) {
	bytes = map[rune]byte{}
	next := rune(0x100)
	for b := range 256 {
		r := rune(b)
		if b < '!' || b > '~' && b < 0xa1 || b == 0xad {
			r = next
			next++
		}
		chars[b], bytes[r] = r, byte(b)
	}
	return chars, bytes
}()

func toByteChars(s string) string {
	var b strings.Builder
	b.Grow(2 * len(s))
	for i := range len(s) {
		b.WriteRune(byteChars[s[i]])
	}
	return b.String()
}

// fromByteChars is the bytes that a token stands for, unless one of its characters stands for none.
func fromByteChars(s string) (string, bool) {
	out := make([]byte, 0, len(s))
	for _, r := range s {
		b, ok := charBytes[r]
		if !ok {
			return "", false
		}
		out = append(out, b)
	}
	return string(out), true
}

// isOneChar tells whether s is a single code point.
func isOneChar(s string) bool {
	_, size := utf8.DecodeRuneInString(s)
	return size == len(s) && size > 0
}
