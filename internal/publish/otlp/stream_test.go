package otlp

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	colmetricpb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricpb "go.opentelemetry.io/proto/otlp/metrics/v1"

	"aiperf/internal/measure/record"
	"aiperf/internal/publish/progress"
)

func attributesOf(list []*commonpb.KeyValue) map[string]string {
	out := map[string]string{}
	for _, a := range list {
		switch v := a.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			out[a.Key] = v.StringValue
		case *commonpb.AnyValue_BoolValue:
			out[a.Key] = fmt.Sprint(v.BoolValue)
		case *commonpb.AnyValue_IntValue:
			out[a.Key] = fmt.Sprint(v.IntValue)
		}
	}
	return out
}

// histogram is the only point of a histogram that has these attributes.
func histogram(t *testing.T, m *metricpb.Metric, with ...string) *metricpb.HistogramDataPoint {
	t.Helper()
	var found []*metricpb.HistogramDataPoint
	for _, p := range m.GetHistogram().GetDataPoints() {
		a := attributesOf(p.Attributes)
		if !slices.ContainsFunc(with, func(item string) bool {
			name, value,
				_ := strings.Cut(item, "=")
			return a[name] != value
		}) {
			found = append(found, p)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s: %d points with %v", m.GetName(), len(found), with)
	}
	return found[0]
}

func failedRecord(code int) *record.Record {
	r := &record.Record{Facts: record.NewFacts(), Identity: record.Identity{Phase: record.PhaseProfiling},
		Err: &record.Error{Code: code, HasCode: true, Type: "Failed"}}
	r.Facts[record.StartWall], r.Facts[record.End], r.Facts[record.InputTokens], r.Facts[record.Failed] = 1, 5e6, 30, 1
	return r
}

// snapshot is one of a run with a profiling phase.
func snapshot(p progress.Phase) *progress.Snapshot {
	p.Kind = progress.ProfilingKind
	return &progress.Snapshot{Phases: []progress.Phase{p}}
}

func TestARunArrivesOverBothProtocols(t *testing.T) {
	t.Parallel()
	for name, serve := range map[string]func(testing.TB, *received) *url.URL{"HTTP": serveHTTP, "gRPC": serveGRPC} {
		t.Run(name, func(t *testing.T) {
			c := &received{}
			o, log := testOptions(t, serve(t, c))
			o.Attributes = []Attribute{{"team", "perf"}, {"service.name", "mine"}}
			s, err := newStream(o.Options, o.run)
			if err != nil {
				t.Fatal(err)
			}
			s.newest.Store(snapshot(progress.Phase{Name: "profiling", State: progress.PhaseComplete, RequestsSent: 14,
				RequestsCompleted: 14, RequestErrors: 2, Elapsed: 3e9, ExpectedRequests: 14}))
			for range 12 {
				s.record(sampleRecord(5))
			}
			s.record(failedRecord(503))
			s.record(failedRecord(404))
			eventually(t, "a push during the run", func() bool { return c.count() > 1 })
			s.flush()
			got := c.metrics(-1)
			checkRequests(t, got)
			checkTiming(t, got)
			resource := attributesOf(c.pushes[len(c.pushes)-1].ResourceMetrics[0].Resource.Attributes)
			for name, want := range map[string]string{
				"service.name": "mine", "team": "perf", "service.instance.id": "id-1", "service.version": "1.2.3",
				"aiperf.benchmark.id":  "id-1",
				"aiperf.endpoint.type": "chat", "aiperf.model.name": "mock-model", "telemetry.sdk.language": "go",
			} {
				if resource[name] != want {
					t.Errorf("resource: %s is %q, want %q", name, resource[name], want)
				}
			}
			if w := log.warnings(); len(w) > 0 {
				t.Errorf("warnings %q", w)
			}
			if !strings.Contains(log.String(), "received the metrics of 14 requests") {
				t.Errorf("log:\n%s", log)
			}
		})
	}
}

func checkRequests(t *testing.T, got map[string]*metricpb.Metric) {
	t.Helper()
	plain := []string{"gen_ai.operation.name=chat", "gen_ai.provider.name=_OTHER", "gen_ai.request.model=mock-model",
		"aiperf.benchmark_phase=profiling"}
	for _, want := range []struct {
		name, unit string
		with       []string
		count      uint64
		sum        float64
		bounds     []float64
	}{
		{"gen_ai.client.operation.duration", "s", []string{"aiperf.has_error=false"}, 12, 12 * 0.04,
			powers(0.01, 2, 14)},
		{"gen_ai.client.operation.time_to_first_chunk", "s", nil, 12, 12 * 0.02, chunkBounds},
		{"gen_ai.client.operation.time_per_output_chunk", "s", nil, 12, 12 * 0.005, chunkBounds},
		{"gen_ai.client.token.usage", "{token}", []string{"gen_ai.token.type=input"}, 12, 12 * 550, powers(1, 4, 13)},
		{"gen_ai.client.token.usage", "{token}", []string{"gen_ai.token.type=output"}, 12, 12 * 5, powers(1, 4, 13)},
		{"aiperf.input_sequence_length", "tokens", nil, 12, 12 * 550, nil},
		{"aiperf.inter_chunk_latency", "ns", nil, 48, 48 * 5e6, powers(1e5, 2, 21)},
		{"aiperf.http_req_data_received", "B", nil, 12, 12 * 30000, nil},
		{"aiperf.request_count", "requests", nil, 12, 12, nil},
		{"aiperf.error_request_count", "requests", []string{"error.type=http_5xx", "aiperf.has_error=true"}, 1, 1, nil},
		{"aiperf.error_request_count", "requests", []string{"error.type=http_4xx"}, 1, 1, nil},
		{"aiperf.error_isl", "tokens", []string{"error.type=http_4xx"}, 1, 30, nil},
	} {
		m := got[want.name]
		if m == nil {
			t.Errorf("%s is missing", want.name)
			continue
		}
		p := histogram(t, m, append(want.with, plain...)...)
		if m.Unit != want.unit || p.Count != want.count || math.Abs(p.GetSum()-want.sum) > 1e-6*want.sum {
			t.Errorf("%s %v: unit %q, count %d, sum %v; want %q, %d, %v", want.name, want.with, m.Unit, p.Count,
				p.GetSum(), want.unit, want.count, want.sum)
		}
		if want.bounds != nil && !slices.Equal(p.ExplicitBounds, want.bounds) {
			t.Errorf("%s: bounds %v", want.name, p.ExplicitBounds)
		}
		if temporality := m.GetHistogram().AggregationTemporality; temporality != metricpb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE {
			t.Errorf("%s: %v", want.name, temporality)
		}
		if a := attributesOf(p.Attributes); (a["error.type"] != "") != (a["aiperf.has_error"] == "true") ||
			a[string(setNumber)] != "" {
			t.Errorf("%s: attributes %v", want.name, a)
		}
	}
	for _, name := range []string{"aiperf.request_latency", "aiperf.time_to_first_token", "aiperf.credit_drop_latency",
		"aiperf.min_request_timestamp"} {
		if got[name] != nil {
			t.Errorf("there is %s, which has another name or is internal", name)
		}
	}
}

func checkTiming(t *testing.T, got map[string]*metricpb.Metric) {
	t.Helper()
	for name, want := range map[string]float64{"requests.sent": 14, "requests.completed": 14, "requests.errors": 2,
		"phase.elapsed_sec": 3} {
		m := got["aiperf.timing."+name]
		points := m.GetSum().GetDataPoints()
		if len(points) != 1 || points[0].GetAsDouble()+float64(points[0].GetAsInt()) != want {
			t.Errorf("%s: %v, want %v", name, points, want)
			continue
		}
		if m.GetSum().IsMonotonic == (name == "phase.elapsed_sec") {
			t.Errorf("%s: monotonic %v", name, m.GetSum().IsMonotonic)
		}
		a := attributesOf(points[0].Attributes)
		if a["gen_ai.operation.name"] != "chat" || a["gen_ai.provider.name"] != otherName ||
			a["gen_ai.request.model"] != "mock-model" ||
			a["aiperf.benchmark_phase"] != "profiling" || a["aiperf.total_expected_requests"] != "14" {
			t.Errorf("%s: attributes %v", name, a)
		}
	}
	for _, name := range []string{"requests.cancelled", "requests.in_flight", "phase.was_cancelled"} {
		if got["aiperf.timing."+name] != nil {
			t.Errorf("%s is there though it never changed from 0", name)
		}
	}
}

func TestTrapDurationsAreSeconds(t *testing.T) {
	t.Parallel()
	s, c := newTestStream(t, nil)
	r := sampleRecord(2)
	r.Facts[record.LastContent] = 250e6
	s.record(r)
	s.flush()
	if p := histogram(t, c.metrics(-1)["gen_ai.client.operation.duration"]); p.GetSum() != 0.25 {
		t.Errorf("a latency of 250 ms is %v", p.GetSum())
	}
}

func TestTrapUnchangedCountersEmitNothing(t *testing.T) {
	t.Parallel()
	s, c := newTestStream(t, func(o *Options) {
		o.Environment = environment(t, map[string]string{"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": "delta"})
	})
	defer s.close()
	show := func(sent, completed int64) {
		s.newest.Store(snapshot(progress.Phase{State: progress.PhaseStarted, RequestsSent: sent,
			RequestsCompleted: completed, SentSessions: 5}))
	}
	show(5, 3)
	push := func() map[string]*metricpb.Metric {
		t.Helper()
		if p := s.pushOnce(); p != nil {
			t.Fatal(p.Text)
		}
		return c.metrics(-1)
	}
	first := push()
	if got := first["aiperf.timing.requests.sent"].GetSum().DataPoints[0].GetAsInt(); got != 5 {
		t.Errorf("sent %d at first", got)
	}
	if got := first["aiperf.timing.requests.in_flight"].GetSum().DataPoints[0].GetAsDouble(); got != 2 {
		t.Errorf("in flight %v at first", got)
	}
	if got := push(); len(got) > 0 {
		// Up-down counters stay cumulative.
		for name, m := range got {
			if m.GetSum().GetAggregationTemporality() == metricpb.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA {
				t.Errorf("%s was pushed again though nothing changed: %v", name, m)
			}
		}
	}
	show(7, 7)
	third := push()
	if got := third["aiperf.timing.requests.sent"].GetSum().DataPoints[0].GetAsInt(); got != 2 {
		t.Errorf("the difference of sent is %d, want 2", got)
	}
	if got := third["aiperf.timing.requests.in_flight"].GetSum().DataPoints[0].GetAsDouble(); got != 0 {
		t.Errorf("in flight %v at last", got)
	}
	if third["aiperf.timing.sessions.sent"] != nil {
		t.Error("sessions.sent was pushed though it did not change")
	}
}

func TestExponentialHistogramsWhereAskedFor(t *testing.T) {
	t.Parallel()
	s, c := newTestStream(t, func(o *Options) {
		o.Environment = environment(t, map[string]string{"OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION": "base2_exponential_bucket_histogram"})
	})
	s.record(sampleRecord(3))
	s.flush()
	points := c.metrics(-1)["gen_ai.client.operation.duration"].GetExponentialHistogram().GetDataPoints()
	if len(points) != 1 || points[0].Count != 1 ||
		attributesOf(points[0].Attributes)["gen_ai.operation.name"] != "chat" {
		t.Errorf("points %v", points)
	}
}

func TestOnlyWhatIsAskedForIsPushed(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]struct{ requests, timing bool }{"metrics": {true, false},
		"timing": {false, true}} {
		s, c := newTestStream(t, func(o *Options) { o.Requests, o.Timing = ask.requests, ask.timing })
		s.newest.Store(snapshot(progress.Phase{State: progress.PhaseStarted, RequestsSent: 1}))
		s.record(sampleRecord(3))
		s.flush()
		got := c.metrics(-1)
		if (got["aiperf.request_count"] != nil) != ask.requests ||
			(got["aiperf.timing.requests.sent"] != nil) != ask.timing {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestCredentialsGoAlongAndAreNotShown(t *testing.T) {
	t.Parallel()
	c := &received{answer: func(int) error {
		return &statusError{401, "text/plain", "no: Basic dTpzM2NyZXQ= or tok-123 with s3cret"}
	}}
	u := serveHTTP(t, c)
	u.User = url.UserPassword("u", "s3cret")
	o, log := testOptions(t, u)
	o.Environment = environment(t, map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "x-api-key=tok-123,x-tenant=a%20b"})
	s, err := newStream(o.Options, o.run)
	if err != nil {
		t.Fatal(err)
	}
	s.flush()
	head := c.heads[0]
	if head.Get("Authorization") != "Basic dTpzM2NyZXQ=" || head.Get("X-Api-Key") != "tok-123" ||
		head.Get("X-Tenant") != "a b" {
		t.Errorf("headers %v", head)
	}
	for _, secret := range []string{"s3cret", "dTpzM2NyZXQ=", "tok-123"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log shows %s:\n%s", secret, log)
		}
	}
}

func TestGzipWhereAskedFor(t *testing.T) {
	t.Parallel()
	var encoding atomic.Value
	server := http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		encoding.Store(r.Header.Get("Content-Encoding"))
	})
	s, _ := newTestStream(t, func(o *Options) {
		o.URL = serveHandler(t, server)
		o.Environment = environment(t, map[string]string{"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"})
	})
	s.flush()
	if encoding.Load() != "gzip" {
		t.Errorf("Content-Encoding %v", encoding.Load())
	}
}

func TestWhatTheCollectorRejectsIsToldOnce(t *testing.T) {
	t.Parallel()
	c := &received{partial: &colmetricpb.ExportMetricsPartialSuccess{RejectedDataPoints: 3, ErrorMessage: "too old"}}
	o, log := testOptions(t, serveHTTP(t, c))
	s, err := newStream(o.Options, o.run)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "three pushes", func() bool { return c.count() > 3 })
	s.flush()
	if w := log.warnings(); len(w) != 1 || !strings.Contains(w[0], "accepted only part of the push: too old (3 ") {
		t.Errorf("warnings %q", w)
	}
}

// A buffer that is smaller than a batch is emptied in time.
func TestABatchMayBeLargerThanTheBuffer(t *testing.T) {
	t.Parallel()
	o, log := testOptions(t, serveHTTP(t, &received{}))
	o.MaxBatch, o.MaxBuffered, o.Interval = 1000, 5, time.Hour
	s, err := newStream(o.Options, o.run)
	if err != nil {
		t.Fatal(err)
	}
	for n := range int64(3) {
		for range o.MaxBuffered {
			s.record(sampleRecord(2))
		}
		eventually(t, "the records being added", func() bool { return s.added.Load() == 5*(n+1) })
	}
	s.flush()
	if w := log.warnings(); len(w) > 0 || !strings.Contains(log.String(), "received the metrics of 15 requests") {
		t.Errorf("log:\n%s", log)
	}
}

func TestWhatFindsNoRoomIsCountedAndTold(t *testing.T) {
	t.Parallel()
	o, log := testOptions(t, serveHTTP(t, &received{}))
	o.MaxBatch, o.MaxBuffered, o.Interval = 1000, 5, 1<<40
	s, err := newStream(o.Options, o.run)
	if err != nil {
		t.Fatal(err)
	}
	s.adding.Lock() // the figures take nothing meanwhile
	for range 8 {
		s.record(sampleRecord(2))
	}
	s.adding.Unlock()
	s.flush()
	if w := log.warnings(); len(w) != 1 ||
		!strings.HasPrefix(w[0], "OpenTelemetry: the metrics lack 3 requests") ||
		!strings.Contains(log.String(), "received the metrics of 5 requests") {
		t.Errorf("log:\n%s", log)
	}
}
