package session

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"aiperf/internal/measure/record"
	"aiperf/internal/workload/dataset"
)

// heads returns the values of the fields of a reply's head.
func heads(lines ...string) func(name string) []string {
	h := http.Header{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		h.Add(name, value)
	}
	return h.Values
}

func place(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// carried lists the headers of a request with what was kept.
func carried(t *testing.T, k *kept, to string, home bool, own ...record.Header) string {
	t.Helper()
	before := listed(own)
	got := listed(k.Carry(place(t, to), own, home))
	if listed(own) != before {
		t.Errorf("the given list has become %s", listed(own))
	}
	return got
}

func listed(headers []record.Header) string {
	var parts []string
	for _, h := range headers {
		parts = append(parts, h.Name+": "+h.Value)
	}
	return strings.Join(parts, " | ")
}

func TestCookiesGoWhereTheirAttributesSay(t *testing.T) {
	k := newKept(&Keep{Cookies: true})
	own := record.Header{Name: "A", Value: "b"}
	if got := carried(t, k, "http://api.example.com/v1/chat", true, own); got != "A: b" {
		t.Errorf("before any reply: %s", got)
	}
	k.Keep(place(t, "http://api.example.com/v1/chat"), heads("Set-Cookie: route=r1; Path=/",
		"Set-Cookie: deep=1; Path=/v1/other", "Set-Cookie: all=2; Domain=example.com; Path=/",
		"Set-Cookie: tls=3; Secure; Path=/", "Set-Cookie: strange=4; Domain=other.org",
		`Set-Cookie: quoted="a b"; Path=/`, "Set-Cookie: =broken"))
	for _, c := range []struct{ to, want string }{
		{"http://api.example.com/v1/chat", `Cookie: route=r1; all=2; quoted="a b"`},
		{"https://api.example.com/v1/other/x", `Cookie: deep=1; route=r1; all=2; tls=3; quoted="a b"`},
		{"http://b.example.com/", "Cookie: all=2"},
		{"http://other.org/", ""},
	} {
		if got := carried(t, k, c.to, true); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.to, got, c.want)
		}
	}
	k.Keep(place(t, "http://api.example.com/v1/chat"), heads("Set-Cookie: route=r2; Path=/",
		"Set-Cookie: all=; Max-Age=0; Domain=example.com; Path=/",
		`Set-Cookie: quoted=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT`))
	if got := carried(t, k, "http://api.example.com/x", true); got != "Cookie: route=r2" {
		t.Errorf("replaced and expired: %s", got)
	}
}

func TestUsersOwnCookiesStay(t *testing.T) {
	k := newKept(&Keep{Cookies: true})
	k.Keep(place(t, "http://h/"), heads("Set-Cookie: route=r1"))
	got := carried(t, k, "http://h/", true, record.Header{Name: "cookie", Value: "me=1; route=mine; x"},
		record.Header{Name: "B", Value: "c"})
	if want := "cookie: me=1; x; route=r1 | B: c"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestEchoedHeaders(t *testing.T) {
	k := newKept(&Keep{Echo: []string{"X-Session-Token", "X-Other"}})
	at := place(t, "http://h/")
	if got := carried(t, k, "http://h/", true); got != "" {
		t.Error(got)
	}
	k.Keep(at, heads("x-session-token: first", "x-session-token: second", "Set-Cookie: a=b"))
	k.Keep(at, heads("x-session-token: "))
	own := record.Header{Name: "x-session-token", Value: "the user's"}
	if got := carried(t, k, "http://h/", true, own); got != "x-session-token: second" {
		t.Error(got)
	}
	k.Keep(at, heads("X-Session-Token: third", "X-Other: o"))
	if got := carried(t, k, "http://h/", true); got != "X-Session-Token: third | X-Other: o" {
		t.Error(got)
	}
	if got := carried(t, k, "http://elsewhere/", false); got != "" {
		t.Errorf("to where a redirect led: %s", got)
	}
}

// Each session has its own, children too; without the options nothing is kept.
func TestNothingKeptCrossesSessions(t *testing.T) {
	s := store(t, "chat", talk("c", "", "u0", "u1"), talk("child", "", "u0"))
	if p := s.Session(1, 0).Prepare(0); p.Request.Keeper != nil {
		t.Error("something is kept unasked")
	}
	s.options.Keep = Keep{Cookies: true, Echo: []string{"X-T"}}
	one, two, child := s.Session(2, 0), s.Session(3, 0), s.Child(4, 1, Lineage{Parent: 2, Fork: true, Depth: 1})
	one.Prepare(0).Request.Keeper.Keep(place(t, "http://a/x"), heads("Set-Cookie: a=b", "X-T: t"))
	for _, c := range []struct {
		of   *Session
		turn int
		want string
	}{{one, 1, "Cookie: a=b | X-T: t"}, {two, 0, ""}, {child, 0, ""}} {
		if got := listed(c.of.Prepare(c.turn).Request.Keeper.Carry(place(t, "http://a/x"), nil, true)); got != c.want {
			t.Errorf("session of %s: %q, want %q", c.of.conversation.SessionID, got, c.want)
		}
	}
}

func TestHeadersOfTurnsConversationsAndURLs(t *testing.T) {
	c := talk("c", "", "u0", "u1")
	c.Headers = []dataset.Header{{Name: "X-A", Value: "conversation"}, {Name: "X-B", Value: "conversation"}}
	c.Turns[1].Headers = []dataset.Header{{Name: "x-b", Value: "turn"}, {Name: "X-C", Value: "turn"}}
	for _, urls := range []bool{false, true} {
		s := store(t, "chat", c)
		s.options.Headers.Custom = []record.Header{{Name: "X-A", Value: "run"}, {Name: "X-D", Value: "run"},
			{Name: "X-C", Value: "run"}}
		d := []string{"run", "run"}
		if urls {
			s.options.URLHeaders = [][]dataset.Header{{{Name: "X-C", Value: "url"}, {Name: "x-d", Value: "first"}},
				{{Name: "X-D", Value: "second"}, {Name: "X-A", Value: "url"}}}
			d = []string{"first", "second"}
		}
		p := s.Session(1, 0).Prepare(1)
		for _, at := range []int{0, 1, 2} {
			p.Aim(at, -1)
			for _, w := range []struct{ name, want string }{{"X-A", "conversation"}, {"X-B", "turn"}, {"X-C", "turn"},
				{"X-D", d[at%2]}} {
				if got := header(p, w.name); got != w.want {
					t.Errorf("URL %d, %s: %q, want %q", at, w.name, got, w.want)
				}
			}
		}
		if c := s.Session(2, 0).Prepare(0); header(c, "X-B") != "conversation" || header(c, "X-C") == "turn" {
			t.Errorf("the headers of a turn go with another one: %v", c.Request.Headers)
		}
	}
}
