package stats_test

import (
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"aiperf/internal/measure/stats"
)

// seen are how often numbers came, and the sum of their distances from the start of the bin.
type seen struct{ count, distance int64 }

func (s *seen) Join(o *seen, after int64) {
	s.count += o.count
	s.distance += o.distance + o.count*after
}

type line = stats.Bins[seen, *seen]

func lineOf(numbers []int64) *line {
	b := &line{Width: 4, Most: 8, Spare: 1}
	for _, v := range numbers {
		b.Cover(v, v)
		at := &b.List[b.Index(v)]
		at.count++
		at.distance += v - b.Number(v)*b.Width
	}
	return b
}

// What bins hold depends neither on the order of the numbers nor on how they were merged, and each number is in the
// bin that it lies in.
func TestBinsDependOnTheNumbersAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reach := rapid.Int64Range(1, 1<<20).Draw(t, "reach")
		numbers := rapid.SliceOfN(rapid.Int64Range(-reach, reach), 1, 40).Draw(t, "numbers")
		shuffled := rapid.Permutation(numbers).Draw(t, "shuffled")
		cut := rapid.IntRange(0, len(numbers)).Draw(t, "cut")
		one, left, right := lineOf(numbers), lineOf(shuffled[:cut]), lineOf(shuffled[cut:])
		left.Merge(right)
		held := func(b *line) map[int64]seen {
			out := map[int64]seen{}
			for i, at := range b.List {
				if at.count > 0 {
					out[b.First+int64(i)] = at
				}
			}
			return out
		}
		if one.Width != left.Width || !reflect.DeepEqual(held(one), held(left)) {
			t.Fatalf("one: %d wide %v\nmerged: %d wide %v", one.Width, held(one), left.Width, held(left))
		}
		want := map[int64]seen{}
		for _, v := range numbers {
			number := int64(math.Floor(float64(v) / float64(one.Width)))
			at := want[number]
			want[number] = seen{at.count + 1, at.distance + v - number*one.Width}
		}
		if !reflect.DeepEqual(held(one), want) {
			t.Fatalf("%d wide: %v, want %v", one.Width, held(one), want)
		}
		if int64(len(one.List)) > one.Most+one.Spare || one.Index(one.High)+1 >= len(one.List) {
			t.Fatalf("%d bins from %d to %d", len(one.List), one.Low, one.High)
		}
	})
}
