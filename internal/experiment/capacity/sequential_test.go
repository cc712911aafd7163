package capacity_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"aiperf/internal/experiment/capacity"
)

const (
	level = 0.95
	seeds = 300
)

func looks(i int) bool { return i <= 100 || i%20 == 0 }

// wrong returns for which share of the seeds a stream of n values was wrong at any look. The streams look after each of
// the first values and then after every twentieth.
func wrong(n int, stream func(r *rand.Rand) func(look int) bool) (share float64) {
	count := 0
	for seed := range uint64(seeds) {
		bad := stream(rand.New(rand.NewPCG(seed, 17)))
		for i := 1; i <= n; i++ {
			if bad(i) {
				count++
				break
			}
		}
	}
	return float64(count) / seeds
}

// most is the share of wrong seeds that is compatible with a level: three standard errors above it.
var most = (1 - level) + 3*math.Sqrt(level*(1-level)/seeds)

// Whoever looks after each value and stops at the first decision is wrong no more often than the level says.
func TestEvidenceIsValidAtEveryLook(t *testing.T) {
	limit := -math.Log(1 - level)
	for _, reference := range []float64{0.5, 0.9, 0.95, 0.99} {
		for _, side := range []string{"above", "below"} {
			got := wrong(2000, func(r *rand.Rand) func(int) bool {
				s, f := 0.0, 0.0
				return func(look int) bool {
					if r.Float64() < reference {
						s++
					} else {
						f++
					}
					if !looks(look) {
						return false
					}
					above, below := capacity.Evidence(s, f, reference)
					if side == "above" {
						return above >= limit
					}
					return below >= limit
				}
			})
			t.Logf("share %g, %s: wrong in %.3f", reference, side, got)
			if got > most {
				t.Errorf("share %g, %s: wrong in %.3f of the seeds, at most %.3f is in order", reference, side, got, most)
			}
		}
	}
}

// Clear cases are decided after few values.
func TestEvidenceDecidesClearCases(t *testing.T) {
	limit := -math.Log(1 - level)
	for _, c := range []struct {
		reference   float64
		good        bool
		most, least float64
	}{{0.99, true, 450, 299}, {0.95, true, 100, 59}, {0.99, false, 3, 1}, {0.5, false, 10, 5}} {
		n := 0.0
		for above, below := 0.0, 0.0; ; n++ {
			if c.good {
				above, _ = capacity.Evidence(n, 0, c.reference)
			} else {
				_, below = capacity.Evidence(0, n, c.reference)
			}
			if max(above, below) >= limit {
				break
			}
		}
		if n > c.most || n < c.least {
			t.Errorf("share %g, good %v: decided after %g values, want %g to %g", c.reference, c.good, n, c.least, c.most)
		}
	}
}

func TestIntervalsOfMeansCover(t *testing.T) {
	for name, draw := range map[string]func(*rand.Rand) float64{
		"normal":      func(r *rand.Rand) float64 { return 1 + r.NormFloat64() },
		"exponential": func(r *rand.Rand) float64 { return r.ExpFloat64() },
	} {
		got := wrong(2000, func(r *rand.Rand) func(int) bool {
			var b capacity.Blocks
			return func(look int) bool {
				b.Add(draw(r))
				return look >= 50 && math.Abs(b.Mean()-1) > capacity.MeanHalfWidth(b.Deviation(), b.N(), level)
			}
		})
		t.Logf("%s: not covered in %.3f", name, got)
		if got > most {
			t.Errorf("the mean of %s values is outside its interval in %.3f of the seeds", name, got)
		}
	}
}

// Requests that are in flight together are alike. With counts divided by the inflation the errors stay at the level;
// without, they are several times as frequent.
func TestTrapDependentRequestsAreNoIndependentEvidence(t *testing.T) {
	limit := -math.Log(1 - level)
	for _, c := range []struct {
		reference, memory float64
	}{{0.9, 0.8}, {0.95, 0.9}, {0.99, 0.8}} {
		for _, side := range []string{"above", "below"} {
			plain, corrected := 0.0, 0.0
			for _, correct := range []bool{false, true} {
				got := wrong(2000, func(r *rand.Rand) func(int) bool {
					z, threshold := r.NormFloat64(), normalQuantile(c.reference)
					var values, passes capacity.Blocks
					s, f := 0.0, 0.0
					return func(look int) bool {
						z = c.memory*z + math.Sqrt(1-c.memory*c.memory)*r.NormFloat64()
						values.Add(z)
						if z <= threshold {
							s++
							passes.Add(1)
						} else {
							f++
							passes.Add(0)
						}
						if look < 100 || !looks(look) {
							return false
						}
						tau := 1.0
						if correct {
							tau = capacity.Dependence(&values, &passes)
						}
						above, below := capacity.Evidence(s/tau, f/tau, c.reference)
						if side == "above" {
							return above >= limit
						}
						return below >= limit
					}
				})
				if correct {
					corrected = got
				} else {
					plain = got
				}
			}
			name := fmt.Sprintf("share %g, memory %g, %s", c.reference, c.memory, side)
			t.Logf("%s: wrong in %.3f without correction, %.3f with it", name, plain, corrected)
			if corrected > most {
				t.Errorf("%s: wrong in %.3f of the seeds", name, corrected)
			}
			if side == "below" && plain <= corrected {
				t.Errorf("%s: the correction changes nothing", name)
			}
		}
	}
}

func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

func TestInflationOfIndependentAndOfDependentValues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ memory, least, most float64 }{{0, 1, 2}, {0.8, 5, 16}} {
		var b capacity.Blocks
		z := 0.0
		for range 20000 {
			z = c.memory*z + math.Sqrt(1-c.memory*c.memory)*r.NormFloat64()
			b.Add(z)
		}
		if got := b.Inflation(); got < c.least || got > c.most {
			t.Errorf("memory %g: inflation %.2f, want %g to %g", c.memory, got, c.least, c.most)
		}
	}
}
