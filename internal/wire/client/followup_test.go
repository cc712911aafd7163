package client

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
)

// steps is a follow-up that plays a list and keeps what it was shown.
type steps struct {
	list []Next
	seen []string
}

func (s *steps) Next(url string, body []byte) Next {
	s.seen = append(s.seen, url[strings.LastIndexByte(url, '/'):]+" "+string(body))
	next := s.list[0]
	s.list = s.list[1:]
	return next
}

func (s *steps) TimedOut(limit time.Duration) *record.Error {
	return &record.Error{Type: "late", Message: limit.String()}
}

func (s *steps) Failed(status int, err *record.Error) *record.Error {
	return &record.Error{Type: "step failed", Message: fmt.Sprint(status, " ", err.Message)}
}

// bodies is a sink of whole bodies.
type bodies struct{ got []string }

func (b *bodies) Event(_, _ []byte, _ int64) {}

func (b *bodies) Body(_ string, _ bool, body []byte, at int64) {
	b.got = append(b.got, string(body))
	if at == 0 {
		b.got = append(b.got, "without a stamp")
	}
}

// jobServer answers every path with itself and keeps the requests.
func jobServer(t *testing.T) (url string, requests func() []*http.Request) {
	var mu sync.Mutex
	var list []*http.Request
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		list = append(list, r)
		mu.Unlock()
		if strings.HasSuffix(r.URL.Path, "missing") {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprint(w, r.URL.Path)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []*http.Request {
		mu.Lock()
		defer mu.Unlock()
		return list
	}
}

func follow(t *testing.T, o Options, url string, ctx context.Context, cancelAfterNS int64, list ...Next) (Exchange,
	*steps, *bodies) {
	t.Helper()
	c, err := New(o, clock.New())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return followOn(c, url, ctx, cancelAfterNS, list...)
}

// followOn sends a request with the follow-ups of a list.
func followOn(c *Client, url string, ctx context.Context, cancelAfterNS int64, list ...Next) (Exchange, *steps,
	*bodies) {
	s, b := &steps{list: list}, &bodies{}
	headers := []record.Header{{Name: "User-Agent", Value: "u"}, {Name: "Authorization", Value: "Bearer k"},
		{Name: "Content-Type", Value: "application/json"}}
	ex := c.Send(ctx, &Request{Method: "POST", URL: url + "/submit", Headers: headers, Body: []byte("{}"),
		CancelAfterNS: cancelAfterNS, KeepRaw: true, FollowUp: s}, b)
	return ex, s, b
}

func TestFollowUpGoesFromReplyToReply(t *testing.T) {
	url, requests := jobServer(t)
	ex, s, b := follow(t, DefaultOptions(), url, t.Context(), -1,
		Next{URL: url + "/one", Keep: true}, Next{URL: url + "/two", Wait: 20 * time.Millisecond}, Next{Keep: true})
	if ex.Err != nil || ex.Responses != 2 || strings.Join(b.got, " ") != "/submit /two" {
		t.Errorf("error %v, %d responses, sink got %q", ex.Err, ex.Responses, b.got)
	}
	if want := "/submit /submit, /one /one, /two /two"; strings.Join(s.seen, ", ") != want {
		t.Errorf("steps saw %q", s.seen)
	}
	if took := time.Duration(ex.EndNS - ex.StartNS); took < 20*time.Millisecond || ex.LastResponseNS != ex.EndNS {
		t.Errorf("took %v, last response %d, end %d", took, ex.LastResponseNS, ex.EndNS)
	}
	list := requests()
	if len(list) != 3 || list[0].Method != "POST" || list[1].Method != "GET" ||
		list[1].Header.Get("Content-Type") != "" || list[2].Header.Get("Authorization") != "Bearer k" {
		t.Errorf("%d requests", len(list))
	}
	if n := len(ex.Raw.Responses); n != 2 || string(ex.Raw.Responses[1].Bytes) != "/two" {
		t.Errorf("%d raw responses", n)
	}
}

func TestDiscardedRepliesCountFromTheirEnd(t *testing.T) {
	url, _ := jobServer(t)
	ex, _, b := follow(t, DefaultOptions(), url, t.Context(), -1, Next{URL: "/one", Keep: true},
		Next{URL: "content", Keep: true, Discard: true})
	if ex.Err != nil || strings.Join(b.got, " ") != "/submit /one" || ex.Responses != 2 || len(ex.Raw.Responses) != 2 {
		t.Errorf("error %v, sink got %q, %d responses", ex.Err, b.got, ex.Responses)
	}
}

// Another server gets no credentials.
func TestForeignOriginsGetNoCredentials(t *testing.T) {
	url, _ := jobServer(t)
	other, requests := jobServer(t)
	if ex, _, _ := follow(t, DefaultOptions(), url, t.Context(), -1, Next{URL: other + "/one"}, Next{}); ex.Err != nil {
		t.Fatal(ex.Err)
	}
	h := requests()[0].Header
	if h.Get("Authorization") != "" || h.Get("User-Agent") != "u" {
		t.Errorf("headers %v", h)
	}
}

// Follow-ups end in time: each reply of the server is there at once, and each follow-up waits for 5 ms.
func TestFollowUpsEndInTime(t *testing.T) {
	const url = "http://127.0.0.1:1"
	list := make([]Next, 1000)
	for i := range list {
		list[i] = Next{URL: url + "/one", Wait: 5 * time.Millisecond}
	}
	replies := slowly(0, text("200 OK", "application/json", "{}"))
	bubble(t, func(o *Options) { o.Timeout = 61 * time.Millisecond }, replies, func(t *testing.T, c *Client) {
		if ex, s, _ := followOn(c, url, t.Context(), -1, list...); ex.Err == nil || ex.Err.Type != "late" ||
			ex.Err.Message != "61ms" || len(s.seen) != 13 {
			t.Errorf("too late: %+v after %d replies", ex.Err, len(s.seen))
		}
	})
	bubble(t, nil, replies, func(t *testing.T, c *Client) {
		ex, s, _ := followOn(c, url, t.Context(), int64(31*time.Millisecond), list...)
		if ex.Err == nil || ex.Err.Type != typeCancelled || ex.CancelledNS == 0 || ex.CutOff ||
			!strings.Contains(ex.Err.Message, "0.031s") || len(s.seen) != 7 {
			t.Errorf("cancelled: %+v, cut off %v, after %d replies", ex.Err, ex.CutOff, len(s.seen))
		}
	})
	bubble(t, nil, replies, func(t *testing.T, c *Client) {
		ctx, cancel := context.WithTimeout(t.Context(), 31*time.Millisecond)
		defer cancel()
		if ex, s, _ := followOn(c, url, ctx, -1, list...); !ex.CutOff || len(s.seen) != 7 {
			t.Errorf("cut off: %+v after %d replies", ex.Err, len(s.seen))
		}
	})
}

func TestFollowUpsEndWithAnError(t *testing.T) {
	url, _ := jobServer(t)
	if ex, _, b := follow(t, DefaultOptions(), url, t.Context(), -1, Next{URL: url + "/missing"}); ex.Err == nil ||
		ex.Err.Message != "404 /missing" || len(b.got) != 0 {
		t.Errorf("failed: %+v", ex.Err)
	}
	why := &record.Error{Type: "x"}
	if ex, _, _ := follow(t, DefaultOptions(), url, t.Context(), -1, Next{Err: why}); ex.Err != why {
		t.Errorf("refused: %+v", ex.Err)
	}
}
