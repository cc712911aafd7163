package prom_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"aiperf/internal/watch/prom"
)

func newFetcher(t *testing.T, o prom.FetchOptions) *prom.Fetcher {
	t.Helper()
	f, err := prom.NewFetcher(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL + "/metrics"
}

// wantError checks code, type and a part of the message.
func wantError(t *testing.T, err error, want prom.ErrorKey) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %+v", want)
	}
	got := prom.KeyOf(err)
	if got.Code != want.Code || got.Type != want.Type || !strings.Contains(got.Message, want.Message) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestFetch(t *testing.T) {
	endpoint := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "Application/OpenMetrics-Text; version=1.0.0")
		fmt.Fprintf(w, "%s|%s|%s|%s", r.Method, r.UserAgent(), r.Header.Get("Accept"), r.Header.Get("Accept-Encoding"))
	})
	f := newFetcher(t, prom.FetchOptions{UserAgent: "aiperf/1"})
	b, err := f.Fetch(context.Background(), endpoint, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := "GET|aiperf/1|text/plain;version=0.0.4, */*;q=0.1|gzip, deflate"; string(b.Text) != want {
		t.Errorf("got  %s\nwant %s", b.Text, want)
	}
	if !b.OpenMetrics() || b.FirstByteNS < b.RequestSentNS || b.LatencyNS < b.FirstByteNS-b.RequestSentNS {
		t.Errorf("body %+v", b)
	}
}

func TestFetchIntoUsesTheBuffer(t *testing.T) {
	endpoint := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a 1\n") })
	buf := make([]byte, 9, 4096)
	b, err := newFetcher(t, prom.FetchOptions{}).Fetch(context.Background(), endpoint, buf)
	if err != nil || string(b.Text) != "a 1\n" || &b.Text[0] != &buf[0] {
		t.Errorf("%q, %v", b.Text, err)
	}
}

func compress(t *testing.T, text string, w func(io.Writer) (io.WriteCloser, error)) string {
	t.Helper()
	var b bytes.Buffer
	c, err := w(&b)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(c, text)
	_ = c.Close()
	return b.String()
}

func gzipped(t *testing.T, s string) string {
	return compress(t, s, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
}

func TestContentEncodings(t *testing.T) {
	page := strings.Repeat("a 1\n", 1000)
	z := gzipped(t, page)
	zl := compress(t, page, func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil })
	raw := compress(t, page, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, 6) })
	f := newFetcher(t, prom.FetchOptions{MaxBody: 4000})
	for _, c := range []struct{ name, encoding, body, want string }{
		{"none", "", page, ""},
		{"identity", "identity", page, ""},
		{"gzip", "gzip", z, ""},
		{"gzip in capitals", "X-GZIP", z, ""},
		{"deflate with its header", "deflate", zl, ""},
		{"deflate without", "deflate", raw, ""},
		{"twice", "gzip, gzip", gzipped(t, z), ""},
		{"gzip again", "gzip", z, ""},
		{"cut gzip", "gzip", z[:len(z)-3], "connection closed by server while the page was read"},
		{"no gzip", "gzip", page, "gzip: invalid header"},
		{"cut deflate", "deflate", raw[:4], "connection closed by server"},
		{"another one", "br", page, `content encoding "br" was not asked for`},
		{"a bomb", "gzip", gzipped(t, strings.Repeat("a 1\n", 1<<20)), "the page is larger than 4000 bytes"},
		{"gzip after all that", "gzip", z, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			endpoint := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if c.encoding != "" {
					w.Header().Set("Content-Encoding", c.encoding)
				}
				_, _ = io.WriteString(w, c.body)
			})
			b, err := f.Fetch(context.Background(), endpoint, nil)
			if c.want == "" {
				if err != nil || string(b.Text) != page {
					t.Errorf("%d bytes, %v", len(b.Text), err)
				}
				return
			}
			wantError(t, err, prom.ErrorKey{0, "ClientPayloadError", c.want})
		})
	}
}

func TestNeverEndingPageIsCutAtTheLargestSize(t *testing.T) {
	endpoint := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := io.WriteString(w, "a 1\n"); err != nil {
				return
			}
		}
	})
	b, err := newFetcher(t, prom.FetchOptions{MaxBody: 100_000}).Fetch(context.Background(), endpoint, nil)
	wantError(t, err, prom.ErrorKey{0, "ClientPayloadError", "the page is larger than 100000 bytes"})
	if b.Text != nil {
		t.Errorf("%d bytes of text with an error", len(b.Text))
	}
}

func TestTrapJSONAnswerIsOneRequestAndIsNotRead(t *testing.T) {
	var requests atomic.Int32
	endpoint := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.Header().Set("Content-Type", "Application/JSON; charset=utf-8")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, "[]") // no gzip: reading it would be another error
	})
	_, err := newFetcher(t, prom.FetchOptions{}).Fetch(context.Background(), endpoint, nil)
	var content *prom.ContentTypeError
	want := "endpoint '" + endpoint +
		"' returned non-Prometheus content-type 'Application/JSON; charset=utf-8'; expected text/plain (Prometheus " +
		"exposition format)"
	if !errors.As(err, &content) || err.Error() != want || requests.Load() != 1 {
		t.Errorf("%d requests, %v", requests.Load(), err)
	}
}

func TestStatus(t *testing.T) {
	endpoint := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var code int
		_, _ = fmt.Sscan(r.URL.Query().Get("code"), &code)
		w.WriteHeader(code)
	})
	f := newFetcher(t, prom.FetchOptions{})
	for _, c := range []struct {
		code          int
		reachable, ok bool
		kind          string
	}{{200, true, true, ""}, {204, false, true, ""}, {404, false, false, "Not Found"},
		{503, false, false, "Service Unavailable"}, {599, false, false, "Unknown"}} {
		u := fmt.Sprintf("%s?code=%d", endpoint, c.code)
		if err := f.Probe(context.Background(), u); (err == nil) != c.reachable {
			t.Errorf("probe of %d: %v", c.code, err)
		}
		_, err := f.Fetch(context.Background(), u, nil)
		if c.ok && err != nil {
			t.Errorf("fetch of %d: %v", c.code, err)
		} else if !c.ok {
			wantError(t, err, prom.ErrorKey{c.code, c.kind, fmt.Sprintf("answered with status %d %s", c.code, c.kind)})
		}
	}
}

func TestConnectionIsKept(t *testing.T) {
	connections := map[string]bool{}
	endpoint := serve(t, func(w http.ResponseWriter, r *http.Request) {
		connections[r.RemoteAddr] = true
		if r.URL.Path == "/gone/metrics" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, strings.Repeat("a 1\n", 10000))
	})
	f := newFetcher(t, prom.FetchOptions{})
	for range 3 {
		_ = f.Probe(context.Background(), endpoint)
		_, _ = f.Fetch(context.Background(), endpoint, nil)
		_, _ = f.Fetch(context.Background(), strings.Replace(endpoint, "/metrics", "/gone/metrics", 1), nil)
	}
	if len(connections) != 1 {
		t.Errorf("%d connections", len(connections))
	}
}

func TestRedirects(t *testing.T) {
	describe := func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		fmt.Fprintf(w, "%s as %s:%s from %q", r.URL.Path, user, password, r.Referer())
	}
	other := serve(t, describe)
	var self string
	self = serve(t, func(w http.ResponseWriter, r *http.Request) {
		target := map[string]string{
			"/relative": "/end", "/absolute": strings.TrimSuffix(self, "/metrics") + "/end", "/other": other,
			"/loop": "/loop", "/file": "file:///etc/passwd", "/ftp": "ftp://h/",
		}[r.URL.Path]
		if target != "" {
			http.Redirect(w, r, target, http.StatusTemporaryRedirect)
			return
		}
		describe(w, r)
	})
	base := strings.Replace(strings.TrimSuffix(self, "/metrics"), "http://", "http://u:p@", 1)
	f := newFetcher(t, prom.FetchOptions{})
	for path, want := range map[string]string{
		"/relative?token=x": `/end as u:p from ""`,
		"/absolute?token=x": `/end as u:p from ""`,
		"/other?token=x":    `/metrics as : from ""`,
	} {
		if b, err := f.Fetch(context.Background(), base+path, nil); err != nil || string(b.Text) != want {
			t.Errorf("%s: %q, %v; want %q", path, b.Text, err, want)
		}
		if err := f.Probe(context.Background(), base+path); err != nil {
			t.Errorf("probe of %s: %v", path, err)
		}
	}
	for path, want := range map[string]prom.ErrorKey{
		"/loop": {0, "TooManyRedirects", "stopped after 10 redirects"},
		"/file": {0, "NonHttpUrlRedirectClientError", `redirect to a "file" URL is not followed`},
		"/ftp":  {0, "NonHttpUrlRedirectClientError", `redirect to a "ftp" URL is not followed`},
	} {
		_, err := f.Fetch(context.Background(), base+path, nil)
		wantError(t, err, want)
	}
}

func TestCertificates(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = io.WriteString(w, "a 1\n")
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	plain := serve(t, func(http.ResponseWriter, *http.Request) {})
	for _, c := range []struct {
		name, endpoint, kind string
		options              prom.FetchOptions
	}{
		{"unknown authority", s.URL, "ClientConnectorCertificateError", prom.FetchOptions{SSLVerify: true}},
		{"known authority", s.URL, "", prom.FetchOptions{SSLVerify: true, RootCAs: roots}},
		{"not verified", s.URL, "", prom.FetchOptions{}},
		{"no TLS there", strings.Replace(plain, "http://", "https://", 1), "ClientConnectorSSLError",
			prom.FetchOptions{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := newFetcher(t, c.options).Fetch(context.Background(), c.endpoint, nil)
			if c.kind == "" {
				if err != nil || string(b.Text) != "a 1\n" {
					t.Errorf("%q, %v", b.Text, err)
				}
				return
			}
			wantError(t, err, prom.ErrorKey{0, c.kind, "cannot connect to 127.0.0.1:"})
		})
	}
}

func TestProxy(t *testing.T) {
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "for "+r.URL.String()) })
	via, _ := url.Parse(proxy)
	f := newFetcher(t, prom.FetchOptions{Proxy: func(*http.Request) (*url.URL, error) { return via, nil }})
	b, err := f.Fetch(context.Background(), "http://nowhere.invalid/metrics", nil)
	if err != nil || string(b.Text) != "for http://nowhere.invalid/metrics" {
		t.Errorf("%q, %v", b.Text, err)
	}
}

func TestIPVersions(t *testing.T) {
	for _, c := range []struct{ version, host, network string }{
		{"", "h", "tcp4"}, {"4", "h", "tcp4"}, {"6", "h", "tcp6"}, {"auto", "h", "tcp"}, {"4", "[::1]", "tcp"},
		{"6", "127.0.0.1", "tcp"},
	} {
		var network string
		f := newFetcher(t, prom.FetchOptions{IPVersion: c.version,
			Dial: func(_ context.Context, n, _ string) (net.Conn, error) {
				network = n
				return nil, &net.OpError{Op: "dial", Err: errors.New("no")}
			}})
		_ = f.Probe(context.Background(), "http://"+c.host+":1/metrics")
		if network != c.network {
			t.Errorf("version %q, host %s: network %q, want %q", c.version, c.host, network, c.network)
		}
	}
	if _, err := prom.NewFetcher(prom.FetchOptions{IPVersion: "5"}); err == nil {
		t.Error("IP version 5 was accepted")
	}
}

func TestConnectErrors(t *testing.T) {
	closed := "127.0.0.1:1"
	f := newFetcher(t, prom.FetchOptions{})
	err := f.Probe(context.Background(), "http://user:hunter2@"+closed+"/metrics?token=hunter2")
	wantError(t, err, prom.ErrorKey{0, "ClientConnectorError", "cannot connect to " + closed + " [connection refused]"})
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("secret in %v", err)
	}

	lost := newFetcher(t, prom.FetchOptions{Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "h", IsNotFound: true}}
	}})
	_, err = lost.Fetch(context.Background(), "http://h:1/metrics", nil)
	wantError(t, err, prom.ErrorKey{0, "ClientConnectorDNSError", "cannot connect to h:1 [no such host]"})

	for _, bad := range []string{"file:///etc/passwd", "h:1/metrics", "http:///metrics", "http://user:hunter2@h:%zz/"} {
		_, err = f.Fetch(context.Background(), bad, nil)
		wantError(t, err, prom.ErrorKey{0, "ValueError", "is not an http or https URL"})
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("secret in %v", err)
		}
	}
}

func TestCancelledFetch(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	endpoint := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "a 1\n")
		_ = http.NewResponseController(w).Flush()
		cancel()
		<-r.Context().Done()
	})
	_, err := newFetcher(t, prom.FetchOptions{}).Fetch(ctx, endpoint, nil)
	wantError(t, err, prom.ErrorKey{0, "CancelledError", "cancelled"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not wrap the cancellation", err)
	}
}

func TestDuplicates(t *testing.T) {
	d := prom.NewDuplicates()
	var got []bool
	for _, body := range []string{"", "a 1", "a 1", "a 2", "a 1", "a 1"} {
		got = append(got, d.Same([]byte(body)))
	}
	d.Reset()
	got = append(got, d.Same([]byte("a 1")))
	if want := "[false false true false false true false]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// The system's clock may be set while a run goes on; the run's own wall clock is not.
func TestInstantsAreThoseOfTheClockGiven(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a 1\n") })
	ahead := time.Hour
	f := newFetcher(t, prom.FetchOptions{WallNS: func(at time.Time) int64 { return at.Add(ahead).UnixNano() }})
	before := time.Now()
	b, err := f.Fetch(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	from, to := before.Add(ahead).UnixNano(), time.Now().Add(ahead).UnixNano()
	if b.RequestSentNS < from || b.FirstByteNS < b.RequestSentNS || b.FirstByteNS > to {
		t.Errorf("sent at %d, first byte at %d, the clock went from %d to %d", b.RequestSentNS, b.FirstByteNS, from, to)
	}
}
