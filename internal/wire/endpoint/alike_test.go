package endpoint

import (
	"reflect"
	"strings"
	"testing"
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

func sameReply(t *testing.T, e Endpoint, events ...string) (alike int) {
	t.Helper()
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
		{"the text ends early", 0, delta(`"content":"Hello","x":"y"`)},
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
