package rankfile

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"

	"aiperf/internal/tokenizer"
	"aiperf/internal/tokenizer/split"
)

// maxRank bounds the ranks of a file; tables are made as long as the largest.
const maxRank = 1 << 22

// family is a known vocabulary of ranks. Rank files hold neither pattern nor special tokens; the number of
// ranks tells which one a file is.
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
	{50256, "r50k_base", split.GPT2, "", "<|endoftext|>", listed("<|endoftext|>")},
	{50281, "p50k_base", split.GPT2, "", "<|endoftext|>", func(int) []tokenizer.Special {
		return []tokenizer.Special{{Text: "<|endoftext|>", ID: 50256}}
	}},
	{100256, "cl100k_base", split.CL100k, "", "<|endoftext|>", func(int) []tokenizer.Special {
		return []tokenizer.Special{{Text: "<|endoftext|>", ID: 100257}, {Text: "<|fim_prefix|>", ID: 100258}, {Text: "<|fim_middle|>", ID: 100259},
			{Text: "<|fim_suffix|>", ID: 100260}, {Text: "<|endofprompt|>", ID: 100276}}
	}},
	{128000, "Llama 3", split.Llama3, "<|begin_of_text|>", "<|end_of_text|>", llama3},
	{151643, "Qwen", split.Qwen, "", "<|endoftext|>", listed("<|endoftext|>", "<|im_start|>", "<|im_end|>")},
	{199998, "o200k_base", split.O200k, "", "<|endoftext|>", func(int) []tokenizer.Special {
		return []tokenizer.Special{{Text: "<|endoftext|>", ID: 199999}, {Text: "<|endofprompt|>", ID: 200018}}
	}},
}

// llama3 are the 256 special tokens behind the ranks of Llama 3.
func llama3(first int) []tokenizer.Special {
	names := []string{
		"<|begin_of_text|>", "<|end_of_text|>", "<|reserved_special_token_0|>", "<|reserved_special_token_1|>", "<|finetune_right_pad_id|>",
		"<|step_id|>", "<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>", "<|eot_id|>", "<|python_tag|>",
	}
	for n := 2; len(names) < 256; n++ {
		names = append(names, fmt.Sprintf("<|reserved_special_token_%d|>", n))
	}
	return listed(names...)(first)
}

// IsRanks tells whether data looks like a rank file: a base64 token and a number in the first line.
func IsRanks(data []byte) bool {
	line, _, _ := bytes.Cut(data[:min(len(data), 4096)], []byte("\n"))
	fields := bytes.Fields(line)
	if len(fields) != 2 {
		return false
	}
	_, err1 := base64.StdEncoding.DecodeString(string(fields[0]))
	_, err2 := strconv.Atoi(string(fields[1]))
	return err1 == nil && err2 == nil
}

// Tiktoken makes a tokenizer of a rank file of one of the known vocabularies.
func Tiktoken(name string, data []byte) (*tokenizer.Ranked, error) {
	tokens, err := readRanks(data)
	if err != nil {
		return nil, err
	}
	for i := range families {
		if f := &families[i]; f.ranks == len(tokens) {
			return f.make(name, tokens)
		}
	}
	return nil, fmt.Errorf("a rank file does not say how text is split, and %d ranks are those of no known vocabulary; use the tokenizer.json of the model", len(tokens))
}

func (f *family) make(name string, tokens []string) (*tokenizer.Ranked, error) {
	specials := f.specials(len(tokens))
	o := tokenizer.RankOptions{Name: name, Tokens: tokens, Split: split.Named(f.split), Pattern: f.split, InText: specials, BOS: -1, EOS: -1}
	for _, s := range specials {
		if s.Text == f.bos {
			o.BOS, o.Added = s.ID, 1
		}
		if s.Text == f.eos {
			o.EOS = s.ID
		}
	}
	return tokenizer.FromRanks(o)
}

// Splitter makes the splitter of a name or pattern that a packed file holds.
func Splitter(pattern string) (split.Func, error) {
	if f := split.Named(pattern); f != nil {
		return f, nil
	}
	if f := split.Known(pattern); f != nil {
		return f, nil
	}
	return nil, fmt.Errorf("the splitting pattern %q is not known", pattern)
}

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
			return nil, fmt.Errorf("line %d: want a token and its rank", number)
		}
		token, err := base64.StdEncoding.AppendDecode(nil, fields[0])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		rank, err := strconv.Atoi(string(fields[1]))
		if err != nil || rank < 0 || rank >= maxRank {
			return nil, fmt.Errorf("line %d: the rank is no number below %d", number, maxRank)
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
