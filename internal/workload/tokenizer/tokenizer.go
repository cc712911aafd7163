// Package tokenizer turns text into token ids and back, exactly as the model's own tokenizer does. It holds the
// interface [Tokenizer], the engine for ranked vocabularies (byte-level BPE) and the built-in vocabularies.
//
// Invariants: special tokens are never added by Encode and Count, so that a count is the number of tokens of the text
// alone; a Tokenizer is safe for concurrent use; time grows with the length of a text, not with its square.
//
// The package must never know files, names of models and the network: package load finds a tokenizer.
//
// It also cuts text into the pieces that a vocabulary's splitting pattern matches, without a regular expression
// engine: one scanner for each family of published patterns.
//
// Invariants: the pieces are those of the pattern, in order and without gaps; a scanner takes linear time and allocates
// nothing.
//
// The package must never know vocabularies: it is a function of the text.
package tokenizer

// Tokenizer is the interface that every engine implements.
type Tokenizer interface {
	// Name is what the user asked for, for messages and reports: "builtin", a hub id or a path.
	Name() string
	// Encode appends the ids of text to dst and returns it. Special tokens written in the text
	// (such as <|endoftext|>) become their single id; none is added. Invalid UTF-8 counts as U+FFFD.
	Encode(dst []int, text string) []int
	// Count is len(Encode(nil, text)) without the allocation.
	Count(text string) int
	// Decode is the text of ids, special tokens included. Ids outside the vocabulary yield U+FFFD.
	Decode(ids []int) string
	// VocabSize is one more than the largest id.
	VocabSize() int
	// Specials lists the special tokens.
	Specials() Specials
}

// Fallible is a Tokenizer that may fail while it is used, as one with a splitting pattern of its own may.
type Fallible interface {
	Tokenizer
	// Err reports why it failed; its ids are wrong since. nil: it has not.
	Err() error
}

// Err returns the failure of any Tokenizer.
func Err(t Tokenizer) error {
	if f, ok := t.(Fallible); ok {
		return f.Err()
	}
	return nil
}

// Specials names the special ids of a vocabulary; an id of -1 means that there is none.
type Specials struct {
	BOS, EOS int
	// Added is the number of special tokens that the model's own pipeline would put around a
	// single sequence (0 for the built-in vocabularies).
	Added int
}

// Separator returns the id that keeps neighbouring blocks from merging: BOS, else EOS, else -1.
func (s Specials) Separator() int {
	if s.BOS >= 0 {
		return s.BOS
	}
	return s.EOS
}
