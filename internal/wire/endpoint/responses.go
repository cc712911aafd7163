package endpoint

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/jsonscan"
)

// responses is the OpenAI responses API.
type responses struct {
	documents
	// chains: the server keeps replies, and requests refer to them.
	chains  bool
	chained once
}

func newResponses(d Descriptor, o Options) Endpoint {
	store, asked := newOverrides(o.Extra).get("store")
	chains := string(store) == "true"
	return &responses{chains: chains, chained: once{warn: o.Warn}, documents: newDocuments(d, o, func() documentReader {
		return &responsesReader{chains: chains, mayChain: !asked}
	})}
}

func (e *responses) Encode(c *Context) (*Body, error) {
	turn := c.current()
	if turn == nil {
		return nil, valueError("The request has no current turn.")
	}
	sent, previous := e.chain(c)
	// The run's system text is merged into one that the turns have; otherwise it is sent on its own.
	instructions := sent.SystemMessage
	if raw, own := authoredSystem(sent.Turns); raw != nil || own != nil {
		instructions = nil
	} else {
		sent.SystemMessage = nil
	}
	w := objectWriter{buf: make([]byte, 0, sizeHint(c)), over: e.over.with(turn.Extra)}
	if w.key("input") {
		m := messageWriter{buf: w.buf, part: appendResponsesPart, alwaysParts: e.options.ForceContentParts, typed: true}
		if err := m.write(&sent); err != nil {
			return nil, err
		}
		w.buf = m.buf
	}
	w.text("model", modelOf(turn.Model, e.options.Model))
	w.literal("stream", strconv.FormatBool(e.options.Streaming))
	if previous != "" {
		w.text("previous_response_id", previous)
	}
	if instructions != nil {
		w.text("instructions", *instructions)
	}
	if turn.MaxTokens != nil {
		w.literal("max_output_tokens", strconv.Itoa(*turn.MaxTokens))
	}
	for i := len(c.Turns) - 1; i >= 0; i-- {
		if t := c.Turns[i].Turn; t != nil && len(t.RawTools) > 0 {
			w.raws("tools", t.RawTools)
			break
		}
	}
	return w.end(e.options.Streaming, e.options.ServerTokens), nil
}

// chain leaves out what the server has stored under the id of its last reply.
func (e *responses) chain(c *Context) (sent Context, previous string) {
	sent = *c
	for i := len(c.Turns) - 2; i >= 0; i-- {
		if c.Turns[i].Assistant == nil {
			continue
		}
		if previous = c.Turns[i].AssistantID; previous != "" {
			sent.Turns, sent.UserContext = c.Turns[i+1:], nil
			e.chained.say("Requests refer to the server's stored replies and carry only what is new: input lengths " +
				"that are counted here are too short. " +
				"Use --use-server-token-count for those of the server.")
		}
		break
	}
	return sent, previous
}

// appendResponsesPart appends one content part.
func appendResponsesPart(dst []byte, kind mediaKind, content string) ([]byte, error) {
	switch kind {
	case mediaText:
		dst = append(dst, `{"type":"input_text","text":`...)
	case mediaImage:
		dst = append(dst, `{"type":"input_image","image_url":`...)
	case mediaAudio:
		return appendChatPart(dst, kind, content)
	case mediaVideo:
		return nil, notImplemented("Responses API does not support video input.")
	}
	return append(jsonscan.AppendString(dst, content), '}'), nil
}

// responsesReader collects the items of a reply, streamed or whole.
type responsesReader struct {
	chains, mayChain bool
	// said are the parts of which a delta came, as output index and content index.
	said [][2]int
	// items are the output items in order, as the next request repeats them.
	items []byte
}

func (p *responsesReader) reset() {
	p.said, p.items = p.said[:0], p.items[:0]
	if cap(p.items) > maxKept {
		p.items = nil
	}
}

// read reads an event, or a whole response, which has no type. Text counts when its delta comes, and the "done" events
// only where no delta did: they repeat the whole text. The last event has the usage, and all output where a server
// streams nothing else.
func (p *responsesReader) read(d *documentDecoder, r *root, data []byte, atNS int64) {
	kind := d.kind()
	if string(name(r.object)) == "response" || len(kind) == 0 && startsWith(r.output, '[') {
		p.whole(d, r, atNS)
		return
	}
	switch string(kind) {
	case "response.output_text.delta", "response.refusal.delta":
		if d.output(r.delta, atNS) {
			p.say(r)
		}
	case "response.reasoning_text.delta", "response.reasoning_summary_text.delta":
		d.reasoning(r.delta, atNS)
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta",
		"response.mcp_call_arguments.delta", "response.code_interpreter_call_code.delta",
		"response.audio.transcript.delta", "response.output_audio_transcript.delta":
		d.output(r.delta, atNS)
	case "response.audio.delta", "response.output_audio.delta":
		if jsonscan.IsText(r.delta) { // sound
			d.content(atNS, true)
		}
	case "response.output_text.done":
		p.done(d, r, r.text, atNS)
	case "response.refusal.done":
		p.done(d, r, r.refusal, atNS)
	case "response.output_item.done":
		p.keep(r.item)
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		d.reply.Finished = true
		d.reply.Usage.Fold(jsonscan.Find(r.response, "usage"))
		p.end(d, r.response)
		if err := jsonscan.Find(r.response, "error"); !jsonscan.IsNull(err) && d.reply.Err == nil {
			d.reply.Err = readError(&chunk{err: err}, data)
		}
		if d.reply.Ending == "" {
			d.reply.Ending = strings.TrimPrefix(string(kind), "response.")
		}
		var all root
		if len(d.reply.ContentNS) == 0 && startsWith(r.response, '{') && all.scan(r.response) { // nothing came in deltas
			p.whole(d, &all, atNS)
		}
	default:
		if bytes.HasSuffix(kind, []byte(".delta")) && carries(r.delta) {
			d.reply.leave(string(kind))
		}
	}
}

// done reads the whole text of a part, once more if it came in deltas: then only the instant counts.
func (p *responsesReader) done(d *documentDecoder, r *root, text []byte, atNS int64) {
	switch {
	case !jsonscan.IsText(text):
	case slices.Contains(p.said, partOf(r)):
		d.content(atNS, true)
	default:
		d.output(text, atNS)
	}
}

func (p *responsesReader) say(r *root) {
	if part := partOf(r); !slices.Contains(p.said, part) {
		p.said = append(p.said, part)
	}
}

func partOf(r *root) [2]int {
	// Missing numbers are those of the first part.
	output, _ := strconv.Atoi(string(r.outputIndex))
	content, _ := strconv.Atoi(string(r.contentIndex))
	return [2]int{output, content}
}

// end notes how the reply ended, and by which id it can be referred to.
func (p *responsesReader) end(d *documentDecoder, response []byte) {
	if !d.reply.ended(jsonscan.Find(response, "status"), jsonscan.Find(response, "incomplete_details")) {
		return
	}
	if p.chains || p.mayChain && string(jsonscan.Find(response, "store")) == "true" {
		d.reply.ID = jsonscan.FindText(response, "id")
	}
}

// ended notes the status of a response, or why it is incomplete; false if the next request cannot refer to it.
func (r *Reply) ended(status, details []byte) bool {
	r.end(status)
	r.end(jsonscan.Find(details, "reason"))
	switch string(name(status)) {
	case "failed", "incomplete", "cancelled":
		return false
	}
	return true
}

// whole reads a reply that did not stream.
func (p *responsesReader) whole(d *documentDecoder, r *root, atNS int64) {
	reply := &d.reply
	output, reasoning, heard := len(reply.Output), len(reply.Reasoning), false
	for item := range jsonscan.Elements(r.output) {
		p.keep(item)
		switch jsonscan.FindText(item, "type") {
		case "reasoning":
			for _, list := range [...]string{"summary", "content"} {
				for part := range jsonscan.Elements(jsonscan.Find(item, list)) {
					if kind := jsonscan.FindText(part, "type"); kind == "summary_text" || kind == "reasoning_text" {
						reply.Reasoning = append(reply.Reasoning, jsonscan.FindText(part, "text")...)
					}
				}
			}
		case "message":
			for part := range jsonscan.Elements(jsonscan.Find(item, "content")) {
				switch kind := jsonscan.FindText(part, "type"); {
				case kind == "refusal":
					reply.Output = append(reply.Output, jsonscan.FindText(part, "refusal")...)
				case jsonscan.IsText(jsonscan.Find(part, "text")):
					reply.Output = append(reply.Output, jsonscan.FindText(part, "text")...)
				case isSound(kind):
					transcript, sounds := sound(part)
					if heard = heard || sounds; transcript != nil {
						reply.Output = jsonscan.AppendText(reply.Output, transcript)
					}
				default:
					reply.leave("content." + kind)
				}
			}
		case "function_call":
			reply.Output = append(reply.Output, jsonscan.FindText(item, "name")...)
			reply.Output = append(reply.Output, jsonscan.FindText(item, "arguments")...)
		case "custom_tool_call":
			reply.Output = append(reply.Output, jsonscan.FindText(item, "name")...)
			reply.Output = append(reply.Output, jsonscan.FindText(item, "input")...)
		}
	}
	if len(reply.Output) == output && len(reply.Reasoning) == reasoning && jsonscan.IsText(r.outputText) {
		reply.Output = jsonscan.AppendText(reply.Output, r.outputText)
	}
	if said := len(reply.Output) > output || heard; said || len(reply.Reasoning) > reasoning {
		d.content(atNS, said)
	}
	if !reply.ended(r.status, r.incomplete) {
		return
	}
	if p.chains || p.mayChain && string(r.store) == "true" {
		reply.ID = jsonscan.Text(r.id)
	}
}

// unrepeatable are the types of items that a request cannot hold.
var unrepeatable = []string{"web_search_call", "file_search_call", "image_generation_call", "code_interpreter_call",
	"computer_call", "reasoning"}

// keep notes an output item for the next request.
func (p *responsesReader) keep(item []byte) {
	if kind := jsonscan.FindText(item, "type"); kind == "" || slices.Contains(unrepeatable, kind) {
		return
	}
	if len(p.items) > 0 {
		p.items = append(p.items, ',')
	}
	p.items = jsonscan.AppendCompact(p.items, item)
}

// replay repeats the output items, or the text where the stream named none.
func (p *responsesReader) replay(r *Reply, dst []byte) []byte {
	if len(p.items) > 0 {
		return append(dst, p.items...)
	}
	text := r.Output
	if len(text) == 0 {
		text = r.Reasoning
	}
	if len(text) == 0 {
		return dst
	}
	dst = append(dst, `{"role":"assistant","content":`...)
	return append(jsonscan.AppendString(dst, text), `,"type":"message"}`...)
}
