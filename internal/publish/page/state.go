package page

import (
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"aiperf/internal/measure/record"
	"aiperf/internal/publish/progress"
)

// snapshotFamily is a family whose value comes from the newest snapshot.
type snapshotFamily struct {
	desc func() *prometheus.Desc // made for the first page
	kind prometheus.ValueType
	Family
}

// snapshotFamilies are the families of snapshots.
var snapshotFamilies []snapshotFamily

func family(kind prometheus.ValueType, name, help string, labels ...string) snapshotFamily {
	desc := sync.OnceValue(func() *prometheus.Desc { return prometheus.NewDesc(name, help, labels, nil) })
	l := snapshotFamily{desc, kind, Family{name, "gauge", help, labels}}
	if kind == prometheus.CounterValue {
		l.Type = "counter"
	}
	snapshotFamilies = append(snapshotFamilies, l)
	return l
}

func gauge(name, help string, labels ...string) snapshotFamily {
	return family(prometheus.GaugeValue, name, help, labels...)
}

func counter(name, help string, labels ...string) snapshotFamily {
	return family(prometheus.CounterValue, name, help, labels...)
}

// The load.
var (
	phaseState = gauge("aiperf_phase_state",
		"1 for the current state of a phase: created, started, sending_complete or complete.", "phase", "state")
	phaseProgress = gauge("aiperf_phase_progress_ratio",
		"Completed part of a phase, by the stop condition that is closest.", "phase")
	phaseElapsed   = gauge("aiperf_phase_elapsed_seconds", "Time since the start of a phase, until its end.", "phase")
	requestsSent   = counter("aiperf_requests_sent_total", "Requests sent.", "phase")
	requestsCutOff = counter("aiperf_requests_cut_off_total",
		"Requests in flight that were cut off at the end of a phase.", "phase")
	requestsInFlight  = gauge("aiperf_requests_in_flight", "Requests sent that have not returned.", "phase")
	sessionsStarted   = counter("aiperf_sessions_started_total", "Sessions started.", "phase")
	sessionsCompleted = counter("aiperf_sessions_completed_total", "Sessions completed.", "phase")
	sessionsInFlight  = gauge("aiperf_sessions_in_flight", "Sessions started that have not ended.", "phase")
	skippedArrivals   = counter("aiperf_arrivals_skipped_total", "Arrivals that found no free slot.", "phase")
	droppedArrivals   = counter("aiperf_arrivals_dropped_total",
		"Arrivals dropped because the client was late.", "phase")
	targetRate = gauge("aiperf_target_request_rate", "Planned requests per second.", "phase")
)

// The configured load.
var (
	configuredConcurrency = gauge("aiperf_configured_concurrency", "Configured cap on sessions in flight.", "phase")
	configuredPrefill     = gauge("aiperf_configured_prefill_concurrency",
		"Configured cap on requests without a first token.", "phase")
	configuredRate     = gauge("aiperf_configured_request_rate", "Configured requests per second.", "phase")
	configuredRequests = gauge("aiperf_configured_requests", "Configured number of requests.", "phase")
	configuredDuration = gauge("aiperf_configured_duration_seconds", "Configured duration of the phase.", "phase")
)

// The graded answers.
var (
	answersGraded = counter("aiperf_answers_graded_total", "Graded answers of the profiling phases that are right or wrong.",
		"verdict")
	answersUnparsed = counter("aiperf_answers_unparsed_total", "Graded answers that are not in the form asked for.")
	accuracyRatio   = gauge("aiperf_accuracy_ratio", "Share of right answers among those graded.")
)

// The verdict on the client.
var (
	verdict = gauge("aiperf_client_verdict",
		"1 for the current verdict on the client's own influence: valid, client_limited or inconclusive.",
		"verdict")
	finding = gauge("aiperf_client_finding",
		"1 for each finding; leads_to is the verdict that it leads to.", "code", "leads_to")
)

// clientFamilies are the families of the figures of the client and its machine, since the start of the profiling phase,
// by the names of the figures.
var clientFamilies = byFigure(
	gauge("aiperf_client_error_bound_seconds",
		"Upper bound of the client's own share in the 99th percentile of a metric.", "metric"),
	gauge("aiperf_client_cpu_ratio", "CPU usage of the client as a part of its quota."),
	gauge("aiperf_client_cpu_peak_ratio", "Largest CPU usage of the client in a quarter of a second."),
	gauge("aiperf_client_cpu_quota_cores", "CPU cores that the client may use."),
	gauge("aiperf_client_timer_delay_p99_seconds", "Delay of timers, 99th percentile."),
	gauge("aiperf_client_timer_delay_max_seconds", "Largest delay of a timer."),
	counter("aiperf_client_gc_cycles_total", "Garbage collection cycles."),
	counter("aiperf_client_gc_pause_seconds_total",
		"Time for which garbage collection stopped the client."),
	gauge("aiperf_client_gc_pause_max_seconds", "Longest pause for garbage collection."),
	gauge("aiperf_client_gc_assist_ratio",
		"Part of the CPU time in which goroutines assisted garbage collection."),
	gauge("aiperf_client_heap_peak_bytes", "Largest heap."),
	gauge("aiperf_client_resident_memory_peak_bytes", "Largest resident memory."),
	gauge("aiperf_client_open_descriptors_peak", "Largest number of open file descriptors."),
	gauge("aiperf_client_descriptor_limit", "Limit on open file descriptors."),
	// The machine that the client runs on, all programs together.
	gauge("aiperf_host_cpu_busy_ratio",
		"CPU usage of the machine."),
	gauge("aiperf_host_cpu_others_ratio", "CPU usage of the machine by other programs."),
	gauge("aiperf_host_cpu_steal_ratio",
		"Part of the CPU time that the hypervisor gave to other machines."),
	gauge("aiperf_host_processors", "CPU cores of the machine."),
	gauge("aiperf_host_memory_bytes", "Memory of the machine."),
	gauge("aiperf_host_memory_available_min_bytes", "Smallest amount of available memory."),
	counter("aiperf_host_network_received_bytes_total", "Bytes received by a network interface.", "device"),
	counter("aiperf_host_network_sent_bytes_total", "Bytes sent by a network interface.", "device"),
	counter("aiperf_host_network_lost_packets_total",
		"Packets of a network interface that were dropped or damaged, in both directions.", "device"),
	gauge("aiperf_host_network_speed_bytes", "Speed of a network interface in bytes per second.",
		"device"),
	gauge("aiperf_host_tcp_retransmit_ratio", "Part of the TCP segments sent that were retransmissions."),
	gauge("aiperf_host_pressure_ratio",
		"Part of the time in which some or all (full) tasks waited for cpu, memory or io.", "resource",
		"kind"),
)

// byFigure returns families by the names that their figures have in a snapshot.
func byFigure(list ...snapshotFamily) map[string]snapshotFamily {
	families := map[string]snapshotFamily{}
	for _, l := range list {
		families[strings.TrimPrefix(l.Name, "aiperf_")] = l
	}
	return families
}

// snapshotCollector collects the metrics of a run's newest snapshot. The page is locked meanwhile.
type snapshotCollector struct{ run *runFigures }

// Describe implements prometheus.Collector.
func (c *snapshotCollector) Describe(out chan<- *prometheus.Desc) {
	for _, l := range snapshotFamilies {
		out <- l.desc()
	}
}

// Collect implements prometheus.Collector.
func (c *snapshotCollector) Collect(out chan<- prometheus.Metric) {
	e := emitter{out}
	s := c.run.snapshot
	for _, p := range configuredLoad(c.run.run, s) {
		e.configured(p)
	}
	if s == nil {
		return
	}
	for _, k := range byKind(s.Phases) {
		e.phase(&k)
	}
	if s.Accuracy != nil {
		e.accuracy(s.Accuracy)
	}
	if s.Client != nil {
		e.client(s.Client)
	}
}

// accuracy puts graded answers; the ratio of none is left out.
func (e emitter) accuracy(a *progress.Accuracy) {
	e.put(answersGraded, float64(a.Correct), "right")
	e.put(answersGraded, float64(a.Total-a.Correct), "wrong")
	e.put(answersUnparsed, float64(a.Unparsed))
	if a.Total > 0 {
		e.put(accuracyRatio, a.Rate())
	}
}

// configuredLoad returns the plan of the last phase of each kind that has begun, or of the first one.
func configuredLoad(run *progress.Run, s *progress.Snapshot) map[string]*progress.Plan {
	plans := map[string]*progress.Plan{}
	for i := range run.Phases {
		if p := &run.Phases[i]; plans[p.Kind] == nil {
			plans[p.Kind] = p
		}
	}
	if s != nil {
		for i := range s.Phases {
			p := &s.Phases[i]
			if plan := &run.Phases[p.Index]; p.State != progress.PhaseCreated && plan.Kind == p.Kind {
				plans[p.Kind] = plan
			}
		}
	}
	return plans
}

// kindOfPhases are the phases of a kind.
type kindOfPhases struct {
	// last is the last one that has begun.
	last *progress.Phase
	// all has the counts of all of them.
	all progress.Phase
}

// byKind adds up the phases of each kind.
func byKind(phases []progress.Phase) []kindOfPhases {
	var kinds []kindOfPhases
	for _, kind := range []string{record.PhaseWarmup, record.PhaseProfiling} {
		var k kindOfPhases
		for i := range phases {
			p := &phases[i]
			if p.Kind != kind || k.last != nil && p.State == progress.PhaseCreated {
				continue
			}
			k.last = p
			k.all.RequestsSent += p.RequestsSent
			k.all.RequestsCompleted += p.RequestsCompleted
			k.all.RequestsCancelled += p.RequestsCancelled
			k.all.SentSessions += p.SentSessions
			k.all.CompletedSessions += p.CompletedSessions
			k.all.CancelledSessions += p.CancelledSessions
			k.all.SkippedArrivals += p.SkippedArrivals
			k.all.DroppedArrivals += p.DroppedArrivals
		}
		if k.last != nil {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// emitter writes metrics.
type emitter struct{ out chan<- prometheus.Metric }

func (e emitter) put(l snapshotFamily, v float64, labels ...string) {
	e.out <- prometheus.MustNewConstMetric(l.desc(), l.kind, v, labels...)
}

func (e emitter) configured(p *progress.Plan) {
	if p.Concurrency != nil {
		e.put(configuredConcurrency, float64(*p.Concurrency), p.Kind)
	}
	if p.PrefillConcurrency != nil {
		e.put(configuredPrefill, float64(*p.PrefillConcurrency), p.Kind)
	}
	if p.Rate > 0 {
		e.put(configuredRate, p.Rate, p.Kind)
	}
	if p.Requests != nil {
		e.put(configuredRequests, float64(*p.Requests), p.Kind)
	}
	if p.Duration != nil {
		e.put(configuredDuration, p.Duration.Seconds(), p.Kind)
	}
}

// phase writes the state of the last phase of a kind and the counts of all of them.
func (e emitter) phase(k *kindOfPhases) {
	last, s := k.last, &k.all
	for _, state := range progress.PhaseStates() {
		e.put(phaseState, one(state == last.State), last.Kind, string(state))
	}
	if last.Progress >= 0 {
		e.put(phaseProgress, last.Progress, last.Kind)
	}
	for _, f := range []struct {
		of snapshotFamily
		n  int64
	}{
		{requestsSent, s.RequestsSent}, {requestsCutOff, s.RequestsCancelled}, {requestsInFlight, s.RequestsInFlight()},
		{sessionsStarted, s.SentSessions}, {sessionsCompleted, s.CompletedSessions},
		{sessionsInFlight, s.SessionsInFlight()},
		{skippedArrivals, s.SkippedArrivals}, {droppedArrivals, s.DroppedArrivals},
	} {
		e.put(f.of, float64(f.n), last.Kind)
	}
	e.put(phaseElapsed, last.Elapsed.Seconds(), last.Kind)
	if last.TargetRate > 0 {
		e.put(targetRate, last.TargetRate, last.Kind)
	}
}

// client writes the verdict, if there is one, and the figures that have a family.
func (e emitter) client(c *progress.Client) {
	if c.Verdict != "" {
		for _, v := range progress.Verdicts() {
			e.put(verdict, one(v == c.Verdict), v)
		}
	}
	for _, f := range c.Findings {
		e.put(finding, 1, f.Code, f.LeadsTo)
	}
	for _, f := range c.Figures {
		if l, found := clientFamilies[f.Name]; found {
			e.put(l, f.Value, f.Labels...)
		}
	}
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
