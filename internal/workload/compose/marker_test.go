package compose_test

import (
	"testing"

	"aiperf/internal/workload/compose"
	"aiperf/internal/workload/recipe"
)

// About how many tokens of the built-in tokenizer a mark has: [rid:…] with twelve hexadecimal digits and an empty line,
// behind it or before it.
const prefixCost, suffixCost = 11, 12

// With its mark the first text has the asked length; the other turns have it without.
func TestMarksAreChargedToTheFirstText(t *testing.T) {
	o := defaults(func(o *compose.Options) {
		o.Entries, o.ISL, o.Turns, o.CacheBust = 4, recipe.Normal{Mean: 100}, recipe.Normal{Mean: 2},
			"first_turn_prefix"
	})
	n := counts(prompts(build(t, o)))
	if cost := 100 - n[0]; cost < 5 || cost > 20 {
		t.Fatalf("a mark costs %d tokens", cost)
	}
	for i, n := range n {
		if want := 100 - prefixCost*((i+1)%2); n != want {
			t.Errorf("text %d has %d tokens, want %d", i, n, want)
		}
	}
	o.CacheBust = "warmup_isolation_first_turn"
	wantCounts(t, prompts(build(t, o)), 100)
}

func TestMarksInTheSystemPromptAreChargedToIt(t *testing.T) {
	o := defaults(func(o *compose.Options) {
		o.Entries, o.ISL, o.SharedSystemLength, o.CacheBust = 2, recipe.Normal{Mean: 100}, 50, "system_suffix"
	})
	d := build(t, o)
	wantCounts(t, prompts(d), 100)
	wantCounts(t, []string{*d.At(0).SystemMessage}, 50-suffixCost)
	// The mark falls back to the first text, which stays a text.
	o.SharedSystemLength, o.ISL = 0, recipe.Normal{Mean: 3}
	wantCounts(t, prompts(build(t, o)), 1)
	system := "word for word"
	o.SystemPrompt = &system
	wantCounts(t, prompts(build(t, o)), 3)
}
