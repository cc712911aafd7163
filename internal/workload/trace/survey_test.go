package trace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/workload/loader"
	"aiperf/internal/workload/trace"
)

// words counts words, as a tokenizer would count tokens.
func words(text string) int { return len(strings.Fields(text)) }

// Each way to say what is sent is counted: planned lengths, texts, messages with parts, whole bodies.
func TestSurveyCountsWhatIsSent(t *testing.T) {
	for _, c := range []struct{ text, input, output, times string }{
		{`{"input_length":5,"output_length":2,"timestamp":0}` + "\n" + `{"input_length":15,"timestamp":4000}`, "5 to 15, mean 10", "1", "2 over 4 s"},
		{`{"text":"a b c"}`, "3 to 3, mean 3", "0", ""},
		{`{"messages":[{"role":"user","content":[{"type":"text","text":"a b"}]}],"timestamp":1}`, "2 to 2, mean 2", "0", "1 over 0 s"},
		{`{"model":"m","messages":[{"role":"user","content":"a"},{"role":"user","content":"b c"}],"max_tokens":9}`, "3 to 3, mean 3", "1", ""},
		{`{"turns":[{"text":"a"},{"text":"b c d"}]}`, "1 to 3, mean 2", "0", ""},
	} {
		path := filepath.Join(t.TempDir(), "d.jsonl")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := loader.Load(context.Background(), path, "")
		if err != nil {
			t.Fatal(err)
		}
		s := trace.Look(r.Dataset, words)
		output, times := 0, ""
		if s.Output != nil {
			output = s.Output.Count
		}
		if s.Times != nil {
			times = fmt.Sprintf("%d over %v s", s.Times.Timed, s.Times.SpanSeconds)
		}
		input := fmt.Sprintf("%v to %v, mean %v", s.Input.Min, s.Input.Max, s.Input.Mean)
		if input != c.input || fmt.Sprint(output) != c.output || times != c.times {
			t.Errorf("%s: %s; %d with a limit; %s", c.text, input, output, times)
		}
		if _, err := json.Marshal(s); err != nil {
			t.Error(err)
		}
	}
}
