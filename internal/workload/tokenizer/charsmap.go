package tokenizer

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// Charsmap is the replacement table: a double-array trie over bytes and the
// replacements, each ended by a zero.
type Charsmap struct {
	units    []uint32
	replaced string
}

// CharsmapFromBase64 reads a table as tokenizer.json has it.
func CharsmapFromBase64(text string) (*Charsmap, error) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("precompiled_charsmap: %w", err)
	}
	return ParseCharsmap(raw)
}

// ParseCharsmap reads a table as a .model file has it.
func ParseCharsmap(raw []byte) (*Charsmap, error) {
	if len(raw) == 0 {
		return &Charsmap{}, nil
	}
	if len(raw) < 4 {
		return nil, errors.New("precompiled_charsmap is too short")
	}
	size := int(binary.LittleEndian.Uint32(raw))
	if size > len(raw)-4 || size%4 != 0 {
		return nil, errors.New("precompiled_charsmap is truncated")
	}
	m := &Charsmap{units: make([]uint32, size/4), replaced: string(raw[4+size:])}
	for i := range m.units {
		m.units[i] = binary.LittleEndian.Uint32(raw[4+4*i:])
	}
	return m, nil
}

// prefixes calls found for every key that s starts with, the shortest first.
func (m *Charsmap) prefixes(s string, found func(length int, value uint32) (more bool)) {
	if len(m.units) == 0 {
		return
	}
	offset := func(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }
	at := offset(m.units[0])
	for i := range len(s) {
		if s[i] == 0 {
			return
		}
		at ^= uint32(s[i])
		if int(at) >= len(m.units) {
			return
		}
		unit := m.units[at]
		if unit&(1<<31|0xff) != uint32(s[i]) {
			return
		}
		at ^= offset(unit)
		if int(at) >= len(m.units) {
			return
		}
		if unit>>8&1 == 1 && !found(i+1, m.units[at]&(1<<31-1)) {
			return
		}
	}
}

// Empty reports whether the table changes nothing.
func (m *Charsmap) Empty() bool { return len(m.units) == 0 }

// Longest returns the replacement for the longest key that s starts with, and the length of that key.
func (m *Charsmap) Longest(s string) (text string, length int) {
	m.prefixes(s, func(n int, value uint32) bool {
		text, length = m.text(value), n
		return true
	})
	return text, length
}

// LongestText returns the length of the longest replacement.
func (m *Charsmap) LongestText() int {
	longest := 0
	for text := range strings.SplitSeq(m.replaced, "\x00") {
		longest = max(longest, len(text))
	}
	return longest
}

// text returns the replacement at an offset.
func (m *Charsmap) text(at uint32) string {
	if int(at) > len(m.replaced) {
		return ""
	}
	s := m.replaced[at:]
	if end := strings.IndexByte(s, 0); end >= 0 {
		return s[:end]
	}
	return s
}

// Shortest returns the text for the shortest key that s starts with.
func (m *Charsmap) Shortest(s string) (string, bool) {
	var out string
	ok := false
	m.prefixes(s, func(_ int, value uint32) bool {
		out, ok = m.text(value), true
		return false
	})
	return out, ok
}
