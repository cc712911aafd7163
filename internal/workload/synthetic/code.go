package synthetic

import (
	"runtime"
	"sync"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/tokenizer"
)

// codeCharacters is the length of generated code: about a million tokens.
const codeCharacters = 4_000_000

// NewCode makes texts that are cut from files, logs and talk of programmers, which are generated from r.
func NewCode(tok tokenizer.Tokenizer, r *random.Rand) *Source {
	documents := Documents(r, codeCharacters)
	return &Source{tok: tok, corpus: encodeAll(tok, len(documents),
		func(i int) string { return documents[i] + "\n\n" })}
}

// encodeAll returns a corpus of chunks. They are encoded each for itself, so the number of cores changes nothing.
func encodeAll(tok tokenizer.Tokenizer, n int, chunk func(i int) string) *corpus {
	chunks := make([][]int32, n)
	var wg sync.WaitGroup
	for worker, workers := 0, runtime.GOMAXPROCS(0); worker < workers; worker++ {
		wg.Go(func() {
			var ids []int
			for i := worker; i < n; i += workers {
				ids = tok.Encode(ids[:0], chunk(i))
				chunks[i] = make([]int32, 0, len(ids))
				for _, id := range ids {
					chunks[i] = append(chunks[i], int32(id))
				}
			}
		})
	}
	wg.Wait()
	return newCorpus(chunks...)
}
