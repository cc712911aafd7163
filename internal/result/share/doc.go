// Package share makes of a finished result what one pastes into an issue or a post: a block of Markdown, and a card as a
// picture. The result is a run, repeats, a sweep, a search, the search for a capacity, or two systems that are compared.
//
// Vocabulary: a card is what is shared, whatever form it takes: its title, the key figures, findings such as the client's
// verdict, a table, and the command that measured it.
//
// Invariants: both forms show the same; texts of runs stay texts; the command has no secret; nothing is written.
package share
