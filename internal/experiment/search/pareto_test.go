package search_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"aiperf/internal/experiment/search"
)

var throughputAndLatency = []search.Objective{{Maximize: true}, {}}

func TestFrontOfTheWorkedExamples(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		values [][]float64
		want   []int
	}{
		{[][]float64{{96, 120}, {180, 140}, {240, 175}, {252, 290}}, []int{0, 1, 2, 3}},
		{[][]float64{{100, 50}, {180, 60}, {170, 70}, {200, 200}}, []int{0, 1, 3}},
		{[][]float64{{100, 50}, {100, 50}}, []int{0, 1}},
		{[][]float64{nil, {1, nan}, {1, 2}, {math.Inf(1), 0}}, []int{2}},
		{nil, nil},
	} {
		if got := search.Front(c.values, throughputAndLatency); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.values, got, c.want)
		}
	}
}

// The worked example, and what does not add to it.
func TestHypervolumeOfTheWorkedExample(t *testing.T) {
	values := [][]float64{{8000, 150}, {9000, 180}, {9600, 220}}
	for _, more := range [][]float64{nil, {8500, 190}, {9000, 180}, {12000, 250}, {-1, 10}, {math.NaN(), 1}} {
		if got := search.Hypervolume(append(values, more), []float64{0, 250}, throughputAndLatency); got != 888000 {
			t.Errorf("with %v: %v, want 888000", more, got)
		}
	}
	if got := search.Hypervolume(nil, []float64{0, 250}, throughputAndLatency); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

// gain returns a value such that more is better.
func gain(o search.Objective, v float64) float64 {
	if o.Maximize {
		return v
	}
	return -v
}

// Volumes of three and four objectives are those of counted cells of a grid.
func TestHypervolumeIsTheCountOfDominatedCells(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, dimensions := range []int{1, 2, 3, 4} {
		objectives := make([]search.Objective, dimensions)
		for i := range objectives {
			objectives[i].Maximize = i%2 == 0
		}
		for range 20 {
			const side = 6
			values, reference := make([][]float64, 1+r.IntN(7)), make([]float64, dimensions)
			for i := range values {
				values[i] = make([]float64, dimensions)
				for d, o := range objectives {
					values[i][d] = gain(o, float64(r.IntN(side+1)))
				}
			}
			want := 0
			for cell := range int(math.Pow(side, float64(dimensions))) {
				if slices.ContainsFunc(values, func(v []float64) bool {
					for d, rest := 0, cell; d < dimensions; d, rest = d+1, rest/side {
						if gain(objectives[d], v[d]) < float64(rest%side+1) {
							return false
						}
					}
					return true
				}) {
					want++
				}
			}
			if got := search.Hypervolume(values, reference, objectives); got != float64(want) {
				t.Fatalf("%v: %v, want %d", values, got, want)
			}
		}
	}
}

func TestReferenceIsTheThresholdOrBeyondTheWorst(t *testing.T) {
	limit := 250.
	objectives := []search.Objective{{Maximize: true}, {Threshold: &limit}, {}}
	got := search.Reference([][]float64{{100, 10, -40}, nil, {80, 300, -20}}, objectives)
	if want := []float64{76, 250, -19}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestCoordinatesOfADimension(t *testing.T) {
	whole := search.Dimension{Lo: 1, Hi: 1000, Int: true, LogUniform: true}
	log := search.Dimension{Lo: 0.1, Hi: 10, LogUniform: true}
	for _, c := range []struct {
		d       search.Dimension
		u, want float64
	}{
		{whole, 0, 1}, {whole, 1, 1000}, {whole, 2, 1000}, {whole, 0.5, 32}, {log, 0.5, 1}, {log, 1, 10},
		{search.Dimension{Lo: 0, Hi: 5, Int: true}, 0.5, 2}, {search.Dimension{Lo: 0, Hi: 7, Int: true}, 0.5, 4},
		{search.Dimension{Lo: 1.5, Hi: 3.5, Int: true}, 0, 2}, {search.Dimension{Lo: 1.5, Hi: 3.5, Int: true}, 1, 3},
		{search.Dimension{Lo: -2, Hi: 2}, 0.25, -1},
	} {
		if got := c.d.At(c.u); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v at %v: %v, want %v", c.d, c.u, got, c.want)
		}
	}
	for _, d := range []search.Dimension{whole, log, {Lo: -3, Hi: 9, Int: true}} {
		for i := range 1001 {
			v := d.At(float64(i) / 1000)
			if back := d.At(d.Unit(v)); v < d.Lo || v > d.Hi || math.Abs(back-v) > 1e-12*math.Abs(v) {
				t.Fatalf("%+v: %v becomes %v", d, v, back)
			}
		}
	}
}
