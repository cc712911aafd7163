package endpoint

import (
	"strings"
)

// solido is the prompt API of SOLIDO RAG.
type solido struct {
	documents
}

func newSolido(d Descriptor, o Options) Endpoint {
	return &solido{newDocuments(d, o, func() documentReader { return solidoReader{} })}
}

// Encode sends the current turn alone.
func (e *solido) Encode(c *Context) (*Body, error) {
	turn := c.current()
	if turn == nil {
		return nil, valueError("The request has no current turn.")
	}
	texts := filled(turn.Texts)
	w := objectWriter{buf: make([]byte, 0, sizeHint(c)), over: e.over.with(turn.Extra)}
	w.strings("query", texts)
	w.literal("filters", `{"family":"Solido","tool":"SDE"}`)
	w.text("inference_model", modelOf(turn.Model, e.options.Model))
	body := w.end(e.options.Streaming, false)
	body.fallback = strings.Join(texts, " ")
	return body, nil
}

type solidoReader struct{}

func (solidoReader) reset() {}

func (solidoReader) read(d *documentDecoder, r *root, _ []byte, atNS int64) {
	d.reply.Finished = true // such streams have no end mark
	d.output(r.content, atNS)
}
