package otlp

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	colmetricpb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	metricpb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"aiperf/internal/publish/progress"
)

// received is what a collector of the tests got, by any protocol.
type received struct {
	colmetricpb.UnimplementedMetricsServiceServer

	mu     sync.Mutex
	pushes []*colmetricpb.ExportMetricsServiceRequest
	heads  []http.Header
	// answer decides over a push by its number from 0; nil takes all of them.
	answer func(n int) error
	// partial is answered where a push is taken.
	partial *colmetricpb.ExportMetricsPartialSuccess
	asked   int
}

func (c *received) take(request *colmetricpb.ExportMetricsServiceRequest) (*colmetricpb.ExportMetricsServiceResponse,
	error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.asked
	c.asked++
	if c.answer != nil {
		if err := c.answer(n); err != nil {
			return nil, err
		}
	}
	c.pushes = append(c.pushes, request)
	return &colmetricpb.ExportMetricsServiceResponse{PartialSuccess: c.partial}, nil
}

// Export implements the service of OTLP over gRPC.
func (c *received) Export(_ context.Context,
	request *colmetricpb.ExportMetricsServiceRequest) (*colmetricpb.ExportMetricsServiceResponse, error) {
	return c.take(request)
}

// statusError is an answer over HTTP.
type statusError struct {
	status      int
	contentType string
	body        string
}

func (e *statusError) Error() string { return e.body }

// ServeHTTP implements OTLP over HTTP.
func (c *received) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	request := new(colmetricpb.ExportMetricsServiceRequest)
	if err != nil || r.URL.Path != metricsPath || r.Method != http.MethodPost || proto.Unmarshal(body, request) != nil {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	c.mu.Lock()
	c.heads = append(c.heads, r.Header)
	c.mu.Unlock()
	reply, err := c.take(request)
	if failure, ok := err.(*statusError); ok {
		w.Header().Set("Content-Type", failure.contentType)
		w.WriteHeader(failure.status)
		_, _ = io.WriteString(w, failure.body)
		return
	}
	out, _ := proto.Marshal(reply)
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(out)
}

func (c *received) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pushes)
}

// metrics are those of a push by name; nil if there was no such push.
func (c *received) metrics(push int) map[string]*metricpb.Metric {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string]*metricpb.Metric{}
	if push < 0 {
		push += len(c.pushes)
	}
	for _, rm := range c.pushes[push].ResourceMetrics {
		for _, sm := range rm.ScopeMetrics {
			for _, m := range sm.Metrics {
				out[m.Name] = m
			}
		}
	}
	return out
}

func serveHTTP(tb testing.TB, c *received) *url.URL {
	tb.Helper()
	server := httptest.NewServer(c)
	tb.Cleanup(server.Close)
	return parse(tb, server.URL)
}

func serveGRPC(tb testing.TB, c *received) *url.URL {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	server := grpc.NewServer()
	colmetricpb.RegisterMetricsServiceServer(server, c)
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(listener) }()
	tb.Cleanup(func() { server.Stop(); <-done })
	return parse(tb, "grpc://"+listener.Addr().String())
}

func parse(tb testing.TB, text string) *url.URL {
	tb.Helper()
	u, err := url.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	return u
}

// lines is a log that tests look at.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// warnings are the lines at that level.
func (l *lines) warnings() []string {
	var list []string
	for line := range strings.Lines(l.String()) {
		if after, ok := strings.CutPrefix(line, "WARN "); ok {
			list = append(list, strings.TrimSpace(after))
		}
	}
	return list
}

type lineHandler struct{ to *lines }

func (h lineHandler) Enabled(context.Context, slog.Level) bool { return true }
func (h lineHandler) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h lineHandler) WithGroup(string) slog.Handler            { return h }
func (h lineHandler) Handle(_ context.Context, r slog.Record) error {
	_, err := io.WriteString(h.to, r.Level.String()+" "+r.Message+"\n")
	return err
}

// noEnvironment is that of a machine on which nothing is set.
func noEnvironment(tb testing.TB) Environment {
	tb.Helper()
	return environment(tb, nil)
}

func environment(tb testing.TB, set map[string]string) Environment {
	tb.Helper()
	e, err := ReadEnvironment(func(name string) (string, bool) { v, ok := set[name]; return v, ok })
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// publication is what a test streams, and how.
type publication struct {
	Options
	run *progress.Run
}

// testOptions are those of a stream that pushes often.
func testOptions(tb testing.TB, u *url.URL) (publication, *lines) {
	log := &lines{}
	return publication{Options{
		URL: u, Environment: noEnvironment(tb), Requests: true, Timing: true,
		Interval: 20 * time.Millisecond, Timeout: 5 * time.Second, MaxBatch: 10, MaxBuffered: 1000,
	}, &progress.Run{
		Metrics: streamingSet(tb), EndpointType: "chat", Models: []string{"mock-model"},
		URLs:        []string{"http://127.0.0.1:1/v1/chat/completions"},
		BenchmarkID: "id-1", Version: "1.2.3",
		Log: func(string) *slog.Logger { return slog.New(lineHandler{log}) },
	}}, log
}

// newTestStream starts a stream to a collector of its own over HTTP, with an interval that never ends.
func newTestStream(tb testing.TB, change func(*Options)) (*stream, *received) {
	tb.Helper()
	c := &received{}
	o, _ := testOptions(tb, serveHTTP(tb, c))
	o.Interval = time.Hour
	if change != nil {
		change(&o.Options)
	}
	s, err := newStream(o.Options, o.run)
	if err != nil {
		tb.Fatal(err)
	}
	eventually(tb, "the answer to the probe", s.answered.Load) // which is a push, too
	return s, c
}

// eventually waits for something that a goroutine does.
func eventually(tb testing.TB, what string, happened func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(time.Minute); !happened(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatalf("%s did not happen", what)
		}
	}
}
