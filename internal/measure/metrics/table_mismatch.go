package metrics

import (
	"math"

	"aiperf/internal/measure/record"
)

// mismatchTable compares the client's token counts with the server's and with what was asked for.
func mismatchTable() []Definition {
	promptFields := []record.Field{record.UsagePrompt, record.InputTokens}
	completionFields := []record.Field{record.UsageCompletion, record.UsageCompletionAudio, record.OutputTokens,
		record.ReasoningTokens}
	return []Definition{
		{
			Tag: "usage_prompt_tokens_diff_pct", Header: "Usage Prompt Diff %", Short: "Prompt Diff %",
			ShortHidesUnit: true,
			Kind:           KindRecord, Unit: Percent, Display: Percent, Group: GroupNone,
			Flags:    TokenizesInputOnly | UsageDiffOnly,
			Doc:      "Difference between the server's and the client's count of prompt tokens.",
			Formula:  "|usage_prompt_tokens − input_sequence_length| / input_sequence_length × 100",
			Absent:   "either is missing, or the length is 0",
			Requires: []string{"usage_prompt_tokens", "input_sequence_length"},
			reads:    promptFields, float: promptDifference,
		},
		{
			Tag: "usage_completion_tokens_diff_pct", Header: "Usage Completion Diff %", Short: "Completion Diff %",
			ShortHidesUnit: true,
			Kind:           KindRecord, Unit: Percent, Display: Percent, Group: GroupNone,
			Flags:    ProducesTokensOnly | UsageDiffOnly,
			Doc:      "Difference between the server's and the client's count of completion tokens, those of sound left out.",
			Formula:  "|usage_completion_tokens − its audio tokens − output_sequence_length| / output_sequence_length × 100",
			Absent:   "either is missing, or the length is 0",
			Requires: []string{"usage_completion_tokens", "output_sequence_length"},
			reads:    completionFields, float: completionDifference,
		},
		{
			Tag: "usage_reasoning_tokens_diff_pct", Header: "Usage Reasoning Diff %", Short: "Reasoning Diff %",
			ShortHidesUnit: true,
			Kind:           KindRecord, Unit: Percent, Display: Percent, Group: GroupNone,
			Flags:    ProducesTokensOnly | SupportsReasoning | UsageDiffOnly,
			Doc:      "Difference between the server's and the client's count of reasoning tokens.",
			Formula:  "|usage_reasoning_tokens − reasoning_token_count| / reasoning_token_count × 100",
			Absent:   "either is missing, or the count is 0",
			Requires: []string{"usage_reasoning_tokens", "reasoning_token_count"},
			reads:    []record.Field{record.UsageReasoning, record.ReasoningTokens}, float: reasoningDifference,
		},
		{
			Tag: "usage_discrepancy_count", Header: "Usage Discrepancy Count", Short: "Usage Discrepancies",
			ShortHidesUnit: true,
			Kind:           KindAggregate, Unit: Requests, Display: Requests, Group: GroupNone,
			Flags:    UsageDiffOnly | NoIndividualRecords,
			Doc:      "Requests in which any of the usage differences exceeds AIPERF_METRICS_USAGE_PCT_DIFF_THRESHOLD.",
			Formula:  "Σ [any difference > threshold]",
			Absent:   "no request has both the prompt and the completion difference",
			Requires: []string{"usage_prompt_tokens_diff_pct", "usage_completion_tokens_diff_pct"},
			Uses:     []string{"usage_reasoning_tokens_diff_pct"},
			increment: func(o *occurrence) (int64, bool) {
				prompt, ok := promptDifference(o.Facts)
				completion, both := completionDifference(o.Facts)
				if !ok || !both {
					return 0, false
				}
				reasoning, _ := reasoningDifference(o.Facts)
				return count(max(prompt, completion, reasoning) > o.set.cfg.UsageDiffPercent), true
			},
		},
		{
			Tag: "requested_osl", Header: "Requested OSL", Short: "Req OSL",
			Kind: KindRecord, Unit: Tokens, Display: Tokens, Group: GroupNone,
			Flags:   ProducesTokensOnly | Internal,
			Doc:     "The output limit that the request carried.",
			Formula: "max_tokens of the last turn sent",
			Absent:  "the request carried no limit",
			reads:   []record.Field{record.RequestedTokens}, integer: requestedLength,
		},
		{
			Tag: "osl_mismatch_diff_pct", Header: "OSL Mismatch Diff %", Short: "OSL Diff %", ShortHidesUnit: true,
			Kind: KindRecord, Unit: Percent, Display: Percent, Group: GroupNone,
			Flags:    ProducesTokensOnly | DisableOnAccuracy,
			Doc:      "Signed difference between the output length received and the one asked for.",
			Formula:  "(output_sequence_length − requested_osl) / requested_osl × 100",
			Absent:   "either is missing, or 0 tokens were requested",
			Requires: []string{"output_sequence_length", "requested_osl"},
			reads:    []record.Field{record.RequestedTokens, record.OutputTokens, record.ReasoningTokens},
			float:    lengthMismatch,
		},
		{
			Tag: "osl_mismatch_count", Header: "OSL Mismatch Count", Short: "OSL Mismatches", ShortHidesUnit: true,
			Kind: KindAggregate, Unit: Requests, Display: Requests, Group: GroupNone,
			Flags: ProducesTokensOnly | NoIndividualRecords | DisableOnAccuracy,
			Doc: "Requests whose output length is off by more than both AIPERF_METRICS_OSL_MISMATCH_PCT_THRESHOLD " +
				"and AIPERF_METRICS_OSL_MISMATCH_MAX_TOKEN_THRESHOLD allow, the smaller one counting.",
			Formula:  "Σ [|output_sequence_length − requested_osl| > min(requested_osl × percent / 100, tokens)]",
			Absent:   "no request has osl_mismatch_diff_pct",
			Requires: []string{"osl_mismatch_diff_pct", "output_sequence_length", "requested_osl"},
			increment: func(o *occurrence) (int64, bool) {
				if _, ok := lengthMismatch(o.Facts); !ok {
					return 0, false
				}
				return count(o.set.mismatched(o.Facts)), true
			},
		},
	}
}

// mismatched reports whether a request that has both lengths received another one than it asked for.
func (s *Set) mismatched(f *record.Facts) bool {
	got, _ := outputLength(f)
	asked, _ := requestedLength(f)
	allowed := min(float64(asked)*s.cfg.OSLMismatchPercent/100, float64(s.cfg.OSLMismatchTokens))
	return math.Abs(float64(got-asked)) > allowed
}

// count returns 1 for true.
func count(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}
