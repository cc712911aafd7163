package run

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/mockserver"
	"aiperf/internal/result/report/console"
	"aiperf/internal/workload/dataset"
)

// asked is a request as the mock server's record tells it.
type asked struct {
	Endpoint string
	Headers  json.RawMessage
	Body     string
	Arrival  int64 `json:"arrival_ns"`
}

// recorded serves with a record of all requests; requests reads it after the run.
func recorded(t *testing.T, o mockserver.Options) (url string, requests func() []asked) {
	t.Helper()
	o.RecordRequests, o.RecordBodies = filepath.Join(t.TempDir(), "requests.jsonl"), true
	url, stop := serveUntil(t, o)
	return url, func() []asked {
		t.Helper()
		stop()
		file, err := os.Open(o.RecordRequests)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		var list []asked
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var a asked
			if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
				t.Fatal(err)
			}
			list = append(list, a)
		}
		// Lines are written once a reply has ended: that of a session's next turn may be written first.
		slices.SortStableFunc(list, func(a, b asked) int { return cmp.Compare(a.Arrival, b.Arrival) })
		return list
	}
}

func conversation(mode dataset.ContextMode, turns ...string) *dataset.Dataset {
	c := dataset.Conversation{SessionID: "s", ContextMode: mode}
	for _, text := range turns {
		c.Turns = append(c.Turns, dataset.Turn{Texts: texts("", text)})
	}
	return &dataset.Dataset{Sampling: "sequential", Conversations: dataset.Memory{c}}
}

// Each API repeats the history in its own form; a server that keeps replies is referred to instead.
func TestTurnsOfAConversationCarryWhatWasSaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		endpoint string
		args     []string
		want     string // in the second request
		lacks    string
	}{
		{"messages", []string{"--streaming"}, `"role":"assistant","content":"`, ""},
		{"messages", nil, `"role":"assistant","content":"`, ""},
		{"responses", []string{"--streaming"},
			`{"role":"user","content":"one two three four","type":"message"},{"id":"msg_1","type":"message","role":"assistant"`, ""},
		{"responses", nil, `{"id":"msg_1","type":"message","role":"assistant"`, "previous_response_id"},
		{"responses", []string{"--extra-inputs", "store:true"}, `"previous_response_id":"resp_`, "one two three four"},
		{"solido_rag", nil, `"query":["five six seven eight"]`, "one two"},
		{"sglang_generate", []string{"--streaming"}, `"input_ids":[690,1920,`, ""},
		{"template", []string{"--custom-endpoint", "/v1/custom-multimodal", "--extra-inputs",
			`{"payload_template":"{\"prompt\":[{% for t in turns %}{{ t.role|tojson }}{{ \",\" if not loop.last }}{% endfor %}]}"}`}, `"prompt":["user","assistant","user"]`, ""},
	} {
		t.Run(c.endpoint+strings.Join(c.args, ""), func(t *testing.T) {
			t.Parallel()
			url, requests := recorded(t, mockserver.Options{Fast: true})
			args := append([]string{"--endpoint-type", c.endpoint, "--num-sessions", "1"}, c.args...)
			outcome, log, err := executeOn(t, conversation("", "one two three four", "five six seven eight"),
				t.TempDir(), url, args...)
			if err != nil || outcome.Result.Counts.Successes != 2 {
				t.Fatalf("%v %s", err, log)
			}
			list := requests()
			if len(list) != 2 || !strings.Contains(list[1].Body, c.want) || c.lacks != "" &&
				strings.Contains(list[1].Body, c.lacks) {
				t.Errorf("requests %v\nwant %s, not %q", list, c.want, c.lacks)
			}
		})
	}
}

// Turns of a session share an id and have one each; a reply that failed, content or not, does not belong to
// what was said.
func TestTrapFailedTurnLeavesNoReply(t *testing.T) {
	t.Parallel()
	var roles, sessions, requests []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Messages []struct{ Role string } }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		list := ""
		for _, m := range asked.Messages {
			list += m.Role[:1]
		}
		roles = append(roles, list)
		sessions, requests = append(sessions, r.Header.Get("X-Correlation-Id")),
			append(requests, r.Header.Get("X-Request-Id"))
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"object":"chat.completion.chunk","choices":[{"delta":{"content":"a"}}]}`+"\n\n")
		if len(roles) == 2 {
			fmt.Fprint(w, `data: {"error":{"message":"no memory"}}`+"\n\n")
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
	defer s.Close()
	outcome, log, err := executeOn(t, conversation("", "one", "two", "three"), t.TempDir(), s.URL, "--streaming",
		"--num-sessions", "1")
	if err != nil || outcome.Result.Counts.Successes != 2 || outcome.Result.Counts.Errors != 1 {
		t.Fatalf("%v %s", err, log)
	}
	if got := strings.Join(roles, " "); got != "u uau uauu" {
		t.Errorf("roles %s", got)
	}
	if slices.Sort(requests); sessions[0] == "" || len(slices.Compact(sessions)) != 1 ||
		len(slices.Compact(requests)) != 3 {
		t.Errorf("sessions %q, requests %q", sessions, requests)
	}
}

// APIs without a place for a history get each turn of a conversation alone, and the log says so.
func TestSingleTurnTypesSendTheTurnsOfConversationsAlone(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{Fast: true})
	for _, name := range []string{"completions", "embeddings", "huggingface_generate", "nim_embeddings"} {
		dir := t.TempDir()
		_, log, err := executeOn(t, conversation("", "a", "b"), dir, url, "--endpoint-type", name, "--request-count", "2",
			"--export-level", "raw")
		if err != nil || !strings.Contains(log, "Each turn is sent alone") {
			t.Errorf("%s: %v %s", name, err, log)
			continue
		}
		var bodies []string
		for line := range bytes.Lines(fileOf(t, dir, "profile_export_raw.jsonl")) {
			var r struct{ Payload json.RawMessage }
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, string(r.Payload))
		}
		if len(bodies) != 2 || strings.Contains(bodies[0], `"b"`) || strings.Contains(bodies[1], `"a"`) {
			t.Errorf("%s: %s", name, bodies)
		}
	}
	// Turns that stand for themselves are no history.
	outcome, log, err := executeOn(t, conversation(dataset.MessageArrayWithResponses, "a", "b"), t.TempDir(), url,
		"--endpoint-type", "embeddings", "--request-count", "2")
	if err != nil || outcome.Result.Counts.Successes != 2 {
		t.Errorf("%v %s", err, log)
	}
}

// The messages API has a header of its own for the key, and a version that the user may set. The key
// appears nowhere.
func TestTrapMessagesHeadersAndSecrets(t *testing.T) {
	t.Parallel()
	const key = "sk-very-secret-0123456789"
	for _, c := range []struct {
		args    []string
		version string
	}{{nil, "2023-06-01"}, {[]string{"--header", "Anthropic-Version:2099-01-01"}, "2099-01-01"}} {
		var seen http.Header
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seen = r.Header
			fmt.Fprint(w, `{"type":"message","content":[{"type":"text","text":"hi"}],"usage":{"input_tokens":1,"output_tokens":1}}`)
		}))
		dir := t.TempDir()
		args := append([]string{"--endpoint-type", "messages", "--api-key", key, "--export-level", "raw",
			"--export-http-trace", "--request-count", "1"}, c.args...)
		_, log, err := executeOn(t, conversation("", "a"), dir, s.URL, args...)
		s.Close()
		if err != nil {
			t.Fatal(err)
		}
		if seen.Get("x-api-key") != key || seen.Get("Authorization") != "" ||
			!slices.Equal(seen.Values("anthropic-version"), []string{c.version}) {
			t.Errorf("headers %v", seen)
		}
		err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if bytes.Contains(data, []byte(key)) {
				t.Errorf("the key stands in %s", path)
			}
			return err
		})
		if err != nil || strings.Contains(log, key) {
			t.Errorf("%v, log %s", err, log)
		}
	}
}

// Streaming is switched off for a type that cannot: the request does not ask for events and no metric of
// streams exists.
func TestTrapStreamingOnATypeThatCannot(t *testing.T) {
	t.Parallel()
	url, requests := recorded(t, mockserver.Options{Fast: true})
	dir := t.TempDir()
	if _, _, err := executeOn(t, conversation("", "a b c"), dir, url, "--endpoint-type", "embeddings", "--streaming",
		"--request-count", "1"); err != nil {
		t.Fatal(err)
	}
	if list := requests(); len(list) != 1 || !bytes.Contains(list[0].Headers, []byte(`application/json`)) ||
		bytes.Contains(list[0].Headers, []byte("event-stream")) {
		t.Errorf("requests %v", list)
	}
	if text := string(fileOf(t, dir, "profile_export_console.txt")); strings.Contains(text, "cached tokens") {
		t.Errorf("embeddings have no cache of prefixes:\n%s", text)
	}
	for tag := range summaryOf(t, dir) {
		if strings.Contains(tag, "token") && !strings.HasPrefix(tag, "usage_prompt") &&
			!strings.HasPrefix(tag, "total_usage_prompt") && tag != "input_token_throughput" ||
			strings.HasPrefix(tag, "inter_") {
			t.Errorf("%s exists", tag)
		}
	}
}

// A type without tokens loads no tokenizer and has no lengths at all.
func TestTrapTypesWithoutTokensLoadNoTokenizer(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{Fast: true})
	for _, c := range apiCases() {
		if c.name != "image_retrieval" && c.name != "audio_transcription" {
			continue
		}
		dir := t.TempDir()
		if name := resolveBare(t, dir, url, "--endpoint-type", c.name).Tokenizer.Name; name != "" {
			t.Errorf("%s: tokenizer %q", c.name, name)
		}
		if _, log, err := executeOn(t, one(c.turn), dir, url, "--endpoint-type", c.name, "--request-count",
			"1"); err != nil {
			t.Fatalf("%v %s", err, log)
		}
		for tag := range summaryOf(t, dir) {
			if strings.Contains(tag, "sequence_length") || strings.Contains(tag, "isl") ||
				strings.Contains(tag, "osl") {
				t.Errorf("%s: %s exists", c.name, tag)
			}
		}
	}
}

// Sessions take the servers in turn and stay with theirs; the metrics of every server are read.
func TestTrapSessionsStayWithTheirServer(t *testing.T) {
	t.Parallel()
	one, atOne := recorded(t, mockserver.Options{Fast: true})
	two, atTwo := recorded(t, mockserver.Options{Fast: true})
	w := watch(t, one+","+two, Options{}, "--num-sessions", "2", "--session-turns-mean", "3", "--concurrency", "2")
	seen := map[string]bool{}
	for _, list := range [][]asked{atOne(), atTwo()} {
		var sessions []string
		for _, r := range list {
			var h struct {
				Session string `json:"x-correlation-id"`
			}
			if err := json.Unmarshal(r.Headers, &h); err != nil {
				t.Fatal(err)
			}
			sessions = append(sessions, h.Session)
		}
		if len(sessions) != 3 || sessions[0] == "" || seen[sessions[0]] ||
			len(slices.Compact(slices.Clone(sessions))) != 1 {
			t.Errorf("a server saw the sessions %q, want three requests of one", sessions)
			continue
		}
		seen[sessions[0]] = true
	}
	if got := w.export(t).Summary.Successful; len(got) != 2 {
		t.Errorf("metrics of %v", got)
	}
}

// videoServer plays the states of a job.
func videoServer(t *testing.T, submit string, states ...string) (url string, polls func() int) {
	var mu sync.Mutex
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodPost {
			fmt.Fprint(w, submit)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprint(w, states[min(n, len(states)-1)])
		n++
	}))
	t.Cleanup(s.Close)
	return s.URL, func() int { mu.Lock(); defer mu.Unlock(); return n }
}

// A video is asked for until it is there; the record holds the first and the last reply.
func TestTrapVideoIsPolledFor(t *testing.T) {
	t.Parallel()
	turn := dataset.Turn{Texts: texts("", "a cat")}
	url, polls := videoServer(t, `{"id":"v","status":"queued"}`, `{"status":"queued"}`, `{"status":"in_progress"}`,
		`{"status":"completed","inference_time_s":1.5,"peak_memory_mb":2048}`)
	dir := t.TempDir()
	outcome, log, err := executeOn(t, one(turn), dir, url, "--endpoint-type", "video_generation", "--request-count",
		"1", "--export-level", "raw")
	if err != nil || outcome.Result.Counts.Successes != 1 || polls() != 3 {
		t.Fatalf("%v, %d polls\n%s", err, polls(), log)
	}
	r := records(t, dir)[0]
	if ms, _ := metric(r, "request_latency"); ms < 200 {
		t.Errorf("latency %v ms", ms)
	}
	if ms, _ := metric(r, "video_inference_time"); ms != 1500 {
		t.Errorf("inference time %v ms", ms)
	}
	if mb, _ := metric(r, "video_peak_memory"); mb != 2048 {
		t.Errorf("peak memory %v MB", mb)
	}
	var raw struct{ Responses []any }
	if err := json.Unmarshal(bytes.TrimSpace(fileOf(t, dir, "profile_export_raw.jsonl")), &raw); err != nil ||
		len(raw.Responses) != 2 {
		t.Errorf("%v, %d responses", err, len(raw.Responses))
	}
}

func TestTrapVideoFailures(t *testing.T) {
	t.Parallel()
	turn := dataset.Turn{Texts: texts("", "a cat")}
	for _, c := range []struct {
		submit, state, args string
		kind, message       string
		code                float64
		polls               int
	}{
		{`{"status":"queued"}`, `{}`, "", "VideoGenerationError", "No job ID returned: ", 500, 0},
		{`{"id":"v"}`, `{"status":"failed","error":{"message":"no memory"}}`, "", "VideoGenerationError",
			"Video generation failed: no memory", 500, 1},
		{`{"id":"v"}`, `{"status":"queued"}`, "--request-timeout-seconds 1.5", "TimeoutError",
			"Video generation timed out after 1.5s", 504, 2},
		{`{"id":"v"}`, `{"status":"completed","url":"http://127.0.0.1:1/v.mp4"}`, "--download-video-content",
			"VideoDownloadError", "127.0.0.1", 0, 1},
		{`{"id":"v"}`, `oops`, "", "VideoGenerationError", "oops", 500, 1},
	} {
		url, polls := videoServer(t, c.submit, c.state)
		dir := t.TempDir()
		args := append([]string{"--endpoint-type", "video_generation", "--request-count", "1"}, arguments(c.args)...)
		if _, log, err := executeOn(t, one(turn), dir, url, args...); err != nil {
			t.Fatalf("%v %s", err, log)
		}
		e := at(records(t, dir)[0], "error")
		if at(e, "type") != c.kind || c.code != 0 && at(e, "code") != c.code ||
			!strings.Contains(fmt.Sprint(at(e, "message")), c.message) || polls() < c.polls || c.polls == 0 &&
			polls() > 0 {
			t.Errorf("%s %s: %v after %d polls", c.submit, c.state, e, polls())
		}
	}
}

func TestVideoIsDownloadedOnRequest(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{VideoLatency: 5 * time.Millisecond})
	turn := dataset.Turn{Texts: texts("", "a cat")}
	for _, form := range []string{"application/json", "multipart/form-data"} {
		outcome, log, err := executeOn(t, one(turn), t.TempDir(), url, "--endpoint-type", "video_generation",
			"--request-count", "2",
			"--download-video-content", "--request-content-type", form)
		if err != nil || outcome.Result.Counts.Successes != 2 {
			t.Fatalf("%s: %v %s", form, err, log)
		}
	}
}

// An endpoint that takes images only as part of the request gets them so; each address is asked once.
func TestImagesAreFetchedForInlineEndpoints(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	fetched := map[string]int{}
	images := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		fetched[r.URL.Path]++
		mu.Unlock()
		if r.URL.Path == "/missing" {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprint(w, "\x89PNG\r\n\x1a\n0000")
	}))
	defer images.Close()
	url, requests := recorded(t, mockserver.Options{Fast: true})
	turn := func(paths ...string) dataset.Turn {
		var list []string
		for _, p := range paths {
			list = append(list, images.URL+p)
		}
		return dataset.Turn{Images: []dataset.Media{{Contents: list}}}
	}
	outcome, log, err := executeOn(t, one(turn("/a", "/b", "/a")), t.TempDir(), url, "--endpoint-type",
		"image_retrieval", "--request-count", "2")
	if err != nil || outcome.Result.Counts.Successes != 2 {
		t.Fatalf("%v %s", err, log)
	}
	if fetched["/a"] != 1 || fetched["/b"] != 1 {
		t.Errorf("fetched %v", fetched)
	}
	if list := requests(); strings.Count(list[0].Body, "data:image/png;base64,") != 3 ||
		strings.Contains(list[0].Body, "http://") {
		t.Errorf("body %s", list[0].Body)
	}
	if _, _, err = executeOn(t, one(turn("/missing")), t.TempDir(), url, "--endpoint-type",
		"image_retrieval"); err == nil || !strings.Contains(err.Error(), "/missing") ||
		!strings.Contains(err.Error(), "404") {
		t.Errorf("a missing image: %v", err)
	}
}

// The main table is named after what is measured.
func TestConsoleTitles(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{Fast: true})
	for _, c := range apiCases() {
		want := map[string]string{
			"embeddings": "Embeddings Metrics", "chat_embeddings": "Embeddings Metrics",
			"nim_embeddings": "NIM Embeddings Metrics", "cohere_rankings": "Ranking Metrics",
			"voyage_rankings": "Ranking Metrics", "vllm_score": "Score Metrics", "vllm_pooling": "Pooling Metrics",
			"vllm_classify":   "Classification Metrics",
			"hf_tei_rankings": "Ranking Metrics", "nim_rankings": "Rankings Metrics",
			"image_generation": "Image Generation Metrics", "image_edit": "Image Edit Metrics",
			"video_generation": "Video Generation Metrics", "image_retrieval": "Image Retrieval Metrics",
			"audio_transcription": "Audio Transcription Metrics", "audio_speech": "Audio Speech Metrics", "solido_rag": "SOLIDO RAG Metrics",
			"kserve_v2_embeddings": "Embeddings Metrics", "kserve_v2_rankings": "Rankings Metrics",
			"kserve_v2_images": "Image Generation Metrics",
		}[c.name]
		if want == "" {
			want = "LLM Metrics"
		}
		outcome, _ := c.run(t, url, arguments(c.modes()[0])...)
		o := outcome.Console
		o.Width = 120
		var text strings.Builder
		if err := console.Render(&text, &outcome.Result, o); err != nil || !strings.Contains(text.String(), "| "+want) {
			t.Errorf("%s: %v, no %q in\n%s", c.name, err, want, text.String())
		}
	}
}

// However a request fails, the time that it took is known, and is in no latency of replies.
func TestEveryFailureHasItsLatency(t *testing.T) {
	t.Parallel()
	faulty := func(fault string) func(*testing.T) string {
		return func(t *testing.T) string {
			return serve(t, mockserver.Options{Fault: fault, TTFT: time.Millisecond, ITL: time.Millisecond})
		}
	}
	nobody := func(*testing.T) string { return closedPort }
	for _, c := range []struct {
		name    string
		server  func(*testing.T) string
		args    string
		kind    string
		leastMS float64
	}{
		{"refused connection", nobody, "", "ClientConnectorError", 0},
		{"refusal", faulty("delay_ms=30;status=429"), "", "Too Many Requests", 30},
		{"timed out", faulty("delay_ms=5000"), "--request-timeout-seconds 0.05", "TimeoutError", 50},
		{"cancelled", faulty("delay_ms=5000"), "--request-cancellation-rate 100 --request-cancellation-delay 0.03",
			"RequestCancellationError", 30},
		{"cut", faulty("delay_ms=30;cut_after_events=1;cut_mid_event"), "--streaming", "ClientPayloadError", 30},
		{"error inside", faulty("delay_ms=30;error_200"), "", "", 30},
		{"no content", func(t *testing.T) string {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				time.Sleep(30 * time.Millisecond)
				fmt.Fprint(w, "{}")
			}))
			t.Cleanup(s.Close)
			return s.URL
		}, "", "InvalidInferenceResultError", 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			_, log, err := executeOn(t, conversation("", "a"), dir, c.server(t),
				append([]string{"--request-count", "2"}, arguments(c.args)...)...)
			if err != nil {
				t.Fatalf("%v %s", err, log)
			}
			sum := summaryOf(t, dir)
			group := at(sum["error_summary"].([]any)[0], "error_details")
			if kind := at(group, "type"); c.kind != "" && kind != c.kind {
				t.Errorf("error %v", group)
			}
			least, _ := at(sum, "error_latency", "min").(float64)
			most, _ := at(sum, "error_latency", "max").(float64)
			if count := at(sum, "error_latency", "count"); count != 2.0 || least <= c.leastMS || most > 4000 {
				t.Errorf("%v of 2 failures took %v to %v ms, want more than %v", count, least, most, c.leastMS)
			}
			if sum["request_latency"] != nil {
				t.Error("a failure has the latency of a reply")
			}
		})
	}
}
