package loader

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// loadText loads a file of a name and content.
func loadText(t *testing.T, name, content, format string) (*Result, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return Load(context.Background(), path, format)
}

// textsOf is every text of a dataset: conversations in brackets, the system message behind a colon.
func textsOf(r *Result) string {
	var b strings.Builder
	for _, c := range r.Dataset.All() {
		b.WriteByte('[')
		if c.SystemMessage != nil {
			b.WriteString(*c.SystemMessage + ": ")
		}
		for i, turn := range c.Turns {
			if i > 0 {
				b.WriteByte('|')
			}
			for _, m := range turn.Texts {
				b.WriteString(strings.Join(m.Contents, "+"))
			}
		}
		b.WriteByte(']')
	}
	return b.String()
}

const sharedGPT = `{"id":"a","conversations":[{"from":"system","value":"Be brief"},{"from":"human","value":"Hi"},{"from":"gpt","value":"Hello"},{"from":"human","value":"More"}]}`

func TestPromptsAreReadFromTheFormsInUse(t *testing.T) {
	for _, c := range []struct{ name, file, content, format, want string }{
		{"prompt", "a.jsonl", `{"prompt":"one","output_length":3}` + "\n" + `{"text":"two"}`, singleTurn, "[one][two]"},
		{"prompt with a picture", "a.jsonl", `{"prompt":"one","image":"https://h/a.png"}`, singleTurn, "[one]"},
		{"prompt in turns", "a.jsonl", `{"turns":[{"prompt":"one"},{"text":"two"}]}`, multiTurn, "[one|two]"},
		{"ShareGPT array", "a.json", "[\n" + sharedGPT + ",\n" +
			`{"id":"b","conversations":[{"from":"gpt","value":"x"}]}` + "\n]\n", shareGPT, "[Be brief: Hi|More]"},
		{"ShareGPT array on a line", "a.json", "[" + sharedGPT + "," + sharedGPT + "]", shareGPT,
			"[Be brief: Hi|More][Be brief: Hi|More]"},
		{"ShareGPT lines", "a.jsonl", sharedGPT + "\n\n" + sharedGPT, shareGPT,
			"[Be brief: Hi|More][Be brief: Hi|More]"},
		{"lines of text", "a.txt", "one, two\n\n [x] \r\nthree", textLines, "[one, two][[x]][three]"},
		{"a list is a line of text too", "a.txt", "[one\n", textLines, "[[one]"},
		{"CSV", "a.csv", "id,prompt,output_length\n1,\"one, \"\"two\"\"\",5\n2,three,\n", textCSV,
			`[one, "two"][three]`},
		{"CSV with text", "A.CSV", "Prompt,Text\na,b\n", textCSV, "[b]"},
	} {
		r, err := loadText(t, c.file, c.content, "")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if r.Format != c.format || textsOf(r) != c.want {
			t.Errorf("%s: %s %s, want %s %s", c.name, r.Format, textsOf(r), c.format, c.want)
		}
	}
}

// TestDetectionKeepsWhatWasRead holds the formats of files that more than one reader would take.
func TestDetectionKeepsWhatWasRead(t *testing.T) {
	for _, c := range []struct{ name, file, content, format, want string }{
		{"records in a text file", "a.txt", `{"text":"one"}`, singleTurn, "[one]"},
		{"records in a CSV file", "a.csv", `{"text":"one"}`, singleTurn, "[one]"},
		{"text beside prompt", "a.jsonl", `{"text":"one","prompt":"two"}`, singleTurn, "[one]"},
		{"texts beside prompt", "a.jsonl", `{"texts":["one"],"prompt":"two"}`, singleTurn, "[one]"},
		{"turns beside conversations", "a.jsonl",
			`{"turns":[{"text":"one"}],"conversations":[{"from":"human","value":"two"}]}`, multiTurn, "[one]"},
		{"text_input beside prompt", "a.jsonl", `{"text_input":"one","prompt":"two"}`, mooncakeTrace, ""},
		{"messages beside prompt", "a.jsonl", `{"messages":[],"prompt":"two"}`, rawPayload, "[]"},
		{"a trace in CSV", "a.csv", "Timestamp,Request tokens,Response tokens,text\n1,2,3,x\n", burstGPTTrace, ""},
	} {
		r, err := loadText(t, c.file, c.content, "")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if r.Format != c.format || c.want != "" && textsOf(r) != c.want {
			t.Errorf("%s: %s %s, want %s %s", c.name, r.Format, textsOf(r), c.format, c.want)
		}
	}
}

func TestMistakesInPromptsAreNamedInPlainWords(t *testing.T) {
	for _, c := range []struct{ name, file, content, want string }{
		{"a misspelt key", "a.jsonl", `{"promt":"x"}`,
			`a.jsonl:1: cannot tell the format from the first record (unknown key "promt": did you mean "prompt"?`},
		{"another name", "a.jsonl", `{"utterance":"x"}`, `unknown key "utterance": use "text" for a prompt`},
		{"a misspelt word", "a.jsonl", `{"text":"a"}` + "\n" + `{"text":"é", "x": treu}`,
			`a.jsonl:2: not valid JSON: column 21: "e" is not expected here`},
		{"a cut line", "a.jsonl", `{"text":"a"}` + "\n" + `{"text":"b"`,
			`a.jsonl:2: not valid JSON: the text ends too early`},
		{"a control character", "a.jsonl", "{\"text\":\"a\tb\"}",
			`a.jsonl:1: not valid JSON: column 11: a control character`},
		{"an array of records", "a.json", `[{"utterance":"a"}]`,
			`a.json:1: the file is a JSON array, and its items are neither texts nor rows with a column that is known`},
		{"a broken array", "a.json", "[" + sharedGPT + ",\n\n{]", `a.json:3: not valid JSON`},
		{"a wrong item", "a.json", "[" + sharedGPT + ",\n\n{\"id\":\"x\"}]",
			`a.json:3: field "conversations": want a list`},
		{"an open quotation", "a.csv", "text\n\"a\n", `a.csv:2: not valid CSV`},
		{"an odd row", "a.csv", "text,output_length\na\n",
			`a.csv:2: not valid CSV at column 1: the row has more or fewer columns than the header`},
		{"a wrong limit", "a.csv", "text,output_length\na,many\n",
			`a.csv:2: field "output_length": want a whole number above 0, got many`},
		{"an empty prompt", "a.csv", "text,output_length\n,1\n", `a.csv:2: the prompt is empty`},
	} {
		_, err := loadText(t, c.file, c.content, "")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
			continue
		}
		for _, word := range []string{"invalid character", "literal", "unmarshal"} {
			if strings.Contains(err.Error(), word) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
	r, err := loadText(t, "a.jsonl", `{"text":"x","outptu_length":5}`, "")
	if err != nil || len(r.Warnings) != 1 ||
		!strings.HasSuffix(r.Warnings[0],
			`a.jsonl:1: the key "outptu_length" is unknown and ignored: did you mean "output_length"?`) {
		t.Errorf("%v, %v", r, err)
	}
}

func TestWithModel(t *testing.T) {
	for body, want := range map[string]string{
		`{"messages":[]}`:              `{"model":"m\"1","messages":[]}`,
		` { "messages": [] }`:          `{"model":"m\"1", "messages": [] }`,
		`{"messages":[],"model":"a"}`:  `{"messages":[],"model":"a"}`,
		`{"messages":[],"model":null}`: `{"messages":[],"model":null}`,
		`{"prompt":"a"}`:               `{"prompt":"a"}`,
		`{"messages":"no list"}`:       `{"messages":"no list"}`,
	} {
		if got, _ := WithModel([]byte(body), `m"1`); string(got) != want {
			t.Errorf("%s becomes %s, want %s", body, got, want)
		}
	}
}
