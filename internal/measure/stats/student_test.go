package stats_test

import (
	"math"
	"testing"

	"aiperf/internal/measure/stats"
)

// With 3 and 4 degrees of freedom the distribution function has a closed form, which these values meet.
func TestStudentTOfClosedForms(t *testing.T) {
	for _, c := range []struct{ level, df, want float64 }{
		{0.90, 1, 6.313751514800932}, {0.95, 1, 12.706204736432095}, {0.99, 1, 63.65674116287399},
		{0.90, 2, 2.919985580355516}, {0.95, 2, 4.302652729911275}, {0.99, 2, 9.92484320091807},
		{0.95, 3, 3.182446305284263}, {0.99, 3, 5.840909309733355},
		{0.90, 4, 2.1318467863266495}, {0.95, 4, 2.7764451051977987}, {0.999, 4, 8.610301581379899},
		{0.95, 5, 2.5705818366147395}, {0.95, 6, 2.4469118487916806}, {0.95, 7, 2.3646242510102993},
		{0.95, 8, 2.3060041350333704}, {0.90, 9, 1.8331129326536335}, {0.95, 9, 2.2621571627409915},
		{0.99, 9, 3.2498355440153697},
	} {
		if got := stats.StudentT(c.level, c.df); math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("t(%v, %v) = %v, want %v", c.level, c.df, got, c.want)
		}
	}
	if got := stats.StudentT(0.95, 1e6); math.Abs(got-1.959966) > 1e-5 {
		t.Errorf("with many degrees of freedom %v, want nearly the normal 1.96", got)
	}
	for _, bad := range [][2]float64{{0, 1}, {1, 1}, {0.9, 0}, {math.NaN(), 1}} {
		if got := stats.StudentT(bad[0], bad[1]); !math.IsNaN(got) {
			t.Errorf("t(%v) = %v", bad, got)
		}
	}
}
