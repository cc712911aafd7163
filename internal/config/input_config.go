package config

import (
	"aiperf/internal/base/artifact"
	"time"
)

// InputConfig is the configuration as exports carry it: the shape of the "benchmark:" body, what was
// given or derived, without secrets. Settings that the schema has no key for stand in [FurtherConfig].
func InputConfig(r *Run) Object {
	known, _ := exportedConfig(r)
	return known
}

// FurtherConfig holds the settings that the schema of the "benchmark:" body has no key for, in mappings as there;
// datasets and phases are under their names. It is empty where there are none.
func FurtherConfig(r *Run) Object {
	_, further := exportedConfig(r)
	return further
}

// exportedConfig separates the settings that the schema has keys for from the others.
func exportedConfig(r *Run) (known, further Object) {
	clean, _ := r.Redactor().Strings(resolvedConfig(r)).(Object)
	return splitConfig(clean, "")
}

// resolvedConfig is everything that was given or derived, in the order of the "benchmark:" body.
func resolvedConfig(r *Run) Object {
	p := r.parsed
	out := Object{{Key: "models", Value: modelsConfig(r)}, {Key: "endpoint", Value: endpointConfig(r)},
		{Key: "datasets", Value: []any{datasetConfig(r)}}}
	phases := []any{}
	for i := range r.Phases {
		phases = append(phases, phaseConfig(&r.Phases[i], r))
	}
	out = append(out, Member{Key: "phases", Value: phases}, Member{Key: "artifacts", Value: artifactsConfig(r)})
	if len(r.SLOs) > 0 {
		slos := Object{}
		for _, s := range r.SLOs {
			slos = append(slos, Member{Key: s.Tag, Value: s.Value})
		}
		out = append(out, Member{Key: "slos", Value: slos})
	}
	if r.Tokenizer.Name != "" {
		tokenizer := addGiven(Object{{Key: "name", Value: r.Tokenizer.Name}}, p, "tokenizer-revision", "revision",
			r.Tokenizer.Revision)
		out = append(out, Member{Key: "tokenizer",
			Value: addGiven(tokenizer, p, "apply-chat-template", "apply_chat_template", r.Tokenizer.ChatTemplate)})
	}
	out = append(out, Member{Key: "server_metrics", Value: serverMetricsConfig(r)})
	out = setNonEmpty(out, "gpu_telemetry", gpuConfig(r))
	out = append(out, Member{Key: "network_latency", Value: networkConfig(r)})
	out = setNonEmpty(out, "otel", otelConfig(r))
	out = setNonEmpty(out, "mlflow", mlflowConfig(r))
	out = setNonEmpty(out, "runtime", runtimeConfig(r))
	if p.Given("log-level") || r.UI.Verbose {
		out = append(out, Member{Key: "logging", Value: Object{{Key: "level", Value: r.LogLevel}}})
	}
	if s := r.Submission; s != nil {
		out = append(out, Member{Key: "scenario", Value: s.Scenario})
		out = addGiven(out, p, "unsafe-override", "unsafe_override", p.Bool("unsafe-override"))
	}
	return out
}

func serverMetricsConfig(r *Run) Object {
	s := r.ServerMetrics
	if !s.Enabled {
		return Object{{Key: "enabled", Value: false}}
	}
	urls, _ := serverMetricsURLs(s.URLs) // checked before
	for i := range urls {
		urls[i] = artifact.RedactURLs(urls[i])
	}
	return Object{{Key: "enabled", Value: true}, {Key: "urls", Value: texts(urls)},
		{Key: "formats", Value: texts(s.Formats)}}
}

func gpuConfig(r *Run) Object {
	g := r.GPU
	if !g.Enabled {
		return Object{{Key: "enabled", Value: false}}
	}
	var out Object
	if len(g.Exporters) > 0 {
		urls := make([]string, len(g.Exporters))
		for i, e := range g.Exporters {
			urls[i] = artifact.RedactURLs(e.URL)
		}
		out = append(out, Member{Key: "urls", Value: texts(urls)})
	}
	if g.Collector != "" {
		out = append(out, Member{Key: "collector", Value: g.Collector})
	}
	if g.MetricsFile != "" {
		out = append(out, Member{Key: "metrics_file", Value: g.MetricsFile})
	}
	return out
}

func networkConfig(r *Run) Object {
	out := Object{{Key: "enabled", Value: r.Network.Automatic || r.Network.Mean != nil}}
	if mean := r.parsed.Float("network-latency-mean"); mean != nil {
		out = append(out, Member{Key: "mean_ms", Value: *mean})
	}
	return addGiven(out, r.parsed, "network-latency-ping-interval", "ping_interval", r.Network.Interval.Seconds())
}

// setNonEmpty appends an object unless it is empty.
func setNonEmpty(o Object, key string, value Object) Object {
	if len(value) == 0 {
		return o
	}
	return append(o, Member{Key: key, Value: value})
}

// addGiven appends a member if its option was set.
func addGiven(o Object, p *Parsed, name, key string, value any) Object {
	if !p.IsSet(name) {
		return o
	}
	return append(o, Member{Key: key, Value: value})
}

func modelsConfig(r *Run) Object {
	out := addGiven(nil, r.parsed, "model-selection-strategy", "strategy", r.ModelSelection)
	items := []any{}
	for i, name := range r.Models {
		item := Object{{Key: "name", Value: name}}
		if r.ModelWeights != nil {
			item = append(item, Member{Key: "weight", Value: r.ModelWeights[i]})
		}
		items = append(items, item)
	}
	return append(out, Member{Key: "items", Value: items})
}

func texts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

func endpointConfig(r *Run) Object {
	p, e := r.parsed, r.Endpoint
	urls := make([]string, len(e.URLs))
	for i, u := range e.URLs {
		urls[i] = artifact.RedactURLs(u)
	}
	out := Object{{Key: "urls", Value: texts(urls)}, {Key: "type", Value: e.Type}}
	out = addGiven(out, p, "url-strategy", "url_strategy", e.URLStrategy)
	if e.CustomPath != nil {
		out = append(out, Member{Key: "path", Value: *e.CustomPath})
	}
	if e.APIKey != "" {
		out = append(out, Member{Key: "api_key", Value: artifact.Redacted})
	}
	out = addGiven(out, p, "request-timeout-seconds", "timeout", e.TimeoutSeconds)
	if p.IsSet("streaming") || e.Streaming { // a scenario streams unasked
		out = append(out, Member{Key: "streaming", Value: e.Streaming})
	}
	if e.GRPC {
		out = append(out, Member{Key: "grpc", Value: true})
	}
	out = addGiven(out, p, "connection-reuse-strategy", "connection_reuse", e.ConnectionReuse)
	if len(e.SourceAddresses) > 0 {
		out = append(out, Member{Key: "source_addresses", Value: texts(p.Texts("source-address"))})
	}
	out = addGiven(out, p, "use-legacy-max-tokens", "use_legacy_max_tokens", e.UseLegacyMaxTokens)
	out = addGiven(out, p, "use-server-token-count", "use_server_token_count", e.UseServerTokenCount)
	out = addGiven(out, p, "uuid-and-strip", "uuid_and_strip", p.Bool("uuid-and-strip"))
	out = addGiven(out, p, "per-chunk-usage", "per_chunk_usage", e.ChunkUsage)
	headers := Object{}
	for _, h := range e.Headers {
		value := artifact.RedactURLs(h.Value)
		if artifact.IsSensitiveName(h.Name) {
			value = artifact.Redacted
		}
		headers = append(headers, Member{Key: h.Name, Value: value})
	}
	out = setNonEmpty(out, "headers", headers)
	extra, _ := artifact.HideSensitive(e.Extra).(Object)
	template, extra := templateConfig(e.Type, extra)
	out = setNonEmpty(out, "template", template)
	out = setNonEmpty(out, "extra", extra)
	out = addGiven(out, p, "request-content-type", "request_content_type", p.Text("request-content-type"))
	out = addGiven(out, p, "download-video-content", "download_video_content", e.DownloadVideo)
	out = addGiven(out, p, "session-header", "session_header", e.SessionHeader)
	return controlConfig(transportConfig(out, &e), &e)
}

// templateConfig takes what makes the bodies of a template endpoint out of the extra inputs.
func templateConfig(kind string, extra Object) (template, rest Object) {
	if kind != "template" {
		return nil, extra
	}
	for _, m := range extra {
		switch m.Key {
		case "payload_template":
			template = append(Object{{Key: "body", Value: m.Value}}, template...)
		case "response_field":
			template = append(template, m)
		default:
			rest = append(rest, m)
		}
	}
	return template, rest
}

func phaseConfig(ph *Phase, r *Run) Object {
	out := Object{{Key: "name", Value: ph.Name}, {Key: "kind", Value: string(ph.Kind)},
		{Key: "type", Value: ph.YAMLType()}}
	if ph.Kind == WarmupPhase {
		out = append(out, Member{Key: "exclude_from_results", Value: true})
	}
	if ph.Mode == AgenticReplay {
		out = append(out, Member{Key: "timing_mode", Value: string(ph.Mode)})
	}
	if ph.Requests != nil {
		out = append(out, Member{Key: "requests", Value: *ph.Requests})
	} else if ph.Schedule != nil && ph.Sessions == nil && ph.Schedule.Rows > 0 {
		out = append(out, Member{Key: "requests", Value: ph.Schedule.Rows})
	}
	if ph.Duration != nil {
		out = append(out, Member{Key: "duration", Value: secondsOf(*ph.Duration)})
	}
	if ph.Sessions != nil {
		out = append(out, Member{Key: "sessions", Value: *ph.Sessions})
	}
	if ph.Concurrency != nil {
		out = append(out, Member{Key: "concurrency", Value: int64(*ph.Concurrency)})
	}
	if ph.Prefill != nil {
		out = append(out, Member{Key: "prefill_concurrency", Value: int64(*ph.Prefill)})
	}
	if ph.Series != nil {
		points := []any{}
		for _, p := range ph.Series {
			points = append(points, Object{{Key: "time_s", Value: p.Seconds}, {Key: "qps", Value: p.Rate}})
		}
		out = append(out, Member{Key: "rate_series", Value: points})
	} else if ph.AtOnce() {
		out = append(out, Member{Key: "rate", Value: nil})
	} else if ph.Mode == Rate || ph.Mode == UserCentric {
		out = append(out, Member{Key: "rate", Value: ph.Rate})
	}
	if l := ph.Lanes; l != nil && ph.Kind == ProfilingPhase {
		out = append(out, lanesConfig(l)...)
	}
	if s := ph.Schedule; s != nil {
		out = append(out, Member{Key: "auto_offset", Value: s.AutoOffset})
		if s.StartMS != nil {
			out = append(out, Member{Key: "start_offset", Value: *s.StartMS})
		}
		if s.EndMS != nil {
			out = append(out, Member{Key: "end_offset", Value: *s.EndMS})
		}
	}
	if ph.Mode == UserCentric {
		out = append(out, Member{Key: "users", Value: int64(ph.Users)})
	}
	for _, ramp := range []struct {
		key      string
		duration time.Duration
	}{{"concurrency_ramp", ph.ConcurrencyRamp}, {"prefill_ramp", ph.PrefillRamp}, {"rate_ramp", ph.RateRamp}} {
		if ramp.duration > 0 {
			out = append(out, Member{Key: ramp.key, Value: ramp.duration.Seconds()})
		}
	}
	if ph.Smoothness > 0 {
		out = append(out, Member{Key: "smoothness", Value: ph.Smoothness})
	}
	if ph.Duration != nil {
		out = append(out, Member{Key: "grace_period", Value: secondsOf(ph.Grace)})
	}
	if ph.Simultaneous {
		out = append(out, Member{Key: "simultaneous_start", Value: true})
	}
	if c := ph.Cancellation; c != nil {
		out = append(out, Member{Key: "cancellation",
			Value: Object{{Key: "rate", Value: c.Percent}, {Key: "delay", Value: secondsOf(c.Delay)}}})
	}
	if r.FailedRequestThreshold != nil && ph.Kind == ProfilingPhase {
		out = append(out, Member{Key: "failed_request_threshold", Value: *r.FailedRequestThreshold})
	}
	if !r.FailFast && ph.Kind == ProfilingPhase {
		out = append(out, Member{Key: "fail_fast", Value: false})
	}
	return out
}

// lanesConfig is what agentic replay adds to its measured phase.
func lanesConfig(l *Lanes) Object {
	out := Object{
		{Key: "trajectory_start_min_ratio", Value: l.MinStart}, {Key: "trajectory_start_max_ratio", Value: l.MaxStart},
		{Key: "burst_phase_starts", Value: l.Together},
	}
	if l.SystemIdle != Unlimited {
		out = append(out, Member{Key: "system_idle_gap_cap_seconds", Value: l.SystemIdle.Seconds()})
	}
	return out
}

// YAMLType is the phase's type in a configuration file.
func (ph *Phase) YAMLType() string {
	switch ph.Mode {
	case Rate:
		return ph.Pattern
	case Burst, AgenticReplay:
		return "concurrency"
	default:
		return string(ph.Mode)
	}
}

// secondsOf is a duration in seconds, "inf" for one without end.
func secondsOf(d time.Duration) any {
	if d == Unlimited {
		return "inf"
	}
	return d.Seconds()
}

func artifactsConfig(r *Run) Object {
	a := r.Artifacts
	out := Object{{Key: "dir", Value: a.Dir}}
	if a.Prefix != "" {
		out = append(out, Member{Key: "prefix", Value: a.Prefix})
	}
	switch a.ExportLevel {
	case "summary":
		out = append(out, Member{Key: "records", Value: false})
	case "raw":
		out = append(out, Member{Key: "records", Value: []any{"jsonl"}}, Member{Key: "raw", Value: true})
	}
	if a.SliceDuration > 0 {
		out = append(out, Member{Key: "slice_duration", Value: a.SliceDuration.Seconds()})
	}
	if len(a.Percentiles) > 0 {
		out = append(out, Member{Key: "percentiles", Value: a.Percentiles})
	}
	out = addGiven(out, r.parsed, "export-http-trace", "trace", a.HTTPTrace)
	out = addGiven(out, r.parsed, "export-outputs-json", "export_outputs_json", a.Outputs)
	return addGiven(out, r.parsed, "show-trace-timing", "show_trace_timing", a.ShowTraceTiming)
}

func runtimeConfig(r *Run) Object {
	out := addGiven(nil, r.parsed, "ui-type", "ui", r.UI.Mode)
	if r.Workers.Max != nil {
		out = append(out, Member{Key: "workers", Value: int64(*r.Workers.Max)})
	}
	if r.Workers.Min != nil {
		out = append(out, Member{Key: "workers_min", Value: int64(*r.Workers.Min)})
	}
	if r.Workers.RecordProcessors != nil {
		out = append(out, Member{Key: "record_processors", Value: int64(*r.Workers.RecordProcessors)})
	}
	return out
}
