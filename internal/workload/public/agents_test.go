package public_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/hub"
	"aiperf/internal/workload/public"
	"aiperf/internal/workload/recipe"
)

// spanAt is a call of a model from one second of a minute to another; more are further attributes.
func spanAt(from, to string, more ...string) string {
	attributes := append([]string{`"gen_ai.usage.input_tokens":12`, `"gen_ai.usage.output_tokens":7`}, more...)
	if !strings.Contains(strings.Join(more, ","), "input.messages") {
		attributes = append(attributes,
			`"gen_ai.input.messages":[{"role":"user","parts":[{"type":"text","content":"hi"}]}]`)
	}
	return fmt.Sprintf(`{"type":"llm_call","start_time":"2026-01-01T00:00:%sZ","end_time":"2026-01-01T00:00:%s","status":{"code":1},"attributes":{%s}}`,
		from, to, strings.Join(attributes, ","))
}

func sessionRow(harness, id, model string, spans ...string) string {
	return fmt.Sprintf(`{"harness":%q,"session_id":%q,"models":[%q],"benchmark":"swebench","spans":[%s]}`, harness, id,
		model, strings.Join(spans, ","))
}

func loadAgents(t *testing.T, o public.Options, rows ...string) *public.Result {
	t.Helper()
	r, err := tryAgents(t, o, rows...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func tryAgents(t *testing.T, o public.Options, rows ...string) (*public.Result, error) {
	t.Helper()
	if o.Name == "" {
		o.Name = "exgentic"
	}
	if o.Limit == 0 {
		o.Limit = 100
	}
	o.Hub, o.CacheDir = offline(t), t.TempDir()
	if o.Path == "" {
		o.Path = filepath.Join(t.TempDir(), "rows.jsonl")
		if err := os.WriteFile(o.Path, []byte(strings.Join(rows, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return public.Load(context.Background(), o)
}

// played are the conversations with the times or waits of their requests.
func played(d *dataset.Dataset) string {
	var all []string
	for _, c := range d.All() {
		var b strings.Builder
		b.WriteString(c.SessionID)
		for _, t := range c.Turns {
			b.WriteString(" ")
			if t.TimestampMS != nil {
				fmt.Fprintf(&b, "@%v", *t.TimestampMS)
			}
			if t.DelayMS != nil {
				fmt.Fprintf(&b, "+%v", *t.DelayMS)
			}
			fmt.Fprintf(&b, "→%d", *t.MaxTokens)
		}
		all = append(all, b.String())
	}
	return strings.Join(all, "; ")
}

func sameText(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

// A request waits after the end of the one before as the recorded one did; overlapping ones do not wait.
func TestSessionsOfAgentsWaitAsRecorded(t *testing.T) {
	rows := []string{
		sessionRow("claude_code", "a", "azure/gpt-4.1", spanAt("03", "08"), spanAt("00", "05"),
			spanAt("09.5", "10", `"gen_ai.request.max_tokens":64`)),
		sessionRow("tool_calling", "b", "Kimi-K2.5", spanAt("30", "31")),
	}
	r := loadAgents(t, public.Options{}, rows...)
	sameText(t, "waits", played(r.Dataset), "a →7 +0→7 +1500→64; b →7")
	if !strings.Contains(r.Notes[0], "2 sessions with 4 requests") ||
		!strings.Contains(r.Notes[0], "1 requests began before") {
		t.Errorf("note %q", r.Notes[0])
	}
	c := r.Dataset.At(0)
	if r.Dataset.Mode(c) != dataset.MessageArrayWithResponses || len(c.Headers) != 1 ||
		c.Headers[0] != (dataset.Header{Name: "x-dynamo-session-id", Value: "a"}) {
		t.Errorf("%s, %v", r.Dataset.Mode(c), c.Headers)
	}
	r = loadAgents(t, public.Options{Scheduled: true}, rows...)
	sameText(t, "schedule", played(r.Dataset), "a:1 @0→7; a:0 @3000→7; a:2 @9500→64; b:0 @0→7")
	sameText(t, "header", fmt.Sprint(r.Dataset.At(1).Headers), "[{x-dynamo-session-id a}]")
	sameText(t, "limit", played(loadAgents(t, public.Options{Limit: 1}, rows...).Dataset), "a →7 +0→7 +1500→64")
}

// Two overlapping spans: no negative wait, and two conversations at their own times in a schedule.
func TestOverlappingSpans(t *testing.T) {
	row := sessionRow("claude_code", "a", "gpt-4.1", spanAt("00", "05"), spanAt("03", "08"))
	r := loadAgents(t, public.Options{}, row)
	sameText(t, "waits", played(r.Dataset), "a →7 +0→7")
	if !strings.Contains(r.Notes[0], "; 1 requests began before") {
		t.Errorf("note %q", r.Notes[0])
	}
	sameText(t, "schedule", played(loadAgents(t, public.Options{Scheduled: true}, row).Dataset),
		"a:0 @0→7; a:1 @3000→7")
}

func TestSpansThatAreNoRequests(t *testing.T) {
	good := spanAt("00", "05")
	r := loadAgents(t, public.Options{}, sessionRow("claude_code", "a", "gpt-4.1",
		strings.Replace(good, `"type":"llm_call"`, `"type":"tool_call"`, 1),
		strings.Replace(good, `"type":"llm_call",`, ``, 1),
		strings.Replace(strings.Replace(good, `"type":"llm_call",`, ``, 1), `"attributes":{`,
			`"attributes":{"gen_ai.operation.name":"chat",`, 1),
		strings.Replace(good, `"code":1`, `"code":2`, 1),
		strings.Replace(good, `input_tokens":12`, `input_tokens":0`, 1),
		strings.Replace(good, `output_tokens":7`, `output_tokens":-1`, 1),
	), sessionRow("claude_code", "b", "gpt-4.1", strings.Replace(good, `"code":1`, `"code":2`, 1)))
	sameText(t, "kept", played(r.Dataset), "a →7")
	sameText(t, "note", r.Notes[0][strings.Index(r.Notes[0], "left out"):],
		"left out: 2 spans that are not calls of a model, 2 that failed, 2 without tokens, 1 sessions without "+
			"requests; 0 requests began before the answer to the one before")
}

func TestMessagesOfSpans(t *testing.T) {
	messages := `"gen_ai.input.messages":[
		{"role":"developer","parts":[{"type":"text","content":"be "},{"type":"text","content":"brief"}]},
		{"role":"user","parts":[{"type":"text","content":"a<b"}]},
		{"role":"assistant","parts":[{"type":"thinking","thinking":"h"},{"type":"thinking","content":"m"},{"type":"tool_call","id":"1","name":"ls","arguments":{"z":1,"a":[2]}},{"type":"tool_call","id":"2","name":"cat","arguments":"{}"}]},
		{"role":"user","parts":[{"type":"text","content":"wait"},{"type":"tool_call_response","id":"1","result":"x y"},{"type":"tool_call_response","id":"2","result":{"b":1,"a":2}},{"type":"text","content":"go"}]}]`
	want := []string{
		`{"role":"system","content":"rules"}`, `{"role":"system","content":"be brief"}`,
		`{"role":"user","content":"a<b"}`,
		`{"role":"assistant","content":"","reasoning_content":"hm","tool_calls":[{"id":"1","type":"function","function":{"name":"ls","arguments":"{\"z\":1,\"a\":[2]}"}},{"id":"2","type":"function","function":{"name":"cat","arguments":"{}"}}]}`,
		`{"role":"user","content":"wait"}`, `{"role":"tool","tool_call_id":"1","content":"x y"}`,
		`{"role":"tool","tool_call_id":"2","content":"{\"b\":1,\"a\":2}"}`, `{"role":"user","content":"go"}`,
	}
	asText, err := json.Marshal(strings.TrimPrefix(messages, `"gen_ai.input.messages":`))
	if err != nil {
		t.Fatal(err)
	}
	system := `"gen_ai.system_instructions":"[{\"type\":\"text\",\"content\":\"ru\"},{\"type\":\"text\",\"content\":\"les\"}]"`
	more := []string{`"gen_ai.request.temperature":0.7`, `"gen_ai.request.stop_sequences":["END"]`,
		`"gen_ai.tool.definitions":"[{\"type\":\"function\",\"name\":\"ls\",\"description\":\"list\",\"parameters\":{\"type\":\"object\"}},{\"type\":\"web\"}]"`}
	for name, attributes := range map[string][]string{
		"a list":       {system, messages},
		"a text":       {system, `"gen_ai.input.messages":` + string(asText)},
		"plain system": {`"gen_ai.system_instructions":"rules"`, messages},
	} {
		r := loadAgents(t, public.Options{}, sessionRow("claude_code", "a", "gpt-4.1",
			spanAt("00", "01", append(attributes, more...)...)))
		turn := r.Dataset.At(0).Turns[0]
		got := make([]string, len(turn.RawMessages))
		for i, m := range turn.RawMessages {
			got[i] = string(m)
		}
		want := want
		if name == "a list" { // whose members have no order
			got[3] = strings.Replace(got[3], `{\"a\":[2],\"z\":1}`, `{\"z\":1,\"a\":[2]}`, 1)
			got[6] = strings.Replace(got[6], `{\"a\":2,\"b\":1}`, `{\"b\":1,\"a\":2}`, 1)
		}
		if name == "plain system" {
			got[3], got[6] = want[3], want[6]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		sameText(t, "tools", fmt.Sprintf("%s", turn.RawTools),
			`[{"type":"function","function":{"name":"ls","description":"list","parameters":{"type":"object"}}}]`)
		sameText(t, "extra", fmt.Sprintf("%s", turn.Extra), `[{temperature 0.7} {stop ["END"]}]`)
	}
}

// Spans may be structures of columns, pairs of keys and values, or texts.
func TestSpansInParquet(t *testing.T) {
	type attributes struct {
		In       int64   `parquet:"gen_ai.usage.input_tokens"`
		Out      int64   `parquet:"gen_ai.usage.output_tokens"`
		Max      *int64  `parquet:"gen_ai.request.max_tokens,optional"`
		Messages string  `parquet:"gen_ai.input.messages"`
		Heat     float64 `parquet:"gen_ai.request.temperature"`
	}
	type status struct {
		Code int32 `parquet:"code"`
	}
	type span struct {
		Type       *string    `parquet:"type,optional"`
		Start      string     `parquet:"start_time"`
		End        string     `parquet:"end_time"`
		Status     status     `parquet:"status"`
		Attributes attributes `parquet:"attributes"`
	}
	type row struct {
		Harness string   `parquet:"harness"`
		ID      string   `parquet:"session_id"`
		Models  []string `parquet:"models,list"`
		Spans   []span   `parquet:"spans,list"`
	}
	type textRow struct {
		Harness string   `parquet:"harness"`
		ID      string   `parquet:"session_id"`
		Models  []string `parquet:"models,list"`
		Spans   string   `parquet:"spans"`
	}
	messages := `[{"role":"user","parts":[{"type":"text","content":"hi"}]}]`
	call, most := "llm_call", int64(9)
	dir := t.TempDir()
	structures, texts := filepath.Join(dir, "a.parquet"), filepath.Join(dir, "b.parquet")
	err := parquet.WriteFile(structures, []row{{"tool_calling", "a", []string{"gcp/gemini-3-pro-preview"}, []span{
		{&call, "2026-01-01T00:00:00", "2026-01-01T00:00:01", status{1}, attributes{5, 6, &most, messages, 0.5}},
		{&call, "2026-01-01T00:00:02", "2026-01-01T00:00:03", status{1}, attributes{5, 6, nil, messages, 1}},
		{nil, "2026-01-01T00:00:04", "2026-01-01T00:00:05", status{1}, attributes{5, 6, nil, messages, 1}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	r := loadAgents(t, public.Options{Path: structures,
		Filters: []recipe.Filter{{Column: "Source_Model", Value: "GEMINI-3-pro-preview"}}})
	sameText(t, "structures", played(r.Dataset), "a →9 +1000→6")
	sameText(t, "extra", fmt.Sprintf("%s", r.Dataset.At(0).Turns[0].Extra), "[{temperature 0.5}]")
	if err := parquet.WriteFile(texts,
		[]textRow{{"tool_calling", "a", []string{"m"}, "[" + spanAt("00", "01") + "]"}}); err != nil {
		t.Fatal(err)
	}
	sameText(t, "texts", played(loadAgents(t, public.Options{Path: texts}).Dataset), "a →7")
	// A list of keys and values stands for an object, of the attributes as of the span itself.
	pairs := func(o map[string]any) (list []any) {
		for key, value := range o {
			list = append(list, map[string]any{"key": key, "value": value})
		}
		return list
	}
	var one map[string]any
	if err := json.Unmarshal([]byte(spanAt("00", "01")), &one); err != nil {
		t.Fatal(err)
	}
	one["attributes"] = pairs(one["attributes"].(map[string]any))
	text, err := json.Marshal(pairs(one))
	if err != nil {
		t.Fatal(err)
	}
	r = loadAgents(t, public.Options{}, sessionRow("tool_calling", "a", "m", string(text)))
	sameText(t, "pairs", played(r.Dataset), "a →7")
}

func TestFiltersOfAgents(t *testing.T) {
	rows := []string{
		sessionRow("claude_code", "a", "openai/azure/gpt-4.1", spanAt("00", "01")),
		sessionRow("tool_calling", "b", "aws/claude-opus-4-5", spanAt("00", "01")),
		strings.Replace(sessionRow("tool_calling", "c", "Kimi-K2.5", spanAt("00", "01")), "swebench", "appworld", 1),
	}
	for _, c := range []struct{ name, filter, want string }{
		{"exgentic", "harness=Tool_Calling", "b →7; c →7"},
		{"exgentic", "source_model=AZURE/gpt-4.1", "a →7"},
		{"exgentic", "SOURCE_MODEL=gpt-4.1", "a →7"},
		{"exgentic", "source_model=gcp/Claude-Opus-4-5", "b →7"},
		{"exgentic_v2", "benchmark=swebench", "a →7; b →7"},
		{"exgentic_v2", "Benchmark=APPWORLD", "c →7"},
	} {
		column, value, _ := strings.Cut(c.filter, "=")
		r := loadAgents(t, public.Options{Name: c.name, Filters: []recipe.Filter{{Column: column, Value: value}}},
			rows...)
		sameText(t, c.name+" "+c.filter, played(r.Dataset), c.want)
	}
}

func TestFiltersOfAgentsThatNoSessionHas(t *testing.T) {
	for _, c := range []struct{ name, filters, want string }{
		{"exgentic", "benchmark=swebench", `there is no filter "benchmark"; there are harness, source_model`},
		{"exgentic", "problem=x", `there is no filter "problem"`},
		{"exgentic", "harness=x", "there are claude_code, openai_solo, smolagents_code, tool_calling, " +
			"tool_calling_with_shortlisting"},
		{"exgentic", "source_model=gpt-4",
			"there are DeepSeek-V3.2, Kimi-K2.5, claude-opus-4-5, gemini-3-pro-preview, gpt-4.1, gpt-5.2-2025-12-11"},
		{"exgentic", "harness=openai_solo source_model=gpt-5.2-2025-12-11",
			"the harness openai_solo has no sessions with gpt-5.2-2025-12-11"},
		{"exgentic", "harness=smolagents_code source_model=claude-opus-4-5",
			"it has them with DeepSeek-V3.2, Kimi-K2.5, gpt-4.1"},
		{"exgentic", "harness=tool_calling_with_shortlisting source_model=azure/gpt-4.1", "has no sessions"},
		{"exgentic", "harness=claude_code harness=tool_calling", "is given twice"},
		{"exgentic_v2", "source_model=gpt-4.1", "no harness of the data set has sessions with it"},
		{"exgentic_v2", "harness=claude_code source_model=gpt-4.1", "no harness"},
		{"exgentic_v2", "harness=tool_calling_with_shortlisting source_model=gpt-5.2-2025-12-11", "has no sessions"},
		{"exgentic_v2", "benchmark=tau2",
			"there are appworld, browsecompplus, swebench, tau2_airline, tau2_retail, tau2_telecom"},
	} {
		o := public.Options{Name: c.name}
		for f := range strings.FieldsSeq(c.filters) {
			column, value, _ := strings.Cut(f, "=")
			o.Filters = append(o.Filters, recipe.Filter{Column: column, Value: value})
		}
		if _, err := tryAgents(t, o, sessionRow("claude_code", "a", "m", spanAt("00", "01"))); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.name, c.filters, err, c.want)
		}
	}
	o := public.Options{Name: "exgentic", Limit: -1}
	if _, err := tryAgents(t, o); err == nil ||
		!strings.Contains(err.Error(), "--num-conversations, --num-dataset-entries or --request-count") {
		t.Errorf("no limit: %v", err)
	}
	if _, err := load(t, public.Options{Name: "sharegpt",
		Filters: []recipe.Filter{{Column: "id", Value: "b"}}}); err == nil ||
		!strings.Contains(err.Error(), "--dataset-filter has no meaning for sharegpt") {
		t.Errorf("sharegpt: %v", err)
	}
	if _, err := load(t, public.Options{Name: "aimo", Scheduled: true}); err == nil ||
		!strings.Contains(err.Error(), "rows have no times") {
		t.Errorf("schedule: %v", err)
	}
}

func TestFaultsOfSessions(t *testing.T) {
	good := sessionRow("claude_code", "a", "m", spanAt("00", "01"))
	for _, c := range []struct{ row, want string }{
		{strings.Replace(good, `output_tokens":7`, `output_tokens":7.5`, 1),
			`row 1: session "a", span 0: gen_ai.usage.output_tokens: want a whole number, got 7.5`},
		{strings.Replace(good, `"gen_ai.usage.input_tokens":12,`, ``, 1),
			`span 0: gen_ai.usage.input_tokens: want a whole number`},
		{strings.Replace(good, `00:00:00Z`, `00:00:09Z`, 1), `lies before "start_time"`},
		{strings.Replace(good, `2026-01-01T00:00:00Z`, `today`, 1), `"start_time": want a time`},
		{sessionRow("claude_code", "a", "m", spanAt("00", "01"), spanAt("00", "01", `"gen_ai.request.max_tokens":0`)),
			`span 1: gen_ai.request.max_tokens: want a whole number above 0, got 0`},
		{sessionRow("claude_code", "a", "m",
			spanAt("00", "01", `"gen_ai.input.messages":[{"role":"user","parts":[{"type":"image"}]}]`)),
			`message 0: part 0 has the unknown type "image"`},
		{sessionRow("claude_code", "a", "m", spanAt("00", "01", `"gen_ai.input.messages":[{"parts":[]}]`)),
			`message 0: the role is missing`},
		{sessionRow("claude_code", "a", "m", spanAt("00", "01", `"gen_ai.request.stop_sequences":[1]`)),
			`stop_sequences: want a list of texts`},
		{good + "\n" + good, `row 2: the session "a" occurs in an earlier row already`},
		{strings.Replace(good, `"session_id":"a"`, `"session_id":null`, 1), `the column "session_id" is empty`},
		{strings.Replace(good, `"models":["m"]`, `"models":[""]`, 1), `"models" holds something else than names`},
		{strings.Replace(good, `"harness":`, `"x":`, 1), `there is no column "harness"`},
		{strings.Replace(good, `llm_call`, `other`, 1),
			`1 have no successful call of a model; the rows are of claude_code with m`},
	} {
		if _, err := tryAgents(t, public.Options{}, c.row); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// Files of a hub are fetched one after the other, at one revision, until there are as many sessions as asked for.
func TestSessionsAreFetchedAsFarAsNeeded(t *testing.T) {
	o := public.Options{Name: "exgentic"}
	repo := o.Source().Repo
	const revision = "70036b93a04e61b0ea2706a68b962f4f26774587" // the only one of the data set that is read
	asked := map[string]int{}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/datasets/"+repo+"/", func(w http.ResponseWriter, r *http.Request) {
		asked[r.URL.Path]++
		fmt.Fprintf(w, `{"sha":%q,"siblings":[{"rfilename":"data/train-0.jsonl","blobId":"a0"},`+
			`{"rfilename":"data/train-1.jsonl","blobId":"a1"},{"rfilename":"data/train-2.jsonl","blobId":"a2"}]}`,
			revision)
	})
	mux.HandleFunc("/datasets/"+repo+"/resolve/"+revision+"/data/", func(w http.ResponseWriter, r *http.Request) {
		asked[r.URL.Path]++
		id := strings.TrimSuffix(filepath.Base(r.URL.Path), ".jsonl")
		harness := map[string]string{"train-0": "claude_code"}[id]
		if harness == "" {
			harness = "tool_calling"
		}
		fmt.Fprint(w, sessionRow(harness, id, "m", spanAt("00", "01")))
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	client := &hub.Client{Endpoint: server.URL, Dir: t.TempDir(), HTTP: http.DefaultClient}
	r, err := public.Load(context.Background(),
		public.Options{Name: "exgentic", Hub: client, CacheDir: t.TempDir(), Limit: 1,
			Filters: []recipe.Filter{{Column: "harness", Value: "tool_calling"}}})
	if err != nil {
		t.Fatal(err)
	}
	sameText(t, "sessions", played(r.Dataset), "train-1 →7")
	files := 0
	for path, n := range asked {
		if strings.HasSuffix(path, "train-2.jsonl") || n > 1 {
			t.Errorf("%s was asked for %d times", path, n)
		}
		if strings.HasSuffix(path, ".jsonl") {
			files++
		}
	}
	if files != 2 {
		t.Errorf("asked: %v", asked)
	}
}
