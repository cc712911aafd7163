package endpoint

import (
	"strings"

	"aiperf/internal/base/jsonscan"
)

// imageGeneration is the OpenAI images API.
type imageGeneration struct {
	documents
}

func newImageGeneration(d Descriptor, o Options) Endpoint {
	return &imageGeneration{newDocuments(d, o, func() documentReader { return imageReader{} })}
}

// Encode sends the current turn alone.
func (e *imageGeneration) Encode(c *Context) (*Body, error) {
	turn := c.current()
	if turn == nil || len(turn.Texts) == 0 || len(turn.Texts[0].Contents) == 0 {
		return nil, valueError("Image generation requires a text prompt.")
	}
	w := objectWriter{buf: make([]byte, 0, sizeHint(c)), over: e.over.with(turn.Extra)}
	w.text("prompt", turn.Texts[0].Contents[0])
	w.text("model", modelOf(turn.Model, e.options.Model))
	w.text("response_format", "b64_json")
	w.literal("n", "1")
	if e.options.Streaming {
		w.literal("stream", "true")
	}
	return w.end(e.options.Streaming, false), nil
}

// imageReader takes any object of a reply for content and counts its images.
type imageReader struct{}

func (imageReader) reset() {}

func (imageReader) read(d *documentDecoder, r *root, _ []byte, atNS int64) {
	if r.array != nil || r.members == 0 || d.reply.Err != nil {
		return
	}
	kind := string(name(r.kind))
	d.reply.Finished = d.reply.Finished || strings.HasSuffix(kind, ".completed")
	switch {
	case jsonscan.IsText(r.b64) && !strings.HasSuffix(kind, ".partial_image"):
		d.reply.Images++
	case !jsonscan.IsText(r.b64):
		for e := range jsonscan.Elements(r.data) {
			if jsonscan.IsText(jsonscan.Find(e, "b64_json")) || jsonscan.IsText(jsonscan.Find(e, "url")) {
				d.reply.Images++
			}
		}
	}
	d.content(atNS, true)
}
