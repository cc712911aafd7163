package loader

import (
	"context"
	"testing"
)

// Each export is a file as its tool writes it, made for this test, and is recognised by what it holds.
func TestExportsOfOtherTools(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"a batch", "batch.jsonl",
			`{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":7}}`,
			"openai_batch (given→7) "},
		{"Langfuse, JSON Lines", "observations.jsonl",
			`{"id":"2","traceId":"t","type":"GENERATION","startTime":"2026-11-01T10:00:01.000Z","input":[{"role":"user","content":"b"}],"usageDetails":{"input":4,"output":6}}` + "\n" +
				`{"id":"1","traceId":"t","sessionId":"s","type":"GENERATION","startTime":"2026-11-01T10:00:00.000Z","input":{"messages":[{"role":"system","content":"x"},{"role":"user","content":"a"}]},"usage":{"output":0}}` + "\n" +
				`{"id":"0","traceId":"t","type":"SPAN","startTime":"2026-11-01T10:00:00.000Z","input":"no call"}`,
			`langfuse s(given→1@1.7935272e+12) t(given→6@1.793527201e+12) {"content":"x","role":"system"}|{"content":"a","role":"user"}|{"content":"b","role":"user"}`},
		{"Langfuse without content", "o.json",
			`[{"traceId":"t","type":"GENERATION","startTime":"2026-11-01T10:00:00Z","input":null,"usage":{"input":11,"output":3}}]`,
			"langfuse t(11→3@1.7935272e+12) "},
		{"LangSmith", "runs.json",
			"[\n{\"id\":\"1\",\"trace_id\":\"t\",\"run_type\":\"llm\",\"start_time\":\"2026-11-01T10:00:00.5\",\"completion_tokens\":9," +
				`"inputs":{"messages":[[{"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],"kwargs":{"content":"a","type":"human"}},` +
				`{"id":["langchain","schema","messages","AIMessage"],"kwargs":{"content":"b"}}]]}},` +
				`{"id":"2","run_type":"chain","start_time":"2026-11-01T10:00:00","inputs":{"q":"x"}}]`,
			`langsmith t(given→9@1.7935272005e+12) {"content":"a","role":"user"}`},
		{"OpenTelemetry, lengths", "spans.jsonl",
			`{"resourceSpans":[{"scopeSpans":[{"spans":[` +
				`{"traceId":"t1","name":"chat m","startTimeUnixNano":"1793527200000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":"12"}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":5}}]},` +
				`{"traceId":"t1","name":"execute_tool","startTimeUnixNano":"1793527200000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}}]}]}]}]}`,
			"otel_spans t1(12→5@1.7935272e+12) "},
		{"OpenTelemetry, messages", "spans.json",
			"{\n\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[" +
				`{"traceId":"t","startTimeUnixNano":1793527200000000000,"attributes":[{"key":"gen_ai.conversation.id","value":{"stringValue":"c"}},{"key":"gen_ai.input.messages","value":{"stringValue":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"a\"}]}]"}}]},` +
				`{"traceId":"t","startTimeUnixNano":1793527200001000000,"attributes":[{"key":"gen_ai.prompt.0.role","value":{"stringValue":"user"}},{"key":"gen_ai.prompt.0.content","value":{"stringValue":"b"}},{"key":"gen_ai.usage.completion_tokens","value":{"intValue":2}}]}]}]}]}`,
			`otel_spans c(given@1.7935272e+12) t(given→2@1.793527200001e+12) {"content":"a","role":"user"}|{"content":"b","role":"user"}`},
		{"an archive of a browser", "site.har",
			`{"log":{"version":"1.2","entries":[{"startedDateTime":"2026-11-01T10:00:00.250Z","request":{"method":"POST"}},{"startedDateTime":"2026-11-01T11:00:00.000+01:00"}]}}`,
			"har (0@1.7935272e+12) (0@1.79352720025e+12) "},
		{"a log of nginx", "access.log",
			`10.0.0.1 - - [01/Nov/2026:10:00:01 +0000] "POST /v1/chat/completions HTTP/1.1" 200 512 "-" "curl/8.0"` + "\n" +
				`10.0.0.1 - bob [01/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 304 0 "-" "a \"b\""` + "\nnot a line\n",
			"access_log (0@1.7935272e+12) (0@1.793527201e+12) "},
	} {
		r, err := Load(context.Background(), write(t, c.file, c.text), "")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		same(t, c.name, described(r), c.want)
	}
}

// A log in JSON is the shape of a load when the user says that it is a table.
func TestLogsInJSONAreShapesOfLoad(t *testing.T) {
	r, err := Load(context.Background(), write(t, "a.jsonl", `{"time_iso8601":"2026-11-01T10:00:00+00:00","request":"POST / HTTP/1.1"}`), "table")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "nginx", described(r), "table (0@1.7935272e+12) ")
}
