package hf

import (
	"strings"
	"unicode/utf8"
)

// byteChars are the printable characters that stand for the bytes in a byte-level vocabulary: bytes
// that are printable in Latin-1 stand for themselves, the others for the code points from U+0100 on.
var byteChars, charBytes = func() (chars [256]rune, bytes [0x180]int16) {
	for i := range bytes {
		bytes[i] = -1
	}
	next := rune(0x100)
	for b := range 256 {
		r := rune(b)
		if b < '!' || b > '~' && b < 0xa1 || b == 0xad {
			r = next
			next++
		}
		chars[b], bytes[r] = r, int16(b)
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

// appendBytes adds the bytes that a token stands for, or the token itself where one of its characters stands for none.
func appendBytes(out []byte, s string) []byte {
	start := len(out)
	for _, r := range s {
		if r >= rune(len(charBytes)) || charBytes[r] < 0 {
			return append(out[:start], s...)
		}
		out = append(out, byte(charBytes[r]))
	}
	return out
}

// isOneChar reports whether s is a single code point.
func isOneChar(s string) bool {
	_, size := utf8.DecodeRuneInString(s)
	return size == len(s) && size > 0
}
