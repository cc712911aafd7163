package config

import (
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/suggest"
)

// rules are the checks of options against one another, in the order in which faults are reported.
func rules() []func(*draft) {
	return []func(*draft){
		(*draft).checkModels, (*draft).checkURLs, (*draft).checkWeights, (*draft).checkHeaders,
		(*draft).checkConnections, (*draft).checkListen, (*draft).checkRequirements, (*draft).checkExclusions,
		(*draft).checkSchedule, (*draft).checkSimultaneousStart, (*draft).checkGoodput, (*draft).checkResults,
		(*draft).checkConcurrency, (*draft).checkPrefill,
		(*draft).checkUsers, (*draft).checkUsersFile, (*draft).checkArrivals, (*draft).checkStop,
		(*draft).checkPrefixes, (*draft).checkSystemPrompt, (*draft).checkText, (*draft).checkRankings,
		(*draft).checkTokenizer,
		(*draft).checkContentType, (*draft).checkTraces, (*draft).checkPublic, (*draft).checkBaseten,
		(*draft).checkRoots, (*draft).checkAgentic, (*draft).checkCacheBust, (*draft).checkLengthRange,
		(*draft).checkMedia, (*draft).checkTelemetry, (*draft).checkOTel, (*draft).checkMLflow,
		(*draft).checkControls, (*draft).checkTransport, (*draft).checkGRPC, (*draft).checkAWS,
		(*draft).checkSweep, (*draft).checkSeries, (*draft).checkExportPrefix, (*draft).warnOutputLength,
		(*draft).warnDeviations, (*draft).warnStream, (*draft).warnWarmup,
	}
}

// active reports whether an option was given and asks for something: a Bool must be true.
func (d *draft) active(name string) bool {
	return d.given(name) && (option(name).Type != Bool || d.p.Bool(name))
}

func (d *draft) checkModels() {
	if len(d.models) == 0 && !d.given("config") {
		d.fault("V1", "--model-names is required: give the name of the model to benchmark, for example --model my-model")
		d.models = []string{"unnamed"} // so that the other checks can go on
	}
}

func (d *draft) checkURLs() {
	urls := d.p.Texts("url")
	if len(urls) == 0 {
		d.fault("", "%s needs at least one URL", d.flag("url"))
	}
	for _, text := range urls {
		if err := checkURL(withScheme(text)); err != nil {
			d.fault("", "%s %s: %v", d.flag("url"), shorten(artifact.RedactAddress(text)), err)
		}
	}
}

var schemed = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.\-]*://`)

// withScheme puts http:// in front of a URL that has no scheme.
func withScheme(text string) string {
	if schemed.MatchString(text) {
		return text
	}
	return "http://" + text
}

func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil: // the parser's own error would repeat the URL, secrets included
		return fmt.Errorf("this is not a URL; write http://host:port")
	case !slices.Contains([]string{"http", "https", "grpc", "grpcs"}, strings.ToLower(u.Scheme)):
		return fmt.Errorf("the scheme must be http, https, grpc or grpcs")
	case u.Hostname() == "":
		return fmt.Errorf("the URL has no host; write http://host:port")
	case !inPortRange(u.Port()):
		return fmt.Errorf("the port must lie between 1 and 65535")
	}
	return nil
}

// inPortRange reports whether text is the number of a port, or nothing.
func inPortRange(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil && n > 0
}

// checkWeights refuses a choice by weight where there are no weights.
func (d *draft) checkWeights() {
	if d.p.Text("model-selection-strategy") == "weighted" {
		d.fault("", "%s weighted needs a weight for each model, which no flag gives (in YAML it is "+
			"models.items[].weight): with round_robin or random "+
			"a model that --model names several times, as in a,a,b, has so many shares",
			d.flag("model-selection-strategy"))
	}
}

// checkHeaders refuses what no header can hold; values may be secrets and are not repeated.
func (d *draft) checkHeaders() {
	if strings.ContainsAny(d.p.Text("api-key"), "\r\n\x00") {
		d.fault("", "%s contains a line break, which no header can hold; see how the key was read", d.flag("api-key"))
	}
	if name := d.p.Text("session-header"); name != "" && !headerName.MatchString(name) {
		d.fault("", "%s %s: the name of a header is letters, digits and dashes", d.flag("session-header"),
			shorten(name))
	}
	if strings.Contains(d.p.Text("custom-endpoint"), "://") {
		d.fault("", "%s %s: this is a path below the address; the address itself is given by --url",
			d.flag("custom-endpoint"), shorten(artifact.RedactAddress(d.p.Text("custom-endpoint"))))
	}
}

// requirements: the first option is allowed only together with the second.
func requirements() []struct{ rule, flag, needs string } {
	return []struct{ rule, flag, needs string }{
		{"V15", "user-centric-rate", "num-users"},
		{"V18", "num-users", "user-centric-rate"},
		{"V22", "benchmark-grace-period", "benchmark-duration"},
		{"V23", "warmup-grace-period", "warmup-duration"},
		{"V24", "request-cancellation-delay", "request-cancellation-rate"},
		{"V25", "request-rate-ramp-duration", "request-rate"},
		{"", "tls-client-cert", "tls-client-key"},
		{"", "tls-client-key", "tls-client-cert"},
		{"", "sagemaker-target-model", "sagemaker-endpoint-name"},
		{"", "sagemaker-inference-component-name", "sagemaker-endpoint-name"},
		{"", "sagemaker-target-variant", "sagemaker-endpoint-name"},
		{"", "per-chunk-usage", "streaming"},
		{"", "stream", "otel-url"},
		{"", "otel-resource-attributes", "otel-url"},
		{"", "gen-ai-provider", "otel-url"},
		{"", "mlflow-experiment", "mlflow-tracking-uri"},
		{"", "mlflow-run-name", "mlflow-tracking-uri"},
		{"", "mlflow-tag", "mlflow-tracking-uri"},
		{"", "mlflow-parent-run-id", "mlflow-tracking-uri"},
		{"", "mlflow-artifact-glob", "mlflow-tracking-uri"},
		{"", "wandb-entity", "wandb-project"},
		{"", "wandb-run-name", "wandb-project"},
		{"", "wandb-tag", "wandb-project"},
	}
}

func (d *draft) checkRequirements() {
	for _, r := range requirements() {
		if d.active(r.flag) && !d.active(r.needs) {
			d.fault(r.rule, "%s can only be used together with --%s", d.flag(r.flag), r.needs)
		}
	}
	if d.given("api-host") && !d.p.IsSet("api-port") {
		d.fault("V45", "%s requires a port: give --api-port or set AIPERF_API_SERVER_PORT", d.flag("api-host"))
	}
}

// exclusions: the two options contradict each other; hint says what to do, if it is not plain.
func exclusions() []struct{ rule, a, b, hint string } {
	return []struct{ rule, a, b, hint string }{
		{"V6", "public-dataset", "custom-dataset-type", ""},
		{"V10", "request-count", "num-sessions", "use either, not both"},
		{"V11", "warmup-request-count", "num-warmup-sessions", "use either, not both"},
		{"V16", "user-centric-rate", "request-rate", ""},
		{"V16", "user-centric-rate", "arrival-pattern", ""},
		{"V34", "gpu-telemetry", "no-gpu-telemetry", "use only one"},
		{"V34", "server-metrics", "no-server-metrics", "use only one"},
		{"", "endpoint-plugin", "endpoint-type", "the program is the endpoint"},
		{"", "sagemaker-endpoint-name", "custom-endpoint", "the endpoint's name makes the path"},
		{"", "sagemaker-endpoint-name", "unix-socket", ""},
		{"", "unix-socket", "network-latency-automatic", "there is no network between the program and a socket"},
		{"", "unix-socket", "source-address", "a socket has no addresses"},
		{"", "sagemaker-endpoint-name", "http2", "the service is spoken to in HTTP/1.1"},
		{"V47", "ignore-trace-delays", "use-think-time-only", ""},
		{"V47", "network-latency-automatic", "network-latency-mean", ""},
		{"V47", "request-rate", "request-rate-series", ""},
		{"V16", "user-centric-rate", "request-rate-series", ""},
		{"", "request-rate-series", "request-rate-ramp-duration", "the series says how the rate changes"},
		{"", "fixed-schedule", "ignore-trace-delays", "without recorded times there is no schedule"},
		{"V47", "random-range-ratio", "seq-dist", ""},
		{"", "fixed-schedule", "no-fixed-schedule", "use only one"},
		{"", "system-prompt", "system-prompt-file", "use only one"},
		{"", "system-prompt", "shared-system-prompt-length", "use only one"},
		{"", "system-prompt-file", "shared-system-prompt-length", "use only one"},
		{"", "public-dataset", "input-file", "use only one"},
		{"", "zmq-host", "zmq-ipc-path", "use only one"},
		{"", "agentic-cache-warmup-duration", "warmup-requests-per-lane", "use only one"},
	}
}

func (d *draft) checkExclusions() {
	for _, x := range exclusions() {
		if !d.active(x.a) || !d.active(x.b) {
			continue
		}
		hint := x.hint
		if hint != "" {
			hint = "; " + hint
		}
		d.fault(x.rule, "%s and %s cannot be used together%s", d.flag(x.a), d.flag(x.b), hint)
	}
}

func (d *draft) checkGoodput() {
	if !d.given("goodput") {
		return
	}
	slos, err := ParseSLOs(d.p.Text("goodput"), d.catalog.Metric)
	if err != nil {
		d.fault("V9", "%s: %v", d.flag("goodput"), err)
	}
	for _, slo := range slos {
		facts, known := d.catalog.Metric(slo.Tag)
		switch {
		case !known:
			hint := ""
			if near := suggest.Nearest(slo.Tag, d.catalog.MetricTags()); near != "" {
				hint = "; did you mean " + near + "?"
			}
			d.fault("V9", "%s: unknown metric tag %s%s", d.flag("goodput"), shorten(slo.Tag), hint)
		case facts.Derived:
			d.fault("V9", "%s: %s is a derived metric and cannot be used; use a per-record metric such as "+
				"request_latency", d.flag("goodput"), slo.Tag)
		}
	}
}

// checkResults checks what is asked of the results.
func (d *draft) checkResults() {
	if d.active("export-records-parquet") && d.p.Text("export-level") == "summary" {
		d.fault("", "%s and %s summary cannot be used together: there are no records then",
			d.flag("export-records-parquet"), d.flag("export-level"))
	}
	var percentiles []float64
	if d.given("percentiles") {
		var err error
		if percentiles, err = ParsePercentiles(d.p.Texts("percentiles")); err != nil {
			d.fault("", "%s: %v", d.flag("percentiles"), err)
		}
	}
	for _, text := range d.p.Texts("fail-if") {
		if err := d.catalog.Threshold(text, percentiles); err != nil {
			d.fault("", "%s: %v", d.flag("fail-if"), err)
		}
	}
}

// intValues are all values of an Int that may be swept.
func (d *draft) intValues(name string) []int64 {
	var all []int64
	for _, v := range d.p.Swept(name) {
		all = append(all, v.(int64))
	}
	if v := d.p.Int(name); all == nil && v != nil {
		all = []int64{*v}
	}
	return all
}

func (d *draft) checkConcurrency() {
	concurrencies := d.intValues("concurrency")
	if len(concurrencies) == 0 && d.concurrency != nil {
		concurrencies = []int64{*d.concurrency}
	}
	for _, c := range concurrencies {
		bounds, what := d.intValues("num-sessions"), d.flag("num-sessions")
		if len(bounds) == 0 {
			bounds, what = d.intValues("request-count"), d.flag("request-count")
		}
		if len(bounds) == 0 && d.roots > 0 {
			bounds, what = []int64{d.roots}, "the derived --num-sessions, one for each root session of the file,"
		}
		if len(bounds) == 0 {
			if n := d.defaultRequests(&c); n != nil {
				bounds, what = []int64{*n}, "the derived request count"
			}
		}
		for _, n := range bounds {
			if c > n {
				d.warn("%s %d has no effect beyond %d, which is %s", d.flag("concurrency"), c, n, what)
			}
		}
	}
}

func (d *draft) checkPrefill() {
	if flags := d.givenOf("prefill-concurrency", "warmup-prefill-concurrency"); len(flags) > 0 && !d.streaming {
		d.fault("V13", "%s requires --streaming%s", strings.Join(flags, ", "), d.whyNoStreaming())
	}
	d.checkAtMost("prefill-concurrency", "concurrency")
	if d.given("warmup-concurrency") {
		d.checkAtMost("warmup-prefill-concurrency", "warmup-concurrency")
	} else {
		d.checkAtMost("warmup-prefill-concurrency", "concurrency")
	}
}

func (d *draft) whyNoStreaming() string {
	if d.p.Bool("streaming") {
		return fmt.Sprintf(", which --endpoint-type %s does not support", d.endpointType)
	}
	return ""
}

// checkAtMost refuses a prefill limit above the concurrency it is part of.
func (d *draft) checkAtMost(part, whole string) {
	for _, p := range d.intValues(part) {
		for _, w := range d.intValues(whole) {
			if p > w {
				d.fault("V14", "%s %d cannot be greater than %s %d", d.flag(part), p, d.flag(whole), w)
			}
		}
	}
}

func (d *draft) checkUsers() {
	if d.given("user-centric-rate") && !d.given("input-file") { // a file has the turns that it has
		if turns := d.intValues("session-turns-mean"); len(turns) == 0 || slices.Min(turns) < 2 {
			d.fault("V17", "%s requires multi-turn conversations: give --session-turns-mean 2 or more",
				d.flag("user-centric-rate"))
		}
	}
	for _, users := range d.intValues("num-users") {
		for _, bound := range []string{"num-sessions", "request-count"} {
			for _, n := range d.intValues(bound) {
				if n < users {
					d.fault("V19", "%s %d cannot be less than %s %d", d.flag(bound), n, d.flag("num-users"), users)
				}
			}
		}
	}
}

func (d *draft) checkArrivals() {
	pattern := d.p.Text("arrival-pattern")
	rates := d.givenOf("request-rate", "request-rate-series")
	if len(rates) > 0 && pattern == string(Burst) {
		d.fault("V20", "%s %s is not allowed when %s is given", d.flag("arrival-pattern"), pattern, rates[0])
	}
	d.checkInfiniteRate()
	if !d.given("arrival-smoothness") {
		return
	}
	switch {
	case d.given("arrival-pattern") && pattern != PatternGamma:
		d.fault("V21", "%s can only be used with the gamma pattern, not with %s %s", d.flag("arrival-smoothness"),
			d.flag("arrival-pattern"), pattern)
	case len(rates) == 0:
		d.fault("V21", "%s can only be used with the gamma pattern, which needs --request-rate",
			d.flag("arrival-smoothness"))
	}
}

// checkInfiniteRate refuses an infinite rate that nothing but a duration limits: it would send until memory is full.
func (d *draft) checkInfiniteRate() {
	infinite := func(name string) bool { rate := d.p.Float(name); return rate != nil && math.IsInf(*rate, 1) }
	if d.mode == Rate && infinite("request-rate") {
		if d.concurrency == nil && d.prefill == nil && d.requests == nil && d.sessions == nil {
			d.fault("", "%s inf sends all requests at once: give --concurrency, --request-count or --num-sessions",
				d.flag("request-rate"))
		}
		if d.given("request-rate-ramp-duration") {
			d.warn("%s has no effect with %s inf", d.flag("request-rate-ramp-duration"), d.flag("request-rate"))
		}
	}
	if !d.warmsUp() {
		return
	}
	if w := d.warmup(); w.AtOnce() && w.Concurrency == nil && w.Prefill == nil && w.Requests == nil &&
		w.Sessions == nil {
		rate := "request-rate"
		if infinite("warmup-request-rate") {
			rate = "warmup-request-rate"
		}
		d.fault("", "%s inf sends all requests of the warm-up at once: give --warmup-concurrency, "+
			"--warmup-request-count or --num-warmup-sessions",
			d.flag(rate))
	}
}

func (d *draft) checkSimultaneousStart() {
	if !d.p.Bool("simultaneous-start") {
		return
	}
	switch {
	case d.mode != Burst || !d.given("concurrency"):
		d.fault("", "%s needs --concurrency without a rate or a schedule", d.flag("simultaneous-start"))
	case d.given("concurrency-ramp-duration"):
		d.fault("", "%s and %s cannot be used together", d.flag("simultaneous-start"),
			d.flag("concurrency-ramp-duration"))
	}
}

func (d *draft) checkStop() {
	if d.mode != FixedSchedule && d.requests == nil && d.sessions == nil && d.duration == nil {
		d.fault("V46", "at least one stop condition is needed: give --request-count, --num-sessions or "+
			"--benchmark-duration")
	}
}

func (d *draft) checkExportPrefix() {
	if !d.given("profile-export-prefix") {
		return
	}
	stem := filepath.FromSlash(PrefixStem(d.p.Text("profile-export-prefix")))
	if base := filepath.Base(stem); base == "." || base == string(filepath.Separator) || !filepath.IsLocal(stem) {
		d.fault("", "%s %s: the prefix must name a file inside the artifact directory", d.flag("profile-export-prefix"),
			shorten(d.p.Text("profile-export-prefix")))
	}
}

// warnOutputLength reports that a requested output length alone does not make servers keep it.
func (d *draft) warnOutputLength() {
	if !d.given("osl") {
		return
	}
	extra := d.p.Pairs("extra-inputs")
	for _, key := range []string{"ignore_eos", "min_tokens", "min_new_tokens"} {
		if value, ok := extra.Get(key); ok && truthy(value) {
			return
		}
	}
	n := int64(0)
	if osl := d.p.Int("osl"); osl != nil {
		n = *osl
	}
	d.warn("%s only limits the output: a model may stop earlier. To get that length add --extra-inputs "+
		"ignore_eos:true or --extra-inputs min_tokens:%d (SGLang, TGI: min_new_tokens:%d) if the server knows them",
		d.flag("osl"), n, n)
}

// warnDeviations names standard deviations of what has no mean.
func (d *draft) warnDeviations() {
	for _, of := range [...]struct{ deviation, mean string }{
		{"osl-stddev", "osl"}, {"audio-length-stddev", "audio-length-mean"},
		{"image-width-stddev", "image-width-mean"}, {"image-height-stddev", "image-height-mean"},
	} {
		if d.positive(of.deviation) && !d.given(of.mean) {
			d.warn("%s has no effect without --%s", d.flag(of.deviation), of.mean)
		}
	}
}

// warnStream reports that an extra input and --streaming say different things: the server follows the
// former, the metrics the latter.
func (d *draft) warnStream() {
	value, given := d.p.Pairs("extra-inputs").Get("stream")
	asked, isBool := value.(bool)
	switch {
	case !given || !isBool || asked == d.streaming:
	case asked:
		d.warn("%s stream:true asks for streams whose metrics are not computed: use --streaming instead",
			d.flag("extra-inputs"))
	default:
		d.warn("%s stream:false asks for whole replies: with --streaming the time to first token is that of the "+
			"whole reply, and there is none between tokens", d.flag("extra-inputs"))
	}
}

func truthy(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	}
	return true
}

// warnWarmup tells about warm-up options that have no effect because nothing starts a warm-up.
func (d *draft) warnWarmup() {
	if d.warmsUp() {
		return
	}
	flags := d.givenOf("warmup-concurrency", "warmup-prefill-concurrency", "warmup-request-rate",
		"warmup-arrival-pattern",
		"warmup-concurrency-ramp-duration", "warmup-prefill-concurrency-ramp-duration",
		"warmup-request-rate-ramp-duration")
	if len(flags) > 0 {
		d.warn("no warm-up: %s have an effect only with --warmup-request-count, --warmup-duration or "+
			"--num-warmup-sessions", strings.Join(flags, ", "))
	}
}

// warmsUp reports whether there is a warm-up phase.
func (d *draft) warmsUp() bool {
	return len(d.givenOf("warmup-request-count", "warmup-duration", "num-warmup-sessions")) > 0
}
