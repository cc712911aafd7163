// Package tokenizer turns text into token ids and back, exactly as the model's own tokenizer does. It holds the
// interface [Tokenizer], the engine for ranked vocabularies (byte-level BPE) and the built-in vocabularies.
//
// Invariants: special tokens are never added by Encode and Count, so that a count is the number of tokens of the text
// alone; a Tokenizer is safe for concurrent use; time grows with the length of a text, not with its square.
//
// The package must never know where files are, names of models and the network: package load finds a tokenizer.
//
// It also cuts text into the pieces that a vocabulary's splitting pattern matches, without a regular expression
// engine: one scanner for each family of published patterns.
//
// Invariants: the pieces are those of the pattern, in order and without gaps; a scanner takes linear time and allocates
// nothing.
//
// The scanners must never know vocabularies: they are functions of the text.
//
// It also holds the tables that all engines share. None of them knows how a text is cut into tokens.
//
//   - [TableFile] and [TableWriter]: files of tables that are laid out as they stand in memory. Opening one is a check,
//     nothing is parsed or built again. The unit is the section, a name and its contents; what a section holds is up to
//     the caller.
//   - [Vocab]: byte strings and their ids, found either way. It is a few arrays without pointers, so that a packed one
//     is used as it is in the file.
//   - [Trie]: byte strings with a value each; finds those that a text starts with.
//   - [MergeQueue]: the priority queue of byte-pair merging: the pairs of neighbours that can be merged, the best pair
//     first, the leftmost of equals. Adding and taking a pair takes logarithmic time at the most, whatever the text. A
//     pair is an order and a number of the caller's.
//   - [Charsmap]: the replacements by which SentencePiece normalizes text, which tokenizer.json files carry, too.
//
// A file has 8 bytes of magic, the version, the CRC-32C of all that follows it, the length of the file, the number of
// sections; for each its name (16 bytes), offset and length; then the contents, each at a multiple of 64 bytes. Numbers
// are little-endian.
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
