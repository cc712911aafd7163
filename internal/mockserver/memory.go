package mockserver

import (
	"slices"

	"aiperf/internal/mockserver/page"
)

// This file is the KV cache of the scheduler.

func blocksOf(tokens int) int { return (tokens + page.BlockTokens - 1) / page.BlockTokens }

// fits reports whether the KV cache has room for n more tokens of a reply.
func (s *scheduler) fits(j *job, n int) bool {
	return s.opts.KVBlocks == 0 || s.blocks-j.blocks+blocksOf(j.prompt+j.made+n) <= s.opts.KVBlocks
}

// hold sets how many blocks a reply has.
func (s *scheduler) hold(j *job, blocks int) {
	s.blocks += blocks - j.blocks
	j.blocks = blocks
}

// youngest returns the youngest reply that has a place; nil for none.
func (s *scheduler) youngest() *job {
	all := s.all()
	for _, j := range slices.Backward(all) {
		if j.placed {
			return j
		}
	}
	return nil
}

// preempt takes the place from a reply. Without its part of the KV cache all of its tokens have to be worked on again.
func (s *scheduler) preempt(j *job) {
	j.placed = false
	j.account.Preempt(s.clock.NowNS())
	if s.opts.KVBlocks == 0 {
		return
	}
	s.takeOut(j)
	j.left = j.prompt + j.made
	i := slices.IndexFunc(s.prefill, func(other *job) bool { return !other.placed })
	if i < 0 {
		i = len(s.prefill)
	}
	s.prefill = slices.Insert(s.prefill, i, j)
}

// usedBlocks returns how many blocks of the KV cache are in use.
func (s *scheduler) usedBlocks() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.blocks
}
