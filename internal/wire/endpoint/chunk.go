package endpoint

import (
	"bytes"

	"aiperf/internal/base/jsonscan"
)

// chunk is what one scan of an event or a body found: raw values that point into its bytes, and the
// object's name. The last value of a duplicate key counts.
type chunk struct {
	object, usage, err, metrics []byte
	// foreignUsage reports that token counts are at the root, where some vendors put them.
	foreignUsage bool
	choice       choice
	// others counts the choices that are not the first one; they are not read.
	others int
}

// choice is the choice of index 0.
type choice struct {
	index, finish []byte
	// speculation is the server's record of its speculative decoding.
	speculation          []byte
	message, delta, text spans
}

// spans are the parts of a message or of a delta.
type spans struct {
	content, reasoningContent, reasoning, toolCalls, functionCall []byte
}

// scan reads a whole document; false if it is not JSON.
func (c *chunk) scan(b []byte) bool {
	*c = chunk{}
	i := jsonscan.Space(b, 0)
	if i >= len(b) || b[i] != '{' {
		return jsonscan.Document(b, i) >= 0
	}
	i, more := jsonscan.Open(b, i, '}', 1)
	for more {
		key, at := jsonscan.Key(b, i)
		if at < 0 {
			return false
		}
		switch string(key) {
		case "choices":
			i = c.scanChoices(b, at)
		default:
			i = jsonscan.Value(b, at, 1)
		}
		if i < 0 {
			return false
		}
		switch string(key) {
		case "object":
			c.object = name(b[at:i])
		case "usage":
			c.usage = b[at:i]
		case "error":
			c.err = b[at:i]
		case "metrics":
			c.metrics = b[at:i]
		case "usageMetadata", "meta", "input_token_count", "generated_token_count":
			c.foreignUsage = true
		}
		i, more = jsonscan.Next(b, i, '}')
	}
	return i >= 0 && jsonscan.End(b, i) >= 0
}

// name is the text of a raw string, in place where it can be; any other value is not a name.
func name(raw []byte) []byte {
	switch {
	case !jsonscan.IsText(raw):
		return nil
	case bytes.IndexByte(raw, '\\') >= 0:
		return jsonscan.AppendText(nil, raw)
	}
	return raw[1 : len(raw)-1]
}

func (c *chunk) scanChoices(b []byte, i int) int {
	c.choice, c.others = choice{}, 0
	if i >= len(b) || b[i] != '[' {
		return jsonscan.Value(b, i, 1)
	}
	found := false
	i, more := jsonscan.Open(b, i, ']', 2)
	for more {
		i = jsonscan.Space(b, i)
		if i >= len(b) || b[i] != '{' {
			// An element that is not an object still has its place.
			i, found = jsonscan.Value(b, i, 2), true
		} else if found {
			i = jsonscan.Value(b, i, 2)
			c.others++
		} else {
			c.choice = choice{}
			i = c.choice.scan(b, i)
			if found = c.choice.first(); !found {
				c.choice = choice{}
				c.others++
			}
		}
		if i < 0 {
			return i
		}
		i, more = jsonscan.Next(b, i, ']')
	}
	return i
}

// first reports whether the choice is the one of index 0; servers may leave the index out.
func (c *choice) first() bool {
	return jsonscan.IsNull(c.index) || len(c.index) == 1 && c.index[0] == '0'
}

func (c *choice) scan(b []byte, i int) int {
	i, more := jsonscan.Open(b, i, '}', 3)
	for more {
		key, at := jsonscan.Key(b, i)
		if at < 0 {
			return at
		}
		switch string(key) {
		case "delta":
			i = c.delta.scan(b, at)
		case "message":
			i = c.message.scan(b, at)
		default:
			i = jsonscan.Value(b, at, 3)
		}
		if i < 0 {
			return i
		}
		switch string(key) {
		case "text":
			c.text.content = b[at:i]
		case "index":
			c.index = b[at:i]
		case "finish_reason":
			c.finish = b[at:i]
		case "speculative_decoding_stats":
			c.speculation = b[at:i]
		}
		i, more = jsonscan.Next(b, i, '}')
	}
	return i
}

func (s *spans) scan(b []byte, i int) int {
	*s = spans{}
	if i >= len(b) || b[i] != '{' {
		return jsonscan.Value(b, i, 3)
	}
	i, more := jsonscan.Open(b, i, '}', 4)
	for more {
		key, at := jsonscan.Key(b, i)
		if at < 0 {
			return at
		}
		if i = jsonscan.Value(b, at, 4); i < 0 {
			return i
		}
		switch string(key) {
		case "content":
			s.content = b[at:i]
		case "reasoning_content":
			s.reasoningContent = b[at:i]
		case "reasoning":
			s.reasoning = b[at:i]
		case "tool_calls":
			s.toolCalls = b[at:i]
		case "function_call":
			s.functionCall = b[at:i]
		}
		i, more = jsonscan.Next(b, i, '}')
	}
	return i
}
