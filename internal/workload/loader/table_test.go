package loader

import (
	"context"
	"strings"
	"testing"

	"aiperf/internal/workload/recipe"
)

// described is what a file is read as: its format, its conversations with their texts, and the notes on it.
func described(r *Result) string {
	var all []string
	for _, c := range r.Dataset.All() {
		for _, turn := range c.Turns {
			for _, m := range turn.Texts {
				all = append(all, m.Contents...)
			}
			for _, m := range turn.RawMessages {
				all = append(all, string(m))
			}
		}
	}
	return r.Format + " " + shape(r.Dataset) + " " + strings.Join(all, "|")
}

// Rows are read by the usual names of their columns, whatever the file is: each line is a file as users have them.
func TestTablesAreReadByTheUsualNamesOfColumns(t *testing.T) {
	const clock = "1.7935272e+12" // 2026-11-01T10:00:00Z
	for _, c := range []struct{ file, text, want, note string }{
		{"qa.csv", "question,answer\nHow are you?,fine\n", "table (given) How are you?", "text from question; left out: answer"},
		{"p.csv", "prompt,max_tokens\nHow are you?,7\n", "table (given→7) How are you?", "text from prompt, output_length from max_tokens"},
		{"p.tsv", "prompt\tmax_tokens\nHow, are you?\t0\n", "table (given→1) How, are you?", ""},
		{"p.csv", "id;instruction;Max Tokens\n1;Sing;\n", "table (given) Sing", "left out: Max Tokens, id"},
		{"p.csv", "text,output_length\nHi,3\n", "text_csv (given→3) Hi", ""},
		{"log.jsonl", `{"ts":"2026-11-01T10:00:01Z","prompt":"Hi 2","completion_tokens":6}` + "\n" +
			`{"ts":"2026-11-01T12:00:00+02:00","prompt":"Hi","completion_tokens":5}`,
			"table (given→5@" + clock + ") (given→6@1.793527201e+12) Hi|Hi 2",
			"text from prompt, output_length from completion_tokens, timestamp from ts (times of the clock)"},
		{"log.jsonl", `{"timestamp":"2026-11-01 10:00:00","input_length":9,"output_length":5}`, "table (9→5@" + clock + ") ", ""},
		{"azure.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n2026-11-01 10:00:00.5000000,374,44\n2026-11-01 10:00:00.0000000,396,0\n",
			"table (396→1@" + clock + ") (374→44@1.7935272005e+12) ", "input_length from ContextTokens, output_length from GeneratedTokens"},
		{"s.jsonl", `{"created_at":1793527200,"question":"a","id":1}`, "table (given@" + clock + ") a", ""},
		{"us.jsonl", `{"created_at":1793527200000000,"question":"a"}`, "table (given@" + clock + ") a", ""},
		{"ns.jsonl", `{"time":"1793527200000000000","question":"a"}`, "table (given@" + clock + ") a", ""},
		{"rel.jsonl", `{"ts":0.25,"prompt_tokens":5}` + "\n" + `{"ts":1,"prompt_tokens":6}`, "table (5@250) (6@1000) ", "(seconds)"},
		{"rel.jsonl", `{"ts":25,"prompt_tokens":5}`, "table (5@25) ", "(milliseconds)"},
		{"a.json", "[\n {\"question\": \"a\"},\n {\"question\": \"\"},\n {\"question\": \"b\", \"x\": 1}\n]\n", "table (given) (given) a|b", ""},
		{"a.json", `["a", "b"]`, "table (given) (given) a|b", ""},
		{"m.jsonl", `{"conversation":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}],"thread_id":7}`,
			`table 7(given) {"content":"a","role":"user"}`, "1 recorded replies at the end of messages"},
		{"s.jsonl", `{"conversation_id":"x","question":"a"}` + "\n" + `{"conversation_id":"x","question":"b"}`,
			"table x(given given) a|b", ""},
		{"m.jsonl", `{"text":"a","output_length":3,"note":"x"}`, "single_turn (given→3) a", ""},
	} {
		r, err := Load(context.Background(), write(t, c.file, c.text), "")
		if err != nil {
			t.Errorf("%s %s: %v", c.file, c.text, err)
			continue
		}
		same(t, c.text, described(r), c.want)
		if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, c.note) {
			t.Errorf("%s: notes %s", c.text, notes)
		}
	}
}

func TestColumnsThatTheUserNames(t *testing.T) {
	for _, c := range []struct{ text, columns, want string }{
		{`{"body":{"q":"hi"},"n":4,"when":1793527200}`, "text=body.q,output_length=n,timestamp=when", "table (given→4@1.7935272e+12) hi"},
		{`{"question":"a","ts":5,"comment":"b"}`, "text=comment,timestamp=", "table (given) b"},
	} {
		var columns []recipe.Column
		for part := range strings.SplitSeq(c.columns, ",") {
			role, column, _ := strings.Cut(part, "=")
			columns = append(columns, recipe.Column{Role: role, Column: column})
		}
		r, err := LoadWith(context.Background(), write(t, "a.jsonl", c.text), "table", Options{Columns: columns})
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		same(t, c.text, described(r), c.want)
	}
}

func TestTablesThatCannotBeSent(t *testing.T) {
	for _, c := range []struct {
		file, text, want string
		columns          []recipe.Column
	}{
		{"a.csv", "a,b\n1,2\n", "no column is known as a prompt, messages, a length or a time; there are a, b", nil},
		{"a.csv", "question,b\nx,2\n", "--map text=c: there is no such column; there are b, question", []recipe.Column{{Role: "text", Column: "c"}}},
		{"a.csv", "question,max_tokens\nx,5\nx,many\n", `a.csv:3: the column "max_tokens": want a whole number of at least 0, got many`, nil},
		{"a.csv", "prompt_tokens,ts\n5,2026-11-01T10:00:00Z\n5,soon\n", `a.csv:3: the column "ts": want a time`, nil},
		{"a.csv", "prompt_tokens\n0\n", "none of its 1 rows is a request", nil},
	} {
		_, err := LoadWith(context.Background(), write(t, c.file, c.text), "table", Options{Columns: c.columns})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}
