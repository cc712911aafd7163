package endpoint

import (
	"bytes"
	"strings"

	"aiperf/internal/base/jsonscan"
)

// inputText collects the texts of an encoded body in the order in which they are counted, joined by
// one space, and the number of token ids it carries instead of text. It goes by the shape of the
// body, whatever API it is for; media add nothing.
func inputText(body []byte) (text string, ids int) {
	var c textCollector
	c.body(body)
	return c.text.String(), c.ids
}

// body collects what a body holds.
func (c *textCollector) body(body []byte) {
	var f bodyFields
	for m := range jsonscan.Members(body) {
		f.note(m)
	}
	messages := f.messages
	if !hasMessages(messages) {
		messages = f.input
	}
	if !hasMessages(messages) {
		messages = nil
	}
	if messages != nil && c.asCached {
		c.tools(f.tools)
	}
	c.leading(f.instructions)
	c.leading(f.system)
	switch {
	case messages == nil:
		c.flat(&f)
	case c.asCached:
		c.messages(messages)
	default:
		c.messages(messages)
		c.tools(f.tools)
	}
}

// countMessages counts the messages of a body as one conversation, and the texts of its tools; false for a
// body of another shape.
func countMessages(body []byte, c MessageCounter) (int, bool) {
	var f bodyFields
	for m := range jsonscan.Members(body) {
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

// note keeps a member of a body if it can hold text. Several names stand for one thing in the APIs of rankings.
func (f *bodyFields) note(m jsonscan.Member) {
	switch string(m.Key) {
	case "messages":
		f.messages = m.Value
	case "input":
		f.input = m.Value
	case "tools":
		f.tools = m.Value
	case "instructions":
		f.instructions = m.Value
	case "system":
		f.system = m.Value
	case "prompt":
		f.prompt = m.Value
	case "query", "queries", "text_1":
		f.query = m.Value
	case "passages", "text_2":
		f.passages = m.Value
	case "documents":
		f.documents = m.Value
	case "texts":
		f.texts = m.Value
	case "inputs":
		f.inputs = m.Value
	case "input_ids":
		f.inputIDs = m.Value
	}
}

// hasMessages reports whether a raw value is a list with an item that has a role or a type.
func hasMessages(raw []byte) bool {
	for item := range jsonscan.Elements(raw) {
		if jsonscan.Find(item, "role") != nil || jsonscan.Find(item, "type") != nil {
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
	// asCached has tools before messages, so that what prompts share is at their beginning, and tools and their calls as
	// JSON, as chat templates of servers have both; it keeps the token ids in kept.
	asCached bool
	kept     []int
}

// id takes a token id.
func (c *textCollector) id(raw []byte) {
	c.ids++
	if c.asCached {
		n, _ := jsonscan.Int(raw, 0)
		c.kept = append(c.kept, int(max(0, n)))
	}
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
	if jsonscan.IsText(raw) {
		c.scratch = jsonscan.AppendText(c.scratch[:0], raw)
		c.add(c.scratch)
	}
}

// compact adds the JSON text of a raw value, or the text of a string.
func (c *textCollector) compact(raw []byte) {
	switch {
	case jsonscan.IsNull(raw):
	case raw[0] == '"':
		c.str(raw)
	default:
		c.scratch = jsonscan.AppendCompact(c.scratch[:0], raw)
		c.add(c.scratch)
	}
}

// leading adds a system text: a string or a list of blocks.
func (c *textCollector) leading(raw []byte) {
	c.str(raw)
	for block := range jsonscan.Elements(raw) {
		c.part(block)
	}
}

func (c *textCollector) messages(raw []byte) {
	for item := range jsonscan.Elements(raw) {
		switch jsonscan.FindText(item, "type") {
		case "function_call":
			c.str(jsonscan.Find(item, "name"))
			c.compact(jsonscan.Find(item, "arguments"))
			continue
		case "function_call_output":
			c.content(jsonscan.Find(item, "output"))
			continue
		}
		c.content(jsonscan.Find(item, "content"))
		for call := range jsonscan.Elements(jsonscan.Find(item, "tool_calls")) {
			function := jsonscan.Find(call, "function")
			if c.asCached {
				c.compact(function)
				continue
			}
			c.str(jsonscan.Find(function, "name"))
			c.compact(jsonscan.Find(function, "arguments"))
		}
	}
}

// content adds a message's content: a string, or a list of parts or strings.
func (c *textCollector) content(raw []byte) {
	c.str(raw)
	for part := range jsonscan.Elements(raw) {
		c.str(part)
		c.part(part)
	}
}

// part adds the text of a content part.
func (c *textCollector) part(raw []byte) {
	switch jsonscan.FindText(raw, "type") {
	case "text", "input_text", "output_text", "":
		c.str(jsonscan.Find(raw, "text"))
	case "tool_use":
		c.str(jsonscan.Find(raw, "name"))
		c.compact(jsonscan.Find(raw, "input"))
	case "tool_result":
		c.content(jsonscan.Find(raw, "content"))
	}
}

// tools adds the declared tools; their members are in a function object or in the tool itself.
func (c *textCollector) tools(raw []byte) {
	for tool := range jsonscan.Elements(raw) {
		if c.asCached {
			c.compact(tool)
			continue
		}
		function := jsonscan.Find(tool, "function")
		if function == nil || bytes.HasPrefix(function, []byte("null")) {
			function = tool
		}
		c.str(jsonscan.Find(function, "name"))
		c.str(jsonscan.Find(function, "description"))
		if parameters := jsonscan.Find(function, "parameters"); parameters != nil {
			c.compact(parameters)
		} else {
			c.compact(jsonscan.Find(function, "input_schema"))
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
	for e := range jsonscan.Elements(raw) {
		if isNumber(e) {
			c.id(e)
			continue
		}
		c.item(e)
		for id := range jsonscan.Elements(e) {
			if isNumber(id) {
				c.id(id)
			}
		}
	}
}

// item adds a string or the text member of an object.
func (c *textCollector) item(raw []byte) {
	c.str(raw)
	c.str(jsonscan.Find(raw, "text"))
}

func isNumber(raw []byte) bool {
	return raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9'
}
