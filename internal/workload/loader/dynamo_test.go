package loader

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// traced is a record of a request that came at a millisecond and took some.
func traced(session, parent string, at, took, input int, hashes ...int) string {
	context := ""
	if session != "" {
		context = fmt.Sprintf(`"agent_context":{"session_id":%q,"parent_session_id":%q},`, session, parent)
	}
	return fmt.Sprintf(`{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":%d,%s`+
		`"request":{"request_id":"r%d","model":"m","request_received_ms":%d,"output_tokens":7,`+
		`"replay":{"trace_block_size":64,"input_length":%d,"input_sequence_hashes":%s}}}`+"\n",
		1777312800000+at+took, context, at, 1777312800000+at, input, strings.ReplaceAll(fmt.Sprint(hashes), " ", ","))
}

const toolRecord = `{"schema":"dynamo.request.trace.v1","event_type":"tool_end","event_time_unix_ms":1777312801500,"session_id":"a","tool":{"tool_call_id":"c"}}` + "\n"

// Requests without a session are played at their times; equal hashes are equal blocks.
func TestDynamoRequestsWithoutSessions(t *testing.T) {
	large := strings.Replace(traced("", "", 500, 100, 100, 1, 2), "[1,2]", "[14879255164371896291,274632075616497421]",
		1)
	rows := large + strings.Replace(traced("", "", 200, 100, 128, 1, 2), "[1,2]", "[14879255164371896291,5]",
		1) + toolRecord
	r := loadWith(t, rows, "", Options{Scheduled: true})
	same(t, "requests", shape(r.Dataset), "r500(100[1 2]→7@300) r200(128[1 3]→7@0)")
	same(t, "known blocks", prefixes(r.Dataset), "1/2, 0/2")
	same(t, "note", strings.Join(r.Notes, "; "), "1 records that are not requests left out")
	if r.Format != "dynamo_trace" || r.BlockSize != 64 {
		t.Errorf("%s, blocks of %d", r.Format, r.BlockSize)
	}
}

// A child begins after the last request of its parent that had begun; the first one that began after its end waits for
// it.
func TestDynamoSessionsAreTrees(t *testing.T) {
	rows := traced("a", "", 0, 1000, 64, 1) + traced("a", "", 2000, 1000, 128, 1, 2) + traced("a", "", 9000, 500, 192,
		1, 2, 3) +
		traced("b", "a", 3500, 1000, 64, 9) + traced("b", "a", 5000, 1000, 128, 9, 8) +
		traced("c", "b", 4600, 200, 64, 7) + traced("late", "a", 9600, 100, 64, 6) + traced("d", "gone", 100, 100, 64,
		5)
	envelope := ""
	for line := range strings.Lines(rows) {
		envelope += `{"timestamp":1,"event":` + strings.TrimSpace(line) + "}\n"
	}
	for _, text := range []string{rows, envelope} {
		r := loadWith(t, text, "", Options{})
		same(t, "trees", plays(r.Dataset),
			"a: @0 @2000+1000→b(2) @9000+3000→late(0); b: @3500+500→c(1) @5000+200; late: @9600+100; c: @4600+100; d: @100")
		same(t, "roots", fmt.Sprint(r.Dataset.Roots), "[0 4]")
		same(t, "known blocks", prefixes(r.Dataset), "0/1 1/2 2/3, 0/1 1/2, 0/1, 0/1, 0/1")
	}
	r := loadWith(t, rows, "", Options{Scheduled: true})
	same(t, "schedule", plays(r.Dataset), "a: @0 @2000 @9000; b: @3500 @5000; late: @9600; c: @4600; d: @100")
	if r.Dataset.Branches() {
		t.Error("a schedule branches")
	}
	r = loadWith(t, rows, "", Options{MaxContext: 190, Entries: 1})
	same(t, "chosen", plays(r.Dataset), "d: @100")
}

func TestDynamoShards(t *testing.T) {
	path := folder(t, map[string]string{"trace.000001.jsonl": traced("a", "", 900, 1, 64, 1),
		"trace.000000.jsonl": traced("a", "", 100, 1, 64, 1)})
	r, err := LoadWith(context.Background(), path, "dynamo_trace", Options{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "shards", plays(r.Dataset), "a: @0 @800+799")
}

func TestDynamoFaults(t *testing.T) {
	good := traced("", "", 100, 1, 64, 1)
	for text, want := range map[string]string{
		good + traced("a", "", 200, 1, 64, 1): "1 requests belong to a session and 1 to none",
		traced("", "", 1, 1, 65, 1):           `:1: field "input_sequence_hashes": 1 hashes of 64 tokens for an input of 65`,
		good + strings.Replace(good, `"trace_block_size":64`, `"trace_block_size":32`,
			1): ":2: blocks of 32 tokens do not go with the 64 of the records before",
		strings.Replace(good, `"input_length":64`, `"input_length":0`, 1): ":1: an input of 0",
		strings.Replace(good, `"request_received_ms":1777312800100`, `"x":1`,
			1): `:1: field "request_received_ms": want`,
		strings.Replace(good, `"output_tokens":7`, `"output_tokens":"7"`,
			1): ":1: the record does not have the form of dynamo.request.trace.v1",
		toolRecord:         "contains no records",
		`{"text":"hello"}`: ":1: this looks like a single_turn record",
	} {
		if _, err := LoadWith(context.Background(), write(t, "t.jsonl", text), "dynamo_trace", Options{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	if _, err := LoadWith(context.Background(), write(t, "t.jsonl", good), "", Options{BlockSize: 16}); err == nil ||
		!strings.Contains(err.Error(), "--isl-block-size says 16") {
		t.Errorf("%v", err)
	}
	ring := traced("a", "b", 100, 1, 64, 1) + traced("b", "a", 200, 1, 64, 1)
	same(t, "a ring", plays(loadWith(t, ring, "", Options{}).Dataset), "a: @0→b(0); b: @100+99")
}
