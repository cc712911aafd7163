package loader

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/header"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/recipe"
)

// headersIn lists the headers of each turn, and those of the whole conversation before them.
func headersIn(d *dataset.Dataset) string {
	var lines []string
	for _, c := range d.All() {
		line := ""
		for _, h := range c.Headers {
			line += fmt.Sprintf("all %s=%s; ", h.Name, h.Value)
		}
		for _, t := range c.Turns {
			line += "["
			for _, h := range t.Headers {
				line += fmt.Sprintf(" %s=%s", h.Name, h.Value)
			}
			line += " ]"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestRowsHaveHeaders(t *testing.T) {
	for _, c := range []struct{ format, text, want string }{
		{"single_turn", `{"text":"a","headers":{"X-Tenant":"t1","X-N":5,"x-flag":true}}
{"text":"b"}`, "[ X-Tenant=t1 X-N=5 x-flag=true ]\n[ ]"},
		{"multi_turn", `{"headers":{"X-Tenant":"t1","X-Turn":"all"},"turns":[{"text":"a"},{"text":"b","headers":{"x-turn":"own"}}]}`,
			"[ X-Tenant=t1 X-Turn=all ][ X-Tenant=t1 x-turn=own ]"},
		{"mooncake_trace", `{"input_length":5,"session_id":"s","headers":{"X-Tenant":"t1"}}
{"text_input":"x","session_id":"s","headers":null}
{"payload":{"messages":[]},"headers":{"X-Tenant":"t2"}}`, "[ X-Tenant=t1 ][ ]\n[ X-Tenant=t2 ]"},
		{"bailian_trace", `{"chat_id":1,"parent_chat_id":-1,"timestamp":0,"input_length":5,"output_length":2,"headers":{"X-Tenant":"t1"}}`,
			"[ X-Tenant=t1 ]"},
		{"raw_payload", `{"payload":{"messages":[{"role":"user","content":"a"}]},"headers":{"X-Tenant":"t1"}}
{"messages":[{"role":"user","content":"a"}],"headers":{"any":["body"]}}`, "[ X-Tenant=t1 ]\n[ ]"},
		{"openai_batch", `{"custom_id":"1","method":"POST","url":"/v1","body":{"messages":[]},"headers":{"X-Tenant":"t1"}}`,
			"[ X-Tenant=t1 ]"},
		{"inputs_json", `{"data":[{"session_id":"a","headers":{"X-Tenant":"t1"},"payloads":[{"n":1},{"n":2}]},
{"session_id":"b","headers":[null,{"X-Tenant":"t2"}],"payloads":[{"n":1},{"n":2}]}]}`,
			"[ X-Tenant=t1 ][ X-Tenant=t1 ]\n[ ][ X-Tenant=t2 ]"},
		{"dag_jsonl", `{"session_id":"a","headers":{"X-Tenant":"t1"},"turns":[{"messages":[{"role":"user","content":"a"}],"headers":{"X-Turn":"1"}}]}`,
			"all X-Tenant=t1; [ X-Turn=1 ]"},
		{"table", `{"question":"a","max_tokens":5,"headers":{"X-Tenant":"t1"}}
{"question":"b","max_tokens":5}`, "[ X-Tenant=t1 ]\n[ ]"},
	} {
		for _, indexFrom := range []int64{0, 1} {
			path := filepath.Join(t.TempDir(), "data.jsonl")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := LoadWith(context.Background(), path, c.format, Options{IndexFrom: indexFrom})
			if err != nil {
				t.Errorf("%s: %v", c.format, err)
				continue
			}
			if got := headersIn(r.Dataset); got != c.want {
				t.Errorf("%s, indexed from %d:\n got %s\nwant %s", c.format, indexFrom, got, c.want)
			}
			if len(r.Warnings) > 0 {
				t.Errorf("%s: %q", c.format, r.Warnings)
			}
		}
	}
}

// What beside the body stands in a line of bodies is not sent with it.
func TestBodyBesideHeadersIsSentAlone(t *testing.T) {
	r := load1(t, `{"headers":{"X-Tenant":"t1"}, "payload": {"messages":[],"max_tokens":7} }`, "raw_payload")
	turn := r.Dataset.At(0).Turns[0]
	if string(turn.RawPayload) != `{"messages":[],"max_tokens":7}` || turn.MaxTokens == nil || *turn.MaxTokens != 7 {
		t.Errorf("%s, %v", turn.RawPayload, turn.MaxTokens)
	}
}

func TestHeadersOfRowsAreChecked(t *testing.T) {
	for _, c := range []struct{ format, text, want string }{
		{"single_turn", `{"text":"a"}` + "\n" + `{"text":"a","headers":{"X Y":"secret"}}`,
			`:2: field "headers": the name of a header is letters, digits and dashes`},
		{"single_turn", `{"text":"a","headers":{"X-Y":"secret\nX-Z: 1"}}`,
			`:1: field "headers": the value of header X-Y contains a line break`},
		{"single_turn", `{"text":"a","headers":{"content-type":"secret"}}`,
			`:1: field "headers": the header content-type describes`},
		{"single_turn", `{"text":"a","headers":{"Connection":"close"}}`,
			`:1: field "headers": the header Connection describes`},
		{"single_turn", `{"text":"a","headers":{"X-Y":["secret"]}}`,
			`:1: field "headers": the value of header X-Y is neither a text nor a number`},
		{"single_turn", `{"text":"a","headers":["secret"]}`,
			`:1: field "headers": want an object with the names and texts of headers`},
		{"single_turn", `{"text":"a","headers":{"X-Y":"secret","x-y":"secret"}}`,
			`:1: field "headers": the header x-y occurs twice`},
		{"multi_turn", `{"turns":[{"text":"a"},{"text":"b","headers":{"TE":"secret"}}]}`,
			`:1: turns[1]: field "headers": the header TE`},
		{"multi_turn", `{"turns":[{"text":"a"}],"headers":{"TE":"secret"}}`, `:1: field "headers": the header TE`},
		{"mooncake_trace", `{"input_length":5,"headers":{"Upgrade":"secret"}}`,
			`:1: field "headers": the header Upgrade`},
		{"bailian_trace", `{"chat_id":1,"timestamp":0,"input_length":5,"output_length":2,"headers":{"Trailer":"secret"}}`,
			`:1: field "headers": the header Trailer`},
		{"raw_payload", `{"payload":{"messages":[]},"headers":{"Content-Length":"secret"}}`,
			`:1: field "headers": the header Content-Length`},
		{"openai_batch", `{"custom_id":"1","url":"/v1","body":{"messages":[]},"headers":{"Keep-Alive":"secret"}}`,
			`:1: field "headers": the header Keep-Alive`},
		{"inputs_json", `{"data":[` + "\n" + `{"session_id":"a","headers":[{}],"payloads":[{"n":1},{"n":2}]}]}`,
			`:2: the session "a": field "headers": want an object, or a list with an object for each of the 2 payloads`},
		{"inputs_json", `{"data":[` + "\n" + `{"session_id":"a","headers":{"Authorization":"<redacted>"},"payloads":[{"n":1}]}]}`,
			`:2: the session "a": field "headers": the value of header Authorization was hidden when the file was written`},
		{"dag_jsonl", `{"session_id":"a","headers":{"TE":"secret"},"turns":[{"messages":[{"role":"user","content":"a"}]}]}`,
			`:1: field "headers": the header TE`},
		{"table", `{"question":"a","max_tokens":5,"headers":{"X-Tenant":"t1"}}` + "\n" +
			`{"question":"b","max_tokens":5,"headers":{"Connection":"secret"}}`,
			`:2: the column "headers": the header Connection describes the connection or the body, and is written by the ` +
				`client alone; --map headers= leaves it out`},
	} {
		path := filepath.Join(t.TempDir(), "data.jsonl")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(context.Background(), path, c.format)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %s\n got %v\nwant %s", c.format, c.text, err, c.want)
		}
	}
}

// A log that recorded the whole heads of its requests is read as before.
func TestRecordedHeadsAreNoHeadersOfATable(t *testing.T) {
	const text = `{"question":"a","max_tokens":5,"headers":{"Content-Type":"application/json","Authorization":"Bearer k"}}`
	if got := headersIn(load1(t, text, "table").Dataset); got != "[ ]" {
		t.Error(got)
	}
}

func TestColumnOfHeaders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.csv")
	text := "prompt,extra\nhello,\"{\"\"X-Tenant\"\":\"\"t1\"\"}\"\nworld,\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := LoadWith(context.Background(), path, "table",
		Options{Columns: []recipe.Column{{Role: "headers", Column: "extra"}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := headersIn(r.Dataset); got != "[ X-Tenant=t1 ]\n[ ]" {
		t.Error(got)
	}
}

// Credentials are gathered from memory and from chunks of a large file, each once, and not without a bound.
func TestCredentialsOfRows(t *testing.T) {
	var rows strings.Builder
	for i := range 500 {
		fmt.Fprintf(&rows, `{"text":"a","headers":{"Authorization":"Bearer k%d","X-Tenant":"t%d"}}`+"\n", i%150, i)
	}
	for i := range 500 {
		fmt.Fprintf(&rows, `{"text":"a","headers":{"X-API-Key":"k%d"}}`+"\n", i%100)
	}
	path := filepath.Join(t.TempDir(), "data.jsonl")
	if err := os.WriteFile(path, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, indexFrom := range []int64{0, 1} {
		r, err := LoadWith(context.Background(), path, "single_turn", Options{IndexFrom: indexFrom})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(r.Dataset.Credentials); n != 200 {
			t.Errorf("%d credentials", n)
		}
		if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, "more than 200 different credentials") {
			t.Errorf("the notes say nothing of it: %s", notes)
		}
	}
}

func TestNamesAndValuesOfHeaders(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"X-Tenant", "a b\tc é", ""},
		{"x_1", "", ""},
		{"Host", "models.example.com", ""},
		{"", "v", "the name of a header"},
		{"X Tenant", "v", "the name of a header"},
		{"X-Ténant", "v", "the name of a header"},
		{"X-Tenant:", "v", "the name of a header"},
		{"Content-Type", "text/plain", "header Content-Type describes"},
		{"content-LENGTH", "1", "header content-LENGTH describes"},
		{"Connection", "close", "header Connection describes"},
		{"TE", "trailers", "header TE describes"},
		{"X-Key", "secret\r\nX-Other: 1", "header X-Key contains a line break"},
		{"X-Key", "secret\x00", "header X-Key contains a control character"},
	} {
		err := header.Check(c.name, c.value)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %q gives %v, want %q", c.name, c.value, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error repeats the value: %v", err)
		}
	}
}
