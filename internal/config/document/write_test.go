package document_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"aiperf/internal/config/document"
)

func TestYAMLIsLaidOutForPeople(t *testing.T) {
	want := `model: my/model
endpoint:
  urls:
    - http://localhost:8000
  "on": true
  timeout: 1.0
  none: null
phases:
  - name: warmup
    rates:
      - - 1
        - 2
      - {}
      - a: 1
  - "1"
body: |-
  {{ a }}
    b

  c
code: |
  x
  y
text: "a: b # c"
empty: []
big: 1.0e+16
zero: ""
`
	root := read(t, want).Root
	if got := string(document.AppendYAML(nil, root, 0)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := string(document.AppendYAML([]byte("x"), read(t, "a: [1, {b: 2, c: \"d\\ne\"}]\n").Root, 4)); got !=
		"x    a:\n      - 1\n      - b: 2\n        c: |-\n          d\n          e\n" {
		t.Errorf("got\n%s", got)
	}
}

// texts are those that readers could mistake, and parts of them.
func texts() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"", " ", "~", "null", "Yes", "off", "n", "true", "1", "-1", "+1", "1.5", "1e3", "0x1F", "010", "0o7",
			"1_000", "12:30", "2024-01-01", ".inf", "-.inf", ".nan", "<<", "=", "-", "- a", "? a", ": a", "a: b",
			"a:", "a #b", "#a", "&a", "*a", "!a", "|", ">", "%a", "@a", "`a", "{a}", "[a]", "a]", "{{ a }}",
			"${A:1}", "'a'", "\"a\"", "a\nb", "a\nb\n", "\na", "a\n", "a\n\nb\n\n", " a\nb", "a\n b", "a\n \nb",
			"a\n\tb", "a\tb", "\t", "a\r\nb", "a\x00b", "\u0085", "\u2028", "a\u0085\nb", "\ufeff", "😀", "ä ö",
			"---", "...", "a\n---\nb", "a\n# b\nc", "a ", "a\nb ", "\\", "\\n", "http://h:1/x?a=b#c", "a,b",
			"\u00a0", "a:b", "a: ", "'", "it's", "x\n  y\n    z\nw", "0", "1.", "08", "1:2:3", "a\n\n", "\n", "\n\n",
			"y\n", "\u200b", "\U000e0001",
		}),
		rapid.StringOfN(rapid.RuneFrom([]rune("ab1 \n\t:#-{}[],\"'\\|>&*!%.~äyn0_")), 0, 12, -1),
		rapid.String(),
	)
}

// nodes are trees of some depth.
func nodes(depth int) *rapid.Generator[*document.Node] {
	scalars := rapid.OneOf(
		rapid.Just(document.Of(nil)),
		rapid.Map(rapid.Bool(), func(v bool) *document.Node { return document.Of(v) }),
		rapid.Map(rapid.Int64(), func(v int64) *document.Node { return document.Of(v) }),
		rapid.Map(rapid.OneOf(rapid.Float64(),
			rapid.SampledFrom([]float64{1, 1e16, 1e-7, math.Inf(1), math.Inf(-1), 0.1})),
			func(v float64) *document.Node { return document.Of(v) }),
		rapid.Map(texts(), func(v string) *document.Node { return document.Of(strings.ToValidUTF8(v, "")) }),
	)
	if depth == 0 {
		return scalars
	}
	return rapid.OneOf(scalars,
		rapid.Map(rapid.SliceOfN(nodes(depth-1), 0, 4), func(items []*document.Node) *document.Node {
			return &document.Node{Kind: document.List, Items: items}
		}),
		mappings(depth))
}

func mappings(depth int) *rapid.Generator[*document.Node] {
	members := rapid.MapOfN(texts(), nodes(depth-1), 0, 4)
	return rapid.Map(members, func(members map[string]*document.Node) *document.Node {
		n := &document.Node{Kind: document.Map}
		for key, value := range members {
			n.Set(strings.ToValidUTF8(key, ""), value)
		}
		return n
	})
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := mappings(3).Draw(t, "tree")
		text := document.AppendYAML(nil, want, 0)
		f, err := document.Read("f.yaml", text)
		if err != nil {
			t.Fatalf("%v\nof:\n%s", err, text)
		}
		if diff := cmp.Diff(want, f.Root, same); diff != "" {
			t.Fatalf("%s\nof:\n%s", diff, text)
		}
	})
}
