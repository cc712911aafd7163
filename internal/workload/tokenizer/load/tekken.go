package load

import (
	"encoding/json"
	"errors"
	"fmt"

	"aiperf/internal/workload/tokenizer"
)

// tekken is a tekken.json.
type tekken struct {
	Config struct {
		Pattern          string `json:"pattern"`
		DefaultVocabSize int    `json:"default_vocab_size"`
		SpecialTokens    int    `json:"default_num_special_tokens"`
	} `json:"config"`
	Vocab []struct {
		Rank  int    `json:"rank"`
		Bytes []byte `json:"token_bytes"`
	} `json:"vocab"`
	Special []struct {
		Rank int    `json:"rank"`
		Text string `json:"token_str"`
	} `json:"special_tokens"`
}

// tekkenNames are the first special tokens of the files that list none.
var tekkenNames = []string{
	"<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
	"[/TOOL_RESULTS]",
	"[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]",
	"[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
}

// Tekken makes a tokenizer of the text of a tekken.json. The special tokens come first; text that spells
// one is text.
func Tekken(name string, data []byte) (*tokenizer.Ranked, error) {
	var f tekken
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("it is not a tekken.json: %w", err)
	}
	if len(f.Vocab) == 0 || f.Config.Pattern == "" {
		return nil, errors.New("it is not a tekken.json: it lacks a vocabulary or its pattern")
	}
	pieces, err := RankSplitter(f.Config.Pattern)
	if err != nil {
		return nil, fmt.Errorf("config.pattern: %w", err)
	}
	offset := f.Config.SpecialTokens
	size := f.Config.DefaultVocabSize - offset
	if offset < 0 || size < 1 || size > len(f.Vocab) {
		return nil, fmt.Errorf("a vocabulary of %d tokens cannot be taken from %d", size, len(f.Vocab))
	}
	tokens := make([]string, size)
	for _, v := range f.Vocab[:size] {
		if v.Rank < 0 || v.Rank >= size || len(v.Bytes) == 0 {
			return nil, fmt.Errorf("the token of rank %d is empty or outside the vocabulary", v.Rank)
		}
		tokens[v.Rank] = string(v.Bytes)
	}
	names := make([]tokenizer.Special, offset)
	for i := range names {
		names[i] = tokenizer.Special{Text: fmt.Sprintf("<SPECIAL_%d>", i), ID: i}
		if len(f.Special) == 0 && i < len(tekkenNames) {
			names[i].Text = tekkenNames[i]
		}
	}
	bos, eos := -1, -1
	for _, s := range f.Special {
		if s.Rank >= 0 && s.Rank < offset {
			names[s.Rank].Text = s.Text
		}
	}
	for _, n := range names {
		switch n.Text {
		case "<s>":
			bos = n.ID
		case "</s>":
			eos = n.ID
		}
	}
	added := 0
	if bos >= 0 {
		added = 1
	}
	return tokenizer.FromRanks(tokenizer.RankOptions{
		Name: name, Tokens: tokens, Offset: offset, Splitter: pieces, Names: names, BOS: bos, EOS: eos, Added: added,
	})
}
