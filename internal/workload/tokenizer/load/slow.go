package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"aiperf/internal/workload/tokenizer"
	"aiperf/internal/workload/tokenizer/hf"
)

// slowBPE makes a byte-level tokenizer of the older pair of files, vocab.json and merges.txt.
func (b *Bundle) slowBPE(merges []byte, o hf.Options) (tokenizer.Tokenizer, error) {
	vocab, err := fs.ReadFile(b.files, vocabJSON)
	if err != nil {
		return nil, err
	}
	if !json.Valid(vocab) {
		return nil, fmt.Errorf("%s is not JSON", vocabJSON)
	}
	var list []string
	for line := range strings.Lines(string(merges)) {
		if line = strings.TrimRight(line, "\r\n"); line != "" && !strings.HasPrefix(line, "#version") {
			list = append(list, line)
		}
	}
	return b.synthesized(map[string]any{
		"model":         map[string]any{"type": "BPE", "vocab": json.RawMessage(vocab), "merges": list},
		"pre_tokenizer": map[string]any{"type": "ByteLevel", "add_prefix_space": false},
		"decoder":       map[string]any{"type": "ByteLevel"},
	}, vocab, o)
}

// slowBERT makes a WordPiece tokenizer of a vocab.txt.
func (b *Bundle) slowBERT(vocab []byte, o hf.Options) (tokenizer.Tokenizer, error) {
	ids := map[string]int{}
	id := 0
	for line := range bytes.Lines(vocab) {
		ids[string(bytes.TrimRight(line, "\r\n"))] = id
		id++
	}
	lower := true
	if c := b.config(); c.DoLowerCase != nil {
		lower = *c.DoLowerCase
	}
	raw, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	file := map[string]any{
		"normalizer": map[string]any{"type": "BertNormalizer", "lowercase": lower},
		"model": map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "vocab": ids,
			"max_input_chars_per_word": 100},
		"pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
		"decoder":       map[string]any{"type": "WordPiece", "prefix": "##"},
	}
	cls, sep := ids["[CLS]"], ids["[SEP]"]
	if cls > 0 && sep > 0 {
		file["post_processor"] = map[string]any{"type": "BertProcessing", "cls": []any{"[CLS]", cls},
			"sep": []any{"[SEP]", sep}}
	}
	return b.synthesized(file, raw, o)
}

// synthesized makes the tokenizer of a tokenizer.json that was put together; the special tokens that the
// configuration names become added tokens if the vocabulary has them.
func (b *Bundle) synthesized(file map[string]any, vocab []byte, o hf.Options) (tokenizer.Tokenizer, error) {
	var ids map[string]int
	if err := json.Unmarshal(vocab, &ids); err != nil {
		return nil, err
	}
	type added struct {
		ID      int    `json:"id"`
		Content string `json:"content"`
		Special bool   `json:"special"`
	}
	list := []added{}
	for _, name := range []string{o.BOS, o.EOS, "<|endoftext|>", "[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"} {
		if id, ok := ids[name]; ok && name != "" {
			list = append(list, added{id, name, true})
		}
	}
	if data, err := fs.ReadFile(b.files, addedJSON); err == nil {
		var more map[string]int
		if err := json.Unmarshal(data, &more); err != nil {
			return nil, fmt.Errorf("%s: %w", addedJSON, err)
		}
		for content, id := range more {
			list = append(list, added{id, content, true})
		}
	}
	file["added_tokens"] = list
	data, err := json.Marshal(file)
	if err != nil {
		return nil, err
	}
	return some(hf.New(data, o))
}
