package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"aiperf/internal/base/testkit"
)

// load describes a simulated server under load.
type load struct {
	// inFlight requests go on at the same time; 0 is an open loop, in which they arrive at random.
	inFlight int
	// spread is that of the latencies, drift that of the server's speed, which changes over some ten requests.
	spread, drift float64
	requests      int
}

// simulated returns a run of a server on which a request takes 100 ms times factor on average.
func (l load) simulated(r *rand.Rand, factor float64) *requestValues {
	v := &requestValues{byTag: map[string]*column{"output_sequence_length": {}}}
	free := make([]float64, max(l.inFlight, 1))
	speed, arrival := 0.0, 0.0
	for range l.requests {
		speed = 0.95*speed + math.Sqrt(1-0.95*0.95)*l.drift*r.NormFloat64()
		length := 50 + r.IntN(101)
		took := 0.1 * factor * float64(length) / 100 * math.Exp(l.spread*r.NormFloat64()+speed)
		var start float64
		if l.inFlight == 0 {
			arrival += 0.02 * factor * r.ExpFloat64()
			start = arrival
		} else {
			slot := 0
			for k := range free {
				if free[k] < free[slot] {
					slot = k
				}
			}
			start = free[slot]
			free[slot] += took
		}
		v.starts = append(v.starts, 1e9+int64(1e9*start))
		v.ends = append(v.ends, 1e9+int64(1e9*(start+took)))
		c := v.byTag["output_sequence_length"]
		c.values, c.present = append(c.values, float64(length)), append(c.present, true)
	}
	return v
}

var loads = []struct {
	name string
	load
	// missed is the largest share of intervals that may miss the difference.
	missed float64
}{
	{"one at a time", load{inFlight: 1, spread: 0.3, requests: 60}, 0.15},
	{"closed loop", load{inFlight: 8, spread: 0.3, requests: 200}, 0.15},
	{"few blocks", load{inFlight: 16, spread: 0.3, requests: 100}, 0.15},
	{"many in flight", load{inFlight: 64, spread: 0.5, requests: 1000}, 0.15},
	{"open loop", load{spread: 0.3, requests: 300}, 0.15},
	{"drifting open loop", load{spread: 0.2, drift: 0.2, requests: 400}, 0.15},
	// A server whose speed changes slowly shows too little of its noise within a run: repeats show it.
	{"drifting", load{inFlight: 4, spread: 0.2, drift: 0.2, requests: 400}, 0.25},
}

// Of 100 intervals at 95 % about five miss the true difference; the same of verdicts about runs of the same system. A
// difference of 23 % is found in most pairs of runs. (The seeds are fixed; measured with 1,000 trials: docs/results.md.)
func TestIntervalsOfRatesCoverTheDifference(t *testing.T) {
	const all = 50
	trials := testkit.Seeds(12, all)
	share := 1 / float64(trials)
	for _, l := range loads {
		for _, tag := range []string{"request_throughput", "output_token_throughput"} {
			for _, factor := range []float64{1, 1.3} {
				if l.inFlight > 32 && tag != "request_throughput" {
					continue
				}
				r := rand.New(rand.NewPCG(3, 4))
				found, differences, mean := make([]interval, trials), make([]float64, trials), 0.0
				for i := range trials {
					base, next := l.simulated(r, 1), l.simulated(r, factor)
					var ok bool
					if found[i], ok = fromRates(base, next, tag, 0.95); !ok || found[i].method != MethodBlocks {
						t.Fatalf("%s: no interval", l.name)
					}
					a, _ := courseOf(base, tag)
					b, _ := courseOf(next, tag)
					differences[i] = b.rate - a.rate
					mean += differences[i] * share
				}
				missed, shown := 0.0, 0.0
				for i, f := range found {
					if mean < f.low || mean > f.high {
						missed += share
					}
					if !f.containsZero() {
						shown += share
					}
					if d := differences[i]; d < f.low || d > f.high {
						t.Errorf("%s: %v is not in its own interval %+v", l.name, d, f)
					}
				}
				// Of fewer trials the share scatters more.
				most := 0.05 + (l.missed-0.05)*math.Sqrt(all*share)
				if missed > most {
					t.Errorf("%s, %s × %v: %.2f of the intervals miss the difference", l.name, tag, factor, missed)
				}
				switch {
				case factor == 1 && shown > most:
					t.Errorf("%s, %s: %.2f of runs of the same system differ", l.name, tag, shown)
				case factor > 1 && shown < 0.7:
					t.Errorf("%s, %s: only %.2f of the differences are found", l.name, tag, shown)
				}
			}
		}
	}
}

// The course of a rate adds up to the rate of the summary, whatever the order of the lines.
func TestACourseHasTheRateOfTheRun(t *testing.T) {
	v := &requestValues{
		starts: []int64{3e9, 1e9, 2e9}, ends: []int64{5e9, 2e9, 4e9},
		byTag: map[string]*column{"output_sequence_length": {values: []float64{10, 20, 0},
			present: []bool{true, true, false}}},
	}
	for tag, want := range map[string]float64{"request_throughput": 0.75, "output_token_throughput": 7.5} {
		c, ok := courseOf(v, tag)
		sum := 0.0
		for _, bin := range c.bins {
			sum += bin / rateBins
		}
		if !ok || math.Abs(c.rate-want) > 1e-12 || math.Abs(sum-1) > 1e-9 || c.steady != rateBins/2 || c.ending != 2 {
			t.Errorf("%s: %v, the bins have %v of it, steady %d, ending %d", tag, c.rate, sum, c.steady, c.ending)
		}
	}
	if _, ok := courseOf(&requestValues{starts: []int64{0, 0}, ends: []int64{5, 6}}, "request_throughput"); ok {
		t.Error("a course without times")
	}
	if _, ok := courseOf(v, "request_latency"); ok {
		t.Error("a course of a latency")
	}
}

// A few latencies are no course: there is nothing to resample.
func TestShortRunsHaveNoIntervalOfTheirRate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	short := load{inFlight: 32, spread: 0.1, requests: 64}
	if got, ok := fromRates(short.simulated(r, 1), short.simulated(r, 4), "request_throughput", 0.95); ok ||
		got.method != MethodTooFew {
		t.Errorf("%+v", got)
	}
}

// The length of a block grows with the correlation of the series: an independent one needs blocks of about 1.
func TestBlockLengths(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		correlation, least, most float64
	}{{0, 0, 4}, {0.5, 3, 14}, {0.9, 15, 60}} {
		series, v := make([]float64, 500), 0.0
		for i := range series {
			v = c.correlation*v + r.NormFloat64()
			series[i] = v
		}
		if got := blockLength(series); got < c.least || got > c.most {
			t.Errorf("correlation %v: blocks of %v", c.correlation, got)
		}
	}
	if got := blockLength(make([]float64, 100)); got != 1 {
		t.Errorf("a constant: %v", got)
	}
}
