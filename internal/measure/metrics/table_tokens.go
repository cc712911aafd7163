package metrics

import (
	"aiperf/internal/measure/record"
)

// tokenTable holds token counts and rates.
func tokenTable() []Definition {
	return []Definition{
		{
			Tag: "output_token_count", Header: "Output Token Count", Short: "Output Tokens", ShortHidesUnit: true,
			Kind: KindRecord, Unit: Tokens, Display: Tokens, Group: GroupNone,
			Flags:   ProducesTokensOnly | LargerIsBetter,
			Doc:     "Output tokens without reasoning.",
			Formula: "output tokens",
			Absent:  "no output text, or 0 tokens",
			reads:   []record.Field{record.OutputTokens}, integer: outputTokenCount,
		},
		{
			Tag: "output_sequence_length", Header: "Output Sequence Length", Short: "OSL",
			Kind: KindRecord, Unit: Tokens, Display: Tokens, Order: 600, Group: GroupDefault,
			Flags:   ProducesTokensOnly | LargerIsBetter,
			Doc:     "Output tokens, reasoning included.",
			Formula: "output tokens + reasoning tokens, a missing one counting as 0",
			Absent:  "both are missing; 0 is a value",
			reads:   []record.Field{record.OutputTokens, record.ReasoningTokens}, integer: outputLength,
		},
		{
			Tag: "input_sequence_length", Header: "Input Sequence Length", Short: "ISL",
			Kind: KindRecord, Unit: Tokens, Display: Tokens, Order: 700, Group: GroupDefault,
			Flags: TokenizesInputOnly | LargerIsBetter,
			Doc: "Tokens of all texts of the request, earlier turns of the conversation included, joined by spaces and " +
				"counted once: a server that counts each text apart may count some fewer.",
			Formula: "input tokens",
			Absent:  "the request has no text",
			reads:   []record.Field{record.InputTokens}, integer: inputLength,
		},
		total("total_output_tokens", "Total Output Tokens", "Total Output", "output_token_count",
			ProducesTokensOnly|LargerIsBetter),
		total("total_osl", "Total Output Sequence Length", "Total OSL", "output_sequence_length",
			ProducesTokensOnly|LargerIsBetter),
		total("total_isl", "Total Input Sequence Length", "Total ISL", "input_sequence_length",
			TokenizesInputOnly|LargerIsBetter),
		{
			Tag: "e2e_output_token_throughput", Header: "E2E Output Token Throughput",
			Short: "E2E Output TPS/User", ShortHidesUnit: true,
			Kind: KindRecord, Unit: TokensPerSecondPerUser, Display: TokensPerSecondPerUser,
			Order: 510, Group: GroupDefault, Flags: ProducesTokensOnly | LargerIsBetter,
			Doc:      "Output tokens of a request over its whole latency.",
			Formula:  "output_sequence_length / request_latency in seconds",
			Absent:   "either is missing, or the latency is below 20 µs",
			Requires: []string{"output_sequence_length", "request_latency"},
			reads:    []record.Field{record.OutputTokens, record.ReasoningTokens, record.LastContent},
			float:    perSecond(outputLength, requestLatency),
		},
		{
			Tag: "output_token_throughput", Header: "Output Token Throughput", Short: "Output TPS",
			ShortHidesUnit: true,
			Kind:           KindDerived, Unit: TokensPerSecond, Display: TokensPerSecond,
			Order: 800, Group: GroupDefault, Flags: ProducesTokensOnly | LargerIsBetter,
			Doc:      "Output tokens of all requests per second of the benchmark.",
			Formula:  "total_osl / benchmark_duration in seconds",
			Absent:   "either is missing",
			Requires: []string{"total_osl", "benchmark_duration"},
			derive:   ratePerSecond("total_osl"),
		},
		{
			Tag: "input_token_throughput", Header: "Input Token Throughput", Short: "Input TPS", ShortHidesUnit: true,
			Kind: KindDerived, Unit: TokensPerSecond, Display: TokensPerSecond,
			Order: 805, Group: GroupDefault, Flags: TokenizesInputOnly | LargerIsBetter,
			Doc:      "Input tokens of all requests per second of the benchmark.",
			Formula:  "total_isl / benchmark_duration in seconds",
			Absent:   "either is missing",
			Requires: []string{"total_isl", "benchmark_duration"},
			derive:   ratePerSecond("total_isl"),
		},
		{
			Tag: "total_token_throughput", Header: "Total Token Throughput", Short: "Total TPS", ShortHidesUnit: true,
			Kind: KindDerived, Unit: TokensPerSecond, Display: TokensPerSecond, Group: GroupNone,
			Flags:    ProducesTokensOnly | LargerIsBetter,
			Doc:      "Input and output tokens of all requests per second of the benchmark.",
			Formula:  "(total_isl + total_osl) / benchmark_duration in seconds",
			Absent:   "any of them is missing",
			Requires: []string{"total_isl", "total_osl", "benchmark_duration"},
			derive:   ratePerSecond("total_isl", "total_osl"),
		},
	}
}

// reasoningTable holds the counts of reasoning tokens.
func reasoningTable() []Definition {
	return []Definition{
		{
			Tag: "reasoning_token_count", Header: "Reasoning Token Count", Short: "Reasoning Tokens",
			ShortHidesUnit: true,
			Kind:           KindRecord, Unit: Tokens, Display: Tokens, Group: GroupNone,
			Flags:   ProducesTokensOnly | LargerIsBetter | SupportsReasoning,
			Doc:     "Tokens of separately sent reasoning.",
			Formula: "reasoning tokens",
			Absent:  "no reasoning came; 0 is a value",
			reads:   []record.Field{record.ReasoningTokens}, integer: reasoningTokens,
		},
		total("total_reasoning_tokens", "Total Reasoning Tokens", "Total Reasoning", "reasoning_token_count",
			ProducesTokensOnly|LargerIsBetter),
		{
			Tag: "thinking_efficiency", Header: "Thinking Efficiency", Short: "Thinking Eff.",
			Kind: KindRecord, Unit: Ratio, Display: Ratio, Group: GroupNone,
			Flags:    ProducesTokensOnly | SupportsReasoning | Experimental,
			Doc:      "Reasoning tokens per output token of a request.",
			Formula:  "reasoning_token_count / output_token_count",
			Absent:   "either is missing",
			Requires: []string{"reasoning_token_count", "output_token_count"},
			reads:    []record.Field{record.ReasoningTokens, record.OutputTokens}, float: thinkingEfficiency,
		},
		{
			Tag: "overall_thinking_efficiency", Header: "Overall Thinking Efficiency", Short: "Overall Eff.",
			ShortHidesUnit: true,
			Kind:           KindDerived, Unit: Ratio, Display: Ratio, Group: GroupNone,
			Flags:    ProducesTokensOnly | SupportsReasoning | Experimental,
			Doc:      "Reasoning tokens per output token of all requests.",
			Formula:  "total_reasoning_tokens / total_output_tokens",
			Absent:   "either is missing, or no output tokens",
			Requires: []string{"total_reasoning_tokens", "total_output_tokens"},
			derive: func(s *scalars) (float64, bool) {
				return s.quotient("total_reasoning_tokens", "total_output_tokens")
			},
		},
	}
}

// total defines the sum of a record metric in tokens over all requests.
func total(tag, header, short, of string, flags Flags) Definition {
	return Definition{
		Tag: tag, Header: header, Short: short, ShortHidesUnit: true,
		Kind: KindDerived, Unit: Tokens, Display: Tokens, Group: GroupNone, Flags: flags,
		Doc:      "Sum over all requests.",
		Formula:  "Σ " + of,
		Absent:   "no request has one",
		Requires: []string{of},
		derive:   func(s *scalars) (float64, bool) { return s.get(of) },
	}
}

// ratePerSecond returns the formula of a sum of totals over the duration of the benchmark.
func ratePerSecond(totals ...string) func(*scalars) (float64, bool) {
	return func(s *scalars) (float64, bool) {
		ns, ok := s.rateDuration()
		if !ok || !measurable(int64(ns)) {
			return 0, false
		}
		var amount float64
		for _, tag := range totals {
			v, ok := s.get(tag)
			if !ok {
				return 0, false
			}
			amount += v
		}
		return amount / (ns * nsToSeconds), true
	}
}
