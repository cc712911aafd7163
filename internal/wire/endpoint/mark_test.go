package endpoint

import (
	"testing"

	"aiperf/internal/workload/dataset"
)

func TestMarks(t *testing.T) {
	two := func() *Context { return turns(text("a"), text("b")) }
	parts := func() *Context {
		return turns(&dataset.Turn{Texts: []dataset.Media{{Contents: []string{"a"}}},
			Images: []dataset.Media{{Contents: []string{"u"}}}})
	}
	rawTurn := func(messages ...string) *Context { return turns(&dataset.Turn{RawMessages: raw(messages...)}) }
	before, after := Mark{Text: "[m]"}, Mark{Text: "[m]", After: true}
	systemBefore, systemAfter := Mark{Text: "[m]", System: true}, Mark{Text: "[m]", System: true, After: true}
	const user, image = `{"role":"user","content":`, `{"type":"image_url","image_url":{"url":"u"}}`
	for _, c := range []struct {
		name    string
		mark    Mark
		context *Context
		want    string // the messages
		system  bool
	}{
		{"first message", before, two(), user + `"[m]\n\na"},` + user + `"b"}`, false},
		{"behind the first message", after, two(), user + `"a\n\n[m]"},` + user + `"b"}`, false},
		{"not the user context", before, with(two(), "S", "U"),
			`{"role":"system","content":"S"},` + user + `"U"},` + user + `"[m]\n\na"},` + user + `"b"}`, false},
		{"system message", systemBefore, with(two(), "S", ""),
			`{"role":"system","content":"[m]\n\nS"},` + user + `"a"},` + user + `"b"}`, true},
		{"behind the system message", systemAfter, with(two(), "S", ""),
			`{"role":"system","content":"S\n\n[m]"},` + user + `"a"},` + user + `"b"}`, true},
		{"no system message", systemAfter, two(), user + `"a\n\n[m]"},` + user + `"b"}`, false},
		{"a part of its own", before, parts(),
			user + `[{"type":"text","text":"[m]\n\n"},{"type":"text","text":"a"},` + image + `]}`, false},
		{"a part of its own behind", after, parts(),
			user + `[{"type":"text","text":"a"},{"type":"text","text":"\n\n[m]"},` + image + `]}`, false},
		{"a system turn", systemBefore, turns(&dataset.Turn{Role: "system", Texts: text("own").Texts}, text("q")),
			`{"role":"system","content":"[m]\n\nown"},` + user + `"q"}`, true},
		{"ready messages", before, rawTurn(`{"role":"system","content":"s"}`,
			`{"role":"user","name":"n","content":"q"}`),
			`{"role":"system","content":"s"},{"role":"user","name":"n","content":"[m]\n\nq"}`, false},
		{"ready system message", systemAfter,
			rawTurn(`{"role":"system","content":"s"}`, `{"role":"user","content":"q"}`),
			`{"role":"system","content":"s\n\n[m]"},{"role":"user","content":"q"}`, true},
		{"ready parts", before, rawTurn(`{"role":"user","content":[{"type":"text","text":"q"}]}`),
			user + `[{"type":"text","text":"[m]\n\n"},{"type":"text","text":"q"}]}`, false},
		{"ready parts, behind", after, rawTurn(`{"role":"user","content":[` + image + `]}`),
			user + `[` + image + `,{"type":"text","text":"\n\n[m]"}]}`, false},
		{"no content", before, rawTurn(`{"role":"user","content":null}`), user + `null}`, false},
		{"a captured reply is not a message of the user", before,
			&Context{Turns: []Turn{{Assistant: []byte(`{"role":"assistant","content":"r"}`)}, {Turn: text("b")}}},
			`{"role":"assistant","content":"r"},` + user + `"[m]\n\nb"}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			original := *c.context
			original.Turns = append([]Turn(nil), c.context.Turns...)
			plain := string(encode(t, "chat", Options{}, &original).Bytes)
			if system := c.context.Mark(c.mark); system != c.system {
				t.Errorf("a system message: %v", system)
			}
			want := `{"messages":[` + c.want + `],"model":"m","stream":false}`
			if got := string(encode(t, "chat", Options{}, c.context).Bytes); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if again := string(encode(t, "chat", Options{}, &original).Bytes); again != plain {
				t.Errorf("the shared turns have changed: %s", again)
			}
		})
	}
}
