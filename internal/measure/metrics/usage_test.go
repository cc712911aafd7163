package metrics

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/measure/record"
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
			cfg := chatConfig()
			cfg.SupportsAudio = true
			results := engineOf(t, cfg, of(0), success(0, 100*ms, 50*ms, 100*ms), of(12), of(9), bad).Results()
			one, sum := found(t, results, c.tag), found(t, results, "total_"+c.tag)
			if s := one.Stats; s.Count != 3 || s.Avg != 7 || s.Min != 0 || s.Max != 12 || one.Unit != c.unit ||
				one.Order != c.order || one.Group != GroupUsage {
				t.Errorf("got %+v", one)
			}
			if sum.Stats.Avg != 21 || sum.Distribution || sum.Unit != c.unit || sum.Order != c.order+1000 ||
				sum.Header != "Total "+one.Header || sum.Flags != one.Flags {
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

// Which endpoint has which usage metrics, when the server reports all of them.
func TestUsageByEndpoint(t *testing.T) {
	reported := success(0, 100*ms, 100*ms)
	for i, field := range usageFields {
		reported.Facts[field] = int64(i + 1)
	}
	input := Config{TokenizesInput: true}
	images := Config{TokenizesInput: true, SupportsImage: true, ProducesImages: true}
	audio := Config{SupportsAudio: true}
	speech := Config{TokenizesInput: true, ProducesAudio: true}
	always := []string{"usage_prompt_cache_read_tokens", "usage_prompt_cache_write_tokens",
		"usage_prompt_cache_miss_tokens",
		"usage_tool_use_prompt_tokens"}
	text := []string{"usage_completion_tokens", "usage_reasoning_tokens", "usage_accepted_prediction_tokens",
		"usage_rejected_prediction_tokens", "usage_total_tokens", "usage_prompt_tokens"}
	for name, c := range map[string]struct {
		cfg  Config
		want [][]string
	}{
		"chat":             {chatConfig(), [][]string{always, text}},
		"embeddings":       {input, [][]string{always, {"usage_prompt_tokens"}}},
		"image_generation": {images, [][]string{always, {"usage_prompt_tokens", "usage_completion_tokens"}}},
		"audio_speech":     {speech, [][]string{always, {"usage_prompt_tokens", "usage_completion_tokens"}}},
		"transcription":    {audio, [][]string{always, {"usage_prompt_audio_tokens", "usage_prompt_audio_seconds"}}},
		"accuracy":         {func() Config { c := chatConfig(); c.Accuracy = true; return c }(), [][]string{always, text}},
	} {
		base := DefaultConfig()
		c.cfg.MaxRecords, c.cfg.MaxGaps = base.MaxRecords, base.MaxGaps
		var want []string
		for _, tag := range slices.Concat(c.want...) {
			want = append(want, tag, "total_"+tag)
		}
		if slices.Contains(want, "usage_prompt_tokens") {
			want = append(want, "overall_usage_prompt_cache_read_pct")
		}
		asked := with(success(0, 100*ms, 100*ms),
			map[record.Field]int64{record.RequestedTokens: 10, record.OutputTokens: 10})
		results := engineOf(t, c.cfg, reported, asked).Results()
		var got []string
		for _, r := range results {
			if r.Group == GroupUsage {
				got = append(got, r.Tag)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		compares := slices.ContainsFunc(results, func(r Metric) bool { return r.Tag == "osl_mismatch_count" })
		if compares != (name == "chat") {
			t.Errorf("%s: compares lengths: %v", name, compares)
		}
	}
}

// Replies of the length that was asked for by the server's count only are counted apart from those that ended early.
func TestRepliesThatEncodeToAnotherLength(t *testing.T) {
	for _, server := range []bool{false, true} {
		cfg := DefaultConfig()
		cfg.ProducesTokens, cfg.UseServerTokens = true, server
		set, err := NewSet(cfg)
		if err != nil {
			t.Fatal(err)
		}
		e := set.NewEngine()
		for _, c := range [][3]int64{{20, 20, 24}, {20, 20, 25}, {20, 20, 20}, {20, 7, 8}, {0, 20, 24}} {
			r := &record.Record{Facts: record.NewFacts()}
			r.Facts[record.StartWall], r.Facts[record.Contents] = 1, 1
			r.Facts[record.RequestedTokens], r.Facts[record.UsageCompletion], r.Facts[record.OutputTokens] = c[0], c[1],
				c[2]
			e.Add(r)
		}
		want := Recoded{Requests: 2, Generated: 40, Encoded: 49}
		if server {
			want = Recoded{}
		}
		if got := e.Snapshot().Recoded; got != want {
			t.Errorf("server's counts %t: %+v, want %+v", server, got, want)
		}
	}
}
