package synthetic

import (
	"strings"
	"unicode/utf8"

	"aiperf/internal/base/pattern"
	"aiperf/internal/workload/tokenizer"
)

// NewVocabulary makes texts of neighbouring tokens of the vocabulary itself instead of a text: no two
// requests are alike and no natural language is in them. Special tokens take part if special is set.
// Ids that are no token, or a part of a character, are left out: no request could carry them.
func NewVocabulary(tok tokenizer.Tokenizer, special bool) *Source {
	var ids []int32
	marks := tok.Specials()
	for id := range tok.VocabSize() {
		text := tok.Decode([]int{id})
		switch {
		case text == "" || !utf8.ValidString(text) || strings.ContainsRune(text, utf8.RuneError):
		case !special && (id == marks.BOS || id == marks.EOS || specialText.MatchString(text)):
		default:
			ids = append(ids, int32(id))
		}
	}
	return &Source{tok: tok, corpus: newCorpus(ids)}
}

// specialText is how vocabularies write special tokens; a tokenizer does not list them.
var specialText = pattern.New(`^(<\|.*\|>|</?[a-z_0-9]+>|\[(PAD|UNK|CLS|SEP|MASK|BOS|EOS|INST|/INST)\])$`)
