package mockserver

import (
	"testing"
	"unicode/utf8"
)

// FuzzBodies reads bodies of any form for every API. Whatever comes, a body is read or refused, and what
// was read is text and counts that are not negative.
func FuzzBodies(f *testing.F) {
	form, kind := form("model", "m", "prompt", "p", "n", "2", "file@a.wav", "RIFF", "image@i.png", "x",
		"response_format", "text")
	for _, body := range []string{
		chat("x", true), `{"model":"m","input":["a","b"],"dimensions":4,"encoding_format":"base64"}`,
		`{"input":[{"type":"function_call","name":"f","arguments":"{}"},{"type":"function_call_output","output":"x"}]}`,
		`{"messages":[{"role":"user","content":[{"type":"tool_use","name":"f","input":{"a":1}},{"type":"tool_result","content":"x"},{"type":"image"}]}],"system":[{"text":"s"}],"max_tokens":5}`,
		`{"inputs":"x","parameters":{"max_new_tokens":4,"ignore_eos":true}}`,
		`{"input_ids":[1,2],"sampling_params":{"min_new_tokens":1}}`,
		`{"query":{"text":"q"},"passages":[{"text":"a"}]}`, `{"query":"q","documents":["a"]}`,
		`{"prompt":"x","n":2,"stream":true}`, `{"input":[{"type":"image_url","url":"x"}]}`, form,
	} {
		for a := range apis {
			f.Add(uint8(a), []byte(body), "")
		}
		f.Add(uint8(apiTranscriptions), []byte(body), kind)
		f.Add(uint8(apiImageEdits), []byte(body), kind)
	}
	f.Fuzz(func(t *testing.T, which uint8, body []byte, contentType string) {
		a := api(int(which) % len(apis))
		r := request{format: contentType}
		if err := r.parse(a, body); err != nil {
			if err.status < 400 || err.status > 499 || err.message == "" {
				t.Fatalf("refused with %d %q", err.status, err.message)
			}
			return
		}
		if !utf8.Valid(r.model) || !utf8.Valid(r.text) && utf8.Valid(body) {
			t.Fatalf("model %q, text %q of %q", r.model, r.text, body)
		}
		if r.inputs < 0 || r.n < 0 || r.ids < 0 || r.limit() < 0 || r.seconds < 0 || len(r.passages) > len(body) {
			t.Fatalf("%+v", r)
		}
		p := newPlan(a, &r, 3, 0, 7)
		if p.tokens() < 0 || apis[a].output == noTokens && p.tokens() != 0 {
			t.Fatalf("plan %+v", p)
		}
	})
}
