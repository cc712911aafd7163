package page

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"aiperf/internal/load"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/watch/trust"
)

// Info says which run it is.
type Info struct {
	// Label tells the runs of a series apart; "" for a run that stands alone.
	Label, BenchmarkID, Version string
	Models                      []string
	EndpointType                string
	Streaming                   bool
	// Load is what each phase was configured to do.
	Load []PhaseLoad
	// Metrics are those that the run measures.
	Metrics *metrics.Set
}

// PhaseLoad is the configured load of a phase; nil is not set.
type PhaseLoad struct {
	Kind               string
	Concurrency        *int
	PrefillConcurrency *int
	Rate               *float64
	Requests           *int64
	DurationSeconds    *float64
}

// State is what snapshots say of a run.
type State struct {
	Phases []load.Stats
	NowNS  int64
	// Client is how the client itself does; nil as long as that is not known.
	Client *trust.Report
	// Ended is true for the last one.
	Ended bool
}

// Run is one run on the page.
type Run struct {
	page     *Page
	info     Info
	registry *prometheus.Registry
	figures  *figures
	phases   map[string]*phaseFigures // by kind; the page's lock guards it
	// state is what the last snapshot said; the page's lock guards it.
	state State
}

// newRun makes the run's families. Labels that would be empty are left out: to Prometheus the two are one.
func newRun(p *Page, info Info) *Run {
	r := &Run{page: p, info: info, registry: prometheus.NewRegistry()}
	register := prometheus.Registerer(r.registry)
	if info.Label != "" {
		register = prometheus.WrapRegistererWith(prometheus.Labels{"run": info.Label}, register)
	}
	r.figures, r.phases = newFigures(register), map[string]*phaseFigures{}
	for _, l := range info.Load {
		r.phase(l.Kind)
	}
	register.MustRegister(&stateCollector{run: r})
	register.MustRegister(r.infoGauge())
	return r
}

// phase is where the records of a kind of phases go.
func (r *Run) phase(kind string) *phaseFigures {
	p := r.phases[kind]
	if p == nil {
		p = r.figures.phase(kind, r.info.Metrics)
		r.phases[kind] = p
	}
	return p
}

var infoFamily = Family{"aiperf_info", "gauge", "1; the labels say what is being measured.",
	[]string{"benchmark_id", "model", "endpoint_type", "streaming", "concurrency", "request_rate", "version"}}

// infoGauge is constant 1; its labels say what the run is.
func (r *Run) infoGauge() prometheus.Collector {
	models := slices.Sorted(slices.Values(r.info.Models))
	labels := prometheus.Labels{
		"benchmark_id": r.info.BenchmarkID, "model": strings.Join(slices.Compact(models), ","),
		"endpoint_type": r.info.EndpointType,
		"streaming":     strconv.FormatBool(r.info.Streaming), "version": r.info.Version,
	}
	for _, l := range r.info.Load {
		if l.Kind != record.PhaseProfiling {
			continue
		}
		if l.Concurrency != nil {
			labels["concurrency"] = strconv.Itoa(*l.Concurrency)
		}
		if l.Rate != nil {
			labels["request_rate"] = strconv.FormatFloat(*l.Rate, 'g', -1, 64)
		}
	}
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: infoFamily.Name, Help: infoFamily.Help, ConstLabels: labels})
	g.Set(1)
	return g
}

// Record takes a request that succeeded or failed.
func (r *Run) Record(rec *record.Record) {
	r.page.mu.Lock()
	defer r.page.mu.Unlock()
	r.phase(rec.Phase).add(rec)
}

// Show takes a snapshot.
func (r *Run) Show(s State) {
	r.page.mu.Lock()
	defer r.page.mu.Unlock()
	s.Client = cmp.Or(s.Client, r.state.Client)
	r.state = s
}
