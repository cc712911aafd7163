package mockserver

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"aiperf/internal/base/random"
)

func TestScheduleIsAbsolute(t *testing.T) {
	l := newLatency(&Options{TTFT: 20 * time.Millisecond, ITL: 5 * time.Millisecond,
		TTFTPerInputToken: time.Microsecond, ITLPerInputToken: time.Nanosecond}, random.Root(0))
	rapid.Check(t, func(t *rapid.T) {
		start, prompt, k := rapid.Int64Range(1, 1<<50).Draw(t, "start"), rapid.IntRange(0, 1000).Draw(t, "prompt"),
			rapid.IntRange(0, 100_000).Draw(t, "k")
		s := l.schedule(start, size{prompt: prompt}, 1, 1)
		if got, want := s.at(k), start+20_000_000+int64(prompt)*1000+int64(k)*(5_000_000+int64(prompt)); got != want {
			t.Fatalf("token %d at %d, want %d", k, got, want)
		}
	})
	fast := newLatency(&Options{TTFT: time.Second, ITL: time.Second, TTFTJitterCV: 1, Fast: true}, random.Root(0))
	if s := fast.schedule(7, size{prompt: 100}, 1, 1); s.at(1000) != 7 || !s.floods() {
		t.Errorf("fast: token at %d", s.at(1000))
	}
}

// The load and the length of the reply add to the latencies: the square of the requests in flight to the first token,
// each of them and each token of the reply to the gaps.
func TestLatenciesGrowWithTheLoadAndTheReply(t *testing.T) {
	l := newLatency(&Options{TTFT: 20 * time.Millisecond, ITL: 5 * time.Millisecond, TTFTPerSquare: time.Millisecond,
		ITLPerRequest: 2 * time.Millisecond, ITLPerOutputToken: 100 * time.Microsecond}, random.Root(0))
	s := l.schedule(0, size{output: 10, inFlight: 3}, 1, 1)
	for k, want := range map[int]time.Duration{0: 29 * time.Millisecond, 2: (29 + 2*(5+6+1)) * time.Millisecond} {
		if got := time.Duration(s.at(k)); got != want {
			t.Errorf("token %d at %v, want %v", k, got, want)
		}
	}
}

func TestJitterHasMeanOneAndItsSpread(t *testing.T) {
	const cv, n = 0.5, 20_000
	l := newLatency(&Options{TTFT: time.Millisecond, ITL: time.Millisecond, TTFTJitterCV: cv, ITLJitterCV: cv},
		random.Root(3))
	check := func(what string, values []float64) {
		var sum, squares float64
		for _, v := range values {
			sum += v
			squares += v * v
		}
		mean := sum / n
		spread := math.Sqrt(squares/n-mean*mean) / mean
		if math.Abs(mean-1) > 0.02 || math.Abs(spread-cv) > 0.05 {
			t.Errorf("%s: mean %.3f, cv %.3f", what, mean, spread)
		}
	}
	var first, gaps []float64
	long := l.schedule(0, size{}, 1, 0)
	for k := range n {
		s := l.schedule(0, size{}, 1, uint64(k))
		first = append(first, float64(s.at(0))/1e6)
		before := long.at(k)
		gaps = append(gaps, float64(long.at(k+1)-before)/1e6)
	}
	check("ttft", first)
	check("itl", gaps)
	again := l.schedule(0, size{}, 1, 0)
	if again.at(n) != long.at(n) {
		t.Error("the same request has another schedule")
	}
}
