package hf

import (
	"strings"
	"unicode/utf8"

	"aiperf/internal/workload/tokenizer"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// applyCharsmap replaces grapheme by grapheme where a short one has a replacement as a whole, else code point by
// code point: what the reference engine makes of these tables.
func applyCharsmap(m *tokenizer.Charsmap, s string) string {
	if m.Empty() {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for clusters := graphemes.FromString(s); clusters.Next(); {
		cluster := clusters.Value()
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
