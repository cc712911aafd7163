//go:build unix

package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A slope is found within its interval, values that could not be read are left out, and what lies outside the window
// does not count.
func TestFit(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	covered := 0
	for range 200 {
		var x, y []float64
		for i := range 3600 {
			v := 100 + 0.01*float64(i) + random.NormFloat64()
			switch {
			case i%50 == 7:
				v = math.NaN()
			case i < 300 || i >= 3000:
				v = 1e6
			}
			x, y = append(x, float64(i)), append(y, v)
		}
		s := fit(x, y, 300, 3000)
		if math.Abs(s.perHour-36) > 3 || s.half > 2 {
			t.Fatalf("%+v", s)
		}
		if math.Abs(s.perHour-36) <= s.half {
			covered++
		}
	}
	if covered < 176 || covered == 200 { // 190 ± 4.5 standard deviations
		t.Errorf("%d of 200 intervals have the slope", covered)
	}
}
