package compose_test

import (
	"slices"
	"testing"

	"aiperf/internal/workload/compose"
	"aiperf/internal/workload/recipe"
)

func TestRankings(t *testing.T) {
	o := defaults(func(o *compose.Options) {
		o.Entries, o.ISL = 30, recipe.Normal{}
		o.Rankings = &recipe.Rankings{
			Passages: recipe.Normal{Mean: 4, Stddev: 2}, PassageTokens: recipe.Normal{Mean: 30},
			QueryTokens: recipe.Normal{Mean: 12},
		}
	})
	d := build(t, o)
	var sizes []int
	for _, c := range d.All() {
		texts := c.Turns[0].Texts
		if len(c.Turns) != 1 || len(texts) != 2 || texts[0].Name != "query" || texts[1].Name != "passages" ||
			len(texts[0].Contents) != 1 {
			t.Fatalf("%+v", c.Turns)
		}
		wantCounts(t, texts[0].Contents, 12)
		wantCounts(t, texts[1].Contents, 30)
		sizes = append(sizes, len(texts[1].Contents))
	}
	if slices.Min(sizes) < 1 || slices.Min(sizes) == slices.Max(sizes) {
		t.Errorf("numbers of passages %v", sizes)
	}
	// The number of passages does not change the queries.
	o.Rankings.Passages = recipe.Normal{Mean: 1}
	for i, c := range build(t, o).All() {
		if c.Turns[0].Texts[0].Contents[0] != d.At(i).Turns[0].Texts[0].Contents[0] {
			t.Fatalf("query %d depends on the passages", i)
		}
	}
}
