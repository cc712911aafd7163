package endpoint

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/workload/dataset"
)

// sglang is the generate API of SGLang, which takes and yields token ids.
type sglang struct {
	documents
	// prompts are the ids of the turns' texts (by the first of them), as JSON numbers joined by commas.
	prompts sync.Map
}

func newSGLang(d Descriptor, o Options) Endpoint {
	return &sglang{documents: newDocuments(d, o, func() documentReader { return &sglangReader{} })}
}

// PerRequest implements Individual: the body names the request.
func (e *sglang) PerRequest() bool { return true }

// Encode sends the ids of the whole conversation so far.
func (e *sglang) Encode(c *Context) (*Body, error) {
	turn := c.current()
	switch {
	case turn == nil:
		return nil, valueError("The request has no current turn.")
	case c.SystemMessage != nil || c.UserContext != nil:
		return nil, valueError(
			"The sglang_generate endpoint sends token ids and takes no system prompt and no user context.")
	case e.options.Encode == nil:
		return nil, valueError("The sglang_generate endpoint sends token ids and needs a tokenizer.")
	}
	sampling, top := e.sampling(turn)
	w := objectWriter{buf: make([]byte, 0, sizeHint(c)), over: top}
	w.text("rid", c.RequestID)
	if w.key("input_ids") {
		w.buf = append(w.buf, '[')
		some := false
		for i := range c.Turns {
			ids, err := e.ids(&c.Turns[i])
			if err != nil {
				return nil, err
			}
			if len(ids) == 0 {
				continue
			}
			if some {
				w.buf = append(w.buf, ',')
			}
			some = true
			w.buf = append(w.buf, ids...)
		}
		w.buf = append(w.buf, ']')
	}
	w.literal("sampling_params", string(sampling))
	w.literal("stream", "true")
	return w.end(true, false), nil
}

// sampling merges the user's sampling_params over the generated ones; top are the other members.
func (e *sglang) sampling(turn *dataset.Turn) (sampling []byte, top overrides) {
	var params overrides
	add := func(list []byte) {
		for m := range jsonscan.Members(list) {
			params = params.set(string(m.Key), jsonscan.AppendCompact(nil, m.Value))
		}
	}
	member := func(key string, value []byte) {
		if key == "sampling_params" {
			add(value)
			return
		}
		top = top.set(key, jsonscan.AppendCompact(nil, value))
		if key == "nvext" {
			hints := jsonscan.Find(value, "agent_hints")
			if priority := jsonscan.Find(hints, "strict_priority"); !jsonscan.IsNull(priority) {
				top = top.set("priority", jsonscan.AppendCompact(nil, priority))
			}
		}
	}
	for _, f := range slices.Concat(e.over, turn.Extra) {
		member(f.Name, f.Value)
	}
	w := objectWriter{over: params}
	if turn.MaxTokens != nil {
		w.literal("max_new_tokens", strconv.Itoa(*turn.MaxTokens))
	}
	return w.end(false, false).Bytes, top
}

// ids are those of a turn's texts or of a captured reply.
func (e *sglang) ids(t *Turn) ([]byte, error) {
	switch {
	case t.Assistant != nil:
		return t.Assistant, nil
	case t.Turn == nil:
		return nil, nil
	case t.RawMessages != nil:
		return nil, valueError("The sglang_generate endpoint sends token ids: it does not accept prepared messages.")
	}
	if len(t.Texts) == 0 {
		return nil, nil
	}
	made := t.Prompt != nil // made for this request: there is nothing to cache
	if ids, ok := e.prompts.Load(&t.Texts[0]); ok && !made {
		return ids.([]byte), nil
	}
	var text []byte
	for i, id := range e.options.Encode(nil, strings.Join(filled(t.Texts), " ")) {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(id), 10)
	}
	if !made {
		e.prompts.Store(&t.Texts[0], text)
	}
	return text, nil
}

// sglangReader collects the ids of a reply.
type sglangReader struct{ ids []byte }

func (s *sglangReader) reset() {
	if s.ids = s.ids[:0]; cap(s.ids) > maxKept {
		s.ids = nil
	}
}

func (s *sglangReader) read(d *documentDecoder, r *root, _ []byte, atNS int64) {
	d.reply.Usage.Fold(r.metaInfo)
	d.reply.end(jsonscan.Find(r.metaInfo, "finish_reason"))
	n := 0
	for id := range jsonscan.Elements(r.outputIDs) {
		if len(s.ids) > 0 {
			s.ids = append(s.ids, ',')
		}
		s.ids = append(s.ids, id...)
		n++
	}
	if n > 0 {
		d.reply.OutputIDs += n
		d.content(atNS, true)
	}
}

// replay repeats the ids.
func (s *sglangReader) replay(_ *Reply, dst []byte) []byte { return append(dst, s.ids...) }
