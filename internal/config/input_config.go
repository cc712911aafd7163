package config

import (
	"aiperf/internal/artifact"
	"math"
	"time"
)

// InputConfig is the configuration as exports carry it: the shape of the "benchmark:" body, what was
// given or derived, without secrets.
func InputConfig(r *Run, benchmarkID string) Object {
	p := r.parsed
	out := Object{{Key: "models", Value: modelsConfig(r)}, {Key: "endpoint", Value: endpointConfig(r)}, {Key: "datasets", Value: []any{datasetConfig(r)}}}
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
		tokenizer := addGiven(Object{{Key: "name", Value: r.Tokenizer.Name}}, p, "tokenizer-revision", "revision", r.Tokenizer.Revision)
		out = append(out, Member{Key: "tokenizer", Value: addGiven(tokenizer, p, "apply-chat-template", "apply_chat_template", r.Tokenizer.ChatTemplate)})
	}
	out = setNonEmpty(out, "server_metrics", serverMetricsConfig(r))
	out = setNonEmpty(out, "gpu_telemetry", gpuConfig(r))
	out = setNonEmpty(out, "network_latency", networkConfig(r))
	out = setNonEmpty(out, "otel", otelConfig(r))
	out = setNonEmpty(out, "mlflow", mlflowConfig(r))
	out = setNonEmpty(out, "runtime", runtimeConfig(r))
	if p.Given("log-level") || r.UI.Verbose {
		out = append(out, Member{Key: "logging", Value: Object{{Key: "level", Value: r.LogLevel}}})
	}
	if r.RandomSeed != nil {
		out = append(out, Member{Key: "random_seed", Value: int64(*r.RandomSeed)})
	}
	if s := r.Submission; s != nil {
		out = append(out, Member{Key: "scenario", Value: s.Scenario})
		out = addGiven(out, p, "unsafe-override", "unsafe_override", p.Bool("unsafe-override"))
	}
	return append(out, Member{Key: "cli_command", Value: r.CLICommand}, Member{Key: "benchmark_id", Value: benchmarkID})
}

func serverMetricsConfig(r *Run) Object {
	s := r.ServerMetrics
	if !s.Enabled {
		return Object{{Key: "enabled", Value: false}}
	}
	var out Object
	if urls, err := serverMetricsURLs(s.URLs); err == nil && len(urls) > 0 {
		for i := range urls {
			urls[i] = RedactURL(urls[i])
		}
		out = append(out, Member{Key: "urls", Value: texts(urls)})
	}
	return addGiven(out, r.parsed, "server-metrics-formats", "formats", texts(s.Formats))
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
			urls[i] = RedactURL(e.URL)
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
	out := addGiven(nil, r.parsed, "network-latency-automatic", "automatic", r.Network.Automatic)
	if mean := r.parsed.Float("network-latency-mean"); mean != nil {
		out = append(out, Member{Key: "mean", Value: *mean})
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

func modelsConfig(r *Run) any {
	if !r.parsed.Given("model-selection-strategy") {
		return texts(r.Models)
	}
	items := []any{}
	for _, name := range r.Models {
		items = append(items, Object{{Key: "name", Value: name}})
	}
	return Object{{Key: "strategy", Value: r.ModelSelection}, {Key: "items", Value: items}}
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
		urls[i] = RedactURL(u)
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
	out = addGiven(out, p, "streaming", "streaming", e.Streaming)
	out = addGiven(out, p, "transport", "transport", p.Text("transport"))
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
		value := RedactURL(h.Value)
		if artifact.IsCredentialHeader(h.Name) {
			value = artifact.Redacted
		}
		headers = append(headers, Member{Key: h.Name, Value: value})
	}
	out = setNonEmpty(out, "headers", headers)
	extra, _ := redactValue(e.Extra).(Object)
	out = setNonEmpty(out, "extra", extra)
	out = addGiven(out, p, "session-header", "session_header", e.SessionHeader)
	return controlConfig(transportConfig(out, &e), &e)
}

func datasetConfig(r *Run) Object {
	p, d := r.parsed, r.Dataset
	out := Object{{Key: "name", Value: "default"}, {Key: "type", Value: string(d.Kind)}}
	if d.Kind == FileDataset {
		out = append(out, Member{Key: "path", Value: d.Path})
		out = addGiven(out, p, "custom-dataset-type", "format", d.Format)
	}
	if d.Kind == PublicDataset {
		out = append(out, publicConfig(d.Public)...)
	}
	out = addGiven(out, p, "num-dataset-entries", "count", int64(d.Entries))
	out = addGiven(out, p, "dataset-sampling-strategy", "sampling", d.Sampling)
	out = setNonEmpty(out, "prompts", promptsConfig(r))
	out = setNonEmpty(out, "synthesis", synthesisConfig(r))
	var prefix Object
	prefix = addGiven(prefix, p, "prompt-prefix-pool-size", "pool_size", int64(d.PrefixPoolSize))
	prefix = addGiven(prefix, p, "prompt-prefix-length", "length", int64(d.PrefixLength))
	prefix = addGiven(prefix, p, "shared-system-prompt-length", "shared_system_length", int64(d.SharedSystemPromptLength))
	prefix = addGiven(prefix, p, "user-context-prompt-length", "user_context_length", int64(d.UserContextPromptLength))
	out = setNonEmpty(out, "prefix_prompts", prefix)
	if d.SystemPrompt != nil {
		out = append(out, Member{Key: "system_prompt", Value: *d.SystemPrompt})
	}
	if p.IsSet("conversation-turn-mean") || p.IsSet("conversation-turn-stddev") {
		out = append(out, Member{Key: "turns", Value: distribution(d.Turns, true)})
	}
	if p.IsSet("conversation-turn-delay-mean") || p.IsSet("conversation-turn-delay-stddev") {
		out = append(out, Member{Key: "turn_delay", Value: distribution(d.TurnDelayMS, false)})
	}
	out = addGiven(out, p, "conversation-turn-delay-ratio", "turn_delay_ratio", d.TurnDelayRatio)
	return mediaConfig(out, r)
}

func promptsConfig(r *Run) Object {
	p, d := r.parsed, r.Dataset
	out := Object{}
	if p.IsSet("isl") || p.IsSet("isl-stddev") {
		out = append(out, Member{Key: "isl", Value: distribution(d.ISL, true)})
	}
	if d.OSL != nil {
		out = append(out, Member{Key: "osl", Value: distribution(*d.OSL, true)})
	}
	out = addGiven(out, p, "prompt-batch-size", "batch_size", int64(d.Batches.Text))
	out = addGiven(out, p, "isl-block-size", "block_size", int64(d.BlockSize))
	out = addGiven(out, p, "prompt-corpus", "corpus", d.Corpus)
	if r := d.Range; r != nil {
		out = append(out, Member{Key: "random_range_ratio", Value: Object{{Key: "input", Value: r.Input}, {Key: "output", Value: r.Output}}},
			Member{Key: "random_range_ratio_mode", Value: r.Mode})
	}
	if d.CacheBust != "" {
		out = append(out, Member{Key: "cache_bust", Value: Object{{Key: "target", Value: d.CacheBust}}})
	}
	if len(d.SequenceDistribution) > 0 {
		pairs := []any{}
		for _, pair := range d.SequenceDistribution {
			pairs = append(pairs, Object{
				{Key: "isl", Value: distribution(Normal{float64(pair.ISL), pair.ISLStddev}, true)},
				{Key: "osl", Value: distribution(Normal{float64(pair.OSL), pair.OSLStddev}, true)},
				{Key: "probability", Value: pair.Percent},
			})
		}
		out = append(out, Member{Key: "sequence_distribution", Value: pairs})
	}
	return out
}

func synthesisConfig(r *Run) Object {
	p, s := r.parsed, r.Dataset.Synthesis
	out := addGiven(nil, p, "synthesis-speedup-ratio", "speedup_ratio", s.SpeedupRatio)
	out = addGiven(out, p, "synthesis-prefix-len-multiplier", "prefix_len_multiplier", s.PrefixLenMultiplier)
	out = addGiven(out, p, "synthesis-prefix-root-multiplier", "prefix_root_multiplier", int64(s.PrefixRootMultiplier))
	out = addGiven(out, p, "synthesis-prompt-len-multiplier", "prompt_len_multiplier", s.PromptLenMultiplier)
	out = addGiven(out, p, "synthesis-output-len-multiplier", "output_len_multiplier", s.OutputLenMultiplier)
	out = addGiven(out, p, "synthesis-max-isl", "max_isl", int64(s.MaxISL))
	return addGiven(out, p, "synthesis-max-osl", "max_osl", int64(s.MaxOSL))
}

// distribution is a plain number when it is fixed, else a mapping of mean and stddev.
func distribution(n Normal, whole bool) any {
	var mean any = n.Mean
	if whole && n.Mean == math.Trunc(n.Mean) {
		mean = int64(n.Mean)
	}
	if n.Stddev == 0 {
		return mean
	}
	return Object{{Key: "mean", Value: mean}, {Key: "stddev", Value: n.Stddev}}
}

func phaseConfig(ph *Phase, r *Run) Object {
	out := Object{{Key: "name", Value: ph.Name}, {Key: "type", Value: ph.YAMLType()}}
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
		out = append(out, Member{Key: "cancellation", Value: Object{{Key: "rate", Value: c.Percent}, {Key: "delay", Value: secondsOf(c.Delay)}}})
	}
	if r.FailedRequestThreshold != nil && ph.Kind == ProfilingPhase {
		out = append(out, Member{Key: "failed_request_threshold", Value: *r.FailedRequestThreshold})
	}
	return out
}

// lanesConfig is what agentic replay adds to its measured phase.
func lanesConfig(l *Lanes) Object {
	out := Object{
		{Key: "trajectory_start_min_ratio", Value: l.MinStart}, {Key: "trajectory_start_max_ratio", Value: l.MaxStart},
		{Key: "burst_phase_starts", Value: l.Together}, {Key: "system_idle_gap_cap_seconds", Value: secondsOf(l.SystemIdle)},
	}
	if l.TreeIdle != Unlimited {
		out = append(out, Member{Key: "trace_idle_gap_cap_seconds", Value: secondsOf(l.TreeIdle)})
	}
	return out
}

// YAMLType is the phase's type in a configuration file.
func (ph *Phase) YAMLType() string {
	switch ph.Mode {
	case Rate:
		return ph.Pattern
	case Burst:
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
		out = append(out, Member{Key: "raw", Value: true})
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
