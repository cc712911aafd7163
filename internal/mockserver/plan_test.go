package mockserver

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"aiperf/internal/base/random"
)

func planOf(promptTokens, draw int, r request) plan {
	if r.model == nil {
		r.model = []byte(`"m"`)
	}
	return newPlan(apiChat, &r, promptTokens, 0, uint64(draw))
}

func TestTrapLengthWithoutLimits(t *testing.T) {
	seen := map[int]bool{}
	for draw := range 200 {
		p := planOf(100, draw, request{})
		seen[p.content] = true
		if p.content < 80 || p.content > 120 || p.finish != "stop" {
			t.Fatalf("%d tokens, %s", p.content, p.finish)
		}
	}
	if len(seen) != 41 {
		t.Errorf("%d different lengths, want all 41", len(seen))
	}
}

func TestTrapLimitBelowThePromptIsMetExactly(t *testing.T) {
	for draw := range 50 {
		if p := planOf(100, draw, request{maxTokens: 50}); p.content != 50 || p.finish != "length" {
			t.Fatalf("%d tokens, %s", p.content, p.finish)
		}
	}
}

func TestPlans(t *testing.T) {
	qwen := []byte(`"Qwen/Qwen3"`)
	for name, test := range map[string]struct {
		prompt, defaultLength int
		r                     request
		reasoning, low, high  int
	}{
		"short prompt":               {1, 0, request{}, 0, 1, 1},
		"limit above the prompt":     {16, 0, request{maxTokens: 50}, 0, 12, 50},
		"ignore_eos":                 {16, 0, request{maxTokens: 50, ignoreEOS: true}, 0, 50, 50},
		"ignore_eos without a limit": {16, 0, request{ignoreEOS: true}, 0, 32, 32},
		"minimum":                    {16, 0, request{minTokens: 40, maxTokens: 45}, 0, 40, 45},
		"minimum above the limit":    {16, 0, request{minTokens: 90, maxTokens: 45}, 0, 45, 45},
		"minimum alone":              {16, 0, request{minTokens: 20}, 0, 20, 32},
		"newer limit wins":           {16, 0, request{maxTokens: 9, maxCompletionTokens: 3}, 0, 3, 3},
		"default length":             {16, 7, request{}, 0, 7, 7},
		"limit beats default length": {16, 7, request{maxTokens: 3}, 0, 3, 3},
		"no prompt":                  {0, 7, request{maxTokens: 3}, 0, 0, 0},
		"effort": {16, 0,
			request{model: qwen, maxTokens: 600, ignoreEOS: true, effort: []byte(`"high"`)}, 500, 100, 100},
		"effort unset": {16, 0, request{model: qwen, maxTokens: 100}, 100, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if test.r.model == nil {
				test.r.model = []byte(`"m"`)
			}
			for draw := range uint64(100) {
				p := newPlan(apiChat, &test.r, test.prompt, test.defaultLength, draw)
				if p.reasoning != test.reasoning || p.content < test.low || p.content > test.high {
					t.Fatalf("plan %+v", p)
				}
			}
		})
	}
}

func TestCompletionsDoNotReason(t *testing.T) {
	if p := newPlan(apiCompletions, &request{model: []byte(`"qwen"`), maxTokens: 5}, 10, 0, 0); p.reasoning != 0 ||
		p.content != 5 {
		t.Errorf("plan %+v", p)
	}
}

func TestHashIsFixed(t *testing.T) {
	// The hash decides every reply: these values must never change.
	for text, want := range map[string]uint64{
		"": 0x62dbe5f5073084d8, "a": 0x16615b84b5688fb5, "hello world, how are you": 0xb76b7e2ec4c88a44,
	} {
		if got := hashBytes(0, []byte(text)); got != want {
			t.Errorf("%q: %#x, want %#x", text, got, want)
		}
	}
}

func TestHashTellsTextsApart(t *testing.T) {
	seen := map[uint64]bool{}
	data := make([]byte, 64)
	for length := range 65 {
		for bit := range max(8*length, 1) {
			d := append([]byte(nil), data[:length]...)
			if length > 0 {
				d[bit/8] ^= 1 << (bit % 8)
			}
			seen[hashBytes(1, d)] = true
		}
		seen[hashBytes(1, data[:length])] = true
	}
	if want := 64*65/2*8 + 65; len(seen) != want {
		t.Errorf("%d different hashes of %d texts", len(seen), want)
	}
}

func TestScheduleIsAbsolute(t *testing.T) {
	l := newLatency(&Options{TTFT: 20 * time.Millisecond, ITL: 5 * time.Millisecond,
		TTFTPerInputToken: time.Microsecond, ITLPerInputToken: time.Nanosecond}, random.Root(0))
	rapid.Check(t, func(t *rapid.T) {
		start, prompt, k := rapid.Int64Range(1, 1<<50).Draw(t, "start"), rapid.IntRange(0, 1000).Draw(t, "prompt"),
			rapid.IntRange(0, 100_000).Draw(t, "k")
		s := l.schedule(start, prompt, 1)
		if got, want := s.at(k), start+20_000_000+int64(prompt)*1000+int64(k)*(5_000_000+int64(prompt)); got != want {
			t.Fatalf("token %d at %d, want %d", k, got, want)
		}
	})
	fast := newLatency(&Options{TTFT: time.Second, ITL: time.Second, TTFTJitterCV: 1, Fast: true}, random.Root(0))
	if s := fast.schedule(7, 100, 1); s.at(1000) != 7 || !s.floods() {
		t.Errorf("fast: token at %d", s.at(1000))
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
	long := l.schedule(0, 0, 0)
	for k := range n {
		s := l.schedule(0, 0, uint64(k))
		first = append(first, float64(s.at(0))/1e6)
		before := long.at(k)
		gaps = append(gaps, float64(long.at(k+1)-before)/1e6)
	}
	check("ttft", first)
	check("itl", gaps)
	again := l.schedule(0, 0, 0)
	if again.at(n) != long.at(n) {
		t.Error("the same request has another schedule")
	}
}
