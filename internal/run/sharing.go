package run

import "aiperf/internal/workload/dataset"

// Content is what the requests of a run say, ready to be sent, and what counts their tokens.
type Content struct {
	Data *dataset.Dataset
	// Tokenizers are those that are not built in.
	Tokenizers []PackedTokenizer
}

// PackedTokenizer is a tokenizer as one file, under the name and revision that the configuration has.
type PackedTokenizer struct {
	Name, Revision string
	Data           []byte
}
