package metrics

import (
	"aiperf/internal/measure/record"
)

// usageRow is a number that the server reported in its usage object.
type usageRow struct {
	tag, header, short string
	order              int
	flags              Flags
	field              record.Field
	what               string
}

var usageRows = []usageRow{
	{"usage_prompt_tokens", "Usage Prompt Tokens", "Usage Prompt", 1000,
		TokenizesInputOnly | LargerIsBetter, record.UsagePrompt, "Prompt tokens"},
	{"usage_prompt_cache_read_tokens", "Usage Prompt Cache Read Tokens", "Usage Cache Read", 1010,
		LargerIsBetter, record.UsageCacheRead, "Prompt tokens read from the server's cache"},
	{"usage_prompt_cache_write_tokens", "Usage Prompt Cache Write Tokens", "Usage Cache Write", 1015,
		0, record.UsageCacheWrite, "Prompt tokens written to the server's cache"},
	{"usage_prompt_cache_miss_tokens", "Usage Prompt Cache Miss Tokens", "Usage Cache Miss", 1017,
		0, record.UsageCacheMiss, "Prompt tokens not found in the server's cache"},
	{"usage_prompt_audio_tokens", "Usage Prompt Audio Tokens", "Usage Prompt Audio", 1020,
		SupportsAudioOnly | LargerIsBetter, record.UsagePromptAudio, "Audio tokens of the prompt"},
	{"usage_tool_use_prompt_tokens", "Usage Tool Use Prompt Tokens", "Usage Tool Prompt", 1030,
		0, record.UsageToolUsePrompt, "Prompt tokens spent on tool use"},
	{"usage_prompt_audio_seconds", "Usage Prompt Audio Seconds", "Usage Audio Seconds", 1040,
		SupportsAudioOnly | LargerIsBetter, record.UsagePromptAudioSeconds, "Seconds of audio in the prompt"},
	{"usage_completion_tokens", "Usage Completion Tokens", "Usage Completion", 1100,
		ProducesTokensOnly | OrProducesMedia | LargerIsBetter, record.UsageCompletion, "Completion tokens"},
	{"usage_reasoning_tokens", "Usage Reasoning Tokens", "Usage Reasoning", 1110,
		ProducesTokensOnly | LargerIsBetter, record.UsageReasoning, "Reasoning tokens of the completion"},
	{"usage_completion_audio_tokens", "Usage Completion Audio Tokens", "Usage Completion Audio", 1120,
		ProducesTokensOnly | SupportsAudioOnly | LargerIsBetter, record.UsageCompletionAudio,
		"Audio tokens of the completion"},
	{"usage_accepted_prediction_tokens", "Usage Accepted Prediction Tokens", "Usage Accepted Prediction", 1130,
		ProducesTokensOnly | LargerIsBetter, record.UsageAcceptedPrediction,
		"Tokens of the predicted output that were used"},
	{"usage_rejected_prediction_tokens", "Usage Rejected Prediction Tokens", "Usage Rejected Prediction", 1140,
		ProducesTokensOnly, record.UsageRejectedPrediction, "Tokens of the predicted output that were not used"},
	{"usage_total_tokens", "Usage Total Tokens", "Usage Total", 1200,
		ProducesTokensOnly | LargerIsBetter, record.UsageTotal,
		"All tokens, never computed from prompt and completion"},
}

// usageTable holds what the servers' usage objects say, and its totals.
func usageTable() []Definition {
	var records, totals []Definition
	for _, row := range usageRows {
		d := row.definition()
		records, totals = append(records, d), append(totals, totalUsage(&d))
	}
	cacheRead := Definition{
		Tag: "overall_usage_prompt_cache_read_pct", Header: "Overall Usage Prompt Cache Read %",
		Short: "Usage Cache Read %", ShortHidesUnit: true,
		Kind: KindDerived, Unit: Percent, Display: Percent, Order: 2012, Group: GroupUsage,
		Flags:    LargerIsBetter,
		Doc:      "Share of all prompt tokens that came from the server's cache.",
		Formula:  "total_usage_prompt_cache_read_tokens / total_usage_prompt_tokens × 100",
		Absent:   "either is missing, or the denominator is 0",
		Requires: []string{"total_usage_prompt_cache_read_tokens", "total_usage_prompt_tokens"},
		derive: func(s *scalars) (float64, bool) {
			v, ok := s.quotient("total_usage_prompt_cache_read_tokens", "total_usage_prompt_tokens")
			return v * 100, ok
		},
	}
	return append(append(records, totals...), cacheRead)
}

func (r usageRow) definition() Definition {
	d := Definition{
		Tag: r.tag, Header: r.header, Short: r.short, ShortHidesUnit: true,
		Kind: KindRecord, Unit: Tokens, Display: Tokens, Order: r.order, Group: GroupUsage, Flags: r.flags,
		Doc:     r.what + ".",
		Formula: "last value in the usage objects",
		Absent:  "not reported",
		reads:   []record.Field{r.field}, integer: fact(r.field),
	}
	if r.field == record.UsagePromptAudioSeconds {
		d.Unit, d.Display = Seconds, Seconds
		d.integer, d.float = nil, floatFact(record.UsagePromptAudioSeconds)
	}
	return d
}

// totalUsage defines the sum of a usage metric over all requests.
func totalUsage(d *Definition) Definition {
	of := d.Tag
	return Definition{
		Tag: "total_" + of, Header: "Total " + d.Header, Short: "Total " + d.Short, ShortHidesUnit: true,
		Kind: KindDerived, Unit: d.Unit, Display: d.Display, Order: d.Order + 1000, Group: d.Group, Flags: d.Flags,
		Doc:      "Sum over all requests.",
		Formula:  "Σ " + of,
		Absent:   "no request has one",
		Requires: []string{of},
		derive:   func(s *scalars) (float64, bool) { return s.get(of) },
	}
}
