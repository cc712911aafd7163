package endpoint

import (
	"bytes"
	"sync"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/measure/record"
)

// openAIDecoder decodes replies of the OpenAI shape: what a document is, its members say.
type openAIDecoder struct {
	home  *sync.Pool
	last  alike
	first func()
	// zero reports that a choice of index 0 was seen, deltas that a delta was read.
	zero, deltas bool
	scratch      []byte
	// chosen is the raw index of the choice that is read, empty while that is the one of index 0.
	chosen []byte
	// reply is long: what each event needs stands together before it, which saves a fifth of the time of most events.
	reply Reply
}

// chunks are what events are scanned into. Streams that wait share them.
var chunks = sync.Pool{New: func() any { return new(chunk) }}

// maxKept bounds the buffers that a decoder keeps for the next exchange.
const maxKept = 64 << 10

// openAI is what the endpoint types have in common whose replies are chunks of OpenAI's API.
type openAI struct {
	shared
	decoders *sync.Pool
}

func newOpenAI(d Descriptor, o Options) openAI {
	home := &sync.Pool{}
	home.New = func() any { return &openAIDecoder{home: home} }
	return openAI{newShared(d, o), home}
}

func (e *openAI) NewDecoder() Decoder { return e.decoders.Get().(*openAIDecoder) }

func (d *openAIDecoder) OnFirstContent(f func()) { d.first = f }

func (d *openAIDecoder) Reply() *Reply {
	d.reply.settle()
	return &d.reply
}

func (d *openAIDecoder) Release() {
	r := &d.reply
	if cap(r.Output)+cap(r.Reasoning)+cap(r.text)+8*cap(r.ContentNS)+cap(d.scratch) > maxKept {
		*d = openAIDecoder{home: d.home}
	} else {
		r.reset()
		d.first, d.chosen, d.zero, d.deltas = nil, d.chosen[:0], false, false
		d.last.text = d.last.text[:0]
	}
	d.home.Put(d)
}

// Event decodes the data of one server-sent event.
func (d *openAIDecoder) Event(_, data []byte, atNS int64) {
	if len(data) == 0 {
		return
	}
	if data[0] != '{' {
		switch string(bytes.TrimSpace(data)) {
		case "":
			return
		case "[DONE]":
			d.reply.Finished = true
			return
		}
	}
	d.document(data, atNS)
}

// Body decodes a whole reply.
func (d *openAIDecoder) Body(contentType string, binary bool, body []byte, atNS int64) {
	d.reply.body(contentType, binary, body, atNS, d.document)
}

// document reads an event or a whole body. An event that differs from the one before in its content alone, as most do,
// is recognised by its bytes and not scanned at all. Usage is where the server puts it: at the root, in the choice, or
// among the members of the root under other names.
func (d *openAIDecoder) document(data []byte, atNS int64) {
	if raw := d.last.content(data); raw != nil {
		d.appendText(raw, false)
		d.arrived(atNS, true)
		return
	}
	c := chunks.Get().(*chunk)
	defer chunks.Put(c)
	if !c.scan(data) {
		d.reply.Malformed++
		d.reply.lacks(data)
		return
	}
	if d.reply.Err == nil && (c.err != nil || string(c.object) == "error") {
		d.reply.Err = readError(c, data)
	}
	switch {
	case len(c.usage) > 2:
		d.reply.Usage.Fold(c.usage)
	case len(c.choice.usage) > 2:
		d.reply.Usage.Fold(c.choice.usage)
	case c.foreignUsage:
		d.reply.Usage.Fold(data)
	}
	if len(c.choice.speculation) > 0 || len(c.metrics) > 0 {
		d.reply.keepSpecDecode(c.choice.speculation, c.metrics)
	}
	d.reply.OtherChoices += c.others
	switch {
	case !c.chosen:
		if d.reply.Err == nil {
			d.foreign(data, atNS)
		}
	case c.picked && d.reads(c):
		if !jsonscan.IsNull(c.choice.finish) {
			d.reply.end(c.choice.finish)
		}
		d.choice(c, data, atNS)
	}
	d.reply.lacks(data)
}

// reads reports whether the choice of a chunk is the one that is read: that of index 0, or of the first index that came
// while there is none. What was read of another choice before that of index 0 is dropped.
func (d *openAIDecoder) reads(c *chunk) bool {
	switch {
	case !c.stray && !d.zero && len(d.chosen) > 0:
		r := &d.reply
		r.OtherChoices += len(r.ContentNS)
		r.ContentNS, r.FirstOutputNS, r.Output, r.Reasoning = r.ContentNS[:0], 0, r.Output[:0], r.Reasoning[:0]
		r.tools, r.text, r.growth, d.deltas = nil, r.text[:0], growth{}, false
		d.last.text, d.chosen, d.zero = d.last.text[:0], d.chosen[:0], true
	case !c.stray:
		d.zero = true
	case d.zero || len(d.chosen) > 0 && !bytes.Equal(d.chosen, c.choice.index):
		d.reply.OtherChoices++
		return false
	case len(d.chosen) == 0:
		d.chosen = append(d.chosen, c.choice.index...)
	}
	return true
}

// choice reads the output of the choice of a chunk.
func (d *openAIDecoder) choice(c *chunk, data []byte, atNS int64) {
	r := &d.reply
	m := c.choice.said(r.Whole)
	before, output, reasoning := len(r.ContentNS), len(r.Output), len(r.Reasoning)
	soFar := m == &c.choice.message && !r.Whole // the message of an event may be all that was said so far
	if soFar && d.deltas {
		return
	}
	if len(c.modality) > 0 && c.isData() && jsonscan.IsText(m.content) {
		d.deltas = true
		d.arrived(atNS, true)
		return
	}
	d.message(m, atNS)
	switch {
	case len(r.ContentNS) == before:
	case soFar:
		r.grow(output, reasoning, atNS)
	default:
		d.deltas = true
		if c.onlyContent(m) {
			d.last.keep(data, m.content)
		}
	}
	if len(c.usage) > 2 && !r.chunkUsage && len(r.ContentNS) > before {
		r.chunkUsage = true
		r.FirstChunkTokens, _ = r.Usage.Value(record.UsageCompletion) // usage of chunks is cumulative
	}
}

// message reads the data of a message: reasoning before tool calls before text. Content goes
// along with the former two.
func (d *openAIDecoder) message(m *spans, atNS int64) {
	r := &d.reply
	if len(m.raw) > 0 || m.inParts() {
		d.rich(m, atNS)
		return
	}
	reasoning := m.reasoningContent
	if !jsonscan.IsText(reasoning) {
		reasoning = m.reasoning
	}
	hasContent, hasReasoning, hasTool := jsonscan.IsText(m.content), jsonscan.IsText(reasoning), false
	if hasTools := d.collectTools(m); hasTools && !hasReasoning {
		hasTool = len(d.scratch) > 0
	}
	if !hasContent && !hasReasoning && !hasTool {
		return
	}
	if hasReasoning {
		r.Reasoning = jsonscan.AppendText(r.Reasoning, reasoning)
	}
	if hasTool {
		r.Output = append(r.Output, d.scratch...)
	}
	if hasContent {
		d.appendText(m.content, false)
	}
	d.arrived(atNS, hasContent || hasTool)
}

// appendText adds the text of a raw string to the output; that of a plain one is known to stand between its quotes.
func (d *openAIDecoder) appendText(raw []byte, plain bool) {
	r := &d.reply
	start := len(r.Output)
	if plain {
		r.Output = append(r.Output, raw[1:len(raw)-1]...)
	} else {
		r.Output = jsonscan.AppendText(r.Output, raw)
	}
	if len(r.tools) > 0 {
		r.text = append(r.text, r.Output[start:]...)
	}
}

// arrived notes the instant of a response with content; output reports that it has more than reasoning.
func (d *openAIDecoder) arrived(atNS int64, output bool) {
	r := &d.reply
	r.ContentNS = append(r.ContentNS, atNS)
	if r.FirstOutputNS == 0 && output {
		r.FirstOutputNS = atNS
	}
	if d.first != nil {
		first := d.first
		d.first = nil
		first()
	}
}

// collectTools merges the tool calls of a message into those of the reply and leaves their text in
// scratch; false if there are none.
func (d *openAIDecoder) collectTools(m *spans) bool {
	tools, call := startsWith(m.toolCalls, '['), startsWith(m.functionCall, '{')
	if !tools && !call {
		return false
	}
	d.scratch = d.scratch[:0]
	before := len(d.reply.tools)
	if tools {
		d.scratch = d.reply.tools.mergeList(d.scratch, m.toolCalls)
	} else {
		d.scratch = d.reply.tools.mergeFunctionCall(d.scratch, m.functionCall)
	}
	if before == 0 && len(d.reply.tools) > 0 {
		d.reply.text = append(d.reply.text[:0], d.reply.Output...)
	}
	return true
}
