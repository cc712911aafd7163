package load

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/workload/tokenizer"
	"aiperf/internal/workload/tokenizer/hf"
)

// maxRank bounds the ranks of a file; tables are made as long as the largest.
const maxRank = 1 << 22

// family is a known vocabulary of ranks. Rank files hold neither pattern nor special tokens; the number of
// ranks reports which one a file is.
type family struct {
	ranks    int // one more than the largest
	name     string
	split    string
	bos, eos string
	specials func(first int) []tokenizer.Special
}

func listed(names ...string) func(int) []tokenizer.Special {
	return func(first int) []tokenizer.Special {
		var out []tokenizer.Special
		for i, n := range names {
			out = append(out, tokenizer.Special{Text: n, ID: first + i})
		}
		return out
	}
}

var families = []family{
	{50256, "r50k_base", tokenizer.SplitGPT2, "", "<|endoftext|>", listed("<|endoftext|>")},
	{50281, "p50k_base", tokenizer.SplitGPT2, "", "<|endoftext|>", func(int) []tokenizer.Special {
		return []tokenizer.Special{{Text: "<|endoftext|>", ID: 50256}}
	}},
	{100256, "cl100k_base", tokenizer.SplitCL100k, "", "<|endoftext|>", func(int) []tokenizer.Special {
		return []tokenizer.Special{{Text: "<|endoftext|>", ID: 100257}, {Text: "<|fim_prefix|>", ID: 100258},
			{Text: "<|fim_middle|>", ID: 100259},
			{Text: "<|fim_suffix|>", ID: 100260}, {Text: "<|endofprompt|>", ID: 100276}}
	}},
	{128000, "Llama 3", tokenizer.SplitLlama3, "<|begin_of_text|>", "<|end_of_text|>", llama3},
	{151643, "Qwen", tokenizer.SplitQwen, "", "<|endoftext|>", listed("<|endoftext|>", "<|im_start|>", "<|im_end|>")},
	{199998, "o200k_base", tokenizer.SplitO200k, "", "<|endoftext|>", func(int) []tokenizer.Special {
		return []tokenizer.Special{{Text: "<|endoftext|>", ID: 199999}, {Text: "<|endofprompt|>", ID: 200018}}
	}},
}

// coded are vocabularies whose repositories have code in place of a description, by a part of its name.
var coded = []family{
	{name: "tokenization_kimi", split: kimi, specials: reserved},
}

const (
	kimiWord = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]`
	kimiTail = `[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]`
	kimi     = `[\p{Han}]+|` + kimiWord + `*` + kimiTail + `+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` + kimiWord + `+` +
		kimiTail + `*(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
		`|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// reserved returns the 256 special tokens of Kimi; its configuration names some of them.
func reserved(first int) []tokenizer.Special {
	var list []tokenizer.Special
	for id := first; id < first+256; id++ {
		list = append(list, tokenizer.Special{Text: fmt.Sprintf("<|reserved_token_%d|>", id), ID: id})
	}
	return list
}

// llama3 returns the 256 special tokens after the ranks of Llama 3.
func llama3(first int) []tokenizer.Special {
	names := []string{
		"<|begin_of_text|>", "<|end_of_text|>", "<|reserved_special_token_0|>", "<|reserved_special_token_1|>",
		"<|finetune_right_pad_id|>",
		"<|step_id|>", "<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>", "<|eot_id|>", "<|python_tag|>",
	}
	for n := 2; len(names) < 256; n++ {
		names = append(names, fmt.Sprintf("<|reserved_special_token_%d|>", n))
	}
	return listed(names...)(first)
}

// IsRankFile reports whether data looks like a rank file: a base64 token and a number in the first line.
func IsRankFile(data []byte) bool {
	line, _, _ := bytes.Cut(data[:min(len(data), 4096)], []byte("\n"))
	fields := bytes.Fields(line)
	if len(fields) != 2 {
		return false
	}
	_, err1 := base64.StdEncoding.DecodeString(string(fields[0]))
	_, err2 := strconv.Atoi(string(fields[1]))
	return err1 == nil && err2 == nil
}

// TiktokenConfig is what the files next to a rank file say. All of it may be empty.
type TiktokenConfig struct {
	// Pattern is an expression that says how text is split.
	Pattern string
	// Code names the code of the repository that makes the tokenizer, such as "tokenization_kimi.TikTokenTokenizer".
	Code     string
	Specials []tokenizer.Special
	BOS, EOS string
	// AddBOS and AddEOS say whether they are put around a sequence; nil = the default.
	AddBOS, AddEOS *bool
}

// Tiktoken makes a tokenizer of a rank file. The file holds neither pattern nor special tokens: these come from the
// files next to it, or known by the repository's code or by the number of ranks.
func Tiktoken(name string, data []byte, config TiktokenConfig) (*tokenizer.Ranked, error) {
	tokens, err := readRanks(data)
	if err != nil {
		return nil, err
	}
	f, err := config.family(len(tokens))
	if err != nil {
		return nil, err
	}
	return f.make(name, tokens, config)
}

// family returns how a vocabulary of so many ranks splits text, and its special tokens.
func (b *TiktokenConfig) family(ranks int) (*family, error) {
	for i := range coded {
		if strings.Contains(b.Code, coded[i].name) {
			return &coded[i], nil
		}
	}
	if b.Pattern != "" {
		return &family{ranks: ranks, split: b.Pattern, specials: listed()}, nil
	}
	for i := range families {
		if families[i].ranks == ranks {
			return &families[i], nil
		}
	}
	if b.Code != "" {
		return nil, fmt.Errorf("a rank file does not say how text is split, and the code that would, %s, is not run: "+
			"this program knows neither it nor a vocabulary of %d ranks; "+
			"use the tokenizer.json of the model, or put the expression into tokenizer_config.json as \"pat_str\"",
			b.Code, ranks)
	}
	return nil, fmt.Errorf("a rank file does not say how text is split, and %d ranks are those of no known "+
		"vocabulary; use the tokenizer.json of the model, "+
		"or put the expression into a tokenizer_config.json next to it as \"pat_str\"", ranks)
}

// make returns the tokenizer of a family. The configuration's special tokens go before the family's own of the same id.
func (f *family) make(name string, tokens []string, config TiktokenConfig) (*tokenizer.Ranked, error) {
	s, err := RankSplitter(f.split)
	if err != nil {
		return nil, err
	}
	o := tokenizer.RankOptions{Name: name, Tokens: tokens, Splitter: s, BOS: -1, EOS: -1}
	named := map[int]bool{}
	for _, s := range append(slices.Clone(config.Specials), f.specials(len(tokens))...) {
		if s.Text != "" && !named[s.ID] {
			named[s.ID] = true
			o.InText = append(o.InText, s)
		}
	}
	slices.SortFunc(o.InText, func(a, b tokenizer.Special) int { return cmp.Compare(a.ID, b.ID) })
	bos, eos := cmp.Or(config.BOS, f.bos), cmp.Or(config.EOS, f.eos)
	for _, s := range o.InText {
		if s.ID < 0 || s.ID >= maxRank {
			return nil, fmt.Errorf("the special token %q has the id %d, which is not below %d", s.Text, s.ID, maxRank)
		}
		if s.Text == bos {
			o.BOS = s.ID
		}
		if s.Text == eos {
			o.EOS = s.ID
		}
	}
	addBOS := f.bos != ""
	if config.AddBOS != nil {
		addBOS = *config.AddBOS
	}
	if addBOS && o.BOS >= 0 {
		o.Added++
	}
	if config.AddEOS != nil && *config.AddEOS && o.EOS >= 0 {
		o.Added++
	}
	return tokenizer.FromRanks(o)
}

// RankSplitter makes the splitter of a name or expression.
func RankSplitter(pattern string) (tokenizer.Splitter, error) {
	s := tokenizer.Splitter{Pattern: pattern, CutsAtBlanks: true}
	if s.Split = tokenizer.NamedSplit(pattern); s.Split != nil {
		return s, nil
	}
	s.CutsAtBlanks = strings.HasSuffix(pattern, `|\s+`) || strings.HasSuffix(pattern, `|\s`)
	if s.Split = tokenizer.KnownSplit(pattern); s.Split != nil {
		return s, nil
	}
	var err error
	s.CutsAtBlanks = pattern == kimi
	s.Match, s.Err, err = hf.Splitter(pattern)
	return s, err
}

// readRanks reads a file of tokens in base64 with their ranks, which are their ids. Ranks may have gaps, which stay
// empty.
func readRanks(data []byte) ([]string, error) {
	var tokens []string
	number := 0
	for line := range bytes.Lines(data) {
		number++
		fields := bytes.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 2 {
			return nil, fmt.Errorf("line %d: expected a token and its rank", number)
		}
		token, err := base64.StdEncoding.AppendDecode(nil, fields[0])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		rank, err := strconv.Atoi(string(fields[1]))
		if err != nil || rank < 0 || rank >= maxRank {
			return nil, fmt.Errorf("line %d: the rank is not a number below %d", number, maxRank)
		}
		for len(tokens) <= rank {
			tokens = append(tokens, "")
		}
		tokens[rank] = string(token)
	}
	if len(tokens) == 0 {
		return nil, errors.New("it holds no ranks")
	}
	return tokens, nil
}
