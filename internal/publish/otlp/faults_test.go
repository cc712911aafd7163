package otlp

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metricpb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"aiperf/internal/base/testkit"
)

// TestMain runs eight tests at a time: nearly all wait.
func TestMain(m *testing.M) { os.Exit(testkit.Parallel{M: m, Limit: 8}.Run()) }

func serveHandler(tb testing.TB, h http.Handler) *url.URL {
	tb.Helper()
	server := httptest.NewServer(h)
	tb.Cleanup(server.Close)
	return parse(tb, server.URL)
}

// silent accepts connections and never says a word.
func silent(tb testing.TB) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

func refusing(status int, contentType, body string) *received {
	return &received{answer: func(int) error { return &statusError{status, contentType, body} }}
}

func TestACollectorThatCannotBeUsedIsToldOnceAndLeftAlone(t *testing.T) {
	t.Parallel()
	secured := httptest.NewUnstartedServer(&received{})
	secured.EnableHTTP2 = true
	secured.Config.ErrorLog = log.New(io.Discard, "", 0)
	secured.StartTLS()
	t.Cleanup(secured.Close)
	redirect := serveHandler(t, http.RedirectHandler("http://127.0.0.1:1/", http.StatusMovedPermanently))
	overHTTP, overGRPC := serveHTTP(t, &received{}), serveGRPC(t, &received{})
	denying := serveGRPC(t, &received{answer: func(int) error {
		return status.Error(codes.Unauthenticated,
			"no token")
	}})
	for name, tt := range map[string]struct{ url, want string }{
		"nobody listens":       {"http://" + testkit.Address(t), "cannot be reached: connection refused;"},
		"nobody listens, gRPC": {"grpc://" + testkit.Address(t), "cannot be reached: connection refused;"},
		"never answers":        {"http://" + silent(t), "did not answer in time;"},
		"never answers, gRPC":  {"grpc://" + silent(t), "did not answer in time;"},
		"no such host":         {"http://no-such-host.invalid", "cannot be reached: "},
		"credentials": {serveHTTP(t, refusing(401, "text/plain", "who are you?")).String(),
			"answered 401 Unauthorized: who are you?; " + hintCredentials + ";"},
		"credentials, gRPC": {denying.String(), "answered Unauthenticated: no token; " + hintCredentials + ";"},
		"another path": {overHTTP.String() + "/else",
			"answered 404 Not Found: 404 page not found; there is no OTLP receiver at this path;"},
		"a web page": {serveHTTP(t, refusing(403, "text/html", "<html>")).String(),
			"answered 403 Forbidden; " + hintCredentials + ";"},
		"a redirect": {redirect.String(),
			"answered 301 Moved Permanently; redirects are not followed: use the address that it points to;"},
		"gRPC asked over HTTP":    {"http://" + overGRPC.Host, hintGRPC},
		"HTTP asked over gRPC":    {"grpc://" + overHTTP.Host, hintHTTP},
		"unknown authority":       {secured.URL, hintTrust},
		"unknown authority, gRPC": {"grpcs://" + strings.TrimPrefix(secured.URL, "https://"), hintTrust},
		"no TLS":                  {"https://" + overHTTP.Host, hintPlain},
		"no TLS, gRPC":            {"grpcs://" + overHTTP.Host, hintPlain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, log := testOptions(t, parse(t, tt.url))
			o.Timeout = 3 * time.Second
			s, err := newStream(o.Options, o.run)
			if err != nil {
				t.Fatal(err)
			}
			eventually(t, "a warning", func() bool { return len(log.warnings()) > 0 })
			eventually(t, "the end of the stream", s.off.Load)
			for range 100 {
				s.record(sampleRecord(3))
			}
			began := time.Now()
			s.flush()
			if wait := time.Since(began); wait > o.Timeout*3/4 {
				t.Errorf("the run waited %v for a stream that is off", wait)
			}
			w := log.warnings()
			if len(w) != 1 || !strings.HasPrefix(w[0], "--otel-url "+strings.TrimSuffix(tt.url, "/")) ||
				!strings.Contains(w[0], tt.want) || !strings.HasSuffix(w[0], "; nothing is streamed in this run") {
				t.Errorf("warnings %q\nwant one with %q", w, tt.want)
			}
		})
	}
}

func TestABusyCollectorIsAskedAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		serve  func(testing.TB, *received) *url.URL
		answer error
		want   string
	}{
		"HTTP": {serveHTTP, &statusError{503, "text/plain", "starting"},
			"answered 503 Service Unavailable: starting; retrying"},
		"gRPC": {serveGRPC, status.Error(codes.Unavailable, "starting"),
			"answered Unavailable: starting; retrying"},
	} {
		t.Run(name, func(t *testing.T) {
			c := &received{answer: func(n int) error {
				if n < 3 {
					return tt.answer
				}
				return nil
			}}
			o, log := testOptions(t, tt.serve(t, c))
			s, err := newStream(o.Options, o.run)
			if err != nil {
				t.Fatal(err)
			}
			s.record(sampleRecord(3))
			eventually(t, "a push", func() bool { return c.count() > 0 })
			s.flush()
			if w := log.warnings(); len(w) != 1 || !strings.Contains(w[0], tt.want) {
				t.Errorf("warnings %q", w)
			}
			if !strings.Contains(log.String(), "accepts pushes again, after 3 failed pushes") {
				t.Errorf("log:\n%s", log)
			}
			if p := histogram(t, c.metrics(-1)["aiperf.request_count"]); p.Count != 1 {
				t.Errorf("%d requests arrived", p.Count)
			}
		})
	}
}

// restartable is a collector at one address that goes and comes back.
type restartable struct {
	t       *testing.T
	address string
	c       *received
	server  *http.Server
}

func (r *restartable) start() {
	r.t.Helper()
	var l net.Listener
	eventually(r.t, "listening", func() bool {
		var err error
		l, err = net.Listen("tcp", r.address)
		return err == nil
	})
	r.server = &http.Server{Handler: r.c}
	go func(s *http.Server) { _ = s.Serve(l) }(r.server)
}

// stop ends the collector when it has answered the push under way: one without an answer would come twice.
func (r *restartable) stop() { _ = r.server.Shutdown(context.Background()) }

func TestACollectorThatDiesAndReturnsLacksNothing(t *testing.T) {
	t.Parallel()
	for _, temporality := range []string{"cumulative", "delta"} {
		t.Run(temporality, func(t *testing.T) {
			r := &restartable{t: t, address: testkit.Address(t), c: &received{}}
			r.start()
			o, log := testOptions(t, parse(t, "http://"+r.address))
			o.Environment = environment(t, map[string]string{"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": temporality})
			s, err := newStream(o.Options, o.run)
			if err != nil {
				t.Fatal(err)
			}
			s.record(sampleRecord(3))
			eventually(t, "a push", func() bool { return c2(r.c, "aiperf.request_count") >= 1 })
			r.stop()
			s.record(sampleRecord(3))
			eventually(t, "a failed push", func() bool { return s.failing.Load() != nil })
			s.record(sampleRecord(3))
			r.start()
			defer func() { r.stop() }()
			eventually(t, "recovery", func() bool { return s.failing.Load() == nil })
			s.record(sampleRecord(3))
			s.flush()
			if got := total(r.c, temporality); got != 4 {
				t.Errorf("%d requests arrived, want 4", got)
			}
			if w := log.warnings(); len(w) != 1 || !strings.Contains(w[0], "; retrying, the run continues") {
				t.Errorf("warnings %q", w)
			}
			if !strings.Contains(log.String(), "accepts pushes again") ||
				!strings.Contains(log.String(), "received the metrics of 4 requests") {
				t.Errorf("log:\n%s", log)
			}
		})
	}
}

// c2 is the number of pushes that have a metric.
func c2(c *received, name string) int {
	n := 0
	for i := range c.count() {
		if c.metrics(i)[name] != nil {
			n++
		}
	}
	return n
}

// total is the number of requests that arrived.
func total(c *received, temporality string) (n uint64) {
	for i := range c.count() {
		if h := c.metrics(i)["aiperf.request_count"].GetHistogram(); h != nil {
			sum := h.DataPoints[0].Count
			if temporality == "delta" {
				n += sum
			} else {
				n = sum
			}
			if (h.AggregationTemporality == metricpb.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA) != (temporality == "delta") {
				return 0
			}
		}
	}
	return n
}

// serveUntilHung serves by next until it is told to hang; what hangs ends with the test.
func serveUntilHung(t *testing.T, next http.Handler) (*url.URL, *atomic.Bool) {
	t.Helper()
	release, hang := make(chan struct{}), new(atomic.Bool)
	at := serveHandler(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hang.Load() {
			<-release
			return
		}
		next.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { close(release) })
	return at, hang
}

func TestACollectorThatHangsDoesNotDelayTheRun(t *testing.T) {
	t.Parallel()
	c := &received{}
	at, hang := serveUntilHung(t, c)
	o, log := testOptions(t, at)
	o.Timeout = 2 * time.Second
	s, err := newStream(o.Options, o.run)
	if err != nil {
		t.Fatal(err)
	}
	s.record(sampleRecord(3))
	eventually(t, "a push", func() bool { return c2(c, "aiperf.request_count") > 0 })
	hang.Store(true)
	began := time.Now()
	for range 500 {
		s.record(sampleRecord(3))
	}
	if took := time.Since(began); took > o.Timeout*3/4 {
		t.Errorf("500 requests were handed over in %v", took)
	}
	eventually(t, "a failed push", func() bool { return s.failing.Load() != nil })
	began = time.Now()
	s.flush()
	if took := time.Since(began); took > o.Timeout+20*time.Second {
		t.Errorf("the end took %v", took)
	}
	w := log.warnings()
	if len(w) != 2 || !strings.Contains(w[0], "did not answer in time; retrying") ||
		!strings.Contains(w[1], "the last push failed: ") ||
		!strings.HasSuffix(w[1],
			"did not answer in time; it lacks 500 of 501 requests and the final metrics of the load") {
		t.Errorf("warnings %q", w)
	}
}

func TestACollectorThatComesBackInTheEndGetsEverything(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	c := &received{answer: func(int) error {
		if n := asked.Add(1); n == 2 || n == 3 { // the probe, then two of three tries
			return &statusError{503, "text/plain", "later"}
		}
		return nil
	}}
	o, log := testOptions(t, serveHTTP(t, c))
	o.Interval = time.Hour
	s, err := newStream(o.Options, o.run)
	if err != nil {
		t.Fatal(err)
	}
	s.record(sampleRecord(3))
	s.flush()
	if total(c, "cumulative") != 1 || len(log.warnings()) > 0 {
		t.Errorf("log:\n%s", log)
	}
}

func TestABacklogIsBoundedAndWhatItLosesIsTold(t *testing.T) {
	t.Parallel()
	var refuse atomic.Bool
	c := &received{answer: func(int) error {
		if refuse.Load() {
			return &statusError{503, "text/plain", "full"}
		}
		return nil
	}}
	o, log := testOptions(t, serveHTTP(t, c))
	o.Interval, o.Timeout = time.Hour, time.Minute // which bounds all pushes at the end together
	o.Environment = environment(t, map[string]string{"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": "delta"})
	s, err := newStream(o.Options, o.run)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the probe", s.answered.Load)
	refuse.Store(true)
	const more = 3
	for range maxBacklog + more {
		s.record(sampleRecord(2))
		s.pushOnce()
	}
	refuse.Store(false)
	s.flush()
	// The last push makes one collection more.
	if got := total(c, "delta"); got != maxBacklog-1 {
		t.Errorf("%d requests arrived, want %d", got, maxBacklog-1)
	}
	if !slices.ContainsFunc(log.warnings(),
		func(w string) bool { return strings.Contains(w, "the metrics of 4 requests were dropped") }) {
		t.Errorf("log:\n%s", log)
	}
}

// What a collector will never accept is dropped and reported; it does not block what follows.
func TestABatchThatIsRejectedDoesNotBlockTheNext(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		serve  func(testing.TB, *received) *url.URL
		answer error
	}{
		"HTTP": {serveHTTP, &statusError{400, "text/plain", "bad point"}},
		"gRPC": {serveGRPC, status.Error(codes.InvalidArgument, "bad point")},
	} {
		t.Run(name, func(t *testing.T) {
			c := &received{answer: func(n int) error {
				if n == 1 || n == 2 { // the probe, then the first push as often as it is tried
					return tt.answer
				}
				return nil
			}}
			o, log := testOptions(t, tt.serve(t, c))
			o.Interval = time.Hour
			o.Environment = environment(t, map[string]string{"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": "delta"})
			s, err := newStream(o.Options, o.run)
			if err != nil {
				t.Fatal(err)
			}
			eventually(t, "the probe", func() bool { return c.count() == 1 })
			for range 3 {
				s.record(sampleRecord(2))
				s.report(s.pushOnce())
			}
			s.record(sampleRecord(2))
			s.flush()
			if got := total(c, "delta"); got != 2 {
				t.Errorf("%d requests arrived, want 2", got)
			}
			w := log.warnings()
			if len(w) != 2 || !strings.Contains(w[0], "bad point; these metrics are dropped, the run continues") ||
				!strings.Contains(w[1], "the metrics of 2 requests were dropped") {
				t.Errorf("warnings %q", w)
			}
		})
	}
}

// Requests that nobody had the time to add are not there either.
func TestTheLastWordCountsWhatWasNeverAdded(t *testing.T) {
	t.Parallel()
	c := &received{}
	at, hang := serveUntilHung(t, c)
	o, log := testOptions(t, at)
	o.Timeout, o.MaxBatch = 300*time.Millisecond, 1000
	s, err := newStream(o.Options, o.run)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the probe", func() bool { return c.count() > 0 })
	hang.Store(true)
	s.record(sampleRecord(2))
	eventually(t, "a push under way", func() bool { return s.added.Load() == 1 })
	for range 20 {
		s.record(sampleRecord(2))
	}
	s.flush()
	w := log.warnings()
	if len(w) == 0 || !strings.Contains(w[len(w)-1], "it lacks 21 of 21 requests") {
		t.Errorf("warnings %q", w)
	}
}

func TestAShortRunDoesNotWaitLongForACollectorThatHangs(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"http://", "grpc://"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			o, log := testOptions(t, parse(t, scheme+silent(t)))
			o.Timeout = time.Minute
			s, err := newStream(o.Options, o.run)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			s.flush()
			if took := time.Since(began); took > o.Timeout/2 {
				t.Errorf("the end took %v", took)
			}
			if w := log.warnings(); len(w) != 1 ||
				!strings.HasSuffix(w[0], " did not answer in time; nothing was streamed") {
				t.Errorf("warnings %q", w)
			}
		})
	}
}

func TestARunWithoutResultsEndsAtOnce(t *testing.T) {
	t.Parallel()
	o, log := testOptions(t, parse(t, "http://"+silent(t)))
	o.Timeout = time.Minute
	s, err := newStream(o.Options, o.run)
	if err != nil {
		t.Fatal(err)
	}
	s.record(sampleRecord(2))
	began := time.Now()
	s.close()
	s.flush()
	s.close()
	if took := time.Since(began); took > o.Timeout/2 || len(log.warnings()) > 0 {
		t.Errorf("it took %v; log:\n%s", took, log)
	}
}
