package endpoint

import (
	"encoding/json"
	"slices"
	"sync"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/workload/dataset"
)

const contentTypeJSON = "application/json"

// Body is an encoded request body. Its bytes do not change after it was made: one body may serve any
// number of requests.
type Body struct {
	Bytes       []byte
	ContentType string
	// Stream reports what the merged body asks for.
	Stream bool

	// text is what counts instead of the body's own texts, where these hold media; fallback where
	// the body shows no text.
	text     *string
	fallback string
	// form is the JSON object that represents a body that is not JSON.
	form []byte
	// images is the encoder's count; negative: Media counts the parts of the body.
	images int
	// audio is the length of the audio in seconds; 0: Media reads it from the body.
	audio float64

	countOnce, mediaOnce sync.Once
	// tokens is valid after countOnce has run; negative without text.
	tokens int64
}

// newBody is a body of JSON text that shows by itself what it holds.
func newBody(text []byte, stream bool) *Body {
	return &Body{Bytes: text, ContentType: contentTypeJSON, Stream: stream, images: -1}
}

// verbatim is the body of a request that is sent as it was recorded. Stream is what the body itself asks for.
func verbatim(payload []byte) *Body {
	return newBody(payload, string(jsonscan.Find(payload, "stream")) == "true")
}

// Made is a body that another program encoded. Text is what is counted as its input; nil: the texts of the body.
func Made(payload []byte, contentType string, stream bool, text *string) *Body {
	b := newBody(payload, stream)
	b.ContentType, b.text = contentType, text
	return b
}

// JSON is the body as JSON text: a form is an object of its fields, with files as the data set holds them.
func (b *Body) JSON() []byte {
	if b.form != nil {
		return b.form
	}
	return b.Bytes
}

// Message reports that the body is a message of gRPC: its JSON form is what people read.
func (b *Body) Message() bool { return b.ContentType == contentTypeGRPC }

// Media returns the number of images in the body and the seconds of audio whose length is known.
func (b *Body) Media() (images int, audioSeconds float64) {
	b.mediaOnce.Do(func() {
		if b.images < 0 {
			b.images = countImages(b.JSON())
		}
		if b.audio == 0 {
			b.audio = audioSeconds64(b.JSON())
		}
	})
	return b.images, b.audio
}

// Counter counts the tokens of a text.
type Counter interface{ Count(text string) int }

// MessageCounter is a Counter that counts conversations as a whole, with what a chat template puts between
// the texts.
type MessageCounter interface {
	Counter
	// CountMessages counts the JSON list of messages; false leaves it to the texts.
	CountMessages(messages []byte) (int, bool)
}

// InputTokens is the number of tokens of the body's texts; false when it holds neither text nor token
// ids. The text is collected and counted once, at the first call.
func (b *Body) InputTokens(c Counter) (int64, bool) {
	b.countOnce.Do(func() {
		b.tokens = -1
		if m, ok := c.(MessageCounter); ok && b.text == nil {
			if n, ok := countMessages(b.JSON(), m); ok {
				b.tokens = int64(n)
				return
			}
		}
		text, ids := b.input()
		if text != "" {
			b.tokens = int64(ids + c.Count(text))
		} else if ids > 0 {
			b.tokens = int64(ids)
		}
	})
	return b.tokens, b.tokens >= 0
}

// input is the body's text and its token ids.
func (b *Body) input() (text string, ids int) {
	if b.text != nil {
		return *b.text, 0
	}
	if text, ids = inputText(b.JSON()); text == "" && ids == 0 {
		text = b.fallback
	}
	return text, ids
}

// Input returns the text and the token ids of the body as servers with a chat template cache them: what
// [Body.InputTokens] counts, but declared tools before the messages, and they and their calls as JSON.
func (b *Body) Input() (text string, ids []int) {
	if b.text != nil {
		return *b.text, nil
	}
	c := textCollector{asCached: true}
	c.body(b.JSON())
	if text = c.text.String(); text == "" && c.ids == 0 {
		text = b.fallback
	}
	return text, c.kept
}

// Alone reports that the body holds the current turn only: a form has no place for a history.
func (b *Body) Alone() bool { return b.form != nil }

// overrides are the members that replace or extend the generated ones: the user's extra inputs, then
// the turn's own. A key appears once, at its first position, with its last value.
type overrides []dataset.Field

func (o overrides) set(key string, value []byte) overrides {
	for i := range o {
		if o[i].Name == key {
			o[i].Value = value
			return o
		}
	}
	return append(o, dataset.Field{Name: key, Value: value})
}

func (o overrides) get(key string) ([]byte, bool) {
	for i := range o {
		if o[i].Name == key {
			return o[i].Value, true
		}
	}
	return nil, false
}

// newOverrides converts the user's extra inputs to wire form.
func newOverrides(extra []dataset.Field) overrides { return overrides(nil).with(extra) }

// shared is what all endpoint types have: their row of the table, their options and the user's extra inputs.
type shared struct {
	descriptor Descriptor
	options    Options
	over       overrides
}

func newShared(d Descriptor, o Options) shared { return shared{d, o, newOverrides(o.Extra)} }

func (e *shared) Descriptor() Descriptor { return e.descriptor }

// with returns the overrides with those of a turn on top; the receiver is shared and stays as it is.
func (o overrides) with(extra []dataset.Field) overrides {
	if len(extra) == 0 {
		return o
	}
	merged := append(overrides(nil), o...)
	for _, f := range extra {
		merged = merged.set(f.Name, jsonscan.AppendCompact(nil, f.Value))
	}
	return merged
}

// objectWriter writes a body's members in order: the generated ones, each replaced in its place if
// the overrides hold its key, then the rest of the overrides.
type objectWriter struct {
	buf       []byte
	over      overrides
	generated []string
	// chunkUsage asks for usage with every chunk, where usage is asked for.
	chunkUsage bool
	// authored: the generated members are the user's own, so that a null replaces one instead of taking it away.
	authored bool
}

// key begins a generated member; false reports that the overrides' value was written instead, or that they take the
// member away: null is how the user says that there is to be none.
func (w *objectWriter) key(name string) bool {
	w.generated = append(w.generated, name)
	if !w.authored && w.removed(name) {
		return false
	}
	w.name(name)
	if value, ok := w.over.get(name); ok {
		w.buf = append(w.buf, value...)
		return false
	}
	return true
}

// removed reports whether the overrides take a generated member away.
func (w *objectWriter) removed(name string) bool {
	value, given := w.over.get(name)
	return given && jsonscan.IsNull(value)
}

func (w *objectWriter) name(name string) {
	if len(w.buf) == 0 {
		w.buf = append(w.buf, '{')
	} else {
		w.buf = append(w.buf, ',')
	}
	w.buf = jsonscan.AppendString(w.buf, name)
	w.buf = append(w.buf, ':')
}

// text and literal write a generated member.
func (w *objectWriter) text(name, value string) {
	if w.key(name) {
		w.buf = jsonscan.AppendString(w.buf, value)
	}
}

func (w *objectWriter) literal(name, value string) {
	if w.key(name) {
		w.buf = append(w.buf, value...)
	}
}

// raws writes a generated list of raw values.
func (w *objectWriter) raws(name string, values []json.RawMessage) {
	if !w.key(name) {
		return
	}
	w.buf = append(w.buf, '[')
	for i, v := range values {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.buf = jsonscan.AppendCompact(w.buf, v)
	}
	w.buf = append(w.buf, ']')
}

// finish writes the remaining overrides and closes the body. Where a merged stream is true, usage is
// asked for.
func (w *objectWriter) finish(streaming bool) *Body { return w.end(streaming, true) }

// end is finish for the APIs that report usage unasked, unless askUsage.
func (w *objectWriter) end(streaming, askUsage bool) *Body {
	asked := !askUsage
	switch value, ok := w.over.get("stream"); {
	case !ok:
	case w.removed("stream"): // the server decides; without it, nobody takes its options
		asked = true
	default:
		streaming = string(value) == "true"
	}
	for _, m := range w.over {
		if w.wrote(m.Name) {
			continue
		}
		if m.Name == "stream_options" && askUsage && w.removed(m.Name) {
			asked = true
			continue
		}
		w.name(m.Name)
		if m.Name == "stream_options" && streaming && !asked {
			asked = true
			w.buf = appendStreamOptions(w.buf, m.Value, w.chunkUsage)
			continue
		}
		w.buf = append(w.buf, m.Value...)
	}
	if streaming && !asked {
		w.name("stream_options")
		w.buf = appendStreamOptions(w.buf, nil, w.chunkUsage)
	}
	if len(w.buf) == 0 {
		w.buf = append(w.buf, '{')
	}
	w.buf = append(w.buf, '}')
	return newBody(w.buf, streaming)
}

func (w *objectWriter) wrote(key string) bool {
	return slices.Contains(w.generated, key)
}

// appendStreamOptions completes the author's stream options, nil for none: what they say of usage stays, a value that is
// no object stays as it is.
func appendStreamOptions(dst, authored []byte, chunkUsage bool) []byte {
	if authored == nil {
		authored = []byte("{}")
	}
	if authored[0] != '{' {
		return append(dst, authored...)
	}
	explicit, explicitChunks := false, false
	for m := range jsonscan.Members(authored) {
		explicit = explicit || string(m.Key) == "include_usage"
		explicitChunks = explicitChunks || string(m.Key) == "continuous_usage_stats"
	}
	dst = append(dst, authored[:len(authored)-1]...)
	empty := len(authored) == len("{}")
	ask := func(member string) {
		if !empty {
			dst = append(dst, ',')
		}
		dst, empty = append(dst, member...), false
	}
	if !explicit {
		ask(`"include_usage":true`)
	}
	if chunkUsage && !explicitChunks {
		ask(`"continuous_usage_stats":true`)
	}
	return append(dst, '}')
}
