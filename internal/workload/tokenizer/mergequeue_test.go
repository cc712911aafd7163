package tokenizer_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"aiperf/internal/workload/tokenizer"
)

func TestItemsComeInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	type pair struct {
		score float32
		at    int32
	}
	var want []pair
	var q tokenizer.MergeQueue
	for at := range int32(500) {
		p := pair{[]float32{0, float32(math.Copysign(0, -1)), 1.5, -2, -1e30, 3e9, r.Float32() - 0.5}[r.IntN(7)], at}
		want = append(want, p)
		q.Push(tokenizer.MergePair{tokenizer.ScoredKey(p.score, at), uint32(at)})
	}
	slices.SortFunc(want, func(a, b pair) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.at, b.at)) })
	for i, p := range want {
		if got := q.Pop(); got.At() != p.at || got.Note != uint32(p.at) {
			t.Fatalf("pair %d: %+v, want %+v", i, got, p)
		}
	}
	if tokenizer.RankedKey(1, 9) >= tokenizer.RankedKey(2, 0) ||
		tokenizer.RankedKey(1, 1) >= tokenizer.RankedKey(1, 2) {
		t.Error("ranks come before places")
	}
}

// Many pairs, pushed in stretches from left to right as a long text has them and out of order between pops, come as a
// sorted list has them.
func TestManyItemsComeInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	// So many pairs are in a heap alone, and so many rows are beside it: those of the package.
	const fewPairs, maxRows = 4096, 16
	for _, ranks := range []int{1, 3, 2 * maxRows, 3 * fewPairs} {
		var q tokenizer.MergeQueue
		var held []uint64 // sorted
		push := func(rank, at int) {
			pair := tokenizer.MergePair{tokenizer.RankedKey(uint32(rank), int32(at)), uint32(at)}
			i, _ := slices.BinarySearch(held, pair.Order)
			held = slices.Insert(held, i, pair.Order)
			q.Push(pair)
		}
		// A heap that has held as many pairs needs no more memory for them. Rows have some of their own each time.
		if n := testing.AllocsPerRun(2, func() {
			q.Reset()
			for at := range 3 * fewPairs {
				q.Push(tokenizer.MergePair{tokenizer.RankedKey(uint32(at%ranks), int32(at)), uint32(at)})
			}
		}); n == 0 {
			t.Fatal("no pair is in a row")
		}
		q.Reset()
		for at := range 3 * fewPairs {
			push(at%ranks, at)
		}
		for n := 0; !q.Empty(); n++ {
			got := q.Pop()
			if got.Order != held[0] || got.Note != uint32(got.At()) {
				t.Fatalf("%d ranks, pair %d: %x, want %x", ranks, n, got.Order, held[0])
			}
			held = held[1:]
			if n < 4*fewPairs && n%3 < 2 {
				push(r.IntN(ranks+2), r.IntN(2)*n+r.IntN(20))
			}
		}
		if len(held) != 0 {
			t.Fatalf("%d pairs are missing", len(held))
		}
	}
	var q tokenizer.MergeQueue
	for at := range int32(3 * fewPairs) {
		q.Push(tokenizer.MergePair{tokenizer.RankedKey(1, at), 0})
	}
	if q.Reset(); !q.Empty() {
		t.Error("pairs are left after a reset")
	}
	q.Push(tokenizer.MergePair{tokenizer.RankedKey(7, 7), 7})
	if got := q.Pop(); got.Note != 7 || !q.Empty() {
		t.Errorf("after a reset: %+v", got)
	}
}
