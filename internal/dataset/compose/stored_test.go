package compose

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/dataset"
	"aiperf/internal/dataset/loader"
	"aiperf/internal/dataset/synthetic"
	"aiperf/internal/random"
	"aiperf/internal/tokenizer"
)

// traceRows are rows of all the kinds that an index holds, of several sessions, with blanks and carriage returns.
func traceRows(n int) string {
	var text strings.Builder
	text.WriteString("\ufeff")
	for i := range n {
		switch i % 7 {
		case 0:
			fmt.Fprintf(&text, `{"timestamp": %d, "input_length": %d, "output_length": %d, "hash_ids": [%d, %d]}`, i, 600+i%50, 5+i%9, i%5, i)
		case 1:
			fmt.Fprintf(&text, `{"session_id":"s%d","timestamp":%d.5,"input_length":%d}`, i%40, i, 10+i%30)
		case 2:
			fmt.Fprintf(&text, `{"text_input":"row %d","group_id":1,"timestamp":%d}`+"\r", i, i)
		case 3:
			fmt.Fprintf(&text, "{\"input_length\":1e1,\"timestamp\":%d}\n\n", i)
		case 4:
			fmt.Fprintf(&text, `{"session_id":"s%d","delay":3,"input_length":7,"output_length":2,"timestamp":null}`, (i-3)%40)
		case 5:
			fmt.Fprintf(&text, `{"session_id":"session_%06d","input_length":4,"timestamp":%d}`, i%11, i)
		case 6:
			fmt.Fprintf(&text, `{"input_length":3000,"timestamp":%d,"session_id":""}`, i)
		}
		text.WriteString("\n")
	}
	return text.String()
}

func traceDataset(t *testing.T, path string, o loader.Options, seed random.Seed) (*dataset.Dataset, []string) {
	t.Helper()
	osl := synthetic.Normal{Mean: 20, Stddev: 5}
	d, warnings, err := Build(context.Background(), Options{
		Kind: File, Path: path, Format: "mooncake_trace", Reading: o, OSL: &osl, Models: []string{"a", "b", "c"}, Seed: seed, UserContextLength: 3,
	}, tokenizer.Builtin())
	if err != nil {
		t.Fatal(err)
	}
	return d, append(warnings, d.Notes...)
}

func TestAnIndexedTraceIsTheSameDataset(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, []byte(traceRows(400)), 0o600); err != nil {
		t.Fatal(err)
	}
	ms := func(n int64) *int64 { return &n }
	speedy := loader.Unchanged()
	speedy.Speedup, speedy.OutputLen = 3, 2
	for name, o := range map[string]loader.Options{
		"whole":     {},
		"window":    {Window: loader.Window{StartMS: ms(30), EndMS: ms(300)}},
		"scheduled": {Scheduled: true, Window: loader.Window{StartMS: ms(50)}},
		"filters":   {MaxISL: 1000, MaxOSL: 6},
		"speed":     {Reshape: &speedy},
		"no times":  {IgnoreTimes: true},
		"none long": {MaxISL: 5},
	} {
		want, wantNotes := traceDataset(t, path, o, random.Root(3))
		o.IndexFrom = 1
		got, notes := traceDataset(t, path, o, random.Root(3))
		if want.Store != nil || got.Store == nil {
			t.Fatalf("%s: the wrong one is indexed", name)
		}
		if diff := cmp.Diff(wantNotes, notes); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if got.Len() != want.Len() || got.Turns() != want.Turns() {
			t.Errorf("%s: %d conversations of %d turns, want %d of %d", name, got.Len(), got.Turns(), want.Len(), want.Turns())
			continue
		}
		for i := range got.Len() {
			a, b := whole(want.At(i)), whole(got.At(i))
			if diff := cmp.Diff(a, b); diff != "" {
				t.Fatalf("%s: conversation %d: %s", name, i, diff)
			}
			for k := range want.TurnsOf(i) {
				at, delay := want.Time(i, k)
				gotAt, gotDelay := got.Time(i, k)
				if diff := cmp.Diff([]*float64{at, delay}, []*float64{gotAt, gotDelay}); k == 0 && at == nil && gotAt == nil {
					continue // a delay of a first turn means nothing
				} else if diff != "" || got.TurnsOf(i) != want.TurnsOf(i) {
					t.Fatalf("%s: conversation %d, turn %d: %s", name, i, k, diff)
				}
			}
		}
	}
}

// whole is a conversation with its texts made.
func whole(c *dataset.Conversation) dataset.Conversation {
	out := *c
	out.Turns = nil
	for i := range c.Turns {
		turn := *c.Turns[i].Whole()
		turn.Prompt = nil
		out.Turns = append(out.Turns, turn)
	}
	return out
}

func TestFaultsOfAnIndexedTraceAreThoseOfTheFile(t *testing.T) {
	bad := []string{`{`, `{"input_length":0}`, `{"input_length":10,"hash_ids":[1,2,3]}`, `[]`, `{"input_length":5,"text_input":"x"}`}
	var text strings.Builder
	for i := range 30 {
		fmt.Fprintln(&text, `{"input_length":5,"timestamp":1}`)
		if i%2 == 0 {
			fmt.Fprintln(&text, bad[i/2%len(bad)])
		}
	}
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := loader.LoadWith(context.Background(), path, "mooncake_trace", loader.Options{IndexFrom: 1})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"t.jsonl:2: not valid JSON", `t.jsonl:5: field "input_length"`, `t.jsonl:8: field "hash_ids"`, "and 5 more mistakes"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
	for name, text := range map[string]string{"no timestamp for its first turn": `{"input_length":5}`, "contains no records": "\n\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := loader.LoadWith(context.Background(), path, "mooncake_trace", loader.Options{IndexFrom: 1, Scheduled: true})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnIndexedTraceWithMessagesIsReadAsAWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, []byte(`{"input_length":5}`+"\n"+`{"messages":[{"role":"user","content":"x"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	d, _ := traceDataset(t, path, loader.Options{IndexFrom: 1}, random.Root(1))
	if d.Store != nil || d.Len() != 2 {
		t.Errorf("%d conversations, store %v", d.Len(), d.Store)
	}
}

func TestAnIndexedTraceWithoutASeedKeepsItsIDs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, []byte(strings.Repeat(`{"input_length":5}`+"\n", 3*keptTurns)), 0o600); err != nil {
		t.Fatal(err)
	}
	d, _ := traceDataset(t, path, loader.Options{IndexFrom: 1}, random.Seed{})
	first := d.At(0).SessionID
	ids := map[string]bool{}
	for i := range d.Len() {
		ids[d.At(i).SessionID] = true
	}
	if len(ids) != d.Len() || d.At(0).SessionID != first {
		t.Errorf("%d ids of %d conversations, %s", len(ids), d.Len(), first)
	}
}

func TestAFileThatChangesBreaksItsConversations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, []byte(`{"input_length":5}`), 0o600); err != nil {
		t.Fatal(err)
	}
	d, _ := traceDataset(t, path, loader.Options{IndexFrom: 1}, random.Root(1))
	if err := os.WriteFile(path, []byte(`{"input_length":x}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.At(0).Broken; err == nil || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("got %v", err)
	}
}
