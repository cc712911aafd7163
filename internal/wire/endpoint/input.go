package endpoint

import (
	"bytes"
	"strings"
)

// InputText collects the texts of an encoded body in the order in which they are counted, joined by
// one space, and the number of token ids it carries instead of text. It goes by the shape of the
// body, whatever API it is for; media add nothing.
func InputText(body []byte) (text string, ids int) {
	var c textCollector
	var f bodyFields
	for m := range members(body) {
		f.note(m)
	}
	c.leading(f.instructions)
	c.leading(f.system)
	switch {
	case hasMessages(f.messages):
		c.messages(f.messages)
		c.tools(f.tools)
	case hasMessages(f.input):
		c.messages(f.input)
		c.tools(f.tools)
	default:
		c.flat(&f)
	}
	return c.text.String(), c.ids
}

// countMessages counts the messages of a body as one conversation, and the texts of its tools; false for a
// body of another shape.
func countMessages(body []byte, c MessageCounter) (int, bool) {
	var f bodyFields
	for m := range members(body) {
		f.note(m)
	}
	if !hasMessages(f.messages) {
		return 0, false
	}
	n, ok := c.CountMessages(f.messages)
	if !ok {
		return 0, false
	}
	var tools textCollector
	tools.leading(f.instructions)
	tools.leading(f.system)
	tools.tools(f.tools)
	if text := tools.text.String(); text != "" {
		n += c.Count(text)
	}
	return n, true
}

// bodyFields are the members of a body that can hold text.
type bodyFields struct {
	messages, input, tools, instructions, system      []byte
	prompt, query, passages, documents, texts, inputs []byte
	inputIDs                                          []byte
}

func (f *bodyFields) note(m rawMember) {
	switch string(m.key) {
	case "messages":
		f.messages = m.value
	case "input":
		f.input = m.value
	case "tools":
		f.tools = m.value
	case "instructions":
		f.instructions = m.value
	case "system":
		f.system = m.value
	case "prompt":
		f.prompt = m.value
	case "query":
		f.query = m.value
	case "passages":
		f.passages = m.value
	case "documents":
		f.documents = m.value
	case "texts":
		f.texts = m.value
	case "inputs":
		f.inputs = m.value
	case "input_ids":
		f.inputIDs = m.value
	}
}

// hasMessages tells whether a raw value is a list with an item that has a role or a type.
func hasMessages(raw []byte) bool {
	for item := range elements(raw) {
		if find(item, "role") != nil || find(item, "type") != nil {
			return true
		}
	}
	return false
}

// textCollector joins texts by single spaces; empty ones are left out.
type textCollector struct {
	text    strings.Builder
	scratch []byte
	ids     int
}

func (c *textCollector) add(s []byte) {
	if len(s) == 0 {
		return
	}
	if c.text.Len() > 0 {
		c.text.WriteByte(' ')
	}
	c.text.Write(s)
}

// str adds a raw string; any other value adds nothing.
func (c *textCollector) str(raw []byte) {
	if isText(raw) {
		c.scratch = appendText(c.scratch[:0], raw)
		c.add(c.scratch)
	}
}

// compact adds the JSON text of a raw value, or the text of a string.
func (c *textCollector) compact(raw []byte) {
	switch {
	case isNull(raw):
	case raw[0] == '"':
		c.str(raw)
	default:
		c.scratch = appendValue(c.scratch[:0], raw)
		c.add(c.scratch)
	}
}

// leading adds a system text: a string or a list of blocks.
func (c *textCollector) leading(raw []byte) {
	c.str(raw)
	for block := range elements(raw) {
		c.part(block)
	}
}

func (c *textCollector) messages(raw []byte) {
	for item := range elements(raw) {
		switch textOf(find(item, "type")) {
		case "function_call":
			c.str(find(item, "name"))
			c.compact(find(item, "arguments"))
			continue
		case "function_call_output":
			c.content(find(item, "output"))
			continue
		}
		c.content(find(item, "content"))
		for call := range elements(find(item, "tool_calls")) {
			function := find(call, "function")
			c.str(find(function, "name"))
			c.compact(find(function, "arguments"))
		}
	}
}

// content adds a message's content: a string, or a list of parts or strings.
func (c *textCollector) content(raw []byte) {
	c.str(raw)
	for part := range elements(raw) {
		c.str(part)
		c.part(part)
	}
}

// part adds the text of a content part.
func (c *textCollector) part(raw []byte) {
	switch textOf(find(raw, "type")) {
	case "text", "input_text", "output_text", "":
		c.str(find(raw, "text"))
	case "tool_use":
		c.str(find(raw, "name"))
		c.compact(find(raw, "input"))
	case "tool_result":
		c.content(find(raw, "content"))
	}
}

// tools adds the declared tools; their members stand in a function object or in the tool itself.
func (c *textCollector) tools(raw []byte) {
	for tool := range elements(raw) {
		function := find(tool, "function")
		if function == nil || bytes.HasPrefix(function, []byte("null")) {
			function = tool
		}
		c.str(find(function, "name"))
		c.str(find(function, "description"))
		if parameters := find(function, "parameters"); parameters != nil {
			c.compact(parameters)
		} else {
			c.compact(find(function, "input_schema"))
		}
	}
}

// flat adds the texts of a body without messages.
func (c *textCollector) flat(f *bodyFields) {
	switch {
	case f.inputIDs != nil:
		c.list(f.inputIDs)
	case f.prompt != nil:
		c.list(f.prompt)
	case f.input != nil:
		c.list(f.input)
	case f.query != nil:
		c.list(f.query)
		for _, raw := range [][]byte{f.passages, f.documents, f.texts} {
			c.list(raw)
		}
	default:
		c.list(f.inputs)
	}
}

// list adds a string, or the elements of a list; lists of numbers are token ids.
func (c *textCollector) list(raw []byte) {
	c.item(raw)
	for e := range elements(raw) {
		if isNumber(e) {
			c.ids++
			continue
		}
		c.item(e)
		for id := range elements(e) {
			if isNumber(id) {
				c.ids++
			}
		}
	}
}

// item adds a string or the text member of an object.
func (c *textCollector) item(raw []byte) {
	c.str(raw)
	c.str(find(raw, "text"))
}

func isNumber(raw []byte) bool {
	return raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9'
}
