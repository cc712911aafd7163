package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"aiperf/internal/measure/record"
)

// tokenKeeper keeps the last value of X-Token, and notes what it is asked.
type tokenKeeper struct {
	mu    sync.Mutex
	token string
	log   []string
}

func (k *tokenKeeper) Keep(from *url.URL, values func(string) []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.log = append(k.log, fmt.Sprintf("keep %s %s", from.Path, strings.Join(values("x-token"), ",")))
	if list := values("X-Token"); len(list) > 0 {
		k.token = list[len(list)-1]
	}
}

func (k *tokenKeeper) Carry(to *url.URL, headers []record.Header, home bool) []record.Header {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.log = append(k.log, fmt.Sprintf("carry %s %v %s", to.Path, home, to.Host))
	if k.token == "" {
		return headers
	}
	return append(slices.Clip(headers), record.Header{Name: "X-Token", Value: k.token})
}

// keeperAPI answers a request with the path as the token, and says which token came with the request.
func keeperAPI(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.Header().Set("X-Token", "of "+r.URL.Path)
	if to, moved := strings.CutPrefix(r.URL.Path, "/to/"); moved {
		http.Redirect(w, r, "/"+to, http.StatusTemporaryRedirect)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, "%q", r.Header.Values("X-Token"))
}

// What a reply brings goes along with the next request, that of a redirect included, over both versions of HTTP and
// with or without the whole head being kept for an export.
func TestKeeperOfHeads(t *testing.T) {
	http1 := httptest.NewServer(http.HandlerFunc(keeperAPI))
	defer http1.Close()
	http2, _ := serveHTTP2(t, nil, keeperAPI)
	for _, c := range []struct {
		base  string
		http2 bool
		raw   bool
	}{{http1.URL, false, false}, {http1.URL, false, true}, {http2, true, false}} {
		k := &tokenKeeper{}
		client := newTestClient(t, func(o *Options) { o.HTTP2 = c.http2 })
		for _, s := range []struct{ path, want string }{
			{"/a", `[]`}, {"/b", `["of /a"]`}, {"/to/c", `["of /to/c"]`},
		} {
			r := post(c.base + s.path)
			r.Keeper, r.KeepRaw = k, c.raw
			r.Headers = append(r.Headers, record.Header{Name: "Host", Value: "virtual"})
			sent := len(r.Headers)
			rec, x := send(client, r)
			if x.Err != nil || rec.body != s.want {
				t.Errorf("%s%s: %v, %s, want %s", c.base, s.path, x.Err, rec.body, s.want)
			}
			if len(r.Headers) != sent {
				t.Errorf("the request's own headers are changed: %v", r.Headers)
			}
			carried := record.Header{Name: "X-Token", Value: "of /a"}
			if c.raw && s.path == "/b" && !slices.Contains(x.Raw.RequestHeaders, carried) {
				t.Errorf("the raw exchange lacks what was carried: %v", x.Raw.RequestHeaders)
			}
		}
		want := "carry /a true virtual, keep /a of /a, carry /b true virtual, keep /b of /b, " +
			"carry /to/c true virtual, keep /to/c of /to/c, carry /c true virtual, keep /c of /c"
		if got := strings.Join(k.log, ", "); got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.base, got, want)
		}
	}
}

func TestKeeperHearsThatARedirectLeavesTheServer(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(keeperAPI))
	defer other.Close()
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/end", http.StatusTemporaryRedirect)
	}))
	defer first.Close()
	k := &tokenKeeper{}
	r := post(first.URL + "/begin")
	r.Keeper = k
	if _, x := send(newTestClient(t, nil), r); x.Err != nil {
		t.Fatal(x.Err)
	}
	want := "carry /end false " + strings.TrimPrefix(other.URL, "http://")
	if got := strings.Join(k.log, ", "); !strings.Contains(got, want) {
		t.Error(got)
	}
}

// Later requests of a job carry what the first reply brought, but not to another server.
func TestKeeperOfFollowUps(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(keeperAPI))
	defer s.Close()
	foreign, requests := jobServer(t)
	k := &tokenKeeper{}
	client := newTestClient(t, nil)
	r := post(s.URL + "/job")
	r.Keeper = k
	r.FollowUp = &steps{list: []Next{{URL: s.URL + "/poll"}, {URL: foreign + "/result"}, {Keep: true}}}
	out := &bodies{}
	if x := client.Send(context.Background(), r, out); x.Err != nil {
		t.Fatal(x.Err)
	}
	if seen := r.FollowUp.(*steps).seen; len(seen) != 3 || seen[1] != `/poll ["of /job"]` {
		t.Errorf("%q", seen)
	}
	if list := requests(); len(list) != 1 || list[0].Header.Get("X-Token") != "" {
		t.Errorf("another server got the token: %v", list)
	}
}
