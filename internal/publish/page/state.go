package page

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"aiperf/internal/measure/record"
	"aiperf/internal/publish/progress"
)

// level is a family whose value is that of the last snapshot.
type level struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	Family
}

// levels are the families of snapshots, which all runs share.
var levels []level

func family(kind prometheus.ValueType, name, help string, labels ...string) level {
	l := level{prometheus.NewDesc(name, help, labels, nil), kind, Family{name, "gauge", help, labels}}
	if kind == prometheus.CounterValue {
		l.Type = "counter"
	}
	levels = append(levels, l)
	return l
}

func gauge(name, help string, labels ...string) level {
	return family(prometheus.GaugeValue, name, help, labels...)
}

func counter(name, help string, labels ...string) level {
	return family(prometheus.CounterValue, name, help, labels...)
}

// What the load does.
var (
	phaseState = gauge("aiperf_phase_state",
		"1 for the state that a phase is in: created, started, sending_complete or complete.", "phase", "state")
	phaseProgress = gauge("aiperf_phase_progress_ratio",
		"How much of a phase is done, by the stop condition that is closest.", "phase")
	phaseElapsed   = gauge("aiperf_phase_elapsed_seconds", "Age of a phase, at its end once it has ended.", "phase")
	requestsSent   = counter("aiperf_requests_sent_total", "Requests that were sent.", "phase")
	requestsCutOff = counter("aiperf_requests_cut_off_total", "Requests in flight that the end of the phase cut off.",
		"phase")
	requestsFlying  = gauge("aiperf_requests_in_flight", "Requests that were sent and have not returned.", "phase")
	sessionsSent    = counter("aiperf_sessions_started_total", "Sessions of which the first request was sent.", "phase")
	sessionsDone    = counter("aiperf_sessions_completed_total", "Sessions that are complete.", "phase")
	sessionsFlying  = gauge("aiperf_sessions_in_flight", "Sessions that were started and have not ended.", "phase")
	skippedArrivals = counter("aiperf_arrivals_skipped_total", "Arrivals that found no free slot.", "phase")
	droppedArrivals = counter("aiperf_arrivals_dropped_total",
		"Arrivals that were given up because the client had been held up.", "phase")
	targetRate = gauge("aiperf_target_request_rate", "Requests per second by the plan.", "phase")
)

// What the load was configured to be.
var (
	configuredConcurrency = gauge("aiperf_configured_concurrency", "Requests at a time that were asked for.", "phase")
	configuredPrefill     = gauge("aiperf_configured_prefill_concurrency",
		"Requests at a time without a first token that were asked for.", "phase")
	configuredRate     = gauge("aiperf_configured_request_rate", "Requests per second that were asked for.", "phase")
	configuredRequests = gauge("aiperf_configured_requests", "Requests that were asked for.", "phase")
	configuredDuration = gauge("aiperf_configured_duration_seconds", "Length of the phase that was asked for.", "phase")
)

// The verdict on the client.
var (
	verdict = gauge("aiperf_client_verdict",
		"1 for the verdict on the client's own influence, as far as is known: valid, client_limited or inconclusive.",
		"verdict")
	finding = gauge("aiperf_client_finding",
		"1 for each finding of the verdict; leads_to is the verdict that it leads to.", "code", "leads_to")
)

// clientFamilies are the families of the figures of the client and its machine, since the start of the profiling phase,
// by the names of the figures.
var clientFamilies = byFigure(
	gauge("aiperf_client_error_bound_seconds",
		"Upper limit of the client's own share in the 99th percentile of a metric.", "metric"),
	gauge("aiperf_client_cpu_ratio", "Part of its processors that the client used."),
	gauge("aiperf_client_cpu_peak_ratio", "The largest such part in a quarter of a second."),
	gauge("aiperf_client_cpu_quota_cores", "Processors that the client may use."),
	gauge("aiperf_client_timer_delay_p99_seconds", "By how much timers fired late, 99th percentile."),
	gauge("aiperf_client_timer_delay_max_seconds", "By how much a timer fired late at most."),
	counter("aiperf_client_gc_cycles_total", "Garbage collections."),
	counter("aiperf_client_gc_pause_seconds_total",
		"Time in which garbage collection stopped the client."),
	gauge("aiperf_client_gc_pause_max_seconds", "The longest such time."),
	gauge("aiperf_client_gc_assist_ratio",
		"Part of the processor time in which requests had to help the garbage collection."),
	gauge("aiperf_client_heap_peak_bytes", "The largest heap."),
	gauge("aiperf_client_resident_memory_peak_bytes", "The most memory that was in use."),
	gauge("aiperf_client_open_descriptors_peak", "The most file descriptors that were open."),
	gauge("aiperf_client_descriptor_limit", "File descriptors that the client may have open."),
	// The machine that the client runs on, all programs together.
	gauge("aiperf_host_cpu_busy_ratio",
		"Part of the time of the machine's processors in which they worked."),
	gauge("aiperf_host_cpu_others_ratio", "The part of it that other programs used."),
	gauge("aiperf_host_cpu_steal_ratio",
		"Part of the processors' time that the hypervisor gave to others."),
	gauge("aiperf_host_processors", "Processors of the machine."),
	gauge("aiperf_host_memory_bytes", "Memory of the machine."),
	gauge("aiperf_host_memory_available_min_bytes", "The least memory that could still be used."),
	counter("aiperf_host_network_received_bytes_total", "Bytes that an interface received.", "device"),
	counter("aiperf_host_network_sent_bytes_total", "Bytes that an interface sent.", "device"),
	counter("aiperf_host_network_lost_packets_total",
		"Packets that an interface dropped or that were broken, both ways.", "device"),
	gauge("aiperf_host_network_speed_bytes", "Bytes per second that an interface can carry.",
		"device"),
	gauge("aiperf_host_tcp_retransmit_ratio", "Part of the TCP segments sent that were sent again."),
	gauge("aiperf_host_pressure_ratio",
		"Part of the time in which some tasks, or all (full), stood still for lack of cpu, memory or io.", "resource",
		"kind"),
)

// byFigure returns families by the names that their figures have in a snapshot.
func byFigure(list ...level) map[string]level {
	families := map[string]level{}
	for _, l := range list {
		families[strings.TrimPrefix(l.Name, "aiperf_")] = l
	}
	return families
}

// snapshotCollector makes figures of a run's newest snapshot. The page is locked while it does.
type snapshotCollector struct{ run *runFigures }

// Describe implements prometheus.Collector.
func (c *snapshotCollector) Describe(out chan<- *prometheus.Desc) {
	for _, l := range levels {
		out <- l.desc
	}
}

// Collect implements prometheus.Collector.
func (c *snapshotCollector) Collect(out chan<- prometheus.Metric) {
	e := emitter{out}
	for i := range c.run.run.Phases {
		e.configured(&c.run.run.Phases[i])
	}
	s := c.run.snapshot
	if s == nil {
		return
	}
	for _, k := range byKind(s.Phases) {
		e.phase(&k)
	}
	if s.Client != nil {
		e.client(s.Client)
	}
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

// emitter writes figures.
type emitter struct{ out chan<- prometheus.Metric }

func (e emitter) put(l level, v float64, labels ...string) {
	e.out <- prometheus.MustNewConstMetric(l.desc, l.kind, v, labels...)
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

// phase reports the last phase of a kind, but counts all of them.
func (e emitter) phase(k *kindOfPhases) {
	last, s := k.last, &k.all
	for _, state := range progress.PhaseStates() {
		e.put(phaseState, one(state == last.State), last.Kind, string(state))
	}
	if last.Progress >= 0 {
		e.put(phaseProgress, last.Progress, last.Kind)
	}
	for _, f := range []struct {
		of level
		n  int64
	}{
		{requestsSent, s.RequestsSent}, {requestsCutOff, s.RequestsCancelled}, {requestsFlying, s.RequestsInFlight()},
		{sessionsSent, s.SentSessions}, {sessionsDone, s.CompletedSessions}, {sessionsFlying, s.SessionsInFlight()},
		{skippedArrivals, s.SkippedArrivals}, {droppedArrivals, s.DroppedArrivals},
	} {
		e.put(f.of, float64(f.n), last.Kind)
	}
	e.put(phaseElapsed, last.Elapsed.Seconds(), last.Kind)
	if last.TargetRate > 0 {
		e.put(targetRate, last.TargetRate, last.Kind)
	}
}

// client reports the figures that have a family, and the verdict if there is one.
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
