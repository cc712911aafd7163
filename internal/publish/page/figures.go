package page

import (
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
)

// distribution is a histogram of a record metric.
type distribution struct {
	name, help, tag string
	scale           float64
	bounds          []float64
}

// Bounds of the classic histograms. The native ones, which a scraper can ask for, need none.
var (
	latencyBounds = []float64{.001, .0025, .005, .01, .02, .03, .05, .075, .1, .15, .2, .3, .5, .75, 1, 1.5, 2, 3, 5,
		7.5, 10, 20, 30, 60, 120, 300, 600}
	gapBounds = []float64{.0001, .00025, .0005, .001, .002, .003, .005, .0075, .01, .015, .02, .025, .03, .04, .05,
		.075, .1, .15, .2, .3, .5, 1, 2, 5, 10}
	lagBounds = []float64{.00001, .000025, .00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25,
		.5, 1, 2.5, 5, 10}
	lengthBounds = prometheus.ExponentialBuckets(1, 2, 21)
)

const (
	seconds    = 1e-9 // of a nanosecond
	nativeStep = 1.1  // the largest growth from one bucket of a native histogram to the next
	nativeMost = 160  // buckets
	// errorKinds bounds the series of errors, whose types come from the server.
	errorKinds = 50
)

var distributions = [...]distribution{
	{"aiperf_time_to_first_token_seconds", "Time from sending a request to its first content.", "time_to_first_token",
		seconds, latencyBounds},
	{"aiperf_inter_chunk_latency_seconds", "Time between consecutive chunks of content; all gaps of all requests.",
		"inter_chunk_latency", seconds, gapBounds},
	{"aiperf_inter_token_latency_seconds", "Mean time per output token after the first, one value per request.",
		"inter_token_latency", seconds, gapBounds},
	{"aiperf_request_latency_seconds", "Time from sending a request to its last content.", "request_latency", seconds,
		latencyBounds},
	{"aiperf_output_sequence_length_tokens", "Output tokens of a request, reasoning included.",
		"output_sequence_length", 1, lengthBounds},
	{"aiperf_input_sequence_length_tokens", "Input tokens of a request.", "input_sequence_length", 1, lengthBounds},
}

// lag is a histogram of the time that the client itself adds.
type lag struct {
	name, help string
	of         func(*record.Facts) (int64, bool)
}

var lags = [...]lag{
	{"aiperf_client_send_lag_seconds", "Time from issuing a credit to the start of sending its request.",
		before(record.CreditIssued)},
	{"aiperf_client_schedule_lag_seconds",
		"Time from the scheduled arrival of a request to the start of sending it.", before(record.IntendedSend)},
	{"aiperf_client_read_lag_seconds",
		"Longest time that bytes of a response waited in the kernel before they were read.", present(record.ReadLag)},
}

// before returns the time from an instant to the start of the request.
func before(field record.Field) func(*record.Facts) (int64, bool) {
	return func(f *record.Facts) (int64, bool) {
		at, ok := f.Get(field)
		return -at, ok
	}
}

func present(field record.Field) func(*record.Facts) (int64, bool) {
	return func(f *record.Facts) (int64, bool) { return f.Get(field) }
}

// total is a counter of successful requests.
type total struct{ name, help, tag string }

var totals = [...]total{
	{"aiperf_input_tokens_total", "Input tokens of successful requests.", "input_sequence_length"},
	{"aiperf_output_tokens_total", "Output tokens of successful requests, without reasoning.", "output_token_count"},
	{"aiperf_reasoning_tokens_total", "Reasoning tokens of successful requests.", "reasoning_token_count"},
}

var (
	outcomes = total{name: "aiperf_requests_total",
		help: "Finished requests. Those that the end of a phase cut off are in aiperf_requests_cut_off_total."}
	good = total{name: "aiperf_good_requests_total",
		help: "Successful requests that met all service level objectives of --goodput."}
	failures = total{name: "aiperf_request_errors_total", help: "Failed requests by error type and status code."}
)

// Family describes a family of the page. All have the label "run" where there are several runs.
type Family struct {
	Name, Type, Help string
	Labels           []string
}

// figures holds the families of records.
type figures struct {
	distributions [len(distributions)]*prometheus.HistogramVec
	lags          [len(lags)]*prometheus.HistogramVec
	totals        [len(totals)]*prometheus.CounterVec
	outcomes      *prometheus.CounterVec
	good          *prometheus.CounterVec
	errors        *prometheus.CounterVec
}

// newFigures registers the figures of a page. Histograms have classic buckets and native ones, for servers that know
// these.
func newFigures(register prometheus.Registerer) *figures {
	f := &figures{}
	histogram := func(name, help string, bounds []float64) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: name, Help: help, Buckets: bounds,
			NativeHistogramBucketFactor: nativeStep, NativeHistogramMaxBucketNumber: nativeMost,
		}, []string{"phase"})
		register.MustRegister(h)
		return h
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help},
			append([]string{"phase"}, labels...))
		register.MustRegister(c)
		return c
	}
	for i, d := range distributions {
		f.distributions[i] = histogram(d.name, d.help, d.bounds)
	}
	for i, l := range lags {
		f.lags[i] = histogram(l.name, l.help, lagBounds)
	}
	for i, t := range totals {
		f.totals[i] = counter(t.name, t.help)
	}
	f.outcomes, f.good, f.errors = counter(outcomes.name, outcomes.help, "outcome"), counter(good.name, good.help),
		counter(failures.name, failures.help, "type", "code")
	return f
}

// phaseFigures holds the families of one phase.
type phaseFigures struct {
	distributions   [len(distributions)]prometheus.Observer // nil where the run has no such metric
	samples         [len(distributions)]metrics.Sample
	lags            [len(lags)]prometheus.Observer
	totals          [len(totals)]prometheus.Counter // as distributions
	counted         [len(totals)]metrics.Sample
	values          []float64 // reused
	success, failed prometheus.Counter
	good            prometheus.Counter // nil without objectives
	errors          *prometheus.CounterVec
	kinds           map[[2]string]prometheus.Counter
}

// phase creates the series of a phase that the run can have.
func (f *figures) phase(kind string, set *metrics.Set) *phaseFigures {
	labels := prometheus.Labels{"phase": kind}
	p := &phaseFigures{
		success: f.outcomes.WithLabelValues(kind, "success"), failed: f.outcomes.WithLabelValues(kind, "error"),
		errors: f.errors.MustCurryWith(labels), kinds: map[[2]string]prometheus.Counter{},
	}
	for i, d := range distributions {
		if sample, has := set.Sample(d.tag); has {
			p.samples[i], p.distributions[i] = sample, f.distributions[i].With(labels)
		}
	}
	for i := range lags {
		p.lags[i] = f.lags[i].With(labels)
	}
	if set.HasObjectives() {
		p.good = f.good.With(labels)
	}
	for i, t := range totals {
		if sample, has := set.Sample(t.tag); has {
			p.counted[i], p.totals[i] = sample, f.totals[i].With(labels)
		}
	}
	return p
}

// add adds a request; the page is locked.
func (p *phaseFigures) add(r *record.Record) {
	for i := range lags {
		if ns, ok := lags[i].of(&r.Facts); ok {
			p.lags[i].Observe(float64(max(0, ns)) * seconds)
		}
	}
	if r.IsError() {
		p.failed.Inc()
		if r.Err != nil {
			p.kind(r.Err).Inc()
		}
		return
	}
	p.success.Inc()
	if good, _ := r.Get(record.Good); good == 1 && p.good != nil {
		p.good.Inc()
	}
	for i, to := range p.distributions {
		if to == nil {
			continue
		}
		p.values = p.samples[i].AppendValues(p.values[:0], r)
		for _, v := range p.values {
			to.Observe(v * distributions[i].scale)
		}
	}
	for i, to := range p.totals {
		if to == nil {
			continue
		}
		p.values = p.counted[i].AppendValues(p.values[:0], r)
		for _, v := range p.values {
			to.Add(v)
		}
	}
}

// kind returns the counter of an error's kind; kinds beyond errorKinds share one.
func (p *phaseFigures) kind(e *record.Error) prometheus.Counter {
	key := [2]string{e.Type, ""}
	if e.HasCode {
		key[1] = strconv.Itoa(e.Code)
	}
	c, known := p.kinds[key]
	if known {
		return c
	}
	if len(p.kinds) >= errorKinds {
		return p.errors.WithLabelValues("other", "")
	}
	c = p.errors.WithLabelValues(label(key[0]), key[1])
	p.kinds[key] = c
	return c
}

// labelLength is the longest label from a server's text, in bytes.
const labelLength = 100

func label(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), labelLength)], "")
}
