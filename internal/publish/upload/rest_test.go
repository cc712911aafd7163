package upload

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

func TestTries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status   []int
		once     bool
		asked    int64
		problem  string
		wantKind Kind
	}{
		"at once":          {[]int{200}, false, 1, "", 0},
		"busy, then ready": {[]int{503, 429, 200}, false, 3, "", 0},
		"busy all the time": {[]int{500, 500, 500, 200}, false, 3, "answered 500 Internal Server Error",
			Busy},
		"refused":                       {[]int{400, 200}, false, 1, "answered 400 Bad Request", Refused},
		"not known whether it was done": {[]int{500, 200}, true, 1, "answered 500 Internal Server Error", Busy},
		"known that it was not":         {[]int{503, 200}, true, 2, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			var last atomic.Value
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				last.Store(string(body))
				w.WriteHeader(c.status[asked.Add(1)-1])
			}))
			defer s.Close()
			client := Client{HTTP: s.Client()}
			p := client.Do(context.Background(), Request{
				Method: http.MethodPut, URL: s.URL, Once: c.once, Size: 4,
				Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("file")), nil },
			}, nil)
			if asked.Load() != c.asked || (p == nil) != (c.problem == "") || p != nil &&
				(p.Text != c.problem || p.Kind != c.wantKind) || last.Load() != "file" {
				t.Errorf("asked %d times, %v, last body %q", asked.Load(), p, last.Load())
			}
		})
	}
}

func TestMessagesOfOthersAreOneShortLineWithoutSecrets(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write(bytes.Repeat([]byte("no\nway s3cret \xff"), 100))
	}))
	defer s.Close()
	client := Client{
		HTTP: s.Client(), Credentials: "log in",
		Explain: func(body []byte) (string, string) { return "", string(body) },
		Redact:  func(text string) string { return strings.ReplaceAll(text, "s3cret", "***") },
	}
	p := client.Do(context.Background(), Request{Method: http.MethodGet, URL: s.URL}, nil)
	if p == nil || strings.Contains(p.Text, "\n") || !utf8.ValidString(p.Text) || strings.Contains(p.Text, "s3cret") ||
		len([]rune(p.Text)) > 400 || !strings.HasSuffix(p.Text, "…; log in") {
		t.Errorf("%+v", p)
	}
}

func TestAnEndlessAnswerEndsInTime(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer s.Close()
	client := Client{HTTP: s.Client(), Timeout: 50 * time.Millisecond}
	if p := client.Do(context.Background(), Request{Method: http.MethodGet, URL: s.URL}, nil); p == nil ||
		p.Kind != Hung {
		t.Errorf("%+v", p)
	}
}

// A service says how long to wait before the next attempt.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{"": 0, "3": 3 * time.Second, "-3": 0, "soon": 0, "99999999999": 0,
		"Tue, 24 Nov 2026 08:00:07 GMT": 7 * time.Second, "Tue, 24 Nov 2026 07:00:00 GMT": 0} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
	for name, c := range map[string]struct {
		after   string
		limit   time.Duration
		asked   int
		waited  time.Duration
		problem string
	}{
		"waited for":            {"7", time.Minute, 3, 14 * time.Second, ""},
		"shorter than our own":  {"0", time.Minute, 3, 750 * time.Millisecond, ""},
		"beyond the limit":      {"7", 10 * time.Second, 2, 7 * time.Second, "it asks to wait for 7 s, which is too long"},
		"too long at any limit": {"3600", time.Hour * 2, 1, 0, "it asks to wait for 3600 s, which is too long"},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			client := Client{HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) *http.Response {
				answer := &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{}, Request: r,
					Body: io.NopCloser(strings.NewReader(""))}
				answer.Header.Set("Retry-After", c.after)
				if asked++; asked == 3 {
					answer.StatusCode = http.StatusOK
				}
				return answer
			})}}
			ctx, cancel := context.WithTimeout(t.Context(), c.limit)
			defer cancel()
			begun := time.Now()
			p := client.Do(ctx, Request{Method: http.MethodGet, URL: "http://x"}, nil)
			waited := time.Since(begun)
			if asked != c.asked || waited != c.waited || (p == nil) != (c.problem == "") ||
				p != nil && (!strings.Contains(p.Text, c.problem) || p.Kind != Busy) {
				t.Errorf("%s: asked %d times in %s: %v", name, asked, waited, p)
			}
		})
	}
}

type roundTrip func(*http.Request) *http.Response

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }
