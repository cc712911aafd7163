package endpoint

import (
	"strconv"
	"strings"

	"aiperf/internal/base/jsonscan"
)

// anthropic is the messages API.
type anthropic struct {
	documents
}

// defaultMaxTokens is sent where a turn gives no limit: the API demands one.
const defaultMaxTokens = 1024

func newAnthropic(d Descriptor, o Options) Endpoint {
	return &anthropic{newDocuments(d, o, func() documentReader { return &anthropicReader{} })}
}

func (e *anthropic) Encode(c *Context) (*Body, error) {
	turn := c.current()
	if turn == nil {
		return nil, valueError("The request has no current turn.")
	}
	w := objectWriter{buf: make([]byte, 0, sizeHint(c)), over: e.over.with(turn.Extra)}
	w.text("model", modelOf(turn.Model, e.options.Model))
	if w.key("messages") {
		apart := *c
		apart.SystemMessage = nil
		m := messageWriter{buf: w.buf, part: appendAnthropicPart, alwaysParts: e.options.ForceContentParts}
		if err := m.write(&apart); err != nil {
			return nil, err
		}
		w.buf = m.buf
	}
	limit := defaultMaxTokens
	if turn.MaxTokens != nil {
		limit = *turn.MaxTokens
	}
	w.literal("max_tokens", strconv.Itoa(limit))
	if e.options.Streaming {
		w.literal("stream", "true")
	}
	e.system(&w, c)
	for i := len(c.Turns) - 1; i >= 0; i-- {
		if t := c.Turns[i].Turn; t != nil && len(t.RawTools) > 0 {
			w.raws("tools", t.RawTools)
			break
		}
	}
	return w.end(e.options.Streaming, false), nil
}

// system writes the system blocks of the latest turn that has any, else the system message.
func (e *anthropic) system(w *objectWriter, c *Context) {
	for i := len(c.Turns) - 1; i >= 0; i-- {
		if t := c.Turns[i].Turn; t != nil && !jsonscan.IsNull(t.RawSystem) {
			if w.key("system") {
				w.buf = jsonscan.AppendCompact(w.buf, t.RawSystem)
			}
			return
		}
	}
	if c.SystemMessage != nil {
		w.text("system", *c.SystemMessage)
	}
}

// appendAnthropicPart appends one content block.
func appendAnthropicPart(dst []byte, kind mediaKind, content string) ([]byte, error) {
	switch kind {
	case mediaText:
		dst = append(dst, `{"type":"text","text":`...)
		return append(jsonscan.AppendString(dst, content), '}'), nil
	case mediaAudio:
		return nil, notImplemented("The messages API does not support audio input.")
	case mediaVideo:
		return nil, notImplemented("The messages API does not support video input.")
	}
	if media, data, ok := splitDataURI(content); ok {
		if media == "" {
			media = "image/png"
		}
		dst = append(dst, `{"type":"image","source":{"type":"base64","media_type":`...)
		dst = append(jsonscan.AppendString(dst, media), `,"data":`...)
		return append(jsonscan.AppendString(dst, data), "}}"...), nil
	}
	dst = append(dst, `{"type":"image","source":{"type":"url","url":`...)
	return append(jsonscan.AppendString(dst, content), "}}"...), nil
}

// splitDataURI takes a data URI apart; ok is false for anything else.
func splitDataURI(content string) (media, data string, ok bool) {
	rest, ok := strings.CutPrefix(content, "data:")
	if !ok {
		return "", "", false
	}
	head, data, ok := strings.Cut(rest, ",")
	if !ok {
		return "", "", false
	}
	media, _, _ = strings.Cut(head, ";")
	return strings.ToLower(strings.TrimSpace(media)), data, true
}

// anthropicReader collects the blocks of a reply, streamed or whole.
type anthropicReader struct {
	text      []byte
	signature []byte
	scratch   []byte
}

func (a *anthropicReader) reset() {
	a.text, a.signature = a.text[:0], a.signature[:0]
	if cap(a.text)+cap(a.scratch) > maxKept {
		a.text, a.scratch = nil, nil
	}
}

func (a *anthropicReader) read(d *documentDecoder, r *root, _ []byte, atNS int64) {
	switch kind := d.kind(); string(kind) {
	case "message":
		a.whole(d, r, atNS)
	case "message_start":
		d.reply.Usage.Fold(jsonscan.Find(r.message, "usage"))
	case "content_block_start":
		a.start(d, r, atNS)
	case "content_block_delta":
		a.delta(d, r, atNS)
	case "message_delta":
		d.reply.end(jsonscan.Find(r.delta, "stop_reason"))
	case "message_stop":
		d.reply.Finished = true
	case "":
		if startsWith(r.content, '[') {
			a.whole(d, r, atNS)
		}
	}
}

// start notes the name and id of a tool call, and the text with which a block begins: most begin without any.
func (a *anthropicReader) start(d *documentDecoder, r *root, atNS int64) {
	block := r.contentBlock
	switch jsonscan.FindText(block, "type") {
	case "tool_use":
		call := d.reply.tools.at(blockIndex(r))
		call.id = jsonscan.FindText(block, "id")
		call.name = jsonscan.FindText(block, "name")
		if input := jsonscan.Find(block, "input"); startsWith(input, '{') && carries(input) {
			call.arguments = jsonscan.AppendCompact(call.arguments, input)
			d.reply.Output = append(d.reply.Output, call.arguments...)
			d.content(atNS, true)
		}
	case "text":
		a.say(d, jsonscan.Find(block, "text"), atNS)
	case "thinking":
		d.reasoning(jsonscan.Find(block, "thinking"), atNS)
	}
}

// say adds text.
func (a *anthropicReader) say(d *documentDecoder, text []byte, atNS int64) {
	if d.output(text, atNS) {
		a.text = jsonscan.AppendText(a.text, text)
	}
}

func blockIndex(r *root) int {
	n, _ := strconv.Atoi(string(r.index)) // a missing index is the first
	return n
}

// delta reads a delta by the members that it has rather than by its type, as servers that imitate the API differ in the
// types. The first of text, thinking, signature and arguments counts; a member that is not known is noted as left
// unread.
func (a *anthropicReader) delta(d *documentDecoder, r *root, atNS int64) {
	var text, thinking, partial, signature, other []byte
	for m := range jsonscan.Members(r.delta) {
		switch string(m.Key) {
		case "type":
		case "text":
			text = m.Value
		case "thinking":
			thinking = m.Value
		case "partial_json":
			partial = m.Value
		case "signature":
			signature = m.Value
		case "citation":
			// where a text comes from
		default:
			if carries(m.Value) {
				other = m.Key
			}
		}
	}
	switch {
	case jsonscan.IsText(text):
		a.say(d, text, atNS)
	case jsonscan.IsText(thinking):
		d.reasoning(thinking, atNS)
	case jsonscan.IsText(signature):
		a.signature = jsonscan.AppendText(a.signature, signature)
	case jsonscan.IsText(partial):
		d.output(partial, atNS)
		call := d.reply.tools.at(blockIndex(r))
		call.arguments = jsonscan.AppendText(call.arguments, partial)
	case other != nil:
		d.reply.leave("delta." + string(other))
	}
}

// whole reads a reply that did not stream.
func (a *anthropicReader) whole(d *documentDecoder, r *root, atNS int64) {
	reply := &d.reply
	a.scratch = a.scratch[:0]
	index, hasTool := 0, false
	thought := len(reply.Reasoning)
	for block := range jsonscan.Elements(r.content) {
		switch jsonscan.FindText(block, "type") {
		case "text":
			if text := jsonscan.Find(block, "text"); jsonscan.IsText(text) {
				a.text = jsonscan.AppendText(a.text, text)
			}
		case "thinking":
			if text := jsonscan.Find(block, "thinking"); jsonscan.IsText(text) {
				reply.Reasoning = jsonscan.AppendText(reply.Reasoning, text)
			}
			a.signature = append(a.signature, jsonscan.FindText(block, "signature")...)
		case "tool_use":
			call := reply.tools.at(index)
			call.id, call.name = jsonscan.FindText(block, "id"), jsonscan.FindText(block, "name")
			call.arguments = jsonscan.AppendCompact(call.arguments, jsonscan.Find(block, "input"))
			a.scratch = append(append(a.scratch, call.name...), call.arguments...)
			hasTool = true
		case "redacted_thinking":
			// not to be read
		default:
			reply.leave("content." + jsonscan.FindText(block, "type"))
		}
		index++
	}
	reply.end(r.stopReason)
	if len(a.text) == 0 && len(reply.Reasoning) == thought && !hasTool {
		return
	}
	// All of them count, as they do when the same reply is streamed.
	reply.Output = append(append(reply.Output, a.text...), a.scratch...)
	d.content(atNS, len(reply.Output) > 0)
}

// replay repeats the reply: a text alone as it is, else blocks of thinking, text and tool calls.
func (a *anthropicReader) replay(r *Reply, dst []byte) []byte {
	if len(r.Reasoning)+len(a.text)+len(r.tools) == 0 {
		return dst
	}
	if len(r.Reasoning)+len(r.tools) == 0 {
		dst = append(dst, `{"role":"assistant","content":`...)
		return append(jsonscan.AppendString(dst, a.text), '}')
	}
	dst = append(dst, `{"role":"assistant","content":[`...)
	n := 0
	block := func(start string) {
		if n++; n > 1 {
			dst = append(dst, ',')
		}
		dst = append(dst, start...)
	}
	if len(r.Reasoning) > 0 {
		block(`{"type":"thinking","thinking":`)
		dst = jsonscan.AppendString(dst, r.Reasoning)
		dst = append(dst, `,"signature":`...)
		dst = append(jsonscan.AppendString(dst, a.signature), '}')
	}
	if len(a.text) > 0 {
		block(`{"type":"text","text":`)
		dst = append(jsonscan.AppendString(dst, a.text), '}')
	}
	for i := range r.tools {
		call := &r.tools[i]
		block(`{"type":"tool_use","id":`)
		dst = append(jsonscan.AppendString(dst, call.id), `,"name":`...)
		dst = append(jsonscan.AppendString(dst, call.name), `,"input":`...)
		switch {
		case len(call.arguments) == 0:
			dst = append(dst, "{}"...)
		case jsonscan.Valid(call.arguments):
			dst = jsonscan.AppendCompact(dst, call.arguments)
		default:
			dst = jsonscan.AppendString(dst, call.arguments)
		}
		dst = append(dst, '}')
	}
	return append(dst, "]}"...)
}
