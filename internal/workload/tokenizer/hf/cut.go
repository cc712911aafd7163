package hf

import "unicode/utf8"

// cutter cuts a text where no merge can reach across: between two characters that no merge brings
// together. Where a vocabulary has no pre-tokenizer this is what keeps words short, and it changes no id.
type cutter struct {
	possible bool
	b        *bpe
	merging  *runePairs                                // last and first characters that a merge brings together
	ascii    [utf8.RuneSelf][utf8.RuneSelf / 64]uint64 // the pairs of ASCII among them
	bytes    bool                                      // characters that become bytes may be cut off, too
}

func newCutter(b *bpe) *cutter {
	c := &cutter{b: b, merging: newRunePairs(), possible: b.prefix == "" && b.suffix == "", bytes: b.fallback != nil}
	if c.bytes {
		for _, id := range b.fallback {
			c.bytes = c.bytes && id >= 0
		}
	}
	return c
}

// addMerge notes that a merge brings two characters together.
func (c *cutter) addMerge(left, right string, l, r int32) {
	if !c.possible {
		return
	}
	if l == c.b.unk || r == c.b.unk {
		c.possible = false
	}
	if c.b.fallback != nil && (isByteToken(left) || isByteToken(right)) {
		c.possible = false
	}
	a, _ := utf8.DecodeLastRuneInString(left)
	b, _ := utf8.DecodeRuneInString(right)
	c.merging.add(a, b)
	c.addASCII(a, b)
}

// addASCII notes a pair of ASCII where it is found fastest.
func (c *cutter) addASCII(a, b rune) {
	if a < utf8.RuneSelf && b < utf8.RuneSelf {
		c.ascii[a][b/64] |= 1 << (b % 64)
	}
}

func isByteToken(s string) bool { return len(s) == 6 && s[:3] == "<0x" && s[5] == '>' }

func (c *cutter) each(s string, part func(string)) {
	start := 0
	previous, known := rune(-1), false
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		known2 := c.bytes || c.b.char(r) >= 0
		if known && known2 && !c.joins(previous, r) {
			part(s[start:i])
			start = i
		}
		previous, known = r, known2
		i += size
	}
	if start < len(s) {
		part(s[start:])
	}
}

func (c *cutter) joins(a, b rune) bool {
	if a < utf8.RuneSelf && b < utf8.RuneSelf {
		return c.ascii[a][b/64]>>(b%64)&1 != 0
	}
	return c.merging.has(a, b)
}
