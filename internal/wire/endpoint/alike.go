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

// content is the raw content of an event that differs from the one kept in nothing else; nil if it does, or has none.
func (a *alike) content(data []byte) []byte {
	// The opening quote belongs to what must be equal, as does the closing one.
	tail := len(a.text) - a.to
	to := len(data) - tail
	if len(a.text) == 0 || to <= a.from+len(`""`) || !bytes.Equal(data[:a.from+1], a.text[:a.from+1]) ||
		!bytes.Equal(data[to-1:], a.text[a.to-1:]) {
		return nil
	}
	if end, _ := jsonscan.String(data, a.from); end != to {
		return nil
	}
	return data[a.from:to]
}

// Again implements [sse.Repeater] for what content takes.
func (d *openAIDecoder) Again(b []byte, atNS int64) int {
	raw, n := d.last.next(b)
	if n > 0 {
		d.message(&spans{content: raw}, atNS)
	}
	return n
}

// next is the raw content of an event at the beginning of b that content would take and that an empty line follows, and
// the event's length; 0 if there is none.
func (a *alike) next(b []byte) (raw []byte, n int) {
	if len(a.text) == 0 || len(b) <= a.from || !bytes.Equal(b[:a.from+1], a.text[:a.from+1]) {
		return nil, 0
	}
	end, _ := jsonscan.String(b, a.from)
	if end <= a.from+len(`""`) || !utf8.Valid(b[a.from:end]) {
		return nil, 0
	}
	n = end + len(a.text) - a.to
	if len(b) < n+len("\n\n") || !bytes.Equal(b[end:n], a.text[a.to:]) || string(b[n:n+len("\n\n")]) != "\n\n" {
		return nil, 0
	}
	return b[a.from:end], n
}

// onlyContent reports whether a chunk, of which m was read, has no effect but that its content is added.
func (c *chunk) onlyContent(m *spans) bool {
	return c.err == nil && string(c.object) != "error" && jsonscan.IsNull(c.usage) && !c.foreignUsage &&
		len(c.choice.speculation) == 0 && len(c.metrics) == 0 && c.others == 0 && jsonscan.IsNull(c.choice.finish) &&
		jsonscan.IsText(m.content) && !jsonscan.IsText(m.reasoningContent) && !jsonscan.IsText(m.reasoning) &&
		!startsWith(m.toolCalls, '[') && !startsWith(m.functionCall, '{')
}

func startsWith(raw []byte, c byte) bool { return len(raw) > 0 && raw[0] == c }
