package run

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/jsonscan"
	"aiperf/internal/view/runlog"
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
				if r.Method == http.MethodPost { // not that for the model's metadata
					paths <- r.URL.EscapedPath()
				}
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
	for _, custom := range []string{"/v2/models/{model}/infer", "/own"} {
		e := &target{base: newBase(resolve(t, t.TempDir(), "http://127.0.0.1:1", "--endpoint-type", "kserve_v2_infer",
			"--custom-endpoint", custom), Options{Log: runlog.New(runlog.Options{Console: io.Discard})}, clock.New())}
		want := "http://127.0.0.1:1" + strings.ReplaceAll(custom, "{model}", "mock-model")
		if err := e.bind(t.Context(), nil); err != nil || e.urls[0] != want {
			t.Errorf("%s: %v, %v", custom, e.urls, err)
		}
	}
	if _, err := execute(t, resolve(t, t.TempDir(), "http://127.0.0.1:1", "--model", "b", "--endpoint-type",
		"kserve_v2_infer"), Options{}); err == nil || !strings.Contains(err.Error(), "one --model") {
		t.Errorf("two models in a path: %v", err)
	}
}

// tritonModel answers as Triton does for a model with a batch dimension and a required input for the length: requests
// of another form are refused. It is ready from the instant of readyAt on.
type tritonModel struct {
	readyAt  time.Time
	requests atomic.Int64
	lengths  chan string
}

func (m *tritonModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	switch path := r.URL.Path; {
	case time.Now().Before(m.readyAt):
		w.WriteHeader(http.StatusServiceUnavailable)
	case path == "/v2/models/mock-model":
		io.WriteString(w, `{"name":"m","inputs":[{"name":"text_input","datatype":"BYTES","shape":[-1,1]},`+
			`{"name":"max_tokens","datatype":"INT32","shape":[-1,1]}],"outputs":[]}`)
	case path == "/v2/models/mock-model/config":
		io.WriteString(w, `{"name":"m","input":[{"name":"text_input","optional":false},{"name":"max_tokens","optional":false}]}`)
	case path == "/v2/models/mock-model/infer":
		m.requests.Add(1)
		var length string
		for t := range jsonscan.Elements(jsonscan.Find(body, "inputs")) {
			if string(jsonscan.Find(t, "shape")) != "[1,1]" {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"error":"unexpected shape for input %s"}`, jsonscan.FindText(t, "name"))
				return
			}
			if jsonscan.FindText(t, "name") == "max_tokens" {
				length = string(jsonscan.Find(t, "data"))
			}
		}
		m.lengths <- length
		io.WriteString(w, `{"outputs":[{"name":"text_output","datatype":"BYTES","shape":[1,1],"data":["one two"]}]}`)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func TestTensorsHaveTheFormOfTheModelsMetadata(t *testing.T) {
	t.Parallel()
	m := &tritonModel{lengths: make(chan string, 100), readyAt: time.Now().Add(300 * time.Millisecond)}
	url := "http://" + listen(t, "tcp", "127.0.0.1:0", nil, m, http1).String()
	flags := []string{"--endpoint-type", "kserve_v2_infer", "--isl", "8", "--request-count", "3", "--concurrency", "1"}
	dir := t.TempDir()
	out, err := execute(t, resolve(t, dir, url, append(flags, "--osl", "4", "--osl-stddev", "2", "--random-seed", "1",
		"--wait-for-model-timeout", "30", "--wait-for-model-mode", "both", "--wait-for-model-interval", "0.1")...), Options{})
	if err != nil || out.Result.Counts.Successes != 3 {
		t.Fatalf("%v %+v", err, out)
	}
	inputs := strings.Join(strings.Fields(string(fileOf(t, dir, "inputs.json"))), "")
	for range 3 {
		if want := `"shape":[1,1],"datatype":"INT32","data":` + <-m.lengths; !strings.Contains(inputs, want) {
			t.Errorf("%s is not in inputs.json: %s", want, inputs)
		}
	}
	refused := &tritonModel{}
	url = "http://" + listen(t, "tcp", "127.0.0.1:0", nil, refused, http1).String()
	if _, err := execute(t, resolve(t, t.TempDir(), url, flags...), Options{}); err == nil ||
		!strings.Contains(err.Error(), "max_tokens (INT32 [-1 1])") || !strings.Contains(err.Error(), "--osl N") {
		t.Errorf("a model that needs a length: %v", err)
	}
	if n := refused.requests.Load(); n != 0 {
		t.Errorf("%d requests left before the refusal", n)
	}
}
