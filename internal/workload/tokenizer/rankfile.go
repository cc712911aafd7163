package tokenizer

import (
	"fmt"
)

// Splitter cuts a text into pieces, by Split or by Match.
type Splitter struct {
	// Pattern is the name or expression that it was made of.
	Pattern string
	Split   SplitFunc `json:"-"`
	// Match calls match for each piece of a text, from left to right. Err reports why
	// it fails.
	Match func(text string, match func(start, end int)) `json:"-"`
	Err   func() error                                  `json:"-"`
	// CutsAtBlanks reports whether a piece ends before a blank that follows a letter or digit of ASCII.
	CutsAtBlanks bool `json:"-"`
}

// RankOptions describe a vocabulary of ranked byte strings, as tiktoken has them.
type RankOptions struct {
	Name string `json:"-"`
	// Tokens are the byte strings by rank; an empty one leaves its rank out.
	Tokens []string `json:"-"`
	// Offset is the id of rank 0.
	Offset int
	Splitter
	// InText are the special tokens that become one id where a text contains them, Names those that only have a name.
	InText, Names []Special
	BOS, EOS      int // -1 for none
	// Added is the number of special tokens around a single sequence.
	Added int
}

// FromRanks makes a tokenizer of ranked byte strings.
func FromRanks(o RankOptions) (*Ranked, error) {
	r := &ranks{VocabOf(o.Tokens)}
	o.Tokens = nil
	return newRanked(r, o)
}

func newRanked(r *ranks, o RankOptions) (*Ranked, error) {
	for b := range 256 {
		if r.rank(string([]byte{byte(b)})) == noRank {
			return nil, fmt.Errorf("the vocabulary lacks the byte 0x%02x: not every text could be encoded", b)
		}
	}
	t := newByteLevel(r, o.Split, o.InText)
	t.match = o.Match
	t.offset = o.Offset
	t.size = max(t.size, o.Offset+r.Len())
	for _, s := range o.Names {
		t.names[s.ID] = s.Text
		t.size = max(t.size, s.ID+1)
	}
	return &Ranked{t, o}, nil
}

// Ranked is a vocabulary of ranks out of a file.
type Ranked struct {
	*byteLevel
	o RankOptions
}

// Name returns what the user asked for.
func (r *Ranked) Name() string { return r.o.Name }

// VocabSize returns one more than the largest id.
func (r *Ranked) VocabSize() int { return r.size }

// Specials lists the special tokens.
func (r *Ranked) Specials() Specials {
	return Specials{BOS: r.o.BOS, EOS: r.o.EOS, Added: r.o.Added}
}

// CutsAtBlanks implements Cuttable.
func (r *Ranked) CutsAtBlanks() bool { return r.o.CutsAtBlanks && !r.blankSpecials }

// Err implements Fallible.
func (r *Ranked) Err() error {
	if r.o.Splitter.Err == nil {
		return nil
	}
	return r.o.Splitter.Err()
}

// Save adds the tokenizer to a packed file.
func (r *Ranked) Save(w *TableWriter) error {
	if err := w.JSON("ranks", r.o); err != nil {
		return err
	}
	return r.ranks.Save(w, "ranks")
}

// LoadRanks takes a tokenizer out of a packed file. splitter makes the one of a pattern.
func LoadRanks(f *TableFile, name string, splitter func(pattern string) (Splitter, error)) (*Ranked, error) {
	var o RankOptions
	err := f.JSON("ranks", &o)
	if err != nil {
		return nil, err
	}
	if o.Name = name; o.Offset < 0 || o.Offset > maxID {
		return nil, fmt.Errorf("the section \"ranks\" of the packed file: the offset %d is outside 0…%d", o.Offset,
			maxID)
	}
	for _, s := range append(o.InText[:len(o.InText):len(o.InText)], o.Names...) {
		if s.ID < 0 || s.ID > maxID {
			return nil, fmt.Errorf("the section \"ranks\" of the packed file: the id %d is outside 0…%d", s.ID, maxID)
		}
	}
	if o.Splitter, err = splitter(o.Pattern); err != nil {
		return nil, err
	}
	v, err := LoadVocab(f, "ranks")
	if err != nil {
		return nil, err
	}
	return newRanked(&ranks{v}, o)
}

// maxID bounds the ids of a packed file.
const maxID = 1 << 22
