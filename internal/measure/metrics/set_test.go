package metrics

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func tags(s *Set) []string {
	var out []string
	for _, d := range s.Definitions() {
		out = append(out, d.Tag)
	}
	return out
}

// A capability that is missing removes metrics.
func TestApplicability(t *testing.T) {
	for _, c := range []struct {
		name            string
		change          func(*Config)
		present, absent []string
	}{
		{"everything", func(*Config) {},
			[]string{"time_to_first_token", "input_sequence_length", "total_token_throughput",
				"usage_discrepancy_count",
				"error_isl", "osl_mismatch_diff_pct", "http_req_total", "usage_accepted_prediction_tokens"},
			[]string{"requested_osl", "min_request_timestamp", "credit_drop_latency", "stream_setup_latency",
				"usage_prompt_audio_tokens",
				"thinking_efficiency", "overall_thinking_efficiency", "goodput", "good_request_fraction"}},
		{"not streaming", func(c *Config) { c.Streaming = false },
			[]string{"request_latency", "output_sequence_length", "e2e_output_token_throughput"},
			[]string{"time_to_first_token", "inter_chunk_latency", "decode_duration", "prefill_throughput_per_user"}},
		{"no output tokens", func(c *Config) { c.ProducesTokens = false },
			[]string{"input_sequence_length", "input_token_throughput", "usage_prompt_tokens"},
			[]string{"output_sequence_length", "total_token_throughput", "reasoning_token_count", "usage_total_tokens",
				"usage_discrepancy_count", "osl_mismatch_count", "time_to_first_token",
				"total_usage_completion_tokens"}},
		{"no input tokens", func(c *Config) { c.TokenizesInput = false },
			[]string{"output_token_throughput", "usage_completion_tokens"},
			[]string{"input_sequence_length", "total_isl", "error_isl", "total_error_isl", "usage_prompt_tokens",
				"usage_prompt_tokens_diff_pct", "prefill_throughput_per_user", "total_token_throughput",
				"usage_discrepancy_count", "overall_usage_prompt_cache_read_pct"}},
		{"server counts", func(c *Config) { c.UseServerTokens = true },
			[]string{"osl_mismatch_diff_pct", "usage_prompt_tokens"},
			[]string{"usage_prompt_tokens_diff_pct", "usage_completion_tokens_diff_pct",
				"usage_reasoning_tokens_diff_pct",
				"usage_discrepancy_count"}},
		{"goodput", func(c *Config) { c.SLOs = []SLO{{"request_latency", 1}} },
			[]string{"good_request_count", "good_request_fraction", "goodput"}, nil},
		{"internal", func(c *Config) { c.ShowInternal = true },
			[]string{"requested_osl", "min_request_timestamp", "max_response_timestamp", "credit_drop_latency"},
			[]string{"stream_setup_latency"}},
		{"experimental", func(c *Config) { c.ShowExperimental = true },
			[]string{"stream_setup_latency", "stream_prefill_latency", "thinking_efficiency",
				"overall_thinking_efficiency"},
			[]string{"requested_osl"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := chatConfig()
			c.change(&cfg)
			got := tags(mustSet(t, cfg))
			for _, tag := range c.present {
				if !slices.Contains(got, tag) {
					t.Errorf("%s is missing", tag)
				}
			}
			for _, tag := range c.absent {
				if slices.Contains(got, tag) {
					t.Errorf("%s applies", tag)
				}
			}
		})
	}
}

func TestObjectivesNeedOneValuePerRequest(t *testing.T) {
	for _, c := range []struct {
		tag   string
		value float64
		want  string
	}{
		{"request_latency", math.NaN(), "not a limit"},
		{"request_latency", math.Inf(1), "not a limit"},
		{"request_latency", -1, "not a limit"},
		{"lateness", 5, "not a metric tag"},
		{"request_throughput", 5, "whole run (derived)"},
		{"request_count", 5, "whole run (aggregate)"},
		{"inter_chunk_latency", 5, "list of values"},
	} {
		if _, err := NewSLO(c.tag, c.value); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:%v: error %v, want one with %q", c.tag, c.value, err, c.want)
		}
	}
	if slo, err := NewSLO("request_latency", 2500); err != nil || slo != (SLO{"request_latency", 2500}) {
		t.Errorf("%v, %v", slo, err)
	}
}

// Known metrics that the run cannot measure stop it, all of them named in order.
func TestInapplicableObjectivesAreFatal(t *testing.T) {
	cfg := chatConfig()
	cfg.Streaming = false
	cfg.SLOs = []SLO{{"time_to_first_token", 1}, {"request_latency", 1}, {"error_isl", 1}, {"inter_token_latency", 1}}
	_, err := NewSet(cfg)
	if err == nil || !strings.Contains(err.Error(), "error_isl, inter_token_latency, time_to_first_token") {
		t.Errorf("error %v, want one that lists the three tags sorted", err)
	}
}

// Objectives are written in display units.
func TestObjectiveIsConvertedToTheInternalUnit(t *testing.T) {
	cfg := chatConfig()
	cfg.SLOs = []SLO{{"time_to_first_token", 100}, {"output_token_throughput_per_user", 20}}
	limits := []float64{}
	for _, o := range mustSet(t, cfg).objectives {
		limits = append(limits, o.limit)
	}
	if !slices.Equal(limits, []float64{100_000_000, 20}) {
		t.Errorf("limits %v, want 100000000 ns and 20 as is", limits)
	}
}
