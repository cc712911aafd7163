package document_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/document"
)

// read reads a text that has to be right.
func read(t *testing.T, text string) *document.File {
	t.Helper()
	f, err := document.Read("bench.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\nof:\n%s", err, text)
	}
	return f
}

// asJSON shows a tree.
func asJSON(n *document.Node) string {
	b, err := artifact.AppendJSON(nil, n.Any())
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func TestTextsAreReadAsTrees(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"block", "a:\n  b: 1\n  c:\n  - x\n  - y: 2\n    z: 3\nd: e\n",
			`{"a":{"b":1,"c":["x",{"y":2,"z":3}]},"d":"e"}`},
		{"list deeper than its key", "a:\n  - 1\n  -\n    b: 2\n  -\n  - - 3\n    - 4\n",
			`{"a":[1,{"b":2},null,[3,4]]}`},
		{"null values", "a:\nb: ~\nc: null\nd:\n  e:\nf: 1\n", `{"a":null,"b":null,"c":null,"d":{"e":null},"f":1}`},
		{"brackets", "a: {b: [1, 2, {c: d}], e: , f}\ng: []\nh: {}\n",
			`{"a":{"b":[1,2,{"c":"d"}],"e":null,"f":null},"g":[],"h":{}}`},
		{"brackets over lines", "a: [\n  1,\n  2,\n]\nb: {\n  c: 1, # why\n  d: 2\n}\n",
			`{"a":[1,2],"b":{"c":1,"d":2}}`},
		{"pair in a list", "a: [b: 1, c]\n", `{"a":[{"b":1},"c"]}`},
		{"quotes", `a: "x\ty\u00e4"` + "\nb: 'it''s'\n\"c d\": 1\n", `{"a":"x\tyä","b":"it's","c d":1}`},
		{"numbers",
			"a: 1\nb: -2\nc: 1.5\nd: 010\ne: 0x1F\nf: 1_000\ng: +3\nh: 1.0\ni: .5\nj: 1.5e+3\nk: 0o17\nl: 0b11\n",
			`{"a":1,"b":-2,"c":1.5,"d":8,"e":31,"f":1000,"g":3,"h":1.0,"i":0.5,"j":1500.0,"k":15,"l":3}`},
		{"texts like numbers", "a: 1e3\nb: 12:30\nc: 2024-01-01\nd: 1.2.3\ne: 08\nf: '1'\ng: 0x\n",
			`{"a":"1e3","b":"12:30","c":"2024-01-01","d":"1.2.3","e":"08","f":"1","g":"0x"}`},
		{"booleans", "a: true\nb: False\nc: yes\nd: off\ne: TRUE\n",
			`{"a":true,"b":false,"c":"yes","d":"off","e":true}`},
		{"keys that PyYAML takes for booleans", "on: 1\nyes: 2\n", `{"on":1,"yes":2}`},
		{"texts of several lines", "a: |\n  x\n    y\n\n  z\nb: >-\n  x\n  y\nc: x\n  y\nd: |+\n  x\n\ne: |2\n    x\n",
			`{"a":"x\n  y\n\nz\n","b":"x y","c":"x y","d":"x\n\n","e":"  x\n"}`},
		{"anchors", "a: &x {b: 1}\nc: *x\nd: &y\n  e: 2\nf: [*y, *x]\ng: &z 5\nh: *z\n",
			`{"a":{"b":1},"c":{"b":1},"d":{"e":2},"f":[{"e":2},{"b":1}],"g":5,"h":5}`},
		{"merge keys", "a: &x {b: 1, c: 2}\nd: &y {c: 3, e: 4}\nf:\n  b: 0\n  <<: [*x, *y]\ng:\n  <<: *y\n  h: 1\n",
			`{"a":{"b":1,"c":2},"d":{"c":3,"e":4},"f":{"c":2,"e":4,"b":0},"g":{"c":3,"e":4,"h":1}}`},
		{"quoted << is a key", "'<<': 1\n", `{"<<":1}`},
		{"tags of YAML", "a: !!str 1\nb: !!int 2\nc: !!map {d: 1}\ne: !!seq\n- 1\nf: ! 3\n",
			`{"a":"1","b":2,"c":{"d":1},"e":[1],"f":"3"}`},
		{"explicit keys", "? a\n: b\n? c\n", `{"a":"b","c":null}`},
		{"marks of a document", "%YAML 1.2\n---\na: 1\n...\n", `{"a":1}`},
		{"byte order mark", "\ufeffa: 1\n", `{"a":1}`},
		{"lines of Windows", "a: 1\r\nb: |\r\n  x\r\n  y\r\n", `{"a":1,"b":"x\ny\n"}`},
		{"no end of line", "a: 1", `{"a":1}`},
		{"JSON", "{\"a\": [1, 2.5, 1e3, \"x\\ud83d\\ude00\"],\n\t\"b\": null, \"c\": {\"d\": true}}\n",
			`{"a":[1,2.5,1000.0,"x😀"],"b":null,"c":{"d":true}}`},
		{"comments", "# x\na: 1 # y\n  # z\nb: 'c # d' # e\n", `{"a":1,"b":"c # d"}`},
		{"template", "a: \"{{ b }}\"\nc: x {{ d }}\ne: ${T:600.0}\n",
			`{"a":"{{ b }}","c":"x {{ d }}","e":"${T:600.0}"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := asJSON(read(t, c.text).Root); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestFaultsNameLineAndColumn(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "bench.yaml:1:1: the file is empty"},
		{"only comments", "# x\n", "the file is empty"},
		{"list", "- 1\n", "bench.yaml:1:1: the top of the file is a list"},
		{"scalar", "hello\n", "bench.yaml:1:1: the top of the file is a text"},
		{"JSON list", "[1]", "the top of the file is a list"},
		{"duplicate key", "a: 1\nb: 2\na: 3\n",
			"bench.yaml:3:1: the key a is there twice in this mapping, the first time in line 1, column 1"},
		{"duplicate key in JSON", "{\"a\": 1,\n \"a\": 2}",
			"bench.yaml:2:2: the key a is there twice in this mapping, the first time in line 1, column 2"},
		{"duplicate among many", manyKeys(100) + "k7: 1\n",
			"bench.yaml:101:1: the key k7 is there twice in this mapping, the first time in line 8, column 1"},
		{"key null", "~: a\n", "not a string"},
		{"key in brackets", "[a]: 1\n", "1:4:"},
		{"several documents", "a: 1\n---\nb: 2\n", "bench.yaml:2:1: a second document begins here"},
		{"empty second document", "a: 1\n---\n", "a second document begins here"},
		{"tab", "a:\n\tb: 1\n", "bench.yaml:2:1: a tab cannot indent: use spaces"},
		{"invalid UTF-8", "a: 1\nb: \"ä\xff\"\n", "bench.yaml:2:6: the byte 0xFF is not UTF-8"},
		{"control character", "a: \x00\n", "bench.yaml:1:4: the control character U+0000"},
		{"foreign tag", "a: !!binary aGk=\n", "bench.yaml:1:4: the tag !!binary is not supported"},
		{"own tag", "a: !foo {b: 1}\n", "bench.yaml:1:4: the tag !foo is not supported"},
		{"unknown alias", "a: *x\n", "bench.yaml:1:4: no value above has the name *x"},
		{"cyclic anchor", "a: &x\n  b: *x\n", "bench.yaml:2:6: *x stands within the value that has this name"},
		{"cyclic list", "a: &x [*x]\n", "1:8: *x stands within"},
		{"merge of a list of texts", "a: {<<: [b]}\n", "1:10: << merges mappings; this is a text"},
		{"merge of a text", "a:\n  <<: b\n", "2:3: << merges mappings; its value is a text"},
		{"quote not closed", "a: \"b\n", "1:4: the quote that begins here is not closed"},
		{"bracket not closed", "a: [1, 2\n", "1:4: the bracket [ that begins here is not closed"},
		{"bracket not closed before a key", "a: [1, 2\nb: 3\n",
			"2:1: a comma or the closing bracket of [ in line 1, column 4 is missing"},
		{"wrong bracket", "a: {b: [1]]\n", "1:11: the closing bracket ] does not match { in line 1, column 4"},
		{"two keys in a line", "a: b: c\n", "1:4: a key cannot begin in the line of another key"},
		{"text behind a quoted one", "a: \"b\" c\n", "1:8: c is not allowed here"},
		{"wrong indentation", "a:\n    b: 1\n  c: 2\n",
			"3:3: wrong indentation: this line begins in column 3, those of its block begin in column 1"},
		{"deeper than the first key", "a: 1\n b: 2\n", "bench.yaml:2:"},
		{"no colon", "a: 1\nb\n", "2:1: b is neither a key with a colon nor part of the value above"},
		{"template without quotes", "a: {{ b }}\n",
			`1:4: a value that begins with {{ must stand between quotes: "{{ … }}"`},
		{"too deep", "a: " + strings.Repeat("[", 300) + strings.Repeat("]", 300), "nested deeper than 256 levels"},
		{"too deep with dashes", strings.Repeat("- ", 300) + "a", "nested deeper than 256 levels"},
		{"too deep by aliases", deepAliases(300), "nested deeper than 256 levels"},
		{"JSON too deep", `{"a":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "}",
			"nested deeper than 256 levels"},
		{"aliases that explode", bomb(12), "stand for more than 100000 values"},
		{"too many values", `{"a": [` + strings.Repeat("1,", 100_001) + "1]}", "more than 100,000 values"},
		{"too many signs", "a: [" + strings.Repeat("1,", 100_001) + "1]", "write it as JSON"},
		{"long JSON with a fault", "{\"a\":\n [" + strings.Repeat("1,", 100_001) + "]}",
			"bench.yaml:2:200005: the file is not valid JSON: "},
		{"too long", strings.Repeat("#", document.MaxBytes+1), "the limit is 8,388,608"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := document.Read("bench.yaml", []byte(c.text))
			if err == nil {
				t.Fatalf("read as %s", asJSON(f.Root))
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestTrapAKeyThatIsANumberIsNotAString(t *testing.T) {
	_, err := document.Read("f.yaml", []byte("a:\n  1: x\n  true: y\n"))
	want := "f.yaml:2:3: the key 1 is not a string but a whole number: put it between quotes\n" +
		"  2 |   1: x\n    |   ^\n" +
		"f.yaml:3:3: the key true is not a string but a boolean: put it between quotes\n  3 |   true: y\n    |   ^"
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func TestSeveralFaultsAreReportedAtOnce(t *testing.T) {
	_, err := document.Read("f.yaml", []byte("a: 1\na: 2\nb: *c\nd: !x 1\n2: 3\n"))
	for _, want := range []string{":2:1: ", ":3:4: ", ":4:4: ", ":5:1: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %s", err, want)
		}
	}
}

func TestValuesKnowTheirPlaces(t *testing.T) {
	for name, text := range map[string]string{
		"YAML": "a:\n  \"ä\": [x, 'y']\n  b:\n  - 1\n",
		"JSON": "{\"a\":\n {\"ä\": [\"x\", \"y\"],\n  \"b\":\n  [ 1]}}",
	} {
		root := read(t, text).Root
		list := root.Get("a").Get("ä")
		got := fmt.Sprint(root.Member("a").Pos, root.Get("a").Member("ä").Pos, list.Pos, list.Items[1].Pos,
			root.Get("a").Get("b").Items[0].Pos)
		want := map[string]string{
			"YAML": "{1 1} {2 3} {2 8} {2 12} {4 5}",
			"JSON": "{1 2} {2 3} {2 8} {2 14} {4 5}",
		}[name]
		if got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestWrittenKeepsTheSpelling(t *testing.T) {
	root := read(t, "a: 010\nb: Yes\nc: '1'\nd: 1_0\n").Root
	for key, want := range map[string]string{"a": "010", "b": "Yes", "c": "1", "d": "1_0"} {
		if got := root.Get(key).Written; got != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: 1\n", i)
	}
	return b.String()
}

// bomb is a file whose aliases double its values again and again.
func bomb(levels int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1]\n")
	for i := range levels {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d]\n", i+1, i+1, i, i, i, i)
	}
	return b.String()
}

func deepAliases(n int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [1]\n")
	for i := range n {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d]\n", i+1, i+1, i)
	}
	return b.String()
}

func TestJSONAndYAMLGiveTheSameTree(t *testing.T) {
	value := map[string]any{"a": []any{1, "x", nil, true, 2.5}, "b": map[string]any{"c": "d e", "f": []any{}}}
	b, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if j, y := asJSON(read(t, string(b)).Root), asJSON(read(t, string(b)+" # YAML").Root); j != y {
		t.Errorf("JSON: %s\nYAML: %s", j, y)
	}
}

// The vectors were written by PyYAML 6.0.3 (safe_dump in six styles, values as safe_load reads them).
func TestDocumentsOfPyYAMLAreReadAsItReadsThem(t *testing.T) {
	text, err := os.ReadFile("testdata/pyyaml.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		vector := read(t, line).Root
		text := vector.Get("yaml").Scalar.(string)
		f, err := document.Read("f.yaml", []byte(text))
		if err != nil {
			t.Errorf("%v\nof:\n%s", err, text)
			continue
		}
		if got, want := asJSON(f.Root), asJSON(vector.Get("value")); got != want {
			t.Errorf("got  %s\nwant %s\nof:\n%s", got, want, text)
		}
	}
}
