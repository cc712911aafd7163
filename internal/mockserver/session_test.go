package mockserver

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestSessionsAreKnownAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	s := serve(t, Options{Fast: true, Sessions: true, RecordRequests: path})
	for _, c := range []struct{ brought, value, next string }{
		{"X-Correlation-ID", "s1", "s1.1"},
		{"X-Session-Token", "s1.1", "s1.2"},
		{"Cookie", "a=b; mock-session=s1.2", "s1.3"},
		{"Cookie", "mock-session=strange", "4.1"},
	} {
		a := s.post(chatPath, chat("x", false), c.brought, c.value)
		if got := a.header.Get("X-Session-Token"); a.status != 200 || got != c.next {
			t.Errorf("%s: %s gives the token %s, want %s", c.brought, c.value, got, c.next)
		}
		if got := a.header.Get("Set-Cookie"); !strings.HasPrefix(got, "mock-session="+c.next+";") {
			t.Errorf("%s: %s gives the cookie %s", c.brought, c.value, got)
		}
	}
	s.stop()
	lines := recorded(t, path)
	for i, want := range []map[string]any{
		{"session_cookie": nil, "session_token": nil}, {"session_cookie": nil, "session_token": "s1.1"},
		{"session_cookie": "s1.2", "session_token": nil}, {"session_cookie": "strange", "session_token": nil},
	} {
		expect(t, lines[i], want)
	}
}
