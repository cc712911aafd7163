package upload_test

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

	"aiperf/internal/publish/upload"
)

func TestTries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status   []int
		once     bool
		asked    int64
		problem  string
		wantKind upload.Kind
	}{
		"at once":          {[]int{200}, false, 1, "", 0},
		"busy, then ready": {[]int{503, 429, 200}, false, 3, "", 0},
		"busy all the time": {[]int{500, 500, 500, 200}, false, 3, "answered 500 Internal Server Error",
			upload.Busy},
		"refused":                       {[]int{400, 200}, false, 1, "answered 400 Bad Request", upload.Refused},
		"not known whether it was done": {[]int{500, 200}, true, 1, "answered 500 Internal Server Error", upload.Busy},
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
			client := upload.Client{HTTP: s.Client()}
			p := client.Do(context.Background(), upload.Request{
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
	client := upload.Client{
		HTTP: s.Client(), Credentials: "log in",
		Explain: func(body []byte) (string, string) { return "", string(body) },
		Redact:  func(text string) string { return strings.ReplaceAll(text, "s3cret", "***") },
	}
	p := client.Do(context.Background(), upload.Request{Method: http.MethodGet, URL: s.URL}, nil)
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
	client := upload.Client{HTTP: s.Client(), Timeout: 50 * time.Millisecond}
	if p := client.Do(context.Background(), upload.Request{Method: http.MethodGet, URL: s.URL}, nil); p == nil ||
		p.Kind != upload.Hung {
		t.Errorf("%+v", p)
	}
}

// A service says how long to wait before the next attempt.
func TestRetryAfter(t *testing.T) {
	for value, want := range map[string]time.Duration{"": 0, "3": 3 * time.Second, "-3": 0, "soon": 0, "99999999999": 0,
		// The clock of a bubble begins at Sat, 01 Jan 2000 00:00:00 GMT.
		"Sat, 01 Jan 2000 00:00:07 GMT": 7 * time.Second, "Fri, 31 Dec 1999 23:00:00 GMT": 0} {
		synctest.Test(t, func(t *testing.T) {
			client := upload.Client{HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) *http.Response {
				return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{"Retry-After": {value}},
					Request: r, Body: io.NopCloser(strings.NewReader(""))}
			})}}
			p := client.Do(t.Context(), upload.Request{Method: http.MethodGet, URL: "http://x"}, nil)
			if p == nil || p.After != want {
				t.Errorf("%q: %+v, want %s", value, p, want)
			}
		})
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
			client := upload.Client{HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) *http.Response {
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
			p := client.Do(ctx, upload.Request{Method: http.MethodGet, URL: "http://x"}, nil)
			waited := time.Since(begun)
			if asked != c.asked || waited != c.waited || (p == nil) != (c.problem == "") ||
				p != nil && (!strings.Contains(p.Text, c.problem) || p.Kind != upload.Busy) {
				t.Errorf("%s: asked %d times in %s: %v", name, asked, waited, p)
			}
		})
	}
}

type roundTrip func(*http.Request) *http.Response

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }
