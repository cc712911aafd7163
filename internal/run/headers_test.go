package run

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"aiperf/internal/mockserver"
	"aiperf/internal/view/runlog"
)

// seenRequest is a line of the mock server's record.
type seenRequest struct {
	Headers       map[string]string
	Cookie, Token *string
	arrivalNS     int64
}

func (s *seenRequest) UnmarshalJSON(text []byte) error {
	var line struct {
		Headers map[string]string `json:"headers"`
		Cookie  *string           `json:"session_cookie"`
		Token   *string           `json:"session_token"`
		Arrival int64             `json:"arrival_ns"`
	}
	err := json.Unmarshal(text, &line)
	s.Headers, s.Cookie, s.Token, s.arrivalNS = line.Headers, line.Cookie, line.Token, line.Arrival
	return err
}

// seenRequests are the lines of a record in the order in which the requests came: lines are written once a reply has
// ended, and that of a session's next turn may be written first.
func seenRequests(t *testing.T, path string) (list []seenRequest) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var s seenRequest
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b seenRequest) int { return cmp.Compare(a.arrivalNS, b.arrivalNS) })
	return list
}

func orNone(s *string) string {
	if s == nil {
		return "none"
	}
	return *s
}

func writeData(t *testing.T, dir, content string) string {
	t.Helper()
	path := filepath.Join(dir, "data.jsonl")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Every turn brings back the cookie and the token of the turn before it, and those of no other session; each URL gets
// its own headers, and each turn those of its row.
func TestSessionsBringBackWhatRepliesSet(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"--streaming"}, {"--http2"}, {"--connection-reuse-strategy", "never"},
		{"--endpoint-type", "kserve_v2_infer"}} {
		dir := t.TempDir()
		data := writeData(t, dir, `{"session_id":"a","headers":{"X-Tenant":"row"},"turns":`+
			`[{"text":"1"},{"text":"2","headers":{"X-Turn":"2"}},{"text":"3"}]}
{"session_id":"b","turns":[{"text":"1"},{"text":"2"},{"text":"3"}]}
`)
		var urls []string
		var stops []func()
		for i := range 2 {
			url, stop := serveUntil(t, mockserver.Options{Fast: true, Sessions: true, RecordBodies: true,
				RecordRequests: filepath.Join(dir, fmt.Sprintf("seen%d.jsonl", i))})
			if slices.Contains(args, "kserve_v2_infer") {
				url = "grpc" + strings.TrimPrefix(url, "http")
			}
			urls, stops = append(urls, url), append(stops, stop)
		}
		cfg := resolve(t, filepath.Join(dir, "out"), urls[0], append([]string{"--url", urls[1], "--input-file", data,
			"--num-sessions", "6", "--concurrency", "3", "--header", "X-Tenant:run", "--url-header", "0=X-Replica: 0",
			"--url-header", "1=X-Replica: 1", "--session-cookies", "--echo-header", "x-session-token"}, args...)...)
		if _, err := execute(t, cfg, Options{}); err != nil {
			t.Fatal(err)
		}
		for i, stop := range stops {
			stop()
			seen := seenRequests(t, filepath.Join(dir, fmt.Sprintf("seen%d.jsonl", i)))
			if len(seen) != 9 {
				t.Errorf("%v: URL %d got %d requests", args, i, len(seen))
			}
			turns := map[string]int{}
			for _, s := range seen {
				id := s.Headers["x-correlation-id"]
				want := "none"
				if turns[id] > 0 {
					want = fmt.Sprintf("%s.%d", id, turns[id])
				}
				turns[id]++
				if orNone(s.Cookie) != want || orNone(s.Token) != want {
					t.Errorf("%v: turn %d of %s brought the cookie %s and the token %s, want %s", args, turns[id], id,
						orNone(s.Cookie), orNone(s.Token), want)
				}
				if s.Headers["x-replica"] != fmt.Sprint(i) {
					t.Errorf("%v: URL %d got the header of %s", args, i, s.Headers["x-replica"])
				}
				row := s.Headers["x-tenant"] == "row"
				if (s.Headers["x-turn"] == "2") != (row && turns[id] == 2) {
					t.Errorf("%v: turn %d of tenant %s has X-Turn %q", args, turns[id], s.Headers["x-tenant"],
						s.Headers["x-turn"])
				}
			}
		}
	}
}

// A forked conversation is a session of its own, and starts without what its parent was given. Without the options
// nothing is brought back.
func TestForksStartWithoutCookies(t *testing.T) {
	t.Parallel()
	const tree = `{"session_id":"root","turns":[{"messages":[{"role":"user","content":"a"}],` +
		`"forks":[{"child":"child","background":true}]},{"messages":[{"role":"user","content":"b"}]}]}
{"session_id":"child","turns":[{"messages":[{"role":"user","content":"c"}]},` +
		`{"messages":[{"role":"user","content":"d"}]}]}
`
	for _, c := range []struct {
		args []string
		want string
	}{{[]string{"--session-cookies"}, "1 1 none none"}, {nil, "none none none none"}} {
		dir := t.TempDir()
		path := filepath.Join(dir, "seen.jsonl")
		url, stop := serveUntil(t, mockserver.Options{Fast: true, Sessions: true, RecordRequests: path,
			RecordBodies: true})
		cfg := resolve(t, filepath.Join(dir, "out"), url, append([]string{"--input-file", writeData(t, dir, tree),
			"--num-sessions", "1", "--concurrency", "1"}, c.args...)...)
		if _, err := execute(t, cfg, Options{}); err != nil {
			t.Fatal(err)
		}
		stop()
		var brought []string
		for _, s := range seenRequests(t, path) {
			got := orNone(s.Cookie)
			if id := s.Headers["x-correlation-id"]; strings.HasPrefix(got, id+".") {
				got = strings.TrimPrefix(got, id+".")
			}
			brought = append(brought, got)
			if s.Token != nil {
				t.Errorf("%v: a token was brought back unasked", c.args)
			}
		}
		slices.Sort(brought)
		if got := strings.Join(brought, " "); got != c.want {
			t.Errorf("%v: the requests brought back %q, want %q", c.args, got, c.want)
		}
	}
}

// A credential in a row is in no file and no line of the log, not even where a server repeats it.
func TestCredentialsOfRowsStaySecret(t *testing.T) {
	t.Parallel()
	const key = "sk-row-1a2b3c4d5e"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("X-Seen", r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"message":"wrong: %s"}}`, r.Header.Get("Authorization"))
	}))
	defer s.Close()
	dir := t.TempDir()
	data := writeData(t, t.TempDir(),
		`{"text":"hello","headers":{"Authorization":"Bearer `+key+`","X-Tenant":"visible"}}`+"\n")
	cfg := resolve(t, dir, s.URL, "--input-file", data, "--request-count", "2", "--export-level", "raw",
		"--export-http-trace")
	var lines bytes.Buffer
	log := runlog.New(runlog.Options{Console: &lines})
	defer log.Close()
	if _, err := Execute(t.Context(), cfg, Options{Version: "test", Log: log}); err != nil {
		t.Fatal(err)
	}
	log.Logger("test").Error("it said " + key)
	if strings.Contains(lines.String(), key) || !strings.Contains(lines.String(), "it said") {
		t.Errorf("the log has the key:\n%s", &lines)
	}
	seen, visible := 0, 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(key)) {
			t.Errorf("%s has the key", path)
		}
		if bytes.Contains(content, []byte("wrong: ")) {
			seen++
		}
		if bytes.Contains(content, []byte("visible")) {
			visible++
		}
		return err
	})
	if err != nil || seen == 0 || visible < 2 { // inputs.json and the raw exchanges
		t.Errorf("%v; the reply is in %d files, the other header in %d", err, seen, visible)
	}
}

// What is asked of a server besides the load carries the headers of its URL, whichever path it is at.
func TestControlRequestsCarryTheHeadersOfTheirURL(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string][]string{}
	server := func(name string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			mu.Lock()
			seen[name+" "+r.URL.Path] = append(seen[name+" "+r.URL.Path], r.Header.Get("Authorization"))
			mu.Unlock()
			if r.URL.Path == "/v1/models" {
				io.WriteString(w, `{"object":"list","data":[{"id":"mock-model"}]}`)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"object":"chat.completion","choices":`+
				`[{"index":0,"message":{"role":"assistant","content":"x"}}]}`)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	one, two := server("one"), server("two")
	cfg := resolve(t, t.TempDir(), one, "--url", two, "--request-count", "4", "--api-key", "of-the-run",
		"--reset-kv-cache", "--url-header", one+"=Authorization: Bearer first", "--url-header", "1=Authorization: Bearer second",
		"--wait-for-model-timeout", "10", "--wait-for-model-mode", "both")
	if _, err := execute(t, cfg, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/v1/models", "/v1/chat/completions", "/reset_prefix_cache"} {
		for name, want := range map[string]string{"one": "Bearer first", "two": "Bearer second"} {
			got := seen[name+" "+path]
			if len(got) == 0 || slices.ContainsFunc(got, func(key string) bool { return key != want }) {
				t.Errorf("%s of %s was asked with %q, want %q", path, name, got, want)
			}
		}
	}
}
