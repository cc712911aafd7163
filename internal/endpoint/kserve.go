package endpoint

import (
	"bytes"
	"strconv"
	"strings"
)

// kserve is the predict API of KServe's first protocol and the infer API of the open inference protocol.
type kserve struct {
	descriptor Descriptor
	options    Options
	v2         bool
	// input and output name the tensor, or the field of an instance, that carries the text; asks tells that
	// the output was named, and is asked for.
	input, output string
	asks          bool
	over          overrides
}

// The names of servers that give theirs to nobody, and the extra inputs that replace them.
const (
	kserveV1Input, kserveV1Output = "text", "output"
	kserveV2Input, kserveV2Output = "text_input", "text_output"
)

func newKServe(d Descriptor, o Options) Endpoint {
	e := &kserve{descriptor: d, options: o, v2: strings.HasPrefix(d.Name, "kserve_v2"), input: kserveV1Input, output: kserveV1Output}
	inputKey, outputKey := "v1_input_field", "v1_output_field"
	if e.v2 {
		e.input, e.output = kserveV2Input, kserveV2Output
		inputKey, outputKey = "v2_input_name", "v2_output_name"
	}
	var rest []Member
	for _, m := range o.Extra {
		switch name := textOf(m.Value); {
		case m.Key == inputKey && name != "":
			e.input = name
		case m.Key == outputKey && name != "":
			e.output, e.asks = name, true
		default:
			rest = append(rest, m)
		}
	}
	e.over = newOverrides(rest)
	return e
}

func (e *kserve) Descriptor() Descriptor { return e.descriptor }

func (e *kserve) NewDecoder() Decoder { return &kserveDecoder{api: e} }

// Encode takes exactly one turn; its texts are joined by a space. What the user adds becomes parameters of
// the request.
func (e *kserve) Encode(c *Context) (*Body, error) {
	if len(c.Turns) != 1 || c.Turns[0].Turn == nil {
		return nil, valueError("KServe inference only supports one turn.")
	}
	turn := c.Turns[0].Turn
	var texts []string
	for _, m := range turn.Texts {
		for _, content := range m.Contents {
			if content != "" {
				texts = append(texts, content)
			}
		}
	}
	text := strings.Join(texts, " ")
	parameters := e.parameters(turn.MaxTokens, e.over.with(turn.Extra))
	b := make([]byte, 0, sizeHint(c))
	if e.v2 {
		b = appendString(append(b, `{"inputs":[{"name":`...), e.input)
		b = append(b, `,"shape":[1],"datatype":"BYTES","data":[`...)
		b = append(appendString(b, text), `]}]`...)
		if e.asks {
			b = append(appendString(append(b, `,"outputs":[{"name":`...), e.output), `}]`...)
		}
	} else {
		b = appendString(append(b, `{"instances":[{`...), e.input)
		b = append(appendString(append(b, ':'), text), `}]`...)
	}
	if len(parameters) > len("{}") {
		b = append(append(b, `,"parameters":`...), parameters...)
	}
	body := Made(append(b, '}'), contentTypeJSON, false, &text)
	return body, nil
}

func (e *kserve) parameters(maxTokens *int, over overrides) []byte {
	w := objectWriter{over: over}
	if maxTokens != nil {
		w.literal("max_tokens", strconv.Itoa(*maxTokens))
	}
	for _, m := range w.over {
		if !w.wrote(m.Key) {
			w.name(m.Key)
			w.buf = append(w.buf, m.Value...)
		}
	}
	if len(w.buf) == 0 {
		return []byte("{}")
	}
	return append(w.buf, '}')
}

// kserveDecoder decodes replies of both protocols.
type kserveDecoder struct {
	api   *kserve
	first func()
	reply Reply
}

func (d *kserveDecoder) OnFirstContent(f func()) { d.first = f }

func (d *kserveDecoder) Reply() *Reply { return &d.reply }

func (d *kserveDecoder) Release() { *d = kserveDecoder{api: d.api} }

// Event implements Decoder: neither API streams over HTTP, but some servers do.
func (d *kserveDecoder) Event(_, data []byte, atNS int64) {
	switch data = bytes.TrimSpace(data); string(data) {
	case "":
	case "[DONE]":
		d.reply.Finished = true
	default:
		d.document(data, atNS)
	}
}

// Body implements Decoder.
func (d *kserveDecoder) Body(_ string, binary bool, body []byte, atNS int64) {
	if body = bytes.TrimSpace(body); !binary && len(body) > 0 {
		d.reply.Finished = true
		d.document(body, atNS)
	}
}

func (d *kserveDecoder) document(data []byte, atNS int64) {
	if data[0] != '{' || !skipDocument(data, 0) {
		d.reply.Malformed++
		return
	}
	if e := find(data, "error"); d.reply.Err == nil && !isNull(e) {
		d.reply.Err = readError(&chunk{err: e, object: []byte("error")}, data)
	}
	if usage := find(data, "usage"); len(usage) > 2 && usage[0] == '{' {
		d.reply.Usage.Fold(usage)
	}
	start := len(d.reply.Output)
	if d.api.v2 {
		d.tensors(find(data, "outputs"))
	} else {
		d.predictions(find(data, "predictions"))
	}
	if len(d.reply.Output) == start {
		return
	}
	d.reply.ContentNS = append(d.reply.ContentNS, atNS)
	if d.reply.FirstOutputNS == 0 {
		d.reply.FirstOutputNS = atNS
	}
	if first := d.first; first != nil {
		d.first = nil
		first()
	}
}

// tensors takes the text tensor: the one of the name, or the only one of bytes.
func (d *kserveDecoder) tensors(outputs []byte) {
	var found, only []byte
	n := 0
	for t := range elements(outputs) {
		if textOf(find(t, "name")) == d.api.output {
			found = t
		}
		if textOf(find(t, "datatype")) == "BYTES" {
			only, n = t, n+1
		}
	}
	if found == nil && n == 1 {
		found = only
	}
	for item := range elements(find(found, "data")) {
		if isText(item) {
			d.reply.Output = appendText(d.reply.Output, item)
		}
	}
}

// predictions takes the text of each: itself, or its field.
func (d *kserveDecoder) predictions(list []byte) {
	for p := range elements(list) {
		switch {
		case isText(p):
			d.reply.Output = appendText(d.reply.Output, p)
		case p[0] == '{':
			if text := find(p, d.api.output); isText(text) {
				d.reply.Output = appendText(d.reply.Output, text)
			}
		case !isNull(p) && p[0] != '[' && p[0] != '"':
			d.reply.Output = append(d.reply.Output, p...)
		}
	}
}
