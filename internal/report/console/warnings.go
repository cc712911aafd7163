package console

import (
	"fmt"
	"strconv"

	"aiperf/internal/summary"
)

// share begins a warning: "c of n requests (p%)"; false when nothing has to be said.
func share(r *summary.Result, tag string) (string, bool) {
	count, _ := value(r, tag)
	requests, _ := value(r, "request_count")
	if count <= 0 || requests <= 0 {
		return "", false
	}
	return fmt.Sprintf("%s of %s requests (%s%%)", integer(int64(count)), integer(int64(requests)), oneDecimal(count/requests*100)), true
}

// usageWarning tells that the server counts tokens differently.
func (p *page) usageWarning(r *summary.Result, t Thresholds) {
	head, ok := share(r, "usage_discrepancy_count")
	if !ok {
		return
	}
	threshold := shortest(t.UsagePercent)
	p.panel("Token Count Discrepancy Warning",
		head+" have token counts in the API's usage that differ from the client's by more than "+threshold+"%.",
		"",
		"Possible Causes:",
		"  • The client's tokenizer is not the one of the model.",
		"  • The server adds a chat template or special tokens to the prompt.",
		"  • The server counts tokens that it does not send, or sends text that it does not count.",
		"",
		"What to do:",
		"  1. Compare the usage_*_diff_pct metrics of single requests in the records file.",
		"  2. Check that --tokenizer names the tokenizer of the model.",
		"  3. Rely on the server's counts: --use-server-token-count.",
		"  4. Accept larger differences: AIPERF_METRICS_USAGE_PCT_DIFF_THRESHOLD="+threshold+" is the present limit.",
	)
}

// outputLengthWarning tells that answers were shorter or longer than asked for.
func (p *page) outputLengthWarning(r *summary.Result, t Thresholds) {
	head, ok := share(r, "osl_mismatch_count")
	if !ok {
		return
	}
	average := notAvailable
	if v, ok := value(r, "osl_mismatch_diff_pct"); ok {
		average = oneDecimal(v) + "%"
	}
	p.panel("Output Sequence Length Mismatch Warning",
		head+" have an output length that is off the requested one by more than the threshold.",
		"",
		fmt.Sprintf("Threshold (tokens): min(requested x %s%%, %s)", shortest(t.OSLPercent), strconv.FormatInt(t.OSLTokens, 10)),
		"Average mismatch: "+average,
		"",
		"Why: the model may end its answer with an end-of-sequence (EOS) token before the limit is reached.",
		"",
		"Suggested Fixes:",
		"  • Keep the model going: --extra-inputs ignore_eos:true",
		"  • Ask for a minimum: --extra-inputs min_tokens:<N>",
		"  • Rely on the server's counts: --use-server-token-count",
		"",
		"Where to look: osl_mismatch_diff_pct of single requests in the records file.",
		"Limits: AIPERF_METRICS_OSL_MISMATCH_PCT_THRESHOLD, AIPERF_METRICS_OSL_MISMATCH_MAX_TOKEN_THRESHOLD",
	)
}
