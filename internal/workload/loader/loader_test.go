package loader

import (
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"aiperf/internal/workload/dataset"
)

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func load1(t *testing.T, content, format string) *Result {
	t.Helper()
	r, err := Load(context.Background(), write(t, "data.jsonl", content), format)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func texts(contents ...string) []dataset.Media { return []dataset.Media{{Contents: contents}} }

func TestSingleTurn(t *testing.T) {
	r := load1(t, `{"text":"Alpha?","output_length":16}
{"session_id":"s1","text":"Beta","timestamp":0}
{"texts":["Gamma","Delta"],"role":"system"}
{"session_id":"s1","text":"Epsilon","delay":12.5}
{"texts":[{"name":"query","contents":["q"]},{"name":"passages","contents":["p1","p2"]}],"extra":{"z":1,"a":{"b":[2]}}}
`, "")
	want := dataset.Memory{
		{Turns: []dataset.Turn{{Texts: texts("Alpha?"), MaxTokens: new(16)}}},
		{SessionID: "s1", Turns: []dataset.Turn{
			{Texts: texts("Beta"), TimestampMS: new(0.0)},
			{Texts: texts("Epsilon"), DelayMS: new(12.5)},
		}},
		{Turns: []dataset.Turn{{Texts: texts("Gamma", "Delta"), Role: "system"}}},
		{Turns: []dataset.Turn{{
			Texts: []dataset.Media{{Name: "query", Contents: []string{"q"}},
				{Name: "passages", Contents: []string{"p1", "p2"}}},
			Extra: []dataset.Field{{Name: "z", Value: []byte("1")}, {Name: "a", Value: []byte(`{"b":[2]}`)}},
		}}},
	}
	if !reflect.DeepEqual(r.Dataset.InMemory(), want) {
		t.Errorf("got %+v", r.Dataset.Conversations)
	}
	if r.Format != "single_turn" || r.Dataset.Sampling != dataset.Sequential || len(r.Warnings) != 0 {
		t.Errorf("%s, %s, %v", r.Format, r.Dataset.Sampling, r.Warnings)
	}
}

func TestMultiTurn(t *testing.T) {
	r := load1(t, `{"session_id":"a","turns":[{"text":"Hi","output_length":8},{"text":"More","delay":500}]}
{"turns":[{"text":"x"}]}
{"session_id":"a","turns":[{"role":"assistant","text":"Last"}]}`, "")
	want := dataset.Memory{
		{SessionID: "a", Turns: []dataset.Turn{
			{Texts: texts("Hi"), MaxTokens: new(8)},
			{Texts: texts("More"), DelayMS: new(500.0)},
			{Texts: texts("Last"), Role: "assistant"},
		}},
		{Turns: []dataset.Turn{{Texts: texts("x")}}},
	}
	if r.Format != "multi_turn" || !reflect.DeepEqual(r.Dataset.InMemory(), want) {
		t.Errorf("%s: got %+v", r.Format, r.Dataset.Conversations)
	}
}

func TestTrapSharedSessionOfSingleTurnsCarriesNoHistory(t *testing.T) {
	single := load1(t, `{"session_id":"s","text":"a"}
{"session_id":"s","text":"b"}`, "").Dataset
	multi := load1(t, `{"session_id":"s","turns":[{"text":"a"},{"text":"b"}]}`, "").Dataset
	if got := single.Mode(single.At(0)); got != dataset.MessageArrayWithResponses {
		t.Errorf("single_turn: %s", got)
	}
	if got := multi.Mode(multi.At(0)); got != dataset.DeltasWithoutResponses {
		t.Errorf("multi_turn: %s", got)
	}
	if !reflect.DeepEqual(single.Conversations, multi.Conversations) {
		t.Errorf("the contents differ: %+v, %+v", single.Conversations, multi.Conversations)
	}
}

func TestTrapLineEndsBlankLinesAndByteOrderMark(t *testing.T) {
	want := load1(t, "{\"text\":\"a\"}\n{\"text\":\"b\"}\n", "").Dataset
	for name, content := range map[string]string{
		"CRLF":     "{\"text\":\"a\"}\r\n{\"text\":\"b\"}\r\n",
		"blank":    "\n{\"text\":\"a\"}\n  \t\n{\"text\":\"b\"}\n\n\n",
		"BOM":      "\ufeff{\"text\":\"a\"}\n{\"text\":\"b\"}",
		"BOM line": "\ufeff\n{\"text\":\"a\"}\n{\"text\":\"b\"}",
	} {
		if got := load1(t, content, "").Dataset; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func TestCompressedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.jsonl.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	z.Write([]byte(`{"text":"a"}`))
	z.Close()
	f.Close()
	r, err := Load(context.Background(), path, "")
	if err != nil || r.Dataset.Len() != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestTrapUnknownKeysWarnOnce(t *testing.T) {
	r := load1(t, `{"text":"a"}
{"text":"a","foo":1}
{"text":"b","foo":2,"bar":null}`, "")
	if r.Dataset.Len() != 3 || len(r.Warnings) != 2 ||
		!strings.HasSuffix(r.Warnings[0], `data.jsonl:2: the key "foo" is unknown and ignored`) ||
		!strings.HasSuffix(r.Warnings[1], `data.jsonl:3: the key "bar" is unknown and ignored`) {
		t.Errorf("%q", r.Warnings)
	}
}

func TestManyUnknownKeysAreCutShort(t *testing.T) {
	var content strings.Builder
	for i := range 30 {
		fmt.Fprintf(&content, "{\"text\":\"a\",\"k%d\":1}\n", i)
	}
	r := load1(t, content.String(), "")
	if len(r.Warnings) != 11 || !strings.HasSuffix(r.Warnings[10], ":11: here and below are more unknown keys") {
		t.Errorf("%d warnings: %q", len(r.Warnings), r.Warnings)
	}
}

// Every mistake must be reported with the file, the line and the field.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ name, content, format, want string }{
		{"both text and texts", `{"text":"a","texts":["b"]}`, "", `:1: fields "text" and "texts" exclude each other`},
		{"empty text", `{"text":""}`, "", `:1: the turn has no content`},
		{"null text", `{"text":null}`, "single_turn", `:1: the turn has no content`},
		{"timestamp and delay", `{"timestamp":0,"delay":5,"text":"a"}`, "",
			`:1: fields "timestamp" and "delay" exclude each other`},
		{"bad JSON", "{\"text\":\"a\"}\n\n{\"text\":", "", `:3: not valid JSON: the text ends too early`},
		{"bad value", "{\"text\":\"a\"}\n{\"text\":tru}", "",
			`:2: not valid JSON: column 12: "}" is not expected here`},
		{"bad first line", `{"text" "a"}`, "", `:1: not valid JSON`},
		{"array line", "{\"text\":\"a\"}\n[1]", "", `:2: want a JSON object, got [1]`},
		{"string line", "{\"text\":\"a\"}\n\"x\"", "", `:2: want a JSON object, got "x"`},
		{"broken array line", "{\"text\":\"a\"}\n[1", "", `:2: not valid JSON`},
		{"two objects", `{"text":"a"}{"text":"b"}`, "single_turn", `:1: more text follows the JSON object`},
		{"key twice", `{"text":"a","text":"b"}`, "single_turn", `:1: the key "text" occurs twice`},
		{"not UTF-8", "{\"text\":\"a\xff\"}", "single_turn", `:1: the line is not UTF-8`},
		{"text is a number", `{"text":5}`, "", `:1: field "text": want a string, got 5`},
		{"texts is a string", `{"texts":"a"}`, "",
			`:1: field "texts": want a list of strings or of objects with a name and contents, got "a"`},
		{"no contents", `{"texts":[{"name":"q"}]}`, "", `:1: field "texts": want objects with at least one content`},
		{"role", `{"text":"a","role":1}`, "", `:1: field "role": want a string, got 1`},
		{"session", `{"text":"a","session_id":1}`, "", `:1: field "session_id": want a string, got 1`},
		{"length 0", `{"text":"a","output_length":0}`, "",
			`:1: field "output_length": want a whole number above 0, got 0`},
		{"length 1.5", `{"text":"a","output_length":1.5}`, "",
			`:1: field "output_length": want a whole number above 0, got 1.5`},
		{"delay", `{"text":"a","delay":"5"}`, "",
			`:1: field "delay": want a number of milliseconds of at least 0, got "5"`},
		{"timestamp", `{"text":"a","timestamp":-1}`, "",
			`:1: field "timestamp": want a number of milliseconds of at least 0, got -1`},
		{"extra", `{"text":"a","extra":[1]}`, "", `:1: field "extra": want an object, got [1]`},
		{"image", "{\"text\":\"a\"}\n{\"text\":\"a\",\"image\":\"file:///x.png\"}", "",
			`:2: field "image": file:///x.png: this is neither a URL`},
		{"audio as data URL", `{"audio":"data:audio/wav;base64,QQ=="}`, "",
			`:1: field "audio": data:audio/wav;base64,QQ==: audio is written as`},
		{"videos", `{"videos":["v.mp4"]}`, "", `:1: field "videos": v.mp4: the video file cannot be read`},
		{"no turns", `{"turns":[]}`, "", `:1: field "turns": want a list of at least one turn, got []`},
		{"turns missing", `{"session_id":"a"}`, "multi_turn", `:1: field "turns" is missing`},
		{"bad turn", `{"turns":[{"text":"a"},{"text":""}]}`, "", `:1: turns[1]: the turn has no content`},
		{"turn is a string", `{"turns":["a"]}`, "", `:1: turns[0]: want a JSON object, got "a"`},
		{"other type", "{\"text\":\"a\"}\n{\"type\":\"multi_turn\",\"turns\":[]}", "",
			`:2: field "type": this is a multi_turn record, but the file is read as single_turn`},
		{"named type", `{"type":"single_turn","input_length":5}`, "", `:1: the turn has no content`},
		{"empty file", "", "", ` contains no records`},
		{"blank file", "\ufeff \n\r\n \t", "single_turn", ` contains no records`},
		{"blank file, detected", "\n \n", "", ` contains no records`},
		{"long value", `{"text":` + strings.Repeat("1", 500) + `}`, "", strings.Repeat("1", 200) + "…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, "data.jsonl", c.content)
			_, err := Load(context.Background(), path, c.format)
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %q, want one with %q", err, c.want)
			}
		})
	}
}

// A misspelt key is no mistake, contents that contradict each other are.
func TestTrapContentsOfATurn(t *testing.T) {
	for content, want := range map[string]string{
		`{"text":"a","texts":["b"]}`:               "exclude each other",
		`{"image":"http://h/x","images":["b"]}`:    "exclude each other",
		`{"text":""}`:                              "has no content",
		`{"timestamp":0,"delay":5,"text":"a"}`:     "exclude each other",
		`{"type":"single_turn","input_length":5}`:  "has no content",
		`{"text":"a","foo":1}`:                     "",
		`{"timestamp":0,"text":"a"}`:               "",
		`{"text":"","image":"http://h/x","foo":1}`: "",
	} {
		_, err := Load(context.Background(), write(t, "data.jsonl", content), "")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", content, err, want)
		}
	}
}

func TestFirstTenMistakesAreListed(t *testing.T) {
	content := strings.Repeat("{\"text\":1}\n", 14)
	_, err := Load(context.Background(), write(t, "data.jsonl", content), "")
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 11 || !strings.Contains(lines[9], ":10: ") || !strings.Contains(lines[10], "4 more") {
		t.Errorf("%d lines: %v", len(lines), err)
	}
}

func TestTrapDetection(t *testing.T) {
	for _, c := range []struct{ name, content, want string }{
		{"bailian", `{"type":"text","chat_id":1,"timestamp":1.5,"input_length":20,"output_length":4}`, "bailian_trace"},
		{"mooncake lengths", `{"timestamp":0,"input_length":1200,"hash_ids":[0,1]}`, "mooncake_trace"},
		{"mooncake text", `{"text_input":"a"}`, "mooncake_trace"},
		{"mooncake messages", `{"messages":[{"role":"user"}],"timestamp":5}`, "mooncake_trace"},
		{"raw payload", `{"messages":[{"role":"user"}],"temperature":1}`, "raw_payload"},
		{"sagemaker", `{"captureData":{},"eventMetadata":{}}`, "sagemaker_data_capture"},
		{"inputs.json, one line", `{"data":[{"session_id":"a","payloads":[{"messages":[]}]}]}`, "inputs_json"},
		{"inputs.json, indented", "{\n  \"data\": [\n    {\"session_id\": \"a\", \"payloads\": [{}]}\n  ]\n}\n",
			"inputs_json"},
		{"weka", "{\n\"requests\": [], \"hash_id_scope\": \"local\"}", "weka_trace"},
		{"burst gpt", "Timestamp,Model,Request tokens,Response tokens\n0.25,x,10,3\n", "burst_gpt_trace"},
		{"named", `{"type":"random_pool","text":"a"}`, "random_pool"},
	} {
		if got, err := Detect(write(t, "data.jsonl", c.content)); got != c.want {
			t.Errorf("%s: %s, %v, want %s", c.name, got, err, c.want)
		}
	}
	for _, c := range []struct{ name, path, content, format, want string }{
		{"parquet", "a.parquet", "PAR1", "", "a.parquet is not a Parquet file"},
		{"arrow", "a.arrow", "ARROW1", "", "a.arrow is not an Arrow file that can be read: a message of"},
		{"named by the user", "a.jsonl", `{"text":"a"}`, "tracelab",
			`a.jsonl:1: this looks like a single_turn record, but the file is read as tracelab: field "session_id" is missing`},
		{"unknown format", "a.jsonl", `{"text":"a"}`, "sharegtp", `unknown dataset format "sharegtp"`},
		{"nothing known", "a.jsonl", `{"promt":"a"}`, "",
			`:1: cannot tell the format from the first record (unknown key "promt": did you mean "prompt"? Use "text" or "prompt"), pass --custom-dataset-type`},
		{"two formats", "a.jsonl", `{"text":"a","input_length":5}`, "", "could be single_turn or mooncake_trace"},
	} {
		_, err := Load(context.Background(), write(t, c.path, c.content), c.format)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := Load(context.Background(), t.TempDir(), "single_turn"); err == nil ||
		!strings.Contains(err.Error(), "is a directory") {
		t.Errorf("directory: %v", err)
	}
	if _, err := Load(context.Background(), filepath.Join(t.TempDir(), "absent"), ""); err == nil ||
		!strings.Contains(err.Error(), "absent") {
		t.Errorf("absent: %v", err)
	}
}

func TestOtherTypeValuesAreIgnored(t *testing.T) {
	if r := load1(t, `{"type":"chitchat","text":"a"}`, ""); r.Format != "single_turn" || len(r.Warnings) != 0 {
		t.Errorf("%s %v", r.Format, r.Warnings)
	}
}

func TestLoadEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Load(ctx, write(t, "a.jsonl", strings.Repeat("{\"text\":\"a\"}\n", 3000)),
		""); err != context.Canceled {
		t.Errorf("%v", err)
	}
}

func BenchmarkLoad(b *testing.B) {
	path := filepath.Join(b.TempDir(), "data.jsonl")
	line := `{"session_id":"s","text":"` + strings.Repeat("word ", 50) + `","output_length":16}` + "\n"
	if err := os.WriteFile(path, []byte(strings.Repeat(line, 10_000)), 0o644); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(10_000 * len(line)))
	for b.Loop() {
		if _, err := Load(context.Background(), path, ""); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(`{"text":"a"}`)
	f.Add(`{"session_id":"a","turns":[{"text":"Hi","output_length":8}]}`)
	f.Add("\ufeff{\"texts\":[{\"name\":\"q\",\"contents\":[\"\"]}],\"extra\":{\"a\":1}}\r\n")
	f.Add("{\n\"data\":[]}")
	f.Add(`{"session_id":"r","turns":[{"messages":[{"role":"user","content":"x"}],"forks":["a"]}]}` + "\n" +
		`{"session_id":"a","orchestrator":true,"spawns":["b"]}`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content string) {
		path := filepath.Join(dir, "fuzz.jsonl")
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := Load(context.Background(), path, "")
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
				if len(turn.Texts) == 0 && len(turn.RawMessages) == 0 && turn.Prompt == nil && turn.RawPayload == nil &&
					!turn.Silent {
					t.Error("a turn without content")
				}
			}
		}
	})
}
