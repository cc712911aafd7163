package loader

import (
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/dataset"
)

const (
	recordedHead = `{"aiperf_recording":1,"started_at":"2026-11-30T10:00:00Z","keep":"hashes","tokenizer":"builtin",` +
		`"block_size":16,"part":%d}` + "\n"
	// A session of three turns, of which the second does not go on with the first; a failed request; another session;
	// an embedding.
	firstPart = `{"timestamp_ms":100,"endpoint":"chat","model":"m","stream":true,"status":200,"outcome":"ok","session_id":"a",` +
		`"turn":0,"input_length":40,"output_length":5,"hash_ids":[1,2],"sampling":{"temperature":0.7,"max_tokens":5,"top_p":1},` +
		`"latency_ms":50}
{"timestamp_ms":120,"endpoint":"chat","model":"m","status":500,"outcome":"error","session_id":"x","turn":0,"input_length":9,"output_length":0,"latency_ms":1}
{"timestamp_ms":130,"endpoint":"embeddings","model":"e","status":200,"outcome":"ok","session_id":"y","turn":0,"input_length":9,"output_length":0,"latency_ms":1}
`
	secondPart = `{"timestamp_ms":110.5,"endpoint":"chat","model":"m","stream":true,"status":200,"outcome":"ok","session_id":"b",` +
		`"turn":0,"input_length":33,"output_length":2,"reasoning_length":4,"hash_ids":[1,7],"latency_ms":100}
{"timestamp_ms":350,"endpoint":"chat","model":"m","stream":true,"status":200,"outcome":"ok","session_id":"a","turn":1,` +
		`"input_length":70,"output_length":3,"hash_ids":[1,2,3,4],"usage_completion_tokens":8,"usage_prompt_tokens":80,"usage_cached_tokens":32,"latency_ms":40}
{"timestamp_ms":380,"endpoint":"chat","model":"m","stream":true,"status":200,"outcome":"ok","session_id":"a","turn":2,` +
		`"input_length":32,"output_length":1,"hash_ids":[1,9],"latency_ms":10}
{"timestamp_ms":400,"endpoint":"chat","model":"m","str`
)

// recordedFolder writes a recording of two parts, of which the second is compressed, beside what a recorder writes too.
func recordedFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("traffic.jsonl", fmt.Sprintf(recordedHead, 0)+firstPart)
	put("mooncake_trace.jsonl", `{"timestamp":0,"input_length":5,"output_length":1}`)
	var packed strings.Builder
	z := gzip.NewWriter(&packed)
	fmt.Fprintf(z, recordedHead+secondPart, 1)
	z.Close()
	put("traffic-0001.jsonl.gz", packed.String())
	return dir
}

func play(t *testing.T, path string, o Options) *Result {
	t.Helper()
	r, err := LoadWith(context.Background(), path, "", o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func playing() Options { return Options{Played: Played{Endpoint: "chat", MaxTokens: true}} }

// The first prompt of a ends 8 tokens into the block with which the second one goes on: it gets that block, too.
func TestARecordingIsPlayedAsItWas(t *testing.T) {
	dir := recordedFolder(t)
	r := play(t, dir, playing())
	same(t, "conversations", shape(r.Dataset), "a(40[1 2 3]→5@100 70[1 2 3 4]→8+200 32[1 9]→1+0) b(33[1 7]→6@110.5)")
	if r.Format != "aiperf_recording" || r.BlockSize != 16 {
		t.Errorf("got the format %s with blocks of %d tokens", r.Format, r.BlockSize)
	}
	a := r.Dataset.At(0)
	if r.Dataset.Mode(a) != dataset.MessageArrayWithResponses {
		t.Errorf("a request carries the turns before it: %s", r.Dataset.Mode(a))
	}
	if got := fmt.Sprint(a.Turns[0].Extra); !strings.Contains(got, "temperature") || !strings.Contains(got, "top_p") ||
		strings.Contains(got, "max_tokens") {
		t.Errorf("sampling: got %s", got)
	}
	if of := a.Turns[1].Recorded; *of != (dataset.Recorded{AtMS: 350, TookMS: 40, Input: 70, Output: 8, Prompt: 80, Cached: 32}) {
		t.Errorf("recorded: got %+v", of)
	}
	if p := a.Turns[1].Prefix; p == nil || *p != (dataset.Prefix{Hits: 2, Blocks: 4}) {
		t.Errorf("known blocks: got %+v, want those that were whole before", p)
	}
	notes := strings.Join(r.Notes, "\n")
	for _, want := range []string{"1 recorded requests failed", "1 recorded requests are of other endpoint types and are not " +
		"played: embeddings", "1 rows are cut off", "1 recorded turns began before"} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q is not in the notes:\n%s", want, notes)
		}
	}
	same(t, "one part alone", shape(play(t, filepath.Join(dir, "traffic.jsonl"), playing()).Dataset), "a(40[1 2]→5@100)")
}

func TestRepliesOfRecordedLengthsAreAskedFor(t *testing.T) {
	o := playing()
	o.Played.ForceLength, o.Played.Fixed = true, []string{"temperature", "ignore_eos"}
	turn := play(t, recordedFolder(t), o).Dataset.At(0).Turns[1]
	if len(turn.Extra) != 1 || turn.Extra[0].Name != "min_tokens" || string(turn.Extra[0].Value) != "8" {
		t.Errorf("got %s, want min_tokens alone: the others are those of all requests", turn.Extra)
	}
}

func TestARecordingIsFilteredAndSpedUp(t *testing.T) {
	dir := recordedFolder(t)
	o := playing()
	start := int64(105)
	o.Window, o.Scheduled = Window{StartMS: &start}, true
	same(t, "window", shape(play(t, dir, o).Dataset), "b(33[1 7]→6@110.5) a(70[1 2 3 4]→8@350 32[1 9]→1+0)")
	o = playing()
	o.Reshape = &Reshape{Speedup: 2, PrefixLen: 1, PromptLen: 1, OutputLen: 1, PrefixRoots: 1}
	o.MaxISL = 50
	same(t, "twice as fast", shape(play(t, dir, o).Dataset), "a(40[1 2]→5@50 32[1 9]→1+115) b(33[1 7]→6@55)")
	o = playing()
	o.IgnoreTimes = true
	same(t, "no times", shape(play(t, dir, o).Dataset), "a(40[1 2 3]→5 70[1 2 3 4]→8 32[1 9]→1) b(33[1 7]→6)")
}

func TestARecordingOfTextsSendsThem(t *testing.T) {
	const text = `{"aiperf_recording":1,"started_at":"2026-11-30T10:00:00Z","keep":"text","tokenizer":"builtin","block_size":16,"part":0}
{"timestamp_ms":5,"endpoint":"chat","model":"m","stream":true,"status":200,"outcome":"ok","session_id":"a","turn":0,"input_length":1,"output_length":2,"hash_ids":[],"latency_ms":9,"request":{"model":"m","messages":[{"role":"user","content":"Hi"}],"stream":true,"stream_options":{"include_usage":true},"max_tokens":7}}
{"timestamp_ms":6,"endpoint":"chat","status":200,"outcome":"ok","session_id":"b","turn":0,"input_length":1,"output_length":2,"latency_ms":9,"incomplete":"request too long"}
`
	path := write(t, "traffic.jsonl", text)
	for _, of := range []struct {
		stream bool
		model  string
		want   string
	}{
		{true, "", `{"model":"m","messages":[{"role":"user","content":"Hi"}],"stream":true,"stream_options":{"include_usage":true},"max_tokens":7}`},
		{false, "other", `{"model":"other","messages":[{"role":"user","content":"Hi"}],"stream":false,"max_tokens":7}`},
	} {
		o := playing()
		o.Stream, o.Played.Model = of.stream, of.model
		r := play(t, path, o)
		if got := string(r.Dataset.At(0).Turns[0].RawPayload); got != of.want || r.Dataset.Len() != 1 {
			t.Errorf("got %s\nwant %s", got, of.want)
		}
		if !strings.Contains(strings.Join(r.Notes, "\n"), "1 recorded requests have no whole body") {
			t.Errorf("notes: %q", r.Notes)
		}
	}
}

func TestARecordingWithoutTimesKeepsItsOrder(t *testing.T) {
	const head = `{"aiperf_recording":1,"started_at":"2026-11-30T10:00:00Z","keep":"hashes","tokenizer":"builtin","block_size":16,"part":0,"untimed":true}` + "\n"
	row := func(session string, turn, input int, more string) string {
		return fmt.Sprintf(`{"timestamp_ms":0,"endpoint":"chat","status":0,"outcome":"ok","session_id":%q,"turn":%d,"input_length":%d,"output_length":3,"latency_ms":0%s}`+"\n",
			session, turn, input, more)
	}
	r := play(t, write(t, "traffic.jsonl", head+row("a", 0, 5, "")+row("b", 0, 6, `,"incomplete":"no reply"`)+
		row("a", 1, 7, "")), playing())
	same(t, "conversations", shape(r.Dataset), "a(5→3 7→3) b(6)")
}

func TestMistakesOfARecordingAreNamed(t *testing.T) {
	head := fmt.Sprintf(recordedHead, 0)
	for want, text := range map[string]string{
		"traffic.jsonl:2: fields \"timestamp_ms\"":                            head + `{"timestamp_ms":-1,"outcome":"ok","session_id":"a","endpoint":"chat"}`,
		"traffic.jsonl:2: field \"session_id\" is missing":                    head + `{"timestamp_ms":1,"outcome":"ok","endpoint":"chat","input_length":3}`,
		"traffic.jsonl:2: field \"hash_ids\": 3 ids of 16 tokens do not fit":  head + `{"timestamp_ms":1,"outcome":"ok","endpoint":"chat","session_id":"a","input_length":3,"hash_ids":[1,2,3]}`,
		"traffic.jsonl:1: the recording has the format 9":                     strings.Replace(head, `ding":1`, `ding":9`, 1),
		"traffic.jsonl:1: the recording has blocks of 16 tokens, --isl-block": head,
		"this is no file of aiperf record":                                    `{"timestamp_ms":1,"outcome":"ok"}`,
		"contains no records":                                                 head,
	} {
		o := playing()
		if strings.Contains(want, "--isl-block") {
			o.BlockSize = 64
		}
		_, err := LoadWith(context.Background(), write(t, "traffic.jsonl", text), "aiperf_recording", o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	dir := recordedFolder(t)
	if err := os.WriteFile(filepath.Join(dir, "traffic-0001.jsonl"), []byte(head), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadWith(context.Background(), dir, "", playing()); err == nil ||
		!strings.Contains(err.Error(), "the same part of a recording") {
		t.Errorf("got %v", err)
	}
	if _, err := LoadWith(context.Background(), t.TempDir(), "aiperf_recording", playing()); err == nil ||
		!strings.Contains(err.Error(), "holds no traffic.jsonl") {
		t.Errorf("got %v", err)
	}
}

// Block 1 belongs to both sessions and stays; the others are those of one session, and of its copy alone.
func TestCopiesOfUsersShareWhatSessionsShare(t *testing.T) {
	dir := recordedFolder(t)
	o := playing()
	o.Users, o.Seed = 2, random.Root(1)
	r := play(t, dir, o)
	if r.Dataset.Len() != 4 {
		t.Fatalf("got %d sessions", r.Dataset.Len())
	}
	sessions := map[string]*dataset.Conversation{}
	for _, c := range r.Dataset.All() {
		sessions[c.SessionID] = c
		if at := *c.Turns[0].TimestampMS; at < 100 || at > 110.5 {
			t.Errorf("%s begins at %v, outside of the recording", c.SessionID, at)
		}
	}
	one, two := sessions["a"], sessions["a.2"]
	if one == nil || two == nil || sessions["b.2"] == nil {
		t.Fatalf("got %v", shape(r.Dataset))
	}
	for i := range one.Turns {
		p, q := one.Turns[i].Prompt, two.Turns[i].Prompt
		if p.Tokens != q.Tokens || p.Row == q.Row || len(p.Blocks) != len(q.Blocks) || q.Blocks[0] != 1 {
			t.Errorf("turn %d: %v and its copy %v", i, *p, *q)
		}
		for k := 1; k < len(p.Blocks); k++ {
			if p.Blocks[k] == q.Blocks[k] {
				t.Errorf("turn %d shares the block %d with its copy", i, k)
			}
		}
	}
	if !extends(two.Turns[0].Prompt.Blocks, two.Turns[1].Prompt.Blocks) {
		t.Error("the second turn of the copy does not go on with the first")
	}
	if p := two.Turns[1].Prefix; p == nil || p.Hits != 2 || p.Blocks != 4 {
		t.Errorf("the copy knows %+v", p)
	}
	again := play(t, dir, o)
	same(t, "the same seed", shape(again.Dataset), shape(r.Dataset))
	o.Users = 0.5
	half := play(t, dir, o)
	if half.Dataset.Len() != 1 || strings.Contains(half.Dataset.At(0).SessionID, ".") {
		t.Errorf("half of the users: %s", shape(half.Dataset))
	}
	o.Users = 1.5
	if n := play(t, dir, o).Dataset.Len(); n != 3 {
		t.Errorf("half as many again: got %d sessions of 2", n)
	}
	o.Users = 1e9
	if _, err := LoadWith(context.Background(), dir, "", o); err == nil || !strings.Contains(err.Error(), "--users") {
		t.Errorf("got %v", err)
	}
}

// Any trace can have more users: those of a mooncake trace have their blocks in the same way.
func TestCopiesOfUsersOfATrace(t *testing.T) {
	const trace = `{"timestamp":0,"session_id":"s","input_length":600,"output_length":2,"hash_ids":[1,2]}
{"timestamp":1000,"input_length":512,"output_length":2,"hash_ids":[1]}
`
	r := loadWith(t, trace, "", Options{Users: 2, Seed: random.Root(1), IndexFrom: 1})
	if r.Dataset.Len() != 4 || r.Dataset.Contents().Prompts != 4 {
		t.Errorf("got %s", shape(r.Dataset))
	}
}
