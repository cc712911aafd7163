package run

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// paths is a server that remembers what it was asked, without repetitions in a row.
type paths struct {
	mu   sync.Mutex
	seen []string
	auth map[string]bool
}

func (p *paths) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	p.mu.Lock()
	if n := len(p.seen); n == 0 || p.seen[n-1] != r.URL.Path {
		p.seen = append(p.seen, r.URL.Path)
	}
	p.auth[r.Header.Get("Authorization")+" "+r.Header.Get("X-Own")] = true
	p.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"object":"chat.completion","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`)
}

// Hooks go to the origin, once each, around what they are for, with the credentials of the run.
func TestTrapHooksStandAroundTheirPhases(t *testing.T) {
	t.Parallel()
	server := &paths{auth: map[string]bool{}}
	s := httptest.NewServer(server)
	defer s.Close()
	_, err := execute(t, resolve(t, t.TempDir(), s.URL+"/v1", "--isl", "8", "--request-count", "2",
		"--warmup-request-count", "1",
		"--reset-kv-cache", "--server-profiler", "--wait-for-model-timeout", "5", "--api-key", "k", "--header",
		"X-Own:v"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	const chat = "/v1/chat/completions"
	want := []string{chat, "/reset_prefix_cache", chat, "/start_profile", chat, "/stop_profile"}
	if !slices.Equal(server.seen, want) {
		t.Errorf("the server was asked %q, want %q", server.seen, want)
	}
	if len(server.auth) != 1 || !server.auth["Bearer k v"] {
		t.Errorf("credentials %v", server.auth)
	}
}

// A run that is told to stop does not leave a profiler running.
func TestProfilerIsStoppedWhenTheRunFails(t *testing.T) {
	t.Parallel()
	server := &paths{auth: map[string]bool{}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			http.Error(w, "no", 500)
			return
		}
		server.ServeHTTP(w, r)
	}))
	defer s.Close()
	execute(t, resolve(t, t.TempDir(), s.URL, "--isl", "8", "--request-count", "2", "--server-profiler"), Options{})
	if want := []string{"/start_profile", "/stop_profile"}; !slices.Equal(server.seen, want) {
		t.Errorf("the server was asked %q, want %q", server.seen, want)
	}
}
