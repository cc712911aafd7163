package hf

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/testkit"
	"aiperf/internal/workload/tokenizer"
)

// components is what interop/tokenizers/components.py took from the reference engine.
type components struct {
	Normalizers []struct {
		Spec  spec
		Cases [][2]string
	}
	PreTokenizers []struct {
		Spec  spec
		Cases []pieceCase
	} `json:"pre_tokenizers"`
	Decoders []struct {
		Spec  spec
		Cases []tokenCase
	}
	Models []struct {
		Added int
		File  json.RawMessage
		Cases []struct {
			Text    string
			IDs     []int
			Decoded string
		}
	}
}

// pieceCase is a text and its pieces.
type pieceCase struct {
	text   string
	pieces []string
}

func (c *pieceCase) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[2]any{&c.text, &c.pieces})
}

// tokenCase is tokens and their text.
type tokenCase struct {
	tokens []string
	text   string
}

func (c *tokenCase) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[2]any{&c.tokens, &c.text})
}

func readComponents(t testing.TB) *components {
	t.Helper()
	data, err := os.ReadFile("testdata/components.json")
	if err != nil {
		t.Fatal(err)
	}
	var c components
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	return &c
}

func TestNormalizersMatchReference(t *testing.T) {
	all := readComponents(t).Normalizers
	if len(all) < 15 {
		t.Fatalf("only %d", len(all))
	}
	for _, c := range all {
		n, err := newNormalizer(&c.Spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, pair := range c.Cases {
			if got, _ := n(pair[0]); got != pair[1] {
				t.Errorf("%s of %q\n got %q\nwant %q", c.Spec.Type, pair[0], got, pair[1])
			}
		}
	}
}

func TestPreTokenizersMatchReference(t *testing.T) {
	all := readComponents(t).PreTokenizers
	if len(all) < 30 {
		t.Fatalf("only %d", len(all))
	}
	for _, c := range all {
		steps, _, err := newSteps(&c.Spec, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, pair := range c.Cases {
			var got []string
			collector := &Tokenizer{steps: steps, model: collect(func(piece string) { got = append(got, piece) })}
			collector.newWorker().(*worker).chain(pair.text, 1)
			want := slices.DeleteFunc(pair.pieces, func(s string) bool { return s == "" })
			if !slices.Equal(got, want) {
				t.Errorf("%s %s %s of %q\n got %q\nwant %q", c.Spec.Type, c.Spec.Behavior, c.Spec.PrependScheme,
					pair.text, got, want)
			}
		}
	}
}

// collect is a model that hands its pieces on.
type collect func(piece string)

func (c collect) encode(_ *worker, piece string) { c(piece) }

func TestDecodersMatchReference(t *testing.T) {
	all := readComponents(t).Decoders
	if len(all) < 10 {
		t.Fatalf("only %d", len(all))
	}
	for _, c := range all {
		list, err := newDecoders(&c.Spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, pair := range c.Cases {
			if got := decodeAll(list, slices.Clone(pair.tokens)); got != pair.text {
				t.Errorf("%s of %q\n got %q\nwant %q", c.Spec.Type, pair.tokens, got, pair.text)
			}
		}
	}
}

func TestModelsMatchReference(t *testing.T) {
	all := readComponents(t).Models
	if len(all) < 8 {
		t.Fatalf("only %d", len(all))
	}
	for i, m := range all {
		tok, err := New(m.File, Options{Guess: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := tok.Specials().Added; got != m.Added {
			t.Errorf("model %d adds %d, want %d", i, got, m.Added)
		}
		for _, c := range m.Cases {
			got := tok.Encode(nil, c.Text)
			if !slices.Equal(got, c.IDs) {
				t.Errorf("model %d: Encode(%q)\n got %v\nwant %v", i, c.Text, got, c.IDs)
			}
			if n := tok.Count(c.Text); n != len(c.IDs) {
				t.Errorf("model %d: Count(%q) = %d, want %d", i, c.Text, n, len(c.IDs))
			}
			if text := tok.Decode(c.IDs); text != c.Decoded {
				t.Errorf("model %d: Decode(%v)\n got %q\nwant %q", i, c.IDs, text, c.Decoded)
			}
		}
	}
}

func TestTrapGrowingHistory(t *testing.T) {
	checked := 0
	for i, m := range readComponents(t).Models {
		tok, err := New(m.File, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if tok.CutsAtBlanks() {
			checked++
		}
		memo := tokenizer.NewMemo(tok)
		text := ""
		for range testkit.Seeds(15, 60) {
			for _, c := range m.Cases {
				text += " " + c.Text
			}
			if got, want := memo.Count(text), tok.Count(text); got != want {
				t.Errorf("model %d: %d tokens of %d bytes, want %d", i, got, len(text), want)
				break
			}
		}
	}
	if checked == 0 {
		t.Error("no tokenizer could be cut: the test tests nothing")
	}
}

// Long words are merged by a heap, short ones in a row: the ids must not depend on it.
func TestHeapMergesLikeTheRowSearch(t *testing.T) {
	m := readComponents(t).Models[0]
	tok, err := New(m.File, Options{})
	if err != nil {
		t.Fatal(err)
	}
	pairs := tok.model.(*bpe).pairs
	symbols := tok.Encode(nil, "lowest newer wide")
	row, heap := &merger{}, &merger{}
	for n := range 2000 {
		row.ids = row.ids[:0]
		for i := range 2 + n%(maxLinear-2) {
			row.ids = append(row.ids, int32(1+(n*7+i*i*3+i*symbols[i%len(symbols)])%60))
		}
		heap.ids = append(heap.ids[:0], row.ids...)
		row.merge(pairs)
		heap.long(pairs)
		if !slices.Equal(row.ids, heap.ids) {
			t.Fatalf("row %v, heap %v", row.ids, heap.ids)
		}
	}
}

func TestFilesThatCannotBeUsedSayWhy(t *testing.T) {
	for file, want := range map[string]string{
		`{`:                                     "not a tokenizer.json",
		`{}`:                                    "no model",
		`{"model":{"type":"Magic","vocab":{}}}`: `"Magic" is not known`,
		`{"model":{"type":"WordLevel","vocab":{}}}`:                                                                                     "vocabulary is empty",
		`{"model":{"type":"WordLevel","vocab":{"a":-1}}}`:                                                                               `the id of "a"`,
		`{"model":{"type":"WordLevel","vocab":{"a":99999999999}}}`:                                                                      `the id of "a"`,
		`{"model":{"type":"BPE","vocab":{"a":0},"merges":["a b"]}}`:                                                                     `"b" is not in the vocabulary`,
		`{"model":{"type":"BPE","vocab":{"a":0},"merges":["a"]}}`:                                                                       "not two tokens",
		`{"model":{"type":"BPE","vocab":{"a":0},"merges":[],"dropout":0.1}}`:                                                            "at random",
		`{"model":{"type":"Unigram","vocab":[["a",0]],"unk_id":3}}`:                                                                     "outside the vocabulary",
		`{"model":{"type":"WordLevel","vocab":{"a":0}},"pre_tokenizer":{"type":"Sudachi"}}`:                                             `"Sudachi" is not known`,
		`{"model":{"type":"WordLevel","vocab":{"a":0}},"normalizer":{"type":"Odd"}}`:                                                    `"Odd" is not known`,
		`{"model":{"type":"WordLevel","vocab":{"a":0}},"decoder":{"type":"Odd"}}`:                                                       `"Odd" is not known`,
		`{"model":{"type":"WordLevel","vocab":{"a":0}},"pre_tokenizer":{"type":"Split","pattern":{"Regex":"("},"behavior":"Isolated"}}`: "not closed",
	} {
		if _, err := New([]byte(file), Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", file, err, want)
		}
	}
}
