package endpoint

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"aiperf/internal/wire/api"
	"aiperf/internal/workload/dataset"
)

func text(contents ...string) *dataset.Turn {
	return &dataset.Turn{Texts: []dataset.Media{{Contents: contents}}}
}

func limited(t *dataset.Turn, n int) *dataset.Turn {
	t.MaxTokens = &n
	return t
}

func raw(values ...string) []json.RawMessage {
	list := []json.RawMessage{}
	for _, v := range values {
		list = append(list, json.RawMessage(v))
	}
	return list
}

func turns(ts ...*dataset.Turn) *Context {
	c := &Context{}
	for _, t := range ts {
		c.Turns = append(c.Turns, Turn{Turn: t})
	}
	return c
}

func with(c *Context, system, user string) *Context {
	if system != "" {
		c.SystemMessage = &system
	}
	if user != "" {
		c.UserContext = &user
	}
	return c
}

// extra writes alternating keys and JSON values.
func extra(pairs ...string) []dataset.Field {
	var list []dataset.Field
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, dataset.Field{Name: pairs[i], Value: []byte(pairs[i+1])})
	}
	return list
}

func encode(t *testing.T, name string, o Options, c *Context) *Body {
	t.Helper()
	if o.Model == "" {
		o.Model = "m"
	}
	e, err := New(name, o)
	if err != nil {
		t.Fatal(err)
	}
	b, err := e.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b.JSON()) {
		t.Fatalf("the body is not JSON: %s", b.Bytes)
	}
	return b
}

func TestChatBodies(t *testing.T) {
	named := &dataset.Turn{Model: "other", Role: "tool", Texts: []dataset.Media{{Contents: []string{"x"}}}}
	withTools := text("a")
	withTools.RawTools = raw(`{"type":"function", "function":{"name":"f"}}`)
	rawTurn := &dataset.Turn{RawMessages: raw(`{"role": "user", "content": "\u00e9 1"}`,
		`{"role":"assistant","content":null}`)}
	systemTurn := &dataset.Turn{Role: "system", Texts: []dataset.Media{{Contents: []string{"own"}}}}
	withExtra := text("a")
	withExtra.Extra = []dataset.Field{{Name: "top_p", Value: json.RawMessage("0.5")},
		{Name: "seed", Value: json.RawMessage("7")}}
	media := &dataset.Turn{
		Texts:  []dataset.Media{{Contents: []string{"t", ""}}},
		Images: []dataset.Media{{Contents: []string{"http://h/i.png"}}},
		Audios: []dataset.Media{{Contents: []string{"wav,QUI=", "data:audio/mp3;base64,QQ=="}}},
		Videos: []dataset.Media{{Contents: []string{"data:video/mp4;base64,QQ=="}}},
	}
	for _, c := range []struct {
		name    string
		options Options
		context *Context
		want    string
	}{
		{"one text is a bare string", Options{}, turns(text("hi")),
			`{"messages":[{"role":"user","content":"hi"}],"model":"m","stream":false}`},
		{"an empty text too", Options{}, turns(text("")),
			`{"messages":[{"role":"user","content":""}],"model":"m","stream":false}`},
		{"parts when forced", Options{ForceContentParts: true}, turns(text("hi")),
			`{"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"model":"m","stream":false}`},
		{"several contents are parts, empty ones left out", Options{}, turns(text("a", "", "b")),
			`{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}],"model":"m","stream":false}`},
		{"a list of nothing is an empty text", Options{}, turns(text("", "")),
			`{"messages":[{"role":"user","content":""}],"model":"m","stream":false}`},
		{"media after texts, audio split", Options{}, turns(media),
			`{"messages":[{"role":"user","content":[{"type":"text","text":"t"},{"type":"image_url","image_url":{"url":"http://h/i.png"}},{"type":"input_audio","input_audio":{"data":"QUI=","format":"wav"}},{"type":"input_audio","input_audio":{"data":"QQ==","format":"mp3"}},{"type":"video_url","video_url":{"url":"data:video/mp4;base64,QQ=="}}]}],"model":"m","stream":false}`},
		{"role and model of the turn", Options{}, turns(named),
			`{"messages":[{"role":"tool","content":"x"}],"model":"other","stream":false}`},
		{"system message, user context, history", Options{}, with(turns(text("a"), text("b")), "S", "U"),
			`{"messages":[{"role":"system","content":"S"},{"role":"user","content":"U"},{"role":"user","content":"a"},{"role":"user","content":"b"}],"model":"m","stream":false}`},
		{"raw messages compact and raw", Options{}, turns(rawTurn),
			`{"messages":[{"role":"user","content":"é 1"},{"role":"assistant","content":null}],"model":"m","stream":false}`},
		{"raw messages walk with the other turns", Options{}, with(turns(text("a"), rawTurn), "S", ""),
			`{"messages":[{"role":"system","content":"S"},{"role":"user","content":"a"},{"role":"user","content":"é 1"},{"role":"assistant","content":null}],"model":"m","stream":false}`},
		{"an empty raw list contributes nothing", Options{}, turns(&dataset.Turn{RawMessages: raw()}, text("a")),
			`{"messages":[{"role":"user","content":"a"}],"model":"m","stream":false}`},
		{"authored raw system message merges", Options{},
			with(turns(&dataset.Turn{RawMessages: raw(`{"role":"system","content":"own","name":"n"}`,
				`{"role":"user","content":"q"}`)}), "S", "U"),
			`{"messages":[{"role":"system","content":"S\n\nown","name":"n"},{"role":"user","content":"U"},{"role":"user","content":"q"}],"model":"m","stream":false}`},
		{"authored system parts get a leading text", Options{},
			with(turns(&dataset.Turn{RawMessages: raw(`{"role":"system","content":[{"type":"text","text":"own"}]}`)}),
				"S", ""),
			`{"messages":[{"role":"system","content":[{"type":"text","text":"S\n\n"},{"type":"text","text":"own"}]}],"model":"m","stream":false}`},
		{"a system turn merges", Options{}, with(turns(systemTurn, text("q")), "S", ""),
			`{"messages":[{"role":"system","content":"S\n\nown"},{"role":"user","content":"q"}],"model":"m","stream":false}`},
		{"tools of the latest turn that has any", Options{}, turns(withTools, text("b")),
			`{"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}],"model":"m","stream":false,"tools":[{"type":"function","function":{"name":"f"}}]}`},
		{"legacy limit", Options{UseLegacyMaxTokens: true}, turns(limited(text("a"), 9)),
			`{"messages":[{"role":"user","content":"a"}],"model":"m","stream":false,"max_tokens":9}`},
		{"only the current turn's limit", Options{}, turns(limited(text("a"), 9), text("b")),
			`{"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}],"model":"m","stream":false}`},
		{"extra inputs replace in place and append",
			Options{Extra: extra("seed", "1", "model", `"x"`, "n", "null", "seed", "2", "messages", "[]")},
			turns(limited(text("a"), 3)),
			`{"messages":[],"model":"x","stream":false,"max_completion_tokens":3,"seed":2,"n":null}`},
		{"the turn's own extras win", Options{Extra: extra("seed", "1")}, turns(withExtra),
			`{"messages":[{"role":"user","content":"a"}],"model":"m","stream":false,"seed":7,"top_p":0.5}`},
		{"a captured reply", Options{},
			&Context{Turns: []Turn{{Turn: text("a")}, {Assistant: []byte(`{"role":"assistant","content":"r"}`)},
				{Turn: text("b")}}},
			`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"r"},{"role":"user","content":"b"}],"model":"m","stream":false}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(encode(t, "chat", c.options, c.context).Bytes); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Ids of images stand beside them; an image that the server has needs no content. Other APIs know no ids.
func TestImageIDs(t *testing.T) {
	turn := text("a")
	turn.Images = []dataset.Media{{Contents: []string{"http://h/x", "", "http://h/y"}, IDs: []string{"U1", "U2", ""}},
		{Contents: []string{""}}}
	for api, want := range map[string]string{
		"chat": `{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"http://h/x"},"uuid":"U1"},` +
			`{"type":"image_url","image_url":{"url":""},"uuid":"U2"},{"type":"image_url","image_url":{"url":"http://h/y"}}]}],"model":"m","stream":false}`,
		"responses": `{"input":[{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"http://h/x"},` +
			`{"type":"input_image","image_url":"http://h/y"}],"type":"message"}],"model":"m","stream":false}`,
	} {
		if got := string(encode(t, api, Options{}, turns(turn)).Bytes); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", api, got, want)
		}
	}
}

// A null takes away what the program adds; of what it does not add, it is sent.
func TestNullTakesAMemberAway(t *testing.T) {
	turn := limited(text("a"), 4)
	for _, c := range []struct {
		api   string
		extra []dataset.Field
		want  string
	}{
		{"chat", extra("max_completion_tokens", "null", "model", "null", "stream", "null", "d", "null"),
			`{"messages":[{"role":"user","content":"a"}],"d":null}`},
		{"completions", extra("max_tokens", "null"), `{"prompt":"a","model":"m","stream":false}`},
		{"messages", extra("max_tokens", "null"), `{"model":"m","messages":[{"role":"user","content":"a"}]}`},
		{"responses", extra("stream", "null", "max_output_tokens", "null"),
			`{"input":[{"role":"user","content":"a","type":"message"}],"model":"m"}`},
		{"huggingface_generate", extra("max_new_tokens", "null"), `{"inputs":"a","parameters":{}}`},
		{"template", extra("payload_template", `"{\"a\": 1}"`, "a", "null"), `{"a":null}`},
	} {
		if got := string(encode(t, c.api, Options{Extra: c.extra}, turns(turn)).Bytes); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.api, got, c.want)
		}
	}
}

func TestStreamOptions(t *testing.T) {
	const start = `{"messages":[{"role":"user","content":"a"}],"model":"m","stream":true`
	for _, c := range []struct {
		name  string
		extra []dataset.Field
		want  string
	}{
		{"absent", nil, start + `,"stream_options":{"include_usage":true}}`},
		{"null takes them away", extra("stream_options", "null", "seed", "1"), start + `,"seed":1}`},
		{"other keys stay", extra("stream_options", `{"a":1}`),
			start + `,"stream_options":{"a":1,"include_usage":true}}`},
		{"empty object", extra("stream_options", `{ }`), start + `,"stream_options":{"include_usage":true}}`},
		{"explicit wins", extra("stream_options", `{"include_usage":false}`),
			start + `,"stream_options":{"include_usage":false}}`},
		{"each chunk", nil, start + `,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`},
		{"each chunk, and the author's", extra("stream_options", `{"x":1,"include_usage":false}`),
			start + `,"stream_options":{"x":1,"include_usage":false,"continuous_usage_stats":true}}`},
		{"each chunk unless the author says otherwise", extra("stream_options", `{"continuous_usage_stats":false}`),
			start + `,"stream_options":{"continuous_usage_stats":false,"include_usage":true}}`},
		{"each chunk of a stream only", extra("stream", "false"),
			`{"messages":[{"role":"user","content":"a"}],"model":"m","stream":false}`},
		{"no object is left alone", extra("stream_options", `"x"`), start + `,"stream_options":"x"}`},
		{"stream switched off", extra("stream", "false"),
			`{"messages":[{"role":"user","content":"a"}],"model":"m","stream":false}`},
		{"stream switched off keeps the author's", extra("stream", "false", "stream_options", "{}"),
			`{"messages":[{"role":"user","content":"a"}],"model":"m","stream":false,"stream_options":{}}`},
		{"no stream, so no options of one", extra("stream", "null"), `{"messages":[{"role":"user","content":"a"}],"model":"m"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{Streaming: true, Extra: c.extra, ChunkUsage: strings.HasPrefix(c.name, "each chunk")}
			for range 2 { // the shared extras must not change
				if got := string(encode(t, "chat", o, turns(text("a"))).Bytes); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
			}
		})
	}
	if b := encode(t, "chat", Options{Extra: extra("stream", "true")}, turns(text("a"))); !b.Stream ||
		!strings.Contains(string(b.Bytes), "include_usage") {
		t.Errorf("a stream asked for by extra inputs is a stream: %v %s", b.Stream, b.Bytes)
	}
}

// No escaped <>&, no sorted keys.
func TestTrapWireOrderAndEscapes(t *testing.T) {
	want := `{"messages":[{"role":"user","content":"a<b"}],"model":"m","stream":false}`
	if got := string(encode(t, "chat", Options{}, turns(text("a<b"))).Bytes); got != want {
		t.Errorf("got %s", got)
	}
}

func TestTrapStreamingChatBody(t *testing.T) {
	o := Options{Streaming: true, Extra: extra("temperature", "0.7")}
	want := `{"messages":[{"role":"user","content":"hi"}],"model":"m","stream":true,"max_completion_tokens":4,"temperature":0.7,"stream_options":{"include_usage":true}}`
	if got := string(encode(t, "chat", o, turns(limited(text("hi"), 4))).Bytes); got != want {
		t.Errorf("got %s", got)
	}
	o.Streaming = false
	want = `{"messages":[{"role":"user","content":"hi"}],"model":"m","stream":false,"max_completion_tokens":4,"temperature":0.7}`
	if got := string(encode(t, "chat", o, turns(limited(text("hi"), 4))).Bytes); got != want {
		t.Errorf("got %s", got)
	}
}

// Values of extra inputs are sent as they were typed.
func TestTrapExtraInputValues(t *testing.T) {
	o := Options{Extra: extra("a", "true", "b", `"007"`, "c", "1.5", "d", "null", "e", "-3", "f", `"1e5"`, "g", "1.0")}
	want := `"stream":false,"a":true,"b":"007","c":1.5,"d":null,"e":-3,"f":"1e5","g":1.0}`
	if got := string(encode(t, "chat", o, turns(text("x"))).Bytes); !strings.HasSuffix(got, want) {
		t.Errorf("got %s", got)
	}
}

func TestTrapCompletionsPromptShape(t *testing.T) {
	for _, c := range []struct {
		turn *dataset.Turn
		want string
	}{
		{text("x"), `{"prompt":"x","model":"m","stream":false}`},
		{text("x", "", "y"), `{"prompt":["x","y"],"model":"m","stream":false}`},
		{&dataset.Turn{Texts: []dataset.Media{{Contents: []string{"x"}}, {Contents: []string{"y"}}}},
			`{"prompt":["x","y"],"model":"m","stream":false}`},
		{text(""), `{"prompt":[],"model":"m","stream":false}`},
	} {
		if got := string(encode(t, "completions", Options{},
			with(turns(c.turn), "system", "context")).Bytes); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	o := Options{Streaming: true}
	want := `{"prompt":"x","model":"m","stream":true,"max_tokens":5,"stream_options":{"include_usage":true}}`
	if got := string(encode(t, "completions", o, turns(limited(text("x"), 5))).Bytes); got != want {
		t.Errorf("got %s", got)
	}
}

// Chat sends a limit of 0, completions leaves it out.
func TestTrapZeroMaxTokens(t *testing.T) {
	if got := string(encode(t, "chat", Options{}, turns(limited(text("a"), 0))).Bytes); !strings.Contains(got,
		`"max_completion_tokens":0`) {
		t.Errorf("chat sends a limit of 0: %s", got)
	}
	if got := string(encode(t, "completions", Options{}, turns(limited(text("a"), 0))).Bytes); strings.Contains(got,
		"max_tokens") {
		t.Errorf("completions omits a limit of 0: %s", got)
	}
}

func TestEncodeErrors(t *testing.T) {
	for _, c := range []struct {
		endpoint string
		context  *Context
		want     string
	}{
		{"completions", turns(text("a"), text("b")), "Completions endpoint only supports one turn."},
		{"chat", turns(&dataset.Turn{Audios: []dataset.Media{{Contents: []string{"no comma"}}}}),
			"audio content must be in the format 'format,b64_audio'"},
		{"chat", &Context{}, "The request has no current turn."},
	} {
		e, err := New(c.endpoint, Options{Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Encode(c.context)
		var encodeErr *EncodeError
		if !errors.As(err, &encodeErr) || encodeErr.Type != "ValueError" || encodeErr.Message != c.want {
			t.Errorf("%s: got %v, want ValueError %s", c.endpoint, err, c.want)
		}
	}
}

func TestRequestPath(t *testing.T) {
	for _, c := range []struct {
		name      string
		streaming bool
		want      string
	}{
		{"huggingface_generate", true, "/generate_stream"},
		{"huggingface_generate", false, "/generate"},
		{"chat", true, "/v1/chat/completions"},
		{"template", true, ""},
	} {
		if d, _ := api.Lookup(c.name); d.RequestPath(c.streaming) != c.want {
			t.Errorf("%s, streaming %v: got %s", c.name, c.streaming, d.RequestPath(c.streaming))
		}
	}
}

func TestRegistry(t *testing.T) {
	names := api.Names()
	if len(names) != 34 || names[0] != "chat" {
		t.Errorf("registry: %d names, first %s", len(names), names[0])
	}
	if len(builders()) != len(names) {
		t.Errorf("%d builders for %d types", len(builders()), len(names))
	}
	seen := map[string]bool{}
	for _, n := range names {
		d, known := api.Lookup(strings.ToUpper(n))
		if d.Name != n || seen[n] || d.MetricsTitle == "" {
			t.Errorf("%s: got %+v", n, d)
		}
		if _, built := builders()[n]; !known || !built {
			t.Errorf("%s: known %v, has a builder: %v", n, known, built)
		}
		seen[n] = true
	}
	if d, known := api.Lookup("nope"); d.Name != "" || known {
		t.Errorf("an unknown name found %+v", d)
	}
	if _, err := New("nope", Options{}); err == nil || !strings.Contains(err.Error(), "chat, completions") {
		t.Errorf("unknown type: %v", err)
	}
	if _, err := New("chat", Options{GRPC: true}); err == nil || !strings.Contains(err.Error(), "not carried by gRPC") {
		t.Errorf("chat over gRPC: %v", err)
	}
	for _, c := range []struct {
		name              string
		tokens, input, im bool
		title             string
	}{
		{"chat", true, true, true, "LLM Metrics"},
		{"embeddings", false, true, false, "Embeddings Metrics"},
		{"image_retrieval", false, false, true, "Image Retrieval Metrics"},
		{"nim_rankings", false, true, false, "Rankings Metrics"},
		{"vllm_score", false, true, false, "Score Metrics"},
		{"messages", true, true, true, "LLM Metrics"},
	} {
		d, _ := api.Lookup(c.name)
		if d.ProducesTokens != c.tokens || d.TokenizesInput != c.input || d.SupportsImage != c.im ||
			d.MetricsTitle != c.title {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
}
