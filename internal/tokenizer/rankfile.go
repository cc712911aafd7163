package tokenizer

import (
	"fmt"

	"aiperf/internal/tokenizer/split"
)

// RankOptions describe a vocabulary of ranked byte strings, as tiktoken has them.
type RankOptions struct {
	Name string
	// Tokens are the byte strings by rank; an empty one leaves its rank out.
	Tokens []string
	// Offset is the id of rank 0.
	Offset int
	Split  split.Func
	// InText are the special tokens that become one id where a text spells them, Names those that only have a name.
	InText, Names []Special
	BOS, EOS      int // -1 for none
	// Added is the number of special tokens around a single sequence.
	Added int
}

// FromRanks makes a tokenizer of ranked byte strings.
func FromRanks(o RankOptions) (Tokenizer, error) {
	r := newRanksOf(o.Tokens)
	for b := range 256 {
		if r.rank(string([]byte{byte(b)})) == noRank {
			return nil, fmt.Errorf("the vocabulary lacks the byte 0x%02x: not every text could be encoded", b)
		}
	}
	t := newByteLevel(r, o.Split, o.InText)
	t.offset = o.Offset
	t.size = max(t.size, o.Offset+r.len())
	for _, s := range o.Names {
		t.names[s.ID] = s.Text
		t.size = max(t.size, s.ID+1)
	}
	return &ranked{t, o.Name, Specials{BOS: o.BOS, EOS: o.EOS, Added: o.Added}}, nil
}

// ranked is a vocabulary of ranks out of a file.
type ranked struct {
	*byteLevel
	name     string
	specials Specials
}

func (r *ranked) Name() string       { return r.name }
func (r *ranked) VocabSize() int     { return r.size }
func (r *ranked) Specials() Specials { return r.specials }
