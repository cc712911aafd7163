package metrics

import (
	"encoding/json"
	"strings"
	"testing"

	"aiperf/internal/measure/record"
)

func TestRecordLine(t *testing.T) {
	cfg := chatConfig()
	cfg.SLOs = []SLO{{"request_latency", 300}}
	r := with(worked()[0], map[record.Field]int64{record.BytesSent: 512, record.Sending: 250_000})
	want := `{"time_to_first_token":{"value":100.0,"unit":"ms"},` +
		`"time_to_second_token":{"value":50.0,"unit":"ms"},` +
		`"time_to_first_output_token":{"value":100.0,"unit":"ms"},` +
		`"decode_duration":{"value":200.0,"unit":"ms"},` +
		`"full_decode_duration":{"value":205.0,"unit":"ms"},` +
		`"inter_token_latency":{"value":22.22222222222222,"unit":"ms"},` +
		`"full_response_inter_token_latency":{"value":22.777777777777775,"unit":"ms"},` +
		`"inter_chunk_latency":{"value":[50.0,60.0,90.0],"unit":"ms"},` +
		`"output_token_throughput_per_user":{"value":44.99999999999999,"unit":"tokens/sec/user"},` +
		`"full_response_output_token_throughput_per_user":{"value":43.90243902439024,"unit":"tokens/sec/user"},` +
		`"prefill_throughput_per_user":{"value":1000.0,"unit":"tokens/sec/user"},` +
		`"output_token_count":{"value":10,"unit":"tokens"},` +
		`"output_sequence_length":{"value":10,"unit":"tokens"},` +
		`"input_sequence_length":{"value":100,"unit":"tokens"},` +
		`"e2e_output_token_throughput":{"value":33.33333333333333,"unit":"tokens/sec/user"},` +
		`"usage_prompt_tokens":{"value":105,"unit":"tokens"},` +
		`"usage_completion_tokens":{"value":10,"unit":"tokens"},` +
		`"usage_prompt_tokens_diff_pct":{"value":5.0,"unit":"%"},` +
		`"usage_completion_tokens_diff_pct":{"value":0.0,"unit":"%"},` +
		`"osl_mismatch_diff_pct":{"value":0.0,"unit":"%"},` +
		`"request_latency":{"value":300.0,"unit":"ms"},` +
		`"good_request_count":{"value":1,"unit":"requests"},` +
		`"http_req_sending":{"value":0.25,"unit":"ms"},` +
		`"http_req_data_sent":{"value":512,"unit":"B"}}`
	got := string(mustSet(t, cfg).AppendRecordMetrics([]byte("x"), r))
	if got != "x"+want {
		t.Errorf("got\n%s\nwant\n%s", strings.ReplaceAll(got, "},", "},\n"), strings.ReplaceAll(want, "},", "},\n"))
	}
	if !json.Valid([]byte(want)) {
		t.Error("the expected line is no JSON")
	}
}

func TestTrapFailedRecordLine(t *testing.T) {
	set := mustSet(t, chatConfig())
	if got := string(set.AppendRecordMetrics(nil, worked()[3])); got != `{"error_isl":{"value":40,"unit":"tokens"}}` {
		t.Errorf("got %s", got)
	}
	if got := string(set.AppendRecordMetrics(nil, failure(0, 1, record.Error{}))); got != "{}" {
		t.Errorf("without input tokens: %s, want {}", got)
	}
}

func TestRecordLineTakesNoMemory(t *testing.T) {
	set := mustSet(t, chatConfig())
	r := worked()[0]
	line := set.AppendRecordMetrics(nil, r)
	if n := testing.AllocsPerRun(20, func() { line = set.AppendRecordMetrics(line[:0], r) }); n != 0 {
		t.Errorf("%v allocations a line", n)
	}
}
