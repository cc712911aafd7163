package endpoint

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/wire/client"
)

var _ client.Listener = (*speechDecoder)(nil)

// wavOf is a WAV file of 16-bit mono at 1000 samples a second with so many bytes of samples, of which the header promises
// another number.
func wavOf(samples int, promised uint32) []byte {
	b := []byte("RIFF\xff\xff\xff\xffWAVEfmt ")
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = append(b, 1, 0, 1, 0)
	b = binary.LittleEndian.AppendUint32(b, 1000)
	b = binary.LittleEndian.AppendUint32(b, 2000)
	b = append(b, 2, 0, 16, 0)
	b = binary.LittleEndian.AppendUint32(append(b, "data"...), promised)
	return append(b, slices.Repeat([]byte{0x80, 1}, samples/2)...)
}

const unknownSize = 1<<32 - 1

// madeOf tells the sound of a reply.
func madeOf(r *Reply) string {
	s := fmt.Sprintf("%d bytes, %d first, %v s, at %v", r.AudioBytes, r.FirstAudioBytes, r.AudioSeconds, r.ContentNS)
	if len(r.Output) > 0 {
		s += ", text " + string(r.Output)
	}
	if r.Err != nil {
		s += ", error " + r.Err.Message
	}
	return s
}

func speechDecoderOf(t *testing.T, o Options) *speechDecoder {
	t.Helper()
	e, err := New("audio_speech", o)
	if err != nil {
		t.Fatal(err)
	}
	return e.NewDecoder().(*speechDecoder)
}

// A body of sound: read k ends at a place and comes at (k+1)*10; the body is over at 1000.
func TestSpeechThatStreamsAsABody(t *testing.T) {
	pcm := Options{Extra: extra("response_format", `"pcm"`)}
	for _, c := range []struct {
		name, kind string
		options    Options
		body       []byte
		reads      []int
		want       string
		whole      bool
	}{
		{"a header alone is no sound", "audio/wav", Options{}, wavOf(4000, unknownSize), []int{44, 144, 4044},
			"4044 bytes, 144 first, 2 s, at [20 30]", false},
		{"a header in two reads", "audio/wav", Options{}, wavOf(4000, unknownSize), []int{3, 40, 4044},
			"4044 bytes, 4044 first, 2 s, at [30]", true},
		{"the size in the header counts", "audio/x-wav", Options{}, append(wavOf(4000, 4000), "LIST...."...), []int{2044, 4052},
			"4052 bytes, 2044 first, 2 s, at [10 20]", false},
		{"no size in the header", "audio/wav", Options{}, wavOf(4000, 0), []int{4044}, "4044 bytes, 4044 first, 2 s, at [10]", true},
		{"cut before the size in the header", "application/octet-stream", Options{}, wavOf(1000, 4000), []int{1044},
			"1044 bytes, 1044 first, 0.5 s, at [10]", true},
		{"PCM of OpenAI", "audio/pcm", Options{}, make([]byte, 24000), []int{4800, 24000}, "24000 bytes, 4800 first, 0.5 s, at [10 20]",
			false},
		{"PCM with parameters", "audio/L16; rate=8000; channels=2", Options{}, make([]byte, 32000), []int{32000},
			"32000 bytes, 32000 first, 1 s, at [10]", true},
		{"PCM that was asked for", "application/octet-stream", pcm, make([]byte, 48000), []int{48000},
			"48000 bytes, 48000 first, 1 s, at [10]", true},
		{"PCM that begins with a brace", "audio/pcm", Options{}, []byte("{\x00\x01\x00"), []int{4}, "4 bytes, 4 first, 8.333333333333333e-05 s, at [10]",
			true},
		{"MP3", "audio/mpeg", pcm, append([]byte{0xff, 0xfb, 0x90, 0}, make([]byte, 96)...), []int{50, 100},
			"100 bytes, 50 first, 0 s, at [10 20]", false},
		{"MP3 with a tag", "audio/mpeg", Options{}, append([]byte("ID3\x04\x00"), make([]byte, 95)...), []int{3, 100},
			"100 bytes, 100 first, 0 s, at [20]", true},
		{"a header and no sound", "audio/wav", Options{}, wavOf(0, unknownSize), []int{44},
			"0 bytes, 0 first, 0 s, at [], error The reply has the header of a sound and no sound.", false},
		{"nothing", "audio/wav", Options{}, nil, nil, "0 bytes, 0 first, 0 s, at []", false},
		{"an error", "audio/wav", Options{}, []byte(`{"error":{"message":"no such voice"}}`), []int{1, 20, 37},
			"0 bytes, 0 first, 0 s, at [], error no such voice", true},
		{"text", "audio/mpeg", Options{}, []byte("Internal Server Error: é"), []int{24, 25}, "0 bytes, 0 first, 0 s, at []", true},
		{"a page", "application/octet-stream", Options{}, []byte("<html>\n<body>Log in</body></html>"), []int{33},
			"0 bytes, 0 first, 0 s, at []", true},
	} {
		d := speechDecoderOf(t, c.options)
		for range 2 { // a decoder that was released remembers nothing
			heard := 0
			d.OnFirstContent(func() { heard++ })
			for k, n := range c.reads {
				d.Coming(c.kind, c.body[:n], int64(k+1)*10)
			}
			kind, _, _ := strings.Cut(strings.ToLower(c.kind), ";")
			d.Body(kind, true, c.body, 1000)
			r := d.Reply()
			if got := madeOf(r); got != c.want || r.Whole != c.whole || heard != min(1, len(r.ContentNS)) {
				t.Errorf("%s:\n%s, whole %v, told %d times\n%s, whole %v", c.name, got, r.Whole, heard, c.want, c.whole)
			}
			d.Release()
		}
	}
}

// Sinks that cannot listen, such as that of a poll, get the whole body.
func TestSpeechThatNobodyListenedTo(t *testing.T) {
	d := speechDecoderOf(t, Options{})
	d.Body("audio/wav", true, wavOf(4000, 4000), 50)
	if got := madeOf(d.Reply()); got != "4044 bytes, 4044 first, 2 s, at [50]" || !d.Reply().Whole {
		t.Error(got)
	}
}

// The events of a stream: event k comes at (k+1)*10.
func TestSpeechInEvents(t *testing.T) {
	delta := func(b []byte) string {
		return `{"type":"speech.audio.delta","audio":"` + base64.StdEncoding.EncodeToString(b) + `"}`
	}
	file := wavOf(4000, unknownSize)
	slashes := slices.Repeat([]byte{0xff}, 300)
	const done = `{"type":"speech.audio.done","usage":{"input_tokens":7,"output_tokens":40,"total_tokens":47}}`
	for _, c := range []struct {
		name     string
		options  Options
		events   []string
		want     string
		finished bool
	}{
		{"WAV", Options{}, []string{delta(file[:44]), delta(file[44:145]), delta(file[145:]), done},
			"4044 bytes, 145 first, 2 s, at [20 30]", true},
		{"a header in pieces", Options{}, []string{delta(file[:2]), delta(file[2:41]), delta(file[41:]), done},
			"4044 bytes, 4044 first, 2 s, at [30]", true},
		{"PCM that was asked for", Options{Extra: extra("response_format", `"pcm"`)},
			[]string{delta(make([]byte, 24000)), delta(make([]byte, 24000)), done}, "48000 bytes, 24000 first, 1 s, at [10 20]", true},
		{"another format", Options{}, []string{delta(slashes), `{"type":"speech.audio.delta","audio":""}`, delta(slashes[:100])},
			"400 bytes, 300 first, 0 s, at [10 30]", false},
		{"escaped slashes", Options{}, []string{strings.ReplaceAll(delta(slashes), "/", `\/`)}, "300 bytes, 300 first, 0 s, at [10]",
			false},
		{"an object of data", Options{}, []string{`{"audio":{"data":"//////"}}`, "[DONE]"}, "4 bytes, 4 first, 0 s, at [10]", true},
		{"an error", Options{}, []string{`{"type":"error","error":{"message":"overloaded"}}`}, "0 bytes, 0 first, 0 s, at [], error overloaded",
			false},
		{"no base64", Options{}, []string{`{"type":"speech.audio.delta","audio":"*()*"}`},
			"0 bytes, 0 first, 0 s, at [], error A piece of the sound is not valid base64: illegal base64 data at input byte 0", false},
		{"the end alone", Options{}, []string{done}, "0 bytes, 0 first, 0 s, at []", true},
	} {
		d := speechDecoderOf(t, c.options)
		for range 2 {
			for k, event := range c.events {
				d.Event(nil, []byte(event), int64(k+1)*10)
			}
			r := d.Reply()
			if got := madeOf(r); got != c.want || r.Finished != c.finished {
				t.Errorf("%s:\n%s, finished %v\n%s", c.name, got, r.Finished, c.want)
			}
			d.Release()
		}
	}
}

// FuzzSpeech feeds the decoder a body as it comes in two reads, and its halves as pieces of events. Whatever comes, the
// instants are those of the calls, in order, and no sound is longer than what came.
func FuzzSpeech(f *testing.F) {
	for i, body := range [][]byte{wavOf(100, 100), wavOf(100, unknownSize), wavOf(0, 0)[:30], []byte(`{"error":"x"}`), []byte("ID3\x04"),
		[]byte("RIFF\x00\x00\x00\x00WAVEfmt \xff\xff\xff\xff")} {
		f.Add(body, uint16(i*7), "audio/wav")
		f.Add(body, uint16(44), "audio/pcm;rate=8000")
	}
	e, err := New("audio_speech", Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte, cut uint16, kind string) {
		n := min(int(cut), len(body))
		check := func(d Decoder) {
			r := d.Reply()
			if r.AudioBytes > int64(len(body)) || r.FirstAudioBytes > r.AudioBytes || r.AudioSeconds < 0 ||
				(r.AudioBytes > 0) != (len(r.ContentNS) > 0) || len(r.Output) > 0 {
				t.Errorf("%q of %s: %s", body, kind, madeOf(r))
			}
			for k, at := range r.ContentNS {
				if at != 10 && at != 20 && at != 30 || k > 0 && at < r.ContentNS[k-1] {
					t.Errorf("%q of %s: content at %v", body, kind, r.ContentNS)
				}
			}
			d.Release()
		}
		d := e.NewDecoder().(*speechDecoder)
		if n > 0 {
			d.Coming(kind, body[:n], 10)
		}
		if n < len(body) {
			d.Coming(kind, body, 20)
		}
		d.Body(kind, true, body, 30)
		check(d)
		d = e.NewDecoder().(*speechDecoder)
		for k, piece := range [][]byte{body[:n], body[n:]} {
			d.Event(nil, []byte(`{"audio":"`+base64.StdEncoding.EncodeToString(piece)+`"}`), int64(k+1)*10)
		}
		check(d)
	})
}
