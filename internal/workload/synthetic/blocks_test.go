package synthetic

import (
	"strings"
	"testing"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/tokenizer"
)

func newBlocks(size int, seed uint64) *Blocks {
	return NewBlocks(NewSource(tokenizer.Builtin()), random.Root(seed).Stream("blocks"), size)
}

func prompt(b *Blocks, n int, ids ...int64) string {
	fresh := random.Root(7).Stream("fresh").At(uint64(n))
	return b.Prompt(n, ids, &fresh)
}

// Exact tiling, a last block in part, blocks as a prefix only, and no blocks at all.
func TestPromptsOfBlocksCountExactlyTheirTokens(t *testing.T) {
	b := newBlocks(64, 1)
	for _, c := range []struct {
		tokens int
		ids    []int64
	}{
		{64, []int64{1}}, {128, []int64{1, 2}}, {65, []int64{1, 2}}, {66, []int64{3, 3}}, {100, []int64{1, 2}},
		{127, []int64{5, 6}},
		{200, []int64{1, 2}}, {129, []int64{1, 2}}, {77, nil}, {1, []int64{9}}, {64, []int64{-1}},
	} {
		text := prompt(b, c.tokens, c.ids...)
		if n := tokenizer.Builtin().Count(text); n != c.tokens {
			t.Errorf("%d tokens of %v: %d", c.tokens, c.ids, n)
		}
	}
	for n := 1; n < 64; n++ { // wherever a block is cut
		if got := tokenizer.Builtin().Count(prompt(b, n, 4)); got != n {
			t.Errorf("the first %d tokens of a block count %d", n, got)
		}
	}
}

func TestPromptsShareTheTextOfTheirCommonBlocks(t *testing.T) {
	b := newBlocks(32, 1)
	one, two, long := prompt(b, 64, 0, 1), prompt(b, 64, 0, 2), prompt(b, 96, 0, 1, 2)
	first := prompt(b, 32, 0)
	if !strings.HasPrefix(one, first) || !strings.HasPrefix(two, first) || one == two {
		t.Error("the first block is not the same text")
	}
	if !strings.HasPrefix(long, one) || one[len(first):] == two[len(first):] {
		t.Error("the second block is not that of its id")
	}
	if fresh := prompt(b, 80, 0, 1); !strings.HasPrefix(fresh, one) {
		t.Error("what follows the blocks changed them")
	}
}

// A block that was first met as a short last one is whole elsewhere, and nothing depends on what was
// asked before.
func TestTrapBlocksDoNotDependOnTheOrderOfUse(t *testing.T) {
	a, b := newBlocks(32, 5), newBlocks(32, 5)
	short, whole := prompt(a, 40, 1, 2), prompt(a, 64, 1, 2)
	if wholeFirst, shortThen := prompt(b, 64, 1, 2), prompt(b, 40, 1, 2); whole != wholeFirst || short != shortThen {
		t.Error("the order in which ids were met changed the text")
	}
	if other := newBlocks(32, 6); prompt(other, 64, 1, 2) == whole {
		t.Error("another seed gave the same text")
	}
	a.youngBytes = blockCacheBytes // what the cache drops comes back the same
	if prompt(a, 64, 8, 9); prompt(a, 64, 1, 2) != whole {
		t.Error("the cache changed the text")
	}
}

func BenchmarkBlocks(b *testing.B) {
	blocks := newBlocks(512, 1)
	for i := range b.N {
		prompt(blocks, 1200, 0, int64(i), int64(i+1))
	}
}
