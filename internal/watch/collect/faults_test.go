package collect

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/base/testkit"
	"aiperf/internal/watch/prom"
)

// endless sends a page that does not end before the connection does.
func endless(w http.ResponseWriter, r *http.Request) {
	line := []byte(strings.Repeat("a 1\n", 4096))
	for n := 0; n < 500<<20 && r.Context().Err() == nil; n += len(line) {
		if _, err := w.Write(line); err != nil {
			return
		}
	}
}

// truncated ends its connection in the middle of a line.
func truncated(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	_, _ = io.WriteString(w, "# TYPE a gauge\na 1")
}

// TestBadPagesLeaveOtherEndpointsAlone has one endpoint that answers badly beside one that answers well.
func TestBadPagesLeaveOtherEndpointsAlone(t *testing.T) {
	for _, c := range []struct {
		name string
		page http.HandlerFunc
		want string // the type of the error
	}{
		{"HTML", typed("text/html", "<html><body>404</body></html>"), "IncompatibleMetricsEndpointError"},
		{"JSON", jsonPage, "IncompatibleMetricsEndpointError"},
		{"JSON that claims to be text", text(`{"a": 1}`), "IncompatibleMetricsEndpointError"},
		{"binary", text("\x00\x01\x02\xff\xfe\n\n"), "IncompatibleMetricsEndpointError"},
		{"truncated", truncated, "ClientPayloadError"},
		{"500 MB", endless, "ClientPayloadError"},
		{"status", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
			"Internal Server Error"},
		{"wrong gzip", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = io.WriteString(w, "a 1\n")
		}, "ClientPayloadError"},
		{"redirects for ever", func(w http.ResponseWriter,
			r *http.Request) {
			http.Redirect(w, r, "/metrics", http.StatusFound)
		}, "TooManyRedirects"},
		{"redirect to a file", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		}, "NonHttpUrlRedirectClientError"},
	} {
		t.Run(c.name, func(t *testing.T) {
			good := newSite(t, map[string]http.HandlerFunc{"/metrics": text(metricsText)})
			bad := newSite(t, map[string]http.HandlerFunc{"/metrics": c.page})
			o := Options{
				URLs:  []string{bad.URL, good.URL},
				Fetch: prom.FetchOptions{ReadTimeout: 30 * time.Second, MaxBody: 1 << 20},
			}
			r := newRig(t, o, nil)
			r.onlyOneFails(t, good.URL, bad.URL, c.want)
		})
	}
}

// onlyOneFails scrapes a good and a bad server. The bad one costs one warning and one error.
func (r *rig) onlyOneFails(t *testing.T, good, bad, want string) {
	t.Helper()
	const rounds = 3
	for range rounds {
		r.scrapeOnce()
	}
	if got := r.values(good + "/metrics"); len(got) != rounds {
		t.Errorf("%d scrapes of the other endpoint", len(got))
	}
	if got := r.log.warnings(); len(got) != 1 || !strings.Contains(got[0], bad) {
		t.Errorf("warnings %q", got)
	}
	if got := r.Errors(); len(got) != 1 || got[0].Type != want {
		t.Errorf("errors %+v", got)
	}
	if got := r.values(bad + "/metrics"); len(got) != 0 {
		t.Errorf("kept %v", got)
	}
}

// One endpoint sends half a page and nothing more.
func TestAPageThatStallsLeavesOtherEndpointsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var servers sync.WaitGroup
		defer servers.Wait()
		dial := func(_ context.Context, _, address string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			servers.Go(func() {
				defer theirs.Close()
				in := bufio.NewReader(theirs)
				for {
					if _, err := http.ReadRequest(in); err != nil {
						return
					}
					length := len(metricsText)
					if strings.HasPrefix(address, "bad") {
						length++
					}
					_, _ = fmt.Fprintf(theirs, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s",
						length, metricsText)
				}
			})
			return ours, nil
		}
		r := newRig(t, Options{URLs: []string{"http://bad:1", "http://good:1"},
			Fetch: prom.FetchOptions{ReadTimeout: 2 * time.Second, Dial: dial}}, nil)
		start := time.Now()
		r.onlyOneFails(t, "http://good:1", "http://bad:1", "TimeoutError")
		if took := time.Since(start); took < 2*time.Second {
			t.Errorf("gave up after %s", took)
		}
		_ = r.Close()
	})
}

// at serves at an address that the caller has reserved.
func at(t *testing.T, address string, h http.Handler) *httptest.Server {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	_ = s.Listener.Close()
	s.Listener = listener
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func TestEndpointThatDiesAndComesBack(t *testing.T) {
	addr := testkit.Address(t)
	s := newSite(t, map[string]http.HandlerFunc{})
	first := at(t, addr, s.Config.Handler)
	s.URL = first.URL
	r := newRig(t, Options{URLs: []string{s.URL}}, nil)
	say := func(n int) { s.set("/metrics", text(fmt.Sprintf("# TYPE a counter\na_total %d\n", n))) }
	say(10)
	r.scrapeOnce()
	say(20)
	r.scrapeOnce()
	first.Close()
	r.scrapeOnce()
	r.scrapeOnce()

	at(t, addr, text("# TYPE a counter\na_total 3\n"))
	r.scrapeOnce()

	if got := r.values(s.URL + "/metrics"); !slices.Equal(got, []float64{10, 20, 3}) {
		t.Errorf("values %v", got)
	}
	if got := r.log.warnings(); len(got) != 1 || !strings.Contains(got[0], "connection refused") {
		t.Errorf("warnings %q", got)
	}
	if got := r.Errors(); len(got) != 1 || got[0].Count != 2 {
		t.Errorf("errors %+v", got)
	}
	if series := r.Store().Endpoints()[0].Series(); len(series) != 1 || series[0].Family.Name != "a" {
		t.Errorf("series %v", series)
	}
}

func TestCompressedAndRedirectedPages(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{
		"/metrics": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/inner", http.StatusTemporaryRedirect)
		},
		"/inner": func(w http.ResponseWriter, r *http.Request) {
			if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
				t.Error("gzip was not asked for")
			}
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, metricsText)
			_ = z.Close()
		},
	})
	r := newRig(t, Options{URLs: []string{s.URL}}, nil)
	if !r.Probe(context.Background()) {
		t.Error("the endpoint answers")
	}
	r.scrapeOnce()
	if got := r.values(s.URL + "/metrics"); !slices.Equal(got, []float64{1}) {
		t.Errorf("values %v, log %q", got, r.log.lines)
	}
}

func TestOpenMetricsPage(t *testing.T) {
	page := "# TYPE a counter\na_total 5 # {t=\"1\"} 1\na_created 1.7e9\n# TYPE b info\nb_info{v=\"1\"} 1\n# EOF\n"
	s := newSite(t, map[string]http.HandlerFunc{"/metrics": typed("application/openmetrics-text; version=1.0.0", page)})
	r := newRig(t, Options{URLs: []string{s.URL}}, nil)
	r.scrapeOnce()
	var names []string
	for _, series := range r.Store().Endpoints()[0].Series() {
		names = append(names, series.Family.Name)
	}
	if !slices.Equal(names, []string{"a", "b_info"}) {
		t.Errorf("names %v", names)
	}
}

func TestTrapCreationTimesAndUptimesNeverAppear(t *testing.T) {
	page := "x_created 1\nprocess_uptime_seconds 1\ndynamo_component_uptime_seconds 1\nprocess_start_time_seconds 1\n"
	s := newSite(t, map[string]http.HandlerFunc{"/metrics": text(page)})
	r := newRig(t, Options{URLs: []string{s.URL}}, nil)
	r.scrapeOnce()
	samples := r.sink.all()[0].Samples
	series := r.Store().Endpoints()[0].Series()
	if len(series) != 1 || series[0].Family.Name != "process_start_time_seconds" || len(samples) != 1 {
		t.Errorf("series %v, samples %v", series, samples)
	}
}

func TestNoticesAreToldOnce(t *testing.T) {
	var many strings.Builder
	for i := range 10 * maxNotices {
		fmt.Fprintf(&many, "m%d +Inf\n", i)
	}
	page := "# TYPE s summary\ns_sum 1\n# TYPE h gauge\nh NaN\n"
	a := newSite(t, map[string]http.HandlerFunc{"/metrics": text(page + "g 1\n")})
	b := newSite(t, map[string]http.HandlerFunc{"/metrics": text(page + "g 1\n")})
	r := newRig(t, Options{URLs: []string{a.URL, b.URL}}, nil)
	r.scrapeOnce()
	r.scrapeOnce()
	if got := r.log.with("INFO Skipping unsupported summary metric: s"); len(got) != 1 {
		t.Errorf("log %q", r.log.lines)
	}
	if got := r.log.warnings(); len(got) != 1 || !strings.Contains(got[0], "Metric h ") {
		t.Errorf("warnings %q", got)
	}
	a.set("/metrics", text(many.String()+"g 1\n"))
	r.scrapeOnce()
	if got := r.log.warnings(); len(got) != maxNotices+1 ||
		!strings.Contains(got[maxNotices], "further ones are not shown") {
		t.Errorf("%d warnings, the last %q", len(got), got[len(got)-1])
	}
}

func TestSecretsStayOutOfLogsAndResults(t *testing.T) {
	html := text("<html>")
	s := newSite(t, map[string]http.HandlerFunc{"/metrics": html, "/prometheus/metrics": html})
	down := newSite(t, nil)
	with := func(s *site) string { return strings.Replace(s.URL, "http://", "http://me:hush@", 1) + "?token=hush" }
	r := newRig(t, Options{Extra: []string{with(s), with(down) + "2"}}, nil)
	r.Probe(context.Background())
	r.Baseline(context.Background())
	said := strings.Join(r.log.lines, "\n") + strings.Join(r.Configured(), " ") + strings.Join(r.Successful(),
		" ") + fmt.Sprint(r.Errors())
	if strings.Contains(said, "hush") || !strings.Contains(said, "<redacted>") {
		t.Errorf("said %s", said)
	}
	if got := s.requests(); got["/metrics?token=hush"] != 2 || got["/prometheus/metrics?token=hush"] != 1 {
		t.Errorf("asked %v", got)
	}
}
