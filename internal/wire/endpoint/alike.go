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
	raw, n, plain := d.last.next(b)
	switch {
	case n == 0:
		return 0
	case plain && len(d.reply.tools) == 0:
		d.reply.Output = append(d.reply.Output, raw[1:len(raw)-1]...)
	default:
		d.appendText(raw)
	}
	d.arrived(atNS, true)
	return n
}

// next is the raw content of an event at the beginning of b that content would take and that an empty line follows, and
// the event's length; 0 if there is none. The content is plain if its text is what stands between its quotes.
func (a *alike) next(b []byte) (raw []byte, n int, plain bool) {
	if len(a.text) == 0 || len(b) <= a.from || !bytes.Equal(b[:a.from+1], a.text[:a.from+1]) {
		return nil, 0, false
	}
	end, escaped := jsonscan.String(b, a.from)
	if end <= a.from+len(`""`) {
		return nil, 0, false
	}
	raw = b[a.from:end]
	ascii := isASCII(raw)
	if !ascii && !utf8.Valid(raw) {
		return nil, 0, false
	}
	n = end + len(a.text) - a.to
	if len(b) < n+len("\n\n") || !bytes.Equal(b[end:n], a.text[a.to:]) || string(b[n:n+len("\n\n")]) != "\n\n" {
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
		len(c.choice.speculation) == 0 && len(c.metrics) == 0 && c.others == 0 && jsonscan.IsNull(c.choice.finish) &&
		jsonscan.IsText(m.content) && !jsonscan.IsText(m.reasoningContent) && !jsonscan.IsText(m.reasoning) &&
		!startsWith(m.toolCalls, '[') && !startsWith(m.functionCall, '{')
}

func startsWith(raw []byte, c byte) bool { return len(raw) > 0 && raw[0] == c }
