package otlp

import (
	"cmp"
	"context"
	"fmt"
	"runtime"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
)

// labels are the attributes of all metrics.
type labels struct{ operation, provider, model string }

func (l labels) list() []attribute.KeyValue {
	list := []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", l.operation),
		attribute.String("gen_ai.provider.name", l.provider),
	}
	if l.model != "" {
		list = append(list, attribute.String("gen_ai.request.model", l.model))
	}
	return list
}

// figures holds the histograms of requests. One goroutine at a time adds to them.
type figures struct {
	labels      labels
	instruments []instrument
	classes     map[class]*classOptions
	sets        []attribute.Set
	values      []float64
}

// instrument is a metric and the histograms of its values.
type instrument struct {
	sample metrics.Sample
	to     []destination
}

type destination struct {
	histogram metric.Float64Histogram
	scale     float64
	tokenType string
}

// class holds the attributes in which requests differ.
type class struct {
	phase             string
	failed, cancelled bool
	errorType         string
}

// classOptions are the options of a class by the type of token.
type classOptions struct{ plain, input, output []metric.RecordOption }

// setNumber is the only attribute of a measurement: the number of the set that replaces it before the push. The SDK
// hashes every attribute of every measurement, which costs three times as much as the measurement itself.
const setNumber = attribute.Key("set")

func newFigures(meter metric.Meter, samples []metrics.Sample, l labels) (*figures, error) {
	f := &figures{labels: l, classes: map[class]*classOptions{}}
	for _, s := range samples {
		one := instrument{sample: s}
		for _, to := range instruments(s.Tag, s.Unit) {
			description := s.Doc
			if to.tokenType != "" {
				description = "Tokens of requests and of their replies."
			}
			h, err := meter.Float64Histogram(to.name, metric.WithUnit(to.unit), metric.WithDescription(description),
				metric.WithExplicitBucketBoundaries(to.bounds...))
			if err != nil {
				return nil, fmt.Errorf("instrument %s: %w", to.name, err)
			}
			one.to = append(one.to, destination{h, to.scale, to.tokenType})
		}
		f.instruments = append(f.instruments, one)
	}
	return f, nil
}

// addAll adds finished requests and yields the processor now and then to the goroutines that send requests.
func (f *figures) addAll(records []*record.Record) {
	const step = 32
	for i, r := range records {
		f.add(r)
		if i%step == step-1 {
			runtime.Gosched()
		}
	}
}

func (f *figures) add(r *record.Record) {
	options := f.options(r)
	ctx := context.Background()
	for i := range f.instruments {
		one := &f.instruments[i]
		f.values = one.sample.AppendValues(f.values[:0], r)
		for _, to := range one.to {
			set := options.plain
			switch to.tokenType {
			case "input":
				set = options.input
			case "output":
				set = options.output
			}
			for _, v := range f.values {
				to.histogram.Record(ctx, v*to.scale, set...)
			}
		}
	}
}

func (f *figures) options(r *record.Record) *classOptions {
	c := class{phase: cmp.Or(r.Phase, record.PhaseProfiling), failed: r.IsError(), cancelled: r.WasCancelled}
	if c.failed {
		c.errorType = errorType(r)
	}
	if o, ok := f.classes[c]; ok {
		return o
	}
	list := append(f.labels.list(),
		attribute.String("aiperf.benchmark_phase", c.phase), attribute.Bool("aiperf.has_error", c.failed),
		attribute.Bool("aiperf.was_cancelled", c.cancelled))
	if c.failed {
		list = append(list, attribute.String("error.type", c.errorType))
	}
	with := func(more ...attribute.KeyValue) []metric.RecordOption {
		f.sets = append(f.sets, attribute.NewSet(append(more, list...)...))
		return []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(setNumber.Int(len(f.sets) - 1)))}
	}
	o := &classOptions{
		plain: with(), input: with(attribute.String("gen_ai.token.type", "input")),
		output: with(attribute.String("gen_ai.token.type", "output")),
	}
	f.classes[c] = o
	return o
}

// restore replaces the numbers of attribute sets by the sets.
func (f *figures) restore(data *metricdata.ResourceMetrics) {
	for _, scope := range data.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch h := m.Data.(type) {
			case metricdata.Histogram[float64]:
				for i := range h.DataPoints {
					f.restoreSet(&h.DataPoints[i].Attributes)
				}
			case metricdata.ExponentialHistogram[float64]:
				for i := range h.DataPoints {
					f.restoreSet(&h.DataPoints[i].Attributes)
				}
			}
		}
	}
}

func (f *figures) restoreSet(to *attribute.Set) {
	if n, ok := to.Value(setNumber); ok {
		*to = f.sets[n.AsInt64()]
	}
}
