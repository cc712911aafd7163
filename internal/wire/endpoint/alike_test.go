package endpoint

import (
	"reflect"
	"strings"
	"testing"

	"aiperf/internal/wire/client/sse"
)

// decodedApart decodes events of which none is compared with the one before.
func decodedApart(e Endpoint, events ...string) *Reply {
	d := e.NewDecoder().(*openAIDecoder)
	for k, ev := range events {
		d.last.text = nil
		d.Event(nil, []byte(ev), int64(k+1))
	}
	return d.Reply()
}

// decodedTogether decodes events in one buffer that is overwritten with each, as that of a stream is; alike counts those that were
// recognised.
func decodedTogether(e Endpoint, events ...string) (r *Reply, alike int) {
	d := e.NewDecoder().(*openAIDecoder)
	buffer := make([]byte, 0, 4096)
	for k, ev := range events {
		data := append(append(buffer, "data: "...), ev...)[len("data: "):]
		if d.last.content(data) != nil {
			alike++
		}
		d.Event(nil, data, int64(k+1))
		clear(data)
	}
	return d.Reply(), alike
}

// decodedStream decodes events as a stream that comes in pieces; with repeat, the scanner leaves like ones to the decoder.
// repeated counts those that it took.
func decodedStream(e Endpoint, piece int, repeat bool, events ...string) (r *Reply, repeated int) {
	d := e.NewDecoder().(*openAIDecoder)
	stream := "data: " + strings.Join(events, "\n\ndata: ") + "\n\n"
	var sc sse.Scanner
	for at := int64(1); len(stream) > 0; {
		n := copy(sc.Space(piece)[:piece], stream)
		sc.Filled(n)
		stream = stream[n:]
		for ; ; at++ {
			if repeat && sc.Repeat(d, at) {
				repeated++
			} else if ev := sc.Next(); ev != nil {
				d.Event(ev.Name, ev.Data, at)
			} else {
				break
			}
		}
	}
	return d.Reply(), repeated
}

// sameStream returns how many events are repeated in a stream that comes at once.
func sameStream(t *testing.T, e Endpoint, events ...string) (repeated int) {
	t.Helper()
	for _, piece := range []int{7, 1 << 16} {
		want, _ := decodedStream(e, piece, false, events...)
		var got *Reply
		if got, repeated = decodedStream(e, piece, true, events...); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q in pieces of %d:\n got %+v\nwant %+v", events, piece, got, want)
		}
	}
	return repeated
}

func sameReply(t *testing.T, e Endpoint, events ...string) (alike int) {
	t.Helper()
	sameStream(t, e, events...)
	got, alike := decodedTogether(e, events...)
	if want := decodedApart(e, events...); !reflect.DeepEqual(got, want) {
		t.Fatalf("%q:\n got %+v\nwant %+v", events, got, want)
	}
	return alike
}

func TestEventsThatDifferInTheirContentAlone(t *testing.T) {
	chat, err := New("chat", Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := delta(`"content":"Hello"`)
	for _, c := range []struct {
		name  string
		alike int // the event itself, and the first one again behind it
		next  string
	}{
		{"another text", 2, delta(`"content":" world, this is longer"`)},
		{"a shorter text", 2, delta(`"content":"x"`)},
		{"an escape", 2, delta(`"content":"a\n\"b\" \u00e9\ud83d\ude00"`)},
		{"ill-formed characters", 2, delta("\"content\":\"a\xffb\"")},
		{"no text", 1, delta(`"content":""`)},
		{"the text ends early", 1, delta(`"content":"Hello","x":"y"`)},
		{"a quote that closes nothing", 1, delta(`"content":"Hello\"`)},
		{"a control character", 1, delta("\"content\":\"a\x01\"")},
		{"another member", 0, delta(`"content":"Hello","role":"assistant"`)},
		{"a finish reason", 1, strings.Replace(text, `"finish_reason":null`, `"finish_reason":"stop"`, 1)},
		{"usage", 1, strings.Replace(text, `{"id"`, `{"usage":{"completion_tokens":3},"id"`, 1)},
		{"shorter than the frame", 1, text[:40]},
		{"the frame overlaps itself", 1, strings.Replace(text, `"Hello"`, `"`, 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if alike := sameReply(t, chat, text, c.next, text); alike != c.alike {
				t.Errorf("%d of the events were recognised, want %d", alike, c.alike)
			}
		})
	}
	for name, first := range map[string]string{
		"reasoning": delta(`"content":"a","reasoning":"b"`), "tools": delta(`"content":"a","tool_calls":[{"index":0}]`),
		"error": `{"error":{"message":"m"},` + text[1:], "usage": `{"usage":{"completion_tokens":3},` + text[1:],
		"stop":     strings.Replace(text, `:null`, `:"stop"`, 1),
		"metrics":  `{"metrics":{"a":1},` + text[1:],
		"too long": `{"x":"` + strings.Repeat("x", maxAlike) + `",` + text[1:],
		"others":   strings.Replace(text, `[{`, `[{"index":1},{`, 1),
	} {
		if alike := sameReply(t, chat, first, first); alike != 0 {
			t.Errorf("%s: an event with more than content was taken for the next one's frame", name)
		}
	}
	// The last of several values counts, and what usage of null means.
	sameReply(t, chat, delta(`"content":"a","content":"b"`), delta(`"content":"a","content":"c"`),
		delta(`"content":"d","content":"c"`))
	sameReply(t, chat, `{"usage":null,`+text[1:], `{"usage":null,`+text[1:], `{"usage":{"completion_tokens":3},`+text[1:])
}

func TestEventsThatTheScannerLeavesToTheDecoder(t *testing.T) {
	chat, err := New("chat", Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := delta(`"content":"Hello"`)
	for _, c := range []struct {
		events   []string
		repeated int
	}{
		{[]string{text, delta(`"content":" world, this is longer"`), delta(`"content":"x"`), text}, 3},
		{[]string{text, delta(`"content":"a\n\"b\" \u00e9\ud83d\ude00"`), delta(`"content":"é"`)}, 2},
		{[]string{text, delta("\"content\":\"a\xffb\""), delta("\"content\":\"a\x01\""), delta("\"content\":\"a\nb\"")}, 0},
		{[]string{text, text + " ", text + "\nid: 5"}, 0},
		{[]string{text, delta(`"content":""`), text + "\r", `[DONE]`}, 0},
	} {
		if got := sameStream(t, chat, c.events...); got != c.repeated {
			t.Errorf("%q: %d events were left to the decoder, want %d", c.events, got, c.repeated)
		}
	}
}

func FuzzAlikeEvents(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s, s, "x")
		f.Add(delta(`"content":"Hello"`), s, "y")
	}
	chat, err := New("chat", Options{})
	if err != nil {
		f.Fatal(err)
	}
	completions, err := New("completions", Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, one, two, text string) {
		if len(one)+len(two)+len(text) > 2048 {
			return
		}
		// The third is the first with another text in place of each of its own.
		for _, word := range []string{"Hello", "x", "Hel", "c", "sp"} {
			third := strings.ReplaceAll(one, `"`+word+`"`, `"`+text+`"`)
			for _, e := range []Endpoint{chat, completions} {
				sameReply(t, e, one, two, one, third, two)
			}
		}
	})
}
