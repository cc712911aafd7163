package endpoint

import (
	"sync"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/oip"
)

// contentTypeGRPC is that of a body that is a message of gRPC.
const contentTypeGRPC = "application/grpc+proto"

// inference is the open inference protocol, KServe's second one: tensors, over HTTP as JSON and over gRPC as
// messages.
type inference struct {
	shared
	kind     inferenceKind
	tensors  tensorNames
	asks     bool // the output was named, and is requested
	named    bool // the input for texts was named
	models   map[string]*modelForm
	decoders sync.Pool

	others, queries2, passages0 once
}

// inferenceKind is what the tensors of a type are.
type inferenceKind uint8

const (
	infersText inferenceKind = iota
	infersEmbeddings
	infersRankings
	infersFromImages
	infersImages
)

// tensorNames are the names of the tensors; extra inputs replace them.
type tensorNames struct{ input, image, query, passages, output string }

// inferenceKinds are the kinds by endpoint type, with the tensor names that servers use by default.
var inferenceKinds = map[string]struct {
	kind  inferenceKind
	names tensorNames
}{
	"kserve_v2_infer":      {infersText, tensorNames{input: "text_input", output: "text_output"}},
	"kserve_v2_embeddings": {infersEmbeddings, tensorNames{input: "text_input", output: "embedding"}},
	"kserve_v2_rankings":   {infersRankings, tensorNames{query: "query", passages: "passages", output: "scores"}},
	"kserve_v2_vlm":        {infersFromImages, tensorNames{input: "text_input", image: "image", output: "text_output"}},
	"kserve_v2_images":     {infersImages, tensorNames{input: "prompt", output: "image"}},
}

func newInference(d Descriptor, o Options) Endpoint {
	known := inferenceKinds[d.Name]
	e := &inference{shared: shared{descriptor: d, options: o}, kind: known.kind, tensors: known.names}
	e.others.warn, e.queries2.warn, e.passages0.warn = o.Warn, o.Warn, o.Warn
	n, output := &e.tensors, ""
	names := map[string]*string{"v2_input_name": &n.input, "v2_output_name": &output}
	switch e.kind {
	case infersFromImages:
		names["v2_image_name"] = &n.image
	case infersRankings:
		names = map[string]*string{"v2_query_name": &n.query, "v2_passages_name": &n.passages,
			"v2_output_name": &output}
	}
	input := n.input
	e.over = newOverrides(takeNames(o.Extra, names))
	e.named = n.input != input
	if output != "" {
		n.output, e.asks = output, true
	}
	e.decoders.New = func() any { return &inferenceDecoder{api: e} }
	return e
}

func (e *inference) NewDecoder() Decoder { return e.decoders.Get().(*inferenceDecoder) }

// Encode takes exactly one turn. What the user adds becomes tensors and parameters of the request.
func (e *inference) Encode(c *Context) (*Body, error) {
	turn := c.current()
	if len(c.Turns) != 1 || turn == nil {
		return nil, valueError("KServe inference only supports one turn.")
	}
	model := modelOf(turn.Model, e.options.Model)
	m, names, form := &oip.Message{Model: []byte(model)}, &e.tensors, e.models[model]
	if form != nil {
		names = &form.names
	}
	text, images, err := e.inputs(m, names, turn)
	if err != nil {
		return nil, err
	}
	if e.asks {
		m.Asked = [][]byte{[]byte(e.tensors.output)}
	}
	limit := turn.MaxTokens
	if !e.descriptor.ProducesTokens {
		limit = nil
	}
	fields := parameters(limit, e.over.with(turn.Extra))
	if form != nil {
		if err := form.shape(e.kind, m); err != nil {
			return nil, err
		}
		if fields, err = form.fields(m, fields, e.options.Streaming); err != nil {
			return nil, err
		}
	}
	if err := extend(m, fields); err != nil {
		return nil, err
	}
	body := e.body(m, m.AppendRequestJSON(make([]byte, 0, sizeHint(c))))
	body.text, body.images = &text, images
	return body, nil
}

// body makes the wire form of a message; text is its JSON form.
func (e *inference) body(m *oip.Message, text []byte) *Body {
	if !e.options.GRPC {
		return newBody(text, false)
	}
	return &Body{Bytes: m.AppendRequest(nil), ContentType: contentTypeGRPC, Stream: e.options.Streaming, form: text,
		images: -1}
}

// Verbatim implements recoder: what was recorded is JSON.
func (e *inference) Verbatim(payload []byte) (*Body, error) {
	if !e.options.GRPC {
		return verbatim(payload), nil
	}
	m, err := oip.RequestFromJSON(payload)
	if err != nil {
		return nil, valueError(err.Error())
	}
	if len(m.Model) == 0 {
		m.Model = []byte(e.options.Model)
	}
	return e.body(m, payload), nil
}

// inferenceDecoder decodes replies of both carriers.
type inferenceDecoder struct {
	api     *inference
	first   func()
	reply   Reply
	message oip.Message
}

func (d *inferenceDecoder) OnFirstContent(f func()) { d.first = f }

func (d *inferenceDecoder) Reply() *Reply { return &d.reply }

func (d *inferenceDecoder) Release() {
	home := &d.api.decoders
	if r := &d.reply; cap(r.Output)+8*cap(r.ContentNS) > maxKept {
		*d = inferenceDecoder{api: d.api}
	} else {
		r.reset()
		d.first = nil
	}
	home.Put(d)
}

// Event implements Decoder: a message of gRPC, or an event of a server that streams over HTTP.
func (d *inferenceDecoder) Event(_, data []byte, atNS int64) {
	if d.api.options.GRPC {
		if d.messageIn(data, atNS); len(d.reply.ContentNS) == 0 {
			d.reply.binary("a message of gRPC", data)
		}
		return
	}
	d.reply.event(data, atNS, d.take)
}

// Body implements Decoder.
func (d *inferenceDecoder) Body(contentType string, binary bool, body []byte, atNS int64) {
	d.reply.body(contentType, binary, body, atNS, d.take)
}

func (d *inferenceDecoder) take(data []byte, atNS int64) {
	d.document(data, atNS)
	d.reply.lacks(data)
}

// The status and the type of an error within a stream of messages, which has none of its own: the status is that of an
// error event over HTTP.
const (
	streamFault = 502
	typeStream  = "StreamResponseError"
)

// messageIn reads a gRPC message in place. The status of the call says whether it is complete.
func (d *inferenceDecoder) messageIn(data []byte, atNS int64) {
	r, m := &d.reply, &d.message
	r.Finished = true
	var fault []byte
	var err error
	if d.api.options.Streaming {
		fault, err = m.ParseStreamReply(data)
	} else {
		err = m.ParseReply(data)
	}
	if err != nil {
		r.Malformed++
		return
	}
	if len(fault) > 0 && r.Err == nil {
		r.Err = &record.Error{Code: streamFault, HasCode: true, Type: typeStream, Message: string(fault)}
	}
	t := d.pick(m)
	if t == nil {
		return
	}
	content := false
	switch d.api.kind {
	case infersText, infersFromImages:
		start := len(r.Output)
		if !t.EachText(func(text []byte) { r.Output = append(r.Output, text...) }) {
			r.Output = r.Output[:start]
			r.Malformed++
			return
		}
		content = len(r.Output) > start
	case infersImages:
		n := imagesIn(string(t.Datatype), t.Shape, func(yield func([]byte)) bool { return t.EachText(yield) })
		r.Images += n
		content = n > 0
	default:
		content = t.Elements() > 0
	}
	if content {
		r.content(atNS, &d.first)
	}
}

// pick finds the output: the one of the name, or the only one of its kind.
func (d *inferenceDecoder) pick(m *oip.Message) *oip.Tensor {
	var only *oip.Tensor
	n := 0
	for i := range m.Tensors {
		t := &m.Tensors[i]
		if string(t.Name) == d.api.tensors.output {
			return t
		}
		if d.api.fits(string(t.Datatype)) {
			only, n = t, n+1
		}
	}
	if n != 1 {
		return nil
	}
	return only
}

// fits reports whether a data type can be that of the output.
func (e *inference) fits(datatype string) bool {
	switch e.kind {
	case infersImages:
		return true
	case infersText, infersFromImages:
		return datatype == oip.Bytes
	}
	return datatype != oip.Bytes && datatype != ""
}

// imagesIn counts the images of a tensor: the texts that are not empty, or the first of four dimensions.
func imagesIn(datatype string, shape []int64, each func(func([]byte)) bool) int {
	if datatype == oip.Bytes {
		n := 0
		each(func(text []byte) {
			if len(text) > 0 {
				n++
			}
		})
		return n
	}
	n := 1
	for i, size := range shape {
		switch {
		case size <= 0:
			return 0
		case i == 0 && len(shape) == 4:
			n = int(min(size, 1<<20))
		}
	}
	if len(shape) == 0 {
		return 0
	}
	return n
}

// document reads a response of the inference protocol as JSON: the texts, the number of images by the shape, or whether
// there is any value at all, by the kind of model. The values are not converted.
func (d *inferenceDecoder) document(data []byte, atNS int64) {
	r := &d.reply
	if !r.open(data) {
		return
	}
	t := d.pickJSON(jsonscan.Find(data, "outputs"))
	if t == nil {
		return
	}
	list, content := jsonscan.Find(t, "data"), false
	switch d.api.kind {
	case infersText, infersFromImages:
		start := len(r.Output)
		for item := range jsonscan.Elements(list) {
			if jsonscan.IsText(item) {
				r.Output = jsonscan.AppendText(r.Output, item)
			}
		}
		content = len(r.Output) > start
	case infersImages:
		var shape []int64
		for size := range jsonscan.Elements(jsonscan.Find(t, "shape")) {
			n, _, _ := number(size)
			shape = append(shape, n)
		}
		n := imagesIn(jsonscan.FindText(t, "datatype"), shape, func(yield func([]byte)) bool {
			for item := range jsonscan.Elements(list) {
				yield(item[min(1, len(item)):max(1, len(item)-1)]) // an empty string has nothing between its quotes
			}
			return true
		})
		r.Images += n
		content = n > 0
	default:
		for range jsonscan.Elements(list) {
			content = true
			break
		}
	}
	if content {
		r.content(atNS, &d.first)
	}
}

// pickJSON is pick for the outputs of a JSON reply.
func (d *inferenceDecoder) pickJSON(outputs []byte) []byte {
	var found, only []byte
	n := 0
	for t := range jsonscan.Elements(outputs) {
		if jsonscan.FindText(t, "name") == d.api.tensors.output {
			found = t
		}
		if d.api.fits(jsonscan.FindText(t, "datatype")) {
			only, n = t, n+1
		}
	}
	if found == nil && n == 1 {
		return only
	}
	return found
}
