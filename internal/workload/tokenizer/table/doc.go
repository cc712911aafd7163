// Package table holds the tables that the engines of tokenizers share. None of them knows how a text is cut into
// tokens.
//
//   - [File] and [Writer]: files of tables that are laid out as they stand in memory. Opening one is a read and a check,
//     nothing is parsed or built again. The unit is the section, a name and its contents; what a section holds is up to
//     the caller.
//   - [Vocab]: byte strings and their ids, found either way. It is a few arrays without pointers, so that a packed one is
//     used as it is in the file.
//   - [Trie]: byte strings with a value each; finds those that a text starts with.
//   - [MergeQueue]: the priority queue of byte-pair merging: the pairs of neighbours that can be merged, the best pair
//     first, the leftmost of equals. Adding and taking a pair takes logarithmic time at the most, whatever the text. A
//     pair is an order and a number of the caller's.
//   - [Charsmap]: the replacements by which SentencePiece normalizes text, which tokenizer.json files carry, too.
//
// A file has 8 bytes of magic, the version, the CRC-32C of all that follows it, the length of the file, the number of
// sections; for each its name (16 bytes), offset and length; then the contents, each at a multiple of 64 bytes. Numbers
// are little-endian.
package table
