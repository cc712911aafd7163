package timeline_test

import (
	"math"
	"slices"
	"testing"

	"aiperf/internal/measure/timeline"
)

func equal(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) })
}

var none = math.NaN()

func TestOnAGridIsTheMeanOfEachBin(t *testing.T) {
	g := timeline.Grid{OriginNS: 1000, First: -1, Count: 4, WidthNS: 10, EndNS: 25}
	c := timeline.Curve{TimeNS: []int64{980, 991, 1000, 1009, 1010, 1025, 1040},
		Values: []float64{9, 1, 2, 4, 7, none, 8}}
	if got := c.On(g); !equal(got, []float64{1, 3, 7, none}) {
		t.Error(got)
	}
	if g.Covered(3) != 5 || g.Covered(0) != 10 || (timeline.Grid{WidthNS: 100, Count: 1, EndNS: 3}).Covered(0) != 25 {
		t.Error("covered")
	}
}

func TestEndingOnAGrid(t *testing.T) {
	g := timeline.Grid{OriginNS: 1000, Count: 2, WidthNS: 10, EndNS: 15}
	for name, test := range map[string]struct {
		curve timeline.Curve
		want  []float64
	}{
		"after its end": {timeline.Curve{TimeNS: []int64{990, 1020, 1030}, Values: []float64{1, 2, 3}},
			[]float64{none, 3}},
		"before and after": {timeline.Curve{TimeNS: []int64{1001, 1012, 1040}, Values: []float64{1, 2, 4}},
			[]float64{1, 3}},
		"before its end":       {timeline.Curve{TimeNS: []int64{1001, 1019}, Values: []float64{1, 2}}, []float64{1, 2}},
		"before its beginning": {timeline.Curve{TimeNS: []int64{990}, Values: []float64{1}}, []float64{none, none}},
		"a value that is none": {timeline.Curve{TimeNS: []int64{1001, 1040}, Values: []float64{1, none}},
			[]float64{1, none}},
		"without an instant": {timeline.Curve{}, []float64{none, none}},
	} {
		before := slices.Clone(test.curve.TimeNS)
		ending := test.curve.EndingOn(g)
		if got := ending.On(g); !equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
		if !slices.Equal(test.curve.TimeNS, before) {
			t.Errorf("%s: the curve itself changed", name)
		}
	}
}

func TestRatesOfWhatCountsUp(t *testing.T) {
	second := int64(1e9)
	got := timeline.Rates([]int64{0, second, 3 * second, 4 * second, 4 * second}, []float64{5, 7, 7, 1, 3})
	if !equal(got, []float64{none, 2, 0, none, none}) {
		t.Error(got)
	}
	got = timeline.Means([]float64{1, 4, 4, 0}, []float64{1, 3, 3, 1})
	if !equal(got, []float64{none, 1.5, none, none}) {
		t.Error(got)
	}
}
