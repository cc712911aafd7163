package config

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aiperf/internal/load"
	"aiperf/internal/workload/recipe"
)

// BuiltinTokenizer is the name of the vocabulary that needs no download.
const BuiltinTokenizer = "builtin"

// run makes the Run once nothing is wrong.
func (d *draft) run() *Run {
	p := d.p
	r := &Run{
		Models:                 d.models,
		ModelSelection:         p.Text("model-selection-strategy"),
		Endpoint:               d.endpoint(),
		Tokenizer:              d.tokenizer(),
		Dataset:                d.dataset(),
		Artifacts:              d.artifacts(),
		ServerMetrics:          d.serverMetrics(),
		GPU:                    d.gpu(),
		Network:                d.network(),
		OTel:                   d.otel(),
		MetricsListen:          d.metricsListen,
		MLflow:                 d.mlflow(),
		TimestampSource:        d.p.Text("timestamp-source"),
		RequireValid:           d.p.Bool("require-valid"),
		FailIf:                 d.p.Texts("fail-if"),
		UI:                     d.ui(),
		LogLevel:               d.logLevel(),
		FailedRequestThreshold: p.Float("failed-request-threshold"),
		FailFast:               p.Bool("fail-fast"),
		Workers: Workers{Min: smallInt(p.Int("workers-min")), Max: smallInt(p.Int("workers-max")),
			RecordProcessors: smallInt(p.Int("record-processors"))},
		Env:        p.Env,
		Submission: d.submission,
		parsed:     p,
	}
	if d.warmsUp() {
		r.Phases = append(r.Phases, d.warmup())
	}
	if d.mode == AgenticReplay {
		r.Phases = d.agentic(d.profiling())
	} else {
		r.Phases = append(r.Phases, d.profiling())
	}
	if p.Given("goodput") {
		r.SLOs, _ = ParseSLOs(p.Text("goodput"), d.catalog.Metric) // checked before
	}
	if seed := p.Int("random-seed"); seed != nil {
		root := uint64(*seed)
		r.RandomSeed = &root
	} else {
		r.RandomSeed = d.seed
	}
	r.CLICommand = r.Redactor().Values(CommandLine("profile", p.Args))
	d.repeats(r)
	if p.Bool("tokenizer-trust-remote-code") {
		d.warn("%s has no effect: no code of a tokenizer is ever run", d.flag("tokenizer-trust-remote-code"))
	}
	return r
}

func (d *draft) endpoint() Endpoint {
	p := d.p
	e := Endpoint{
		Type:                d.endpointType,
		Plugin:              p.Text("endpoint-plugin"),
		URLStrategy:         p.Text("url-strategy"),
		Streaming:           d.streaming,
		TimeoutSeconds:      *p.Float("request-timeout-seconds"),
		APIKey:              d.apiKey,
		Extra:               p.Pairs("extra-inputs"),
		UseLegacyMaxTokens:  p.Bool("use-legacy-max-tokens"),
		UseServerTokenCount: d.serverCounts(),
		ChunkUsage:          p.Bool("per-chunk-usage"),
		ConnectionReuse:     p.Text("connection-reuse-strategy"),
		SessionHeader:       p.Text("session-header"),
		Form:                p.Text("request-content-type") == formType,
		DownloadVideo:       p.Bool("download-video-content"),
	}
	e.SourceAddresses, _ = sourceAddresses(p.Texts("source-address")) // checked before
	d.controls(&e)
	d.transport(&e)
	for _, text := range p.Texts("url") {
		e.URLs = append(e.URLs, withScheme(text))
	}
	d.sageMaker(&e)
	if p.Given("custom-endpoint") {
		path := p.Text("custom-endpoint")
		e.CustomPath = &path
	}
	if d.ignoreEOS {
		e.Extra = append(slices.Clone(e.Extra), Member{Key: "ignore_eos", Value: true})
	}
	for _, h := range p.Pairs("header") {
		e.Headers = append(e.Headers, Header{h.Key, h.Value.(string)})
	}
	return e
}

func (d *draft) tokenizer() Tokenizer {
	if !d.facts.ProducesTokens && !d.facts.TokenizesInput || !d.needsTokenizer() {
		return Tokenizer{}
	}
	t := Tokenizer{Given: d.given("tokenizer"), Revision: d.p.Text("tokenizer-revision"),
		ChatTemplate: d.p.Bool("apply-chat-template")}
	for _, model := range d.models {
		name := model
		switch {
		case t.Given:
			name = d.p.Text("tokenizer")
		case IsPlaceholder(model):
			d.warn("the model %s is a placeholder and --tokenizer is not given: token counts follow %s (o200k_base)",
				model, BuiltinTokenizer)
			name = BuiltinTokenizer
		}
		t.ByModel = append(t.ByModel, name)
	}
	t.Name = t.ByModel[0]
	return t
}

// serverCounts reports whether token counts are those of the server; per-chunk usage implies it.
func (d *draft) serverCounts() bool {
	return d.p.Bool("use-server-token-count") || d.p.Bool("per-chunk-usage")
}

// needsTokenizer is false where the server counts, no text is generated and none is sent as ids.
func (d *draft) needsTokenizer() bool {
	p := d.p
	return d.facts.TokenIDs || !d.serverCounts() || p.Text("input-file") == "" ||
		intOr0(p.Int("shared-system-prompt-length")) > 0 || intOr0(p.Int("user-context-prompt-length")) > 0 ||
		*p.Int("prompt-prefix-length") > 0
}

// IsPlaceholder reports whether a model is named as nobody names a real one.
func IsPlaceholder(model string) bool {
	switch strings.ToLower(model) {
	case "mock-model", "test-model", "fake-model", "dummy-model", "example-model", "sample-model", "placeholder-model":
		return true
	}
	return false
}

func (d *draft) dataset() Dataset {
	p := d.p
	pairs, _ := d.lengthPairs() // checked before
	data := Dataset{
		Kind:                     SyntheticDataset,
		Path:                     p.Text("input-file"),
		Format:                   p.Text("custom-dataset-type"),
		Entries:                  int(*p.Int("num-dataset-entries")),
		Sessions:                 d.sessions,
		BlockSize:                intOr0(p.Int("isl-block-size")),
		IgnoreTimes:              p.Bool("ignore-trace-delays"),
		Synthesis:                d.synthesis(),
		Sampling:                 p.Text("dataset-sampling-strategy"),
		ISL:                      recipe.Normal{Mean: p.real("isl"), Stddev: p.real("isl-stddev")},
		SequenceDistribution:     pairs,
		Batches:                  d.batches(),
		Rankings:                 d.rankings(),
		Images:                   d.images(),
		Audio:                    d.audio(),
		Video:                    d.video(),
		Baseten:                  d.baseten(),
		StripImages:              d.p.Bool("uuid-and-strip"),
		CacheBust:                d.cacheBust(),
		Corpus:                   d.corpus(),
		CorpusStyle:              d.randomStyle(),
		Range:                    d.lengthRange(),
		Turns:                    d.normal("conversation-turn"),
		TurnDelayMS:              d.normal("conversation-turn-delay"),
		TurnDelayRatio:           *p.Float("conversation-turn-delay-ratio"),
		PrefixPoolSize:           int(*p.Int("prompt-prefix-pool-size")),
		PrefixLength:             int(*p.Int("prompt-prefix-length")),
		SharedSystemPromptLength: intOr0(p.Int("shared-system-prompt-length")),
		UserContextPromptLength:  intOr0(p.Int("user-context-prompt-length")),
		SystemPrompt:             d.systemPrompt(),
		MaxContext:               intOr0(p.Int("max-context-length")),
		ThinkOnly:                p.Bool("use-think-time-only"),
	}
	if data.Path != "" {
		data.Kind = FileDataset
		if d.given("num-dataset-entries") && d.recorded {
			data.MaxTraces = data.Entries
		}
	}
	if s := p.Float("inter-turn-delay-cap-seconds"); s != nil {
		ms := *s * 1000
		data.MaxDelayMS = &ms
	}
	if data.Public = d.public(); data.Public.Name != "" {
		data.Kind, data.Path, data.Format = PublicDataset, "", ""
	}
	if osl := p.Int("osl"); osl != nil {
		data.OSL = &recipe.Normal{Mean: float64(*osl), Stddev: p.real("osl-stddev")}
	}
	if !d.facts.TakesText {
		data.ISL, data.Batches.Text = recipe.Normal{}, 0
	}
	return data
}

// systemPrompt is the verbatim system text, from the flag or its file.
func (d *draft) systemPrompt() *string {
	switch {
	case d.given("system-prompt"):
		text := d.p.Text("system-prompt")
		return &text
	case d.given("system-prompt-file"):
		data, err := readText(d.p.Text("system-prompt-file"), maxPromptBytes)
		if err != nil {
			d.fault("", "%s: the file cannot be read: %v", d.flag("system-prompt-file"), err)
		}
		text := string(data)
		return &text
	}
	return nil
}

// maxPromptBytes bounds the file of a system prompt, which every request carries.
const maxPromptBytes = 16 << 20

func (d *draft) serverMetrics() ServerMetrics {
	p := d.p
	return ServerMetrics{
		// SageMaker passes nothing on but invocations.
		Enabled: !p.Bool("no-server-metrics") && (p.Given("server-metrics") || !p.Given("sagemaker-endpoint-name")),
		Given:   p.Given("server-metrics"),
		URLs:    p.Texts("server-metrics"), Formats: p.Texts("server-metrics-formats"),
	}
}

func (d *draft) gpu() GPU {
	items, _ := parseGPUItems(d.p.Texts("gpu-telemetry")) // checked before
	return GPU{
		Enabled: !d.p.Bool("no-gpu-telemetry"), Given: d.p.Given("gpu-telemetry"),
		Exporters: items.exporters, Collector: items.collector, MetricsFile: items.csv,
	}
}

func (d *draft) artifacts() Artifacts {
	p := d.p
	a := Artifacts{
		Dir:             p.Text("output-artifact-dir"),
		ExportLevel:     p.Text("export-level"),
		HTTPTrace:       p.Bool("export-http-trace"),
		ShowTraceTiming: p.Bool("show-trace-timing"),
		RecordsParquet:  p.Bool("export-records-parquet"),
		HTMLReport:      p.Bool("html-report"),
		Outputs: p.Bool("export-outputs-json") || !p.Given("export-outputs-json") &&
			p.Text("export-level") == "raw",
	}
	if s := p.Float("slice-duration"); s != nil {
		a.SliceDuration = max(1, secondsDuration(*s))
	}
	a.Percentiles, _ = ParsePercentiles(p.Texts("percentiles")) // checked before
	if a.Dir == "" {
		a.Dir, a.Derived = d.artifactDir(), !p.Bool("overwrite")
	} else {
		a.Dir = filepath.Clean(a.Dir)
	}
	if p.Given("profile-export-prefix") {
		a.Prefix = PrefixStem(p.Text("profile-export-prefix"))
	}
	return a
}

func (d *draft) ui() UI {
	mode := d.p.Text("ui-type")
	if mode == "dashboard" {
		mode = "simple"
		d.info("%s dashboard is not available in this release: progress is shown as with simple", d.flag("ui-type"))
	}
	return UI{
		Mode:          mode,
		Verbose:       d.p.Bool("verbose") || d.p.Bool("extra-verbose"),
		StatsInterval: durationOf(d.p.Float("stats-interval")),
	}
}

func (d *draft) logLevel() string {
	switch {
	case d.p.Bool("extra-verbose"):
		return "TRACE"
	case d.p.Bool("verbose"):
		return "DEBUG"
	}
	return d.p.Text("log-level")
}

// profiling is the measured phase.
func (d *draft) profiling() Phase {
	ph := Phase{
		Name: string(ProfilingPhase), Kind: ProfilingPhase, Mode: d.mode,
		Concurrency: smallInt(d.concurrency), Prefill: smallInt(d.prefill),
		Requests: d.requests, Sessions: d.sessions, Duration: durationOf(d.duration),
		Grace: secondsDuration(*d.p.Float("benchmark-grace-period")),
	}
	if d.mode == UserCentric && d.duration != nil && !d.given("benchmark-grace-period") {
		ph.Grace = Unlimited
	}
	switch d.mode {
	case Rate:
		if ph.Series = d.series; ph.Series == nil {
			ph.Rate = *d.rate
		}
		ph.setArrivals(ph.Rate, d.pattern, d.smoothness)
	case UserCentric:
		ph.Rate, ph.Users = *d.p.Float("user-centric-rate"), int(*d.p.Int("num-users"))
	}
	ph.Simultaneous = d.p.Bool("simultaneous-start")
	if d.mode == FixedSchedule {
		ph.Schedule = d.schedule()
		if !d.requestsGiven {
			ph.Requests = nil // the number of rows is only what is expected
		}
	}
	ph.ConcurrencyRamp = secondsOr0(d.p.Float("concurrency-ramp-duration"))
	ph.PrefillRamp = secondsOr0(d.p.Float("prefill-concurrency-ramp-duration"))
	ph.RateRamp = secondsOr0(d.p.Float("request-rate-ramp-duration"))
	if rate := d.p.Float("request-cancellation-rate"); rate != nil {
		ph.Cancellation = &load.Cancellation{Percent: *rate,
			Delay: secondsDuration(*d.p.Float("request-cancellation-delay"))}
	}
	return ph
}

// warmup is the phase before: always by rate or as a burst, never cancelled, with the profiling
// values where it has none of its own.
func (d *draft) warmup() Phase {
	p := d.p
	ph := Phase{
		Name: string(WarmupPhase), Kind: WarmupPhase, Mode: Burst,
		Concurrency: smallInt(first(p.Int("warmup-concurrency"), p.Int("concurrency"))),
		Prefill:     smallInt(first(p.Int("warmup-prefill-concurrency"), p.Int("prefill-concurrency"))),
		Requests:    p.Int("warmup-request-count"), Sessions: p.Int("num-warmup-sessions"),
		Duration: durationOf(p.Float("warmup-duration")),
		Grace:    secondsDuration(*p.Float("warmup-grace-period")),
	}
	rate := first(p.Float("warmup-request-rate"), p.Float("request-rate"))
	switch {
	case d.mode == FixedSchedule: // whose --request-rate has no effect
		rate = p.Float("warmup-request-rate")
	case rate == nil && d.series != nil:
		rate = &d.series[0].Rate
	}
	if rate != nil {
		pattern := p.Text("warmup-arrival-pattern")
		if pattern == "" {
			pattern = d.pattern
		}
		if pattern == string(Burst) { // profiling has no rate, but the warm-up has one
			pattern = p.Text("arrival-pattern")
		}
		if pattern == string(Burst) {
			pattern = PatternPoisson
		}
		ph.Mode = Rate
		ph.setArrivals(*rate, pattern, d.smoothness)
	}
	ramp := func(name string) time.Duration { return secondsOr0(first(p.Float("warmup-"+name), p.Float(name))) }
	ph.ConcurrencyRamp, ph.PrefillRamp = ramp("concurrency-ramp-duration"), ramp("prefill-concurrency-ramp-duration")
	if ph.Mode == Rate {
		ph.RateRamp = ramp("request-rate-ramp-duration")
	}
	if ph.Mode == Burst && ph.Concurrency == nil && ph.Prefill == nil {
		one := 1
		ph.Concurrency = &one
	}
	return ph
}

func (ph *Phase) setArrivals(rate float64, pattern string, smoothness float64) {
	ph.Rate, ph.Pattern = rate, pattern
	if pattern == PatternGamma {
		ph.Smoothness = smoothness
	}
}

// first is the first pointer that is not nil.
func first[T any](choices ...*T) *T {
	for _, c := range choices {
		if c != nil {
			return c
		}
	}
	return nil
}

// smallInt narrows a count; one beyond the range of int is as good as none.
func smallInt(v *int64) *int {
	if v == nil {
		return nil
	}
	n := int(min(*v, math.MaxInt32))
	return &n
}

func intOr0(v *int64) int {
	if v == nil {
		return 0
	}
	return int(*v)
}

// secondsOr0 is no duration where none was given.
func secondsOr0(seconds *float64) time.Duration {
	if d := durationOf(seconds); d != nil {
		return *d
	}
	return 0
}

func durationOf(seconds *float64) *time.Duration {
	if seconds == nil {
		return nil
	}
	d := secondsDuration(*seconds)
	return &d
}
