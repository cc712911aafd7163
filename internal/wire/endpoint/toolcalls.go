package endpoint

import (
	"slices"
	"strconv"

	"aiperf/internal/base/jsonscan"
)

// toolCall is one call, joined from its deltas.
type toolCall struct {
	index     int
	id        string
	kind      string
	name      string
	arguments []byte
}

// toolCalls are the calls of a reply in the order of their indices.
type toolCalls []toolCall

// at is the call of an index, made if it is new.
func (t *toolCalls) at(index int) *toolCall {
	i, found := slices.BinarySearchFunc(*t, index, func(c toolCall, index int) int { return c.index - index })
	if !found {
		*t = slices.Insert(*t, i, toolCall{index: index})
	}
	return &(*t)[i]
}

// mergeList merges the deltas of a tool_calls list and appends their names and arguments to text.
// The index of a delta defaults to its position in the list.
func (t *toolCalls) mergeList(text, raw []byte) []byte {
	place := -1
	for delta := range jsonscan.Elements(raw) {
		place++
		if delta[0] != '{' {
			continue
		}
		index, function, id, kind := place, []byte(nil), "", ""
		for m := range jsonscan.Members(delta) {
			switch string(m.Key) {
			case "index":
				if n, err := strconv.Atoi(string(m.Value)); err == nil {
					index = n
				}
			case "id":
				id = jsonscan.Text(m.Value)
			case "type":
				kind = jsonscan.Text(m.Value)
			case "function":
				function = m.Value
			}
		}
		call := t.at(index)
		if id != "" {
			call.id = id
		}
		if kind != "" {
			call.kind = kind
		}
		text = call.merge(text, function)
	}
	return text
}

// mergeFunctionCall merges a delta of the older function_call, which represents one call.
func (t *toolCalls) mergeFunctionCall(text, raw []byte) []byte {
	call := t.at(0)
	if call.id == "" {
		call.id = "call_0" // the old form has no id, the new one demands it
	}
	return call.merge(text, raw)
}

// merge sets the name and appends the arguments of a delta.
func (c *toolCall) merge(text, function []byte) []byte {
	var name, arguments []byte
	for m := range jsonscan.Members(function) {
		switch string(m.Key) {
		case "name":
			name = m.Value
		case "arguments":
			arguments = m.Value
		}
	}
	if jsonscan.IsText(name) {
		c.name = jsonscan.Text(name)
		text = append(text, c.name...)
	}
	start := len(text)
	switch {
	case jsonscan.IsText(arguments):
		text = jsonscan.AppendText(text, arguments)
	case len(arguments) > 0 && arguments[0] == '{':
		// Some servers send the arguments as an object instead of its text.
		text = jsonscan.AppendCompact(text, arguments)
	}
	c.arguments = append(c.arguments, text[start:]...)
	return text
}

// append writes the calls as a message repeats them.
func (t toolCalls) append(dst []byte) []byte {
	dst = append(dst, '[')
	for i := range t {
		c := &t[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		if c.id != "" {
			dst = append(dst, `"id":`...)
			dst = append(jsonscan.AppendString(dst, c.id), ',')
		}
		kind := c.kind
		if kind == "" {
			kind = "function"
		}
		dst = append(dst, `"type":`...)
		dst = jsonscan.AppendString(dst, kind)
		dst = append(dst, `,"function":{"name":`...)
		dst = jsonscan.AppendString(dst, c.name)
		dst = append(dst, `,"arguments":`...)
		dst = append(jsonscan.AppendString(dst, c.arguments), "}}"...)
	}
	return append(dst, ']')
}
