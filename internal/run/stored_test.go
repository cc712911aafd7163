package run

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/testkit"
	"aiperf/internal/mockserver"
	"aiperf/internal/view/runlog"
	"aiperf/internal/workload/tokenizer"
)

// storedRows are files of every format whose rows may stay on disk, by format.
func storedRows() map[string]string {
	rows := map[string]*strings.Builder{}
	add := func(format, line string, args ...any) {
		if rows[format] == nil {
			rows[format] = &strings.Builder{}
		}
		fmt.Fprintf(rows[format], line+"\n", args...)
	}
	add("burst_gpt_trace", "Timestamp,Model,Request tokens,Response tokens")
	for i := range 12 {
		add("single_turn", `{"session_id":"s%d","text":"row %d","timestamp":%d}`, i/3, i, i)
		add("multi_turn", `{"turns":[{"text":"a %d","timestamp":%d},{"text":"b","output_length":2,"delay":1}]}`, i, i%5)
		add("mooncake_trace", `{"session_id":"s%d","timestamp":%d,"input_length":%d,"output_length":2,"hash_ids":[%d]}`,
			i/2, 3*i, 5+i, i%3)
		add("bailian_trace", `{"chat_id":%d,"parent_chat_id":%d,"timestamp":0.0%d,"input_length":20,"output_length":1,"turn":%d,"hash_ids":[%d,%d]}`,
			i, i-1+2*(i%2)-2, i%10, i%2, i, i+1)
		add("burst_gpt_trace", "0.0%d,m,%d,2", i%10, 4+i)
		add("raw_payload", `{"model":"m","messages":[{"role":"user","content":"payload %d"}],"max_tokens":2}`, i)
		add("sagemaker_data_capture", `{"captureData":{"endpointInput":{"encoding":"JSON","data":"{\"messages\":[{\"role\":\"user\",\"content\":\"c %d\"}]}"},`+
			`"endpointOutput":{"encoding":"JSON","data":"{\"usage\":{\"prompt_tokens\":3}}"}},"eventMetadata":{"eventId":"%d","inferenceTime":"2025-01-01T00:00:00.%03dZ"}}`, i, i, i*7%12)
		add("messages", `{"session_id":"m%d","messages":[{"role":"user","content":"said %d"}],"timestamp":%d,"output_length":2}`, i/2, i, i)
	}
	out := map[string]string{}
	for format, text := range rows {
		out[format] = text.String()
	}
	return out
}

// A run over rows that stay in their file sends what a run over rows in memory sends, writes the same inputs.json and
// counts the same tokens, however its load is made.
func TestARunOverAFileSendsWhatARunOverMemorySends(t *testing.T) {
	t.Parallel()
	rows := storedRows()
	begun := map[string]bool{}
	for _, c := range []struct{ format, flags string }{
		{"single_turn", "--num-sessions 4 --concurrency 1"},
		{"single_turn", "--request-count 12 --concurrency 1 --warmup-request-count 3 --endpoint-type embeddings"},
		{"single_turn", "--fixed-schedule"},
		{"multi_turn", "--num-sessions 12 --concurrency 3"},
		{"multi_turn", "--num-sessions 20 --concurrency 1"},
		{"multi_turn", "--num-sessions 20 --concurrency 1 --dataset-sampling-strategy random"},
		{"multi_turn", "--num-sessions 20 --concurrency 1 --dataset-sampling-strategy shuffle --prefill-concurrency " +
			"1 --streaming"},
		{"multi_turn", "--num-sessions 12 --request-rate 2000 --num-warmup-sessions 2 --warmup-concurrency 1"},
		{"multi_turn", "--num-sessions 12 --user-centric-rate 800 --num-users 4"},
		{"multi_turn", "--num-sessions 12 --concurrency 2 --shared-system-prompt-length 5 " +
			"--user-context-prompt-length 6 --num-dataset-entries 12"},
		{"multi_turn", "--num-sessions 12 --concurrency 2 --osl 7 --osl-stddev 2 --tokenizer builtin --model " +
			"mock-model,other --model-selection-strategy random"},
		{"multi_turn", "--num-sessions 12 --concurrency 2 --tokenizer builtin --model mock-model,other " +
			"--use-server-token-count"},
		{"multi_turn", "--fixed-schedule --fixed-schedule-start-offset 1 --fixed-schedule-end-offset 3"},
		{"mooncake_trace", "--fixed-schedule"},
		{"mooncake_trace", "--fixed-schedule --synthesis-speedup-ratio 2 --synthesis-max-osl 1 --synthesis-max-isl 12"},
		{"mooncake_trace", "--ignore-trace-delays --num-sessions 6 --concurrency 2"},
		{"mooncake_trace", "--no-fixed-schedule --request-rate 1000 --request-rate-mode constant --num-sessions 6 " +
			"--cache-bust first_turn_prefix"},
		{"bailian_trace", "--fixed-schedule"},
		{"burst_gpt_trace", "--fixed-schedule"},
		{"raw_payload", "--endpoint-type raw --request-count 12 --concurrency 2 --custom-endpoint " +
			"/v1/chat/completions"},
		{"sagemaker_data_capture", "--fixed-schedule"},
		{"messages", "--fixed-schedule"},
		{"messages", "--num-sessions 6 --concurrency 2"},
	} {
		if begun[c.format] && !testkit.Full() {
			continue // one of each format
		}
		begun[c.format] = true
		t.Run(c.format+" "+c.flags, func(t *testing.T) {
			t.Parallel()
			path := traceFile(t, "rows.jsonl", strings.TrimSuffix(rows[c.format], "\n"))
			format := c.format
			if format == "messages" {
				format = "mooncake_trace"
			}
			args := append([]string{"--input-file", path, "--custom-dataset-type", format, "--random-seed", "5"},
				strings.Fields(c.flags)...)
			memory, file := sentFrom(t, 0, args), sentFrom(t, 1, args)
			if len(memory) < 7 || !slices.Equal(memory, file) {
				t.Errorf("from memory\n%s\nfrom the file\n%s", strings.Join(memory, "\n"), strings.Join(file, "\n"))
			}
		})
	}
}

// sentFrom are the bodies of a run whose file stays on disk from a size on, sorted: those of one instant go in any
// order. Behind them are inputs.json and the numbers of requests and of input tokens.
func sentFrom(t *testing.T, indexFrom int64, args []string) []string {
	t.Helper()
	url, arrivals := recordedServer(t, mockserver.Options{Fast: true})
	dir := t.TempDir()
	var lines bytes.Buffer
	o := Options{Version: "test", Log: runlog.New(runlog.Options{Console: &lines})}
	defer o.Log.Close()
	e := newExecution(newBase(resolveBare(t, dir, url, args...), o, clock.New()))
	e.id, e.content.tokenizer, e.content.indexFrom = "id", tokenizer.Builtin(), indexFrom
	defer e.close()
	if err := untilStopped(context.Background(), e.options.Stop, e.prepare); err != nil {
		t.Fatalf("%v %s", err, lines.String())
	}
	if inMemory := e.content.data.InMemory() != nil; inMemory == (indexFrom > 0) {
		t.Fatalf("an index from %d: in memory %v", indexFrom, inMemory)
	}
	phases, err := e.generate(context.Background())
	if err != nil {
		t.Fatalf("%v %s", err, lines.String())
	}
	outcome, err := e.finish(phases)
	if err != nil || outcome.Problem != nil || outcome.Result.Counts.Errors > 0 {
		t.Fatalf("%v %+v %s", err, outcome, lines.String())
	}
	var list []string
	for _, a := range arrivals() {
		list = append(list, a.Body)
	}
	slices.Sort(list)
	inputs, err := os.ReadFile(filepath.Join(dir, "inputs.json"))
	if err != nil {
		t.Fatal(err)
	}
	figures := summaryOf(t, dir)
	return append(list, string(inputs),
		fmt.Sprint(outcome.Result.Counts.Successes, at(figures, "total_isl", "avg"),
			at(figures, "input_sequence_length", "avg")))
}
