package endpoint

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"unicode/utf8"

	"aiperf/internal/wire/api"
)

// apiSeeds are documents of all APIs; each decoder is fed all of them.
func apiSeeds() []string {
	return append(seeds(),
		`{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.1]}],"usage":{"prompt_tokens":3}}`,
		`{"results":[{"index":1,"relevance_score":0.5}],"meta":{"tokens":{"input_tokens":7}}}`,
		`[{"index":1,"score":0.5}]`, `{"rankings":[{"index":1,"logit":0.5}]}`,
		`{"index":1,"token":{"id":1,"text":"a"},"generated_text":"ab"}`, `[{"generated_text":"a"}]`,
		`{"error":"x","error_type":"y"}`,
		`{"object":"response","id":"r","store":true,"output":[{"type":"message","content":[{"type":"output_text","text":"T"}]},{"type":"function_call","name":"f","arguments":"{}"}]}`,
		`{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Hel"}`,
		`{"type":"response.output_text.done","text":"Hello"}`,
		`{"type":"response.output_item.done","item":{"type":"message","content":[]}}`,
		`{"type":"response.failed","response":{"error":{"code":"x"}}}`,
		`{"type":"message","content":[{"type":"thinking","thinking":"R","signature":"s"},{"type":"tool_use","id":"i","name":"f","input":{"a":1}}],"usage":{"input_tokens":1}}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"i","name":"f"}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"T"}}`,
		`{"type":"message_delta","delta":{"stop_reason":"x"},"usage":{"output_tokens":7}}`,
		`{"created":1,"data":[{"b64_json":"x"}]}`, `{"type":"image_generation.completed","b64_json":"x"}`,
		`{"text":"hello"}`, `{"content":"a"}`,
		`{"output_ids":[1,2],"meta_info":{"prompt_tokens":4,"finish_reason":{"type":"stop"}}}`,
		`{"id":"a","status":"completed","inference_time_s":1.5,"peak_memory_mb":2}`,
		`{"response":["a","b"]}`, `[[1,2],[3]]`, `"text"`, `{"choices":[{"delta":{"content":"c"}}]}`)
}

// FuzzDecoders feeds every decoder two events and a body of any form. Whatever comes, the instants must
// be those of the calls, a reply must be text, a message to repeat must be JSON, and a decoder that was
// released must remember nothing.
func FuzzDecoders(f *testing.F) {
	all := apiSeeds()
	for i := range all {
		f.Add(uint8(i), []byte(all[i]), []byte(all[(i+1)%len(all)]))
		f.Add(uint8(i*7), []byte(all[i]), []byte(all[i]))
	}
	var names []string
	for _, name := range api.Names() {
		if _, built := api.Lookup(name); built {
			names = append(names, name)
		}
	}
	endpoints := make([]Endpoint, len(names))
	for i, name := range names {
		var err error
		if endpoints[i], err = New(name, Options{Extra: extra("payload_template", `"{}"`)}); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, one, two []byte) {
		e := endpoints[int(which)%len(endpoints)]
		name := e.Descriptor().Name
		decode := func() string {
			d := e.NewDecoder()
			defer d.Release()
			firsts := 0
			d.OnFirstContent(func() { firsts++ })
			d.Event(nil, bytes.Clone(one), 1)
			d.Event([]byte("x"), bytes.Clone(two), 2)
			d.Body("application/json", false, bytes.Clone(one), 3)
			r := d.Reply()
			if !slices.IsSorted(r.ContentNS) || len(r.ContentNS) > 3 || len(r.ContentNS) > 0 &&
				(r.ContentNS[0] < 1 || r.ContentNS[len(r.ContentNS)-1] > 3) {
				t.Fatalf("%s: content at %v", name, r.ContentNS)
			}
			if firsts > 1 || (firsts == 1) != (len(r.ContentNS) > 0) {
				t.Fatalf("%s: %d first contents, %d in all", name, firsts, len(r.ContentNS))
			}
			if (len(r.Output) > 0 || len(r.Reasoning) > 0) && len(r.ContentNS) == 0 {
				t.Fatalf("%s: text %q %q without content", name, r.Output, r.Reasoning)
			}
			message := r.AppendAssistant(nil)
			if wrapped := append(append([]byte("["), message...), ']'); utf8.Valid(one) && utf8.Valid(two) &&
				!json.Valid(wrapped) {
				t.Fatalf("%s: the repeated reply is not JSON: %s", name, message)
			}
			return told(r) + string(message)
		}
		if first, again := decode(), decode(); first != again {
			t.Fatalf("%s: a used decoder reads otherwise:\n%s\n%s", name, first, again)
		}
	})
}

// FuzzVideoJob follows jobs whose replies are of any form: it must end in a step that says what next.
func FuzzVideoJob(f *testing.F) {
	f.Add("http://h/v1/videos", []byte(`{"id":"a/b"}`), []byte(`{"status":"completed","url":"/x"}`))
	f.Add("http://h/v1/videos?k=v", []byte(`{"id":"a"}`), []byte(`{"status":"failed","error":{"message":"m"}}`))
	f.Add("", []byte(`x`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, url string, one, two []byte) {
		j := &videoJob{options: &Options{DownloadVideo: true, PollInterval: 1}}
		for _, reply := range [][]byte{one, two, two} {
			s := j.Step(url, reply)
			if s.Err != nil && (s.URL != "" || s.Err.Message == "") {
				t.Fatalf("%+v: %+v", s, s.Err)
			}
			if s.URL == "" {
				return
			}
			url = s.URL
		}
	})
}
