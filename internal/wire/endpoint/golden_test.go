package endpoint

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/testkit"
	"aiperf/internal/workload/dataset"
)

func media(contents ...string) []dataset.Media { return []dataset.Media{{Contents: contents}} }

func namedTexts(pairs ...string) []dataset.Media {
	var list []dataset.Media
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, dataset.Media{Name: pairs[i], Contents: strings.Split(pairs[i+1], "|")})
	}
	return list
}

const (
	pngURI  = "data:image/png;base64,iVBORw0KGgo="
	jpegURI = "data:image/jpeg;base64,/9j/4A=="
	wavText = "wav,UklGRgAAAABXQVZF"
)

// goldenCase is a request whose body is kept in testdata/bodies.
type goldenCase struct {
	name, endpoint string
	options        Options
	context        *Context
}

func goldenCases() []goldenCase {
	full := func() *Context { // two turns with the reply between them
		c := with(turns(text("first"), limited(text("a<b> & \"c\" é"), 9)), "be brief", "I am Ann")
		c.Turns = []Turn{c.Turns[0], {Assistant: []byte(`{"role":"assistant","content":"hi"}`)}, c.Turns[1]}
		c.RequestID, c.CorrelationID, c.ConversationID, c.TurnIndex = "req", "cor", "con", 1
		return c
	}
	sampling := extra("temperature", "0.70", "stop", `["x"]`, "seed", "null")
	sees := func() *Context {
		return turns(&dataset.Turn{Texts: media("what is this?"),
			Images: media(pngURI, "http://h/x.png", "data:;base64,AAAA")})
	}
	ranking := func() *Context {
		return turns(limited(&dataset.Turn{Texts: namedTexts("query", "q|second", "passages", "p1|p2", "title", "t")},
			4))
	}
	edits := func(image string) *Context {
		return turns(&dataset.Turn{Texts: media("add a hat"), Images: media(image)})
	}
	template := func(source string, more ...string) Options {
		quoted, _ := json.Marshal(source)
		return Options{Streaming: true, Extra: extra(append([]string{"payload_template", string(quoted)}, more...)...)}
	}
	fields := extra("temperature", "0", "timestamp_granularities", `["word","segment"]`, "nothing", "null", "on",
		"true", "deep", `{"a":[1]}`, "file", `"no"`, "prompt", `"no"`)
	return []goldenCase{
		{"embeddings", "embeddings", Options{Extra: sampling}, turns(limited(text("a", "", "b"), 4))},
		{"embeddings one text", "embeddings", Options{}, turns(text("x"))},
		{"responses", "responses", Options{Streaming: true, Extra: sampling}, full()},
		{"responses media and server counts", "responses", Options{Streaming: true, ServerTokens: true},
			turns(&dataset.Turn{Texts: media("see"), Images: media(pngURI), Audios: media(wavText)})},
		{"responses authored system", "responses", Options{},
			with(turns(&dataset.Turn{RawMessages: raw(`{"role":"system","content":"own"}`,
				`{"role":"user","content":"q"}`)}), "S", "")},
		{"messages", "messages", Options{Streaming: true, Extra: sampling}, full()},
		{"messages default limit", "messages", Options{}, turns(text("q"))},
		{"messages images", "messages", Options{}, sees()},
		{"messages system blocks and tools", "messages", Options{},
			with(turns(&dataset.Turn{Texts: media("q"), RawSystem: json.RawMessage(`[{"type": "text","text":"s"}]`),
				RawTools: raw(`{"name":"f","input_schema":{}}`)}), "lost", "")},
		{"tgi", "huggingface_generate", Options{Extra: sampling}, turns(limited(text("a", "b"), 5))},
		{"tgi bare", "huggingface_generate", Options{Streaming: true}, turns(text("a"))},
		{"cohere rankings", "cohere_rankings", Options{Extra: extra("top_n", "2")}, ranking()},
		{"tei rankings", "hf_tei_rankings", Options{}, ranking()},
		{"nim rankings", "nim_rankings", Options{}, ranking()},
		{"voyage rankings", "voyage_rankings", Options{Extra: extra("top_k", "1", "return_documents", "true")}, ranking()},
		{"vllm score", "vllm_score", Options{Extra: extra("truncate_prompt_tokens", "-1")}, ranking()},
		{"vllm score queries", "vllm_score", Options{Extra: extra("score_query_field", `"queries"`,
			"score_documents_field", `"documents"`)}, ranking()},
		{"vllm pooling", "vllm_pooling", Options{Extra: extra("encoding_format", `"base64"`)}, turns(text("a", "", "b"))},
		{"vllm classify", "vllm_classify", Options{}, turns(text("a"))},
		{"nim embeddings pairs", "nim_embeddings", Options{Extra: extra("input_type", `"query"`)},
			turns(&dataset.Turn{Texts: media("a", "b"), Images: media(pngURI, jpegURI)})},
		{"nim embeddings images", "nim_embeddings", Options{}, turns(&dataset.Turn{Images: media(pngURI)})},
		{"chat embeddings", "chat_embeddings", Options{Streaming: true}, sees()},
		{"image generation", "image_generation", Options{Extra: extra("n", "2", "size", `"1x1"`)},
			turns(text("a cat", "ignored"))},
		{"image generation streamed", "image_generation", Options{Streaming: true}, turns(text("a cat"))},
		{"image edit", "image_edit", Options{Extra: fields}, edits(jpegURI)},
		{"image edit reference", "image_edit", Options{}, edits("https://h/x.png")},
		{"image edit bare base64", "image_edit", Options{}, edits("iVBORw0KGgo=")},
		{"image retrieval", "image_retrieval", Options{Extra: extra("merge", "true")},
			turns(&dataset.Turn{Images: media(pngURI, "", jpegURI)})},
		{"transcription", "audio_transcription", Options{Extra: fields},
			turns(&dataset.Turn{Audios: media("MP3,AAAA", "wav,BBBB")})},
		{"transcription data URI", "audio_transcription", Options{},
			turns(&dataset.Turn{Audios: media("data:audio/wav;base64,UklGRg==")})},
		{"speech", "audio_speech", Options{Extra: extra("speed", "1.5")}, turns(limited(text("a", "", "b"), 4))},
		{"speech streamed", "audio_speech", Options{Streaming: true, Extra: extra("voice", `"nova"`, "response_format", `"pcm"`)},
			turns(text("a"))},
		{"speech streamed as a body", "audio_speech", Options{Streaming: true, Extra: extra("stream_format", "null",
			"stream", "true", "voice", "null")}, turns(text("a"))},
		{"video", "video_generation", Options{Extra: extra("seconds", "4")}, turns(text("a cat"))},
		{"video form", "video_generation", Options{Form: true, Extra: extra("seconds", "4")}, turns(text("a cat"))},
		{"solido", "solido_rag", Options{Extra: extra("k", "3")}, full()},
		{"raw", "raw", Options{}, turns(&dataset.Turn{RawPayload: json.RawMessage(`{"b": 1,  "a":"\u00e9"}`)})},
		{"sglang", "sglang_generate", Options{Streaming: true, Encode: func(dst []int, text string) []int {
			for _, c := range []byte(text) {
				dst = append(dst, int(c))
			}
			return dst
		}, Extra: extra("sampling_params", `{"temperature":0.5,"max_new_tokens":3}`, "nvext",
			`{"agent_hints":{"strict_priority":7}}`)},
			&Context{RequestID: "req", Turns: []Turn{{Turn: text("ab")}, {Assistant: []byte("7,8")},
				{Turn: limited(text("c"), 5)}}}},
		{"template", "template", template(
			`{"model": {{ model|tojson }}, "q": {{ text|tojson }}, "n": {{ max_tokens|tojson }}, "stream": {{ stream|lower }}, "id": {{ request_info.x_request_id|tojson }},
 "turns": [{% for t in turns %}{{ t.texts[0].contents[0]|tojson }}{{ "," if not loop.last }}{% endfor %}], "system": {{ request_info.system_message|tojson }}}`, "n", "1", "more", "[1.0]"), full()},
		{"template list", "template", template(
			`[{% for p in passages %}{"text": {{ p|tojson }}}{{ "," if not loop.last }}{% endfor %}]`), ranking()},
		{"template by name", "template", template("nv-embedqa"), turns(text("a", "b"))},
	}
}

// TestGoldenBodies holds each request to the bytes in testdata/bodies. Forms are kept as they go over
// the wire, with LF for CRLF.
func TestGoldenBodies(t *testing.T) {
	for _, c := range goldenCases() {
		t.Run(c.name, func(t *testing.T) {
			body := encode(t, c.endpoint, c.options, c.context)
			got := append(bytes.ReplaceAll(body.Bytes, []byte("\r\n"), []byte("\n")), '\n')
			testkit.Golden(t, "testdata/bodies/"+strings.ReplaceAll(c.name, " ", "_")+".txt", got)
			if !json.Valid(body.JSON()) {
				t.Errorf("inputs.json would hold %s", body.JSON())
			}
			form := strings.HasPrefix(body.ContentType, "multipart/form-data; boundary=")
			if form == (body.ContentType == contentTypeJSON) || form == json.Valid(body.Bytes) {
				t.Errorf("content type %s", body.ContentType)
			}
		})
	}
}

func TestBodiesThatCannotBeMade(t *testing.T) {
	two := turns(text("a"), text("b"))
	for _, c := range []struct {
		endpoint, kind, want string
		options              Options
		context              *Context
	}{
		{"embeddings", "ValueError", "Embeddings endpoint only supports one turn.", Options{}, two},
		{"cohere_rankings", "ValueError", "only supports one turn", Options{}, two},
		{"vllm_pooling", "ValueError", "Pooling endpoint only supports one turn.", Options{}, two},
		{"vllm_score", "ValueError", "query", Options{}, turns(text("unnamed"))},
		{"huggingface_generate", "ValueError", "only supports one turn", Options{}, two},
		{"nim_rankings", "ValueError", "query", Options{}, turns(text("unnamed"))},
		{"nim_embeddings", "ValueError", "must be equal", Options{},
			turns(&dataset.Turn{Texts: media("a", "b"), Images: media(pngURI)})},
		{"messages", "NotImplementedError", "audio", Options{},
			turns(&dataset.Turn{Texts: media("a"), Audios: media(wavText)})},
		{"messages", "NotImplementedError", "video", Options{},
			turns(&dataset.Turn{Texts: media("a"), Videos: media("x")})},
		{"responses", "NotImplementedError", "Responses API does not support video input", Options{},
			turns(&dataset.Turn{Texts: media("a"), Videos: media("x")})},
		{"responses", "ValueError", "format,b64_audio", Options{},
			turns(&dataset.Turn{Texts: media("a"), Audios: media("x")})},
		{"image_generation", "ValueError", "prompt", Options{}, turns(&dataset.Turn{})},
		{"image_edit", "ValueError", "image", Options{}, turns(text("a"))},
		{"image_edit", "ValueError", "format of the image", Options{},
			turns(&dataset.Turn{Texts: media("a"), Images: media("XXXX")})},
		{"image_edit", "ValueError", "not valid base64", Options{},
			turns(&dataset.Turn{Texts: media("a"), Images: media("data:image/png;base64,*")})},
		{"image_retrieval", "ValueError", "image", Options{}, turns(text("a"))},
		{"audio_transcription", "ValueError", "audio", Options{}, turns(text("a"))},
		{"audio_transcription", "ValueError", "not valid base64", Options{},
			turns(&dataset.Turn{Audios: media("wav,*")})},
		{"audio_speech", "ValueError", "text", Options{}, turns(text(""))},
		{"video_generation", "ValueError", "prompt", Options{}, turns(&dataset.Turn{})},
		{"raw", "ValueError", "raw_payload", Options{}, turns(text("a"))},
		{"sglang_generate", "ValueError", "tokenizer", Options{}, turns(text("a"))},
		{"template", "ValueError", "did not render valid JSON: {{ oops",
			Options{Extra: extra("payload_template", `"{% raw %}{{ oops{% endraw %}"`)}, turns(text("a"))},
		{"template", "ValueError", "line 1: turn.nosuch.x",
			Options{Extra: extra("payload_template", `"{{ turn.nosuch.x }}"`)}, turns(text("a"))},
		{"template", "ValueError", "object", Options{Extra: extra("payload_template", `"[]"`, "a", "1")},
			turns(text("a"))},
	} {
		e, err := New(c.endpoint, c.options)
		if err != nil {
			t.Fatalf("%s: %v", c.endpoint, err)
		}
		_, err = e.Encode(c.context)
		failure, ok := err.(*EncodeError)
		if !ok || failure.Type != c.kind || !strings.Contains(failure.Message, c.want) {
			t.Errorf("%s: got %v, want a %s with %q", c.endpoint, err, c.kind, c.want)
		}
	}
}

func TestTemplatesAreCheckedBeforeTheRun(t *testing.T) {
	for _, c := range []struct {
		options Options
		want    []string
	}{
		{Options{}, []string{"--extra-inputs", "payload_template"}},
		{Options{Extra: extra("payload_template", `"{\n{% if %}"`)}, []string{"payload_template"}},
	} {
		_, err := New("template", c.options)
		for _, w := range c.want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("got %v, want %q in it", err, w)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "t.jinja")
	if err := os.WriteFile(path, []byte("{\n\n{% bogus %}"), 0o600); err != nil {
		t.Fatal(err)
	}
	quoted, _ := json.Marshal(path)
	if _, err := New("template", Options{Extra: extra("payload_template", string(quoted))}); err == nil ||
		!strings.Contains(err.Error(), path) {
		t.Errorf("an error in a file does not name it: %v", err)
	}
	var said []string
	warn := func(message string) { said = append(said, message) }
	e, err := New("template", Options{Warn: warn,
		Extra: extra("payload_template", `"{\"q\":\"{{ text }}\"}"`, "response_field", `"]["`)})
	if err != nil || len(said) != 1 || !strings.Contains(said[0], "JMESPath") {
		t.Fatalf("%v, warnings %q", err, said)
	}
	if _, err := e.Encode(turns(text("a & b"))); err != nil || len(said) != 2 || !strings.Contains(said[1], "tojson") {
		t.Errorf("%v, warnings %q", err, said)
	}
	if _, err := e.Encode(turns(text("a &amp; b"))); err != nil || len(said) != 2 {
		t.Errorf("the warning comes more than once: %v, %q", err, said)
	}
}

func TestReservedKeysAreIgnoredWithAWarning(t *testing.T) {
	var said []string
	e, err := New("audio_transcription",
		Options{Model: "m", Warn: func(m string) { said = append(said, m) }, Extra: extra("file", `"x"`)})
	if err != nil {
		t.Fatal(err)
	}
	body, err := e.Encode(turns(&dataset.Turn{Audios: media("wav,AAAA")}))
	if err != nil || len(said) != 1 || !strings.Contains(said[0], "file") ||
		bytes.Count(body.Bytes, []byte(`name="file"`)) != 1 {
		t.Errorf("%v, warnings %q, body %s", err, said, body.Bytes)
	}
}

// A field that holds the boundary gets another one.
func TestFormsSurviveTheirOwnBoundary(t *testing.T) {
	body := encode(t, "video_generation", Options{Form: true}, turns(text("--"+formBoundary+"--")))
	if !strings.HasSuffix(body.ContentType, formBoundary+"0") ||
		!bytes.HasSuffix(body.Bytes, []byte("--"+formBoundary+"0--\r\n")) {
		t.Errorf("content type %s, body %s", body.ContentType, body.Bytes)
	}
}
