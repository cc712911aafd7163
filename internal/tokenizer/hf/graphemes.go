package hf

import (
	"strings"
	"unicode/utf8"

	"aiperf/internal/tokenizer/charsmap"

	"github.com/rivo/uniseg"
)

// applyCharsmap replaces grapheme by grapheme where a short one has a replacement as a whole, else code point by
// code point: what the reference engine makes of these tables.
func applyCharsmap(m *charsmap.Map, s string) string {
	if m.Empty() {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	state := -1
	for rest := s; rest != ""; {
		var cluster string
		if rest[0] < utf8.RuneSelf && (len(rest) == 1 || rest[1] < utf8.RuneSelf && rest[0] != '\r') {
			cluster, rest, state = rest[:1], rest[1:], -1
		} else {
			cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		}
		if len(cluster) < 6 {
			if text, ok := m.Shortest(cluster); ok {
				b.WriteString(text)
				continue
			}
		}
		for i, r := range cluster {
			part := cluster[i : i+utf8.RuneLen(r)]
			if text, ok := m.Shortest(part); ok {
				b.WriteString(text)
			} else {
				b.WriteString(part)
			}
		}
	}
	return b.String()
}
