package otlp

import (
	"net/url"
	"strings"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
)

// scope is the name of the instrumentation, the same as that of the original.
const scope = "aiperf.records"

// standard maps a metric to an instrument of the GenAI conventions.
type standard struct {
	name, unit string
	// scale turns the metric's unit into that of the instrument.
	scale  float64
	bounds []float64
	// tokenType is the gen_ai.token.type of token counts.
	tokenType string
	// own reports that the metric has an instrument of its own besides.
	own bool
}

var standards = map[string]standard{
	"request_latency": {name: "gen_ai.client.operation.duration", unit: "s", scale: 1e-9,
		bounds: powers(0.01, 2, 14)},
	"time_to_first_token": {name: "gen_ai.client.operation.time_to_first_chunk", unit: "s", scale: 1e-9,
		bounds: chunkBounds},
	"inter_token_latency": {name: "gen_ai.client.operation.time_per_output_chunk", unit: "s", scale: 1e-9,
		bounds: chunkBounds},
	"input_sequence_length": {name: tokenUsage, unit: "{token}", scale: 1, bounds: powers(1, 4, 13), tokenType: "input",
		own: true},
	"output_token_count": {name: tokenUsage, unit: "{token}", scale: 1, bounds: powers(1, 4, 13), tokenType: "output"},
}

// instruments returns the instruments of a metric: that of the conventions first, then its own.
func instruments(tag string, of metrics.Unit) []standard {
	named, known := standards[tag]
	own := standard{name: "aiperf." + tag, unit: string(of), scale: 1, bounds: ownBounds[of]}
	switch {
	case !known:
		return []standard{own}
	case named.own:
		return []standard{named, own}
	}
	return []standard{named}
}

// Name is the name of a metric's instrument and the factor from the metric's unit to that of the instrument. TokenType
// distinguishes the metrics of one instrument; "" where there is only one.
type Name struct {
	Name, TokenType string
	Scale           float64
}

// Names returns the names of a metric, for other publishers.
func Names(tag string, of metrics.Unit) []Name {
	var list []Name
	for _, i := range instruments(tag, of) {
		list = append(list, Name{i.name, i.tokenType, i.scale})
	}
	return list
}

const tokenUsage = "gen_ai.client.token.usage"

var chunkBounds = []float64{0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2, 0.25, 0.3,
	0.35, 0.4, 0.45, 0.5, 0.75, 1, 2, 5}

// ownBounds are the bounds of aiperf.<tag> by the metric's unit: the SDK's own end at 10,000, too low for durations in
// nanoseconds.
var ownBounds = map[metrics.Unit][]float64{
	metrics.Nanoseconds: powers(1e5, 2, 21), // 0.1 ms to 105 s
	metrics.Seconds:     powers(0.01, 2, 14),
	metrics.Tokens:      powers(1, 4, 13),
	metrics.Bytes:       powers(64, 4, 13),
	metrics.Ratio:       {0, 0.1, 0.25, 0.5, 0.75, 1, 2, 5, 10, 100},
	metrics.Percent:     {-100, -50, -20, -10, -5, -1, 0, 1, 5, 10, 20, 50, 100},
	metrics.Requests:    {0, 1},
	metrics.Count:       powers(1, 2, 14),

	metrics.TokensPerSecondPerUser: powers(1, 2, 16),
}

// powers returns first, first·factor, first·factor², …
func powers(first, factor float64, n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = first
		first *= factor
	}
	return list
}

// operation returns the gen_ai.operation.name of an endpoint type.
func operation(endpointType string) string {
	switch endpointType {
	case "completions":
		return "text_completion"
	case "embeddings":
		return "embeddings"
	}
	return "chat"
}

// otherName is the conventions' name of a value that they do not list.
const otherName = "_OTHER"

// providers are the known hosts; * matches one or more labels.
var providers = []struct{ host, name string }{
	{"api.openai.com", "openai"},
	{"api.anthropic.com", "anthropic"},
	{"api.deepseek.com", "deepseek"},
	{"api.mistral.ai", "mistral_ai"},
	{"api.cohere.ai", "cohere"},
	{"api.cohere.com", "cohere"},
	{"api.x.ai", "x_ai"},
	{"api.groq.com", "groq"},
	{"api.perplexity.ai", "perplexity"},
	{"generativelanguage.googleapis.com", "gcp.gemini"},
	{"*-aiplatform.googleapis.com", "gcp.vertex_ai"},
	{"bedrock-runtime.*.amazonaws.com", "aws.bedrock"},
	{"*.openai.azure.com", "azure.ai.openai"},
	{"*.services.ai.azure.com", "azure.ai.inference"},
}

// provider returns the gen_ai.provider.name of the first known server.
func provider(urls []string) string {
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil {
			continue
		}
		host := strings.ToLower(u.Hostname())
		for _, p := range providers {
			if matchesHost(host, p.host) {
				return p.name
			}
		}
		if matchesHost(host, "*.ibm.com") &&
			(strings.Contains(strings.ToLower(u.Path), "watsonx") || strings.HasPrefix(u.Path, "/ml/")) {
			return "ibm.watsonx.ai"
		}
	}
	return otherName
}

// matchesHost reports whether a host ends in a pattern: it is that host, or one below it.
func matchesHost(host, pattern string) bool {
	before, after, wild := strings.Cut(pattern, "*")
	if !wild {
		return host == pattern || strings.HasSuffix(host, "."+pattern)
	}
	rest, ok := strings.CutSuffix(host, after)
	if !ok || rest == "" {
		return false
	}
	if before == "" {
		return true
	}
	at := strings.Index("."+rest, "."+before)
	return at >= 0 && len(rest) > at+len(before)
}

// errorType returns the error.type of a failed request. A cancellation has the status 499, which is not a client error.
func errorType(r *record.Record) string {
	e := r.Err
	if e == nil {
		return otherName
	}
	kind := strings.ToLower(e.Type)
	chain := strings.ToLower(strings.Join(append([]string{e.Cause}, e.CauseChain...), " "))
	message := strings.ToLower(e.Message)
	switch {
	case r.WasCancelled, strings.Contains(kind, "cancel"):
		return "cancelled"
	case strings.Contains(kind, "timeout"):
		return "timeout"
	case e.Code >= 500 && e.Code <= 599:
		return "http_5xx"
	case e.Code >= 400 && e.Code <= 499:
		return "http_4xx"
	case strings.Contains(chain, "timeout"):
		return "timeout"
	case strings.Contains(chain, "cancel"):
		return "cancelled"
	case strings.Contains(message, "json") &&
		(strings.Contains(message, "parse") || strings.Contains(message, "decod") || strings.Contains(message, "pars")):
		return "parse_error"
	}
	return otherName
}
