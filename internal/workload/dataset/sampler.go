package dataset

import (
	"fmt"
	"sync/atomic"

	"aiperf/internal/base/random"
)

// Sampling is the order in which sessions take conversations.
type Sampling string

const (
	Sequential Sampling = "sequential" // in the order of the dataset, again and again
	Random     Sampling = "random"     // uniform, with replacement
	Shuffle    Sampling = "shuffle"    // every pass over the dataset in an order of its own
)

// Sampler says which conversation a session plays. It is a pure function of the seed and the
// session's index, safe for concurrent use.
type Sampler struct {
	sampling Sampling
	n        uint64
	stream   random.Stream
	// passes are the last two that were asked for, each in its place: sessions of the next pass are looked up before
	// those of this one have ended.
	passes [2]atomic.Pointer[shuffledPass]
}

// shuffledPass is the order of one pass over the dataset.
type shuffledPass struct {
	number uint64
	order  []int
}

// NewSampler samples n conversations.
func NewSampler(sampling Sampling, n int, seed random.Seed) (*Sampler, error) {
	if n <= 0 {
		return nil, fmt.Errorf("the dataset holds no conversations to sample from")
	}
	s := &Sampler{sampling: sampling, n: uint64(n)}
	switch sampling {
	case Sequential:
	case Random:
		s.stream = seed.Stream("dataset.sampler.random")
	case Shuffle:
		s.stream = seed.Stream("dataset.sampler.shuffle")
	default:
		return nil, fmt.Errorf("unknown sampling strategy %q: want sequential, random or shuffle", string(sampling))
	}
	return s, nil
}

// At returns the index of the conversation that session k plays.
func (s *Sampler) At(k uint64) int {
	switch s.sampling {
	case Random:
		r := s.stream.At(k)
		return r.IntN(int(s.n))
	case Shuffle:
		return s.shuffled(k / s.n).order[k%s.n]
	}
	return int(k % s.n)
}

// shuffled returns the order of a pass.
func (s *Sampler) shuffled(number uint64) *shuffledPass {
	place := &s.passes[number%2]
	if p := place.Load(); p != nil && p.number == number {
		return p
	}
	r := s.stream.At(number)
	p := &shuffledPass{number: number, order: r.Perm(int(s.n))}
	place.Store(p)
	return p
}
