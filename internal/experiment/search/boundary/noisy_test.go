package boundary

import "testing"

// Probes of a busy server are three times apart at one load. The interval of a short search holds the truth nearly as
// often as it says all the same, and where probes of one load near the boundary contradict each other, it is wider than a
// single load and the search is not sure. All is drawn with fixed seeds.
func TestNoisyProbesLeaveDoubt(t *testing.T) {
	const seeds = 200
	for _, s := range []server{
		{name: "queue", value: queue(12), limit: 200, lo: 1, hi: 32, noise: 0.5},
		{name: "knee", value: knee(9), limit: 200, lo: 1, hi: 32, noise: 0.5},
		{name: "known errors", value: knee(9), limit: 200, lo: 1, hi: 32, noise: 0.1, spread: 0.5, known: true},
		{name: "cliff", value: cliff(9), limit: 200, lo: 1, hi: 32, noise: 0.5},
	} {
		truth, held, contradicted, exact, sure := s.truth(), 0, 0, 0, 0
		for seed := range uint64(seeds) {
			c := s.search(t, CapacityOptions{Precision: 0.1, MaxProbes: 10}, seed)
			a := c.Answer()
			if a.Low <= truth && truth <= a.High {
				held++
			}
			if !c.contradictedNear(&a) {
				continue
			}
			contradicted++
			if a.High <= a.Low {
				exact++
			}
			if a.Sureness >= 1 {
				sure++
			}
		}
		t.Logf("%s: %d of %d intervals hold %v; of %d with contradictory probes %d are of one load", s.name, held, seeds,
			truth, contradicted, exact)
		if held < seeds*88/100 || exact*20 > max(contradicted, 20) || sure > 0 {
			t.Errorf("%s: %d intervals hold %v; of %d with contradictory probes %d are of one load, %d for certain",
				s.name, held, truth, contradicted, exact, sure)
		}
	}
}

// contradictedNear reports that two probes of a load at an end of the interval, or within it, are on both sides of the
// limit by much.
func (c *Capacity) contradictedNear(a *Answer) bool {
	_, at := c.reached()
	for i := range at {
		within, beyond := countSides(at[i])
		if load := at[i][0].load; min(within, beyond) > 0 && load >= a.Low && (load <= a.High || load == a.Fail) {
			return true
		}
	}
	return false
}
