package run

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"aiperf/internal/mockserver"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/tokenizer"
)

// summaryOf reads the JSON summary of a run.
func summaryOf(t *testing.T, dir string) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(fileOf(t, dir, "profile_export_aiperf.json"), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func fileOf(t *testing.T, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// at follows keys through nested objects; nil where one is missing.
func at(v any, keys ...string) any {
	for _, key := range keys {
		object, _ := v.(map[string]any)
		v = object[key]
	}
	return v
}

// instants are the stamps of a run's records in the order of their starts.
func instants(t *testing.T, dir string) []recordTimes {
	t.Helper()
	var list []recordTimes
	for line := range bytes.Lines(fileOf(t, dir, "profile_export.jsonl")) {
		var r struct {
			Metadata recordTimes
			Metrics  struct {
				TTFT struct{ Value float64 } `json:"time_to_first_token"`
			}
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		r.Metadata.firstTokenNS = r.Metadata.StartNS + int64(r.Metrics.TTFT.Value*1e6)
		list = append(list, r.Metadata)
	}
	slices.SortFunc(list, func(a, b recordTimes) int { return cmp.Compare(a.StartNS, b.StartNS) })
	return list
}

type recordTimes struct {
	CreditNS     int64 `json:"credit_issued_ns"`
	StartNS      int64 `json:"request_start_ns"`
	EndNS        int64 `json:"request_end_ns"`
	firstTokenNS int64
}

// profile runs a benchmark that must succeed and returns its directory.
func profile(t *testing.T, url string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	outcome, err := execute(t, resolve(t, dir, url, args...), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if outcome.Problem != nil || outcome.Aborted != nil {
		t.Errorf("problem %v, aborted %v", outcome.Problem, outcome.Aborted)
	}
	return dir
}

// A seed of 0 is a seed: the content is fixed and the ids are counted.
func TestTrapSeedZeroFixesTheContent(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{})
	args := []string{"--isl", "10", "--osl", "2", "--request-count", "64", "--random-seed", "0"}
	one, two := profile(t, url, args...), profile(t, url, append(args, "--concurrency", "64", "--workers-max", "3")...)
	inputs := fileOf(t, one, "inputs.json")
	if !bytes.Equal(inputs, fileOf(t, two, "inputs.json")) {
		t.Error("two runs with seed 0 have different inputs")
	}
	if bytes.Equal(inputs, fileOf(t, profile(t, url, append(args[:len(args)-1:len(args)-1], "1")...), "inputs.json")) {
		t.Error("seeds 0 and 1 have the same inputs")
	}
	if !bytes.Contains(inputs, []byte(`"session_000099"`)) {
		t.Error("the sessions are not numbered")
	}
	if got := at(summaryOf(t, one), "run_info", "random_seed"); got != 0.0 {
		t.Errorf("run_info.random_seed is %v", got)
	}
	unseeded := profile(t, url, args[:len(args)-2]...)
	if bytes.Contains(fileOf(t, unseeded, "inputs.json"), []byte(`"session_0`)) {
		t.Error("without a seed the ids must be random")
	}
	if got := at(summaryOf(t, unseeded), "run_info", "random_seed"); got != nil {
		t.Errorf("without a seed run_info.random_seed is %v", got)
	}
}

// Every run has an id of its own, which stands twice in the summary.
func TestTrapEveryRunHasItsOwnBenchmarkID(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{})
	var ids []string
	for range 2 {
		doc := summaryOf(t, profile(t, url, "--isl", "5", "--osl", "1", "--request-count", "1"))
		id, _ := doc["benchmark_id"].(string)
		if at(doc, "run_info", "benchmark_id") != id {
			t.Errorf("benchmark_id %s, in run_info %v", id, at(doc, "run_info", "benchmark_id"))
		}
		ids = append(ids, id)
	}
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	if !uuid.MatchString(ids[0]) || ids[0] == ids[1] {
		t.Errorf("ids %v", ids)
	}
}

// Without --export-http-trace no record has trace data, but its metrics are there all the same.
func TestTrapTraceMetricsDoNotNeedTheTraceExport(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{})
	for _, export := range []bool{false, true} {
		args := []string{"--isl", "5", "--osl", "1", "--request-count", "2", "--concurrency", "1"}
		if export {
			args = append(args, "--export-http-trace")
		}
		dir := profile(t, url, args...)
		for i, r := range records(t, dir) {
			if _, has := r["trace_data"]; has != export {
				t.Errorf("export %v: trace_data %v", export, has)
			}
			// The second request goes over the connection of the first.
			for metric, want := range map[string]float64{"http_req_connection_reused": float64(i),
				"http_req_dns_lookup": 0} {
				if got := at(r, "metrics", metric, "value"); got != want {
					t.Errorf("record %d: %s = %v, want %v", i, metric, got, want)
				}
			}
			connecting, ok := at(r, "metrics", "http_req_connecting", "value").(float64)
			if !ok || (connecting == 0) != (i == 1) {
				t.Errorf("record %d: http_req_connecting %v", i, connecting)
			}
			if export {
				_, connected := at(r, "trace_data", "connecting_ns").(float64)
				if connected != (i == 0) {
					t.Errorf("record %d: connecting_ns in trace_data: %v", i, connected)
				}
			}
		}
		if at(summaryOf(t, dir), "http_req_waiting", "avg") == nil {
			t.Error("the summary has no http_req_waiting")
		}
	}
}

// The limit of an output is at least one token, and absent unless asked for.
func TestTrapOutputLimitOnTheWire(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{})
	for _, c := range []struct {
		flags []string
		want  any
	}{{nil, nil}, {[]string{"--osl", "0"}, 1.0}, {[]string{"--osl", "7"}, 7.0}} {
		dir := profile(t, url, append([]string{"--isl", "5", "--request-count", "1", "--num-dataset-entries", "3",
			"--export-level", "raw"}, c.flags...)...)
		for _, payload := range payloads(t, dir) {
			if got := payload["max_completion_tokens"]; got != c.want {
				t.Errorf("%v: max_completion_tokens %v in inputs.json, want %v", c.flags, got, c.want)
			}
		}
		if got := at(rawRecords(t, dir)[0], "payload", "max_completion_tokens"); got != c.want {
			t.Errorf("%v: max_completion_tokens %v on the wire, want %v", c.flags, got, c.want)
		}
	}
}

// scripted serves requests for inference with a handler; those for metrics find nothing.
func scripted(t *testing.T, answer http.HandlerFunc) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// payloads are the request bodies of inputs.json.
func payloads(t *testing.T, dir string) []map[string]any {
	t.Helper()
	var doc struct {
		Data []struct {
			Payloads []map[string]any
		}
	}
	if err := json.Unmarshal(fileOf(t, dir, "inputs.json"), &doc); err != nil {
		t.Fatal(err)
	}
	var list []map[string]any
	for _, session := range doc.Data {
		list = append(list, session.Payloads...)
	}
	if len(list) == 0 {
		t.Fatal("inputs.json has no payload")
	}
	return list
}

func rawRecords(t *testing.T, dir string) []map[string]any {
	t.Helper()
	var list []map[string]any
	for line := range bytes.Lines(fileOf(t, dir, "profile_export_raw.jsonl")) {
		var r map[string]any
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// messages lists the roles of a body and its contents, joined by a space.
func messages(body any) (roles, text string) {
	list, _ := at(body, "messages").([]any)
	var contents []string
	for _, m := range list {
		role, _ := at(m, "role").(string)
		content, _ := at(m, "content").(string)
		roles += role[:1]
		contents = append(contents, content)
	}
	return roles, strings.Join(contents, " ")
}

// A shared system prompt stands once before a growing conversation, and before each message of
// inputs.json; the input of a later turn is counted with all that was sent.
func TestTrapSystemPromptAndHistoryAreSentAndCounted(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{})
	dir := profile(t, url, "--shared-system-prompt-length", "50", "--session-turns-mean", "3", "--num-sessions", "2",
		"--num-dataset-entries", "2",
		"--concurrency", "1", "--isl", "10", "--osl", "4", "--export-level", "raw", "--streaming")
	systems := map[string]bool{}
	for _, p := range payloads(t, dir) {
		if roles, _ := messages(p); roles != "su" {
			t.Errorf("roles %s in inputs.json, want su", roles)
		}
		systems[fmt.Sprint(at(p, "messages").([]any)[0])] = true
	}
	if len(systems) != 1 || len(payloads(t, dir)) != 6 {
		t.Errorf("%d system prompts in %d payloads", len(systems), len(payloads(t, dir)))
	}
	lines, raw := records(t, dir), rawRecords(t, dir)
	if len(lines) != 6 || len(raw) != 6 {
		t.Fatalf("%d records, %d raw ones", len(lines), len(raw))
	}
	for i, r := range raw {
		roles, text := messages(at(r, "payload"))
		if want := []string{"su", "suau", "suauau"}[i%3]; roles != want {
			t.Errorf("request %d: roles %s, want %s", i, roles, want)
		}
		want := float64(tokenizer.Builtin().Count(text))
		if got := at(lines[i], "metrics", "input_sequence_length", "value"); got != want {
			t.Errorf("request %d: input of %v tokens, want %v", i, got, want)
		}
		if got := at(lines[i], "metrics", "usage_prompt_tokens", "value"); got != want {
			t.Errorf("request %d: the server counted %v tokens, want %v", i, got, want)
		}
	}
}

// Lines of a single_turn file that share a session are a conversation without history.
func TestTrapSingleTurnsOfASessionCarryNoHistory(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{})
	for content, want := range map[string]string{
		`{"session_id":"s","text":"a"}` + "\n" + `{"session_id":"s","text":"b"}`: "u:a u:b",
		`{"session_id":"s","turns":[{"text":"a"},{"text":"b"}]}`:                 "u:a uau:b",
	} {
		input := filepath.Join(t.TempDir(), "in.jsonl")
		if err := os.WriteFile(input, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		dir := profile(t, url, "--input-file", input, "--num-sessions", "1", "--osl", "2", "--export-level", "raw")
		var got []string
		session := map[any]bool{}
		for _, r := range rawRecords(t, dir) {
			roles, text := messages(at(r, "payload"))
			got = append(got, roles+":"+text[len(text)-1:])
			session[at(r, "metadata", "x_correlation_id")] = true
		}
		if s := strings.Join(got, " "); s != want || len(session) != 1 {
			t.Errorf("%s: sent %s in %d sessions, want %s in one", content, s, len(session), want)
		}
	}
}

// A delay counts from the end of the reply before it, and the session keeps its slot meanwhile.
func TestTrapTurnDelayCountsFromTheReply(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{TTFT: 5 * time.Millisecond})
	dir := profile(t, url, "--num-sessions", "2", "--session-turns-mean", "2", "--conversation-turn-delay-mean", "20",
		"--conversation-turn-delay-ratio", "0.5",
		"--concurrency", "1", "--isl", "5", "--osl", "1")
	var turns []string
	for _, r := range records(t, dir) {
		turns = append(turns, fmt.Sprint(at(r, "metadata", "turn_index")))
	}
	list := instants(t, dir)
	if got := strings.Join(turns, " "); got != "0 1 0 1" || len(list) != 4 {
		t.Fatalf("turns %s of %d requests, want 0 1 0 1", got, len(list))
	}
	for _, i := range []int{1, 3} {
		if wait := time.Duration(list[i].StartNS - list[i-1].EndNS); wait < 10*time.Millisecond {
			t.Errorf("turn 1 came %v after the reply to turn 0, want at least 10 ms", wait)
		}
	}
}

// More sessions than conversations: 100 synthetic ones by default, each played equally often.
// The next session takes the next conversation, however many turns the running ones have.
func TestTrapTurnsDoNotAdvanceTheSampler(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{Fast: true})
	file := traceFile(t, "talks", `{"session_id":"1","turns":[{"text":"a"},{"text":"b"}]}
{"session_id":"2","turns":[{"text":"a"}]}
{"session_id":"3","turns":[{"text":"a"},{"text":"b"},{"text":"c"}]}`)
	dir := profile(t, url, "--input-file", file, "--num-sessions", "5", "--concurrency", "1")
	var played []any
	for _, r := range records(t, dir) {
		if at(r, "metadata", "turn_index") == 0.0 {
			played = append(played, at(r, "metadata", "conversation_id"))
		}
	}
	if got := fmt.Sprint(played); got != "[1 2 3 1 2]" || len(records(t, dir)) != 9 {
		t.Errorf("conversations %s, %d requests", got, len(records(t, dir)))
	}
}

func TestTrapSessionsRepeatTheDefaultDataset(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{})
	dir := profile(t, url, "--num-sessions", "500", "--concurrency", "8", "--isl", "5", "--osl", "1")
	played := map[any]int{}
	for _, r := range records(t, dir) {
		played[at(r, "metadata", "conversation_id")]++
	}
	if len(played) != 100 {
		t.Errorf("%d conversations, want 100", len(played))
	}
	for id, n := range played {
		if n != 5 {
			t.Errorf("conversation %v was played %d times, want 5", id, n)
		}
	}
}

// A warm-up changes nothing in the results: its requests stand in warmup_metrics alone.
func TestTrapWarmupIsInNoResult(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{})
	args := []string{"--isl", "5", "--osl", "3", "--extra-inputs", "ignore_eos:true", "--request-count", "4",
		"--streaming"}
	alone := summaryOf(t, profile(t, url, args...))
	dir := profile(t, url, append(args, "--warmup-request-count", "6")...)
	warm := summaryOf(t, dir)
	for _, metric := range []string{"request_count", "total_isl", "total_osl", "total_usage_completion_tokens"} {
		if got, want := at(warm, metric, "avg"), at(alone, metric, "avg"); got != want || got == nil {
			t.Errorf("%s is %v with a warm-up, %v without", metric, got, want)
		}
	}
	if got := at(warm, "warmup_metrics", "request_count", "avg"); got != 6.0 {
		t.Errorf("%v requests in warmup_metrics, want 6", got)
	}
	if _, has := alone["warmup_metrics"]; has {
		t.Error("warmup_metrics without a warm-up")
	}
	if n := len(records(t, dir)); n != 4 {
		t.Errorf("%d records, want 4", n)
	}
}

// A JSON reply to a streaming run is one content response; a stream that only the extra inputs ask
// for is read as a stream, but the run has no streaming metrics.
func TestTrapContentTypeDecidesHowAReplyIsRead(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{})
	common := []string{"--isl", "5", "--osl", "4", "--request-count", "2", "--export-level", "raw", "--extra-inputs",
		"ignore_eos:true"}
	dir := profile(t, url, append(common, "stream:false", "--streaming")...)
	for i, r := range records(t, dir) {
		ttft, latency := at(r, "metrics", "time_to_first_token", "value"), at(r, "metrics", "request_latency", "value")
		if ttft != latency || ttft == nil {
			t.Errorf("time to first token %v, latency %v", ttft, latency)
		}
		for _, metric := range []string{"inter_token_latency", "inter_chunk_latency",
			"output_token_throughput_per_user"} {
			if at(r, "metrics", metric) != nil {
				t.Errorf("%s of a reply in one piece", metric)
			}
		}
		if got := at(rawRecords(t, dir)[i], "request_headers", "Accept"); got != "application/json" {
			t.Errorf("Accept: %v", got)
		}
	}
	dir = profile(t, url, append(common, "stream:true")...)
	for i, r := range records(t, dir) {
		if got := at(r, "metrics", "output_sequence_length", "value"); got != 4.0 {
			t.Errorf("output of %v tokens, want 4", got)
		}
		if n := len(at(rawRecords(t, dir)[i], "responses").([]any)); n < 5 {
			t.Errorf("%d responses: the stream was not read as one", n)
		}
		for _, metric := range []string{"time_to_first_token", "inter_token_latency", "inter_chunk_latency"} {
			if at(r, "metrics", metric) != nil {
				t.Errorf("%s in a run without --streaming", metric)
			}
		}
	}
	if at(summaryOf(t, dir), "time_to_first_token") != nil {
		t.Error("the summary of a run without --streaming has time_to_first_token")
	}
}

// A request goes out after its credit; with every slot taken the credit is issued when one is free,
// so that the wait does not show.
func TestTrapCreditIsIssuedBeforeTheStart(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{TTFT: 2 * time.Millisecond})
	for _, load := range [][]string{{"--concurrency", "1"},
		{"--concurrency", "1", "--request-rate", "5000", "--arrival-pattern", "constant"}} {
		list := instants(t, profile(t, url, append(load, "--isl", "5", "--osl", "1", "--request-count", "12")...))
		if len(list) != 12 {
			t.Fatalf("%d records", len(list))
		}
		for i, r := range list {
			if r.CreditNS > r.StartNS || r.CreditNS == 0 {
				t.Errorf("%v: credit %d issued after the start %d", load, r.CreditNS, r.StartNS)
			}
			if i > 0 && r.CreditNS < list[i-1].EndNS {
				t.Errorf("%v: credit issued at %d, the slot was free at %d", load, r.CreditNS, list[i-1].EndNS)
			}
		}
	}
}

// With one prefill slot a request comes after the first content of the one before, though not after its
// end; the empty delta with the role, which comes first, does not free the slot.
func TestTrapPrefillSlotWaitsForContent(t *testing.T) {
	t.Parallel()
	const requests = 8
	var came, contents atomic.Int64
	var next [requests + 1]chan bool // closed when that request has come
	for i := range next {
		next[i] = make(chan bool)
	}
	close(next[requests])
	url := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		n := came.Add(1) - 1
		close(next[n])
		if c := contents.Load(); c != n {
			t.Errorf("request %d came after %d first contents", n, c)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(delta string) {
			fmt.Fprintf(w, "data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{%s}}]}"+
				"\n\n", delta)
			w.(http.Flusher).Flush()
		}
		send(`"role":"assistant","content":""`)
		time.Sleep(2 * time.Millisecond) // time to free the slot by mistake
		contents.Add(1)
		send(`"content":"a"`)
		if !t.Failed() { // one wait in vain is enough
			select {
			case <-next[n+1]:
			case <-time.After(time.Minute):
				t.Errorf("request %d holds the slot beyond its first content", n)
			}
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
	})
	list := instants(t, profile(t, url, "--streaming", "--concurrency", "4", "--prefill-concurrency", "1", "--isl", "5",
		"--request-count", fmt.Sprint(requests)))
	if len(list) != requests {
		t.Fatalf("%d records", len(list))
	}
	for i, r := range list[1:] {
		if r.StartNS < list[i].firstTokenNS {
			t.Errorf("request %d started %d ns before the first content of the one before", i+1,
				list[i].firstTokenNS-r.StartNS)
		}
	}
}

// Requests that fail before any token free their prefill slot.
func TestTrapFailuresDoNotBlockThePrefillSlot(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{ErrorRate: 100})
	dir := t.TempDir()
	outcome, err := execute(t, resolve(t, dir, url, "--streaming", "--concurrency", "4", "--prefill-concurrency", "1",
		"--isl", "5", "--request-count", "100"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c := outcome.Result.Counts; c.Errors != 100 || c.Sent != 100 {
		t.Errorf("counts %+v, want 100 errors", c)
	}
}

// Every request is cancelled by the client: all records are errors, the server got whole bodies, and
// the run itself was not cancelled.
func TestTrapCancellingEveryRequestIsNoCancelledRun(t *testing.T) {
	t.Parallel()
	bodies := make(chan []byte, 6)
	url := scripted(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- body
		<-r.Context().Done()
	})
	dir := t.TempDir()
	outcome, err := execute(t, resolve(t, dir, url, "--concurrency", "3", "--isl", "5", "--request-count", "6",
		"--request-cancellation-rate", "100"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c := outcome.Result.Counts; c.Successes != 0 || c.Errors != 6 || c.CutOff != 0 || outcome.Result.WasCancelled {
		t.Errorf("counts %+v, cancelled %v", c, outcome.Result.WasCancelled)
	}
	doc := summaryOf(t, dir)
	if doc["was_cancelled"] != false || doc["request_count"] != nil || at(doc, "error_request_count", "avg") != 6.0 {
		t.Errorf("was_cancelled %v, request_count %v, error_request_count %v", doc["was_cancelled"],
			doc["request_count"], doc["error_request_count"])
	}
	for _, r := range records(t, dir) {
		if at(r, "error", "code") != 499.0 || at(r, "error", "type") != "RequestCancellationError" ||
			at(r, "metadata", "was_cancelled") != true || at(r, "metadata", "cancellation_time_ns") == nil {
			t.Errorf("record %v", r)
		}
	}
	for i := range 6 {
		select {
		case body := <-bodies:
			if !json.Valid(body) || !bytes.HasSuffix(body, []byte(`"stream":false}`)) {
				t.Errorf("the server did not get a whole body: %q", body)
			}
		case <-time.After(time.Minute):
			t.Fatalf("the server got %d requests, want 6", i)
		}
	}
}

// The duration is over and there is no grace: what is in flight is cut off, which is neither a record
// nor an error.
func TestTrapRequestsCutOffAtTheEndLeaveNoTrace(t *testing.T) {
	t.Parallel()
	quick, silent := serve(t, mockserver.Options{}), serve(t, mockserver.Options{Fault: "never"})
	dir := t.TempDir()
	cfg := resolve(t, dir, quick, "--concurrency", "2", "--isl", "5", "--osl", "1", "--benchmark-duration", "1",
		"--benchmark-grace-period", "0")
	cfg.Endpoint.URLs = []string{quick, silent}
	outcome, err := execute(t, cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := outcome.Result.Counts
	if c.CutOff == 0 || c.Errors != 0 || c.Successes == 0 || c.Sent != c.Successes+c.CutOff ||
		outcome.Result.WasCancelled {
		t.Errorf("counts %+v, cancelled %v", c, outcome.Result.WasCancelled)
	}
	if p := outcome.Phases[0]; p.RequestsCancelled != c.CutOff || p.RequestErrors != 0 {
		t.Errorf("the phase has %d cancelled requests and %d errors", p.RequestsCancelled, p.RequestErrors)
	}
	doc := summaryOf(t, dir)
	if list, ok := doc["error_summary"].([]any); !ok || len(list) != 0 || doc["was_cancelled"] != false ||
		doc["error_request_count"] != nil {
		t.Errorf("error_summary %v, was_cancelled %v", doc["error_summary"], doc["was_cancelled"])
	}
	if n := int64(len(records(t, dir))); n != c.Successes {
		t.Errorf("%d records, %d successes", n, c.Successes)
	}
}

// A warm-up whose last requests are cut off does not take the requests of the next phase with it.
func TestCuttingTheWarmupOffSparesTheNextPhase(t *testing.T) {
	t.Parallel()
	var came atomic.Int64
	url := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if came.Add(1) <= 2 {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"chat.completion","choices":[{"message":{"content":"a"}}]}`)
	})
	dir := t.TempDir()
	outcome, err := execute(t, resolve(t, dir, url, "--concurrency", "2", "--isl", "5", "--request-count", "6",
		"--warmup-duration", "1", "--warmup-grace-period", "0", "--request-timeout-seconds", "60"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	warmup, profiling := outcome.Phases[0], outcome.Phases[1]
	if warmup.RequestsCancelled != 2 || profiling.RequestsCancelled != 0 || profiling.RequestsCompleted != 6 ||
		profiling.RequestErrors != 0 {
		t.Errorf("the warm-up cut %d requests off; of the %d requests of the next phase %d were cut off and %d failed",
			warmup.RequestsCancelled, profiling.RequestsSent, profiling.RequestsCancelled, profiling.RequestErrors)
	}
	if n := len(records(t, dir)); n != 6 {
		t.Errorf("%d records, want 6", n)
	}
}

// Images are counted by their contents, not by the items that hold them.
func TestTrapImagesOfATurnAreItsContents(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{})
	dir := t.TempDir()
	picture := "data:image/png;base64," + tinyPNG
	turn := dataset.Turn{Texts: texts("", "What is this?"),
		Images: []dataset.Media{{Contents: []string{picture, picture, picture}}, {Contents: []string{picture}}}}
	if _, log, err := executeOn(t, one(turn), dir, url, "--request-count", "1"); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	if got := at(summaryOf(t, dir), "num_images", "avg"); got != 4.0 {
		t.Errorf("num_images is %v, want 4", got)
	}
}

// Errors are one row per code, type and body.
func TestTrapErrorsAreGroupedByTheirBody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bodies [2]string
		counts string
	}{"two bodies": {[2]string{"first", "second"}, "1 1"}, "one body": {[2]string{"same", "same"}, "2"}} {
		t.Run(name, func(t *testing.T) {
			requests := make(chan string, 2)
			requests <- c.bodies[0]
			requests <- c.bodies[1]
			url := scripted(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = io.WriteString(w, <-requests)
			})
			dir := t.TempDir()
			if _, err := execute(t, resolve(t, dir, url, "--isl", "5", "--request-count", "2"), Options{}); err != nil {
				t.Fatal(err)
			}
			groups, _ := summaryOf(t, dir)["error_summary"].([]any)
			var counts []string
			for i, g := range groups {
				counts = append(counts, fmt.Sprint(at(g, "count")))
				if at(g, "error_details", "code") != 500.0 || at(g, "error_details", "message") != c.bodies[i] {
					t.Errorf("group %v", g)
				}
			}
			if got := strings.Join(counts, " "); got != c.counts {
				t.Errorf("counts %s, want %s", got, c.counts)
			}
		})
	}
}

// The export level decides which files of single requests there are; the summaries are always there.
// Warm-up requests stand in the raw file alone.
func TestTrapExportLevelDecidesTheFiles(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{})
	for level, want := range map[string]string{
		"summary": "inputs.json logs p.csv p.json p_console.txt p_run_state.json phase_manifest.json phases",
		"records": "inputs.json logs p.csv p.json p.jsonl p_console.txt p_run_state.json phase_manifest.json phases",
		"raw": "inputs.json logs p.csv p.json p.jsonl p_console.txt p_outputs.json p_raw.jsonl p_run_state.json " +
			"phase_manifest.json phases",
	} {
		dir := profile(t, url, "--isl", "5", "--osl", "1", "--request-count", "2", "--warmup-request-count", "1",
			"--profile-export-prefix", "p", "--export-level", level)
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if got, want := strings.Join(names, " "), ".aiperf_results_ready.json "+want; got != want {
			t.Errorf("%s: files %s, want %s", level, got, want)
		}
		if level != "raw" {
			continue
		}
		for file, phases := range map[string]int{"p.jsonl": 0, "p_raw.jsonl": 1} {
			if n := bytes.Count(fileOf(t, dir, file), []byte(`"benchmark_phase":"warmup"`)); n != phases {
				t.Errorf("%d warm-up requests in %s, want %d", n, file, phases)
			}
		}
	}
}

// The warm-up of a user-centric run is a burst at concurrency 1 whose sessions go by UUIDs, not by numbers of users.
func TestTrapWarmupOfUsersIsABurst(t *testing.T) {
	t.Parallel()
	dir := profile(t, serve(t, mockserver.Options{TTFT: time.Millisecond}), "--user-centric-rate", "200", "--num-users",
		"4", "--session-turns-mean", "2",
		"--warmup-request-count", "8", "--request-count", "8", "--isl", "5", "--osl", "1", "--export-level", "raw")
	uuid := regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	kinds := map[string]int{}
	var ended float64
	for line := range bytes.Lines(fileOf(t, dir, "profile_export_raw.jsonl")) {
		var r struct{ Metadata map[string]any }
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		id, phase := r.Metadata["x_correlation_id"].(string), r.Metadata["benchmark_phase"].(string)
		kinds[phase]++
		if uuid.MatchString(id) != (phase == "warmup") {
			t.Errorf("a session of the %s phase is called %s", phase, id)
		}
		if phase != "warmup" {
			continue
		}
		if start := r.Metadata["request_start_ns"].(float64); start < ended {
			t.Errorf("a request of the warm-up started %v ns before the end of the one before", ended-start)
		}
		ended = r.Metadata["request_end_ns"].(float64)
	}
	if kinds["warmup"] != 8 || kinds["profiling"] != 8 {
		t.Errorf("requests by phase: %v", kinds)
	}
}
