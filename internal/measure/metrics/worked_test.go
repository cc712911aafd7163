package metrics

import (
	"slices"
	"testing"

	"aiperf/internal/measure/record"
)

// The distributions of the worked example: avg, std, p50, p90, p99 in display units. The expected
// numbers come from closed forms of the same facts, so they can be held to 1e-9.
func TestWorkedExampleDistributions(t *testing.T) {
	results := engineOf(t, chatConfig(), worked()...).Results()
	for _, c := range []struct {
		tag     string
		unit    string
		values  [3]float64 // records A, B, C
		printed [5]float64 // avg, std, p50, p90, p99 as the reference prints them
	}{
		{"time_to_first_token", "ms", [3]float64{100, 120, 80}, [5]float64{100, 16.329932, 100, 116, 119.6}},
		{"time_to_second_token", "ms", [3]float64{50, 20, 20}, [5]float64{30, 14.142136, 20, 44, 49.4}},
		{"time_to_first_output_token", "ms", [3]float64{100, 120, 180},
			[5]float64{133.333333, 33.993463, 120, 168, 178.8}},
		{"request_latency", "ms", [3]float64{300, 200, 330}, [5]float64{276.666667, 55.577773, 300, 324, 329.4}},
		{"decode_duration", "ms", [3]float64{200, 80, 250}, [5]float64{176.666667, 71.336449, 200, 240, 249}},
		{"full_decode_duration", "ms", [3]float64{205, 90, 250}, [5]float64{181.666667, 67.371276, 205, 241, 249.1}},
		{"inter_token_latency", "ms", [3]float64{200. / 9, 80. / 19, 250. / 17},
			[5]float64{13.712877, 7.386693, 14.705882, 20.718954, 22.071895}},
		{"full_response_inter_token_latency", "ms", [3]float64{205. / 9, 90. / 19, 250. / 17},
			[5]float64{14.073501, 7.378743, 14.705882, 21.163399, 22.61634}},
		{"output_token_throughput_per_user", "tokens/sec/user", [3]float64{45, 237.5, 68},
			[5]float64{116.833333, 85.83932, 68, 203.6, 234.11}},
		{"e2e_output_token_throughput", "tokens/sec/user", [3]float64{100. / 3, 100, 600. / 11},
			[5]float64{62.626263, 27.809899, 54.545455, 90.909091, 99.090909}},
		{"prefill_throughput_per_user", "tokens/sec/user", [3]float64{1000, 5000. / 3, 625},
			[5]float64{1097.222222, 430.779512, 1000, 1533.333333, 1653.333333}},
		{"output_token_count", "tokens", [3]float64{10, 20, 12}, [5]float64{14, 4.320494, 12, 18.4, 19.84}},
		{"output_sequence_length", "tokens", [3]float64{10, 20, 18}, [5]float64{16, 4.320494, 18, 19.6, 19.96}},
		{"input_sequence_length", "tokens", [3]float64{100, 200, 50}, [5]float64{116.666667, 62.360956, 100, 180, 198}},
		{"usage_prompt_tokens_diff_pct", "%", [3]float64{5, 0, 0}, [5]float64{1.666667, 2.357023, 0, 4, 4.9}},
		{"usage_completion_tokens_diff_pct", "%", [3]float64{0, 15, 0}, [5]float64{5, 7.071068, 0, 12, 14.7}},
		{"osl_mismatch_diff_pct", "%", [3]float64{0, -20, 0}, [5]float64{-6.666667, 9.42809, 0, 0, 0}},
	} {
		t.Run(c.tag, func(t *testing.T) {
			got := found(t, results, c.tag)
			if got.Unit != c.unit || !got.Distribution || got.Stats.Count != 3 || got.Method != MethodExact {
				t.Errorf("unit %q, distribution %v, count %d, method %s", got.Unit, got.Distribution, got.Stats.Count,
					got.Method)
			}
			want := closedForm(c.values)
			if !near(got.Stats.Sum, want.Sum) || !near(got.Stats.Avg, want.Avg) || !near(got.Stats.Std, want.Std) ||
				!near(got.Stats.Min, want.Min) || !near(got.Stats.Max, want.Max) ||
				!slices.EqualFunc(got.Stats.Percentiles[:], want.Percentiles[:], near) {
				t.Errorf("got  %+v\nwant %+v", got.Stats, want)
			}
			figures := [5]float64{got.Stats.Avg, got.Stats.Std, got.Stats.Percentiles[4], got.Stats.Percentiles[6],
				got.Stats.Percentiles[8]}
			if !slices.EqualFunc(figures[:], c.printed[:], printed) {
				t.Errorf("avg, std, p50, p90, p99 = %v, the reference prints %v", figures, c.printed)
			}
		})
	}
}

func TestWorkedExampleReasoning(t *testing.T) {
	got := found(t, engineOf(t, chatConfig(), worked()...).Results(), "reasoning_token_count").Stats
	if got.Count != 1 || got.Avg != 6 || got.Std != 0 || got.Min != 6 || got.Max != 6 ||
		got.Percentiles != [9]float64{6, 6, 6, 6, 6, 6, 6, 6, 6} {
		t.Errorf("got %+v, want six everywhere, std 0, count 1", got)
	}
}

func TestWorkedExampleScalars(t *testing.T) {
	results := engineOf(t, chatConfig(), worked()...).Results()
	for tag, want := range map[string]float64{
		"request_count":                 3,
		"error_request_count":           1,
		"benchmark_duration":            0.73,
		"request_throughput":            3 / 0.73,
		"total_osl":                     48,
		"total_isl":                     350,
		"total_output_tokens":           42,
		"total_reasoning_tokens":        6,
		"output_token_throughput":       48 / 0.73,
		"input_token_throughput":        350 / 0.73,
		"total_token_throughput":        398 / 0.73,
		"total_error_isl":               40,
		"total_usage_prompt_tokens":     355,
		"total_usage_completion_tokens": 51,
		"osl_mismatch_count":            1,
		"usage_discrepancy_count":       1,
		"completed_request_count":       4,
		"request_error_rate":            25,
	} {
		scalar(t, results, tag, want)
	}
	if got := found(t, results, "error_isl").Stats; got.Count != 1 || got.Avg != 40 {
		t.Errorf("error_isl = %+v, want 40 once", got)
	}
	if got := found(t, results, "error_latency").Stats; got.Count != 1 || got.Avg != 10 {
		t.Errorf("error_latency = %+v, want 10 ms once", got)
	}
}

func TestWorkedExampleGoodput(t *testing.T) {
	cfg := chatConfig()
	cfg.SLOs = []SLO{{"time_to_first_token", 100}, {"inter_token_latency", 15}}
	results := engineOf(t, cfg, worked()...).Results()
	scalar(t, results, "good_request_count", 1)
	scalar(t, results, "goodput", 1/0.73)
	scalar(t, results, "good_request_fraction", 0.25)
	set := mustSet(t, cfg)
	for i, want := range []int64{0, 0, 1, record.Absent} {
		r := worked()[i]
		set.Judge(r)
		if got := r.Facts[record.Good]; got != want {
			t.Errorf("record %c: good = %d, want %d", 'A'+i, got, want)
		}
	}
}

func TestWorkedExampleHTTPTrace(t *testing.T) {
	r := with(worked()[0], map[record.Field]int64{
		record.Blocked: 0, record.DNSLookup: 1_200_000, record.Connecting: 3_400_000, record.Sending: 250_000,
		record.Waiting: 45_000_000, record.Receiving: 300_000_000, record.TraceDuration: 345_250_000,
		record.ConnectionReused: 0, record.BytesSent: 512, record.ChunksSent: 1,
		record.BytesReceived: 2048, record.ChunksReceived: 4,
	})
	results := engineOf(t, chatConfig(), r).Results()
	for tag, want := range map[string]float64{
		"http_req_blocked": 0, "http_req_dns_lookup": 1.2, "http_req_connecting": 3.4, "http_req_sending": 0.25,
		"http_req_waiting": 45, "http_req_receiving": 300, "http_req_duration": 345.25,
		"http_req_connection_overhead": 4.6, "http_req_total": 349.85,
		"http_req_connection_reused": 0, "http_req_data_sent": 512, "http_req_chunks_sent": 1,
		"http_req_data_received": 2048, "http_req_chunks_received": 4,
	} {
		scalar(t, results, tag, want)
	}
	if got := found(t, results, "http_req_data_received").Unit; got != "B" {
		t.Errorf("http_req_data_received in %q, want B", got)
	}
}

// closedForm describes three values by the definitions alone.
func closedForm(v [3]float64) Stats {
	sorted := v
	slices.Sort(sorted[:])
	s := Stats{Count: 3, Min: sorted[0], Max: sorted[2], Sum: v[0] + v[1] + v[2]}
	s.Avg = s.Sum / 3
	s.Std = populationStd(v[:], s.Avg)
	for i, q := range PercentileRanks {
		h := q / 100 * 2
		lo := int(h)
		s.Percentiles[i] = sorted[lo] + (h-float64(lo))*(sorted[lo+1]-sorted[lo])
	}
	return s
}
