package endpoint

import (
	"bytes"
	"encoding/base64"
	"strings"
	"sync"
	"unicode/utf8"

	"aiperf/internal/base/jsonscan"
)

// speech is the OpenAI API that reads texts aloud. Its replies are sound, which streams in any case, or events that carry
// pieces of it in base64.
type speech struct {
	shared
	decoders *sync.Pool
}

// What requests ask for unless the user does: OpenAI demands a voice, and the header of WAV gives the length of the sound.
const (
	defaultVoice       = "alloy"
	defaultSoundFormat = "wav"
)

func newSpeech(d Descriptor, o Options) Endpoint {
	e := &speech{shared: newShared(d, o), decoders: &sync.Pool{}}
	format, _ := e.over.get("response_format")
	pcm := string(name(format)) == "pcm"
	e.decoders.New = func() any {
		s := &speechDecoder{pool: e.decoders}
		s.api = speechReader{s}
		s.sound.pcm = pcm
		return s
	}
	return e
}

// Encode sends the texts of the current turn as one.
func (e *speech) Encode(c *Context) (*Body, error) {
	turn := c.current()
	if turn == nil {
		return nil, valueError("The request has no current turn.")
	}
	texts := filled(turn.Texts)
	if len(texts) == 0 {
		return nil, valueError("Speech requires a text.")
	}
	w := objectWriter{buf: make([]byte, 0, sizeHint(c)), over: e.over.with(turn.Extra)}
	w.text("model", modelOf(turn.Model, e.options.Model))
	w.text("input", strings.Join(texts, " "))
	w.text("voice", defaultVoice)
	w.text("response_format", defaultSoundFormat)
	if e.options.Streaming {
		w.text("stream_format", "sse")
	}
	return w.end(e.options.Streaming, false), nil
}

func (e *speech) NewDecoder() Decoder { return e.decoders.Get().(*speechDecoder) }

// speechDecoder decodes sound: a body of it that is told while it comes, or documents with pieces of it.
type speechDecoder struct {
	documentDecoder
	pool    *sync.Pool
	sound   soundMeter
	scratch []byte
}

// Release implements Decoder.
func (d *speechDecoder) Release() {
	d.clear()
	d.sound.reset()
	if cap(d.scratch) > maxKept {
		d.scratch = nil
	}
	d.pool.Put(d)
}

// Reply implements Decoder.
func (d *speechDecoder) Reply() *Reply {
	r := d.documentDecoder.Reply()
	if len(r.ContentNS) > 0 {
		r.AudioBytes, r.FirstAudioBytes, r.AudioSeconds = d.sound.bytes, d.sound.first, d.sound.seconds()
	}
	return r
}

// Coming implements client.Listener: body is all that has come of it so far.
func (d *speechDecoder) Coming(contentType string, body []byte, atNS int64) {
	d.sound.contentType = contentType
	if !d.sound.begun() && isProse(body) {
		return // no sound begins so: the whole body decides
	}
	d.hear(body, int64(len(body)), atNS)
	d.sound.last = atNS
}

// hear takes more of the sound: head is its beginning, bytes are all that have come. The first samples are content.
func (d *speechDecoder) hear(head []byte, bytes, atNS int64) {
	s := &d.sound
	begun := s.begun()
	if s.bytes = bytes; begun || !s.begin(head) {
		return
	}
	s.first = bytes
	d.content(atNS, true)
}

// Body decodes a whole reply: sound, or a document.
func (d *speechDecoder) Body(contentType string, binary bool, body []byte, atNS int64) {
	r, s := &d.reply, &d.sound
	if !binary || !s.begun() && isProse(body) {
		d.documentDecoder.Body(contentType, false, body, atNS)
		return
	}
	if s.contentType == "" {
		s.contentType = contentType
	}
	r.Finished = true
	if s.last == 0 {
		s.last = atNS
	}
	s.ended = true
	if d.hear(body, int64(len(body)), s.last); !s.begun() {
		if r.binary(contentType, body); len(body) > 0 {
			d.fail("ValueError", "The reply has the header of a sound and no sound.")
		}
		return
	}
	if s.last > r.ContentNS[0] {
		r.ContentNS = append(r.ContentNS, s.last)
	}
	r.Whole = len(r.ContentNS) == 1
}

// isProse reports whether a body begins as an object of JSON, or as text: a server that fails may send either under the
// type of the sound that it was asked for. All formats of sound have bytes at their beginning that no text has.
func isProse(body []byte) bool {
	text := body[:min(len(body), 256)]
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); startsWith(trimmed, '{') {
		rest := bytes.TrimLeft(trimmed[1:], " \t\r\n")
		return len(rest) == 0 || rest[0] == '"' || rest[0] == '}'
	}
	for _, c := range text {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			return false
		}
	}
	for cut := 0; cut < utf8.UTFMax && cut < len(text); cut++ { // a character may be cut
		if utf8.Valid(text[:len(text)-cut]) {
			return true
		}
	}
	return len(text) == 0
}

// speechReader takes the sound of documents: of the events of a stream, or of a whole reply.
type speechReader struct{ decoder *speechDecoder }

func (speechReader) reset() {}

func (k speechReader) read(d *documentDecoder, r *root, data []byte, atNS int64) {
	s := k.decoder
	if string(d.kind()) == "speech.audio.done" {
		d.reply.Finished, s.sound.ended = true, true
	}
	audio := jsonscan.Find(data, "audio")
	if startsWith(audio, '{') {
		audio = jsonscan.Find(audio, "data")
	}
	if !jsonscan.IsText(audio) {
		audio = r.delta
	}
	if d.reply.Err == nil && jsonscan.IsText(audio) {
		s.piece(audio, atNS)
	}
}

// piece takes the base64 of more sound; raw is a JSON string.
func (d *speechDecoder) piece(raw []byte, atNS int64) {
	s := &d.sound
	text := raw[1 : len(raw)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		d.scratch = jsonscan.AppendText(d.scratch[:0], raw)
		text = d.scratch
	}
	n := int64(base64.RawStdEncoding.DecodedLen(len(bytes.TrimRight(text, "="))))
	if n == 0 {
		return
	}
	if s.begun() {
		s.bytes += n
		d.content(atNS, true)
		return
	}
	// Only the beginning is decoded: whole groups of four characters, as much as a header may have.
	if room := wavHeaderBytes - len(s.head); room > 0 {
		begin := bytes.TrimRight(text[:min(len(text), (room+2)/3*4)], "=")
		decoded, err := base64.RawStdEncoding.AppendDecode(s.head, begin)
		if err != nil {
			d.fail("ValueError", "A piece of the sound is not valid base64: "+err.Error())
			return
		}
		s.head = decoded
	}
	d.hear(s.head, s.bytes+n, atNS)
}
