package api

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strconv"

	"aiperf/internal/base/jsonscan"
)

// This file writes speech: a tone of 50 ms for each token of the text.

// The tone, of 16 bits at 24 kHz as in the speech of OpenAI. Whole waves fit into a piece.
const (
	soundRate   = 24000
	pieceTime   = 20 // pieces a second
	pieceBytes  = 2 * soundRate / pieceTime
	toneHertz   = 440
	toneLoud    = 8000
	codedBytes  = 400 // of a piece in a format that is only imitated
	unknownSize = math.MaxUint32
)

// tone is a piece of PCM, coded one of another format.
var tone, coded = func() (tone, coded []byte) {
	for i := range soundRate / pieceTime {
		v := toneLoud * math.Sin(2*math.Pi*toneHertz*float64(i)/soundRate)
		tone = binary.LittleEndian.AppendUint16(tone, uint16(int16(v)))
	}
	return tone, append([]byte{0xff, 0xfb, 0x90, 0}, tone[:codedBytes-4]...)
}()

// soundTypes are the media types of the formats of speech.
var soundTypes = map[string]string{"mp3": "audio/mpeg", "opus": "audio/ogg", "aac": "audio/aac", "flac": "audio/flac",
	"wav": "audio/wav", "pcm": "audio/pcm"}

// speech reads what a request for speech asks for.
func (r *Request) speech(f *fields) error {
	r.format, r.sse = jsonscan.Text(f.responseFormat), jsonscan.Text(f.streamFormat) == "sse"
	if r.format == "" {
		r.format = "mp3"
	}
	r.Stream = true // whatever a request says
	switch {
	case len(f.input) == 0 || f.input[0] != '"' || string(f.input) == `""`:
		return errors.New("input is required, a text")
	case jsonscan.Text(f.voice) == "":
		return errors.New("voice is required")
	case soundTypes[r.format] == "":
		return errors.New("response_format must be mp3, opus, aac, flac, wav or pcm")
	}
	r.content(f.input)
	return nil
}

// appendPiece appends piece k of the sound.
func (r *Reply) appendPiece(b []byte, k int) []byte {
	if k == 0 && r.Request.format == "wav" {
		b = appendWAVHeader(b)
	}
	if f := r.Request.format; f == "wav" || f == "pcm" {
		return append(b, tone...)
	}
	return append(b, coded...)
}

// appendWAVHeader appends the header of a WAV file whose length is not known when it begins.
func appendWAVHeader(b []byte) []byte {
	const pcm, channels, bits = 1, 1, 16
	b = append(b, "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, unknownSize)
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, pcm)
	b = binary.LittleEndian.AppendUint16(b, channels)
	b = binary.LittleEndian.AppendUint32(b, soundRate)
	b = binary.LittleEndian.AppendUint32(b, soundRate*channels*bits/8)
	b = binary.LittleEndian.AppendUint16(b, channels*bits/8)
	b = binary.LittleEndian.AppendUint16(b, bits)
	b = append(b, "data"...)
	return binary.LittleEndian.AppendUint32(b, unknownSize)
}

// speechEvent appends an event of the sound, or its bytes as they are.
func speechEvent(e *Events, b []byte, kind int) []byte {
	r := e.reply
	if !r.Request.sse {
		if kind == ErrorEvent {
			return append(b, ErrorInside...)
		}
		return r.appendPiece(b, kind)
	}
	switch kind {
	case ErrorEvent:
		return append(append(b, "data: "...), ErrorInside...)
	case SpeechEnd:
		p := &r.Plan
		b = append(b, `data: {"type":"speech.audio.done","usage":{"input_tokens":`...)
		b = strconv.AppendInt(b, int64(p.PromptTokens), 10)
		b = strconv.AppendInt(append(b, `,"output_tokens":`...), int64(p.Content), 10)
		b = strconv.AppendInt(append(b, `,"total_tokens":`...), int64(p.PromptTokens+p.Content), 10)
		return append(b, "}}"...)
	}
	b = append(b, `data: {"type":"speech.audio.delta","audio":"`...)
	start := len(b)
	b = r.appendPiece(b, kind)
	piece := slices.Clone(b[start:])
	return append(base64.StdEncoding.AppendEncode(b[:start], piece), `"}`...)
}

// isSound reports whether the reply is sound instead of events.
func (r *Reply) isSound() bool { return r.API == Speech && !r.Request.sse }

// StreamType returns the media type of a reply that streams.
func (r *Reply) StreamType() string {
	if r.isSound() {
		return soundTypes[r.Request.format]
	}
	return StreamType
}
