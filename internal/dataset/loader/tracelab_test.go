package loader

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"aiperf/internal/dataset"
)

func roundRow(session string, index, prefix, added, output int, events string) string {
	return fmt.Sprintf(`{"provider":"claude","session_id":%q,"round_index":%d,"model":"m","input_tokens_total":%d,"prefix_tokens":%d,"newly_append_tokens":%d,"output_tokens":%d,"tools":[],"timing_events":[%s]}`+"\n",
		session, index, prefix+added, prefix, added, output, events)
}

func event(kind, at string) string {
	return fmt.Sprintf(`{"event_type":%q,"timestamp":"2026-03-01T00:00:%sZ"}`, kind, at)
}

// A round's prompt begins with the blocks of the one before as far as its prefix goes; times count from the first round of
// its session, when all its input is there.
func TestTraceLab(t *testing.T) {
	rows := roundRow("a", 1, 320, 100, 7, event("tool_result", "10.300")+","+event("text", "10.4")) +
		roundRow("b", 0, 200, 200, 9, event("text", "30")) +
		roundRow("a", 0, 0, 300, 20, event("user_message", "10.000")+","+event("user_message", "10.100")+","+event("text", "10.2")+","+event("tool_result", "10.25")) +
		roundRow("a", 2, 130, 70, 0, event("tool_result", "10.9"))
	r := loadWith(t, rows, "tracelab", Options{Scheduled: true})
	same(t, "rounds", shape(r.Dataset), "a(300[0 1 2 3 4]→20@0 420[0 1 2 3 4 5 6]→7@200 200[0 1 7 8]→1@800) b(400[9 10 11 12 13 14 15]→9@0)")
	if c := &r.Dataset.Conversations[0]; r.Dataset.Mode(c) != dataset.MessageArrayWithResponses {
		t.Errorf("mode %s", r.Dataset.Mode(c))
	}
	for row, want := range map[string]string{
		strings.Replace(rows, `"input_tokens_total":420`, `"input_tokens_total":421`, 1): ":1: the input of 421 tokens is not the sum of prefix_tokens 320 and newly_append_tokens 100",
		strings.Replace(rows, "2026-03-01T00:00:10.300Z", "yesterday", 1):                `:1: field "timing_events": want times`,
		strings.Replace(rows, `"round_index":1`, `"round_index":-1`, 1):                  `:1: field "round_index": want a whole number of at least 0`,
		strings.Replace(rows, `"session_id":"b"`, `"session_id":""`, 1):                  `:2: field "session_id": want a name`,
		strings.Replace(rows, `"output_tokens":9,`, ``, 1):                               `:2: field "output_tokens" is missing`,
		roundRow("a", 0, 0, 5, 5, ""):                                                    `:1: field "timing_events": want a list of at least one event`,
	} {
		if _, err := LoadWith(context.Background(), write(t, "t.jsonl", row), "tracelab", Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}
