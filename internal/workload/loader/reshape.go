package loader

import (
	"fmt"
	"math"
	"slices"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/dataset"
)

// Reshape changes the times, the lengths and the shared prefixes of a trace. The prefix of a row is
// its leading run of hash ids that occur more than once in the trace; the rest is its prompt.
type Reshape struct {
	// Speedup divides the times; 0 leaves them.
	Speedup float64
	// PrefixLen, PromptLen and OutputLen multiply lengths.
	PrefixLen, PromptLen, OutputLen float64
	// PrefixRoots is the number of independent copies of the prefixes among which sessions are spread.
	PrefixRoots int
}

// Zero returns the instant in milliseconds of a recorded one after the speed-up.
func (s *Reshape) Zero(ms int64) int64 {
	if s == nil || s.Speedup == 0 {
		return ms
	}
	return int64(float64(ms) / s.Speedup)
}

// pace returns what spans of recorded time are divided by.
func (s *Reshape) pace() float64 {
	if s == nil || s.Speedup == 0 {
		return 1
	}
	return s.Speedup
}

// changesPrompts reports whether the blocks of a prompt change, which takes those of all.
func (s *Reshape) changesPrompts() bool {
	return s != nil && (s.PrefixLen != 1 || s.PromptLen != 1 || s.PrefixRoots > 1)
}

// scaleTurn changes what needs no other rows: the times and the output.
func (s *Reshape) scaleTurn(t *dataset.Turn) {
	if s == nil {
		return
	}
	if n := t.MaxTokens; n != nil && s.OutputLen != 1 {
		scaled := max(1, scale(*n, s.OutputLen))
		t.MaxTokens = &scaled
	}
	if s.Speedup == 0 {
		return
	}
	if t.TimestampMS != nil {
		ms := math.Trunc(*t.TimestampMS / s.Speedup)
		t.TimestampMS = &ms
	}
	if t.DelayMS != nil {
		ms := *t.DelayMS / s.Speedup
		t.DelayMS = &ms
	}
}

// scale multiplies a length and rounds down; a product that exceeds any real prompt is cut.
func scale(n int, by float64) int { return int(min(float64(n)*by, math.MaxInt32)) }

// maxBlocks bounds the blocks of a reshaped trace: a gigabyte of ids.
const maxBlocks = 1 << 27

// checkSize refuses multipliers that would fill the memory.
func (s *Reshape) checkSize(rows []*prompt, blockSize int) error {
	blocks := 0.0
	for i := range rows {
		if len(rows[i].ids) > 0 {
			blocks += float64(len(rows[i].ids))*max(1, s.PrefixLen) +
				float64(rows[i].tokens)*s.PromptLen/float64(blockSize)
		}
	}
	if blocks > maxBlocks {
		return fmt.Errorf("the reshaped trace would have about %.0f blocks, and the limit is %d: lower "+
			"--synthesis-prefix-len-multiplier or --synthesis-prompt-len-multiplier", blocks, maxBlocks)
	}
	return nil
}

// prompts changes the lengths and blocks of all prompts of a trace.
func (s *Reshape) prompts(rows []*prompt, blockSize int, seed random.Seed) error {
	if !s.changesPrompts() {
		return nil
	}
	if err := s.checkSize(rows, blockSize); err != nil {
		return err
	}
	renumber(rows)
	shared := sharedIDs(rows)
	whole := int64(max(1, s.PrefixLen)) // an id of a prefix becomes that many
	fresh := int64(1)                   // ids above are free
	for id := range shared {
		fresh = max(fresh, id+1)
	}
	fresh *= whole
	for i := range rows {
		if r := rows[i]; len(r.ids) > 0 {
			fresh = s.reshapePrompt(r, shared, blockSize, whole, fresh)
		}
	}
	if s.PrefixRoots > 1 {
		spread(rows, s.PrefixRoots, fresh+1, seed)
	}
	return nil
}

// smallID bounds the ids that are reckoned with: what multipliers make of smaller ones fits 64 bits.
const smallID = 1 << 40

// renumber gives the ids of a trace small numbers, in the order in which they are met, if some are hashes.
func renumber(rows []*prompt) {
	large := func(id int64) bool { return id < 0 || id >= smallID }
	if !slices.ContainsFunc(rows, func(r *prompt) bool { return slices.ContainsFunc(r.ids, large) }) {
		return
	}
	numbers := map[int64]int64{}
	for _, r := range rows {
		for i, id := range r.ids {
			if _, met := numbers[id]; !met {
				numbers[id] = int64(len(numbers))
			}
			r.ids[i] = numbers[id]
		}
	}
}

func sharedIDs(rows []*prompt) map[int64]bool {
	times := map[int64]int{}
	for i := range rows {
		for _, id := range rows[i].ids {
			times[id]++
		}
	}
	shared := map[int64]bool{}
	for id, n := range times {
		if n > 1 {
			shared[id] = true
		}
	}
	return shared
}

// reshapePrompt changes one prompt and returns the last id that is taken.
func (s *Reshape) reshapePrompt(r *prompt, shared map[int64]bool, blockSize int, whole, fresh int64) int64 {
	run := 0
	for run < len(r.ids) && shared[r.ids[run]] {
		run++
	}
	prefixTokens := min(blockSize*run, r.tokens)
	missing := blockSize*run - prefixTokens // in a last block that is shared and not full
	prompt := scale(r.tokens-prefixTokens, s.PromptLen)
	ids := make([]int64, 0, len(r.ids))
	add := func() {
		fresh++
		ids = append(ids, fresh)
	}
	if s.PrefixLen < 1 {
		keep := run
		if run > 0 {
			keep = max(1, int(float64(run)*s.PrefixLen))
		}
		ids = append(ids, r.ids[:keep]...)
		if keep < run {
			missing = 0
		}
	} else {
		for _, id := range r.ids[:run] {
			for k := range whole {
				ids = append(ids, id*whole+k)
			}
		}
		for want := int(math.Ceil(float64(run) * s.PrefixLen)); len(ids) < want; {
			add()
		}
	}
	r.tokens = blockSize*len(ids) - missing + prompt
	for range (prompt + blockSize - 1) / blockSize {
		add()
	}
	if r.ids = ids; len(ids) == 0 {
		r.ids, r.tokens = nil, 1 // a prompt of nothing cannot be sent
	}
	return fresh
}

// spread gives each session one of several copies of the ids.
func spread(rows []*prompt, roots int, distance int64, seed random.Seed) {
	stream := seed.Stream("dataset.synthesis.synthesizer")
	copies := map[int]int64{}
	draws := uint64(0)
	for i := range rows {
		r := rows[i]
		root, known := copies[r.session]
		if !known {
			draw := stream.At(draws)
			draws++
			root = int64(draw.IntN(roots))
			copies[r.session] = root
		}
		for k := range r.ids {
			r.ids[k] += root * distance
		}
	}
}
