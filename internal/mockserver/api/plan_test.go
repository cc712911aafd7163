package api

import (
	"testing"
)

func planOf(promptTokens, draw int, r Request) Plan {
	if r.Model == nil {
		r.Model = []byte(`"m"`)
	}
	return newPlan(Chat, &r, promptTokens, 0, uint64(draw))
}

func TestTrapLengthWithoutLimits(t *testing.T) {
	seen := map[int]bool{}
	for draw := range 200 {
		p := planOf(100, draw, Request{})
		seen[p.Content] = true
		if p.Content < 80 || p.Content > 120 || p.Finish != "stop" {
			t.Fatalf("%d tokens, %s", p.Content, p.Finish)
		}
	}
	if len(seen) != 41 {
		t.Errorf("%d different lengths, want all 41", len(seen))
	}
}

func TestTrapLimitBelowThePromptIsMetExactly(t *testing.T) {
	for draw := range 50 {
		if p := planOf(100, draw, Request{MaxTokens: 50}); p.Content != 50 || p.Finish != "length" {
			t.Fatalf("%d tokens, %s", p.Content, p.Finish)
		}
	}
}

func TestPlans(t *testing.T) {
	qwen := []byte(`"Qwen/Qwen3"`)
	for name, test := range map[string]struct {
		prompt, defaultLength int
		r                     Request
		reasoning, low, high  int
	}{
		"short prompt":               {1, 0, Request{}, 0, 1, 1},
		"limit above the prompt":     {16, 0, Request{MaxTokens: 50}, 0, 12, 50},
		"ignore_eos":                 {16, 0, Request{MaxTokens: 50, IgnoreEOS: true}, 0, 50, 50},
		"ignore_eos without a limit": {16, 0, Request{IgnoreEOS: true}, 0, 32, 32},
		"minimum":                    {16, 0, Request{MinTokens: 40, MaxTokens: 45}, 0, 40, 45},
		"minimum above the limit":    {16, 0, Request{MinTokens: 90, MaxTokens: 45}, 0, 45, 45},
		"minimum alone":              {16, 0, Request{MinTokens: 20}, 0, 20, 32},
		"newer limit wins":           {16, 0, Request{MaxTokens: 9, MaxCompletionTokens: 3}, 0, 3, 3},
		"default length":             {16, 7, Request{}, 0, 7, 7},
		"limit beats default length": {16, 7, Request{MaxTokens: 3}, 0, 3, 3},
		"no prompt":                  {0, 7, Request{MaxTokens: 3}, 0, 0, 0},
		"effort": {16, 0,
			Request{Model: qwen, MaxTokens: 600, IgnoreEOS: true, Effort: []byte(`"high"`)}, 500, 100, 100},
		"effort unset": {16, 0, Request{Model: qwen, MaxTokens: 100}, 100, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if test.r.Model == nil {
				test.r.Model = []byte(`"m"`)
			}
			for draw := range uint64(100) {
				p := newPlan(Chat, &test.r, test.prompt, test.defaultLength, draw)
				if p.Reasoning != test.reasoning || p.Content < test.low || p.Content > test.high {
					t.Fatalf("plan %+v", p)
				}
			}
		})
	}
}

func TestCompletionsDoNotReason(t *testing.T) {
	if p := newPlan(Completions, &Request{Model: []byte(`"qwen"`), MaxTokens: 5}, 10, 0, 0); p.Reasoning != 0 ||
		p.Content != 5 {
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
