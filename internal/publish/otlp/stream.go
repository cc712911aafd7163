package otlp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	othermetric "go.opentelemetry.io/otel/metric"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/record"
	"aiperf/internal/publish/progress"
	"aiperf/internal/publish/upload"
)

// Options say what is pushed, where and how.
type Options struct {
	// URL is the collector's, as the user wrote it: its scheme may be missing.
	URL         *url.URL
	Environment Environment
	// Requests asks for the metrics of requests, Timing for those of the load.
	Requests, Timing bool
	// Interval lies between two pushes, Timeout bounds one and the last ones all together.
	Interval, Timeout time.Duration
	// MaxBatch is the number of records that are added to the metrics together, MaxBuffered the most that wait for it.
	MaxBatch, MaxBuffered int
	// Provider is the value of gen_ai.provider.name; "" = that of the URLs.
	Provider string
	// Attributes are the user's own attributes of the resource.
	Attributes []Attribute
}

// Attribute is an attribute of the resource.
type Attribute struct{ Name, Value string }

// stream pushes the metrics of one run.
type stream struct {
	o        Options
	run      *progress.Run
	log      *slog.Logger
	target   collector
	exporter *exporter
	provider *metric.MeterProvider
	reader   *metric.ManualReader
	figures  *figures // nil without Requests
	timing   *timing  // nil without Timing
	redact   func(string) string
	// newest is the newest snapshot.
	newest atomic.Pointer[progress.Snapshot]

	ctx       context.Context
	cancel    context.CancelFunc
	finishing chan struct{}
	finish    sync.Once // by flush or close
	ended     sync.WaitGroup
	// adding is held while records go from the buffer into the histograms.
	adding sync.Mutex
	// full wakes the goroutine that adds records.
	full chan struct{}
	// off reports that records are no longer accepted.
	off atomic.Bool

	mu      sync.Mutex // of what follows
	waiting []*record.Record
	dropped int64

	pushing
}

// newStream starts a stream and returns at once. Whether the collector answers is logged later.
func newStream(o Options, run *progress.Run) (*stream, error) {
	s := &stream{o: o, run: run, log: run.Log("otel"), finishing: make(chan struct{}), full: make(chan struct{}, 1)}
	s.target = newTarget(o.URL, &o.Environment)
	s.redact = artifact.NewRedactor(s.target.secrets()...).Text
	var err error
	if s.exporter, err = newExporter(&s.target, &o.Environment, o.Timeout); err != nil {
		return nil, fmt.Errorf("%s: %w", s.target.String(), err)
	}
	if err := s.instrument(); err != nil {
		return nil, err
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.ended.Go(s.push)
	if s.figures != nil {
		s.ended.Go(s.addWaiting)
	}
	return s, nil
}

// instrument creates the instruments.
func (s *stream) instrument() error {
	o := &s.o
	s.reader = metric.NewManualReader(metric.WithTemporalitySelector(o.Environment.temporality),
		metric.WithAggregationSelector(o.Environment.aggregation))
	described, err := describeRun(o, s.run)
	if err != nil {
		return err
	}
	s.provider = metric.NewMeterProvider(metric.WithReader(s.reader), metric.WithResource(described),
		metric.WithExemplarFilter(exemplar.AlwaysOffFilter))
	meter := s.provider.Meter(scope, othermetric.WithInstrumentationVersion(s.run.Version))
	l := labels{operation: operation(s.run.EndpointType), provider: o.Provider, model: model(s.run)}
	if l.provider == "" {
		l.provider = provider(s.run.URLs)
	}
	if o.Requests {
		if s.figures, err = newFigures(meter, s.run.Metrics.Samples(), l); err != nil {
			return err
		}
	}
	if o.Timing {
		s.timing, err = newTiming(meter, l)
	}
	return err
}

// model returns the first model of a run, "" if it has none.
func model(run *progress.Run) string {
	if len(run.Models) == 0 {
		return ""
	}
	return run.Models[0]
}

// describeRun returns the resource. The user's attributes have priority, then those of the environment.
func describeRun(o *Options, run *progress.Run) (*resource.Resource, error) {
	list := []attribute.KeyValue{
		attribute.String("service.name", "aiperf"), attribute.String("service.version", run.Version),
		// It keeps the sums of two runs at the same time apart.
		attribute.String("service.instance.id", run.BenchmarkID),
		attribute.String("aiperf.benchmark.id", run.BenchmarkID),
		attribute.String("aiperf.endpoint.type", run.EndpointType),
	}
	if name := model(run); name != "" {
		list = append(list, attribute.String("aiperf.model.name", name))
	}
	list = append(list, o.Environment.attributes...)
	for _, a := range o.Attributes {
		list = append(list, attribute.String(a.Name, a.Value))
	}
	return resource.New(context.Background(), resource.WithTelemetrySDK(), resource.WithAttributes(list...))
}

// record takes a finished request, from several goroutines at once. It returns at once and does not change the record.
func (s *stream) record(r *record.Record) {
	if s.figures == nil || s.off.Load() {
		return
	}
	s.mu.Lock()
	full := len(s.waiting)+1 >= min(s.o.MaxBatch, s.o.MaxBuffered)
	if len(s.waiting) < s.o.MaxBuffered {
		own := *r
		s.waiting = append(s.waiting, &own)
	} else {
		s.dropped++
	}
	s.mu.Unlock()
	if full {
		select {
		case s.full <- struct{}{}:
		default:
		}
	}
}

// addWaiting adds records whenever a batch of them waits.
func (s *stream) addWaiting() {
	var spare []*record.Record
	for {
		select {
		case <-s.full:
			spare = s.take(spare)
		case <-s.finishing:
			return
		case <-s.ctx.Done():
			return
		}
	}
}

// take adds the waiting records to the histograms. It may use the memory of spare, and returns memory to use next.
func (s *stream) take(spare []*record.Record) []*record.Record {
	s.adding.Lock()
	defer s.adding.Unlock()
	s.mu.Lock()
	list := s.waiting
	s.waiting = spare[:0]
	s.mu.Unlock()
	s.figures.addAll(list)
	s.added.Add(int64(len(list)))
	clear(list)
	return list
}

// flush pushes the rest, within the timeout of a push, and ends the stream.
func (s *stream) flush() {
	s.finish.Do(func() {
		bound := time.AfterFunc(s.lastTimeout(), s.cancel)
		close(s.finishing)
		s.ended.Wait()
		bound.Stop()
		s.release()
	})
}

// close ends the stream of a run without results at once; after flush it does nothing.
func (s *stream) close() {
	s.finish.Do(func() {
		s.cancel()
		s.ended.Wait()
		s.release()
	})
}

func (s *stream) release() {
	s.off.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := errors.Join(s.provider.Shutdown(ctx), s.exporter.close(ctx)); err != nil {
		s.log.Debug("Cannot shut down the OTLP exporter", "error", err)
	}
	s.cancel()
}

// pushing is the state of the goroutine that pushes.
type pushing struct {
	// added counts the records in the histograms.
	added atomic.Int64
	// answered reports that the collector has answered the first push.
	answered atomic.Bool
	// failing is set while pushes fail.
	failing atomic.Pointer[failure]

	pushes int64
	// backlog holds collections that were not pushed yet: with deltas the next one does not repeat them.
	backlog []batch
	// arrived counts the records that the collector accepted; lost those that it will never get.
	arrived, lost   int64
	collected       int64
	reportedPartial bool
	spare           []*record.Record
	reused          metricdata.ResourceMetrics
}

// failure describes consecutive pushes that failed.
type failure struct {
	since time.Time
	count int
	kind  upload.Kind
}

// batch is one collection.
type batch struct {
	data *metricdata.ResourceMetrics
	// records is the number of records since the previous one.
	records int64
}
