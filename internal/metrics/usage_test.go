package metrics

import (
	"testing"

	"aiperf/internal/record"
)

// Each number of the usage object is a metric of its own and a total, which counts from the first request that has it;
// 0 is a value, and nothing is made of the others.
func TestUsageFamily(t *testing.T) {
	for _, c := range []struct {
		tag   string
		field record.Field
		order int
		unit  string
	}{
		{"usage_prompt_tokens", record.UsagePrompt, 1000, "tokens"},
		{"usage_prompt_cache_read_tokens", record.UsageCacheRead, 1010, "tokens"},
		{"usage_prompt_cache_write_tokens", record.UsageCacheWrite, 1015, "tokens"},
		{"usage_prompt_cache_miss_tokens", record.UsageCacheMiss, 1017, "tokens"},
		{"usage_prompt_audio_tokens", record.UsagePromptAudio, 1020, "tokens"},
		{"usage_tool_use_prompt_tokens", record.UsageToolUsePrompt, 1030, "tokens"},
		{"usage_prompt_audio_seconds", record.UsagePromptAudioSeconds, 1040, "sec"},
		{"usage_completion_tokens", record.UsageCompletion, 1100, "tokens"},
		{"usage_reasoning_tokens", record.UsageReasoning, 1110, "tokens"},
		{"usage_completion_audio_tokens", record.UsageCompletionAudio, 1120, "tokens"},
		{"usage_accepted_prediction_tokens", record.UsageAcceptedPrediction, 1130, "tokens"},
		{"usage_rejected_prediction_tokens", record.UsageRejectedPrediction, 1140, "tokens"},
		{"usage_total_tokens", record.UsageTotal, 1200, "tokens"},
	} {
		t.Run(c.tag, func(t *testing.T) {
			of := func(v int64) *record.Record {
				r := success(0, 100*ms, 50*ms, 100*ms)
				if r.Facts[c.field] = v; c.unit == "sec" {
					r.Facts[c.field] = doubleBits(float64(v))
				}
				return r
			}
			bad := of(1000)
			bad.Facts[record.Failed] = 1
			results := engineOf(t, chatConfig(), of(0), success(0, 100*ms, 50*ms, 100*ms), of(12), of(9), bad).Results()
			one, sum := found(t, results, c.tag), found(t, results, "total_"+c.tag)
			if s := one.Stats; s.Count != 3 || s.Avg != 7 || s.Min != 0 || s.Max != 12 || one.Unit != c.unit || one.Order != c.order || one.Group != GroupUsage {
				t.Errorf("got %+v", one)
			}
			if sum.Stats.Avg != 21 || sum.Distribution || sum.Unit != c.unit || sum.Order != c.order+1000 || sum.Header != "Total "+one.Header || sum.Flags != one.Flags {
				t.Errorf("got %+v", sum)
			}
			for _, r := range results {
				if d, _ := Lookup(r.Tag); r.Group == GroupUsage && r.Tag != c.tag && r.Tag != "total_"+c.tag {
					t.Errorf("%s (%s) is made up", r.Tag, d.Kind)
				}
			}
		})
	}
}
