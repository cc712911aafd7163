package endpoint

import (
	"bytes"

	"aiperf/internal/base/jsonscan"
)

// chunk is what one scan of an event or a body found: raw values that point into its bytes, and the
// object's name. The last value of a duplicate key counts.
type chunk struct {
	object, usage, err, metrics []byte
	// modality is what the content is, where the server says so: the text of sound is its data.
	modality []byte
	// foreignUsage reports that token counts are at the root, where some vendors put them.
	foreignUsage bool
	// chosen reports that there is a list of choices, picked that choice is one of them.
	chosen, picked bool
	choice         choice
	// others counts the choices that are not the first one; they are not read.
	others int
	// stray reports that no choice has the index 0: choice is the first of the list then.
	stray bool
}

// choice is the choice of index 0.
type choice struct {
	index, finish, usage []byte
	// speculation is the server's record of its speculative decoding.
	speculation, text []byte
	message, delta    spans
}

// spans are the parts of a message or of a delta.
type spans struct {
	content, reasoningContent, reasoning, toolCalls, functionCall []byte
	// raw is the whole of it if it has further members that may be output.
	raw []byte
}

// says reports whether the parts may hold output.
func (s *spans) says() bool {
	return jsonscan.IsText(s.content) || startsWith(s.content, '[') || carries(s.reasoningContent) ||
		carries(s.reasoning) || startsWith(s.toolCalls, '[') || startsWith(s.functionCall, '{') || len(s.raw) > 0
}

// inParts reports whether a text is a list of parts.
func (s *spans) inParts() bool {
	return startsWith(s.content, '[') || startsWith(s.reasoningContent, '[') || startsWith(s.reasoning, '[') ||
		startsWith(s.reasoning, '{')
}

// said is where the choice has its output, whatever the document calls itself: a delta, a message or a text. A
// document can have several of them: the others repeat the one, or are empty.
func (c *choice) said(whole bool) *spans {
	first, second := &c.delta, &c.message
	if whole {
		first, second = second, first
	}
	switch {
	case first.says():
		return first
	case jsonscan.IsText(c.text) || startsWith(c.text, '['):
		*first = spans{content: c.text}
		return first
	}
	return second
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
		case "modality":
			c.modality = name(b[at:i])
		default:
			c.foreignUsage = c.foreignUsage || holdsUsage(key)
		}
		i, more = jsonscan.Next(b, i, '}')
	}
	return i >= 0 && jsonscan.End(b, i) >= 0
}

// isData reports whether the text of a choice is the data of sound or pictures, as in the streams of vLLM-Omni.
func (c *chunk) isData() bool {
	switch string(c.modality) {
	case "audio", "image", "video":
		return true
	}
	return false
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

// scanChoices reads the first choice of the list at b[i:], and counts the others, which are passed over. The choice is
// the one of index 0; where none has it, the first of the list is read again. It returns the position after the list,
// or a negative one if it is not valid JSON.
func (c *chunk) scanChoices(b []byte, i int) int {
	c.choice, c.others, c.picked, c.stray = choice{}, 0, false, false
	if i >= len(b) || b[i] != '[' {
		return jsonscan.Value(b, i, 1)
	}
	c.chosen = true
	found, stray := false, 0
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
			start := i
			i = c.choice.scan(b, i)
			found = c.choice.first()
			if c.picked = true; !found {
				if c.others++; c.others == 1 {
					stray = start
				}
				c.choice = choice{}
			}
		}
		if i < 0 {
			return i
		}
		i, more = jsonscan.Next(b, i, ']')
	}
	if !found && c.others > 0 && i > 0 {
		c.choice.scan(b, stray)
		c.stray = true
		c.others--
	}
	return i
}

// first reports whether the choice is the one of index 0; servers may leave the index out.
func (c *choice) first() bool {
	return jsonscan.IsNull(c.index) || len(c.index) == 1 && c.index[0] == '0' || string(c.index) == `"0"`
}

// scan reads a choice at b[i:] in one pass, with the depth of its nesting bounded. The compiler makes
// no string of a key in a switch. It returns the position after it, or a negative one if it is not valid JSON.
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
			c.text = b[at:i]
		case "index":
			c.index = b[at:i]
		case "finish_reason":
			c.finish = b[at:i]
		case "usage":
			c.usage = b[at:i]
		case "speculative_decoding_stats":
			c.speculation = b[at:i]
		}
		i, more = jsonscan.Next(b, i, '}')
	}
	return i
}

// scan reads a message or a delta at b[i:]. Members that are not known keep the whole of it, as they may be output. It
// returns the position after it, or a negative one if it is not valid JSON.
func (s *spans) scan(b []byte, i int) int {
	*s = spans{}
	if i >= len(b) || b[i] != '{' {
		return jsonscan.Value(b, i, 3)
	}
	start, further := i, false
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
		case "role":
		default:
			further = further || carries(b[at:i])
		}
		i, more = jsonscan.Next(b, i, '}')
	}
	if further && i > 0 {
		s.raw = b[start:i]
	}
	return i
}
