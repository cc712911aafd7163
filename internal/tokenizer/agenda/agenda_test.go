package agenda

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestItemsComeInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	type pair struct {
		score float32
		at    int32
	}
	var want []pair
	var h Heap
	for at := range int32(500) {
		p := pair{[]float32{0, float32(math.Copysign(0, -1)), 1.5, -2, -1e30, 3e9, r.Float32() - 0.5}[r.IntN(7)], at}
		want = append(want, p)
		h.Push(Item{Scored(p.score, at), uint32(at)})
	}
	slices.SortFunc(want, func(a, b pair) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.at, b.at)) })
	for i, p := range want {
		if got := h.Pop(); got.At() != p.at || got.Note != uint32(p.at) {
			t.Fatalf("item %d: %+v, want %+v", i, got, p)
		}
	}
	if Ranked(1, 9) >= Ranked(2, 0) || Ranked(1, 1) >= Ranked(1, 2) {
		t.Error("ranks come before places")
	}
}
