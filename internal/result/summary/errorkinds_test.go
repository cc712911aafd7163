package summary_test

import (
	"fmt"
	"slices"
	"testing"

	"aiperf/internal/measure/record"
	"aiperf/internal/result/summary"
)

func TestErrorKinds(t *testing.T) {
	coded := func(code int, kind, message string, n int64) summary.ErrorCount {
		return summary.ErrorCount{Error: record.Error{Code: code, HasCode: true, Type: kind, Message: message}, Count: n}
	}
	plain := func(kind, message string, n int64) summary.ErrorCount {
		return summary.ErrorCount{Error: record.Error{Type: kind, Message: message}, Count: n}
	}
	const full = `{"error":{"message":"The queue is full: 8 waiting.","type":"overloaded","code":503}}`
	for _, c := range []struct {
		name string
		list []summary.ErrorCount
		want []string
	}{
		{"none", nil, nil},
		{"positions", []summary.ErrorCount{
			coded(400, "Bad Request", "bad body at line 1 column 953", 2),
			coded(500, "Internal Server Error", "boom", 1),
			coded(400, "Bad Request", "bad body at line 1 column 17", 3)},
			[]string{"5 bad body at line 1 column 953 (2 texts that differ in numbers, ids or form)", "1 boom "}},
		{"ids", []summary.ErrorCount{
			coded(500, "E", "request chatcmpl-9f3ab2c4d5e6f7 failed", 1),
			coded(500, "E", "request chatcmpl-0123456789abcdef failed", 1),
			coded(500, "E", "job 123e4567-e89b-12d3-a456-426614174000 is gone", 1),
			coded(500, "E", "job abcdefab-cdef-abcd-efab-cdefabcdefab is gone", 1)},
			[]string{"2 request chatcmpl-9f3ab2c4d5e6f7 failed (2 texts that differ in numbers, ids or form)",
				"2 job 123e4567-e89b-12d3-a456-426614174000 is gone (2 texts that differ in numbers, ids or form)"}},
		{"decimals", []summary.ErrorCount{plain("E", "no reply in 3 s", 1), plain("E", "no reply in 2.5 s", 1)},
			[]string{"2 no reply in 3 s (2 texts that differ in numbers, ids or form)"}},
		{"ports", []summary.ErrorCount{plain("E", "127.0.0.1:40001: reset", 1), plain("E", "127.0.0.1:40002: reset", 1)},
			[]string{"2 127.0.0.1:40001: reset (2 texts that differ in numbers, ids or form)"}},
		{"a body, and the same as an error of a stream", []summary.ErrorCount{
			coded(503, "Service Unavailable", full, 91),
			coded(503, "overloaded", "The queue is full: 8 waiting.", 89)},
			[]string{"180 " + full + " (2 texts that differ in numbers, ids or form)"}},
		{"an event of a stream before the body", []summary.ErrorCount{
			coded(502, "SSEResponseError", "Error occurred in SSE response: The queue is full: 7 waiting.", 2),
			coded(503, "Service Unavailable", full, 3)},
			[]string{"5 Error occurred in SSE response: The queue is full: 7 waiting. (2 texts that differ in numbers, " +
				"ids or form)"}},
		{"codes", []summary.ErrorCount{coded(503, "E", "busy", 1), coded(529, "E", "busy", 1)}, []string{"1 busy ", "1 busy "}},
		{"types without a code", []summary.ErrorCount{plain("A", "gone", 1), plain("B", "gone", 1)},
			[]string{"1 gone ", "1 gone "}},
		{"words", []summary.ErrorCount{coded(500, "E", "boom", 1), coded(500, "E", "bang", 1)}, []string{"1 boom ", "1 bang "}},
		{"no text", []summary.ErrorCount{coded(500, "A", "", 1), coded(500, "B", "", 2)}, []string{"1  ", "2  "}},
	} {
		var got []string
		total, all := int64(0), int64(0)
		for _, e := range c.list {
			all += e.Count
		}
		for _, k := range summary.ErrorKinds(c.list) {
			got = append(got, fmt.Sprintf("%d %s %s", k.Count, k.Error.Message, k.Texts()))
			total += k.Count
		}
		if !slices.Equal(got, c.want) || total != all {
			t.Errorf("%s: %q, %d of %d", c.name, got, total, all)
		}
	}
}
