package page

import (
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"aiperf/internal/publish/progress"
)

// runFigures holds the metrics of one run, guarded by the page's lock.
type runFigures struct {
	run      *progress.Run
	registry *prometheus.Registry
	figures  *figures
	phases   map[string]*phaseFigures // by kind
	// snapshot is the newest one, nil before the first.
	snapshot *progress.Snapshot
}

// newRunFigures creates the run's families. Empty labels are left out: to Prometheus both are the same.
func newRunFigures(run *progress.Run) *runFigures {
	r := &runFigures{run: run, registry: prometheus.NewRegistry()}
	register := prometheus.Registerer(r.registry)
	if run.Label != "" {
		register = prometheus.WrapRegistererWith(prometheus.Labels{"run": run.Label}, register)
	}
	r.figures, r.phases = newFigures(register), map[string]*phaseFigures{}
	for i := range run.Phases {
		r.phase(run.Phases[i].Kind)
	}
	register.MustRegister(&snapshotCollector{run: r})
	register.MustRegister(r.infoGauge())
	return r
}

// phase returns the families of a kind of phases.
func (r *runFigures) phase(kind string) *phaseFigures {
	p := r.phases[kind]
	if p == nil {
		p = r.figures.phase(kind, r.run.Metrics)
		r.phases[kind] = p
	}
	return p
}

var infoFamily = Family{"aiperf_info", "gauge", "1; the labels say what is being measured.",
	[]string{"benchmark_id", "model", "endpoint_type", "streaming", "concurrency", "request_rate", "version"}}

// infoGauge returns a gauge of value 1 whose labels describe the run.
func (r *runFigures) infoGauge() prometheus.Collector {
	models := slices.Sorted(slices.Values(r.run.Models))
	labels := prometheus.Labels{
		"benchmark_id": r.run.BenchmarkID, "model": strings.Join(slices.Compact(models), ","),
		"endpoint_type": r.run.EndpointType,
		"streaming":     strconv.FormatBool(r.run.Streaming), "version": r.run.Version,
	}
	var concurrencies, rates []string
	for _, p := range r.run.Profiling() {
		concurrency, rate := "", ""
		if p.Concurrency != nil {
			concurrency = strconv.Itoa(*p.Concurrency)
		}
		if p.Rate > 0 {
			rate = strconv.FormatFloat(p.Rate, 'g', -1, 64)
		}
		concurrencies, rates = append(concurrencies, concurrency), append(rates, rate)
	}
	for name, list := range map[string][]string{"concurrency": concurrencies, "request_rate": rates} {
		// A run of several phases has the label if it is the same in all.
		if all := slices.Compact(list); len(all) == 1 && all[0] != "" {
			labels[name] = all[0]
		}
	}
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: infoFamily.Name, Help: infoFamily.Help, ConstLabels: labels})
	g.Set(1)
	return g
}
