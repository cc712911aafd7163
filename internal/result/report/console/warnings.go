package console

import (
	"fmt"
	"math"
	"strconv"

	"aiperf/internal/base/artifact"
	"aiperf/internal/result/summary"
)

// share returns the beginning of a warning, "c of n requests (p%)"; false if the count is 0.
func share(r *summary.Result, tag string) (string, bool) {
	count, _ := r.Value(tag)
	requests, _ := r.Value("request_count")
	if count <= 0 || requests <= 0 {
		return "", false
	}
	return fmt.Sprintf("%s of %s requests (%s%%)", integer(int64(count)), integer(int64(requests)),
		oneDecimal(count/requests*100)), true
}

// usageWarning reports that the server counts tokens differently.
func (p *page) usageWarning(r *summary.Result, t Thresholds) {
	head, ok := share(r, "usage_discrepancy_count")
	if !ok || recoded(r) && !promptsDiffer(r, t) {
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
		"  4. Accept larger differences: AIPERF_METRICS_USAGE_PCT_DIFF_THRESHOLD="+threshold+" is the current limit.",
	)
}

// outputLengthWarning reports that answers were shorter or longer than asked for.
func (p *page) outputLengthWarning(r *summary.Result, t Thresholds) {
	head, ok := share(r, "osl_mismatch_count")
	if !ok {
		return
	}
	if recoded(r) {
		p.recodedWarning(head, r)
		return
	}
	average := notAvailable
	if v, ok := r.Value("osl_mismatch_diff_pct"); ok {
		average = oneDecimal(v) + "%"
	}
	lines := []string{
		head + " have an output length that differs from the requested one by more than the threshold.",
		"",
		fmt.Sprintf("Threshold (tokens): min(requested x %s%%, %s)", shortest(t.OSLPercent),
			strconv.FormatInt(t.OSLTokens, 10)),
		"Average mismatch: " + average,
		"",
		"Why: the model may end its answer with an end-of-sequence (EOS) token before the limit is reached.",
		"",
		"Suggested Fixes:",
	}
	if !asksFor(r.InputConfig, "ignore_eos") {
		lines = append(lines, "  • Prevent early ends: --extra-inputs ignore_eos:true")
	}
	if !asksFor(r.InputConfig, "min_tokens") && !asksFor(r.InputConfig, "min_new_tokens") {
		lines = append(lines,
			"  • Ask for a minimum: --extra-inputs min_tokens:<N> (SGLang, TGI: min_new_tokens:<N>)")
	}
	p.panel(mismatchTitle, append(lines,
		"  • Rely on the server's counts: --use-server-token-count",
		"",
		"Where to look: osl_mismatch_diff_pct of single requests in the records file.",
		"Limits: AIPERF_METRICS_OSL_MISMATCH_PCT_THRESHOLD, AIPERF_METRICS_OSL_MISMATCH_MAX_TOKEN_THRESHOLD",
	)...)
}

const mismatchTitle = "Output Sequence Length Mismatch Warning"

// recoded reports whether most replies of another length than asked for have it by the server's count.
func recoded(r *summary.Result) bool {
	mismatches, _ := r.Value("osl_mismatch_count")
	return r.Recoded.Requests > 0 && float64(2*r.Recoded.Requests) > mismatches
}

// promptsDiffer reports whether the counts of a prompt are as far apart as a discrepancy has to be.
func promptsDiffer(r *summary.Result, t Thresholds) bool {
	m, ok := r.Find("usage_prompt_tokens_diff_pct")
	return ok && m.Stats.Max > t.UsagePercent
}

// recodedWarning reports that the server generated the requested length and the client counts another one.
func (p *page) recodedWarning(head string, r *summary.Result) {
	n := float64(r.Recoded.Requests)
	p.panel(mismatchTitle,
		head+" have an output length that differs from the requested one by the client's count only.",
		"",
		fmt.Sprintf("The server generated %s tokens, as asked; its text re-encodes to %s (averages of %s requests).",
			shortest(math.Round(float64(r.Recoded.Generated)/n*10)/10),
			shortest(math.Round(float64(r.Recoded.Encoded)/n*10)/10), integer(r.Recoded.Requests)),
		"",
		"Why: the text of tokens is not always encoded as these tokens again (random or untrained text), or "+
			"--tokenizer is not that of the model.",
		"",
		"What to do: rely on the server's counts: --use-server-token-count",
	)
}

// asksFor reports whether a configuration has a key at any depth.
func asksFor(o artifact.Object, key string) bool {
	for _, m := range o {
		inner, ok := m.Value.(artifact.Object)
		if m.Key == key || ok && asksFor(inner, key) {
			return true
		}
	}
	return false
}
