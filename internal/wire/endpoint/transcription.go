package endpoint

import (
	"strings"
)

// transcription is the OpenAI API that turns speech into text; its bodies are forms.
type transcription struct {
	documents
	reserved once
}

func newTranscription(d Descriptor, o Options) Endpoint {
	return &transcription{reserved: once{warn: o.Warn},
		documents: newDocuments(d, o, func() documentReader { return transcriptReader{} })}
}

// Encode sends the first audio of the current turn.
func (e *transcription) Encode(c *Context) (*Body, error) {
	turn := c.current()
	if turn == nil {
		return nil, valueError("The request has no current turn.")
	}
	audios := filled(turn.Audios)
	if len(audios) == 0 {
		return nil, valueError("Audio transcription requires an audio.")
	}
	format, data, ok := splitAudio(audios[0])
	if !ok {
		return nil, valueError("audio content must be in the format 'format,b64_audio'")
	}
	format = strings.ToLower(format)
	f := newForm(e.over.with(turn.Extra).withoutReserved(&e.reserved, "file"))
	if err := f.file("file", formFile{"audio." + format, audioType(format), data}); err != nil {
		return nil, err
	}
	f.text("model", modelOf(turn.Model, e.options.Model))
	body := f.finish()
	body.images, body.audio = 0, wavSeconds(data)
	return body, nil
}

// audioType is the media type of an audio format.
func audioType(format string) string {
	switch format {
	case "mp3", "mpga", "mpeg":
		format = "mpeg"
	case "m4a", "mp4":
		format = "mp4"
	}
	return "audio/" + format
}

// transcriptReader takes the text of an object, or a whole reply that is text.
type transcriptReader struct{}

func (transcriptReader) reset() {}

func (transcriptReader) plain(d *documentDecoder, _ string, text []byte, atNS int64) bool {
	d.reply.Output = append(d.reply.Output, text...)
	d.content(atNS, true)
	return true
}

func (t transcriptReader) read(d *documentDecoder, r *root, data []byte, atNS int64) {
	switch {
	case r.array == nil && data[0] == '{':
		d.output(r.text, atNS)
	case data[0] == '"':
		d.output(data, atNS)
	default: // a text that looks like JSON
		t.plain(d, "", data, atNS)
	}
}
