package endpoint

import (
	"strconv"
	"strings"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/workload/dataset"
)

// kserve is the predict API of KServe's first protocol.
type kserve struct {
	shared
	// input and output name the fields of an instance and a prediction that carry text.
	input, output string
}

// The fields of servers that give theirs no names, and the extra inputs that replace them.
const kserveV1Input, kserveV1Output = "text", "output"

func newKServe(d Descriptor, o Options) Endpoint {
	e := &kserve{shared: shared{descriptor: d, options: o}, input: kserveV1Input, output: kserveV1Output}
	rest := takeNames(o.Extra, map[string]*string{"v1_input_field": &e.input, "v1_output_field": &e.output})
	e.over = newOverrides(rest)
	return e
}

// takeNames takes the extra inputs that name something, and returns the others.
func takeNames(extra []dataset.Field, names map[string]*string) (rest []dataset.Field) {
	for _, m := range extra {
		if to, text := names[m.Name], jsonscan.Text(m.Value); to != nil && text != "" {
			*to = text
			continue
		}
		rest = append(rest, m)
	}
	return rest
}

func (e *kserve) NewDecoder() Decoder { return &kserveDecoder{api: e} }

// Encode takes exactly one turn; its texts are joined by a space. What the user adds becomes parameters of
// the request.
func (e *kserve) Encode(c *Context) (*Body, error) {
	turn := c.current()
	if len(c.Turns) != 1 || turn == nil {
		return nil, valueError("KServe inference only supports one turn.")
	}
	text := strings.Join(filled(turn.Texts), " ")
	b := make([]byte, 0, sizeHint(c))
	b = jsonscan.AppendString(append(b, `{"instances":[{`...), e.input)
	b = append(jsonscan.AppendString(append(b, ':'), text), `}]`...)
	if list := parameters(turn.MaxTokens, e.over.with(turn.Extra)); len(list) > 0 {
		b = append(b, `,"parameters":`...)
		for i, m := range list {
			b = append(b, "{,"[min(i, 1)])
			b = append(append(jsonscan.AppendString(b, m.Name), ':'), m.Value...)
		}
		b = append(b, '}')
	}
	return Made(append(b, '}'), contentTypeJSON, false, &text), nil
}

// parameters are the output limit, unless the user sets it, and what the user adds.
func parameters(maxTokens *int, over overrides) []dataset.Field {
	if maxTokens == nil {
		return over
	}
	limit := dataset.Field{Name: "max_tokens", Value: []byte(strconv.Itoa(*maxTokens))}
	if value, given := over.get(limit.Name); given {
		limit.Value = value
	}
	list := []dataset.Field{limit}
	for _, m := range over {
		if m.Name != limit.Name {
			list = append(list, m)
		}
	}
	return list
}

// kserveDecoder decodes replies of the first protocol.
type kserveDecoder struct {
	api   *kserve
	first func()
	reply Reply
}

func (d *kserveDecoder) OnFirstContent(f func()) { d.first = f }

func (d *kserveDecoder) Reply() *Reply { return &d.reply }

func (d *kserveDecoder) Release() { *d = kserveDecoder{api: d.api} }

// Event implements Decoder: the API does not stream, but some servers do.
func (d *kserveDecoder) Event(_, data []byte, atNS int64) {
	d.reply.event(data, atNS, d.take)
}

// Body implements Decoder.
func (d *kserveDecoder) Body(contentType string, binary bool, body []byte, atNS int64) {
	d.reply.body(contentType, binary, body, atNS, d.take)
}

func (d *kserveDecoder) take(data []byte, atNS int64) {
	d.document(data, atNS)
	d.reply.lacks(data)
}

func (d *kserveDecoder) document(data []byte, atNS int64) {
	if !d.reply.open(data) {
		return
	}
	start := len(d.reply.Output)
	for p := range jsonscan.Elements(jsonscan.Find(data, "predictions")) {
		switch {
		case jsonscan.IsText(p):
			d.reply.Output = jsonscan.AppendText(d.reply.Output, p)
		case p[0] == '{':
			if text := jsonscan.Find(p, d.api.output); jsonscan.IsText(text) {
				d.reply.Output = jsonscan.AppendText(d.reply.Output, text)
			}
		case !jsonscan.IsNull(p) && p[0] != '[' && p[0] != '"':
			d.reply.Output = append(d.reply.Output, p...)
		}
	}
	if len(d.reply.Output) > start {
		d.reply.content(atNS, &d.first)
	}
}

// open reads what every JSON reply may hold besides its content; false if it cannot be read.
func (r *Reply) open(data []byte) bool {
	if data[0] != '{' || !jsonscan.Valid(data) {
		r.Malformed++
		return false
	}
	if e := jsonscan.Find(data, "error"); r.Err == nil && !jsonscan.IsNull(e) {
		r.Err = readError(&chunk{err: e, object: []byte("error")}, data)
	}
	if usage := jsonscan.Find(data, "usage"); len(usage) > 2 && usage[0] == '{' {
		r.Usage.Fold(usage)
	}
	return true
}

// content notes a content response, and reports the first one.
func (r *Reply) content(atNS int64, first *func()) {
	r.ContentNS = append(r.ContentNS, atNS)
	if r.FirstOutputNS == 0 {
		r.FirstOutputNS = atNS
	}
	if tell := *first; tell != nil {
		*first = nil
		tell()
	}
}
