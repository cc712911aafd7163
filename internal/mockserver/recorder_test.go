package mockserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// recorded reads the lines of a record.
func recorded(t *testing.T, path string) []map[string]any {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var lines []map[string]any
	for line := range bytes.Lines(data) {
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.UseNumber()
		m := map[string]any{}
		if err := decoder.Decode(&m); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		lines = append(lines, m)
	}
	return lines
}

func expect(t *testing.T, line map[string]any, want map[string]any) {
	t.Helper()
	for key, value := range want {
		got, ok := line[key]
		if !ok || fmt.Sprint(got) != fmt.Sprint(value) {
			t.Errorf("%s is %v (there: %v), want %v", key, got, ok, value)
		}
	}
}

func TestRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "r.jsonl")
		s := servePipe(t, Options{RecordRequests: path, RecordBodies: true, RecordEvents: true,
			TTFT: 100 * time.Millisecond, ITL: 10 * time.Millisecond, AuthHeader: "X-Own"})
		t0 := time.Now().UnixNano()
		body := chat(text(5), true, `"max_tokens":3,"ignore_eos":true,"reasoning_effort":"low"`)
		s.post(chatPath, body, "X-Request-ID", "id-1", "Authorization", "Bearer secret", "X-Own", "secret", "X-Api-Key",
			"secret", "X-Plain", "seen")
		s.post(completionPath, `{"prompt":[1,2],"max_tokens":2,"ignore_eos":true}`, "X-Mock-Fault", "delay_ms=5")
		s.post(chatPath, `nonsense`)
		s.post(chatPath, chat("x", false), "X-Mock-Fault", "status=503")
		s.get("/health")
		time.Sleep(200 * time.Millisecond)
		if n := len(recorded(t, path)); n != 4 {
			t.Fatalf("%d lines are in the file while the server runs, want 4", n)
		}
		s.stop()
		lines := recorded(t, path)
		ms := func(n int64) int64 { return t0 + n*1e6 }
		expect(t, lines[0], map[string]any{
			"request_id": "id-1", "endpoint": "chat", "model": "m", "isl": 5, "requested_osl": 3, "max_tokens": 3,
			"max_completion_tokens": nil, "min_tokens": nil, "ignore_eos": true, "reasoning_effort": "low",
			"stream":            true,
			"tokenization_mode": "builtin", "method": "POST", "path": chatPath, "arrival_ns": ms(0),
			"first_byte_ns": ms(0),
			"last_byte_ns":  ms(120), "in_flight": 1, "status": 200, "output_tokens": 3, "outcome": "complete",
			"body":     body,
			"event_ns": fmt.Sprint([]int64{ms(100), ms(110), ms(120), ms(120)}),
			"ts":       fmt.Sprintf("%.6f", float64(t0/1000)/1e6),
		})
		headers := lines[0]["headers"].(map[string]any)
		expect(t, headers, map[string]any{"authorization": "<redacted>", "x-own": "<redacted>",
			"x-api-key": "<redacted>", "x-plain": "seen"})
		if raw, _ := os.ReadFile(path); bytes.Contains(raw, []byte("secret")) {
			t.Error("a secret is in the record")
		}
		expect(t, lines[1], map[string]any{"endpoint": "completions", "model": "mock-model", "isl": 2, "stream": false,
			"fault":      "delay_ms=5",
			"arrival_ns": ms(120), "first_byte_ns": ms(245), "last_byte_ns": ms(245), "output_tokens": 2})
		if id := fmt.Sprint(lines[1]["request_id"]); !strings.HasPrefix(id, "cmpl-") {
			t.Errorf("id %q", id)
		}
		if _, ok := lines[1]["event_ns"]; ok {
			t.Error("a plain reply has event_ns")
		}
		expect(t, lines[2], map[string]any{"status": 400, "model": nil, "isl": nil, "outcome": "refused",
			"body": "nonsense"})
		expect(t, lines[3], map[string]any{"status": 503, "model": "m", "isl": 1, "outcome": "refused",
			"output_tokens": 0, "fault": "status=503"})

		var sum recordSummary
		data, err := os.ReadFile(path + ".summary.json")
		if err == nil {
			err = json.Unmarshal(data, &sum)
		}
		if err != nil {
			t.Fatal(err)
		}
		if sum.Requests != 4 || sum.InputTokens != 8 || sum.OutputTokens != 5 || sum.Faults != 2 ||
			sum.MaxInFlight != 1 ||
			fmt.Sprint(sum.Endpoints["chat"].Status) != "map[200:1 400:1 503:1]" ||
			sum.Endpoints["completions"].OutputTokens != 2 {
			t.Errorf("summary %s", data)
		}
	})
}

func TestRecordOfACutAndOfALeavingClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "r.jsonl")
		s := servePipe(t, Options{RecordRequests: path, TTFT: time.Second})
		s.post(chatPath, chat(text(5), true, tenTokens), "X-Mock-Fault", "cut_after_events=4")
		nc, _ := s.dial()
		body := chat("x", false)
		fmt.Fprintf(nc, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", chatPath, len(body), body)
		synctest.Wait()
		nc.Close()
		s.stop()
		lines := recorded(t, path)
		expect(t, lines[0], map[string]any{"outcome": "cut", "output_tokens": 4, "status": 200})
		expect(t, lines[1], map[string]any{"outcome": "client_gone", "output_tokens": 0, "status": 0,
			"first_byte_ns": nil})
	})
}

func TestRecordPathMustBeWritable(t *testing.T) {
	_, err := New(Options{NoTokenizer: true, RecordRequests: filepath.Join(t.TempDir(), "no", "such", "dir")})
	if err == nil || !strings.HasPrefix(err.Error(), "--record-requests: ") {
		t.Errorf("error %v", err)
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }
func (full) Close() error              { return nil }

func TestRecordThatCannotBeWrittenIsReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		path := filepath.Join(t.TempDir(), "r.jsonl")
		s := servePipe(t, Options{Fast: true, RecordRequests: path, Log: &log, LogLevel: slog.LevelError})
		s.mayFail = true
		s.srv.rec.mu.Lock()
		s.srv.rec.file.Close()
		s.srv.rec.file = full{}
		s.srv.rec.mu.Unlock()
		for range 3 {
			s.post(chatPath, chat("x", false))
			time.Sleep(time.Second)
		}
		if err := s.srv.Close(); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("error %v", err)
		}
		if err := s.stop(); err == nil {
			t.Error("Serve reports nothing")
		}
		if n := strings.Count(log.String(), "no space left"); n != 1 {
			t.Errorf("%d log lines: %s", n, log.String())
		}
		if data, _ := os.ReadFile(path + ".summary.json"); !bytes.Contains(data, []byte(`"lost_lines": 2`)) {
			t.Errorf("summary %s", data)
		}
	})
}

func TestAccessLog(t *testing.T) {
	var log bytes.Buffer
	s := serve(t, Options{Fast: true, AccessLogs: true, Log: &log})
	s.post(chatPath, chat(text(3), false, `"max_tokens":2,"ignore_eos":true`))
	s.stop()
	if got := log.String(); strings.Count(got, "\n") != 1 ||
		!strings.Contains(got, "status=200 prompt_tokens=3 output_tokens=2") {
		t.Errorf("log %q", got)
	}
}
