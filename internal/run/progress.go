package run

import (
	"cmp"
	"math"
	"path/filepath"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/config/file"
	"aiperf/internal/load"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/publish/progress"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/trust"
)

// described returns what observers learn of the run before its first request.
func (f *followers) described() *progress.Run {
	cfg, hide := f.cfg, f.redactor.Values
	run := &progress.Run{
		Label: f.options.Info.RunLabel, BenchmarkID: f.id, Version: f.options.Version, Command: hide(cfg.CLICommand),
		EndpointType: cfg.Endpoint.Type, Streaming: cfg.Endpoint.Streaming, Dir: cfg.Artifacts.Dir,
		Metrics: f.records.set, Log: f.options.Log.Logger, Config: file.Exported(cfg),
	}
	if f.content != nil && f.content.data != nil {
		run.Conversations = f.content.data.Len()
	}
	if f.servers != nil {
		c := f.servers.collector
		run.Servers = progress.Sources{Configured: c.Configured(), Reachable: c.Successful()}
	}
	if f.gpus != nil {
		c := f.gpus.collector
		run.GPUs = progress.Sources{Configured: c.Configured(), Reachable: c.Successful()}
	}
	if cfg.Artifacts.HTMLReport {
		run.Report = filepath.Base(cfg.Artifacts.Path(config.HTMLReport))
	}
	run.Info = artifact.Object{{Key: "benchmark_id", Value: f.id}, {Key: "trial", Value: f.options.Info.Trial},
		{Key: "random_seed", Value: cfg.RandomSeed}, {Key: "cli_command", Value: run.Command}}
	if i := &f.options.Info; i.RunLabel != "" {
		run.Info = append(run.Info, artifact.Member{Key: "run_label", Value: i.RunLabel},
			artifact.Member{Key: "variation_label", Value: cmp.Or(i.VariationLabel, "base")},
			artifact.Member{Key: "variation_index", Value: i.VariationIndex},
			artifact.Member{Key: "variation_values", Value: i.VariationValues})
	}
	for _, m := range cfg.Models {
		run.Models = append(run.Models, hide(m))
	}
	for _, u := range cfg.Endpoint.URLs {
		run.BaseURLs = append(run.BaseURLs, hide(artifact.RedactURLs(u)))
	}
	for _, u := range f.content.urls {
		run.URLs = append(run.URLs, hide(artifact.RedactURLs(u)))
	}
	for i := range cfg.Phases {
		p := &cfg.Phases[i]
		plan := progress.Plan{
			Name: p.Name, Kind: record.PhaseProfiling, Type: p.YAMLType(), Concurrency: p.Concurrency,
			PrefillConcurrency: p.Prefill, Requests: p.Requests, Duration: p.Duration, Rate: p.PlannedRate(),
		}
		if p.Kind == config.WarmupPhase {
			plan.Kind = record.PhaseWarmup
		}
		if p.Duration != nil && p.Grace < config.Unlimited {
			plan.Grace = &p.Grace
		}
		run.Phases = append(run.Phases, plan)
	}
	return run
}

func recordsOf(s metrics.Snapshot) progress.Records {
	return progress.Records{Successes: s.Successes, Errors: s.Errors, Skipped: s.Skipped}
}

// phaseProgress returns the numbers of a phase as observers see them.
func phaseProgress(s *load.Stats, nowNS int64) progress.Phase {
	p := progress.Phase{
		Index: s.Index, Name: s.Name, Kind: s.Kind.String(), State: progress.PhaseState(s.State.String()),
		Elapsed: s.Elapsed(nowNS), Progress: -1, Remaining: -1,
		ExpectedRequests: s.ExpectedRequests, ExpectedSessions: s.ExpectedSessions,
		ExpectedDuration: s.ExpectedDuration,
		RequestsSent:     s.RequestsSent, RequestsCompleted: s.RequestsCompleted,
		RequestsCancelled: s.RequestsCancelled,
		RequestErrors:     s.RequestErrors, SentSessions: s.SentSessions, CompletedSessions: s.CompletedSessions,
		CancelledSessions: s.CancelledSessions, TotalSessionTurns: s.TotalSessionTurns,
		SkippedArrivals: s.SkippedArrivals, DroppedArrivals: s.DroppedByCatchup,
		TargetRate: s.TargetRate, DeliveredRate: s.DeliveredRate(nowNS), CompletedRate: s.CompletedRate(nowNS),
		TimeoutTriggered: s.TimeoutTriggered, GracePeriodTimeoutTriggered: s.GracePeriodTimeoutTriggered,
		WasCancelled: s.WasCancelled, OldestCutOff: s.OldestCutOff,
	}
	if s.SentEndNS > 0 {
		p.Draining = time.Duration(nowNS - s.SentEndNS)
	}
	if s.GraceEndNS > 0 {
		p.GraceLeft = time.Duration(max(1, s.GraceEndNS-nowNS))
	}
	if percent, known := s.Progress(nowNS); known {
		p.Progress = percent / 100
	}
	if left, known := s.Remaining(nowNS); known {
		p.Remaining = left
	}
	return p
}

// accuracyOf returns graded answers as observers see them.
func accuracyOf(a *summary.Accuracy) *progress.Accuracy {
	if a == nil {
		return nil
	}
	all := a.Overall()
	return &progress.Accuracy{Benchmark: a.Benchmark, Correct: all.Correct, Total: all.Total, Unparsed: all.Unparsed,
		Metrics: a.Metrics()}
}

// stageOf returns what a run does whose current phase is p, nil before the first one.
func stageOf(p *progress.Phase) progress.Stage {
	switch {
	case p == nil:
		return progress.Starting
	case p.State == progress.PhaseSendingComplete, p.State == progress.PhaseComplete && p.Kind == record.PhaseProfiling:
		return progress.Draining
	case p.Kind == record.PhaseWarmup:
		return progress.WarmingUp
	}
	return progress.Profiling
}

// ServerFigures are the known figures of servers as observers see them.
func ServerFigures(l servermetrics.Live) (list []progress.Figure) {
	for _, f := range []struct {
		name  string
		value *float64
	}{
		{"server_prefix_cache_hit_percent", l.PrefixCacheHit}, {"server_unique_prompt_tokens", l.UniqueTokens},
		{"server_external_cache_hit_percent", l.ExternalCacheHit}, {"server_kv_cache_usage_percent", l.KVUsage},
		{"server_cpu_kv_cache_usage_percent", l.CPUKVUsage}, {"server_requests_running", l.Running},
		{"server_requests_waiting", l.Waiting}, {"server_input_tokens_per_second", l.InputRate},
		{"server_output_tokens_per_second", l.OutputRate},
	} {
		if f.value != nil {
			list = append(list, progress.Figure{Name: f.name, Value: *f.value})
		}
	}
	return list
}

// FiguresNow are the known figures of a server that is watched without a load.
func FiguresNow(n *servermetrics.Now) []progress.Figure {
	list := ServerFigures(n.Live)
	for _, f := range []struct {
		name  string
		value *float64
	}{
		{"server_requests_per_second", n.RequestRate},
		{"server_ttft_p50_seconds", n.TTFT.P50}, {"server_ttft_p99_seconds", n.TTFT.P99},
		{"server_itl_p50_seconds", n.ITL.P50}, {"server_itl_p99_seconds", n.ITL.P99},
		{"server_latency_p50_seconds", n.Latency.P50}, {"server_latency_p99_seconds", n.Latency.P99},
	} {
		if f.value != nil {
			list = append(list, progress.Figure{Name: f.name, Value: *f.value})
		}
	}
	return list
}

// clientOf returns a report on the client as observers see it. Nothing is judged before there is a request, unless the
// run has ended and there will be none.
func clientOf(r *trust.Report, ended bool) *progress.Client {
	c := &clientFigures{}
	if r.Inputs.Requests > 0 || ended {
		c.Verdict = string(r.Verdict)
		for _, reason := range r.Reasons {
			c.Findings = append(c.Findings, progress.Finding{Code: reason.Code, LeadsTo: string(reason.Leads),
				Message: reason.Message, Advice: reason.Advice})
		}
		for _, b := range r.Bounds {
			if b.Unit == "ms" {
				c.put("client_error_bound_seconds", b.Value/1e3, b.Tag)
			}
		}
	}
	h := r.Health
	c.put("client_cpu_ratio", h.CPUShare)
	c.put("client_cpu_peak_ratio", h.CPUPeak)
	c.put("client_cpu_quota_cores", h.CPUQuota)
	if h.Probe.Count > 0 {
		c.put("client_timer_delay_p99_seconds", h.Probe.P99/1e3)
		c.put("client_timer_delay_max_seconds", h.Probe.Max/1e3)
	}
	c.put("client_gc_cycles_total", float64(h.GC.Cycles))
	c.put("client_gc_pause_seconds_total", h.GC.PauseTotal.Seconds())
	c.put("client_gc_pause_max_seconds", h.GC.PauseMax.Seconds())
	c.put("client_gc_assist_ratio", h.GC.AssistShare)
	c.known("client_heap_peak_bytes", h.Heap)
	c.known("client_resident_memory_peak_bytes", h.RSS)
	c.known("client_open_descriptors_peak", h.Descriptors)
	c.known("client_descriptor_limit", h.DescriptorLimit)
	c.put("host_cpu_steal_ratio", h.StealShare)
	if h.Host != nil {
		c.host(h.Host)
	}
	return &c.Client
}

// clientFigures is a report in the making.
type clientFigures struct{ progress.Client }

// put leaves out what is not a number: what the system does not tell.
func (c *clientFigures) put(name string, v float64, labels ...string) {
	if !math.IsNaN(v) {
		c.Figures = append(c.Figures, progress.Figure{Name: name, Labels: labels, Value: v})
	}
}

// known leaves out 0, which stands for what is not known.
func (c *clientFigures) known(name string, n int64) {
	if n != 0 {
		c.put(name, float64(n))
	}
}

// host adds the figures of the machine.
func (c *clientFigures) host(h *trust.Host) {
	c.known("host_processors", int64(h.Processors))
	c.put("host_cpu_busy_ratio", h.BusyShare)
	c.put("host_cpu_others_ratio", h.OthersShare)
	if h.Memory > 0 {
		c.put("host_memory_bytes", float64(h.Memory))
		if h.AvailableMin >= 0 {
			c.put("host_memory_available_min_bytes", float64(h.AvailableMin))
		}
	}
	for i := range h.Links {
		l := &h.Links[i]
		c.put("host_network_received_bytes_total", float64(l.ReceivedBytes), l.Name)
		c.put("host_network_sent_bytes_total", float64(l.SentBytes), l.Name)
		c.put("host_network_lost_packets_total", float64(l.Lost), l.Name)
		if l.Speed > 0 {
			c.put("host_network_speed_bytes", l.Speed, l.Name)
		}
	}
	c.put("host_tcp_retransmit_ratio", h.RetransmitShare)
	for _, p := range []struct {
		resource, kind string
		share          float64
	}{
		{"cpu", "some", h.CPUSome}, {"memory", "some", h.MemorySome}, {"memory", "full", h.MemoryFull},
		{"io", "some", h.IOSome}, {"io", "full", h.IOFull},
	} {
		c.put("host_pressure_ratio", p.share, p.resource, p.kind)
	}
}
