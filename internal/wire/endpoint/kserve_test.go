package endpoint

import (
	"encoding/json"
	"slices"
	"testing"

	"aiperf/internal/workload/dataset"
)

func kserveContext(maxTokens int, texts ...string) *Context {
	turn := &dataset.Turn{Texts: []dataset.Media{{Contents: texts}}}
	if maxTokens > 0 {
		turn.MaxTokens = &maxTokens
	}
	return &Context{Turns: []Turn{{Turn: turn}}}
}

func TestKServeBodies(t *testing.T) {
	for _, c := range []struct {
		name, api string
		extra     []dataset.Field
		max       int
		texts     []string
		want      string
	}{
		{"v1", "kserve_v1_predict", nil, 0, []string{"a<b"}, `{"instances":[{"text":"a<b"}]}`},
		{"v1 with names and parameters", "kserve_v1_predict",
			extra("v1_input_field", `"prompt"`, "v1_output_field", `"answer"`, "seed", "7"), 4, []string{"a"},
			`{"instances":[{"prompt":"a"}],"parameters":{"max_tokens":4,"seed":7}}`},
		{"v2", "kserve_v2_infer", nil, 0, []string{"a", "b"},
			`{"inputs":[{"name":"text_input","shape":[1],"datatype":"BYTES","data":["a b"]}]}`},
		{"v2 with names and parameters", "kserve_v2_infer",
			extra("v2_input_name", `"in"`, "v2_output_name", `"out"`, "max_tokens", "9", "temperature", "0.5"), 4,
			[]string{"a"},
			`{"inputs":[{"name":"in","shape":[1],"datatype":"BYTES","data":["a"]}],"outputs":[{"name":"out"}],"parameters":{"max_tokens":9,"temperature":0.5}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := New(c.api, Options{Model: "m", Extra: c.extra})
			if err != nil {
				t.Fatal(err)
			}
			body, err := e.Encode(kserveContext(c.max, c.texts...))
			if err != nil || string(body.Bytes) != c.want || !json.Valid(body.Bytes) || body.Stream {
				t.Errorf("%v\n%s\nwant\n%s", err, body.Bytes, c.want)
			}
		})
	}
	e, _ := New("kserve_v2_infer", Options{})
	two := kserveContext(0, "a")
	two.Turns = append(two.Turns, two.Turns[0])
	if _, err := e.Encode(two); err == nil {
		t.Error("two turns are encoded")
	}
}

func TestKServeReplies(t *testing.T) {
	for _, c := range []struct {
		name, api, reply string
		output, fault    string
	}{
		{"v1 fields", "kserve_v1_predict", `{"predictions":[{"output":"a"},{"output":"b"}]}`, "ab", ""},
		{"v1 strings", "kserve_v1_predict", `{"predictions":["a\n"]}`, "a\n", ""},
		{"v1 numbers", "kserve_v1_predict", `{"predictions":[3.5]}`, "3.5", ""},
		{"v1 without an answer", "kserve_v1_predict", `{"predictions":[]}`, "", ""},
		{"v2 by name", "kserve_v2_infer",
			`{"outputs":[{"name":"x","datatype":"BYTES","data":["no"]},{"name":"text_output","datatype":"BYTES","data":["yes"]}]}`, "yes", ""},
		{"v2 the only text", "kserve_v2_infer",
			`{"outputs":[{"name":"x","datatype":"BYTES","data":["a","b"]},{"name":"p","datatype":"FP32","data":[0.1]}]}`, "ab", ""},
		{"v2 ambiguous", "kserve_v2_infer",
			`{"outputs":[{"name":"x","datatype":"BYTES","data":["a"]},{"name":"y","datatype":"BYTES","data":["b"]}]}`,
			"", ""},
		{"an error", "kserve_v2_infer", `{"error":"unknown model"}`, "", "unknown model"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := New(c.api, Options{})
			if err != nil {
				t.Fatal(err)
			}
			d := e.NewDecoder()
			heard := 0
			d.OnFirstContent(func() { heard++ })
			d.Body("application/json", false, []byte(c.reply), 9)
			r := d.Reply()
			want := []int64(nil)
			if c.output != "" {
				want = []int64{9}
			}
			fault := ""
			if r.Err != nil {
				fault = r.Err.Message
			}
			if string(r.Output) != c.output || !slices.Equal(r.ContentNS, want) || heard != len(want) ||
				fault != c.fault || !r.Finished {
				t.Errorf("%+v, heard %d, fault %q", r, heard, fault)
			}
			d.Release()
		})
	}
}

func FuzzKServeReplies(f *testing.F) {
	f.Add([]byte(`{"outputs":[{"name":"text_output","datatype":"BYTES","data":["a"]}],"predictions":["b",{"output":"c"}],"usage":{"prompt_tokens":1}}`))
	f.Add([]byte(`{"error":{"message":"x"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, api := range []string{"kserve_v1_predict", "kserve_v2_infer"} {
			e, _ := New(api, Options{})
			d := e.NewDecoder()
			d.Body("application/json", false, data, 1)
			if r := d.Reply(); !json.Valid(data) && len(r.ContentNS) > 0 {
				t.Fatalf("%q is content", data)
			}
		}
	})
}
