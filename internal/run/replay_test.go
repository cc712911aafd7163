package run

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/mockserver"
	"aiperf/internal/workload/tokenizer"
)

// arrival is a request as the server's own log has it.
type arrival struct {
	ISL   int   `json:"isl"`
	Limit int   `json:"max_completion_tokens"`
	AtNS  int64 `json:"arrival_ns"`
	EndNS int64 `json:"last_byte_ns"`
	Body  string
}

// recordedServer starts a mock server that logs; arrivals stops it and reads its log, in the order of arrival.
func recordedServer(t *testing.T, o mockserver.Options) (url string, arrivals func() []arrival) {
	t.Helper()
	o.RecordRequests, o.RecordBodies = filepath.Join(t.TempDir(), "requests.jsonl"), true
	url, stop := serveUntil(t, o)
	return url, func() []arrival {
		stop()
		data, err := os.ReadFile(o.RecordRequests)
		if err != nil {
			t.Fatal(err)
		}
		var list []arrival
		for line := range bytes.Lines(data) {
			var a arrival
			if err := json.Unmarshal(line, &a); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			list = append(list, a)
		}
		slices.SortStableFunc(list, func(a, b arrival) int { return cmp.Compare(a.AtNS, b.AtNS) })
		return list
	}
}

func traceFile(t *testing.T, name string, rows ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(strings.Join(rows, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// clockSlack is what the wall clock may be set while a test runs.
const clockSlack = 2 * time.Millisecond

// due checks that requests reached the server in the order of their times and none before its own. How
// late one may be is the machine's affair.
func due(t *testing.T, what string, startNS int64, got []arrival, want ...int) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d requests, want %d", what, len(got), len(want))
		return
	}
	for i, ms := range want {
		if after := time.Duration(got[i].AtNS - startNS); after < time.Duration(ms)*time.Millisecond-clockSlack {
			t.Errorf("%s: request %d arrived %v after the start, it was due after %d ms", what, i, after, ms)
		}
	}
}

func TestTrapScheduleIsKept(t *testing.T) {
	t.Parallel()
	const rows = "{\"timestamp\":100,\"input_length\":5,\"output_length\":1}\n" +
		"{\"timestamp\":150,\"input_length\":6,\"output_length\":1}\n" +
		"{\"timestamp\":400,\"input_length\":7,\"output_length\":1}"
	for _, c := range []struct {
		name, flags string
		rows        string
		firstMS     int // when the first request is due, exactly
		due         []int
	}{
		{"absolute times", "", rows, 100, []int{100, 150, 400}},
		{"automatic offset", "--fixed-schedule-auto-offset", rows, 0, []int{0, 50, 300}},
		{"start offset", "--fixed-schedule-start-offset 150", rows, 0, []int{0, 250}},
		{"end offset", "--fixed-schedule-end-offset 150 --fixed-schedule-auto-offset", rows, 0, []int{0, 50}},
		{"start offset of a trace twice as fast", "--fixed-schedule-start-offset 150 --synthesis-speedup-ratio 2", rows,
			0, []int{0, 125}},
		{"a named request count", "--request-count 2", rows, 100, []int{100, 150}},
		{"a session count", "--num-sessions 1 --concurrency 1", rows, 100, []int{100}},
		{"a duration", "--benchmark-duration 2", strings.Replace(rows, "400", "60000", 1), 100, []int{100, 150}},
		{"warm-up before", "--warmup-request-count 2", rows, 100, []int{100, 150, 400}},
		{"text with times", "--fixed-schedule", "{\"text\":\"a\",\"timestamp\":60}\n{\"text\":\"b\",\"timestamp\":20}",
			20, []int{20, 60}},
		{"conversations with times", "--fixed-schedule",
			"{\"turns\":[{\"text\":\"a\",\"timestamp\":10},{\"text\":\"b\",\"timestamp\":90}]}\n" +
				"{\"turns\":[{\"text\":\"c\",\"timestamp\":50}]}", 10, []int{10, 50, 90}},
		{"seconds", "", "Timestamp,Request tokens,Response tokens\n0.05,5,1\n0.15,6,1", 50, []int{50, 150}},
		{"chats", "", `{"chat_id":7,"parent_chat_id":-1,"timestamp":0.05,"input_length":20,"output_length":1,"type":"text","turn":1,"hash_ids":[1,2]}
{"chat_id":8,"parent_chat_id":7,"timestamp":0.1,"input_length":33,"output_length":1,"type":"text","turn":2,"hash_ids":[1,2,3]}`, 50, []int{50, 100}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url, arrivals := recordedServer(t, mockserver.Options{Fast: true})
			cfg := resolve(t, t.TempDir(), url,
				append([]string{"--input-file", traceFile(t, "trace", c.rows)}, strings.Fields(c.flags)...)...)
			outcome, err := execute(t, cfg, Options{})
			if err != nil {
				t.Fatal(err)
			}
			phase := outcome.Phases[len(outcome.Phases)-1]
			// An instant of 0 means that there is none, so the first one possible is 1.
			if first := phase.FirstDueNS; first != max(1, int64(c.firstMS)*1e6) {
				t.Errorf("the first request is due after %d ns, want %d ms", first, c.firstMS)
			}
			got := arrivals()
			due(t, "schedule", outcome.Result.StartNS, got[len(got)-int(phase.RequestsSent):], c.due...)
		})
	}
}

func TestTrapLaterTurnsWaitForTheirPredecessor(t *testing.T) {
	t.Parallel()
	url, arrivals := recordedServer(t, mockserver.Options{TTFT: 100 * time.Millisecond})
	file := traceFile(t, "trace",
		`{"session_id":"a","timestamp":0,"input_length":10,"output_length":2}`,
		`{"session_id":"a","timestamp":20,"input_length":11,"output_length":2}`,
		`{"session_id":"a","delay":60,"input_length":12,"output_length":2}`)
	dir := t.TempDir()
	if _, err := execute(t, resolve(t, dir, url, "--input-file", file), Options{}); err != nil {
		t.Fatal(err)
	}
	got := arrivals()
	if len(got) != 3 {
		t.Fatalf("%d requests", len(got))
	}
	if got[1].AtNS < got[0].EndNS {
		t.Error("the second turn arrived before the first was answered")
	}
	if wait := time.Duration(got[2].AtNS - got[1].EndNS); wait < 60*time.Millisecond-clockSlack {
		t.Errorf("the third turn arrived %v after the second was answered, its delay is 60 ms", wait)
	}
	if got[1].ISL <= 11 || got[2].ISL <= got[1].ISL+12 {
		t.Errorf("input lengths %d, %d, %d: later turns carry what was said", got[0].ISL, got[1].ISL, got[2].ISL)
	}
}

// The length of a later row is what it adds: the request carries the conversation so far as well.
func TestTrapLaterLengthsAreIncrements(t *testing.T) {
	t.Parallel()
	url, _ := recordedServer(t, mockserver.Options{Fast: true})
	dir := profile(t, url, "--export-level", "raw", "--input-file", traceFile(t, "trace",
		`{"session_id":"x","timestamp":0,"input_length":64,"output_length":8}`,
		`{"session_id":"x","delay":1,"input_length":32,"output_length":8}`))
	raw := rawRecords(t, dir)
	if len(raw) != 2 {
		t.Fatalf("%d requests", len(raw))
	}
	roles, text := messages(at(raw[1], "payload"))
	var counts []int
	for _, m := range at(raw[1], "payload", "messages").([]any) {
		counts = append(counts, tokenizer.Builtin().Count(at(m, "content").(string)))
	}
	if roles != "uau" || !slices.Equal(counts, []int{64, 8, 32}) {
		t.Errorf("the second request has %s with %v tokens, want uau with 64, 8, 32", roles, counts)
	}
	if got, want := at(records(t, dir)[1], "metrics", "input_sequence_length", "value"),
		float64(tokenizer.Builtin().Count(text)); got != want {
		t.Errorf("the input counts %v tokens, want %v", got, want)
	}
}

func TestTraceWithoutSchedule(t *testing.T) {
	t.Parallel()
	file := traceFile(t, "trace", `{"timestamp":90000,"input_length":5,"output_length":1}`,
		`{"timestamp":95000,"input_length":6,"output_length":1}`)
	for _, flag := range []string{"--no-fixed-schedule", "--ignore-trace-delays"} {
		url, arrivals := recordedServer(t, mockserver.Options{Fast: true})
		outcome, err := execute(t, resolve(t, t.TempDir(), url, "--input-file", file, "--request-count", "4", flag),
			Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := arrivals(); len(got) != 4 || got[0].ISL != 5 || got[3].ISL != 6 {
			t.Errorf("%s: %d requests", flag, len(got))
		}
		if _, ok := outcome.Result.Find("replay_sched_lag_p99"); ok {
			t.Errorf("%s: there is a lag of a replay that was none", flag)
		}
	}
}

// What a trace says is what the server sees: lengths, limits, and the same text for the same ids.
func TestTracePromptsHaveTheirRecordedLengths(t *testing.T) {
	t.Parallel()
	url, arrivals := recordedServer(t, mockserver.Options{Fast: true})
	file := traceFile(t, "trace",
		`{"timestamp":0,"input_length":1200,"output_length":52,"hash_ids":[0,1,2]}`,
		`{"timestamp":1,"input_length":1800,"output_length":26,"hash_ids":[0,3,4,5]}`,
		`{"timestamp":2,"input_length":1200,"output_length":3,"hash_ids":[0,1]}`,
		`{"timestamp":3,"input_length":700,"output_length":4}`,
		`{"timestamp":4,"text_input":"Good morning","output_length":5}`,
		`{"timestamp":5,"messages":[{"role":"system","content":"S"},{"role":"user","content":"U"}]}`,
		`{"timestamp":6,"payload":{"messages":[{"role":"user","content":"P"}],"model":"other","max_completion_tokens":2}}`)
	dir := t.TempDir()
	if _, err := execute(t, resolve(t, dir, url, "--input-file", file, "--concurrency", "1", "--random-seed", "3",
		"--osl", "9"), Options{}); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for i, a := range arrivals() {
		want := [][2]int{{1200, 52}, {1800, 26}, {1200, 3}, {700, 4}, {2, 5}, {2, 9}, {1, 2}}[i]
		if i < 5 && (a.ISL != want[0] || a.Limit != want[1]) || a.Limit != want[1] {
			t.Errorf("request %d: %d tokens, limit %d, want %v", i, a.ISL, a.Limit, want)
		}
		var body struct {
			Messages []struct{ Content string }
		}
		if err := json.Unmarshal([]byte(a.Body), &body); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, body.Messages[0].Content)
		if i == 6 && a.Body != `{"messages":[{"role":"user","content":"P"}],"model":"other","max_completion_tokens":2}` {
			t.Errorf("the payload was sent as %s", a.Body)
		}
	}
	shared := tokenizer.Builtin().Encode(nil, texts[0])[:512]
	for i, n := range []int{1024, 512, 1024} {
		ids := tokenizer.Builtin().Encode(nil, texts[i])
		if text := tokenizer.Builtin().Decode(ids[:512]); text != tokenizer.Builtin().Decode(shared) {
			t.Errorf("request %d does not begin with the text of block 0", i)
		}
		if same := tokenizer.Builtin().Decode(ids[:n]) == tokenizer.Builtin().Decode(tokenizer.Builtin().Encode(nil,
			texts[0])[:n]); !same {
			t.Errorf("request %d does not share %d tokens with the first", i, n)
		}
	}
	if texts[4] != "Good morning" || texts[5] != "S" {
		t.Errorf("given texts: %q, %q", texts[4], texts[5])
	}
}

func TestReplayThatFallsBehindIsTold(t *testing.T) {
	t.Parallel()
	url, _ := recordedServer(t, mockserver.Options{TTFT: 300 * time.Millisecond})
	row := `{"timestamp":0,"input_length":5,"output_length":1}`
	dir := t.TempDir()
	outcome, err := execute(t, resolve(t, dir, url, "--input-file", traceFile(t, "trace", row, row, row),
		"--concurrency", "1"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	value := func(tag string) float64 {
		m, ok := outcome.Result.Find(tag)
		if !ok {
			t.Errorf("%s is missing", tag)
		}
		return m.Stats.Avg
	}
	if p50, p99 := value("replay_sched_lag_p50"), value("replay_sched_lag_p99"); p50 < 300 || p99 < 590 {
		t.Errorf("lags %v and %v ms, want at least 300 and 590", p50, p99)
	}
	if value("replay_sched_degraded") != 1 {
		t.Error("the replay is not called degraded")
	}
	log, err := os.ReadFile(filepath.Join(dir, "logs", "aiperf.log"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(log), "the replay fell behind its schedule"); n != 1 {
		t.Errorf("%d warnings of the lag, want one", n)
	}
	summary, _ := os.ReadFile(filepath.Join(dir, "profile_export_aiperf.json"))
	console, _ := os.ReadFile(filepath.Join(dir, "profile_export_console.txt"))
	if !bytes.Contains(summary, []byte(`"replay_sched_lag_p90"`)) ||
		bytes.Contains(console, []byte("Replay Schedule Lag")) {
		t.Error("the lag belongs into the exports and not on the console")
	}
}

func TestLateStartIsWarnedOf(t *testing.T) {
	t.Parallel()
	url, _ := recordedServer(t, mockserver.Options{Fast: true})
	dir := t.TempDir()
	file := traceFile(t, "trace", `{"timestamp":60000,"input_length":5}`)
	_, err := execute(t, resolve(t, dir, url, "--input-file", file, "--benchmark-duration", "0.01"), Options{})
	if err == nil || !strings.Contains(err.Error(), "no request was sent") {
		t.Errorf("error %v", err)
	}
	log, _ := os.ReadFile(filepath.Join(dir, "logs", "aiperf.log"))
	if !bytes.Contains(log, []byte("first request of the schedule is due 60.0 s after the start")) {
		t.Errorf("no warning in %s", log)
	}
}

func TestRateSeriesIsFollowed(t *testing.T) {
	t.Parallel()
	url, arrivals := recordedServer(t, mockserver.Options{Fast: true})
	// 20 requests/sec for 0.1 s, then up to 200 within 0.4 s: 2 and 44 requests.
	file := traceFile(t, "series.json", `{"points":[{"time_s":0.1,"qps":20},{"time_s":0.5,"qps":200}]}`)
	outcome, err := execute(t, resolve(t, t.TempDir(), url, "--request-rate-series", file, "--request-count", "46",
		"--isl", "5", "--osl", "1"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	// Arrival k is due when the integral of the rate is k: 20t up to 2, then 20x + 225x².
	due(t, "series", outcome.Result.StartNS, arrivals()[:3], 50, 100, 100+35)
	text, err := artifact.AppendJSON(nil, outcome.Result.ClientHealth)
	if err != nil {
		t.Fatal(err)
	}
	var health struct {
		TargetRate float64 `json:"target_rate"`
	}
	if err := json.Unmarshal(text, &health); err != nil {
		t.Fatal(err)
	}
	if rate := outcome.Phases[0].TargetRate; rate < 20 || rate > 200 || health.TargetRate != rate {
		t.Errorf("the plan's mean rate is %v, the report has %s", rate, text)
	}
}

// Rows of message_mode delta bring what is new; the server's replies stand between them, and tools
// hold until others are declared.
func TestDeltaRowsAreThreadedWithReplies(t *testing.T) {
	t.Parallel()
	url, arrivals := recordedServer(t, mockserver.Options{Fast: true})
	file := traceFile(t, "trace",
		`{"session_id":"d","timestamp":0,"messages":[{"role":"system","content":"S"},{"role":"user","content":"one"}],"message_mode":"delta","output_length":3,"tools":[{"type":"function","function":{"name":"f"}}]}`,
		`{"session_id":"d","delay":1,"messages":[{"role":"user","content":"two","name":"n"}],"message_mode":"delta","output_length":3}`)
	if _, err := execute(t, resolve(t, t.TempDir(), url, "--input-file", file), Options{}); err != nil {
		t.Fatal(err)
	}
	got := arrivals()
	if len(got) != 2 {
		t.Fatalf("%d requests", len(got))
	}
	var body struct {
		Messages []struct{ Role, Content, Name string }
		Tools    []any
	}
	if err := json.Unmarshal([]byte(got[1].Body), &body); err != nil {
		t.Fatal(err)
	}
	var roles []string
	for _, m := range body.Messages {
		roles = append(roles, m.Role)
	}
	if strings.Join(roles, " ") != "system user assistant user" || body.Messages[2].Content == "" ||
		body.Messages[3].Name != "n" || len(body.Tools) != 1 {
		t.Errorf("the second request is %s", got[1].Body)
	}
	_, err := execute(t, resolve(t, t.TempDir(), url, "--input-file", file, "--extra-inputs", `{"messages":[]}`),
		Options{})
	if err == nil || !strings.Contains(err.Error(), "--extra-inputs messages cannot be used") {
		t.Errorf("extra inputs with messages: %v", err)
	}
}
