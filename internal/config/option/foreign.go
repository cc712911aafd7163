package option

import (
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/fault"
)

// foreignFlag is what other load generators call an option of ours.
type foreignFlag struct {
	names string // separated by blanks, without dashes
	// ours is the option, with a value where it needs one; empty: what says it instead.
	ours, instead string
	// member says that it is a member of requests, of the same name.
	member bool
}

// foreignFlags are flags of vllm bench, GuideLLM, k6, wrk, wrk2, oha, hey, ab, vegeta and the like that are not flags
// here, or not yet. One letter stands for what most of these tools mean by it.
func foreignFlags() []foreignFlag {
	return []foreignFlag{
		{names: "n num-requests requests max-requests iterations i total-requests", ours: "request-count"},
		{names: "c vus users num-users-concurrent max-concurrency connections concurrent-requests num-concurrent-requests",
			ours: "concurrency"},
		{names: "q R rate rps qps request-rate-per-second arrival-rate", ours: "request-rate"},
		{names: "z d duration max-seconds time timelimit max-duration", ours: "benchmark-duration"},
		{names: "s timeout request-timeout connect-timeout socket-timeout", ours: "request-timeout-seconds"},
		{names: "target base-url api-base host server server-url backend-url endpoint-url", ours: "url"},
		{names: "backend backend-type api-type endpoint-kind", ours: "endpoint-type"},
		{names: "random-input-len input-len input-length input-tokens prompt-tokens prompt-len sonnet-input-len " +
			"mean-input-tokens", ours: "isl"},
		{names: "random-output-len output-len output-length output-tokens max-tokens sharegpt-output-len custom-output-len " +
			"sonnet-output-len hf-output-len mean-output-tokens max-new-tokens", ours: "osl"},
		{names: "random-prefix-len prefix-len sonnet-prefix-len", ours: "prompt-prefix-length"},
		{names: "dataset data data-path dataset-file prompt-file prompts-file", ours: "input-file"},
		{names: "dataset-name", instead: "--public-dataset NAME for a published data set, --input-file for one of yours"},
		{names: "processor tokenizer-name hf-tokenizer", ours: "tokenizer"},
		{names: "seed", ours: "random-seed"},
		{names: "burstiness", ours: "arrival-smoothness"},
		{names: "num-warmups warmup warmup-requests", ours: "warmup-request-count"},
		{names: "metric-percentiles", ours: "percentiles"},
		{names: "o output output-dir output-path result-dir results-dir out-dir", ours: "artifact-dir"},
		{names: "ignore-eos", ours: "extra-inputs ignore_eos:true"},
		{names: "temperature top-p top-k min-p", member: true},
		{names: "lora-modules served-model-name", ours: "model"},
		{names: "rate-type", instead: "--concurrency for a closed loop, --request-rate for an open one, aiperf capacity for " +
			"a search"},
		{names: "t threads cpus", instead: "it is not needed: all cores are used, and --concurrency says how many requests run at once"},
		{names: "disable-keepalive", ours: "connection-reuse-strategy never"},
		{names: "insecure k skip-tls-verify insecure-skip-tls-verify", instead: "set the variable AIPERF_HTTP_SSL_VERIFY=false"},
		{names: "save-result", instead: "it is not needed: results are always written"},
		{names: "port", instead: "--url HOST:PORT"},
	}
}

// Foreign says what this program calls a flag of another load generator, with the value that was given to it; "" for any
// other flag.
func Foreign(typed, value string) string {
	name := strings.TrimLeft(typed, "-")
	if strings.HasPrefix(typed, "--") || len(name) > 1 { // single letters differ by their case
		name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	}
	for _, f := range foreignFlags() {
		for known := range strings.FieldsSeq(f.names) {
			if known != name {
				continue
			}
			switch {
			case f.member && value != "":
				return "aiperf calls this --extra-inputs " + strings.ReplaceAll(name, "-", "_") + ":" + value
			case f.member:
				return "aiperf calls this --extra-inputs NAME:VALUE"
			case f.ours == "" && !strings.HasPrefix(f.instead, "-"):
				return f.instead
			case f.ours == "":
				return "aiperf calls this " + f.instead
			}
			return "aiperf calls this --" + f.ours + givenValue(f.ours, value)
		}
	}
	return ""
}

// givenValue is the value of a flag of another program as one of ours takes it, with a blank before it; "" where ours
// does not take it.
func givenValue(ours, value string) string {
	o, ok := Find("--" + ours)
	if !ok || value == "" || o.Type == Bool || o.MustExist || o.Secret ||
		o.Extensible && !slices.Contains(o.Values, value) {
		return ""
	}
	if _, _, err := o.Parse([]string{value}); err != nil {
		return ""
	}
	if o.Address {
		value = artifact.RedactAddress(value)
	}
	if strings.ContainsRune(value, ' ') {
		value = "'" + value + "'"
	}
	return " " + fault.Shorten(value)
}
