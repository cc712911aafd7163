package endpoint

import (
	"aiperf/internal/base/jsonscan"
)

// imageRetrieval is the API that finds what images show.
type imageRetrieval struct {
	documents
}

func newImageRetrieval(d Descriptor, o Options) Endpoint {
	return &imageRetrieval{newDocuments(d, o, func() documentReader { return listReader{} })}
}

// Encode sends the images of the current turn.
func (e *imageRetrieval) Encode(c *Context) (*Body, error) {
	turn := c.current()
	if turn == nil {
		return nil, valueError("The request has no current turn.")
	}
	images := filled(turn.Images)
	if len(images) == 0 {
		return nil, valueError("Image retrieval requires at least one image.")
	}
	w := objectWriter{over: e.over.with(turn.Extra)}
	if w.key("input") {
		w.buf = append(w.buf, '[')
		for i, image := range images {
			if i > 0 {
				w.buf = append(w.buf, ',')
			}
			w.buf = append(jsonscan.AppendString(append(w.buf, `{"type":"image_url","url":`...), image), '}')
		}
		w.buf = append(w.buf, ']')
	}
	return w.end(false, false), nil
}

// listReader takes a list that is not empty for the answer.
type listReader struct{}

func (listReader) reset() {}

func (listReader) read(d *documentDecoder, r *root, _ []byte, atNS int64) {
	for range jsonscan.Elements(r.data) {
		d.content(atNS, true)
		return
	}
}
