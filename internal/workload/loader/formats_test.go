package loader

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/recipe"
)

// folder makes a folder of files and returns its path.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "data")
	for name, content := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func loadPath(t *testing.T, path, format string, change ...func(*Options)) *Result {
	t.Helper()
	o := Options{Seed: random.Root(42)}
	for _, f := range change {
		f(&o)
	}
	r, err := LoadWith(context.Background(), path, format, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func wantFault(t *testing.T, path, format string, parts ...string) {
	t.Helper()
	_, err := Load(context.Background(), path, format)
	if err == nil {
		t.Errorf("%s: no error, want one with %q", path, parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q, want one with %q", err, part)
		}
	}
}

// bodies lists the payloads by conversation.
func bodies(d *dataset.Dataset) (all [][]string) {
	for _, c := range d.All() {
		var list []string
		for _, turn := range c.Turns {
			list = append(list, string(turn.RawPayload))
		}
		all = append(all, list)
	}
	return all
}

func TestTrapRawPayloadIsKeptByteForByte(t *testing.T) {
	lines := `{"messages":[],"temperature":1}` + "\r\n\n" +
		`{ "messages": [{"role":"user","content":"é A"}], "max_tokens": 7, "n": 1.50 }` + "\n"
	r := loadPath(t, write(t, "a.jsonl", lines), "")
	want := [][]string{{`{"messages":[],"temperature":1}`},
		{`{ "messages": [{"role":"user","content":"é A"}], "max_tokens": 7, "n": 1.50 }`}}
	if got := bodies(r.Dataset); r.Format != "raw_payload" || !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %q", r.Format, got)
	}
	if r.Dataset.DefaultContextMode != dataset.MessageArrayWithResponses || r.Dataset.Sampling != dataset.Sequential {
		t.Errorf("mode %s, sampling %s", r.Dataset.DefaultContextMode, r.Dataset.Sampling)
	}
	if a, b := r.Dataset.At(0).Turns[0].MaxTokens, r.Dataset.At(1).Turns[0].MaxTokens; a != nil ||
		b == nil || *b != 7 {
		t.Errorf("limits %v, %v", a, b)
	}
	if len(r.Warnings) > 0 {
		t.Errorf("warnings %v", r.Warnings)
	}
}

func TestRawPayloadOfAnyObjectWhenNamed(t *testing.T) {
	r := loadPath(t, write(t, "a.jsonl", `{"prompt":"x"}`), "raw_payload")
	if got := bodies(r.Dataset); !reflect.DeepEqual(got, [][]string{{`{"prompt":"x"}`}}) {
		t.Errorf("%q", got)
	}
	wantFault(t, write(t, "a.jsonl", "{\"prompt\":\"x\"}\n[1]"), "raw_payload",
		"a.jsonl:2: want a JSON object, got [1]")
}

func TestRawPayloadFolderHasAConversationInEachFile(t *testing.T) {
	path := folder(t, map[string]string{
		"b.jsonl": `{"messages":[1]}`, "a.jsonl": "{\"messages\":[2]}\n{\"messages\":[3]}", "notes.txt": "x",
		"empty.jsonl": "\n",
	})
	for _, format := range []string{"raw_payload"} {
		r := loadPath(t, path, format)
		want := [][]string{{`{"messages":[2]}`, `{"messages":[3]}`}, {`{"messages":[1]}`}}
		if got := bodies(r.Dataset); !reflect.DeepEqual(got, want) {
			t.Errorf("%q", got)
		}
		if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, "notes.txt") {
			t.Errorf("notes %q", notes)
		}
	}
	wantFault(t, folder(t, map[string]string{"a.jsonl": `{"messages":[]}`, "b.jsonl": "{\"messages\":[]}\n{"}), "",
		"b.jsonl:2: not valid JSON")
}

const inputs = `{
  "data": [
    {
      "session_id": "s0",
      "payloads": [
        {
          "messages": [ {"role": "user", "content": "a  b<"} ],
          "max_completion_tokens": 5,
          "x": 1.0
        },
        {"messages": []}
      ]
    },
    {"session_id": "s1", "payloads": [{"prompt": "p"}]}
  ]
}
`

func TestInputsJSON(t *testing.T) {
	for name, content := range map[string]string{"indented": inputs, "one line": strings.ReplaceAll(inputs, "\n", ""),
		"mark": "\ufeff" + inputs} {
		r := loadPath(t, write(t, "inputs.json", content), "")
		want := [][]string{{`{"messages":[{"role":"user","content":"a  b<"}],"max_completion_tokens":5,"x":1.0}`,
			`{"messages":[]}`}, {`{"prompt":"p"}`}}
		if got := bodies(r.Dataset); r.Format != "inputs_json" || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s: %q", name, r.Format, got)
		}
		if c := r.Dataset.InMemory(); c[0].SessionID != "s0" || c[1].SessionID != "s1" ||
			*c[0].Turns[0].MaxTokens != 5 {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestMistakesOfInputsJSON(t *testing.T) {
	for _, c := range []struct{ name, content, want string }{
		{"no object", `[1]`, `:1: want an object with "data"`},
		{"data is no list", "{\n\"data\": 5}", `:2: field "data": want a list of sessions`},
		{"payloads", "{\"data\":[\n{\"session_id\":\"a\",\"payloads\":[{}]},\n{\"session_id\":\"b\",\"payloads\":[]}]}",
			`:3: the session "b": field "payloads": want a list of at least one request body`},
		{"twice", "{\"data\":[\n{\"session_id\":\"a\",\"payloads\":[{}]},\n\n{\"session_id\":\"a\",\"payloads\":[{}]}]}", `:4: the session "a" occurs twice`},
		{"payload", "{\"data\":[{\"session_id\":\"a\",\"payloads\":[{},7]}]}",
			`:1: payloads[1]: want a JSON object, got 7`},
		{"id", "{\"data\":[{\"session_id\":5,\"payloads\":[{}]}]}", `:1: field "session_id": want a string, got 5`},
		{"cut short", "{\"data\":[\n{\"session_id\":\"a\",\"payloads\":[{}]},\n{\"sess",
			`:3: not valid JSON: the text ends too early`},
		{"broken", "{\"data\":[\n{\"session_id\":\"a\",\"payloads\":[{}]},\n\n!]}", `:4: not valid JSON`},
		{"more text", "{\"data\":[{\"session_id\":\"a\",\"payloads\":[{}]}]}\n{}", `:2: more text follows`},
		{"empty", "", "contains no records"},
		{"no sessions", `{"data":[]}`, "contains no records"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantFault(t, write(t, "i.json", c.content), "inputs_json", "i.json",
				c.want)
		})
	}
	r := loadPath(t, write(t, "i.json",
		"{\"version\":1,\n\"data\":[{\"session_id\":\"a\",\"note\":1,\"payloads\":[{}]}]}"), "inputs_json")
	if w := strings.Join(r.Warnings, "\n"); !strings.Contains(w, `i.json:1: the key "version"`) ||
		!strings.Contains(w, `i.json:2: the key "note"`) {
		t.Errorf("warnings %s", w)
	}
}

// capture is a line of data capture.
func capture(when, body, encoding, output string) string {
	if encoding == "" {
		body, output = base64.StdEncoding.EncodeToString([]byte(body)),
			base64.StdEncoding.EncodeToString([]byte(output))
	} else {
		encoding = `,"encoding":"` + encoding + `"`
	}
	data, _ := json.Marshal(body)
	reply, _ := json.Marshal(output)
	return fmt.Sprintf(`{"captureData":{"endpointInput":{"data":%s%s},"endpointOutput":{"data":%s%s}},"eventMetadata":{"eventId":"e1","inferenceTime":%q},"eventVersion":"0"}`,
		data, encoding, reply, encoding, when)
}

func TestTrapSageMakerTimesBeginAtTheEarliest(t *testing.T) {
	lines := strings.Join([]string{
		capture("2026-01-01T00:00:02.5Z",
			`{"messages":[{"role":"user","content":"b"}],"max_completion_tokens":9,"tools":[{"type":"function"}]}`,
			"JSON", `{"usage":{"prompt_tokens":30}}`),
		capture("2026-01-01T01:00:00+01:00",
			`{"messages":[{"role":"user","content":"a"}],"max_tokens":4,"max_completion_tokens":9}`, "",
			`{"usage":{"prompt_tokens":3000}}`),
	}, "\n")
	path := folder(t, map[string]string{"2026/01/x.jsonl": lines,
		"2026/02/y.jsonl": capture("2026-01-01T00:00:01", `{"messages":[{"role":"user"}]}`, "BASE64", "{}")})
	wantFault(t, path, "", "y.jsonl:1", `event "e1": endpointInput: the data is not base64`)
	path = folder(t, map[string]string{"2026/01/x.jsonl": lines,
		"2026/02/y.jsonl": capture("2026-01-01T00:00:01", `{"messages":[{"role":"user","content":"c"}]}`, "JSON", "")})
	r := loadPath(t, path, "")
	if r.Format != "sagemaker_data_capture" || r.Dataset.Len() != 3 {
		t.Fatalf("%s: %d conversations", r.Format, r.Dataset.Len())
	}
	for i, want := range []struct {
		ms      float64
		message string
		limit   int
	}{{0, `{"role":"user","content":"a"}`, 4}, {1000, `{"role":"user","content":"c"}`, 0},
		{2500, `{"role":"user","content":"b"}`, 9}} {
		c := r.Dataset.At(i)
		turn := c.Turns[0]
		limit := 0
		if turn.MaxTokens != nil {
			limit = *turn.MaxTokens
		}
		if *turn.TimestampMS != want.ms || string(turn.RawMessages[0]) != want.message || limit != want.limit ||
			c.ContextMode != dataset.MessageArrayWithResponses {
			t.Errorf("%d: %v ms, %s, limit %d, mode %s", i, *turn.TimestampMS, turn.RawMessages, limit, c.ContextMode)
		}
	}
	if tools := r.Dataset.At(2).Turns[0].RawTools; len(tools) != 1 {
		t.Errorf("tools %s", tools)
	}

	// The earliest record is the zero of the offsets, also when a filter leaves it out.
	start, end := int64(1000), int64(2000)
	r = loadPath(t, path, "", func(o *Options) { o.Window = Window{&start, &end} })
	if r.Dataset.Len() != 1 || *r.Dataset.At(0).Turns[0].TimestampMS != 1000 {
		t.Errorf("window: %+v", r.Dataset.Conversations)
	}
	r = loadPath(t, path, "", func(o *Options) { o.MaxISL = 100 })
	if r.Dataset.Len() != 2 || *r.Dataset.At(0).Turns[0].TimestampMS != 1000 {
		t.Errorf("max-isl: %+v", r.Dataset.Conversations)
	}
}

func TestMistakesOfSageMaker(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{capture("2026-01-01T00:00:00Z", `{"prompt":"x"}`, "JSON", ""), `event "e1": the request has no "messages"`},
		{capture("2026-01-01T00:00:00Z", `{"messages":[{}]}`, "CSV", ""),
			`event "e1": endpointInput: the encoding "CSV" is not known`},
		{capture("2026-01-01T00:00:00Z", `[1]`, "JSON", ""), `event "e1": endpointInput: want a JSON object`},
		{capture("yesterday", `{"messages":[{}]}`, "JSON", ""), `event "e1": field "inferenceTime": want a time`},
		{`{"eventMetadata":{"eventId":"e","inferenceTime":"2026-01-01T00:00:00Z"}}`,
			`event "e": field "captureData" is missing`},
		{`{"captureData":{}}`, `field "eventMetadata" is missing`},
	} {
		wantFault(t, write(t, "c.jsonl", "\n"+c.line), "sagemaker_data_capture", "c.jsonl:2: "+c.want)
	}
}

func TestTrapPoolDrawsWithReplacement(t *testing.T) {
	path := write(t, "pool.jsonl", "{\"text\":\"a\",\"image\":\"http://h/a\"}\n{\"type\":\"random_pool\",\"text\":\"b\",\"image\":\"http://h/b\"}\n")
	r := loadPath(t, path, "random_pool", func(o *Options) { o.Draws = 10 })
	if r.Dataset.Len() != 10 || r.Dataset.Sampling != dataset.Shuffle {
		t.Fatalf("%d conversations, %s", r.Dataset.Len(), r.Dataset.Sampling)
	}
	seen := map[string]int{}
	for _, c := range r.Dataset.All() {
		turn := c.Turns[0]
		text, image := turn.Texts[0].Contents[0], turn.Images[0].Contents[0]
		if image != "http://h/"+text || turn.Texts[0].Name != "pool" || len(c.Turns) != 1 {
			t.Errorf("%+v", turn)
		}
		seen[text]++
	}
	if seen["a"] == 0 || seen["b"] == 0 {
		t.Errorf("drawn %v", seen)
	}
	again := loadPath(t, path, "random_pool", func(o *Options) { o.Draws = 10 })
	if !reflect.DeepEqual(r.Dataset, again.Dataset) {
		t.Error("the same seed draws other entries")
	}
	if n := loadPath(t, path, "random_pool").Dataset.Len(); n != 100 {
		t.Errorf("%d conversations by default", n)
	}

	// With a batch size the pairs of text and image are lost.
	r = loadPath(t, path, "random_pool", func(o *Options) { o.Draws, o.Batches = 50, &Batches{3, 1, 1, 0} })
	mixed := false
	for _, c := range r.Dataset.All() {
		turn := c.Turns[0]
		if len(turn.Texts[0].Contents) != 3 || len(turn.Images[0].Contents) != 1 || len(turn.Texts) != 1 ||
			turn.Texts[0].Name != "" {
			t.Fatalf("%+v", turn)
		}
		mixed = mixed || turn.Images[0].Contents[0] != "http://h/"+turn.Texts[0].Contents[0]
	}
	if !mixed {
		t.Error("pairs are kept")
	}
	r = loadPath(t, path, "random_pool", func(o *Options) { o.Batches = &Batches{0, 2, 1, 1} })
	if turn := r.Dataset.At(0).Turns[0]; len(turn.Texts) != 0 || len(turn.Images[0].Contents) != 2 {
		t.Errorf("a batch size of 0 does not suppress texts: %+v", turn)
	}
	_, err := LoadWith(context.Background(), path, "random_pool", Options{Batches: &Batches{0, 0, 1, 1}})
	if err == nil || !strings.Contains(err.Error(), "--batch-size-text") {
		t.Errorf("nothing left: %v", err)
	}
}

func TestPoolFolder(t *testing.T) {
	path := folder(t, map[string]string{
		"q.jsonl": `{"text":"Q1"}`, "p.jsonl": "{\"text\":\"P1\"}\n", "sub/x.jsonl": "no", ".hidden.jsonl": "no",
		"readme.md": "no",
	})
	r := loadPath(t, path, "")
	want := []dataset.Media{{Name: "p", Contents: []string{"P1"}}, {Name: "q", Contents: []string{"Q1"}}}
	for _, c := range r.Dataset.All() {
		if !reflect.DeepEqual(c.Turns[0].Texts, want) {
			t.Fatalf("%+v", c.Turns[0].Texts)
		}
	}
	if notes := strings.Join(r.Notes, "\n"); r.Format != "random_pool" ||
		!strings.Contains(notes, ".hidden.jsonl, readme.md, sub") {
		t.Errorf("%s, notes %q", r.Format, notes)
	}
	wantFault(t, folder(t, map[string]string{"q.jsonl": "{\"text\":\"a\"}\n{\"text\":\"\"}"}), "",
		"q.jsonl:2: the turn has no content")
	wantFault(t, folder(t, map[string]string{"a.jsonl": `{"text":"a"}`, "b.jsonl": `{"messages":[]}`}), "",
		"b.jsonl is a raw_payload file", "random_pool")
	wantFault(t, folder(t, map[string]string{"a.txt": "x"}), "", "holds no .jsonl and no .json file")
	wantFault(t, folder(t, map[string]string{"a.jsonl": "", "b.jsonl": `{"text":"a"}`}), "random_pool",
		"a.jsonl contains no records")
	r = loadPath(t, write(t, "a.jsonl", `{"text":"a","delay":5}`), "random_pool")
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], `"delay"`) {
		t.Errorf("warnings %v", r.Warnings)
	}
}

// recorded is the schema of a baseten trace.
type recorded struct {
	Start    int64   `parquet:"timestamp_start_unix_ms"`
	Prompt   string  `parquet:"prompt"`
	Input    int32   `parquet:"input_tokens"`
	Output   int64   `parquet:"output_tokens"`
	Session  *string `parquet:"provided_session_id,optional"`
	Poor     string  `parquet:"poor_man_session_id"`
	Hashes   []int64 `parquet:"total_hashes,list"`
	Block    *int32  `parquet:"block_size,optional"`
	Canceled bool    `parquet:"request_canceled"`
	Duration float64 `parquet:"duration_e2e_ms"`
}

func basetenFile(t *testing.T) string {
	t.Helper()
	one, two, block := "one", "two", int32(64)
	path := filepath.Join(t.TempDir(), "trace.parquet")
	err := parquet.WriteFile(path, []recorded{
		{10_400, "c", 30, 3, &one, "x", []int64{1, 2}, &block, false, 100},
		{10_000, "a", 10, 1, &one, "x", []int64{1}, &block, true, 250},
		{10_100, "b", 20, 0, &two, "x", nil, nil, false, 50},
		{12_400, "d", 40, 4, nil, "y", nil, nil, false, 0},
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// played lists the turns of all conversations: text, time or +delay, limit, further members.
func played(d *dataset.Dataset) (all []string) {
	for _, c := range d.All() {
		var turns []string
		for _, t := range c.Turns {
			s := t.Texts[0].Contents[0]
			if t.TimestampMS != nil {
				s += fmt.Sprintf(" @%v", *t.TimestampMS)
			}
			if t.DelayMS != nil {
				s += fmt.Sprintf(" +%v", *t.DelayMS)
			}
			s += fmt.Sprintf(" max %d", *t.MaxTokens)
			for _, f := range t.Extra {
				s += fmt.Sprintf(" %s=%s", f.Name, f.Value)
			}
			turns = append(turns, s)
		}
		all = append(all, c.SessionID+": "+strings.Join(turns, ", "))
	}
	return all
}

func TestBaseten(t *testing.T) {
	path := basetenFile(t)
	limit := 120.0
	bare := recipe.Baseten{NoMinTokens: true, NoHints: true}
	with := func(change func(*recipe.Baseten)) recipe.Baseten { b := bare; change(&b); return b }
	for _, c := range []struct {
		name    string
		options recipe.Baseten
		want    []string
	}{
		{"as recorded", recipe.Baseten{}, []string{
			"one: a @0 max 1 min_tokens=1 hash_ids=[1] block_size=64, c @400 max 3 min_tokens=3 hash_ids=[1,2] " +
				"block_size=64",
			"two: b @100 max 1 min_tokens=1", ": d @2400 max 4 min_tokens=4"}},
		{"bare", bare, []string{"one: a @0 max 1, c @400 max 3", "two: b @100 max 1", ": d @2400 max 4"}},
		{"the other column", with(func(b *recipe.Baseten) { b.SessionColumn = "poor_man_session_id" }),
			[]string{"x: a @0 max 1, b @100 max 1, c @400 max 3", "y: d @2400 max 4"}},
		{"think times", with(func(b *recipe.Baseten) { b.ThinkTimes = true }),
			[]string{"one: a @0 max 1, c +150 max 3", "two: b @100 max 1", ": d @2400 max 4"}},
		{"think times capped", with(func(b *recipe.Baseten) { b.ThinkTimes, b.DelayCapMS = true, &limit }),
			[]string{"one: a @0 max 1, c +120 max 3", "two: b @100 max 1", ": d @2400 max 4"}},
		{"alone", with(func(b *recipe.Baseten) { b.Alone = true }),
			[]string{": a @0 max 1", ": b @100 max 1", ": c @400 max 3", ": d @2400 max 4"}},
		{"twice as fast", with(func(b *recipe.Baseten) { b.Speedup = 2 }),
			[]string{"one: a @0 max 1, c @200 max 3", "two: b @50 max 1", ": d @1200 max 4"}},
		{"idle gaps cut, after the speed-up", with(func(b *recipe.Baseten) { b.Speedup, b.IdleCapMS = 2, 500 }),
			[]string{"one: a @0 max 1, c @200 max 3", "two: b @50 max 1", ": d @700 max 4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := loadPath(t, path, "", func(o *Options) { o.Baseten = c.options })
			if got := played(r.Dataset); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			if r.Dataset.DefaultContextMode != dataset.MessageArrayWithResponses {
				t.Errorf("mode %s", r.Dataset.DefaultContextMode)
			}
		})
	}
	r := loadPath(t, path, "", func(o *Options) { o.MaxISL, o.MaxOSL = 35, 2 })
	if got := played(r.Dataset); len(got) != 2 || !strings.Contains(got[0], "c @400 max 2 min_tokens=2") {
		t.Errorf("filters: %q", got)
	}
	if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, "1 rows with more input") ||
		!strings.Contains(notes, "1 rows had their output lowered") {
		t.Errorf("notes %q", notes)
	}
	if _, err := LoadWith(context.Background(), write(t, "a.jsonl", `{"text":"a"}`), "",
		Options{Baseten: bare}); err == nil || !strings.Contains(err.Error(), "need a baseten_trace") {
		t.Errorf("error %v", err)
	}
}

// An Arrow file is read like a Parquet file, whatever of the usual endings it has.
func TestBasetenAsArrow(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "rows", "testdata", "trace.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"s: one @0 max 2 min_tokens=2 hash_ids=[1,2] block_size=64, two, three @200 max 4 min_tokens=4 " +
			"hash_ids=[1,2,3] block_size=64",
		": four @100 max 6 min_tokens=6 hash_ids=[9] block_size=64",
	}
	for _, name := range []string{"a.arrow", "a.ipc", "a.feather"} {
		r := loadPath(t, write(t, name, string(data)), "")
		if got := played(r.Dataset); r.Format != "baseten_trace" || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s, got %q", name, r.Format, got)
		}
		wantFault(t, write(t, name, string(data[:len(data)-9])), "",
			name+" is not an Arrow file that can be read: it does not end with ARROW1: it is cut off")
	}
}

func TestBasetenAsLines(t *testing.T) {
	lines := `{"timestamp_start_unix_ms":5000,"prompt":"a","input_tokens":1,"output_tokens":2,"poor_man_session_id":7}
{"timestamp_start_unix_ms":5500.5,"prompt":"b","input_tokens":1,"output_tokens":2,"poor_man_session_id":7,"total_hashes":[9]}`
	r := loadPath(t, write(t, "a.jsonl", lines), "baseten_trace")
	want := []string{"7: a @0 max 2 min_tokens=2, b @500.5 max 2 min_tokens=2 hash_ids=[9]"}
	if got := played(r.Dataset); !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	for line, fault := range map[string]string{
		`{"prompt":"a","input_tokens":1,"output_tokens":2}`:                                                  `field "timestamp_start_unix_ms" is missing`,
		`{"timestamp_start_unix_ms":1,"prompt":"","input_tokens":1,"output_tokens":2}`:                       `field "prompt": want a text that is not empty`,
		`{"timestamp_start_unix_ms":1,"prompt":"a","input_tokens":"1","output_tokens":2}`:                    `field "input_tokens": want a number of at least 0, got "1"`,
		`{"timestamp_start_unix_ms":1,"prompt":"a","input_tokens":1,"output_tokens":-2}`:                     `field "output_tokens": want a number of at least 0, got -2`,
		`{"timestamp_start_unix_ms":1,"prompt":"a","input_tokens":1,"output_tokens":2,"total_hashes":["x"]}`: `field "total_hashes": want a list of whole numbers`,
		`{"timestamp_start_unix_ms":1,"prompt":"a","input_tokens":1,"output_tokens":2,"block_size":0}`:       `field "block_size": want a whole number above 0, got 0`,
	} {
		wantFault(t, write(t, "a.jsonl", "\n"+line), "baseten_trace", "a.jsonl:2: "+fault)
	}
}

func TestShareOfSessionsIsKeptWhole(t *testing.T) {
	var lines strings.Builder
	for i := range 400 {
		fmt.Fprintf(&lines, `{"timestamp_start_unix_ms":%d,"prompt":"p","input_tokens":1,"output_tokens":2,"provided_session_id":"s%d"}`+"\n", i, i%100)
	}
	r := loadPath(t, write(t, "a.jsonl", lines.String()), "baseten_trace", func(o *Options) { o.Baseten.Share = 0.3 })
	if n := r.Dataset.Len(); n < 15 || n > 45 {
		t.Errorf("%d of 100 sessions", n)
	}
	for _, c := range r.Dataset.All() {
		if len(c.Turns) != 4 {
			t.Fatalf("a session of %d turns", len(c.Turns))
		}
	}
}

func FuzzFormats(f *testing.F) {
	for _, s := range []string{inputs, capture("2026-01-01T00:00:00Z", `{"messages":[{}]}`, "JSON", "{}"),
		`{"text":"a"}`,
		`{"timestamp_start_unix_ms":1,"prompt":"a","input_tokens":1,"output_tokens":2}`} {
		for i := range fuzzedFormats {
			f.Add(i, []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, which int, content []byte) {
		format := fuzzedFormats[uint(which)%uint(len(fuzzedFormats))]
		path := filepath.Join(t.TempDir(), "data.jsonl")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := LoadWith(context.Background(), path, format, Options{Draws: 2, Seed: random.Root(1)})
		if err != nil {
			if !strings.Contains(err.Error(), "data.jsonl") {
				t.Errorf("%s: the error does not name the file: %v", format, err)
			}
			return
		}
		for _, c := range r.Dataset.All() {
			if len(c.Turns) == 0 {
				t.Errorf("%s: a conversation without turns", format)
			}
			for _, turn := range c.Turns {
				if turn.RawPayload != nil && !json.Valid(turn.RawPayload) {
					t.Errorf("%s: a payload that is not JSON: %q", format, turn.RawPayload)
				}
			}
		}
	})
}

var fuzzedFormats = []string{"raw_payload", "inputs_json", "sagemaker_data_capture", "random_pool", "baseten_trace"}

// Broken files are errors, or rows that can be refused; they neither crash the reader nor keep it. This
// is no fuzz target because the coverage of the library makes it a hundred times slower.
func TestBrokenParquetFiles(t *testing.T) {
	good, err := os.ReadFile(basetenFile(t))
	if err != nil {
		t.Fatal(err)
	}
	path, r := filepath.Join(t.TempDir(), "a.parquet"), random.Root(7).Stream("broken").At(0)
	broken := 0
	for range 500 {
		content := bytes.Clone(good)
		for range 1 + r.IntN(4) {
			content[r.IntN(len(content))] = byte(r.Uint64())
		}
		if r.IntN(4) == 0 {
			content = content[:r.IntN(len(content))]
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		rows := 0
		if err := eachTypedRow(context.Background(), path, func(int, *object) { rows++ }); err != nil {
			broken++
			if !strings.Contains(err.Error(), path) {
				t.Errorf("the error does not name the file: %v", err)
			}
		}
		if rows > 1<<20 {
			t.Fatalf("%d rows of %d bytes", rows, len(content))
		}
	}
	if broken < 50 {
		t.Errorf("only %d of 500 broken files are errors", broken)
	}
}
