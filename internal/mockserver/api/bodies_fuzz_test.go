package api

import (
	"testing"
	"unicode/utf8"
)

// FuzzBodies reads bodies of any form for every API. Whatever comes, a body is read or refused, and what
// was read is text and counts that are not negative.
func FuzzBodies(f *testing.F) {
	const kind = "multipart/form-data; boundary=B"
	form := ""
	for _, part := range []string{"model\"\r\n\r\nm", "prompt\"\r\n\r\np", "n\"\r\n\r\n2",
		"file\"; filename=\"a.wav\"\r\n\r\nRIFF", "image\"; filename=\"i.png\"\r\n\r\nx",
		"response_format\"\r\n\r\ntext"} {
		form += "--B\r\nContent-Disposition: form-data; name=\"" + part + "\r\n"
	}
	form += "--B--\r\n"
	for _, body := range []string{
		chatBody, `{"model":"m","input":["a","b"],"dimensions":4,"encoding_format":"base64"}`,
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
		f.Add(uint8(Transcriptions), []byte(body), kind)
		f.Add(uint8(ImageEdits), []byte(body), kind)
	}
	f.Fuzz(func(t *testing.T, which uint8, body []byte, contentType string) {
		a := API(int(which) % len(apis))
		var r Request
		a, err := r.Parse(a, nil, contentType, body)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("a refusal without a reason")
			}
			return
		}
		if !utf8.Valid(r.Model) || !utf8.Valid(r.text) && utf8.Valid(body) {
			t.Fatalf("model %q, text %q of %q", r.Model, r.text, body)
		}
		if r.Inputs < 0 || r.n < 0 || r.ids < 0 || r.Limit() < 0 || r.seconds < 0 || len(r.passages) > len(body) {
			t.Fatalf("%+v", r)
		}
		p := newPlan(a, &r, 3, 0, 7)
		if p.Tokens() < 0 || apis[a].output == noTokens && p.Tokens() != 0 {
			t.Fatalf("plan %+v", p)
		}
	})
}
