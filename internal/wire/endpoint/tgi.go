package endpoint

import (
	"strconv"
	"strings"

	"aiperf/internal/base/jsonscan"
)

// tgi is the generate API of text-generation-inference.
type tgi struct {
	documents
}

func newTGI(d Descriptor, o Options) Endpoint {
	return &tgi{newDocuments(d, o, func() documentReader { return tgiReader{} })}
}

// Encode takes exactly one turn. What the user adds goes among the parameters; the path reports whether
// the reply streams.
func (e *tgi) Encode(c *Context) (*Body, error) {
	turn := c.current()
	if len(c.Turns) != 1 || turn == nil {
		return nil, valueError("Huggingface generate endpoint only supports one turn.")
	}
	p := objectWriter{over: e.over.with(turn.Extra)}
	if turn.MaxTokens != nil {
		p.literal("max_new_tokens", strconv.Itoa(*turn.MaxTokens))
	}
	parameters := p.end(false, false)
	w := objectWriter{buf: make([]byte, 0, sizeHint(c))}
	w.text("inputs", strings.Join(filled(turn.Texts), " "))
	w.literal("parameters", string(parameters.Bytes))
	return w.end(e.options.Streaming, false), nil
}

type tgiReader struct{}

func (tgiReader) reset() {}

// read reads an event, which has a token, or a whole reply, an object or a list of one.
func (tgiReader) read(d *documentDecoder, r *root, _ []byte, atNS int64) {
	details := r.details
	if r.array != nil {
		for first := range jsonscan.Elements(r.array) {
			details = jsonscan.Find(first, "details")
			break
		}
	}
	d.reply.details(details)
	if !jsonscan.IsNull(r.token) {
		d.output(jsonscan.Find(r.token, "text"), atNS)
		// The last event repeats the whole text.
		d.reply.Finished = d.reply.Finished || !jsonscan.IsNull(r.generatedText)
		return
	}
	text := r.generatedText
	for first := range jsonscan.Elements(r.array) {
		text = jsonscan.Find(first, "generated_text")
		break
	}
	d.output(text, atNS)
}

// details reads what the server says of a reply: token counts, and why it ended.
func (r *Reply) details(raw []byte) {
	if !startsWith(raw, '{') {
		return
	}
	r.Usage.Fold(raw)
	r.end(jsonscan.Find(raw, "finish_reason"))
}
