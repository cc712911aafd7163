package load

import (
	"strings"
	"unicode/utf8"
)

// Decode returns the text of ids; control pieces appear as their text.
func (t *SentencePiece) Decode(ids []int) string {
	var b strings.Builder
	atStart := true
	for i := 0; i < len(ids); i++ {
		if row := t.byteRow(ids[i:]); len(row) > 0 {
			writeBytes(&b, row)
			i += len(row) - 1
			atStart = false
			continue
		}
		text, sawBlank := t.surface(ids[i], atStart)
		b.WriteString(text)
		if sawBlank || text != "" {
			atStart = false
		}
	}
	return b.String()
}

// surface returns the text of one piece; at the start of the text the blank of a word is removed.
func (t *SentencePiece) surface(id int, atStart bool) (text string, sawBlank bool) {
	if id < 0 || id >= len(t.kinds) {
		return string(utf8.RuneError), false
	}
	text = t.text(id)
	switch t.kind(int32(id)) {
	case control:
		return text, false
	case unknown:
		return t.p.UnkSurface, false
	}
	if atStart && (t.p.DummyPrefix || t.p.RemoveExtra) {
		text, sawBlank = strings.CutPrefix(text, blank)
		if t.p.RemoveExtra {
			sawBlank = false
		}
	}
	return strings.ReplaceAll(text, blank, " "), sawBlank
}

// byteRow returns the bytes of the byte pieces that ids start with.
func (t *SentencePiece) byteRow(ids []int) []byte {
	var row []byte
	for _, id := range ids {
		if id < 0 || id >= len(t.kinds) || t.kind(int32(id)) != byteKind {
			break
		}
		for b, known := range t.bytes {
			if int(known) == id {
				row = append(row, byte(b))
				break
			}
		}
	}
	return row
}

// writeBytes writes text; a byte that belongs to none becomes U+FFFD.
func writeBytes(b *strings.Builder, row []byte) {
	for len(row) > 0 {
		r, size := utf8.DecodeRune(row)
		b.WriteRune(r)
		row = row[size:]
	}
}
