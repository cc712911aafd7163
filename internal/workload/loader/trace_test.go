package loader

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/dataset"
)

func loadWith(t *testing.T, content, format string, o Options) *Result {
	t.Helper()
	r, err := LoadWith(context.Background(), write(t, "trace.jsonl", content), format, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// shape writes a dataset down: for each conversation its id and its turns as tokens, ids, limit, time
// and delay.
func shape(d *dataset.Dataset) string {
	var all []string
	for _, c := range d.All() {
		var turns []string
		for _, t := range c.Turns {
			s := "given"
			if t.Prompt != nil {
				s = fmt.Sprint(t.Prompt.Tokens)
				if t.Prompt.Blocks != nil {
					s += fmt.Sprint(t.Prompt.Blocks)
				}
			}
			if t.MaxTokens != nil {
				s += fmt.Sprintf("→%d", *t.MaxTokens)
			}
			if t.TimestampMS != nil {
				s += fmt.Sprintf("@%v", *t.TimestampMS)
			}
			if t.DelayMS != nil {
				s += fmt.Sprintf("+%v", *t.DelayMS)
			}
			turns = append(turns, s)
		}
		all = append(all, c.SessionID+"("+strings.Join(turns, " ")+")")
	}
	return strings.Join(all, " ")
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

const mooncakeRows = `{"timestamp":0,"input_length":1200,"output_length":52,"hash_ids":[0,1,2]}
{"timestamp":105,"input_length":1800,"output_length":26,"hash_ids":[0,3,4,5]}
{"session_id":"x","timestamp":300,"input_length":64,"output_length":8}
{"session_id":"x","delay":40,"input_length":32,"output_length":8}
`

func TestMooncakeRowsAndSessions(t *testing.T) {
	r := loadWith(t, mooncakeRows, "", Options{Scheduled: true})
	same(t, "rows", shape(r.Dataset), "(1200[0 1 2]→52@0) (1800[0 3 4 5]→26@105) x(64→8@300 32→8+40)")
	if r.Format != "mooncake_trace" || r.BlockSize != 512 || r.Dataset.Sampling != dataset.Sequential ||
		len(r.Warnings) != 0 {
		t.Errorf("%s, blocks of %d, %s, %v", r.Format, r.BlockSize, r.Dataset.Sampling, r.Warnings)
	}
	if r := loadWith(t, mooncakeRows, "", Options{BlockSize: 500}); r.BlockSize != 500 {
		t.Errorf("--isl-block-size: %d", r.BlockSize)
	}
}

func TestMooncakeContents(t *testing.T) {
	r := loadWith(t, `{"text_input":"Hello","output_length":3,"extra":{"top_k":1}}
{"messages":[{"role":"system","content":"S"},{"role":"user","content":"U"}],"tools":[{"type":"function"}],"output_length":4}
{"payload":{"model":"p","stream":true},"timestamp":5}
{"session_id":"d","messages":[{"role":"user","content":"1"}],"message_mode":"delta"}
{"session_id":"d","messages":[{"role":"tool","content":"2"}],"message_mode":"delta","delay":7}
{"session_id":"h","messages":[{"role":"user","content":"1"}]}
{"session_id":"h","messages":[{"role":"user","content":"1"},{"role":"assistant","content":"2"}],"message_mode":"history"}
{"session_id":"mixed","text_input":"a"}
{"session_id":"mixed","input_length":5,"hash_ids":[]}
`, "mooncake_trace", Options{})
	c := r.Dataset.InMemory()
	if len(c) != 6 {
		t.Fatalf("%d conversations: %s", len(c), shape(r.Dataset))
	}
	if !reflect.DeepEqual(c[0].Turns[0].Texts, texts("Hello")) || c[0].Turns[0].Extra[0].Name != "top_k" {
		t.Errorf("text: %+v", c[0].Turns[0])
	}
	if len(c[1].Turns[0].RawMessages) != 2 || len(c[1].Turns[0].RawTools) != 1 ||
		c[1].ContextMode != dataset.MessageArrayWithResponses {
		t.Errorf("messages: %+v", c[1])
	}
	if string(c[2].Turns[0].RawPayload) != `{"model":"p","stream":true}` ||
		c[2].ContextMode != dataset.MessageArrayWithResponses {
		t.Errorf("payload: %+v", c[2])
	}
	if r.Dataset.Mode(&c[3]) != dataset.DeltasWithoutResponses || len(c[3].Turns) != 2 {
		t.Errorf("delta: %+v", c[3])
	}
	if r.Dataset.Mode(&c[4]) != dataset.MessageArrayWithResponses {
		t.Errorf("history: %+v", c[4])
	}
	if r.Dataset.Mode(&c[5]) != dataset.DeltasWithoutResponses || c[5].Turns[1].Prompt.Blocks != nil {
		t.Errorf("given and made texts: %+v", c[5])
	}
}

func TestTraceMistakesNameTheirLine(t *testing.T) {
	start := int64(1)
	for _, c := range []struct{ format, row, want string }{
		{"mooncake_trace", `{"timestamp":1}`,
			"want exactly one of input_length, text_input, messages and payload, got 0"},
		{"mooncake_trace", `{"input_length":1,"text_input":"a"}`, "got 2"},
		{"mooncake_trace", `{"text_input":"a","hash_ids":[1]}`, `field "hash_ids" goes only with "input_length"`},
		{"mooncake_trace", `{"text_input":"a","tools":[{}]}`, `field "tools" goes only with "messages"`},
		{"mooncake_trace", `{"text_input":""}`, "a text that is not empty"},
		{"mooncake_trace", `{"input_length":0}`, `field "input_length": want a whole number above 0, got 0`},
		{"mooncake_trace", `{"input_length":5,"hash_ids":[1,null]}`, `field "hash_ids": want a list of whole numbers`},
		{"mooncake_trace", `{"input_length":5,"hash_ids":[1.5]}`, `field "hash_ids": want a list of whole numbers`},
		{"mooncake_trace", `{"input_length":1024,"hash_ids":[0,1,2]}`, "the last block would have 0 tokens"},
		{"mooncake_trace", `{"input_length":5,"timestamp":-1}`, `field "timestamp"`},
		{"mooncake_trace", `{"input_length":5,"timestamp":1e13}`, `field "timestamp"`},
		{"mooncake_trace", `{"messages":[]}`, "a list of at least one object with a role"},
		{"mooncake_trace", `{"messages":[{"content":"a"}]}`, `messages[0]: field "role"`},
		{"mooncake_trace", `{"messages":[{"role":"user"}],"message_mode":"x"}`, "history or delta"},
		{"mooncake_trace", `{"messages":[{"role":"user"}],"tools":[]}`, "a list of at least one tool"},
		{"mooncake_trace", `{"messages":[{"role":"user"}],"message_mode":"delta","extra":{"messages":[]}}`,
			`"messages" would replace`},
		{"mooncake_trace", `{"messages":[{"role":"user"}],"message_mode":"delta","timestamp":3}`,
			"--fixed-schedule-start-offset"},
		{"mooncake_trace", `{"payload":{}}`, "an object that is not empty"},
		{"mooncake_trace", `[1]`, "want a JSON object"},
		{"mooncake_trace", "{\"session_id\":\"s\",\"input_length\":5,\"timestamp\":1}\n{\"session_id\":\"s\",\"messages\":[{\"role\":\"user\"}]}", `3: the session "s" mixes rows`},
		{"mooncake_trace", `{"input_length":5}`, "has no timestamp for its first turn"},
		{"single_turn", `{"text":"a"}`, "has no timestamp for its first turn"},
		{"bailian_trace", `{"chat_id":1,"timestamp":1,"output_length":4}`, `field "input_length" is missing`},
		{"bailian_trace", `{"chat_id":"1","timestamp":1,"input_length":4,"output_length":4}`,
			`field "chat_id": want a whole number`},
		{"bailian_trace", `{"chat_id":1,"timestamp":1,"input_length":4,"output_length":-4}`, `field "output_length"`},
		{"bailian_trace", "{\"chat_id\":1,\"timestamp\":1,\"input_length\":4,\"output_length\":4}\n{\"chat_id\":1,\"timestamp\":1,\"input_length\":4,\"output_length\":4}", `:3: field "chat_id": 1 was used before`},
	} {
		path := write(t, "trace.jsonl", "\n"+c.row+"\n")
		_, err := LoadWith(context.Background(), path, c.format,
			Options{Scheduled: true, Window: Window{StartMS: &start}})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path+":") {
			t.Errorf("%s: error %v, want one with %q", c.row, err, c.want)
		}
	}
}

func TestBailianSessionsAreFoundThroughTheParents(t *testing.T) {
	r := loadWith(t, `{"chat_id":8,"parent_chat_id":7,"timestamp":3.0,"input_length":33,"output_length":4,"type":"text","turn":2,"hash_ids":[1,2,3]}
{"chat_id":20,"parent_chat_id":99,"timestamp":2,"input_length":5,"output_length":0,"type":"search","turn":1}
{"chat_id":7,"parent_chat_id":-1,"timestamp":1.5,"input_length":20,"output_length":4,"type":"text","turn":1,"hash_ids":[1,2]}
{"chat_id":9,"parent_chat_id":8,"timestamp":61.114,"input_length":40,"output_length":4,"type":"text","turn":3,"hash_ids":[1,2,9]}
{"chat_id":30,"parent_chat_id":30,"timestamp":4,"input_length":5,"output_length":1,"turn":1}
{"chat_id":41,"parent_chat_id":42,"timestamp":5,"input_length":5,"output_length":1,"turn":1}
{"chat_id":42,"parent_chat_id":41,"timestamp":6,"input_length":6,"output_length":1,"turn":2}
`, "", Options{Scheduled: true})
	same(t, "sessions", shape(r.Dataset),
		"7(20[1 2]→4@1500 33[1 2 3]→4@3000 40[1 2 9]→4@61114) 20(5→1@2000) 30(5→1@4000) 42(5→1@5000 6→1@6000)")
	if r.Format != "bailian_trace" || r.BlockSize != 16 {
		t.Errorf("%s, blocks of %d", r.Format, r.BlockSize)
	}
	if mode := r.Dataset.Mode(r.Dataset.At(0)); mode != dataset.DeltasWithoutResponses {
		t.Errorf("turn 3 does not go on from turn 2, but the mode is %s", mode)
	}
}

func TestTrapBailianTurnsWithTheirHistoryAreSentAlone(t *testing.T) {
	r := loadWith(t, `{"chat_id":7,"parent_chat_id":-1,"timestamp":1.5,"input_length":20,"output_length":4,"type":"text","turn":1,"hash_ids":[1,2]}
{"chat_id":8,"parent_chat_id":7,"timestamp":3.0,"input_length":33,"output_length":4,"type":"text","turn":2,"hash_ids":[1,2,3]}
`, "", Options{})
	if mode := r.Dataset.At(0).ContextMode; mode != dataset.MessageArrayWithResponses || len(r.Notes) != 1 {
		t.Errorf("mode %s, notes %v", mode, r.Notes)
	}
}

func TestBurstGPTRowsThatAreNoRequestsAreTold(t *testing.T) {
	r := loadWith(t, "\ufeffTimestamp,Model,Request tokens,Response tokens,Log "+
		"Type\r\n0.25,x,10,3,a\r\n\"1\",\"a,b\",20,0,\"two\nlines\"\r\nno,x,1,1,a\r\n5,x,0,7,a\r\n61.114,x,7,1\r\n", "",
		Options{Scheduled: true})
	same(t, "rows", shape(r.Dataset), "(10→3@250) (20→1@1000) (7→1@61114)")
	if r.Format != "burst_gpt_trace" || len(r.Warnings) != 1 ||
		!strings.Contains(r.Warnings[0], "2 rows are not requests and were left out: line 5, 6") {
		t.Errorf("%s: %v", r.Format, r.Warnings)
	}
	_, err := Load(context.Background(), write(t, "a.csv", "Timestamp,Request tokens\n1,2\n"), "burst_gpt_trace")
	if err == nil || !strings.Contains(err.Error(), `a.csv:1: the column "Response tokens" is missing`) {
		t.Errorf("a missing column: %v", err)
	}
	if _, err = Load(context.Background(), write(t, "a.csv", ""), "burst_gpt_trace"); err == nil ||
		!strings.Contains(err.Error(), "contains no records") {
		t.Errorf("an empty file: %v", err)
	}
}

// Times of traces are milliseconds, whatever the file counts in.
func TestTrapTimesOfTraces(t *testing.T) {
	const capture = `{"captureData":{"endpointInput":{"data":"{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}","encoding":"JSON"}},"eventMetadata":{"eventId":"e","inferenceTime":"2025-01-01T00:00:%sZ"}}` + "\n"
	end := int64(1500) // counts from the earliest record
	for _, c := range []struct {
		rows, want string
		window     Window
	}{
		{`{"chat_id":1,"parent_chat_id":-1,"timestamp":61.114,"input_length":5,"output_length":1,"type":"text","turn":1}`, "1(5→1@61114)", Window{}},
		{"Timestamp,Request tokens,Response tokens\n0.25,10,3\n", "(10→3@250)", Window{}},
		{fmt.Sprintf(capture, "12.5") + fmt.Sprintf(capture, "11") + fmt.Sprintf(capture, "14"),
			"(given@0) (given@1500)", Window{EndMS: &end}},
	} {
		same(t, "times", shape(loadWith(t, c.rows, "", Options{Scheduled: true, Window: c.window}).Dataset), c.want)
	}
}

func TestTrapOffsetsAreInclusive(t *testing.T) {
	start, end := int64(2000), int64(4000)
	o := Options{Scheduled: true, Window: Window{StartMS: &start, EndMS: &end}}
	rows := ""
	for _, ms := range []int{1999, 2000, 4000, 4001} {
		rows += fmt.Sprintf("{\"timestamp\":%d,\"input_length\":5}\n", ms)
	}
	r := loadWith(t, rows, "", o)
	same(t, "rows", shape(r.Dataset), "(5@2000) (5@4000)")
	if len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "2 rows outside") {
		t.Errorf("notes %v", r.Notes)
	}
	// Formats that are not traces are filtered alike, whole conversations by their first turn.
	r = loadWith(t, `{"turns":[{"text":"a","timestamp":1999},{"text":"b","timestamp":3000}]}
{"session_id":"k","turns":[{"text":"a","timestamp":2000},{"text":"b","timestamp":9000}]}
`, "", o)
	same(t, "conversations", shape(r.Dataset), "k(given@2000 given@9000)")
	// What follows a row that is left out goes with it; what follows one that stays, stays.
	r = loadWith(t, `{"session_id":"out","timestamp":10,"input_length":1}
{"session_id":"out","delay":1,"input_length":2}
{"session_id":"out","timestamp":3000,"input_length":3}
{"session_id":"out","delay":2,"input_length":4}
{"session_id":"in","timestamp":2000,"input_length":5}
{"session_id":"in","delay":3,"input_length":6}
{"session_id":"in","timestamp":5000,"input_length":7}
{"session_id":"in","delay":4,"input_length":8}
{"delay":4,"timestamp":3000,"input_length":9}
`, "", o)
	same(t, "sessions", shape(r.Dataset), "out(3@3000 4+2) in(5@2000 6+3) (9@3000+4)")
	_, err := LoadWith(context.Background(), write(t, "trace.jsonl", "{\"timestamp\":1,\"input_length\":5}\n"), "", o)
	if err == nil || !strings.Contains(err.Error(), "all 1 records are outside of --fixed-schedule-start-offset") {
		t.Errorf("nothing left: %v", err)
	}
}

func TestTrapLengthFilters(t *testing.T) {
	r := loadWith(t, `{"input_length":100,"output_length":52}
{"input_length":101,"output_length":5}
{"input_length":99}
{"text_input":"a","output_length":10}
`, "", Options{MaxISL: 100, MaxOSL: 10})
	same(t, "rows", shape(r.Dataset), "(100→10) (99) (given→10)")
	if len(r.Notes) != 2 || !strings.HasPrefix(r.Notes[0], "1 rows with more input") ||
		!strings.HasPrefix(r.Notes[1], "1 rows had their output") {
		t.Errorf("notes %v", r.Notes)
	}
	_, err := LoadWith(context.Background(), write(t, "trace.jsonl", "{\"input_length\":5}\n"), "", Options{MaxISL: 4})
	if err == nil || !strings.Contains(err.Error(), "all 1 records are longer than --synthesis-max-isl 4") {
		t.Errorf("nothing left: %v", err)
	}
	_, err = LoadWith(context.Background(), write(t, "trace.jsonl", "{\"text\":\"a\"}\n"), "",
		Options{MaxISL: 4, Reshape: &Reshape{}})
	if err == nil || !strings.Contains(err.Error(), "need a trace, and this is a single_turn file") {
		t.Errorf("no trace: %v", err)
	}
}

// reshaped applies a change to rows of ids and lengths.
func reshaped(t *testing.T, rows string, change func(*Reshape)) string {
	t.Helper()
	s := unchanged
	change(&s)
	return shape(loadWith(t, rows, "mooncake_trace", Options{Reshape: &s, Seed: random.Root(1)}).Dataset)
}

func TestTrapMultipliers(t *testing.T) {
	const rows = `{"input_length":1200,"hash_ids":[0,1,2]}
{"input_length":1800,"hash_ids":[0,3,4,5]}
{"input_length":1300,"hash_ids":[1,4,6]}
`
	for _, c := range []struct {
		name, want string
		change     func(*Reshape)
	}{
		{"P=2", "(2224[0 1 2 3 11]) (2312[0 1 12 13 14]) (2324[2 3 8 9 15])", func(s *Reshape) { s.PrefixLen = 2 }},
		{"P=1.5", "(1712[0 1 6 7]) (2312[0 8 9 10 11]) (1812[1 4 12 13])", func(s *Reshape) { s.PrefixLen = 1.5 }},
		{"P=0.5", "(688[0 6]) (1800[0 7 8 9]) (788[1 10])", func(s *Reshape) { s.PrefixLen = 0.5 }},
		{"Q=0.5", "(1112[0 1 6]) (1156[0 7 8]) (1162[1 4 9])", func(s *Reshape) { s.PromptLen = 0.5 }},
	} {
		same(t, c.name, reshaped(t, rows, c.change), c.want)
	}
}

func TestTrapReshapingKeepsRowsPossible(t *testing.T) {
	half := func(s *Reshape) { s.PrefixLen = 0.5 }
	same(t, "a row without a shared block",
		reshaped(t, "{\"input_length\":700,\"hash_ids\":[9,10]}\n{\"input_length\":700,\"hash_ids\":[11,12]}\n", half),
		"(700[2 3]) (700[4 5])")
	same(t, "rows without ids", reshaped(t, "{\"input_length\":700}\n", half), "(700)")
	twice := "{\"input_length\":1200,\"hash_ids\":[0,1,2]}\n{\"input_length\":1200,\"hash_ids\":[0,1,2]}\n"
	same(t, "a row that is shared with its short last block", reshaped(t, twice, func(s *Reshape) { s.PromptLen = 2 }),
		"(1200[0 1 2]) (1200[0 1 2])")
	same(t, "no prompt left", reshaped(t, "{\"input_length\":600,\"hash_ids\":[1,2]}\n",
		func(s *Reshape) { s.PromptLen = 0 }), "(1)")
}

func TestTrapSpeedup(t *testing.T) {
	rows := "{\"timestamp\":333,\"input_length\":5,\"session_id\":\"a\"}\n{\"delay\":5,\"input_length\":5,\"session_id\":\"a\"}\n{\"timestamp\":1000,\"input_length\":5}\n"
	same(t, "twice as fast", reshaped(t, rows, func(s *Reshape) { s.Speedup = 2 }), "a(5@166 5+2.5) (5@500)")
	same(t, "0 leaves times", reshaped(t, rows, func(s *Reshape) { s.Speedup = 0 }), "a(5@333 5+5) (5@1000)")
	if got := (&Reshape{Speedup: 2}).Zero(333); got != 166 {
		t.Errorf("the start offset becomes %d, the row at the offset is at 166", got)
	}
	same(t, "output lengths", reshaped(t,
		"{\"input_length\":5,\"output_length\":5}\n{\"input_length\":5,\"output_length\":1}\n",
		func(s *Reshape) { s.OutputLen = 0.5 }), "(5→2) (5→1)")
}

// Hashes as ids are renumbered, so that what multipliers make of them fits; which blocks are shared stays.
func TestReshapingOfHashes(t *testing.T) {
	const hash = 18446744073709551000
	rows := fmt.Sprintf("{\"input_length\":1200,\"hash_ids\":[%d,%d,%d]}\n{\"input_length\":1800,\"hash_ids\":[%d,%d,%d,%d]}\n"+
		"{\"input_length\":1300,\"hash_ids\":[%d,%d,%d]}\n", uint64(hash), uint64(hash)+1, 2, uint64(hash), 3, uint64(hash)+4, 5,
		uint64(hash)+1, uint64(hash)+4, 6)
	same(t, "P=2", reshaped(t, rows, func(s *Reshape) { s.PrefixLen = 2 }),
		"(2224[0 1 2 3 11]) (2312[0 1 12 13 14]) (2324[2 3 8 9 15])")
}

func TestReshapingIsBounded(t *testing.T) {
	s := unchanged
	s.PrefixLen = 1e12
	_, err := LoadWith(context.Background(), write(t, "trace.jsonl", "{\"input_length\":5,\"hash_ids\":[1]}\n"), "",
		Options{Reshape: &s})
	if err == nil || !strings.Contains(err.Error(), "lower --synthesis-prefix-len-multiplier") {
		t.Errorf("error %v", err)
	}
}

// Copies of the prefix tree have no block in common, and a session stays in its copy.
func TestPrefixRootsPartTheSessions(t *testing.T) {
	var rows strings.Builder
	for i := range 20 {
		fmt.Fprintf(&rows, "{\"session_id\":\"s%d\",\"input_length\":600,\"hash_ids\":[0,%d]}\n{\"session_id\":\"s%d\",\"input_length\":512,\"hash_ids\":[0]}\n", i, i+1, i)
	}
	s := unchanged
	s.PrefixRoots = 3
	d := loadWith(t, rows.String(), "", Options{Reshape: &s, Seed: random.Root(1)}).Dataset
	firsts := map[int64]bool{}
	for _, c := range d.All() {
		a, b := c.Turns[0].Prompt.Blocks, c.Turns[1].Prompt.Blocks
		if a[0] != b[0] {
			t.Errorf("%s: %v and %v", c.SessionID, a, b)
		}
		firsts[a[0]] = true
	}
	if len(firsts) != 3 {
		t.Errorf("%d copies of the prefix, want 3", len(firsts))
	}
	if again := loadWith(t, rows.String(), "",
		Options{Reshape: &s, Seed: random.Root(1)}); shape(again.Dataset) != shape(d) {
		t.Error("the same seed gave another trace")
	}
}

func TestIgnoredTimes(t *testing.T) {
	same(t, "rows", shape(loadWith(t, mooncakeRows, "", Options{IgnoreTimes: true}).Dataset),
		"(1200[0 1 2]→52) (1800[0 3 4 5]→26) x(64→8 32→8)")
}

func TestTrapLineEndsDoNotChangeATrace(t *testing.T) {
	want := shape(loadWith(t, mooncakeRows, "", Options{}).Dataset)
	same(t, "CRLF, byte order mark, blank lines",
		shape(loadWith(t, "\ufeff"+strings.ReplaceAll(mooncakeRows, "\n", "\r\n")+"\r\n\r\n", "", Options{}).Dataset),
		want)
}

func FuzzTraces(f *testing.F) {
	f.Add("mooncake_trace", mooncakeRows)
	f.Add("mooncake_trace", `{"messages":[{"role":"user"}],"message_mode":"delta","tools":[1]}`)
	f.Add("bailian_trace", `{"chat_id":7,"parent_chat_id":-1,"timestamp":1.5,"input_length":20,"output_length":4,"turn":1,"hash_ids":[1,2]}`)
	f.Add("burst_gpt_trace", "Timestamp,Request tokens,Response tokens\n0.25,10,3\n")
	dir := f.TempDir()
	change := Reshape{Speedup: 2, PrefixLen: 1.5, PromptLen: 0.5, OutputLen: 2, PrefixRoots: 2}
	f.Fuzz(func(t *testing.T, format, content string) {
		if format != mooncakeTrace && format != bailianTrace && format != burstGPTTrace {
			return
		}
		path := filepath.Join(dir, "fuzz")
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := LoadWith(context.Background(), path, format, Options{Reshape: &change, BlockSize: 16})
		if err != nil {
			if !strings.Contains(err.Error(), path) {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		for _, c := range r.Dataset.All() {
			if len(c.Turns) == 0 {
				t.Error("a conversation without turns")
			}
			for _, turn := range c.Turns {
				if p := turn.Prompt; p != nil &&
					(p.Tokens < 1 || len(p.Blocks) > 0 && p.Tokens <= 16*(len(p.Blocks)-1)) {
					t.Errorf("a prompt that cannot be made: %+v", p)
				}
			}
		}
	})
}

var unchanged = Reshape{Speedup: 1, PrefixLen: 1, PromptLen: 1, OutputLen: 1, PrefixRoots: 1}

// Turns whose ids go on from those of the turn before are sent alone, in mooncake traces as in those of Bailian: their
// lengths hold the history already.
func TestMooncakeTurnsThatHoldTheHistoryAreSentAlone(t *testing.T) {
	for rows, want := range map[string]dataset.ContextMode{
		`{"session_id":"a","input_length":1024,"hash_ids":[1,2]}` + "\n" + `{"session_id":"a","input_length":1536,"hash_ids":[1,2,3]}`: dataset.MessageArrayWithResponses,
		`{"session_id":"a","input_length":1024,"hash_ids":[1,2]}` + "\n" + `{"session_id":"a","input_length":512,"hash_ids":[3]}`:      "",
		`{"session_id":"a","input_length":1024}` + "\n" + `{"session_id":"a","input_length":512}`:                                      "",
		`{"session_id":"a","input_length":1024,"hash_ids":[1,2]}`:                                                                      "",
	} {
		for _, from := range []int64{0, 1} {
			if got := loadWith(t, rows, "mooncake_trace", Options{IndexFrom: from}).Dataset.At(0).ContextMode; got != want {
				t.Errorf("%s, indexed from %d: %q, want %q", rows, from, got, want)
			}
		}
	}
}
