package endpoint

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/workload/dataset"
)

// answered decodes a whole reply that arrived at instant 10.
func answered(t testing.TB, name string, o Options, body string) *Reply {
	t.Helper()
	e, err := New(name, o)
	if err != nil {
		t.Fatal(err)
	}
	d := e.NewDecoder()
	d.Body("application/json", false, []byte(body), 10)
	return d.Reply()
}

// told says what a reply carries.
func told(r *Reply) string {
	var parts []string
	add := func(name string, value any, present bool) {
		if present {
			parts = append(parts, fmt.Sprint(name, "=", value))
		}
	}
	add("out", string(r.Output), len(r.Output) > 0)
	add("think", string(r.Reasoning), len(r.Reasoning) > 0)
	add("at", r.ContentNS, len(r.ContentNS) > 0)
	add("images", r.Images, r.Images > 0)
	add("ids", r.OutputIDs, r.OutputIDs > 0)
	add("usage", shown(&r.Usage), r.Usage.Present())
	if r.Err != nil {
		parts = append(parts, fmt.Sprintf("err=%d/%s/%s", r.Err.Code, r.Err.Type, r.Err.Message))
	}
	add("malformed", r.Malformed, r.Malformed > 0)
	return strings.Join(parts, " ")
}

// vLLM sends vectors as bytes if it is asked to. Other replies, and other bytes, are no content.
func TestVectorsAsBytes(t *testing.T) {
	for _, c := range []struct {
		endpoint, contentType, body string
		content                     bool
	}{
		{"embeddings", "application/octet-stream", "\x96\x32\xc7\x3f", true},
		{"vllm_pooling", "application/octet-stream", "\x96\x32\xc7\x3f", true},
		{"chat_embeddings", "application/octet-stream", "\x96\x32\xc7\x3f", true},
		{"embeddings", "application/octet-stream", "<html>Log in</html>", false},
		{"embeddings", "application/octet-stream", "", false},
		{"embeddings", "image/png", "\x89PNG", false},
		{"vllm_score", "application/octet-stream", "\x96\x32\xc7\x3f", false},
		{"vllm_classify", "application/octet-stream", "\x96\x32\xc7\x3f", false},
		{"cohere_rankings", "application/octet-stream", "\x96\x32\xc7\x3f", false},
	} {
		e, err := New(c.endpoint, Options{})
		if err != nil {
			t.Fatal(err)
		}
		d := e.NewDecoder()
		d.Body(c.contentType, true, []byte(c.body), 10)
		if r := d.Reply(); (len(r.ContentNS) == 1) != c.content || r.Finished != c.content {
			t.Errorf("%s, %d bytes of %s: content at %v", c.endpoint, len(c.body), c.contentType, r.ContentNS)
		}
	}
}

func TestWholeReplies(t *testing.T) {
	const embedding = `{"object":"embedding","index":0,"embedding":[0.1,-2]}`
	field := func(expression string) Options {
		quoted, _ := json.Marshal(expression)
		return Options{Extra: extra("payload_template", `"{}"`, "response_field", string(quoted))}
	}
	for _, c := range []struct {
		endpoint string
		options  Options
		body     string
		want     string
	}{
		{"embeddings", Options{}, `{"object":"list","data":[` + embedding +
			`],"usage":{"prompt_tokens":3,"total_tokens":3}}`, "at=[10] usage=prompt=3 total=3"},
		{"embeddings", Options{}, `{"data":[{"object":"embedding","embedding":"AAAA"}]}`, "at=[10]"},
		{"embeddings", Options{}, `{"data":[]}`, ""},
		{"embeddings", Options{}, `{}`, ""},
		{"embeddings", Options{}, `{"data":[` + embedding + `,{"object":"image"}]}`,
			"err=0/ValueError/Received invalid list in response: " + clip(`[`+embedding+`,{"object":"image"}]`, 100)},
		{"embeddings", Options{}, `{"error":{"message":"no","code":400,"type":"bad"}}`, "err=400/bad/no"},
		{"embeddings", Options{}, `{"data":`, "malformed=1"},
		{"cohere_rankings", Options{}, `{"results":[{"index":1,"relevance_score":0.5}],"meta":{"tokens":{"input_tokens":7},"billed_units":{"search_units":1}}}`, "at=[10] usage=prompt=7"},
		{"voyage_rankings", Options{}, `{"object":"list","data":[{"index":1,"relevance_score":0.5,"document":"d"}],"model":"rerank-2.5","usage":{"total_tokens":26}}`, "at=[10] usage=total=26"},
		{"voyage_rankings", Options{}, `{"object":"list","data":[]}`, ""},
		{"voyage_rankings", Options{}, `{"data":[{"index":0}]}`,
			`err=0/ValueError/Received invalid list in response: [{"index":0}]`},
		{"voyage_rankings", Options{}, `{"detail":"Model is not supported."}`, ""},
		{"vllm_score", Options{}, `{"id":"score-1","object":"list","model":"m","data":[{"index":0,"object":"score","score":0.99},{"index":1,"object":"score","score":-3}],"usage":{"prompt_tokens":9,"total_tokens":9}}`,
			"at=[10] usage=prompt=9 total=9"},
		{"vllm_score", Options{}, `{"data":[{"index":0,"score":null}]}`,
			`err=0/ValueError/Received invalid list in response: [{"index":0,"score":null}]`},
		{"vllm_score", Options{}, `{"object":"error","message":"no score","type":"BadRequestError","code":400}`,
			"err=400/BadRequestError/no score"},
		{"vllm_pooling", Options{}, `{"object":"list","data":[{"index":0,"object":"pooling","data":[[0.1,0.2],[0.3,0.4]]}],"usage":{"prompt_tokens":2,"total_tokens":2}}`,
			"at=[10] usage=prompt=2 total=2"},
		{"vllm_pooling", Options{}, `{"data":[{"index":0,"data":"AAAA"}]}`, "at=[10]"},
		{"vllm_pooling", Options{}, `{"data":[{"index":0,"data":[]}]}`,
			`err=0/ValueError/Received invalid list in response: [{"index":0,"data":[]}]`},
		{"vllm_classify", Options{}, `{"id":"c","object":"list","data":[{"index":0,"label":"Default","probs":[0.6,0.4],"num_classes":2}],"usage":{"prompt_tokens":7,"total_tokens":7,"completion_tokens":0}}`,
			"at=[10] usage=prompt=7 completion=0 total=7"},
		{"vllm_classify", Options{}, `{"data":[{"index":0,"label":"x"}]}`,
			`err=0/ValueError/Received invalid list in response: [{"index":0,"label":"x"}]`},
		// As vLLM 0.32 sends them.
		{"vllm_score", Options{}, `{"id":"score-9b5e444ff09522b2","object":"list","created":1795985158,"model":"tiny","data":[{"index":0,"object":"score","score":0.5234253406524658},{"index":1,"object":"score","score":0.5233742594718933}],"usage":{"prompt_tokens":24,"total_tokens":24,"completion_tokens":0,"prompt_tokens_details":null,"completion_tokens_details":null}}`,
			"at=[10] usage=prompt=24 completion=0 total=24"},
		{"vllm_classify", Options{}, `{"id":"classify-802bbe778bc41fad","object":"list","created":1795985159,"model":"tiny","data":[{"index":0,"label":"LABEL_0","probs":[0.5141035914421082],"num_classes":1}],"usage":{"prompt_tokens":4,"total_tokens":4,"completion_tokens":0,"prompt_tokens_details":null,"completion_tokens_details":null}}`,
			"at=[10] usage=prompt=4 completion=0 total=4"},
		{"vllm_pooling", Options{}, `{"id":"pooling-8a9cd4a2652719c3","object":"list","created":1795985159,"model":"tiny","data":[{"index":0,"object":"pooling","data":[0.5141035914421082]},{"index":1,"object":"pooling","data":"4JgFPw=="}],"usage":{"prompt_tokens":8,"total_tokens":8,"completion_tokens":0,"prompt_tokens_details":null,"completion_tokens_details":null}}`,
			"at=[10] usage=prompt=8 completion=0 total=8"},
		{"vllm_classify", Options{}, `{"error":{"message":"You must pass at least one prompt","type":"BadRequestError","param":null,"code":400}}`,
			"err=400/BadRequestError/You must pass at least one prompt"},
		{"cohere_rankings", Options{}, `{"id":"score-9cca626b3132f463","model":"tiny","usage":{"prompt_tokens":24,"total_tokens":24},"results":[{"index":0,"document":{"text":"cat dog","multi_modal":null},"relevance_score":0.5234253406524658}]}`,
			"at=[10] usage=prompt=24 total=24"},
		{"cohere_rankings", Options{}, `{"results":[]}`, ""},
		{"cohere_rankings", Options{}, `[{"index":1}]`, ""},
		{"hf_tei_rankings", Options{}, `[{"index":1,"score":0.5}]`, "at=[10]"},
		{"hf_tei_rankings", Options{}, `{"results":[{"index":1,"score":0.5}]}`, "at=[10]"},
		{"hf_tei_rankings", Options{}, `[]`, ""},
		{"nim_rankings", Options{}, `{"rankings":[{"index":1,"logit":0.5}],"usage":{"prompt_tokens":4}}`,
			"at=[10] usage=prompt=4"},
		{"nim_rankings", Options{}, `{"rankings":[3]}`, "err=0/ValueError/Received invalid list in response: [3]"},
		{"huggingface_generate", Options{}, `{"generated_text":"a"}`, "out=a at=[10]"},
		{"huggingface_generate", Options{}, `[{"generated_text":"a"},{"generated_text":"b"}]`, "out=a at=[10]"},
		{"huggingface_generate", Options{}, `{"error":"overloaded","error_type":"overloaded_error"}`,
			"err=0/overloaded_error/overloaded"},
		{"responses", Options{}, `{"object":"response","output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"R"}]},{"type":"message","content":[{"type":"output_text","text":"T"}]}],"usage":{"input_tokens":2,"output_tokens":3}}`,
			"out=T think=R at=[10] usage=prompt=2 completion=3"},
		{"responses", Options{}, `{"object":"response","output":[{"type":"function_call","name":"f","arguments":"{}"}]}`, "out=f{} at=[10]"},
		{"responses", Options{}, `{"object":"response","output":[],"output_text":"T"}`, "out=T at=[10]"},
		{"responses", Options{}, `{"object":"response","output":[{"type":"message","content":[{"type":"output_audio","data":"AAAA","transcript":"T"}]}]}`, "out=T at=[10]"},
		{"responses", Options{}, `{"object":"response","output":[{"type":"message","content":[{"type":"output_audio","data":"AAAA"}]}]}`, "at=[10]"},
		{"chat", Options{}, `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":null,"audio":{"id":"audio_1","data":"UklGRg==","expires_at":1,"transcript":"T"}},"finish_reason":"stop"}],"usage":{"prompt_tokens":2,"completion_tokens":30,"completion_tokens_details":{"text_tokens":5,"audio_tokens":25}}}`,
			"out=T at=[10] usage=prompt=2 completion=30 completion_audio=25"},
		{"chat", Options{}, `{"object":"chat.completion","choices":[{"index":0,"message":{"content":null,"audio":{"id":"audio_1","data":"UklGRg==","transcript":null}}}]}`, "at=[10]"},
		{"chat", Options{}, `{"object":"chat.completion","choices":[{"index":0,"message":{"content":null,"audio":{"id":"audio_1","data":"","transcript":""}}}]}`, ""},
		{"responses", Options{}, `{"object":"response","status":"failed","error":{"code":"server_error","message":"m"},"output":[]}`, "err=0/server_error/m"},
		{"responses", Options{}, `{"object":"other","output_text":"T"}`, ""},
		{"messages", Options{}, `{"type":"message","content":[{"type":"thinking","thinking":"R","signature":"s"},{"type":"text","text":"T"}],"usage":{"input_tokens":2,"output_tokens":3}}`,
			"out=T think=R at=[10] usage=prompt=2 completion=3"},
		{"messages", Options{}, `{"type":"message","content":[{"type":"tool_use","id":"i","name":"f","input":{"a": 1}}]}`, `out=f{"a":1} at=[10]`},
		{"messages", Options{}, `{"type":"message","content":[]}`, ""},
		{"messages", Options{}, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
			"err=0/overloaded_error/Overloaded"},
		{"image_generation", Options{}, `{"created":1,"data":[{"b64_json":"x"},{"url":"u"},{}]}`, "at=[10] images=2"},
		{"image_generation", Options{}, `{"b64_json":"x"}`, "at=[10] images=1"},
		{"image_generation", Options{}, `{"created":1}`, "at=[10]"},
		{"image_retrieval", Options{}, `{"data":[{"index":0}]}`, "at=[10]"},
		{"image_retrieval", Options{}, `{"data":[]}`, ""},
		{"audio_transcription", Options{},
			`{"text":"hello","usage":{"type":"tokens","input_tokens":5,"output_tokens":1}}`,
			"out=hello at=[10] usage=prompt=5 completion=1"},
		{"audio_transcription", Options{}, "1\n00:00 --> 00:01\nhello", "out=1\n00:00 --> 00:01\nhello at=[10]"},
		{"audio_transcription", Options{}, `{"text":""}`, ""},
		{"audio_transcription", Options{}, "42", "out=42 at=[10]"},
		{"audio_speech", Options{}, `{"audio":"AAAA","usage":{"input_tokens":3,"output_tokens":9}}`, "at=[10] usage=prompt=3 completion=9"},
		{"audio_speech", Options{}, `{"error":{"message":"no","type":"bad","code":400}}`, "err=400/bad/no"},
		{"audio_speech", Options{}, `{"detail":"no"}`, ""},
		{"audio_speech", Options{}, "Internal Server Error", "malformed=1"},
		{"solido_rag", Options{}, `{"content":"a","sources":[]}`, "out=a at=[10]"},
		{"chat_embeddings", Options{}, `{"data":[` + embedding + `]}`, "at=[10]"},
		{"chat_embeddings", Options{}, `{"embeddings":[[1,2]]}`, "at=[10]"},
		{"chat_embeddings", Options{}, `{"text":"a"}`, ""},
		{"sglang_generate", Options{}, `{"output_ids":[1,2,3],"meta_info":{"prompt_tokens":4,"completion_tokens":3,"finish_reason":{"type":"stop"}}}`, "at=[10] ids=3 usage=prompt=4 completion=3"},
		{"raw", Options{}, `plain text`, "malformed=1"},
		{"raw", Options{}, `{}`, "out={} at=[10]"},
		{"raw", Options{}, `[]`, "out=[] at=[10]"},
		{"raw", Options{}, `0`, "out=0 at=[10]"},
		{"raw", Options{}, `{"data":[` + embedding + `]}`, "at=[10]"},
		{"raw", Options{}, `{"embedding":[1]}`, "at=[10]"},
		{"raw", Options{}, `{"rankings":[]}`, "at=[10]"},
		{"raw", Options{}, `{"results":[{"score":1}]}`, "at=[10]"},
		{"raw", Options{}, `{"text":1,"content":"","response":["a","b"]}`, "out=ab at=[10]"},
		{"raw", Options{}, `{"text":["a",1],"result":"r"}`, "out=r at=[10]"},
		{"raw", Options{}, `{"choices":[{"message":{"content":"c"}}],"usage":{"prompt_tokens":1}}`,
			"out=c at=[10] usage=prompt=1"},
		{"raw", Options{}, `{"choices":[{"delta":{"content":"c"}}]}`, "out=c at=[10]"},
		{"raw", Options{}, `{"choices":[{"text":"c"}]}`, "out=c at=[10]"},
		{"raw", Options{}, `{"other":"x"}`, ""},
		{"raw", Options{}, `[[1,2],[3]]`, "at=[10]"},
		{"raw", Options{}, `[{"score":1}]`, "at=[10]"},
		{"raw", Options{}, `[1,"a"]`, ""},
		{"template", field("answer.text"), `{"answer":{"text":"a"},"text":"b"}`, "out=a at=[10]"},
		{"template", field("answer.text"), `{"text":"b"}`, "out=b at=[10]"},
		{"template", field("vectors"), `{"vectors":[[0.5,1]],"text":"b"}`, "at=[10]"},
		{"template", field("ranks"), `{"ranks":[{"i":1}],"text":"b"}`, "at=[10]"},
		{"template", field("n"), `{"n":5,"text":"b"}`, "out=b at=[10]"},
	} {
		if got := told(answered(t, c.endpoint, c.options, c.body)); got != c.want {
			t.Errorf("%s %s:\ngot  %s\nwant %s", c.endpoint, c.body, got, c.want)
		}
	}
}

// An expression that yields texts leads to nothing, so that the answer is looked for; one that yields an
// embedding is one.
func TestTrapResponseField(t *testing.T) {
	for expression, want := range map[string]string{"choices[*].text": "out=a at=[10]",
		"data[0].embedding": "at=[10]"} {
		o := Options{Extra: extra("payload_template", `"{}"`, "response_field", `"`+expression+`"`)}
		if got := told(answered(t, "template", o,
			`{"choices":[{"text":"a"},{"text":"b"}],"data":[{"embedding":[1,2]}]}`)); got != want {
			t.Errorf("%s: %s, want %s", expression, got, want)
		}
	}
}

func TestStreams(t *testing.T) {
	block := func(kind, members string) string { return `{"type":"` + kind + `",` + members + `}` }
	for _, c := range []struct {
		endpoint string
		events   []string
		want     string
		finished bool
	}{
		{"huggingface_generate", []string{`{"index":1,"token":{"id":1,"text":"a","special":false},"generated_text":null}`, `{"token":{"text":"b"},"generated_text":"ab","details":null}`}, "out=ab at=[10 20]", true},
		{"huggingface_generate", []string{`{"token":{"text":"a"}}`,
			`{"error":"Request failed","error_type":"generation"}`}, "out=a at=[10] err=0/generation/Request failed",
			false},
		{"messages", []string{
			block("message_start", `"message":{"usage":{"input_tokens":10,"cache_read_input_tokens":90,"output_tokens":1}}`),
			block("content_block_start", `"index":0,"content_block":{"type":"thinking","thinking":""}`),
			`{"type":"ping"}`,
			block("content_block_delta", `"index":0,"delta":{"type":"thinking_delta","thinking":"R"}`),
			block("content_block_delta", `"index":0,"delta":{"type":"signature_delta","signature":"s"}`),
			block("content_block_delta", `"index":1,"delta":{"type":"text_delta","text":"T"}`),
			block("content_block_start", `"index":2,"content_block":{"type":"tool_use","id":"i","name":"f","input":{}}`),
			block("content_block_delta", `"index":2,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}`),
			block("content_block_delta", `"index":2,"delta":{"type":"input_json_delta","partial_json":"1}"}`),
			block("message_delta", `"delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}`),
			`{"type":"message_stop"}`,
		}, `out=T{"a":1} think=R at=[40 60 80 90] usage=prompt=100 completion=7 read=90`, true},
		{"messages", []string{block("error", `"error":{"type":"overloaded_error","message":"Overloaded"}`)},
			"err=0/overloaded_error/Overloaded", false},
		{"responses", []string{
			block("response.reasoning_text.delta", `"delta":"R"`),
			block("response.output_text.delta", `"output_index":1,"content_index":0,"delta":"T"`),
			block("response.function_call_arguments.delta", `"output_index":2,"delta":"{}"`),
			block("response.output_text.done", `"output_index":3,"content_index":0,"text":"alone"`),
			block("response.output_text.done", `"output_index":3,"content_index":1,"text":""`),
			block("response.completed", `"response":{"id":"r","usage":{"input_tokens":1,"output_tokens":2}}`), "[DONE]",
		}, "out=T{}alone think=R at=[10 20 30 40] usage=prompt=1 completion=2", true},
		{"responses", []string{block("response.failed", `"response":{"error":{"code":"x","message":"m"}}`)},
			"err=0/x/m", true},
		{"image_generation", []string{block("image_generation.partial_image", `"b64_json":"x","partial_image_index":0`),
			block("image_generation.completed", `"b64_json":"x","usage":{"input_tokens":1,"output_tokens":2}`),
			"[DONE]"}, "at=[10 20] images=1 usage=prompt=1 completion=2", true},
		{"sglang_generate", []string{`{"output_ids":[5],"meta_info":{"prompt_tokens":4,"completion_tokens":1,"finish_reason":null}}`,
			`{"output_ids":[6],"meta_info":{"prompt_tokens":4,"completion_tokens":2,"finish_reason":{"type":"length"}}}`, "[DONE]"}, "at=[10 20] ids=2 usage=prompt=4 completion=2", true},
		{"solido_rag", []string{`{"content":"a"}`, `{"content":"b"}`}, "out=ab at=[10 20]", true},
		{"raw", []string{`{"choices":[{"delta":{"content":"a"}}]}`, " text ", "[DONE]"}, "out=atext at=[10 20]", true},
	} {
		r := stream(t, c.endpoint, c.events...)
		if got := told(r); got != c.want || r.Finished != c.finished {
			t.Errorf("%s %s:\ngot  %s, finished %v\nwant %s, %v", c.endpoint, c.events, got, r.Finished, c.want,
				c.finished)
		}
	}
}

// What was said in deltas is not said again; only the instant of the end counts.
func TestTrapResponsesDone(t *testing.T) {
	r := stream(t, "responses", `{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Hel"}`,
		`{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"lo"}`,
		`{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"Hello"}`,
		`{"type":"response.completed","response":{}}`)
	if string(r.Output) != "Hello" || !slices.Equal(r.ContentNS, []int64{10, 20, 30}) {
		t.Errorf("output %q at %v", r.Output, r.ContentNS)
	}
}

func TestTrapAnthropicUsageIsFoldedOverTheStream(t *testing.T) {
	r := stream(t, "messages", `{"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":90,"output_tokens":1}}}`,
		`{"type":"message_delta","delta":{},"usage":{"output_tokens":7}}`)
	if got := shown(&r.Usage); got != "prompt=100 completion=7 read=90" {
		t.Error(got)
	}
}

// The limits of the APIs are their own.
func TestTrapLimitsOfTheAPIs(t *testing.T) {
	zero := func() *Context { return turns(limited(text("x"), 0)) }
	for name, want := range map[string]string{
		"chat":                 `{"messages":[{"role":"user","content":"x"}],"model":"m","stream":false,"max_completion_tokens":0}`,
		"completions":          `{"prompt":"x","model":"m","stream":false}`,
		"messages":             `{"model":"m","messages":[{"role":"user","content":"x"}],"max_tokens":0}`,
		"responses":            `{"input":[{"role":"user","content":"x","type":"message"}],"model":"m","stream":false,"max_output_tokens":0}`,
		"huggingface_generate": `{"inputs":"x","parameters":{"max_new_tokens":0}}`,
	} {
		if got := string(encode(t, name, Options{}, zero()).Bytes); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := string(encode(t, "messages", Options{}, turns(text("x"))).Bytes); !strings.Contains(got,
		`"max_tokens":1024`) {
		t.Errorf("messages without a limit: %s", got)
	}
}

// A system item that brings its type along has one type.
func TestItemsHaveOneType(t *testing.T) {
	authored := &dataset.Turn{RawMessages: raw(`{"type":"message","role":"system","content":"own","id":"i"}`)}
	c := with(turns(authored, text("q")), "S", "")
	want := `{"input":[{"role":"system","content":"S\n\nown","id":"i","type":"message"},{"role":"user","content":"q","type":"message"}],"model":"m","stream":false}`
	if got := string(encode(t, "responses", Options{}, c).Bytes); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Where user inputs go, whether a model is sent and what a score is called differs.
func TestTrapShapesOfTheAPIs(t *testing.T) {
	ranking := func() *Context { return turns(&dataset.Turn{Texts: namedTexts("query", "q", "passages", "p")}) }
	if got := string(encode(t, "huggingface_generate", Options{Extra: extra("a", "1")},
		turns(text("x"))).Bytes); got != `{"inputs":"x","parameters":{"a":1}}` {
		t.Error(got)
	}
	if got := string(encode(t, "hf_tei_rankings", Options{}, ranking()).Bytes); strings.Contains(got, "model") {
		t.Error(got)
	}
	if got := string(encode(t, "embeddings", Options{}, turns(text("x"))).Bytes); got != `{"model":"m","input":["x"]}` {
		t.Error(got)
	}
}

// Rendering follows Jinja2; what is no JSON fails the request.
func TestTrapTemplates(t *testing.T) {
	turn := text("a \"q\" <b> & 'c' é\n")
	turn.Texts = append(turn.Texts, namedTexts("passages", "x|y")...)
	for source, want := range map[string]string{
		`{"t": {{ text|tojson }}}`:       `{"t":"a \"q\" <b> & 'c' é\n"}`,
		`{"s": {{ stream|lower }}}`:      `{"s":true}`,
		`{"n": {{ max_tokens|tojson }}}`: `{"n":null}`,
		`"{{ text }}"`:                   "",
		`{"s": {{ stream }}}`:            "",
		`{"n": {{ max_tokens }}}`:        "",
		`[{% for p in passages %}{"text": {{ p|tojson }}}{{ "," if not loop.last }}{% endfor %}]`: `[{"text":"x"},{"text":"y"}]`,
	} {
		quoted, _ := json.Marshal(source)
		e, err := New("template", Options{Streaming: true, Extra: extra("payload_template", string(quoted))})
		if err != nil {
			t.Fatal(err)
		}
		body, err := e.Encode(turns(turn))
		switch {
		case want == "" && (err == nil || !strings.HasPrefix(err.Error(), "Template did not render valid JSON: ")):
			t.Errorf("%s: %v", source, err)
		case want != "" && (err != nil || string(body.Bytes) != want):
			t.Errorf("%s: %v, %s", source, err, body.Bytes)
		}
	}
}

// Replies come back in the form of their API.
func TestRepliesAreRepeated(t *testing.T) {
	for _, c := range []struct {
		endpoint string
		events   []string
		want     string
	}{
		{"messages", []string{`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"R"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"T"}}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"i","name":"f"}}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"a\": 1}"}}`},
			`{"role":"assistant","content":[{"type":"thinking","thinking":"R","signature":"s"},{"type":"text","text":"T"},{"type":"tool_use","id":"i","name":"f","input":{"a":1}}]}`},
		{"messages", []string{`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"i","name":"f"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\""}}`},
			`{"role":"assistant","content":[{"type":"tool_use","id":"i","name":"f","input":"{\"a\""}]}`},
		{"messages", []string{`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"T"}}`},
			`{"role":"assistant","content":"T"}`},
		{"messages", []string{`{"type":"ping"}`}, ""},
		{"responses", []string{`{"type":"response.output_text.delta","delta":"T"}`},
			`{"role":"assistant","content":"T","type":"message"}`},
		{"responses", []string{`{"type":"response.output_item.done","item":{"type":"reasoning","summary":[]}}`,
			`{"type":"response.output_item.done","item":{"type":"message", "id":"m","content":[]}}`,
			`{"type":"response.output_item.done","item":{"type":"function_call","name":"f"}}`},
			`{"type":"message","id":"m","content":[]},{"type":"function_call","name":"f"}`},
		{"sglang_generate", []string{`{"output_ids":[1,2]}`, `{"output_ids":[3]}`}, "1,2,3"},
	} {
		r := stream(t, c.endpoint, c.events...)
		if got := string(r.AppendAssistant(nil)); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.endpoint, got, c.want)
		}
	}
}

// Where the server keeps replies, the next request refers to the last one and carries what is new.
func TestResponsesChain(t *testing.T) {
	var said []string
	o := Options{Extra: extra("store", "true"), Warn: func(m string) { said = append(said, m) }}
	for body, want := range map[string]string{
		`{"object":"response","id":"r1","status":"completed","output":[]}`:  "r1",
		`{"object":"response","id":"r1","status":"incomplete","output":[]}`: "",
		`{"object":"response","id":"r1","status":"failed","output":[]}`:     "",
	} {
		if got := answered(t, "responses", o, body).ID; got != want {
			t.Errorf("%s: id %q, want %q", body, got, want)
		}
	}
	if got := answered(t, "responses", Options{},
		`{"object":"response","id":"r1","store":true,"output":[]}`).ID; got != "r1" {
		t.Errorf("an echoed store is not heard: %q", got)
	}
	if got := answered(t, "responses", Options{Extra: extra("store", "false")},
		`{"object":"response","id":"r1","store":true,"output":[]}`).ID; got != "" {
		t.Errorf("chained although store is false: %q", got)
	}
	c := with(turns(text("a"), text("b")), "S", "U")
	c.Turns = []Turn{c.Turns[0], {Assistant: []byte(`{"role":"assistant"}`), AssistantID: "r1"}, c.Turns[1]}
	want := `{"input":[{"role":"user","content":"b","type":"message"}],"model":"m","stream":false,"previous_response_id":"r1","instructions":"S","store":true}`
	o.Model = "m"
	e, err := New("responses", o)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if body, err := e.Encode(c); err != nil || string(body.Bytes) != want {
			t.Errorf("got  %s, %v\nwant %s", body.Bytes, err, want)
		}
	}
	if len(said) != 1 {
		t.Errorf("warnings %q", said)
	}
}

func TestVideoJobSteps(t *testing.T) {
	job := func(o Options) Job {
		e, err := New("video_generation", o)
		if err != nil {
			t.Fatal(err)
		}
		return e.(Poller).NewJob()
	}
	const submit = "http://h/v1/videos?k=v"
	for _, c := range []struct {
		name    string
		replies []string
		want    string
	}{
		{"queued then completed", []string{`{"id":"a/b"}`, `{"status":"queued"}`, `{"status":"completed"}`},
			"keep http://h/v1/videos/a%2Fb?k=v; http://h/v1/videos/a%2Fb?k=v 2s; keep over"},
		{"no id", []string{`{"status":"queued"}`}, `500 VideoGenerationError No job ID returned: {"status":"queued"}`},
		{"no JSON", []string{"oops"}, "500 VideoGenerationError Invalid JSON in the reply: oops"},
		{"failed", []string{`{"id":"a"}`, `{"status":"failed","error":{"message":"why"}}`},
			"keep http://h/v1/videos/a?k=v; 500 VideoGenerationError Video generation failed: why"},
	} {
		j, url, got := job(Options{PollInterval: 2e9}), submit, []string{}
		for _, r := range c.replies {
			s := j.Step(url, []byte(r))
			said := ""
			if s.Keep {
				said = "keep "
			}
			switch {
			case s.Err != nil:
				said += fmt.Sprint(s.Err.Code, " ", s.Err.Type, " ", s.Err.Message)
			case s.URL == "":
				said += "over"
			default:
				said += s.URL
			}
			if s.Wait > 0 {
				said += " " + s.Wait.String()
			}
			got, url = append(got, said), s.URL
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, strings.Join(got, "; "), c.want)
		}
	}
	j := job(Options{DownloadVideo: true})
	j.Step(submit, []byte(`{"id":"a"}`))
	if s := j.Step("x", []byte(`{"status":"completed"}`)); s.URL != "http://h/v1/videos/a/content?k=v" || !s.Discard ||
		!s.Keep {
		t.Errorf("download: %+v", s)
	}
	if s := j.Step("x", []byte("\x00binary")); s.URL != "" || s.Err != nil {
		t.Errorf("after the download: %+v", s)
	}
}

func TestMediaOfBodies(t *testing.T) {
	header := "wav,UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YYA+AAA=" // one second, cut short
	for _, c := range []struct {
		endpoint string
		turn     *dataset.Turn
		images   int
		seconds  float64
	}{
		{"chat", &dataset.Turn{Texts: media("a"), Images: media(pngURI, jpegURI)}, 2, 0},
		{"chat", &dataset.Turn{RawMessages: raw(
			`{"role":"user","content":[{"type":"image_url","image_url":{"url":""},"uuid":"u"}]}`)}, 1, 0},
		{"messages", &dataset.Turn{Texts: media("image"), Images: media(pngURI)}, 1, 0},
		{"responses", &dataset.Turn{Images: media(pngURI)}, 1, 0},
		{"image_retrieval", &dataset.Turn{Images: media(pngURI, jpegURI)}, 2, 0},
		{"nim_embeddings", &dataset.Turn{Images: media(pngURI, jpegURI)}, 2, 0},
		{"image_edit", &dataset.Turn{Texts: media("a"), Images: media(pngURI)}, 1, 0},
		{"chat", text("image_url"), 0, 0},
		{"audio_transcription", &dataset.Turn{Audios: media(header)}, 0, 0},
	} {
		images, seconds := encode(t, c.endpoint, Options{}, turns(c.turn)).Media()
		if images != c.images || seconds != c.seconds {
			t.Errorf("%s: %d images, %v s; want %d, %v", c.endpoint, images, seconds, c.images, c.seconds)
		}
	}
}

func TestInputOfBodiesWithMedia(t *testing.T) {
	for _, c := range []struct {
		endpoint string
		context  *Context
		want     string
	}{
		{"nim_embeddings", turns(&dataset.Turn{Texts: media("a", "b"), Images: media(pngURI, jpegURI)}), "a b"},
		{"nim_embeddings", turns(&dataset.Turn{Images: media(pngURI)}), ""},
		{"image_edit", turns(&dataset.Turn{Texts: media("add a hat"), Images: media(pngURI)}), "add a hat"},
		{"solido_rag", turns(text("a", "b")), "a b"},
		{"audio_speech", turns(text("a", "b")), "a b"},
		{"cohere_rankings", turns(&dataset.Turn{Texts: namedTexts("query", "q", "passages", "p1|p2")}), "q p1 p2"},
		{"vllm_score", turns(&dataset.Turn{Texts: namedTexts("query", "q", "passages", "p1|p2")}), "q p1 p2"},
	} {
		if got, _ := encode(t, c.endpoint, Options{}, c.context).input(); got != c.want {
			t.Errorf("%s: %q, want %q", c.endpoint, got, c.want)
		}
	}
	score := turns(&dataset.Turn{Texts: namedTexts("query", "q", "passages", "p1|p2")})
	for _, names := range [][2]string{{`"queries"`, `"documents"`}, {`"data_1"`, `"data_2"`}} {
		o := Options{Extra: extra("score_query_field", names[0], "score_documents_field", names[1])}
		if got, _ := encode(t, "vllm_score", o, score).input(); got != "q p1 p2" {
			t.Errorf("fields %v: %q", names, got)
		}
	}
	o := Options{Extra: extra("payload_template", `"{\"strange\": {{ text|tojson }}}"`)}
	if got, _ := encode(t, "template", o, turns(text("a b"))).input(); got != "a b" {
		t.Errorf("a body of unknown form counts %q", got)
	}
	if _, ids := encode(t, "sglang_generate",
		Options{Encode: func(dst []int, _ string) []int { return append(dst, 1, 2, 3) }},
		turns(text("x"))).input(); ids != 3 {
		t.Errorf("%d token ids", ids)
	}
}
