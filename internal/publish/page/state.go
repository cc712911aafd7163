package page

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"

	"aiperf/internal/load"
	"aiperf/internal/watch/trust"
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

// How the client does, since the start of the profiling phase.
var (
	verdict = gauge("aiperf_client_verdict",
		"1 for the verdict on the client's own influence, as far as is known: valid, client_limited or inconclusive.",
		"verdict")
	finding = gauge("aiperf_client_finding",
		"1 for each finding of the verdict; leads_to is the verdict that it leads to.", "code", "leads_to")
	clientShare = gauge("aiperf_client_error_bound_seconds",
		"Upper limit of the client's own share in the 99th percentile of a metric.", "metric")
	cpuShare      = gauge("aiperf_client_cpu_ratio", "Part of its processors that the client used.")
	cpuPeak       = gauge("aiperf_client_cpu_peak_ratio", "The largest such part in a quarter of a second.")
	cpuQuota      = gauge("aiperf_client_cpu_quota_cores", "Processors that the client may use.")
	timerDelay    = gauge("aiperf_client_timer_delay_p99_seconds", "By how much timers fired late, 99th percentile.")
	timerDelayMax = gauge("aiperf_client_timer_delay_max_seconds", "By how much a timer fired late at most.")
	gcCycles      = counter("aiperf_client_gc_cycles_total", "Garbage collections.")
	gcPauses      = counter("aiperf_client_gc_pause_seconds_total",
		"Time in which garbage collection stopped the client.")
	gcPauseMax = gauge("aiperf_client_gc_pause_max_seconds", "The longest such time.")
	gcAssist   = gauge("aiperf_client_gc_assist_ratio",
		"Part of the processor time in which requests had to help the garbage collection.")
	heapBytes        = gauge("aiperf_client_heap_peak_bytes", "The largest heap.")
	residentBytes    = gauge("aiperf_client_resident_memory_peak_bytes", "The most memory that was in use.")
	descriptorsOpen  = gauge("aiperf_client_open_descriptors_peak", "The most file descriptors that were open.")
	descriptorsLimit = gauge("aiperf_client_descriptor_limit", "File descriptors that the client may have open.")
)

// What the machine that the client runs on does, all programs together, since the start of the profiling phase.
var (
	hostBusy = gauge("aiperf_host_cpu_busy_ratio",
		"Part of the time of the machine's processors in which they worked.")
	hostOthers = gauge("aiperf_host_cpu_others_ratio", "The part of it that other programs used.")
	hostSteal  = gauge("aiperf_host_cpu_steal_ratio",
		"Part of the processors' time that the hypervisor gave to others.")
	hostProcessors = gauge("aiperf_host_processors", "Processors of the machine.")
	hostMemory     = gauge("aiperf_host_memory_bytes", "Memory of the machine.")
	hostAvailable  = gauge("aiperf_host_memory_available_min_bytes", "The least memory that could still be used.")
	hostReceived   = counter("aiperf_host_network_received_bytes_total", "Bytes that an interface received.", "device")
	hostSent       = counter("aiperf_host_network_sent_bytes_total", "Bytes that an interface sent.", "device")
	hostLost       = counter("aiperf_host_network_lost_packets_total",
		"Packets that an interface dropped or that were broken, both ways.", "device")
	hostSpeed = gauge("aiperf_host_network_speed_bytes", "Bytes per second that an interface can carry.",
		"device")
	hostRetransmits = gauge("aiperf_host_tcp_retransmit_ratio", "Part of the TCP segments sent that were sent again.")
	hostPressure    = gauge("aiperf_host_pressure_ratio",
		"Part of the time in which some tasks, or all (full), stood still for lack of cpu, memory or io.", "resource",
		"kind")
)

// stateCollector makes figures of a run's last snapshot. The page is locked while it does.
type stateCollector struct{ run *Run }

// Describe implements prometheus.Collector.
func (c *stateCollector) Describe(out chan<- *prometheus.Desc) {
	for _, l := range levels {
		out <- l.desc
	}
}

// Collect implements prometheus.Collector.
func (c *stateCollector) Collect(out chan<- prometheus.Metric) {
	e := emitter{out}
	for _, l := range c.run.info.Load {
		e.configured(&l)
	}
	s := &c.run.state
	for _, k := range byKind(s.Phases) {
		e.phase(&k, s.NowNS)
	}
	if s.Client != nil {
		e.client(s.Client, s.Ended)
	}
}

// kindOfPhases are the phases of a kind.
type kindOfPhases struct {
	// last is the last one that has begun.
	last *load.Stats
	// all has the counts of all of them.
	all load.Stats
}

// byKind adds up the phases of each kind.
func byKind(phases []load.Stats) []kindOfPhases {
	var kinds []kindOfPhases
	for _, kind := range []load.Kind{load.Warmup, load.Profiling} {
		var k kindOfPhases
		for i := range phases {
			p := &phases[i]
			if p.Kind != kind || k.last != nil && p.State == load.Created {
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
			k.all.DroppedByCatchup += p.DroppedByCatchup
		}
		if k.last != nil {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// emitter writes figures.
type emitter struct{ out chan<- prometheus.Metric }

// put leaves out what is not a number: what the system does not tell.
func (e emitter) put(l level, v float64, labels ...string) {
	if !math.IsNaN(v) {
		e.out <- prometheus.MustNewConstMetric(l.desc, l.kind, v, labels...)
	}
}

// known leaves out 0, which stands for what is not known.
func (e emitter) known(l level, n int64, labels ...string) {
	if n != 0 {
		e.put(l, float64(n), labels...)
	}
}

func (e emitter) configured(l *PhaseLoad) {
	if l.Concurrency != nil {
		e.put(configuredConcurrency, float64(*l.Concurrency), l.Kind)
	}
	if l.PrefillConcurrency != nil {
		e.put(configuredPrefill, float64(*l.PrefillConcurrency), l.Kind)
	}
	if l.Rate != nil {
		e.put(configuredRate, *l.Rate, l.Kind)
	}
	if l.Requests != nil {
		e.put(configuredRequests, float64(*l.Requests), l.Kind)
	}
	if l.DurationSeconds != nil {
		e.put(configuredDuration, *l.DurationSeconds, l.Kind)
	}
}

// phase reports the last phase of a kind, but counts all of them.
func (e emitter) phase(k *kindOfPhases, nowNS int64) {
	last, s := k.last, &k.all
	kind := last.Kind.String()
	for state := load.Created; state <= load.Complete; state++ {
		e.put(phaseState, one(state == last.State), kind, state.String())
	}
	if percent, known := last.Progress(nowNS); known {
		e.put(phaseProgress, percent/100, kind)
	}
	for _, f := range []struct {
		of level
		n  int64
	}{
		{requestsSent, s.RequestsSent}, {requestsCutOff, s.RequestsCancelled}, {requestsFlying, s.RequestsInFlight()},
		{sessionsSent, s.SentSessions}, {sessionsDone, s.CompletedSessions}, {sessionsFlying, s.SessionsInFlight()},
		{skippedArrivals, s.SkippedArrivals}, {droppedArrivals, s.DroppedByCatchup},
	} {
		e.put(f.of, float64(f.n), kind)
	}
	e.put(phaseElapsed, last.Elapsed(nowNS).Seconds(), kind)
	if last.TargetRate > 0 {
		e.put(targetRate, last.TargetRate, kind)
	}
}

// client tells nothing of the verdict before there is a request to judge, unless there will be none.
func (e emitter) client(r *trust.Report, ended bool) {
	if r.Inputs.Requests > 0 || ended {
		for _, v := range []trust.Verdict{trust.Valid, trust.ClientLimited, trust.Inconclusive} {
			e.put(verdict, one(v == r.Verdict), string(v))
		}
		for _, reason := range r.Reasons {
			e.put(finding, 1, reason.Code, string(reason.Leads))
		}
		for _, b := range r.Bounds {
			if b.Unit == "ms" {
				e.put(clientShare, b.Value/1e3, b.Tag)
			}
		}
	}
	h := r.Health
	e.put(cpuShare, h.CPUShare)
	e.put(cpuPeak, h.CPUPeak)
	e.put(cpuQuota, h.CPUQuota)
	if h.Probe.Count > 0 {
		e.put(timerDelay, h.Probe.P99/1e3)
		e.put(timerDelayMax, h.Probe.Max/1e3)
	}
	e.put(gcCycles, float64(h.GC.Cycles))
	e.put(gcPauses, h.GC.PauseTotal.Seconds())
	e.put(gcPauseMax, h.GC.PauseMax.Seconds())
	e.put(gcAssist, h.GC.AssistShare)
	e.known(heapBytes, h.Heap)
	e.known(residentBytes, h.RSS)
	e.known(descriptorsOpen, h.Descriptors)
	e.known(descriptorsLimit, h.DescriptorLimit)
	e.put(hostSteal, h.StealShare)
	if h.Host != nil {
		e.host(h.Host)
	}
}

func (e emitter) host(h *trust.Host) {
	e.known(hostProcessors, int64(h.Processors))
	e.put(hostBusy, h.BusyShare)
	e.put(hostOthers, h.OthersShare)
	if h.Memory > 0 {
		e.put(hostMemory, float64(h.Memory))
		if h.AvailableMin >= 0 {
			e.put(hostAvailable, float64(h.AvailableMin))
		}
	}
	for i := range h.Links {
		l := &h.Links[i]
		e.put(hostReceived, float64(l.ReceivedBytes), l.Name)
		e.put(hostSent, float64(l.SentBytes), l.Name)
		e.put(hostLost, float64(l.Lost), l.Name)
		if l.Speed > 0 {
			e.put(hostSpeed, l.Speed, l.Name)
		}
	}
	e.put(hostRetransmits, h.RetransmitShare)
	for _, p := range []struct {
		resource, kind string
		share          float64
	}{
		{"cpu", "some", h.CPUSome}, {"memory", "some", h.MemorySome}, {"memory", "full", h.MemoryFull},
		{"io", "some", h.IOSome}, {"io", "full", h.IOFull},
	} {
		e.put(hostPressure, p.share, p.resource, p.kind)
	}
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
