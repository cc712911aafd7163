package anonymize_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/traffic/anonymize"
	"aiperf/internal/traffic/files"
	"aiperf/internal/traffic/row"
	"aiperf/internal/workload/loader"
	"aiperf/internal/workload/recording"
	"aiperf/internal/workload/tokenizer"
)

// scripts are sentences of which no part may be found again, among them some without spaces.
var scripts = []string{
	"Alpenglühen über dem stillen See bei Nacht", "Ещё один секрет старого дома у реки", "هذه رسالة سرية جدا من صديق قديم",
	"זה סוד גדול מאוד של הבית הישן", "यह एक गुप्त संदेश है जो यहाँ है", "ข้อความลับของบ้านเก่าริมน้ำ", "秘密藏在河边那座老房子里",
	"かわのそばのふるいいえのひみつ", "강가에 있는 오래된 집의 비밀 메시지", "Ένα μυστικό του παλιού σπιτιού στο ποτάμι",
	"🔑 the key 🗝 of the old house 🏠 by the river",
}

// planted stand in the fields beside the texts.
var planted = []string{"planted", "alice@example.com", "sk-live-0123456789abcdef", "203.0.113.77"}

func text() string {
	return strings.Join(scripts, ". ") + " Alice Smith, alice@example.com, sk-live-0123456789abcdef"
}

func quoted(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// request is a body with a planted text in each of its fields.
func request() string {
	return fmt.Sprintf(`{"model":"planted-model","user":"planted-user","stop":["planted stop"],"safety_identifier":"alice@example.com",`+
		`"metadata":{"planted-key":"planted-value","ip":"203.0.113.77"},"temperature":0.5,"seed":"planted-seed","max_tokens":"planted",`+
		`"tools":[{"type":"function","function":{"name":"planted_tool","description":%[1]s,"parameters":{"planted":{}}}}],`+
		`"messages":[{"role":"system","content":"planted"},{"role":"user","name":"planted-name","content":%[1]s},`+
		`{"role":"assistant","tool_calls":[{"id":"planted-call","type":"function","function":{"name":"planted_tool","arguments":%[1]s}}]},`+
		`{"role":"tool","tool_call_id":"planted-call","content":[{"type":"text","text":%[1]s}]}]}`, quoted(text()))
}

func reply() string {
	return fmt.Sprintf(`{"id":"planted-id","model":"planted-model","choices":[{"index":0,"finish_reason":"planted reason",`+
		`"message":{"role":"assistant","content":%[1]s,"reasoning_content":%[1]s}}],"usage":{"prompt_tokens":99,"completion_tokens":88},`+
		`"error_planted":"planted"}`, quoted(text()))
}

// inputs are files of each format with planted texts, and how many requests are in them.
func inputs() []struct {
	name, text     string
	rows           int
	timed, replies bool
} {
	told := quoted(text())
	item := `{"role":"planted-role","content":` + told + `}`
	events := strings.ReplaceAll(fmt.Sprintf(`{"perf_ns":2000000,"packets":[{"name":"data","value":%s}]},{"perf_ns":3000000,"packets":`+
		`[{"name":"planted","value":"planted"},{"name":"data","value":"[DONE]"}]}`, quoted(`{"choices":[{"delta":{"content":`+told+`}}]}`)), "\n", " ")
	return []struct {
		name, text     string
		rows           int
		timed, replies bool
	}{
		{"planted-bodies.jsonl", request() + "\n" + request() + "\n", 2, false, false},
		{"batch.jsonl", `{"custom_id":"planted-1","method":"POST","url":"/v1/chat/completions/planted","body":` + request() + `}`, 1, false, false},
		{"inputs.json", `{"data":[{"session_id":"planted-session","payloads":[` + request() + `,` + request() + `]}]}`, 2, false, false},
		{"sharegpt.json", `[{"id":"planted","conversations":[{"from":"system","value":"planted"},{"from":"human","value":` + told +
			`},{"from":"gpt","value":` + told + `},{"from":"human","value":"planted"},{"from":"gpt","value":"planted planted"}]}]`, 2, false, true},
		{"langsmith.json", `[{"id":"planted","run_type":"llm","name":"planted","trace_id":"planted","start_time":"2026-11-01T10:00:01",` +
			`"end_time":"2026-11-01T10:00:02","inputs":{"messages":[[` + item + `]]},"outputs":{"generations":[[{"text":` + told + `}]]},` +
			`"error":"planted","extra":{"invocation_params":{"model":"planted-model","temperature":0.5,"stop":["planted"]},` +
			`"metadata":{"thread_id":"planted","ls_model_name":"planted-model"}}},` +
			`{"id":"p","run_type":"llm","trace_id":"planted","start_time":"2026-11-01T10:00:00","end_time":"2026-11-01T10:00:00.5",` +
			`"inputs":{"messages":[` + item + `]},"outputs":{"messages":[{"content":"planted"}]}}]`, 2, true, true},
		{"langfuse.jsonl", `{"id":"p","traceId":"planted","sessionId":"planted","type":"GENERATION","startTime":"2026-11-01T10:00:01.000Z",` +
			`"endTime":"2026-11-01T10:00:03.000Z","model":"planted-model","input":` + quoted([]any{map[string]string{"role": "user", "content": text()}}) +
			`,"output":{"content":` + told + `},"metadata":{"p":"planted"},"usageDetails":{"input":4,"output":6}}`, 1, true, true},
		{"spans.jsonl", `{"resourceSpans":[{"resource":{"planted":"planted"},"scopeSpans":[{"spans":[{"traceId":"planted","name":"planted",` +
			`"startTimeUnixNano":"1793527200000000000","endTimeUnixNano":"1793527201000000000","attributes":[` +
			`{"key":"gen_ai.request.model","value":{"stringValue":"planted-model"}},{"key":"gen_ai.prompt.0.role","value":{"stringValue":"user"}},` +
			`{"key":"gen_ai.prompt.0.content","value":{"stringValue":` + told + `}},` +
			`{"key":"gen_ai.completion.0.content","value":{"stringValue":` + told + `}}]}]}]}]}`, 1, true, true},
		{"site.har", `{"log":{"entries":[{"startedDateTime":"2026-11-01T10:00:00.250Z","time":250,"request":{"method":"POST",` +
			`"url":"https://planted.example/v1/chat/completions?planted=1","headers":[{"name":"Authorization","value":"Bearer planted"}],` +
			`"postData":{"text":` + quoted(request()) + `}},"response":{"status":200,"content":{"mimeType":"application/json","text":` +
			quoted(reply()) + `}},"serverIPAddress":"203.0.113.77"}]}}`, 1, true, true},
		{"gateway.jsonl", `{"id":"planted","created_at":"2026-11-01T10:00:00Z","latency_ms":120,"user":"alice@example.com","request":` + request() +
			`,"response":` + reply() + `,"path":"/planted/v1/chat/completions","status":200}`, 1, true, true},
		{"gateway.json", `[{"timestamp":"2026-11-01T10:00:00Z","request_body":` + quoted(request()) + `,"response_body":` + quoted(reply()) +
			`,"session_id":"planted"}]`, 1, true, true},
		{"capture.jsonl", `{"captureData":{"endpointInput":{"data":` + quoted(base64.StdEncoding.EncodeToString([]byte(request()))) +
			`,"encoding":"BASE64"},"endpointOutput":{"data":` + quoted(reply()) + `,"encoding":"JSON"}},"eventMetadata":{"eventId":"planted",` +
			`"inferenceTime":"2026-11-01T10:00:00Z"}}`, 1, true, true},
		{"single.jsonl", `{"session_id":"planted","text":` + told + `,"output_length":7,"headers":{"X-Planted":"planted"}}`, 1, false, true},
		{"multi.jsonl", `{"session_id":"planted","turns":[{"text":` + told + `},{"text":"planted","delay":20}]}`, 2, false, false},
		{"log.csv", "created_at,prompt,completion_tokens,who\n2026-11-01T10:00:00Z,\"" + text() + "\",5,alice@example.com\n", 1, true, true},
		{"texts.txt", text() + "\nplanted\n", 2, false, false},
		{"profile_export_raw.jsonl", `{"metadata":{"conversation_id":"planted","x_correlation_id":"planted","worker_id":"planted",` +
			`"request_start_ns":1793527200000000000,"request_end_ns":1793527201000000000,"was_cancelled":false},"start_perf_ns":1000000,` +
			`"payload":` + request() + `,"request_headers":{"x":"planted"},"status":200,"responses":[` + events + `],"error":null}`, 1, true, true},
		{"traffic.jsonl", `{"aiperf_recording":1,"started_at":"2026-11-01T10:00:00Z","keep":"text","tokenizer":"planted","part":0}` + "\n" +
			`{"timestamp_ms":5,"endpoint":"planted","model":"planted-model","outcome":"planted","session_id":"planted","latency_ms":3,` +
			`"stop_reason":"planted","incomplete":"planted","sampling":{"planted":"planted","top_p":"planted"},"input_length":3,"output_length":3,` +
			`"request":` + request() + `,"reply":` + told + `}` + "\n", 1, true, true},
		{"traffic.jsonl", `{"aiperf_recording":1,"started_at":"2026-11-01T10:00:00Z","keep":"hashes","tokenizer":"planted","block_size":16,"part":0}` + "\n" +
			`{"timestamp_ms":5,"endpoint":"planted","model":"planted-model","outcome":"planted","session_id":"../planted","latency_ms":3,` +
			`"stop_reason":"planted","incomplete":"planted","sampling":{"planted":"planted"},"input_length":30,"output_length":3,"hash_ids":[7],` +
			`"user":"planted"}` + "\n", 1, true, true},
	}
}

func options(dir string, paths ...string) anonymize.Options {
	return anonymize.Options{Inputs: paths, Folder: dir, Keep: recording.KeepHashes, Tokenizer: tokenizer.Builtin(), BlockSize: 16,
		Salt: []byte("a salt of sixteen"), RenameModels: true}
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// written returns the rows in a folder.
func written(t *testing.T, dir string) (head recording.Head, rows []recording.Row) {
	t.Helper()
	err := recording.EachRow(filepath.Join(dir, recording.TrafficName), func(h *recording.Head, r *recording.Row) error {
		head, rows = *h, append(rows, *r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return head, rows
}

func TestNothingOfAnInputIsWritten(t *testing.T) {
	t.Parallel()
	// Parts of the sentences, too: of words with spaces, and of letters without.
	forbidden := append(slices.Clone(planted), "Alice", "a salt of", "river", "über", "секрет", "سرية", "סוד", "गुप्त", "ลับ", "秘密", "ひみつ",
		"비밀", "μυστικό", "🔑")
	for _, in := range inputs() {
		for _, keep := range []recording.Keep{recording.KeepHashes, recording.KeepLengths} {
			dir := t.TempDir()
			o := options(dir, file(t, in.name, in.text))
			o.Keep = keep
			r, err := anonymize.Run(context.Background(), o)
			if err != nil {
				t.Errorf("%s: %v", in.name, err)
				continue
			}
			if int(r.Rows) != in.rows || r.Untimed == in.timed || r.Checked.Texts == 0 {
				t.Errorf("%s: %+v", in.name, r)
			}
			_, rows := written(t, dir)
			for _, got := range rows {
				if got.InputLength == 0 || (got.OutputLength > 0) != in.replies && in.name != "multi.jsonl" {
					t.Errorf("%s: %+v", in.name, got)
				}
				if got.Model != "" && got.Model != "model-1" {
					t.Errorf("%s: the model %q", in.name, got.Model)
				}
			}
			noneOf(t, in.name, dir, forbidden)
		}
	}
}

// noneOf reads all files below a folder: neither their names nor what is in them has one of the texts, plain or escaped.
func noneOf(t *testing.T, what, dir string, texts []string) {
	t.Helper()
	found := 0
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			t.Error(err)
			return nil
		}
		content := []byte(entry.Name())
		if !entry.IsDir() {
			found++
			b, err := os.ReadFile(path)
			if err != nil {
				t.Error(err)
			}
			content = append(content, b...)
		}
		for _, text := range texts {
			if bytes.Contains(content, []byte(text)) || bytes.Contains(content, []byte(strings.Trim(quoted(text), `"`))) {
				t.Errorf("%s: %s has %q", what, entry.Name(), text)
			}
		}
		return nil
	})
	if found == 0 {
		t.Errorf("%s: there are no files", what)
	}
}

func TestNamesOfModelsAreWrittenUnlessTheyAreTexts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, want string }{
		{"meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-8B"}, {"/home/alice/models/llama", "llama"}, {`C:\Users\alice\llama`, "llama"},
		{"a sentence instead of a name of a model", "other"}, {"秘密", "other"}, {strings.Repeat("x", 129), "other"}, {"", ""},
	} {
		dir := t.TempDir()
		o := options(dir, file(t, "a.jsonl", `{"model":`+quoted(c.name)+`,"messages":[{"role":"user","content":"Hello"}]}`))
		o.RenameModels = false
		if _, err := anonymize.Run(context.Background(), o); err != nil {
			t.Error(err)
		}
		if _, rows := written(t, dir); rows[0].Model != c.want {
			t.Errorf("%q is written as %q, want %q", c.name, rows[0].Model, c.want)
		}
	}
}

func TestTheCheckFindsWhatSurvives(t *testing.T) {
	t.Parallel()
	words := anonymize.NewWords()
	for _, s := range scripts {
		words.Add([]byte(quoted(s)), true)
	}
	const head = `{"aiperf_recording":1,"started_at":"2026-11-01T10:00:00Z","keep":"hashes","tokenizer":"builtin","part":0}`
	good := `{"timestamp_ms":1.5e-3,"endpoint":"chat","model":"m","stream":true,"outcome":"ok","session_id":"0123456789abcdef","sampling":{"top_p":1}}`
	type bad struct{ name, line, want string }
	list := []bad{
		{"traffic.jsonl", good, ""},
		{"traffic-0001.jsonl", strings.Replace(good, "chat", "Alice", 1), "a text that no recording has"},
		{"traffic.jsonl", strings.Replace(good, `"m"`, `"m2"`, 1), "a text that no recording has"},
		{"traffic.jsonl", strings.Replace(good, `"ok"`, `"m"`, 1), "a text that no recording has"},
		{"traffic.jsonl", strings.Replace(good, `"stream"`, `"alice"`, 1), "a member that no recording has"},
		{"traffic.jsonl", strings.Replace(good, `0123456789abcdef`, `session of alice`, 1), "a text that no recording has"},
		{"traffic.jsonl", strings.Replace(good, `true`, `Alice`, 1), "there is something that is no number"},
		{"mooncake_trace.jsonl", `{"session_id":"0123456789abcdef`, "there is no JSON"},
		{"alice.jsonl", good, "the name of the file"},
		{filepath.Join("weka_trace", "alice.json"), good, "the name of the file"},
	}
	for _, s := range scripts {
		list = append(list, bad{"traffic.jsonl", strings.Replace(good, `"m"`, quoted("Re: "+s), 1), "five words of the input"},
			bad{"traffic.jsonl", strings.Replace(good, `"m"`, `"\u0020`+quoted(s)[1:], 1), "five words of the input"})
	}
	for _, c := range list {
		dir := t.TempDir()
		path := filepath.Join(dir, c.name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(head+"\n"+c.line+"\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		_, err := anonymize.Check(dir, words, []string{"m"}, "builtin")
		violation := new(anonymize.Violation)
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &violation) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %s: %v, want %q", c.name, c.line, err, c.want)
		}
	}
}

func TestSequencesOfWords(t *testing.T) {
	t.Parallel()
	words := anonymize.NewWords()
	words.Add([]byte(`{"a":"One two, three\nfour \"five\" six","b":"\u0441\u0435\u043a\u0440\u0435\u0442 b c d e"}`), true)
	for text, want := range map[string]bool{
		"one TWO three four five": true, "two three four five six": true, "one two three four": false, "three two one four five": false,
		"секрет b c d e": true, "one two three four fiver": false, "": false,
	} {
		if words.Has([]byte(text)) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
	// Names are one word.
	words.Add([]byte("gpt-4o-mini-2024-07-18"), false)
	if words.Has([]byte("gpt-4o-mini-2024-07-18")) {
		t.Error("a name of a model is taken for five words")
	}
}

// TestTextsGiveWhatTheRecorderHashes: a recording with texts, anonymized, has the rows of one with hashes.
func TestTextsGiveWhatTheRecorderHashes(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)
	made := map[recording.Keep][]recording.Row{}
	dirs := map[recording.Keep]string{}
	for _, keep := range []recording.Keep{recording.KeepText, recording.KeepHashes} {
		dir := t.TempDir()
		dirs[keep] = dir
		m := row.NewMemory(row.Options{Start: start, Keep: keep, Tokenizer: tokenizer.Builtin(), BlockSize: 4, Salt: []byte("a salt of sixteen")})
		w, err := files.Create(files.Options{Folder: dir, Keep: keep, Tokenizer: "builtin", BlockSize: 4, Start: start, Warn: func(s string) { t.Error(s) }})
		if err != nil {
			t.Fatal(err)
		}
		maker := m.Maker()
		messages := ""
		for i := range 12 {
			messages += fmt.Sprintf(`{"role":"user","content":"This is turn %d of a conversation on rivers and mountains"}`, i)
			at, took := start.Add(time.Duration(i)*time.Second), 300*time.Millisecond
			one, thread := maker.Describe(&row.Exchange{At: at, Took: took, Path: "/v1/chat/completions",
				Request: []byte(`{"model":"m","stream":true,"temperature":0.1,"messages":[` + messages + `]}`), Status: 200, Outcome: "ok",
				ContentType: "application/json", Reply: []byte(`{"choices":[{"message":{"content":"It is so."},"finish_reason":"stop"}]}`)})
			m.Place(one, thread, at, at.Add(took))
			messages += `,{"role":"assistant","content":"It is so."},`
			w.Add(one)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		_, made[keep] = written(t, dir)
	}
	dir := t.TempDir()
	o := options(dir, dirs[recording.KeepText])
	o.BlockSize, o.RenameModels = 4, false
	if _, err := anonymize.Run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	head, got := written(t, dir)
	if !head.StartedAt.Equal(start) || head.BlockSize != 4 || len(got) != 12 {
		t.Fatalf("%+v, %d rows", head, len(got))
	}
	for i := range got {
		want := made[recording.KeepHashes][i]
		want.SessionID = got[0].SessionID
		if quoted(got[i]) != quoted(want) {
			t.Errorf("got  %s\nwant %s", quoted(got[i]), quoted(want))
		}
	}
}

func TestTimesDecideTheOrder(t *testing.T) {
	t.Parallel()
	call := func(second int, messages string) string {
		return fmt.Sprintf(`{"id":"%[1]d","run_type":"llm","start_time":"2026-11-01T10:00:%02[1]d","end_time":"2026-11-01T10:00:%02[1]d.5",`+
			`"inputs":{"messages":[%s]},"outputs":{"content":"yes"}}`, second, messages)
	}
	user := `{"role":"user","content":"a question of some length"}`
	// The newest first, as exports have them; each has an id of its own, and the messages tell the session.
	list := []string{call(4, user+`,{"role":"assistant","content":"yes"},`+user), call(2, user)}
	text := strings.ReplaceAll("["+strings.Join(list, ",")+"]", `"id":"4"`, `"trace_id":"t","id":"4"`)
	text = strings.ReplaceAll(text, `"id":"2"`, `"trace_id":"t","id":"2"`)
	dir := t.TempDir()
	if _, err := anonymize.Run(context.Background(), options(dir, file(t, "runs.json", text))); err != nil {
		t.Fatal(err)
	}
	_, rows := written(t, dir)
	if rows[0].TimestampMS != 0 || rows[1].TimestampMS != 2000 || rows[1].Turn != 1 || rows[1].ThinkMS == nil || *rows[1].ThinkMS != 1500 ||
		rows[0].SessionID != rows[1].SessionID || rows[0].LatencyMS != 500 {
		t.Errorf("%s\n%s", quoted(rows[0]), quoted(rows[1]))
	}
	// Both traces are read by those who play them.
	for name, format := range map[string]string{recording.MooncakeName: "mooncake_trace", recording.WekaName: "weka_trace"} {
		r, err := loader.LoadWith(context.Background(), filepath.Join(dir, name), format, loader.Options{BlockSize: 16, Models: []string{"m"}})
		if err != nil || r.Dataset.Conversations.Len() != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInputsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, format, want string }{
		{"a.jsonl", `{"messages":[{"role":"user","content":"x"}]}` + "\n" + `{"messages":`, "", "a.jsonl:2:"},
		{"a.csv", "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n1,m,2,3,5,x\n", "", "is not read here"},
		{"a.json", `[{"id":"1","run_type":"chain","inputs":{"q":"x"}}]`, "langsmith", "there is no request in 1 records"},
		{"a.jsonl", `{"aiperf_recording":7}` + "\n", "", "this is no recording of this version"},
	} {
		dir := t.TempDir()
		o := options(dir, file(t, c.name, c.text))
		o.Format = c.format
		_, err := anonymize.Run(context.Background(), o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: %v is left", c.name, left)
		}
	}
}

// TestMemoryIsBounded reads 40 MB of requests with a peak of the heap far below: the filter of words takes 32 MiB, rows
// that wait 16 MiB.
func TestMemoryIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "big.jsonl")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	const requests = 40_000
	for i := range requests {
		fmt.Fprintf(out, `{"session_id":"s%d","text":"%d %s"}`+"\n", i/400, i, strings.Repeat("rain on the river ", 55))
	}
	size, _ := out.Seek(0, io.SeekCurrent)
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	peak := uint64(0)
	o := options(t.TempDir(), path)
	counted := &counting{Tokenizer: o.Tokenizer, each: func(n int) {
		if n%(requests/20) == 0 {
			runtime.GC()
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc-min(m.HeapAlloc, before))
		}
	}}
	o.Tokenizer = counted
	r, err := anonymize.Run(context.Background(), o)
	if err != nil || r.Rows != requests {
		t.Fatal(r, err)
	}
	if most := uint64(100 << 20); peak > most || size < 38<<20 || counted.n < requests {
		t.Errorf("%d MB of requests took %d MB of memory at most, want less than %d", size>>20, peak>>20, most>>20)
	}
	if left, _ := filepath.Glob(filepath.Join(o.Folder, ".*")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// counting is a tokenizer that tells how often it was asked.
type counting struct {
	tokenizer.Tokenizer
	n    int
	each func(int)
}

func (c *counting) Encode(dst []int, text string) []int {
	c.n++
	c.each(c.n)
	return c.Tokenizer.Encode(dst, text)
}
