package compose

import (
	"testing"

	"aiperf/internal/workload/recipe"
	"aiperf/internal/workload/tokenizer"
)

// With its mark the first text has the asked length; the other turns have it without.
func TestMarksAreChargedToTheFirstText(t *testing.T) {
	o := defaults(func(o *Options) {
		o.Entries, o.ISL, o.Turns, o.CacheBust = 4, recipe.Normal{Mean: 100}, recipe.Normal{Mean: 2},
			"first_turn_prefix"
	})
	b, err := newBuilder(o, tokenizer.Builtin())
	if err != nil {
		t.Fatal(err)
	}
	cost := b.markTokens()
	if cost < 5 || cost > 20 {
		t.Fatalf("a mark costs %d tokens", cost)
	}
	for i, n := range counts(prompts(build(t, o))) {
		if want := 100 - cost*((i+1)%2); n != want {
			t.Errorf("text %d has %d tokens, want %d", i, n, want)
		}
	}
	o.CacheBust = "warmup_isolation_first_turn"
	wantCounts(t, prompts(build(t, o)), 100)
}

func TestMarksInTheSystemPromptAreChargedToIt(t *testing.T) {
	o := defaults(func(o *Options) {
		o.Entries, o.ISL, o.SharedSystemLength, o.CacheBust = 2, recipe.Normal{Mean: 100}, 50, "system_suffix"
	})
	d := build(t, o)
	wantCounts(t, prompts(d), 100)
	b, _ := newBuilder(o, tokenizer.Builtin())
	wantCounts(t, []string{*d.At(0).SystemMessage}, 50-b.markTokens())
	// The mark falls back to the first text, which stays a text.
	o.SharedSystemLength, o.ISL = 0, recipe.Normal{Mean: 3}
	wantCounts(t, prompts(build(t, o)), 1)
	system := "word for word"
	o.SystemPrompt = &system
	wantCounts(t, prompts(build(t, o)), 3)
}
