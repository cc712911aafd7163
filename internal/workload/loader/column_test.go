package loader

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	edges := []int64{0, 1, -1, 127, 128, -128, -129, 32767, 32768, -32768, -32769, math.MaxInt32, math.MaxInt32 + 1,
		math.MinInt32, math.MinInt32 - 1, math.MaxInt64, math.MinInt64}
	var c Ints
	var f Floats
	var whole []int64
	var numbers []float64
	for i := range 5 * pageSize / 2 {
		v := int64(0)
		switch {
		case i/pageSize == 1:
			v = edges[r.IntN(len(edges))]
		case i > 9:
			v = edges[min(len(edges)-1, i*len(edges)/(2*pageSize))] // wider and wider
		}
		x := math.NaN()
		if i > 3*pageSize/2 && r.IntN(2) == 0 {
			x = r.Float64()
		}
		c.Add(v)
		f.Add(x)
		whole, numbers = append(whole, v), append(numbers, x)
	}
	for i, want := range whole {
		if got := c.At(i); got != want {
			t.Fatalf("number %d is %d, want %d", i, got, want)
		}
		if got := f.At(i); got != numbers[i] && !(math.IsNaN(got) && math.IsNaN(numbers[i])) {
			t.Fatalf("number %d is %v, want %v", i, got, numbers[i])
		}
	}
	if f.pages[0] != nil || f.pages[1] == nil {
		t.Error("pages without a number take room, or those with some do not")
	}
	for _, v := range edges {
		var one Ints
		one.Add(v)
		if got := one.At(0); got != v {
			t.Errorf("%d became %d", v, got)
		}
	}
}
