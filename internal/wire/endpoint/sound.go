package endpoint

import (
	"bytes"
	"encoding/binary"
	"mime"
	"strconv"
	"strings"
)

// soundMeter measures a sound while it comes.
type soundMeter struct {
	pcm         bool   // what has no header is PCM
	contentType string // of the reply
	head        []byte // the beginning of a sound that comes in pieces
	// bytes are all of the sound, first those that had come with the first sample.
	bytes, first int64
	// last is the instant of the last bytes; ended, that there are no more.
	last  int64
	ended bool

	known bool // where the samples start
	// start is the length of the header, perSecond how many bytes make a second, promised how many the header says that
	// there are; 0 where that is not known.
	start, perSecond, promised int64
}

func (s *soundMeter) reset() {
	head := s.head[:0]
	*s = soundMeter{pcm: s.pcm, head: head}
}

// begun reports whether a sample has come.
func (s *soundMeter) begun() bool { return s.first > 0 }

// begin reports whether the sound has begun with these bytes of its beginning: its header is over, and there is more.
func (s *soundMeter) begin(head []byte) bool {
	if !s.known {
		s.known = s.format(head)
	}
	return s.known && s.bytes > s.start
}

// format finds the format of a sound by its beginning; false where more of it must come first.
func (s *soundMeter) format(head []byte) bool {
	const riff = "RIFF"
	if strings.HasPrefix(riff, string(head[:min(len(head), len(riff))])) {
		start, perSecond, promised, ok := wavFormat(head)
		s.start, s.perSecond, s.promised = int64(start), int64(perSecond), int64(promised)
		return ok || s.ended || len(head) >= wavHeaderBytes
	}
	s.perSecond = pcmRate(s.contentType, s.pcm)
	return true
}

// seconds is the length of the sound, 0 where it is not known.
func (s *soundMeter) seconds() float64 {
	samples := s.bytes - s.start
	if s.promised > 0 { // a writer that streams does not know it, and leaves 0 or a large number
		samples = min(samples, s.promised)
	}
	if s.perSecond == 0 || samples <= 0 {
		return 0
	}
	return float64(samples) / float64(s.perSecond)
}

// The PCM of OpenAI's API has 24,000 samples of 16 bits a second.
const (
	openAIRate     = 24000
	bytesPerSample = 2
)

// pcmRate is how many bytes of PCM make a second: by the parameters of the content type, else as OpenAI has it. It is 0
// for other formats; assumed says that sound of an unknown format is PCM.
func pcmRate(contentType string, assumed bool) int64 {
	mediaType, parameters, err := mime.ParseMediaType(contentType)
	if err != nil {
		mediaType = strings.ToLower(contentType)
	}
	switch mediaType {
	case "audio/pcm", "audio/x-pcm", "audio/l16", "audio/raw":
	case "", octets:
		if !assumed {
			return 0
		}
	default:
		return 0
	}
	number := func(usual int64, names ...string) int64 {
		for _, name := range names {
			if n, err := strconv.ParseInt(parameters[name], 10, 32); err == nil && n > 0 {
				return n
			}
		}
		return usual
	}
	return bytesPerSample * number(openAIRate, "rate", "sample_rate", "samplerate") * number(1, "channels")
}

// wavFormat reads the beginning of a WAV file: where its samples start, how many of their bytes make a second, and how
// many there are by the header. ok is false where the beginning is of no WAV file, or ends before the samples.
func wavFormat(b []byte) (start int, perSecond, promised uint32, ok bool) {
	if len(b) < 12 || !bytes.HasPrefix(b, []byte("RIFF")) || string(b[8:12]) != "WAVE" {
		return 0, 0, 0, false
	}
	for at := 12; at+8 <= len(b); {
		size := binary.LittleEndian.Uint32(b[at+4:])
		switch string(b[at : at+4]) {
		case "fmt ":
			if at+20 <= len(b) {
				perSecond = binary.LittleEndian.Uint32(b[at+16:])
			}
		case "data":
			return at + 8, perSecond, size, true
		}
		if int64(size) > int64(len(b)) {
			return 0, 0, 0, false
		}
		at += 8 + int(size) + int(size%2)
	}
	return 0, 0, 0, false
}
