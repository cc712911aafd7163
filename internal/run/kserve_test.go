package run

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestKServeRuns(t *testing.T) {
	t.Parallel()
	for api, want := range map[string]struct{ path, reply string }{
		"kserve_v1_predict": {"/v1/models/org%2Fm:predict", `{"predictions":[{"output":"one two"}]}`},
		"kserve_v2_infer": {"/v2/models/org%2Fm/infer",
			`{"model_name":"m","outputs":[{"name":"text_output","datatype":"BYTES","shape":[1],"data":["one two"]}]}`},
		"kserve_chat": {"/openai/v1/chat/completions",
			`{"object":"chat.completion","choices":[{"message":{"content":"one two"}}]}`},
	} {
		t.Run(api, func(t *testing.T) {
			paths := make(chan string, 100)
			addr := listen(t, "tcp", "127.0.0.1:0", nil, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				paths <- r.URL.EscapedPath()
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, want.reply)
			}), http1)
			dir := t.TempDir()
			cfg := resolve(t, dir, "http://"+addr.String(), "--endpoint-type", api, "--isl", "8", "--osl", "4",
				"--request-count", "2")
			cfg.Models = []string{"org/m"}
			out, err := execute(t, cfg, Options{})
			if err != nil || out.Result.Counts.Successes != 2 {
				t.Fatalf("%v %+v", err, out)
			}
			if got := <-paths; got != want.path {
				t.Errorf("asked %s, want %s", got, want.path)
			}
			doc := summaryOf(t, dir)
			if at(doc, "input_sequence_length", "avg") != 8.0 || at(doc, "output_sequence_length", "avg") != 2.0 {
				t.Errorf("lengths %v and %v", at(doc, "input_sequence_length", "avg"),
					at(doc, "output_sequence_length", "avg"))
			}
		})
	}
	if _, err := execute(t, resolve(t, t.TempDir(), "http://127.0.0.1:1", "--model", "b", "--endpoint-type",
		"kserve_v2_infer"), Options{}); err == nil || !strings.Contains(err.Error(), "one --model") {
		t.Errorf("two models in a path: %v", err)
	}
}
