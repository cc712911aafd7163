package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/dataset"
	"aiperf/internal/dataset/compose"
	"aiperf/internal/mockserver"
	"aiperf/internal/random"
	"aiperf/internal/tokenizer"
)

// A run over rows that stay in their file sends what a run over rows in memory sends, at a concurrency and by a schedule.
func TestARunOverAFileSendsWhatARunOverMemorySends(t *testing.T) {
	var single, talk, trace, chats strings.Builder
	for i := range 12 {
		fmt.Fprintf(&single, `{"session_id":"s%d","text":"row %d"}`+"\n", i/3, i)
		fmt.Fprintf(&talk, `{"turns":[{"text":"a %d"},{"text":"b","output_length":2}]}`+"\n", i)
		fmt.Fprintf(&trace, `{"session_id":"s%d","timestamp":%d,"input_length":5,"output_length":2}`+"\n", i/2, 3*i)
		fmt.Fprintf(&chats, `{"chat_id":%d,"parent_chat_id":%d,"timestamp":0.0%d,"input_length":20,"output_length":1,"turn":%d,"hash_ids":[%d,%d]}`+"\n", i, i-1+2*(i%2)-2, i%10, i%2, i, i+1)
	}
	for _, c := range []struct{ name, format, rows, flags string }{
		{"turns alone", "single_turn", single.String(), "--num-sessions 4 --concurrency 1"},
		{"conversations", "multi_turn", talk.String(), "--num-sessions 12 --concurrency 1"},
		{"more sessions than conversations", "multi_turn", talk.String(), "--num-sessions 20 --concurrency 1"},
		{"a schedule", "mooncake_trace", trace.String(), "--fixed-schedule"},
		{"chats", "bailian_trace", chats.String(), "--fixed-schedule"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := traceFile(t, "rows.jsonl", c.rows)
			sent := map[bool][]string{}
			for _, stored := range []bool{false, true} {
				o := compose.Options{Kind: compose.File, Path: path, Format: c.format, Models: []string{"m"}, Seed: random.Root(5)}
				o.Reading.Scheduled = c.flags == "--fixed-schedule"
				if stored {
					o.Reading.IndexFrom = 1
				}
				data, _, err := compose.Build(context.Background(), o, tokenizer.Builtin())
				if err != nil || (data.Store != nil) != stored {
					t.Fatalf("stored %v: %v", stored, err)
				}
				sent[stored] = sentBy(t, data, append([]string{"--input-file", path, "--custom-dataset-type", c.format}, strings.Fields(c.flags)...))
			}
			if len(sent[true]) < 12 || !slices.Equal(sent[false], sent[true]) {
				t.Errorf("from memory\n%s\nfrom the file\n%s", strings.Join(sent[false], "\n"), strings.Join(sent[true], "\n"))
			}
		})
	}
}

// sentBy are the bodies of a run, sorted: a schedule may send those of one instant in any order.
func sentBy(t *testing.T, data *dataset.Dataset, args []string) []string {
	t.Helper()
	url, arrivals := recordedServer(t, mockserver.Options{Fast: true})
	outcome, log, err := executeOn(t, data, t.TempDir(), url, args...)
	if err != nil || outcome.Problem != nil || outcome.Result.Counts.Errors > 0 {
		t.Fatalf("%v %s", err, log)
	}
	var bodies []string
	for _, a := range arrivals() {
		bodies = append(bodies, a.Body)
	}
	slices.Sort(bodies)
	return bodies
}
