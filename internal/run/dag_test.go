package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"testing"

	"aiperf/internal/load"
	"aiperf/internal/measure/record"
	"aiperf/internal/mockserver"
)

// playedTree is what a server and the records saw of a run over a file of branching sessions.
type playedTree struct {
	outcome *Outcome
	err     error
	// requests are the bodies by conversation and turn: role:content of each message, replies of the server as "reply".
	requests map[string]string
	records  []map[string]any
}

// playTree runs a dag_jsonl file against a mock server.
func playTree(t *testing.T, o mockserver.Options, content string, args ...string) playedTree {
	t.Helper()
	dir := t.TempDir()
	o.RecordRequests, o.RecordBodies = filepath.Join(dir, "seen.jsonl"), true
	path := filepath.Join(dir, "tree.jsonl")
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	var p playedTree
	t.Run("server", func(t *testing.T) { // its record is whole when it has ended
		url := serve(t, o)
		args = append([]string{"--input-file", path, "--osl", "3", "--export-level", "records"}, args...)
		p.outcome, p.err = execute(t, resolve(t, dir, url, args...), Options{})
	})
	if p.err != nil {
		return p
	}
	p.records = records(t, dir)
	conversation := map[string]string{}
	for _, r := range p.records {
		m := r["metadata"].(map[string]any)
		conversation[m["x_request_id"].(string)] = fmt.Sprintf("%s.%v", m["conversation_id"], m["turn_index"])
	}
	p.requests = map[string]string{}
	data, err := os.ReadFile(o.RecordRequests)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var seen struct {
			RequestID string `json:"request_id"`
			Body      string
		}
		var body struct {
			Messages []struct{ Role, Content string }
		}
		if err := errors.Join(json.Unmarshal(line, &seen), json.Unmarshal([]byte(seen.Body), &body)); err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, m := range body.Messages {
			if m.Role == "assistant" {
				m.Content = "reply"
			}
			said = append(said, m.Role[:1]+":"+m.Content)
		}
		p.requests[conversation[seen.RequestID]] = strings.Join(said, " ")
	}
	return p
}

// metadata of the record of a conversation's turn.
func (p playedTree) metadata(t *testing.T, conversation string, turn int) map[string]any {
	t.Helper()
	for _, r := range p.records {
		if m := r["metadata"].(map[string]any); m["conversation_id"] == conversation &&
			m["turn_index"] == float64(turn) {
			return m
		}
	}
	t.Fatalf("no record of %s.%d", conversation, turn)
	return nil
}

const forkingTree = `{"session_id":"r","turns":[{"messages":[{"role":"system","content":"S"},{"role":"user","content":"plan"}],"forks":["a","b"]}]}
{"session_id":"a","turns":[{"messages":[{"role":"user","content":"A"}]},{"messages":[{"role":"user","content":"more"}],"forks":["c"]}]}
{"session_id":"b","turns":[{"messages":[{"role":"user","content":"B"}]}]}
{"session_id":"c","turns":[{"messages":[{"role":"user","content":"C"}]}]}
`

func TestForksInheritTheHistoryWithTheReply(t *testing.T) {
	t.Parallel()
	p := playTree(t, mockserver.Options{}, forkingTree, "--concurrency", "1")
	if p.err != nil {
		t.Fatal(p.err)
	}
	if want := map[string]string{
		"r.0": "s:S u:plan",
		"a.0": "s:S u:plan a:reply u:A",
		"a.1": "s:S u:plan a:reply u:A a:reply u:more",
		"b.0": "s:S u:plan a:reply u:B",
		"c.0": "s:S u:plan a:reply u:A a:reply u:more a:reply u:C",
	}; !reflect.DeepEqual(p.requests, want) {
		t.Errorf("requests %v\nwant %v", p.requests, want)
	}
	root, a, c := p.metadata(t, "r", 0), p.metadata(t, "a", 0), p.metadata(t, "c", 0)
	if root["parent_correlation_id"] != nil || root["agent_depth"] != 0.0 ||
		root["root_correlation_id"] != root["x_correlation_id"] {
		t.Errorf("root: %v", root)
	}
	if a["parent_correlation_id"] != root["x_correlation_id"] || a["agent_depth"] != 1.0 ||
		a["x_correlation_id"] == root["x_correlation_id"] {
		t.Errorf("child: %v", a)
	}
	if c["parent_correlation_id"] != a["x_correlation_id"] || c["agent_depth"] != 2.0 ||
		c["root_correlation_id"] != root["x_correlation_id"] {
		t.Errorf("grandchild: %v", c)
	}
	if a["worker_id"] != root["worker_id"] || c["worker_id"] != root["worker_id"] {
		t.Error("a fork runs on another worker than its parent")
	}
	many := playTree(t, mockserver.Options{}, forkingTree, "--concurrency", "4", "--num-sessions", "12",
		"--workers-max", "4")
	workers, of := map[any]any{}, map[any]bool{}
	for _, r := range many.records {
		m := r["metadata"].(map[string]any)
		of[m["worker_id"]] = true
		if root := m["root_correlation_id"]; workers[root] == nil {
			workers[root] = m["worker_id"]
		} else if workers[root] != m["worker_id"] {
			t.Errorf("the tree %v runs on several workers", root)
		}
	}
	if many.err != nil || len(of) < 2 {
		t.Errorf("%d workers, error %v", len(of), many.err)
	}
	b := p.outcome.Result.Branches
	if b == nil || b.ChildrenSpawned != 3 || b.ChildrenCompleted != 3 {
		t.Errorf("branches %+v", b)
	}
}

func TestSpawnsBeginEmptyAndAreJoined(t *testing.T) {
	t.Parallel()
	const user = `{"messages":[{"role":"user","content":"%"}]`
	turn := func(content, members string) string { return strings.Replace(user, "%", content, 1) + members + "}" }
	p := playTree(t, mockserver.Options{},
		`{"session_id":"r","pre_session_spawns":["p"],"turns":[`+
			turn("1", `,"spawns":["a",{"children":["b"],"join_at":2}]`)+","+turn("2", "")+","+turn("3", "")+"]}\n"+
			`{"session_id":"a","turns":[`+turn("A", "")+"]}\n"+`{"session_id":"b","turns":[`+turn("B", `,"delay":30`)+
			"]}\n"+`{"session_id":"p","turns":[`+turn("P", "")+"]}\n")
	if p.err != nil {
		t.Fatal(p.err)
	}
	if want := map[string]string{
		"p.0": "u:P", "r.0": "u:1", "a.0": "u:A", "b.0": "u:B", "r.1": "u:1 a:reply u:2",
		"r.2": "u:1 a:reply u:2 a:reply u:3",
	}; !reflect.DeepEqual(p.requests, want) {
		t.Errorf("requests %v\nwant %v", p.requests, want)
	}
	end := func(conversation string, turn int) float64 {
		return p.metadata(t, conversation, turn)["request_end_ns"].(float64)
	}
	start := func(conversation string, turn int) float64 {
		return p.metadata(t, conversation, turn)["request_start_ns"].(float64)
	}
	if start("r", 1) < end("a", 0) || start("r", 2) < end("b", 0) || start("b", 0) < end("r", 0)+30e6 {
		t.Error("a join or a delay was not waited for")
	}
	if b := p.outcome.Result.Branches; b.ChildrenSpawned != 3 || b.ChildrenDelayed != 1 || b.ParentsSuspended == 0 ||
		b.ParentsSuspended != b.ParentsResumed {
		t.Errorf("branches %+v", b)
	}
}

func TestOrchestratorsAreSessionsAndNoRequests(t *testing.T) {
	t.Parallel()
	p := playTree(t, mockserver.Options{},
		`{"session_id":"o","orchestrator":true,"spawns":["a"],"rounds":2,"think_time_ms":1,"think_time_sigma":0.5}
{"session_id":"a","turns":[{"messages":[{"role":"user","content":"A"}]}]}
{"session_id":"o2","orchestrator":true,"spawns":["a"]}
`, "--num-sessions", "3", "--random-seed", "1")
	if p.err != nil {
		t.Fatal(p.err)
	}
	stats := p.outcome.Phases[0]
	if stats.RequestsSent != 5 || stats.SentSessions != 3 || stats.CompletedSessions != 3 {
		t.Errorf("%d requests of %d sessions, %d completed, want 5 of 3", stats.RequestsSent, stats.SentSessions,
			stats.CompletedSessions)
	}
	var depths []string
	for _, r := range p.records {
		m := r["metadata"].(map[string]any)
		depths = append(depths, fmt.Sprint(m["agent_depth"]))
		if m["parent_correlation_id"] == nil || m["parent_correlation_id"] == m["x_correlation_id"] {
			t.Errorf("parent of %v", m)
		}
	}
	sort.Strings(depths)
	if got := strings.Join(depths, " "); got != "1 1 1 1 1" {
		t.Errorf("depths %s", got)
	}
}

func TestFailedForkLeavesNoReplyBehind(t *testing.T) {
	t.Parallel()
	p := playTree(t, mockserver.Options{Fault: "status=500"}, forkingTree)
	if p.err != nil {
		t.Fatal(p.err)
	}
	if got := p.requests["c.0"]; got != "s:S u:plan u:A u:more u:C" {
		t.Errorf("after failures: %s", got)
	}
	if b := p.outcome.Result.Branches; b.ChildrenErrored != 3 || b.ChildrenCompleted != 0 {
		t.Errorf("branches %+v", b)
	}
}

func TestFirstFailedChildEndsARunThatFailsFast(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "tree.jsonl")
	if err := os.WriteFile(path, []byte(`{"session_id":"o","orchestrator":true,"spawns":["a"],"rounds":50}
{"session_id":"a","turns":[{"messages":[{"role":"user","content":"A"}]}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	cfg := resolve(t, dir, serve(t, mockserver.Options{Fault: "status=500"}), "--input-file", path)
	cfg.Env.Timing.DAGFailFast = true
	outcome, err := execute(t, cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !errors.Is(outcome.Aborted, load.ErrChildFailed) ||
		!strings.Contains(outcome.Aborted.Error(), "AIPERF_DAG_FAIL_FAST") {
		t.Errorf("aborted: %v", outcome.Aborted)
	}
	if got := records(t, dir); len(got) != 1 ||
		got[0]["metadata"].(map[string]any)["benchmark_phase"] != record.PhaseProfiling {
		t.Errorf("%d records, want the one that failed", len(got))
	}
	if b := outcome.Result.Branches; b.ParentsFailed != 1 || outcome.Result.Incomplete == "" {
		t.Errorf("branches %+v, incomplete %q", b, outcome.Result.Incomplete)
	}
}

// A job is a root with all that grows out of it. The root's second turn waits for the slower of two sub-agents, which has
// a tool before its second turn; the path goes through that one.
func TestJobsOfTreesFollowTheBranchThatWasWaitedFor(t *testing.T) {
	t.Parallel()
	turn := func(content, members string) string {
		return `{"messages":[{"role":"user","content":"` + content + `"}]` + members + "}"
	}
	p := playTree(t, mockserver.Options{},
		`{"session_id":"r","turns":[`+turn("1", `,"spawns":["fast","slow"]`)+","+turn("2", `,"delay":20`)+"]}\n"+
			`{"session_id":"fast","turns":[`+turn("A", "")+"]}\n"+
			`{"session_id":"slow","turns":[`+turn("B", "")+","+turn("C", `,"delay":60`)+"]}\n",
		"--concurrency", "1", "--num-sessions", "2", "--goodput", "job_tool_time:70", "--num-gpus", "4")
	if p.err != nil {
		t.Fatal(p.err)
	}
	r := &p.outcome.Result
	value := func(tag string) float64 {
		v, ok := r.Value(tag)
		if !ok {
			t.Errorf("%s has no value", tag)
		}
		return v
	}
	for tag, want := range map[string]float64{"job_count": 2, "job_requests": 5, "job_sub_agents": 2,
		"failed_job_count": 0, "unfinished_job_count": 0, "good_job_count": 0, "good_job_fraction": 0} {
		if got := value(tag); got != want {
			t.Errorf("%s = %v, want %v", tag, got, want)
		}
	}
	// What the plan had the path wait for: 60 ms in the slow branch, 20 ms before the second turn of the root.
	if got := value("job_tool_time"); got < 79.9 || got > 80.1 {
		t.Errorf("job_tool_time = %v, want 80", got)
	}
	whole, parts := value("job_latency"), value("job_model_time")+value("job_tool_time")+value("job_waiting_time")
	if whole <= 80 || whole-parts > 1e-6 || parts-whole > 1e-6 {
		t.Errorf("job_latency is %v, its parts are %v", whole, parts)
	}
	if a, b := value("jobs_per_hour"), value("jobs_per_hour_per_gpu"); a <= 0 || b != a/4 {
		t.Errorf("%v jobs per hour, %v for each of 4 GPUs", a, b)
	}
}
