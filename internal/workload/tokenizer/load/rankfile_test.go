package load_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/workload/tokenizer"
	"aiperf/internal/workload/tokenizer/load"
)

// ranks writes n ranks: the bytes, then generated tokens.
func ranks(n int) []byte {
	var b strings.Builder
	for i := range n {
		token := []byte{byte(i)}
		if i >= 256 {
			token = fmt.Appendf(nil, "~%d~", i)
		}
		fmt.Fprintf(&b, "%s %d\n", base64.StdEncoding.EncodeToString(token), i)
	}
	return []byte(b.String())
}

func TestTheNumberOfRanksTellsTheVocabulary(t *testing.T) {
	for n, want := range map[int]struct {
		text string
		ids  []int
		eos  int
	}{
		50256:  {"a<|endoftext|>", []int{'a', 50256}, 50256},
		128000: {"<|eot_id|>b", []int{128009, 'b'}, 128001},
		151643: {"<|im_start|>1", []int{151644, '1'}, 151643},
	} {
		data := ranks(n)
		if !load.IsRankFile(data) {
			t.Errorf("%d ranks are not recognised", n)
		}
		tok, err := load.Tiktoken("file", data, load.TiktokenConfig{})
		if err != nil {
			t.Fatal(err)
		}
		if got := tok.Encode(nil, want.text); !slices.Equal(got, want.ids) || tok.Specials().EOS != want.eos ||
			tok.Name() != "file" {
			t.Errorf("%d ranks: %v, %+v", n, got, tok.Specials())
		}
	}
	if s := func() int {
		tok, _ := load.Tiktoken("x", ranks(128000), load.TiktokenConfig{})
		return tok.Specials().Added
	}(); s != 1 {
		t.Errorf("Llama 3 adds %d", s)
	}
}

func TestRankFilesThatCannotBeUsedSayWhy(t *testing.T) {
	for data, want := range map[string]string{
		"":               "no ranks",
		"YQ== 0\nYg==\n": "line 2: expected a token and its rank",
		"YQ== x\n":       "line 1: the rank",
		"!! 0\n":         "line 1: illegal base64",
		"YQ== 99999999":  "line 1: the rank",
		"YQ== 0\n":       "1 ranks are those of no known vocabulary",
	} {
		_, err := load.Tiktoken("x", []byte(data), load.TiktokenConfig{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", data, err, want)
		}
	}
	if load.IsRankFile([]byte(`{"a": 1}`)) || load.IsRankFile(nil) {
		t.Error("not a rank file, but taken for one")
	}
}

const tekkenPattern = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`

func tekkenFile(size int, pattern string) []byte {
	var vocab []string
	for i := range 258 {
		token := []byte{byte(i)}
		if i >= 256 {
			token = []byte([]string{"ab", "zz"}[i-256])
		}
		vocab = append(vocab, fmt.Sprintf(`{"rank":%d,"token_bytes":%q}`, i, base64.StdEncoding.EncodeToString(token)))
	}
	return fmt.Appendf(nil, `{"config":{"pattern":%q,"default_vocab_size":%d,"default_num_special_tokens":10},"vocab":[%s]}`, pattern, size, strings.Join(vocab, ","))
}

func TestTekken(t *testing.T) {
	tok, err := load.Tekken("file", tekkenFile(267, tekkenPattern)) // 257 of the 258 tokens
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tok.Encode(nil, "ab zz<s>"),
		[]int{266, 10 + ' ', 10 + 'z', 10 + 'z', 10 + '<', 10 + 's', 10 + '>'}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if s := tok.Specials(); s.BOS != 1 || s.EOS != 2 || s.Added != 1 || tok.VocabSize() != 267 {
		t.Errorf("%+v, size %d", s, tok.VocabSize())
	}
	if text := tok.Decode([]int{1, 3, 266, 9}); text != "<s>[INST]ab[TOOL_CALLS]" {
		t.Errorf("%q", text)
	}
	for want, data := range map[string][]byte{
		"not a tekken.json": []byte("{"),
		"lacks":             []byte("{}"),
		"not closed":        tekkenFile(267, "("),
		"cannot be taken":   tekkenFile(5, tekkenPattern),
	} {
		if _, err := load.Tekken("x", data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

func FuzzTekken(f *testing.F) {
	f.Add(tekkenFile(267, tekkenPattern))
	f.Fuzz(func(t *testing.T, data []byte) {
		if tok, err := load.Tekken("x", data); err == nil {
			tok.Decode(tok.Encode(nil, "Hello wörld\n 12"))
		}
	})
}

func FuzzTiktoken(f *testing.F) {
	f.Add(ranks(300))
	f.Fuzz(func(t *testing.T, data []byte) {
		load.IsRankFile(data)
		if tok, err := load.Tiktoken("x", data, load.TiktokenConfig{}); err == nil {
			tok.Decode(tok.Encode(nil, "Hello wörld\n 12"))
		}
	})
}

func TestWhatIsBesideARankFileSaysHowToReadIt(t *testing.T) {
	no := false
	special := []tokenizer.Special{{Text: "[BOS]", ID: 300}, {Text: "[EOS]", ID: 301}, {Text: "two words", ID: 310}}
	for name, c := range map[string]struct {
		config load.TiktokenConfig
		text   string
		want   []int
		s      tokenizer.Specials
	}{
		"code that is known": {load.TiktokenConfig{Code: "tokenization_kimi.TikTokenTokenizer", Specials: special,
			BOS: "[BOS]",
			EOS: "[EOS]"},
			"中a[BOS]1<|reserved_token_302|>", []int{228, 184, 173, 'a', 300, '1', 302},
			tokenizer.Specials{BOS: 300, EOS: 301}},
		"an expression": {load.TiktokenConfig{Pattern: `\w+|[^\w\s]+`, Specials: special, BOS: "[BOS]"},
			"a, two words b", []int{'a', ',', 310, 'b'}, tokenizer.Specials{BOS: 300, EOS: -1}},
		"one that a scanner knows, and no BOS": {load.TiktokenConfig{Pattern: `\p{N}{1,3}`, AddBOS: &no, AddEOS: &no},
			"a12",
			[]int{'1', '2'}, tokenizer.Specials{BOS: -1, EOS: -1}},
	} {
		tok, err := load.Tiktoken("x", ranks(300), c.config)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := tok.Encode(nil, c.text); !slices.Equal(got, c.want) || tok.Specials() != c.s {
			t.Errorf("%s: got %v, %+v; want %v, %+v", name, got, tok.Specials(), c.want, c.s)
		}
	}
	for want, config := range map[string]load.TiktokenConfig{
		"tokenization_odd.Odd, is not run": {Code: "tokenization_odd.Odd"},
		`as "pat_str"`:                     {},
		"not closed":                       {Pattern: "("},
		"is not below":                     {Pattern: "x", Specials: []tokenizer.Special{{Text: "[X]", ID: 1 << 30}}},
	} {
		if _, err := load.Tiktoken("x", ranks(300), config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}
