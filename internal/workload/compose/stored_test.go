package compose_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/compose"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/loader"
	"aiperf/internal/workload/recipe"
	"aiperf/internal/workload/tokenizer"
)

// traceRows are rows of all the kinds that an index holds, of several sessions, with blanks and carriage returns.
func traceRows(n int) string {
	var text strings.Builder
	text.WriteString("\ufeff")
	for i := range n {
		switch i % 7 {
		case 0:
			fmt.Fprintf(&text, `{"timestamp": %d, "input_length": %d, "output_length": %d, "hash_ids": [%d, %d]}`, i,
				600+i%50, 5+i%9, i%5, i)
		case 1:
			fmt.Fprintf(&text, `{"session_id":"s%d","timestamp":%d.5,"input_length":%d}`, i%40, i, 10+i%30)
		case 2:
			fmt.Fprintf(&text, `{"text_input":"row %d","group_id":1,"timestamp":%d}`+"\r", i, i)
		case 3:
			fmt.Fprintf(&text, "{\"input_length\":1e1,\"timestamp\":%d}\n\n", i)
		case 4:
			fmt.Fprintf(&text, `{"session_id":"s%d","delay":3,"input_length":7,"output_length":2,"timestamp":null}`,
				(i-3)%40)
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
	osl := recipe.Normal{Mean: 20, Stddev: 5}
	d, warnings, err := compose.Build(context.Background(), compose.Options{
		Kind: compose.File, Path: path, Format: "mooncake_trace", Reading: o, OSL: osl, Models: []string{"a", "b", "c"},
		Seed: seed, UserContextLength: 3,
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
	speedy := loader.Reshape{Speedup: 1, PrefixLen: 1, PromptLen: 1, OutputLen: 1, PrefixRoots: 1}
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
		if want.InMemory() == nil || got.InMemory() != nil {
			t.Fatalf("%s: the wrong one is indexed", name)
		}
		if diff := cmp.Diff(wantNotes, notes); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if got.Len() != want.Len() || got.Turns() != want.Turns() {
			t.Errorf("%s: %d conversations of %d turns, want %d of %d", name, got.Len(), got.Turns(), want.Len(),
				want.Turns())
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
				if diff := cmp.Diff([]*float64{at, delay}, []*float64{gotAt, gotDelay}); k == 0 && at == nil &&
					gotAt == nil {
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
	bad := []string{`{`, `{"input_length":0}`, `{"input_length":10,"hash_ids":[1,2,3]}`, `[]`,
		`{"input_length":5,"text_input":"x"}`}
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
	for _, want := range []string{"t.jsonl:2: not valid JSON", `t.jsonl:5: field "input_length"`,
		`t.jsonl:8: field "hash_ids"`, "and 5 more mistakes"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
	for name, text := range map[string]string{"no timestamp for its first turn": `{"input_length":5}`,
		"contains no records": "\n\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := loader.LoadWith(context.Background(), path, "mooncake_trace",
			loader.Options{IndexFrom: 1, Scheduled: true})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// rowsOf are rows of a format, of several sessions where it has them.
func rowsOf(format string, n int) string {
	var text strings.Builder
	if format == "burst_gpt_trace" {
		text.WriteString("\ufeff\nTimestamp,Model,Request tokens,Response tokens\r\n")
	}
	body := func(i int) string {
		return fmt.Sprintf(`{"messages":[{"role":"user","content":"é %d"}],"max_tokens":%d,"stream":%v}`, i, 1+i%9,
			i%3 == 0)
	}
	for i := range n {
		switch format {
		case "single_turn":
			switch i % 4 {
			case 0:
				fmt.Fprintf(&text, `{"text":"row %d","timestamp":%d,"output_length":%d}`, i, i, 1+i%7)
			case 1:
				fmt.Fprintf(&text, `{"session_id":"s%d","texts":["row %d","and"],"timestamp":%d.25,"extra":{"a":%d}}`,
					i%20, i, i, i)
			case 2:
				fmt.Fprintf(&text, `{"session_id":"s%d","text":"row %d","delay":7,"role":"system","strange":1}`,
					(i-1)%20, i)
			case 3:
				fmt.Fprintf(&text, `{"session_id":"session_%06d","image":"http://h/%d","timestamp":%d}`, i%9, i, i)
			}
		case "multi_turn":
			if i%5 == 0 {
				fmt.Fprintf(&text, `{"session_id":"s%d","turns":[{"text":"a%d","timestamp":%d}]}`, i%30, i, i)
			} else {
				fmt.Fprintf(&text, `{"turns":[{"text":"a%d","timestamp":%d},{"text":"b","delay":%d},{"texts":["c"],"output_length":3}]}`, i, i, i%4)
			}
		case "raw_payload":
			text.WriteString(body(i))
		case "bailian_trace":
			chat, parent, turn, ids := 1000-i, -1, 1, fmt.Sprintf("%d,%d", i, i+1)
			if i%3 != 0 {
				parent, turn = chat+1, i%3+1
			}
			if i%7 == 0 {
				parent = 5000 + i
			}
			if i%9 < 3 { // each turn's ids begin with those before
				ids = fmt.Sprintf("%d", i/3)
				for k := range i % 3 {
					ids += fmt.Sprintf(",%d", i/3+k+1)
				}
			}
			fmt.Fprintf(&text, `{"chat_id":%d,"parent_chat_id":%d,"timestamp":%v,"input_length":%d,"output_length":%d,"type":"text","turn":%d,"hash_ids":[%s]}`,
				chat, parent, float64(i)/1000, 64+i%9, i%8, turn, ids)
		case "burst_gpt_trace":
			switch i % 5 {
			case 4:
				fmt.Fprintf(&text, `%v,"a,""b""",%d,%d`, float64(i)/1000, 3+i%9, i%6)
			case 3:
				text.WriteString("x,y\r") // no request
			default:
				fmt.Fprintf(&text, "%v,m, %d ,%d", float64(i)/1000, i%9, i%6)
			}
		case "sagemaker_data_capture":
			fmt.Fprintf(&text, `{"captureData":{"endpointInput":{"encoding":"JSON","data":%q},"endpointOutput":{"encoding":"JSON","data":"{\"usage\":{\"prompt_tokens\":%d}}"}},"eventMetadata":{"eventId":"%d","inferenceTime":"2025-01-01T00:00:%02d.%03dZ"}}`,
				strings.ReplaceAll(body(i), "é", "e"), i, i, 10+i*7%3, i)
		case "mooncake_trace": // of all kinds
			switch i % 5 {
			case 0:
				fmt.Fprintf(&text, `{"messages":[{"role":"user","content":"m%d"}],"timestamp":%d,"tools":[{"a":1}]}`, i,
					i)
			case 1:
				fmt.Fprintf(&text, `{"payload":%s,"timestamp":%d}`, body(i), i)
			case 2:
				fmt.Fprintf(&text, `{"session_id":"h%d","messages":[{"role":"user","content":"m%d"}],"timestamp":%d}`,
					i%20, i, i)
			case 3:
				fmt.Fprintf(&text, `{"session_id":"x%d","text_input":"t","timestamp":%d}`, i%30, i)
			case 4:
				fmt.Fprintf(&text, `{"session_id":"x%d","input_length":9,"hash_ids":[%d],"timestamp":%d}`, (i-1)%30,
					i%3, i)
			}
		}
		text.WriteString("\n")
		if i%50 == 0 {
			text.WriteString("\n \n")
		}
	}
	return text.String()
}

// Rows of every format that stay in their file are the same conversations as those in memory.
func TestAnIndexIsTheSameDatasetInEveryFormat(t *testing.T) {
	ms := func(n int64) *int64 { return &n }
	speedy := loader.Reshape{Speedup: 1, PrefixLen: 1, PromptLen: 1, OutputLen: 1, PrefixRoots: 1}
	speedy.Speedup, speedy.OutputLen = 3, 2
	for _, format := range []string{"single_turn", "multi_turn", "raw_payload", "bailian_trace", "burst_gpt_trace",
		"sagemaker_data_capture", "mooncake_trace"} {
		path := filepath.Join(t.TempDir(), "t.jsonl")
		if err := os.WriteFile(path, []byte(rowsOf(format, 333)), 0o600); err != nil {
			t.Fatal(err)
		}
		options := map[string]loader.Options{"whole": {}, "no times": {IgnoreTimes: true}}
		if format != "raw_payload" {
			options["window"] = loader.Options{Scheduled: true, Window: loader.Window{StartMS: ms(30), EndMS: ms(200)}}
		}
		if strings.HasSuffix(format, "trace") || format == "sagemaker_data_capture" {
			options["filters"] = loader.Options{MaxISL: 66, MaxOSL: 3}
			options["speed"] = loader.Options{Reshape: &speedy}
		}
		if format == "single_turn" {
			options["stripped"] = loader.Options{StripImages: true}
		}
		for name, o := range options {
			t.Run(format+" "+name, func(t *testing.T) { sameIndexed(t, path, format, o) })
		}
	}
}

func sameIndexed(t *testing.T, path, format string, o loader.Options) {
	build := func() (*dataset.Dataset, []string) {
		osl := recipe.Normal{Mean: 20, Stddev: 5}
		d, warnings, err := compose.Build(context.Background(), compose.Options{
			Kind: compose.File, Path: path, Format: format, Reading: o, OSL: osl, Models: []string{"a", "b", "c"},
			Seed: random.Root(3), UserContextLength: 3,
		}, tokenizer.Builtin())
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, line := range append(warnings, d.Notes...) {
			if !strings.Contains(line, "without the history") { // of those an index counts none
				told = append(told, line)
			}
		}
		return d, told
	}
	want, wantTold := build()
	o.IndexFrom = 1
	got, told := build()
	if want.InMemory() == nil || got.InMemory() != nil {
		t.Fatal("the wrong one is indexed")
	}
	if diff := cmp.Diff(wantTold, told); diff != "" {
		t.Error(diff)
	}
	if got.Len() != want.Len() || got.Turns() != want.Turns() || got.DefaultContextMode != want.DefaultContextMode {
		t.Fatalf("%d conversations of %d turns (%s), want %d of %d (%s)", got.Len(), got.Turns(),
			got.DefaultContextMode, want.Len(), want.Turns(), want.DefaultContextMode)
	}
	if want.Len() < 10 {
		t.Fatalf("%d conversations show little", want.Len())
	}
	var images, payloads int
	for i := range got.Len() {
		a, b := whole(want.At(i)), whole(got.At(i))
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatalf("conversation %d: %s", i, diff)
		}
		at, _ := want.Time(i, 0)
		if gotAt, _ := got.Time(i, 0); got.TurnsOf(i) != want.TurnsOf(i) || cmp.Diff(at, gotAt) != "" {
			t.Fatalf("conversation %d: %d turns at %v, want %d at %v", i, got.TurnsOf(i), gotAt, want.TurnsOf(i), at)
		}
		for _, turn := range a.Turns {
			if len(turn.Images) > 0 {
				images++
			}
			if turn.RawPayload != nil {
				payloads++
			}
		}
	}
	if h := got.Contents(); h.Images != images || h.Payloads != payloads || h.Streams > payloads {
		t.Errorf("holds %+v, want %d images and %d payloads", h, images, payloads)
	}
}

// A local file is read once and kept, so rows that name one are read as a whole; so are fields of several lines.
func TestRowsThatCannotBeReadAloneAreReadAsAWhole(t *testing.T) {
	picture := filepath.Join(t.TempDir(), "p.png")
	var drawn bytes.Buffer
	if err := errors.Join(png.Encode(&drawn, image.NewGray(image.Rect(0, 0, 1, 1))),
		os.WriteFile(picture, drawn.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	for format, text := range map[string]string{
		"single_turn":     fmt.Sprintf("{\"text\":\"a\"}\n{\"image\":%q}\n", picture),
		"burst_gpt_trace": "Timestamp,Model,Request tokens,Response tokens\n1,x,5,5\n2,\"a\nb\",5,5\n",
	} {
		path := filepath.Join(t.TempDir(), "t.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := loader.LoadWith(context.Background(), path, format, loader.Options{IndexFrom: 1})
		if err != nil || r.Dataset.InMemory() == nil || r.Dataset.Len() != 2 {
			t.Errorf("%s: %v %+v", format, err, r)
		}
	}
}

// Faults that show between rows are told with their lines, like those of single rows.
func TestFaultsBetweenIndexedRows(t *testing.T) {
	for name, c := range map[string]struct{ format, text, want string }{
		"kinds": {"mooncake_trace", `{"session_id":"k","input_length":5}` + "\n" +
			`{"session_id":"k","messages":[{"role":"user"}]}`, `t.jsonl:2: the session "k" mixes rows`},
		"chats": {"bailian_trace", `{"chat_id":1,"timestamp":1,"input_length":5,"output_length":1}` + "\n\n" +
			`{"chat_id":1,"timestamp":1,"input_length":5,"output_length":1}`,
			`t.jsonl:3: field "chat_id": 1 was used before, with the parent -1`},
		"times": {"single_turn", `{"text":"a","timestamp":1}` + "\n" + `{"session_id":"z","text":"b"}`,
			`t.jsonl:2: the conversation "z" has no timestamp`},
		"header": {"burst_gpt_trace", "Timestamp,Request tokens\n1,2", `:1: the column "Response tokens" is missing`},
		"json":   {"raw_payload", "{}\n{", "t.jsonl:2: not valid JSON"},
	} {
		path := filepath.Join(t.TempDir(), "t.jsonl")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, from := range []int64{1, 1 << 40} {
			_, err := loader.LoadWith(context.Background(), path, c.format,
				loader.Options{IndexFrom: from, Scheduled: name == "times"})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, indexed from %d: %v", name, from, err)
			}
		}
	}
}

func TestAnIndexedTraceWithoutASeedKeepsItsIDs(t *testing.T) {
	const keptTurns = 1 << 13 // of each of the two generations of conversations that are kept
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, []byte(strings.Repeat(`{"input_length":5}`+"\n", 3*keptTurns)), 0o600); err != nil {
		t.Fatal(err)
	}
	d, _ := traceDataset(t, path, loader.Options{IndexFrom: 1}, random.Seed{})
	kept := d.At(0)
	first := kept.SessionID
	ids := map[string]bool{}
	for i := range d.Len() {
		ids[d.At(i).SessionID] = true
	}
	again := d.At(0)
	if len(ids) != d.Len() || again.SessionID != first {
		t.Errorf("%d ids of %d conversations, %s", len(ids), d.Len(), first)
	}
	if again == kept {
		t.Error("the first conversation was kept, not made again")
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

// Chats whose parents stand behind them, are each other's or their own have the same roots from a file as from memory.
func TestRootsOfChatsInAnyOrder(t *testing.T) {
	var text strings.Builder
	row := func(chat, parent, turn int) {
		fmt.Fprintf(&text, `{"chat_id":%d,"parent_chat_id":%d,"timestamp":1,"input_length":20,"output_length":1,"turn":%d,"hash_ids":[1,%d]}`+"\n", chat, parent, turn, chat)
	}
	for i := range 2000 {
		row(5000-i, 4999-i, 2000-i) // 3001 is the root
	}
	row(3001-1, -1, 0)
	for i := range 3 { // in a circle
		row(10+i, 10+(i+1)%3, i)
	}
	row(20, 20, 0)
	row(21, 20, 1)
	row(22, 12, 5)
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{}
	for _, from := range []int64{1 << 40, 1} {
		d, _, err := compose.Build(context.Background(),
			compose.Options{Kind: compose.File, Path: path, Format: "bailian_trace",
				Reading: loader.Options{IndexFrom: from},
				Seed:    random.Root(1)}, tokenizer.Builtin())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range d.Len() {
			got = append(got, fmt.Sprintf("%s: %d turns", d.At(i).SessionID, d.TurnsOf(i)))
		}
		if from > 1 {
			want = got
		} else if diff := cmp.Diff(want, got); diff != "" || len(got) != 3 || got[0] != "3000: 2001 turns" {
			t.Errorf("%q %s", got, diff)
		}
	}
}
