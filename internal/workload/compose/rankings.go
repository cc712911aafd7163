package compose

import (
	"aiperf/internal/workload/dataset"
)

// rank returns the only turn of conversation k: a query and the passages to rank.
func (b *builder) rank(k uint64) dataset.Turn {
	o := b.Rankings
	counts, passageTokens, queryTokens := b.streams.passages.At(k), b.streams.passageTokens.At(k),
		b.streams.queryTokens.At(k)
	corpus := b.streams.corpus.At(b.first + k)
	query := b.continueText(&corpus, "", o.QueryTokens.Draw(&queryTokens))
	passages := make([]string, o.Passages.Draw(&counts))
	for i := range passages {
		passages[i] = b.continueText(&corpus, "", o.PassageTokens.Draw(&passageTokens))
	}
	return dataset.Turn{Texts: []dataset.Media{{Name: "query", Contents: []string{query}},
		{Name: "passages", Contents: passages}}}
}
