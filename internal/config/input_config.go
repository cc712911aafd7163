package config

import (
	"math"
	"time"
)

// InputConfig is the configuration as exports carry it: the shape of the "benchmark:" body, what was
// given or derived, without secrets.
func InputConfig(r *Run, benchmarkID string) Object {
	p := r.parsed
	out := Object{{"models", modelsConfig(r)}, {"endpoint", endpointConfig(r)}, {"datasets", []any{datasetConfig(r)}}}
	phases := []any{}
	for i := range r.Phases {
		phases = append(phases, phaseConfig(&r.Phases[i], r))
	}
	out = append(out, Member{"phases", phases}, Member{"artifacts", artifactsConfig(r)})
	if len(r.SLOs) > 0 {
		slos := Object{}
		for _, s := range r.SLOs {
			slos = append(slos, Member{s.Tag, s.Value})
		}
		out = append(out, Member{"slos", slos})
	}
	if r.Tokenizer.Name != "" {
		out = append(out, Member{"tokenizer", Object{{"name", r.Tokenizer.Name}}})
	}
	if p.Bool("no-server-metrics") {
		out = append(out, Member{"server_metrics", Object{{"enabled", false}}})
	}
	if p.Bool("no-gpu-telemetry") {
		out = append(out, Member{"gpu_telemetry", Object{{"enabled", false}}})
	}
	out = out.setNonEmpty("runtime", runtimeConfig(r))
	if p.Given("log-level") || r.UI.Verbose {
		out = append(out, Member{"logging", Object{{"level", r.LogLevel}}})
	}
	if r.RandomSeed != nil {
		out = append(out, Member{"random_seed", int64(*r.RandomSeed)})
	}
	return append(out, Member{"cli_command", r.CLICommand}, Member{"benchmark_id", benchmarkID})
}

// setNonEmpty appends an object unless it is empty.
func (o Object) setNonEmpty(key string, value Object) Object {
	if len(value) == 0 {
		return o
	}
	return append(o, Member{key, value})
}

// addGiven appends a member if its option was set.
func (o Object) addGiven(p *Parsed, name, key string, value any) Object {
	if !p.IsSet(name) {
		return o
	}
	return append(o, Member{key, value})
}

func modelsConfig(r *Run) any {
	if !r.parsed.Given("model-selection-strategy") {
		return texts(r.Models)
	}
	items := []any{}
	for _, name := range r.Models {
		items = append(items, Object{{"name", name}})
	}
	return Object{{"strategy", r.ModelSelection}, {"items", items}}
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
	out := Object{{"urls", texts(urls)}, {"type", e.Type}}
	out = out.addGiven(p, "url-strategy", "url_strategy", e.URLStrategy)
	if e.CustomPath != nil {
		out = append(out, Member{"path", *e.CustomPath})
	}
	if e.APIKey != "" {
		out = append(out, Member{"api_key", Redacted})
	}
	out = out.addGiven(p, "request-timeout-seconds", "timeout", e.TimeoutSeconds)
	out = out.addGiven(p, "streaming", "streaming", e.Streaming)
	out = out.addGiven(p, "transport", "transport", p.Text("transport"))
	out = out.addGiven(p, "connection-reuse-strategy", "connection_reuse", e.ConnectionReuse)
	out = out.addGiven(p, "use-legacy-max-tokens", "use_legacy_max_tokens", e.UseLegacyMaxTokens)
	out = out.addGiven(p, "use-server-token-count", "use_server_token_count", e.UseServerTokenCount)
	headers := Object{}
	for _, h := range e.Headers {
		value := RedactURL(h.Value)
		if IsSensitiveHeader(h.Name) {
			value = Redacted
		}
		headers = append(headers, Member{h.Name, value})
	}
	out = out.setNonEmpty("headers", headers)
	extra, _ := redactValue(e.Extra).(Object)
	out = out.setNonEmpty("extra", extra)
	return out.addGiven(p, "session-header", "session_header", e.SessionHeader)
}

func datasetConfig(r *Run) Object {
	p, d := r.parsed, r.Dataset
	out := Object{{"name", "default"}, {"type", string(d.Kind)}}
	if d.Kind == FileDataset {
		out = append(out, Member{"path", d.Path})
		out = out.addGiven(p, "custom-dataset-type", "format", d.Format)
	}
	out = out.addGiven(p, "num-dataset-entries", "count", int64(d.Entries))
	out = out.addGiven(p, "dataset-sampling-strategy", "sampling", d.Sampling)
	out = out.setNonEmpty("prompts", promptsConfig(r))
	out = out.setNonEmpty("prefix_prompts", Object{}.
		addGiven(p, "prompt-prefix-pool-size", "pool_size", int64(d.PrefixPoolSize)).
		addGiven(p, "prompt-prefix-length", "length", int64(d.PrefixLength)).
		addGiven(p, "shared-system-prompt-length", "shared_system_length", int64(d.SharedSystemPromptLength)).
		addGiven(p, "user-context-prompt-length", "user_context_length", int64(d.UserContextPromptLength)))
	if d.SystemPrompt != nil {
		out = append(out, Member{"system_prompt", *d.SystemPrompt})
	}
	if p.IsSet("conversation-turn-mean") || p.IsSet("conversation-turn-stddev") {
		out = append(out, Member{"turns", distribution(d.Turns, true)})
	}
	if p.IsSet("conversation-turn-delay-mean") || p.IsSet("conversation-turn-delay-stddev") {
		out = append(out, Member{"turn_delay", distribution(d.TurnDelayMS, false)})
	}
	return out.addGiven(p, "conversation-turn-delay-ratio", "turn_delay_ratio", d.TurnDelayRatio)
}

func promptsConfig(r *Run) Object {
	p, d := r.parsed, r.Dataset
	out := Object{}
	if p.IsSet("isl") || p.IsSet("isl-stddev") {
		out = append(out, Member{"isl", distribution(d.ISL, true)})
	}
	if d.OSL != nil {
		out = append(out, Member{"osl", distribution(*d.OSL, true)})
	}
	out = out.addGiven(p, "prompt-batch-size", "batch_size", int64(d.BatchSize))
	if len(d.SequenceDistribution) > 0 {
		pairs := []any{}
		for _, pair := range d.SequenceDistribution {
			pairs = append(pairs, Object{
				{"isl", distribution(Normal{float64(pair.ISL), pair.ISLStddev}, true)},
				{"osl", distribution(Normal{float64(pair.OSL), pair.OSLStddev}, true)},
				{"probability", pair.Percent},
			})
		}
		out = append(out, Member{"sequence_distribution", pairs})
	}
	return out
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
	return Object{{"mean", mean}, {"stddev", n.Stddev}}
}

func phaseConfig(ph *Phase, r *Run) Object {
	out := Object{{"name", ph.Name}, {"type", ph.yamlType()}}
	if ph.Requests != nil {
		out = append(out, Member{"requests", *ph.Requests})
	}
	if ph.Duration != nil {
		out = append(out, Member{"duration", secondsOf(*ph.Duration)})
	}
	if ph.Sessions != nil {
		out = append(out, Member{"sessions", *ph.Sessions})
	}
	if ph.Concurrency != nil {
		out = append(out, Member{"concurrency", int64(*ph.Concurrency)})
	}
	if ph.Prefill != nil {
		out = append(out, Member{"prefill_concurrency", int64(*ph.Prefill)})
	}
	if ph.Mode == Rate {
		out = append(out, Member{"rate", ph.Rate})
	}
	if ph.Smoothness > 0 {
		out = append(out, Member{"smoothness", ph.Smoothness})
	}
	if ph.Duration != nil {
		out = append(out, Member{"grace_period", secondsOf(ph.Grace)})
	}
	if c := ph.Cancellation; c != nil {
		out = append(out, Member{"cancellation", Object{{"rate", c.Percent}, {"delay", secondsOf(c.Delay)}}})
	}
	if r.FailedRequestThreshold != nil && ph.Kind == ProfilingPhase {
		out = append(out, Member{"failed_request_threshold", *r.FailedRequestThreshold})
	}
	return out
}

// yamlType is the phase's type in a configuration file.
func (ph *Phase) yamlType() string {
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
	out := Object{{"dir", a.Dir}}
	if a.Prefix != "" {
		out = append(out, Member{"prefix", a.Prefix})
	}
	switch a.ExportLevel {
	case "summary":
		out = append(out, Member{"records", false})
	case "raw":
		out = append(out, Member{"raw", true})
	}
	out = out.addGiven(r.parsed, "export-http-trace", "trace", a.HTTPTrace)
	return out.addGiven(r.parsed, "show-trace-timing", "show_trace_timing", a.ShowTraceTiming)
}

func runtimeConfig(r *Run) Object {
	out := Object{}.addGiven(r.parsed, "ui-type", "ui", r.UI.Mode)
	if r.Workers.Max != nil {
		out = append(out, Member{"workers", int64(*r.Workers.Max)})
	}
	if r.Workers.RecordProcessors != nil {
		out = append(out, Member{"record_processors", int64(*r.Workers.RecordProcessors)})
	}
	return out
}
