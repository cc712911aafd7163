package hf

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// charsmap is the replacement table of SentencePiece: a double-array trie over bytes and the
// replacements, each ended by a zero.
type charsmap struct {
	units    []uint32
	replaced string
}

func newCharsmap(text string) (*charsmap, error) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("precompiled_charsmap: %w", err)
	}
	return parseCharsmap(raw)
}

func parseCharsmap(raw []byte) (*charsmap, error) {
	if len(raw) == 0 {
		return &charsmap{}, nil
	}
	if len(raw) < 4 {
		return nil, errors.New("precompiled_charsmap is too short")
	}
	size := int(binary.LittleEndian.Uint32(raw))
	if size > len(raw)-4 || size%4 != 0 {
		return nil, errors.New("precompiled_charsmap is cut off")
	}
	m := &charsmap{units: make([]uint32, size/4), replaced: string(raw[4+size:])}
	for i := range m.units {
		m.units[i] = binary.LittleEndian.Uint32(raw[4+4*i:])
	}
	return m, nil
}

// prefixes calls found for every key that s starts with, the shortest first.
func (m *charsmap) prefixes(s string, found func(length int, value uint32) (more bool)) {
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

// text is the replacement at an offset.
func (m *charsmap) text(at uint32) string {
	if int(at) > len(m.replaced) {
		return ""
	}
	s := m.replaced[at:]
	if end := strings.IndexByte(s, 0); end >= 0 {
		return s[:end]
	}
	return s
}

// replacement is the text for the shortest key that s starts with.
func (m *charsmap) replacement(s string) (string, bool) {
	var out string
	ok := false
	m.prefixes(s, func(_ int, value uint32) bool {
		out, ok = m.text(value), true
		return false
	})
	return out, ok
}

// apply replaces grapheme by grapheme where a short one has a replacement as a whole, else code point by
// code point: what the reference engine makes of these tables.
func (m *charsmap) apply(s string) string {
	if len(m.units) == 0 {
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
			if text, ok := m.replacement(cluster); ok {
				b.WriteString(text)
				continue
			}
		}
		for i, r := range cluster {
			part := cluster[i : i+utf8.RuneLen(r)]
			if text, ok := m.replacement(part); ok {
				b.WriteString(text)
			} else {
				b.WriteString(part)
			}
		}
	}
	return b.String()
}
