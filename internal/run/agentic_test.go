package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/config/env"
	"aiperf/internal/load"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/mockserver"
	"aiperf/internal/result/summary"
)

// recordedAgent is a recording of four requests, 20 ms apart, the first of which calls an agent of one request.
func recordedAgent(id string) string {
	ask := func(at float64, in int, ids string) string {
		return fmt.Sprintf(`{"t":%v,"type":"n","model":"big","in":%d,"out":6,"hash_ids":[%s],"api_time":0.001}`, at, in,
			ids)
	}
	return fmt.Sprintf(`{"id":%q,"models":["big"],"block_size":16,"hash_id_scope":"local","requests":[%s,
{"t":0.005,"type":"subagent","agent_id":"a","requests":[%s]},
%s,%s,%s]}`, id, ask(0, 40, "1,2,3"), ask(0.006, 20, "9,10"), ask(0.02, 60, "1,2,3,4"), ask(0.04, 80, "1,2,3,4,5"), ask(0.06, 96, "1,2,3,4,5,6"))
}

// seenBody is what the server saw of a request.
type seenBody struct {
	mark          string
	limit, prompt int
	ignoreEOS     bool
}

func agenticRun(t *testing.T, o mockserver.Options, args ...string) (*Outcome, []seenBody, []map[string]any, error) {
	t.Helper()
	dir := t.TempDir()
	traces := filepath.Join(dir, "traces")
	if err := os.Mkdir(traces, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"one", "two"} {
		if err := os.WriteFile(filepath.Join(traces, id+".json"), []byte(recordedAgent(id)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o.RecordRequests, o.RecordBodies = filepath.Join(dir, "seen.jsonl"), true
	var outcome *Outcome
	var err error
	t.Run("server", func(t *testing.T) {
		args = append([]string{"--scenario", "inferencex-agentx-mvp", "--input-file", traces, "--custom-dataset-type",
			"weka_trace", "--export-level", "records", "--random-seed", "1"}, args...)
		outcome, err = execute(t, resolve(t, dir, serve(t, o), args...), Options{})
	})
	var seen []seenBody
	data, readErr := os.ReadFile(o.RecordRequests)
	if readErr != nil {
		t.Fatal(readErr)
	}
	for line := range bytes.Lines(data) {
		var request struct {
			Body string
			ISL  int
		}
		var body struct {
			Messages  []struct{ Content string }
			Limit     int  `json:"max_completion_tokens"`
			IgnoreEOS bool `json:"ignore_eos"`
		}
		if err := errors.Join(json.Unmarshal(line, &request), json.Unmarshal([]byte(request.Body), &body)); err != nil {
			t.Fatal(err)
		}
		mark := regexp.MustCompile(`^\[rid:[0-9a-f]{12}\]\n\n`).FindString(body.Messages[0].Content)
		if len(body.Messages) != 1 {
			t.Errorf("%d messages, want the whole context in one", len(body.Messages))
		}
		seen = append(seen, seenBody{mark: strings.TrimSpace(mark), limit: body.Limit, prompt: request.ISL,
			ignoreEOS: body.IgnoreEOS})
	}
	var all []map[string]any
	if err == nil {
		all = records(t, dir)
	}
	return outcome, seen, all, err
}

func TestRecordedAgentsAreReplayed(t *testing.T) {
	t.Parallel()
	outcome, seen, all, err := agenticRun(t, mockserver.Options{}, "--concurrency", "2", "--num-sessions", "4",
		"--trajectory-start-min-ratio", "0.5", "--trajectory-start-max-ratio", "0.5")
	if err != nil {
		t.Fatal(err)
	}
	warmup, profiling := outcome.Phases[0], outcome.Phases[1]
	if warmup.RequestsSent != 2 || profiling.RequestsSent != 2*2+2*5 || profiling.CompletedSessions != 4 {
		t.Errorf("%d requests of the warm-up, %d profiled in %d sessions", warmup.RequestsSent, profiling.RequestsSent,
			profiling.CompletedSessions)
	}
	marks := map[string]int{}
	for _, s := range seen {
		marks[s.mark]++
		if s.mark == "" || !s.ignoreEOS || s.limit != 6 {
			t.Errorf("request %+v", s)
		}
	}
	// Each play has a mark of its own: two that began in the midst with their warm-up, two whole ones.
	counts := map[int]int{}
	for _, n := range marks {
		counts[n]++
	}
	if len(marks) != 4 || counts[3] != 2 || counts[5] != 2 {
		t.Errorf("requests by mark: %v", marks)
	}
	depths := map[any]int{}
	for _, r := range all {
		depths[r["metadata"].(map[string]any)["agent_depth"]]++
	}
	if depths[0.0] != 12 || depths[1.0] != 2 {
		t.Errorf("records by depth: %v", depths)
	}
	r := outcome.Result
	for tag, want := range map[string]float64{"job_count": 2, "job_requests": 5, "job_sub_agents": 1,
		"failed_job_count": 0, "unfinished_job_count": 0} {
		if v, ok := r.Value(tag); !ok || v != want {
			t.Errorf("%s = %v, want %v", tag, v, want)
		}
	}
	if v, ok := r.Value("job_tool_time"); !ok || v <= 0 {
		t.Errorf("the gaps of the recording are no tool time: %v", v)
	}
	if metrics.Find(r.Warmup, "jobs_per_hour") != nil {
		t.Error("the warm-up of lanes, which begins no job, has jobs per hour")
	}
	if r.Submission == nil || len(r.Submission.Reasons) != 0 || r.Branches.ChildrenSpawned != 2 || r.Warmup == nil {
		t.Errorf("submission %+v, branches %+v", r.Submission, r.Branches)
	}
}

func TestCachesAreFilledWithOneToken(t *testing.T) {
	t.Parallel()
	outcome, seen, _, err := agenticRun(t, mockserver.Options{}, "--concurrency", "2", "--num-sessions", "2",
		"--trajectory-start-min-ratio", "0", "--trajectory-start-max-ratio", "0", "--warmup-requests-per-lane", "2")
	if err != nil {
		t.Fatal(err)
	}
	if len(outcome.Phases) != 3 || outcome.Phases[0].RequestsSent != 0 || outcome.Phases[1].RequestsSent != 4 ||
		outcome.Phases[2].RequestsSent != 6 {
		t.Fatalf("requests by phase: %+v", outcome.Phases)
	}
	limits := map[int]int{}
	for _, s := range seen {
		limits[s.limit]++
	}
	if limits[1] != 4 || limits[6] != 6 {
		t.Errorf("requests by limit: %v, want 4 of one token and 6 of 6", limits)
	}
}

func TestFailedWarmupOfALaneEndsTheRun(t *testing.T) {
	t.Parallel()
	_, _, _, err := agenticRun(t, mockserver.Options{Fault: "status=500"}, "--concurrency", "2", "--num-sessions", "2",
		"--trajectory-start-min-ratio", "0.5", "--trajectory-start-max-ratio", "0.5")
	if !errors.Is(err, load.ErrLaneWarmup) {
		t.Errorf("error %v", err)
	}
}

func TestMoreLanesThanRecordings(t *testing.T) {
	t.Parallel()
	args := []string{"--concurrency", "3", "--num-sessions", "3"}
	_, _, _, err := agenticRun(t, mockserver.Options{}, args...)
	if err == nil || !strings.Contains(err.Error(), "--allow-dataset-wrap") {
		t.Errorf("error %v", err)
	}
	outcome, _, _, err := agenticRun(t, mockserver.Options{}, append(args, "--allow-dataset-wrap")...)
	if err != nil || outcome.Phases[1].CompletedSessions != 3 {
		t.Errorf("wrapped: %v", err)
	}
}

// The limit itself is kept; what is skipped counts as a request.
func TestTooManyContextOverflowsSpoilASubmission(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		overflows float64
		counts    summary.Counts
		want      int
	}{
		{0, summary.Counts{Successes: 90, Errors: 10}, 0},
		{1, summary.Counts{Successes: 90, Errors: 10}, 0},
		{2, summary.Counts{Successes: 90, Errors: 10}, 1},
		{1, summary.Counts{Successes: 98, Errors: 1}, 1},
		{1, summary.Counts{Successes: 98, Errors: 1, Skipped: 1}, 0},
	} {
		cfg := &config.Run{Env: env.Values{ContextOverflow: env.ContextOverflow{RateLimit: 0.01}}}
		o := &outcome{execution: &execution{base: &base{cfg: cfg}}}
		o.Result = summary.Result{Run: summary.Run{Submission: &summary.Submission{}, Counts: c.counts}}
		overflows := metrics.Metric{}
		overflows.Tag, overflows.Stats.Avg = "context_overflow_count", c.overflows
		o.Result.Metrics = []metrics.Metric{overflows}
		o.settleSubmission()
		if got := o.Result.Submission.Reasons; len(got) != c.want || c.want > 0 &&
			got[0] != "context_overflow_rate_exceeded" {
			t.Errorf("%v of %+v: reasons %v", c.overflows, c.counts, got)
		}
	}
}

// overflowing passes requests on to a server, but for some of those whose context it calls too long.
func overflowing(t *testing.T, server string, every int64) string {
	t.Helper()
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	transport := &http.Transport{}
	proxy.Transport = transport
	var n atomic.Int64
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && n.Add(1)%every == 0 {
			http.Error(w, `{"error":{"message":"This model's maximum context length is 80 tokens."}}`,
				http.StatusBadRequest)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { front.Close(); transport.CloseIdleConnections() })
	return front.URL
}

// An agentic replay skips requests whose context is too long: they are not errors, and the sessions go on.
func TestAgenticReplaySkipsContextOverflows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "one.json")
	if err := os.WriteFile(file, []byte(recordedAgent("one")), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(every int64) *Outcome {
		cfg := resolve(t, dir, overflowing(t, serve(t, mockserver.Options{}), every), "--scenario",
			"inferencex-agentx-mvp", "--input-file", file,
			"--num-sessions", "3", "--trajectory-start-min-ratio", "0", "--trajectory-start-max-ratio", "0",
			"--random-seed", "1")
		outcome, err := execute(t, cfg, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return outcome
	}
	outcome := run(5)
	r := &outcome.Result
	if r.Counts.Skipped != 3 || r.Counts.Successes != 12 || r.Counts.Errors != 0 || r.Counts.Sent != 15 ||
		len(r.Errors) != 0 {
		t.Errorf("counts %+v, errors %+v", r.Counts, r.Errors)
	}
	for tag, want := range map[string]float64{"request_count": 12, "context_overflow_count": 3,
		"skipped_context_overflow_count": 3} {
		if m, ok := r.Find(tag); !ok || m.Stats.Avg != want {
			t.Errorf("%s is %v, want %v", tag, m.Stats.Avg, want)
		}
	}
	if m, ok := r.Find("error_request_count"); ok {
		t.Errorf("%v errors", m.Stats.Avg)
	}
	if r.Branches.GraphsAdmitted != 3 || r.Branches.GraphsCompleted != 3 {
		t.Errorf("branches %+v", r.Branches)
	}
	if got := r.Submission.Reasons; len(got) != 1 || got[0] != "context_overflow_rate_exceeded" {
		t.Errorf("reasons %v", got)
	}
	if !slices.ContainsFunc(outcome.Console.Notes,
		func(n string) bool { return strings.HasPrefix(n, "3 of 15 requests were skipped") }) {
		t.Errorf("notes %q", outcome.Console.Notes)
	}
	skips := 0
	for _, record := range records(t, dir) {
		skipped := record["metadata"].(map[string]any)["context_overflow_skip"] == true
		if skipped != (record["error"] != nil) {
			t.Errorf("record %v", record)
		}
		if skipped {
			skips++
		}
	}
	if skips != 3 {
		t.Errorf("%d records are skips", skips)
	}
	if c := &run(1).Result.Counts; c.Skipped != 15 || !c.AllFailed() {
		t.Errorf("a server that takes nothing: %+v", c)
	}
}
