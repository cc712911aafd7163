package analysis

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"aiperf/internal/base/testkit"
)

func raw(session string, turn int, at int64, payload, more string) string {
	return fmt.Sprintf(`{"metadata":{"x_request_id":"%s-%d","x_correlation_id":%q,"conversation_id":"of %s","turn_index":%d,"request_start_ns":%d,"request_end_ns":%d%s,"payload":%s,"responses":[]}`,
		session, turn, session, session, turn, at*1e6, at*1e6+2_500_000, more, payload)
}

const plain = `,"benchmark_phase":"profiling"}`

func file(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "profile_export_raw.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// told lists a book: a line for each conversation, turn and message.
func told(b *Book) []string {
	var out []string
	for _, c := range b.Conversations {
		out = append(out, fmt.Sprintf("%s depth %d hidden %d", c.Name, c.Depth, c.Hidden))
		for _, t := range c.Turns {
			out = append(out, strings.TrimSpace(fmt.Sprintf(" turn %d, %.1f ms, %d repeated %s", t.Index, t.MS,
				t.Repeated, t.Note)))
			for _, m := range t.Messages {
				body := b.Bodies[m.Body]
				text := fmt.Sprintf("  %s #%d %s", m.Role, m.Body, body.Text)
				if body.Rest > 0 {
					text += fmt.Sprintf(" +%d", body.Rest)
				}
				out = append(out, text)
			}
		}
	}
	return out
}

func TestBookOfARun(t *testing.T) {
	path := file(t,
		raw("child", 0, 1, `{"messages":[{"role":"user","content":"do it"}]}`,
			`,"agent_depth":1,"parent_correlation_id":"a"`+plain),
		raw("b", 0, 5, `{"prompt":"hello"}`, `,"was_cancelled":true`+plain),
		raw("a", 0, 2, `{"messages":[{"role":"system","content":"be kind"},{"role":"user","content":"hello"}]}`, plain),
		raw("a", 1, 9, `{"messages":[{"role":"system","content":"be kind"},{"role":"user","content":"hello"},{"role":"assistant","content":"good day"},{"role":"user","content":"and now a long one"}]}`, plain),
		`{"metadata":{"x_request_id":"a-2","x_correlation_id":"a","conversation_id":"of a","turn_index":2,"request_start_ns":20000000,"request_end_ns":21000000},"payload":{},"error":{"type":"X","message":"went wrong"}}`,
	)
	limits := DefaultBookLimits()
	limits.Content = 10
	outputs := filepath.Join(t.TempDir(), "outputs.json")
	if err := os.WriteFile(outputs,
		[]byte(`{"schema_version":"1.1","data":[{"x_request_id":"a-0","response_text":"good day"},
		{"x_request_id":"other","response_text":"x"}],"warmup":[{"x_request_id":"b-0","response_text":null}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	book, err := ReadBook(path, outputs, "run", limits)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"of a depth 0 hidden 0",
		"turn 0, 2.5 ms, 0 repeated", "  system #2 be kind", "  user #1 hello", "  reply #3 good day",
		"turn 1, 2.5 ms, 2 repeated", "  system #2 be kind", "  user #1 hello", "  assistant #3 good day",
		"  user #4 and now a  +8",
		"turn 2, 1.0 ms, 0 repeated went wrong",
		"of b depth 0 hidden 0",
		"turn 0, 2.5 ms, 0 repeated cancelled", "  user #1 hello",
		"of child depth 1 hidden 0",
		"turn 0, 2.5 ms, 0 repeated", "  user #0 do it",
	}
	if got := told(book); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLimits(t *testing.T) {
	var lines []string
	for c := range 5 {
		for turn := range 4 {
			lines = append(lines, raw(fmt.Sprint("s", c), turn, int64(c*10+turn),
				fmt.Sprintf(`{"prompt":"%d %d"}`, c, turn), plain))
		}
	}
	book, err := ReadBook(file(t, lines...), "none", "run", BookLimits{Conversations: 2, Turns: 3, Content: 100})
	if err != nil {
		t.Fatal(err)
	}
	if len(book.Conversations) != 2 || book.Hidden != 3 || book.Conversations[1].Name != "of s1" ||
		len(book.Conversations[1].Turns) != 3 ||
		book.Conversations[1].Hidden != 1 || len(book.Bodies) != 6 {
		t.Errorf("%+v", told(book))
	}
}

func TestNoRawRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadBook(path, "", "", DefaultBookLimits()); !errors.Is(err, ErrNoRaw) {
		t.Error(err)
	}
	if _, err := ReadBook(path+"none", "", "", DefaultBookLimits()); !errors.Is(err, ErrNoRaw) {
		t.Error(err)
	}
}

func TestMessagesOfBodies(t *testing.T) {
	for name, test := range map[string]struct {
		body string
		want []promptText
	}{
		"chat with parts": {
			`{"messages":[{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"input_audio","input_audio":{"data":"BBB","format":"wav"}},{"type":"video_url","video_url":{"url":"http://x/v"}}]}]}`,
			[]promptText{{"user", "look\n[image data:image/png;base64, 4 characters]\n[audio wav, 3 characters of " +
				"base64]\n[video http://x/v]"}},
		},
		"tool calls": {
			`{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"1"}]},{"role":"tool","content":"done"}]}`,
			[]promptText{{"assistant", "[\n  {\n    \"id\": \"1\"\n  }\n]"}, {"tool", "done"}},
		},
		"system apart": {`{"system":"be kind","messages":[{"role":"user","content":"hi"}]}`,
			[]promptText{{"system", "be kind"}, {"user", "hi"}}},
		"system as parts": {`{"system":[{"type":"text","text":"be kind"}],"messages":[]}`,
			[]promptText{{"system", "be kind"}}},
		"responses":       {`{"instructions":"be kind","input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]}]}`, []promptText{{"system", "be kind"}, {"user", "hi"}}},
		"completions":     {`{"prompt":["one","two"]}`, []promptText{{"user", "one"}, {"user", "two"}}},
		"a prompt of ids": {`{"prompt":[1,2,3]}`, []promptText{{"user", "[1,2,3]"}}},
		"rankings": {`{"query":{"text":"q"},"passages":[{"text":"p"}]}`,
			[]promptText{{"query", "q"}, {"passages", "p"}}},
		"an unknown shape": {`{"frames":3}`, []promptText{{"body", "{\n  \"frames\": 3\n}"}}},
		"no object":        {`"form data"`, []promptText{{"body", "form data"}}},
		"nothing":          {``, nil},
		"an empty object":  {`{}`, nil},
		"tools are shown too": {`{"tools":[{"n":1}],"prompt":"x"}`,
			[]promptText{{"tools", "[\n  {\n    \"n\": 1\n  }\n]"}, {"user", "x"}}},
	} {
		if got := messages([]byte(test.body)); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestPageHoldsTextsAsTexts(t *testing.T) {
	book, err := ReadBook(file(t, raw("a", 0, 1, `{"prompt":"</script><script>alert(1)</script>\u009b"}`, plain)),
		"none", "<b>\x1b\u009b",
		DefaultBookLimits())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := book.WriteHTML(&out); err != nil {
		t.Fatal(err)
	}
	testkit.Page(t, "the page", out.String())
	for _, bad := range []string{"</script><script>", "<b>", "http://", "https://", "src="} {
		if strings.Contains(out.String(), bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if !strings.Contains(out.String(), `alert(1)`) {
		t.Error("the text is missing")
	}
}

func FuzzMessages(f *testing.F) {
	for _, body := range []string{`{"messages":[{"role":"user","content":[{"type":"text","text":"x"},3,null]}]}`,
		`{"prompt":[[1]]}`, `{"input":{}}`, `[1]`, `{"messages":[]}`, `{"prompt":[`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) { messages(body) })
}
