package endpoint

import (
	"strconv"
	"strings"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/workload/dataset"
)

// embeddings is the OpenAI embeddings API and the one of NIM, which takes images as well.
type embeddings struct {
	documents
	what    string // of the API, in messages
	limited once
}

func newEmbeddings(d Descriptor, o Options) Endpoint {
	return newListed(d, o, "Embeddings", "embedding")
}

// newPooling is vLLM's API of the output of its poolers: the reply has a matrix, a vector or base64 for each text.
func newPooling(d Descriptor, o Options) Endpoint { return newListed(d, o, "Pooling", "data") }

// newClassification is vLLM's API of classifiers.
func newClassification(d Descriptor, o Options) Endpoint {
	return newListed(d, o, "Classification", "probs")
}

// newListed is an API that takes a list of texts and replies with a list of items, each of which has a member.
func newListed(d Descriptor, o Options, what, member string) Endpoint {
	return &embeddings{what: what, limited: once{warn: o.Warn},
		documents: newDocuments(d, o, func() documentReader { return itemReader{member} })}
}

// Encode takes exactly one turn; its texts are always a list.
func (e *embeddings) Encode(c *Context) (*Body, error) {
	turn := c.current()
	if len(c.Turns) != 1 || turn == nil {
		return nil, valueError(e.what + " endpoint only supports one turn.")
	}
	if turn.MaxTokens != nil {
		e.limited.say("Max_tokens is provided but is not supported for " + strings.ToLower(e.what) + ".")
	}
	inputs := filled(turn.Texts)
	images := 0
	if e.descriptor.SupportsImage {
		var err error
		if inputs, images, err = withImages(inputs, filled(turn.Images)); err != nil {
			return nil, err
		}
	}
	w := objectWriter{buf: make([]byte, 0, sizeHint(c)), over: e.over.with(turn.Extra)}
	w.text("model", modelOf(turn.Model, e.options.Model))
	w.strings("input", inputs)
	body := w.end(false, false)
	body.images = images
	if images > 0 {
		text := strings.Join(filled(turn.Texts), " ")
		body.text = &text
	}
	return body, nil
}

// filled lists the contents that are not empty.
func filled(list []dataset.Media) []string {
	var all []string
	for content := range contents(list) {
		if content != "" {
			all = append(all, content)
		}
	}
	return all
}

// withImages joins texts and images to inputs: either alone, or one image behind each text.
func withImages(texts, images []string) (inputs []string, count int, err error) {
	switch {
	case len(images) == 0:
		return texts, 0, nil
	case len(texts) == 0:
		return images, len(images), nil
	case len(texts) != len(images):
		return nil, 0, valueError("The numbers of texts and images must be equal: there are " +
			strconv.Itoa(len(texts)) +
			" texts and " + strconv.Itoa(len(images)) + " images.")
	}
	for i := range texts {
		inputs = append(inputs, texts[i]+" "+images[i])
	}
	return inputs, len(images), nil
}

// strings writes a generated list of strings.
func (w *objectWriter) strings(name string, values []string) {
	if w.key(name) {
		w.buf = appendStrings(w.buf, values)
	}
}

func appendStrings(dst []byte, values []string) []byte {
	dst = append(dst, '[')
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonscan.AppendString(dst, v)
	}
	return append(dst, ']')
}

// itemReader takes a reply that is a list of objects with a member of this name.
type itemReader struct{ member string }

func (itemReader) reset() {}

// takesBinary holds for embeddings and poolers: vLLM sends their vectors as bytes with encoding_format bytes and
// bytes_only.
func (k itemReader) takesBinary() bool { return k.member == "embedding" || k.member == "data" }

func (k itemReader) read(d *documentDecoder, r *root, _ []byte, atNS int64) {
	n := 0
	for e := range jsonscan.Elements(r.data) {
		if value := jsonscan.Find(e, k.member); jsonscan.IsNull(value) || isEmpty(value) {
			d.fail("ValueError", "Received invalid list in response: "+clip(string(r.data), 100))
			return
		}
		n++
	}
	if n > 0 {
		d.content(atNS, true)
	}
}

// isEmpty reports whether a raw value is an empty list or an empty string.
func isEmpty(raw []byte) bool { return string(raw) == "[]" || string(raw) == `""` }

// clip keeps the first n characters of a text that goes into a message.
func clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}
