package resolve

import (
	"slices"

	"aiperf/internal/config/option"
	"aiperf/internal/config/settings"
)

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
		{"", "serve-params", "serve-cmd"},
		{"", "per-chunk-usage", "streaming"},
		{"", "num-gpus", "price-per-gpu-hour"},
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

// publishing reports whether an option is the address that results are sent to.
func publishing(name string) bool {
	return name == "otel-url" || name == "mlflow-tracking-uri" || name == "wandb-project"
}

func (r *resolution) checkRequirements() {
	for _, q := range requirements() {
		if r.active(q.flag) && !r.active(q.needs) {
			if r.p.Origin(q.flag).Source == settings.FromFile && publishing(q.needs) {
				r.warn("%s has no effect without --%s", r.flag(q.flag), q.needs) // a file may leave the address out
				continue
			}
			r.fault(q.rule, "%s can only be used together with --%s", r.flag(q.flag), q.needs)
		}
	}
	if r.given("api-host") && !r.p.IsSet("api-port") {
		r.fault("V45", "%s requires a port: give --api-port or set AIPERF_API_SERVER_PORT", r.flag("api-host"))
	}
}

// exclusions: the two options contradict each other; hint says what to do, if it is not plain.
func exclusions() []struct{ rule, a, b, hint string } {
	return []struct{ rule, a, b, hint string }{
		{"V6", "public-dataset", "custom-dataset-type", ""},
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
		{"", "sagemaker-endpoint-name", "http2", "the service is called over HTTP/1.1"},
		{"V47", "ignore-trace-delays", "use-think-time-only", ""},
		{"V47", "network-latency-automatic", "network-latency-mean", ""},
		{"V47", "request-rate", "request-rate-series", ""},
		{"V16", "user-centric-rate", "request-rate-series", ""},
		{"", "request-rate-series", "request-rate-ramp-duration", "the series already defines the rate"},
		{"", "fixed-schedule", "ignore-trace-delays", "without recorded times there is no schedule"},
		{"V47", "random-range-ratio", "seq-dist", ""},
		{"", "fixed-schedule", "no-fixed-schedule", "use only one"},
		{"", "system-prompt", "system-prompt-file", "use only one"},
		{"", "system-prompt", "shared-system-prompt-length", "use only one"},
		{"", "system-prompt-file", "shared-system-prompt-length", "use only one"},
		{"", "public-dataset", "input-file", "use only one"},
		{"", "zmq-host", "zmq-ipc-path", "use only one"},
		{"", "agents", "wait-for-agents", "the first starts agents here, the second waits for those of other machines"},
		{"", "nats-url", "nats-listen", "the first names a server, the second is for the one within this program"},
		{"", "nats-token-file", "nats-nkey-file", "use only one"},
		{"", "nats-token-file", "nats-creds-file", "use only one"},
		{"", "agentic-cache-warmup-duration", "warmup-requests-per-lane", "use only one"},
	}
}

func (r *resolution) checkExclusions() {
	for _, x := range exclusions() {
		if !r.active(x.a) || !r.active(x.b) {
			continue
		}
		hint := x.hint
		if hint != "" {
			hint = "; " + hint
		}
		r.fault(x.rule, "%s and %s cannot be used together%s", r.flag(x.a), r.flag(x.b), hint)
	}
}

// checkBuilt refuses the values that this release lacks.
func (r *resolution) checkBuilt() {
	for _, o := range option.All() {
		if !r.given(o.Name) {
			continue
		}
		text, isText := r.p.Value(o.Name).(string)
		if len(o.BuiltValues) > 0 && isText && !slices.Contains(o.BuiltValues, text) {
			r.unavailable(r.flag(o.Name)+" "+text, "use "+orList(o.BuiltValues))
		}
	}
}
