package loader

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// Every fault is one message that names the file, the line and what is wrong, whether the file is held in memory or
// not.
func TestFaultsOfFiles(t *testing.T) {
	const chat = `{"chat_id":1,"timestamp":0,"input_length":5,"output_length":3}` + "\n"
	for _, c := range []struct{ name, file, format, text, want string }{
		{"another format", "d.jsonl", "",
			`{"text":"a"}` + "\n" + `{"turns":[{"text":"b"}]}` + "\n" + `{"input_length":5}`,
			"d.jsonl:2: this looks like a multi_turn record, but the file is read as single_turn"},
		{"a turn among conversations", "d.jsonl", "", `{"turns":[{"text":"b"}]}` + "\n" + `{"text":"a"}`,
			"d.jsonl:2: this looks like a single_turn record, but the file is read as multi_turn"},
		{"a turn in a trace", "d.jsonl", "mooncake_trace", `{"text":"a"}`,
			"d.jsonl:1: this looks like a single_turn record"},
		{"a named record", "d.jsonl", "",
			`{"type":"single_turn","text":"a"}` + "\n" + `{"type":"mooncake_trace","input_length":5}`,
			"d.jsonl:2: field \"type\": this is a mooncake_trace record"},
		{"a missing field", "d.jsonl", "", chat + `{"chat_id":2,"timestamp":0,"input_length":5}`,
			`d.jsonl:2: field "output_length" is missing`},
		{"not a chat", "d.jsonl", "", chat + `{"input_length":5}`,
			"d.jsonl:2: this looks like a mooncake_trace record"},
		{"a chat twice", "d.jsonl", "", chat + "\n" + chat, `d.jsonl:3: field "chat_id": 1 was used before`},
		{"a key twice", "d.jsonl", "", `{"text":"a","text":"b"}`, `d.jsonl:1: the key "text" occurs twice`},
		{"a negative delay", "d.jsonl", "", `{"turns":[{"text":"a"},{"text":"b","delay":-5}]}`,
			`d.jsonl:1: turns[1]: field "delay": want a number of milliseconds of at least 0, got -5`},
		{"a negative time", "d.jsonl", "", `{"input_length":5}` + "\n" + `{"timestamp":-1,"input_length":5}`,
			`d.jsonl:2: field "timestamp"`},
		{"no number", "d.jsonl", "", `{"input_length":5}` + "\n" + `{"timestamp":NaN,"input_length":5}`,
			"d.jsonl:2: not valid JSON"},
		{"invalid UTF-8", "d.jsonl", "", "{\"text\":\"a\"}\n{\"text\":\"\xff\"}",
			"d.jsonl:2: the line is not UTF-8 text"},
		{"UTF-16", "d.jsonl", "single_turn", "\xff\xfe{\x00}\x00\n\x00",
			"d.jsonl:1: the file is UTF-16 text: convert it to UTF-8"},
		{"an indented object", "d.jsonl", "", "{\n \"text\": \"a\"\n}\n",
			"d.jsonl:1: not valid JSON: the text ends too early; a file of records has one JSON object a line"},
		{"a long line", "d.jsonl", "", `{"text":"a"}` + "\n" + `{"text":"` + strings.Repeat("x", 5<<20) + "\n" +
			`{"text":"b"}`, "d.jsonl:2: not valid JSON: the text ends too early"},
		{"blocks in the order of the lines", "d.jsonl", "",
			`{"input_length":5,"hash_ids":[1,2]}` + "\n" + `{"input_length":0}`,
			"d.jsonl:1: field \"hash_ids\": 2 ids of 512 tokens do not fit"},
		{"no gzip", "d.jsonl.gz", "", "text", "d.jsonl.gz:1: not valid JSON"},
		{"CSV without requests", "d.csv", "burst_gpt_trace",
			"Timestamp,Request tokens,Response tokens\na,b,c\n1,-1,5\n",
			"d.csv: none of its 2 rows is a request: see line 2, 3"},
		{"an empty file", "d.jsonl", "", "", "d.jsonl contains no records"},
		{"blank lines", "d.jsonl", "single_turn", "\n \n\t\n", "d.jsonl contains no records"},
	} {
		for _, from := range []int64{1, 1 << 40} {
			path := write(t, c.file, c.text)
			_, err := LoadWith(context.Background(), path, c.format, Options{IndexFrom: from})
			if err == nil {
				t.Errorf("%s: no error", c.name)
				continue
			}
			if got := strings.ReplaceAll(err.Error(), filepath.Dir(path)+string(filepath.Separator),
				""); !strings.HasPrefix(got, c.want) ||
				!strings.Contains(got, c.want) {
				t.Errorf("%s, indexed from %d: %s", c.name, from, got)
			}
		}
	}
}

func TestTimesThatGoBackAreTold(t *testing.T) {
	r := loadWith(t, `{"session_id":"s","timestamp":300,"input_length":5}
{"timestamp":100,"input_length":5}
{"session_id":"s","timestamp":200,"input_length":5}
{"session_id":"r","timestamp":9,"input_length":5}
{"session_id":"r","timestamp":8,"input_length":5}
`, "", Options{Scheduled: true})
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0],
		`:1: the times of the conversation "s" go back: turn 2 at 200 ms comes after one at 300 ms`) ||
		!strings.Contains(r.Warnings[0], "(2 conversations are like this)") {
		t.Errorf("warnings %q", r.Warnings)
	}
	if r := loadWith(t, `{"timestamp":300,"input_length":5}`+"\n"+`{"timestamp":100,"input_length":5}`, "",
		Options{Scheduled: true}); len(r.Warnings) != 0 {
		t.Errorf("rows of any order are no fault: %q", r.Warnings)
	}
}

// A row without a time goes with the row of its session before it, whether rows were left out before or not.
func TestARowWithoutATimeGoesWithTheOneBeforeIt(t *testing.T) {
	path := write(t, "t.jsonl", `{"session_id":"a","timestamp":5,"input_length":5}`+"\n"+
		`{"session_id":"a","delay":1,"input_length":6}`+"\n"+`{"session_id":"b","timestamp":50,"input_length":7}`+"\n"+
		`{"session_id":"b","delay":1,"input_length":8}`)
	end := int64(10)
	for _, from := range []int64{1, 1 << 40} {
		r, err := LoadWith(context.Background(), path, mooncakeTrace,
			Options{IndexFrom: from, Window: Window{EndMS: &end}})
		if err != nil || r.Dataset.Len() != 1 || r.Dataset.Turns() != 2 || r.Dataset.At(0).Turns[1].Prompt.Tokens != 6 {
			t.Errorf("indexed from %d: %+v, %v", from, r, err)
		}
		if err == nil {
			closeRows(t, r.Dataset.Conversations)
		}
	}
}
