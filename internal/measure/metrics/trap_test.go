package metrics

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/measure/record"
)

func TestTrapLatencyEndsAtLastContent(t *testing.T) {
	r := success(0, 305*ms, 100*ms, 300*ms)
	e := engineOf(t, chatConfig(), r)
	scalar(t, e.Results(), "request_latency", 300)
	if s := e.Snapshot(); s.EndNS-s.StartNS != 305*ms {
		t.Errorf("the request spans %d ns, want the whole 305 ms", s.EndNS-s.StartNS)
	}
}

func TestTrapOneContentResponse(t *testing.T) {
	r := with(success(0, 90*ms, 80*ms), map[record.Field]int64{record.OutputTokens: 5})
	results := engineOf(t, chatConfig(), r).Results()
	scalar(t, results, "time_to_first_token", 80)
	scalar(t, results, "request_latency", 80)
	absent(t, results, "inter_token_latency", "output_token_throughput_per_user", "inter_chunk_latency",
		"time_to_second_token")
}

func TestTrapTwoContentResponsesAtTheSameInstant(t *testing.T) {
	r := with(success(0, 90*ms, 80*ms, 80*ms), map[record.Field]int64{record.OutputTokens: 5})
	results := engineOf(t, chatConfig(), r).Results()
	scalar(t, results, "inter_token_latency", 0)
	scalar(t, results, "inter_chunk_latency", 0)
	absent(t, results, "output_token_throughput_per_user")
}

func TestTrapOutputLengthOneAndZero(t *testing.T) {
	one := with(success(0, 90*ms, 40*ms, 80*ms), map[record.Field]int64{record.OutputTokens: 1})
	absent(t, engineOf(t, chatConfig(), one).Results(), "inter_token_latency", "full_response_inter_token_latency")
	zero := with(success(0, 90*ms, 40*ms, 80*ms), map[record.Field]int64{record.OutputTokens: 0})
	results := engineOf(t, chatConfig(), zero).Results()
	scalar(t, results, "output_sequence_length", 0)
	absent(t, results, "output_token_count")
	none := success(0, 90*ms, 40*ms, 80*ms)
	absent(t, engineOf(t, chatConfig(), none).Results(), "output_sequence_length", "output_token_count")
}

func TestTrapZeroReasoningIsAValue(t *testing.T) {
	r := with(success(0, 90*ms, 40*ms), map[record.Field]int64{record.ReasoningTokens: 0, record.OutputTokens: 3})
	scalar(t, engineOf(t, chatConfig(), r).Results(), "reasoning_token_count", 0)
}

func TestTrapCleanRunHasNoErrorCount(t *testing.T) {
	cfg := chatConfig()
	cfg.SLOs = []SLO{{"request_latency", 1000}}
	results := engineOf(t, cfg, worked()[:3]...).Results()
	absent(t, results, "error_request_count", "error_isl", "total_error_isl", "error_latency", "context_overflow_count")
	scalar(t, results, "good_request_fraction", 1)
	scalar(t, results, "request_error_rate", 0)
}

// TestTrapErrorsAreNotGoodRequests: of 125 requests 95 are good, 5 too slow and 25 failed.
func TestTrapErrorsAreNotGoodRequests(t *testing.T) {
	cfg := chatConfig()
	cfg.SLOs = []SLO{{"request_latency", 100}}
	var all []*record.Record
	for i := range int64(125) {
		switch at := i * ms; {
		case i < 95:
			all = append(all, success(at, 90*ms, 40*ms, 90*ms))
		case i < 100:
			all = append(all, success(at, 110*ms, 40*ms, 110*ms))
		default:
			all = append(all, failure(at, 90*ms, record.Error{Type: "HTTPError", Code: 500}))
		}
	}
	scalar(t, engineOf(t, cfg, all...).Results(), "good_request_fraction", 0.76)
}

func TestTrapObjectiveAtTheThresholdPasses(t *testing.T) {
	r := with(success(0, 300*ms, 100*ms, 300*ms), map[record.Field]int64{record.OutputTokens: 9})
	for _, c := range []struct {
		slo  SLO
		good float64
	}{
		{SLO{"request_latency", 300}, 1},
		{SLO{"request_latency", 299.999999}, 0},
		{SLO{"output_sequence_length", 9}, 1},
		{SLO{"output_sequence_length", 9.5}, 0},
		{SLO{"reasoning_token_count", 0}, 0}, // no value is not good
	} {
		cfg := chatConfig()
		cfg.SLOs = []SLO{c.slo}
		got := found(t, engineOf(t, cfg, r).Results(), "good_request_count").Stats.Avg
		if got != c.good {
			t.Errorf("%s:%v: good = %v, want %v", c.slo.Tag, c.slo.Value, got, c.good)
		}
	}
}

func TestTrapFailedRequestsCountAsErrorsOnly(t *testing.T) {
	clean := engineOf(t, chatConfig(), worked()[:3]...).Results()
	bad := with(failure(-500*ms, 5000*ms, record.Error{Type: "X", Message: "y"}), map[record.Field]int64{
		record.InputTokens: 40, record.FirstContent: 1, record.LastContent: 2, record.OutputTokens: 3,
		record.Blocked: 4, record.UsagePrompt: 7, record.Contents: 2})
	bad.GapsNS = []int64{1}
	results := engineOf(t, chatConfig(), append(worked()[:3], bad)...).Results()
	mayDiffer := []string{"error_request_count", "error_isl", "total_error_isl", "error_latency",
		"completed_request_count", "request_error_rate"}
	for _, r := range results {
		if slices.Contains(mayDiffer, r.Tag) || isTimeline(r) || strings.HasPrefix(r.Tag, "adj_") {
			continue
		}
		if !slices.ContainsFunc(clean, func(c Metric) bool { return cmp.Equal(c, r, nans) }) {
			t.Errorf("a failed request changes %s", r.Tag)
		}
	}
	adjusted := func(r Metric) bool { return strings.HasPrefix(r.Tag, "adj_") }
	if n := len(slices.DeleteFunc(results, adjusted)); n != len(clean)+4 {
		t.Errorf("%d results, want the %d of the clean run and four of the error", n, len(clean))
	}
}

func TestTrapReasoningFirst(t *testing.T) {
	r := with(success(0, 90*ms, 20*ms, 60*ms), map[record.Field]int64{record.FirstOutput: 60 * ms})
	results := engineOf(t, chatConfig(), r).Results()
	scalar(t, results, "time_to_first_token", 20)
	scalar(t, results, "time_to_first_output_token", 60)
	only := with(success(0, 90*ms, 20*ms, 60*ms), map[record.Field]int64{record.FirstOutput: record.Absent})
	absent(t, engineOf(t, chatConfig(), only).Results(), "time_to_first_output_token")
}

func TestTrapMillisecondsKeepTheirLastDigit(t *testing.T) {
	r := success(0, 300*ms, 255886568)
	if got := found(t, engineOf(t, chatConfig(), r).Results(), "request_latency").Stats.Avg; got != 255.88656799999998 {
		t.Errorf("request_latency = %v, want 255.88656799999998", got)
	}
	line := string(mustSet(t, chatConfig()).AppendRecordMetrics(nil, r))
	if !strings.Contains(line, `"request_latency":{"value":255.88656799999998,"unit":"ms"}`) {
		t.Errorf("line %s", line)
	}
}

func TestTrapTokensAreIntegersAndLatenciesFloats(t *testing.T) {
	r := with(success(0, 305*ms, 100*ms, 300*ms),
		map[record.Field]int64{record.OutputTokens: 105, record.InputTokens: 100})
	line := string(mustSet(t, chatConfig()).AppendRecordMetrics(nil, r))
	for _, want := range []string{`"output_sequence_length":{"value":105,`, `"input_sequence_length":{"value":100,`,
		`"request_latency":{"value":300.0,`, `"time_to_first_token":{"value":100.0,`} {
		if !strings.Contains(line, want) {
			t.Errorf("%s is not in %s", want, line)
		}
	}
}

func TestTrapDurationAndThroughputKeepTheirLastDigit(t *testing.T) {
	results := engineOf(t, chatConfig(), worked()...).Results()
	if got := found(t, results, "benchmark_duration").Stats.Avg; got != 0.7300000000000001 {
		t.Errorf("benchmark_duration = %v, want 0.7300000000000001", got)
	}
	if got := found(t, results, "request_throughput").Stats.Avg; got != 4.10958904109589 {
		t.Errorf("request_throughput = %v, want 4.10958904109589", got)
	}
}

func TestTrapInterChunkLatencyIsOnePopulation(t *testing.T) {
	s := found(t, engineOf(t, chatConfig(), worked()...).Results(), "inter_chunk_latency").Stats
	if s.Count != 9 || !near(s.Sum, 530) || !printed(s.Avg, 58.888889) || !printed(s.Std, 23.778816) ||
		!near(s.Percentiles[4], 60) || !near(s.Percentiles[6], 82) || !near(s.Percentiles[8], 89.2) {
		t.Errorf("inter_chunk_latency %+v", s)
	}
}

func TestTrapUsageTotalIsNeverMadeUp(t *testing.T) {
	r := with(success(0, 90*ms, 40*ms), map[record.Field]int64{record.UsagePrompt: 7, record.UsageCompletion: 3})
	results := engineOf(t, chatConfig(), r).Results()
	scalar(t, results, "usage_prompt_tokens", 7)
	scalar(t, results, "usage_completion_tokens", 3)
	absent(t, results, "usage_total_tokens", "total_usage_total_tokens")
}

func TestTrapZeroCachedTokensIsAValue(t *testing.T) {
	r := with(success(0, 90*ms, 40*ms), map[record.Field]int64{record.UsagePrompt: 7, record.UsageCacheRead: 0})
	results := engineOf(t, chatConfig(), r).Results()
	scalar(t, results, "usage_prompt_cache_read_tokens", 0)
	scalar(t, results, "overall_usage_prompt_cache_read_pct", 0)
	absent(t, engineOf(t, chatConfig(), success(0, 90*ms, 40*ms)).Results(),
		"usage_prompt_cache_read_tokens", "overall_usage_prompt_cache_read_pct")
}

func TestTrapPromptAudioSecondsAreFloats(t *testing.T) {
	r := with(success(0, 90*ms, 40*ms), map[record.Field]int64{
		record.UsagePromptAudioSeconds: int64(floatBits(12))})
	cfg := chatConfig()
	cfg.SupportsAudio = true
	scalar(t, engineOf(t, cfg, r).Results(), "usage_prompt_audio_seconds", 12)
	line := string(mustSet(t, cfg).AppendRecordMetrics(nil, r))
	if !strings.Contains(line, `"usage_prompt_audio_seconds":{"value":12.0,"unit":"sec"}`) {
		t.Errorf("line %s", line)
	}
}

func TestTrapOverallCacheReadWeighsTokens(t *testing.T) {
	usage := func(prompt, cached int64) *record.Record {
		return with(success(0, 90*ms, 40*ms),
			map[record.Field]int64{record.UsagePrompt: prompt, record.UsageCacheRead: cached})
	}
	got := found(t, engineOf(t, chatConfig(), usage(10_000, 5_000), usage(100, 0)).Results(),
		"overall_usage_prompt_cache_read_pct")
	if !printed(got.Stats.Avg, 49.504950) || got.Unit != "%" || got.Order != 2012 || got.Group != GroupUsage {
		t.Errorf("overall_usage_prompt_cache_read_pct = %+v", got)
	}
}

func TestTrapThresholdsAreExclusive(t *testing.T) {
	request := func(asked, got, prompt int64) *record.Record {
		return with(success(0, 90*ms, 40*ms), map[record.Field]int64{
			record.RequestedTokens: asked, record.OutputTokens: got, record.UsageCompletion: got,
			record.InputTokens: 100, record.UsagePrompt: prompt})
	}
	for _, c := range []struct {
		name                  string
		r                     *record.Record
		mismatch, discrepancy float64
	}{
		{"exactly 50 of 1000", request(1000, 950, 100), 0, 0},
		{"51 of 1000", request(1000, 949, 100), 1, 0},
		{"5 of 100", request(100, 105, 100), 0, 0},
		{"6 of 100", request(100, 106, 100), 1, 0},
		{"capped at 50 of 2000", request(2000, 1950, 100), 0, 0},
		{"beyond the cap of 2000", request(2000, 2051, 100), 1, 0},
		{"exactly ten per cent", request(100, 100, 110), 0, 0},
		{"eleven per cent", request(100, 100, 89), 0, 1},
	} {
		results := engineOf(t, chatConfig(), c.r).Results()
		if got := found(t, results, "osl_mismatch_count").Stats.Avg; got != c.mismatch {
			t.Errorf("%s: osl_mismatch_count = %v, want %v", c.name, got, c.mismatch)
		}
		if got := found(t, results, "usage_discrepancy_count").Stats.Avg; got != c.discrepancy {
			t.Errorf("%s: usage_discrepancy_count = %v, want %v", c.name, got, c.discrepancy)
		}
	}
	absent(t, engineOf(t, chatConfig(), success(0, 90*ms, 40*ms)).Results(), "osl_mismatch_count",
		"usage_discrepancy_count")
}

func TestTrapWarmupHasItsOwnResults(t *testing.T) {
	set := mustSet(t, chatConfig())
	warmup, profiling := set.NewEngine(), set.NewEngine()
	for _, r := range worked() {
		profiling.Add(r)
	}
	before := profiling.Results()
	warmup.Add(success(-900*ms, 800*ms, 1*ms, 700*ms))
	if !cmp.Equal(profiling.Results(), before, nans) {
		t.Error("a warm-up request changes the profiling results")
	}
	scalar(t, warmup.Results(), "request_count", 1)
}

func TestTrapNoDurationNoRates(t *testing.T) {
	r := func() *record.Record {
		return with(success(0, 0, 0), map[record.Field]int64{record.OutputTokens: 5, record.InputTokens: 5})
	}
	e := engineOf(t, chatConfig(), r(), r())
	results := e.Results()
	absent(t, results, "benchmark_duration", "request_throughput", "output_token_throughput", "input_token_throughput",
		"total_token_throughput", "e2e_output_token_throughput", "prefill_throughput_per_user")
	scalar(t, results, "request_latency", 0)
	scalar(t, results, "output_sequence_length", 5)
	if w := e.Warnings(); len(w) != 1 || !strings.Contains(w[0], "no duration") {
		t.Errorf("warnings %q", w)
	}
}

func TestTrapReusedConnectionHasZeroSetUp(t *testing.T) {
	trace := func(dns, connecting, reused int64) *record.Record {
		return with(success(0, 90*ms, 40*ms), map[record.Field]int64{record.Blocked: 0, record.DNSLookup: dns,
			record.Connecting: connecting, record.ConnectionReused: reused})
	}
	literal := engineOf(t, chatConfig(), trace(0, 3*ms, 0)).Results()
	scalar(t, literal, "http_req_dns_lookup", 0)
	scalar(t, literal, "http_req_connecting", 3)
	scalar(t, literal, "http_req_connection_reused", 0)
	reused := engineOf(t, chatConfig(), trace(0, 0, 1)).Results()
	scalar(t, reused, "http_req_connecting", 0)
	scalar(t, reused, "http_req_connection_reused", 1)
	scalar(t, reused, "http_req_connection_overhead", 0)
}

func TestTrapBodyChunks(t *testing.T) {
	body := func(waiting, receiving int64) []Metric {
		return engineOf(t, chatConfig(), with(success(0, 90*ms, 40*ms), map[record.Field]int64{
			record.Blocked: 0, record.DNSLookup: 0, record.Connecting: 0, record.Sending: ms, record.Waiting: waiting,
			record.Receiving: receiving, record.TraceDuration: 40 * ms})).Results()
	}
	single := body(39*ms, 0)
	scalar(t, single, "http_req_receiving", 0)
	scalar(t, single, "http_req_total", 40)
	none := body(record.Absent, record.Absent)
	absent(t, none, "http_req_receiving", "http_req_total", "http_req_waiting")
	scalar(t, none, "http_req_duration", 40)
}

func TestTrapEmbeddingsHaveNoTokenAndNoStreamingMetrics(t *testing.T) {
	cfg := DefaultConfig()
	cfg.TokenizesInput = true
	set := mustSet(t, cfg)
	for _, d := range set.Definitions() {
		if d.Flags&(StreamingOnly|ProducesTokensOnly) != 0 {
			t.Errorf("%s applies to embeddings", d.Tag)
		}
	}
	r := with(success(0, 40*ms, 40*ms),
		map[record.Field]int64{record.InputTokens: 7, record.UsagePrompt: 7, record.UsageTotal: 7})
	results := engineOf(t, cfg, r).Results()
	scalar(t, results, "input_sequence_length", 7)
	scalar(t, results, "usage_prompt_tokens", 7)
	scalar(t, results, "request_latency", 40)
	scalar(t, results, "request_count", 1)
	absent(t, results, "time_to_first_token", "usage_total_tokens", "output_sequence_length", "usage_discrepancy_count")
}

func TestTrapServerCountsClampedAtZero(t *testing.T) {
	cfg := chatConfig()
	cfg.UseServerTokens = true
	r := with(success(0, 90*ms, 40*ms), map[record.Field]int64{record.OutputTokens: 0, record.ReasoningTokens: 8,
		record.InputTokens: 10, record.UsagePrompt: 12, record.UsageCompletion: 5})
	results := engineOf(t, cfg, r).Results()
	scalar(t, results, "output_sequence_length", 8)
	absent(t, results, "output_token_count", "usage_prompt_tokens_diff_pct", "usage_completion_tokens_diff_pct",
		"usage_discrepancy_count")
}

func TestTrapScalarsCarryOnlyTheirValue(t *testing.T) {
	for _, r := range engineOf(t, chatConfig(), worked()...).Results() {
		d, _ := Lookup(r.Tag)
		if scalar := d.Kind == KindAggregate || d.Kind == KindDerived; r.Distribution == scalar {
			t.Errorf("%s (%s): distribution = %v", r.Tag, d.Kind, r.Distribution)
		}
		if only := (Stats{Avg: r.Stats.Avg}); !r.Distribution && (r.Stats != only || r.Method != "") {
			t.Errorf("%s carries more than its value: %+v", r.Tag, r)
		}
	}
}
