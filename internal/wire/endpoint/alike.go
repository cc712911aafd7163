package endpoint

import (
	"bytes"
	"unicode/utf8"

	"aiperf/internal/base/jsonscan"
)

// alike knows the last event that did nothing but add content. Most events of a stream differ from it in their content
// alone; comparing the rest takes an eighth of the time of scanning it. What is equal around one string is the same
// document around it: no value is taken from an event that was not scanned, but the string, which is.
type alike struct {
	text     []byte // empty = none
	from, to int    // the content with its quotes
}

// maxAlike bounds the event that is kept, which thousands of streams do.
const maxAlike = 1024

// keep remembers an event with its content, which is a part of it.
func (a *alike) keep(data, content []byte) {
	a.text = a.text[:0]
	from := cap(data) - cap(content) // both end with the memory that they share
	if len(data) > maxAlike || from < 0 || from+len(content) > len(data) || &data[from] != &content[0] {
		return
	}
	a.text = append(a.text, data...)
	a.from, a.to = from, from+len(content)
}

// match is the raw content of an event at the beginning of b that differs from the one kept in nothing else, and the
// event's length; 0 if there is none, or it has no content.
func (a *alike) match(b []byte) (raw []byte, n int, escaped bool) {
	// The opening quote belongs to what must be equal; the closing one is where the string ends.
	if len(a.text) == 0 || len(b) <= a.from || !bytes.Equal(b[:a.from+1], a.text[:a.from+1]) {
		return nil, 0, false
	}
	end, escaped := jsonscan.String(b, a.from)
	n = end + len(a.text) - a.to
	if end <= a.from+len(`""`) || len(b) < n || !bytes.Equal(b[end:n], a.text[a.to:]) {
		return nil, 0, false
	}
	return b[a.from:end], n, escaped
}

// content is the raw content of an event that matches; nil if it does not.
func (a *alike) content(data []byte) []byte {
	raw, n, _ := a.match(data)
	if n != len(data) {
		return nil
	}
	return raw
}

// Again implements [sse.Repeater] for events that match.
func (d *openAIDecoder) Again(b []byte, atNS int64) int {
	raw, n, plain := d.last.next(b)
	if n > 0 {
		d.appendText(raw, plain)
		d.arrived(atNS, true)
	}
	return n
}

// next is match for an event that an empty line follows and whose content is UTF-8. The content is plain if its text is
// what stands between its quotes.
func (a *alike) next(b []byte) (raw []byte, n int, plain bool) {
	raw, n, escaped := a.match(b)
	if n == 0 || len(b) < n+2 || b[n] != '\n' || b[n+1] != '\n' {
		return nil, 0, false
	}
	ascii := isASCII(raw)
	if !ascii && !utf8.Valid(raw) {
		return nil, 0, false
	}
	return raw, n, ascii && !escaped
}

// isASCII is for words, of which utf8.Valid takes longer than all else that is done with them.
func isASCII(b []byte) bool {
	var or byte
	for _, c := range b {
		or |= c
	}
	return or < utf8.RuneSelf
}

// onlyContent reports whether a chunk, of which m was read, has no effect but that its content is added.
func (c *chunk) onlyContent(m *spans) bool {
	return c.err == nil && string(c.object) != "error" && jsonscan.IsNull(c.usage) && !c.foreignUsage &&
		len(c.choice.speculation) == 0 && len(c.metrics) == 0 && c.others == 0 && saysNothing(c.choice.finish) &&
		jsonscan.IsNull(c.choice.usage) && len(m.raw) == 0 && jsonscan.IsText(m.content) &&
		!jsonscan.IsText(m.reasoningContent) && !jsonscan.IsText(m.reasoning) &&
		!startsWith(m.toolCalls, '[') && !startsWith(m.functionCall, '{')
}

func startsWith(raw []byte, c byte) bool { return len(raw) > 0 && raw[0] == c }
