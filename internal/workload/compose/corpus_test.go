package compose_test

import (
	"slices"
	"strings"
	"testing"

	"aiperf/internal/workload/compose"
	"aiperf/internal/workload/recipe"
	"aiperf/internal/workload/synthetic"
	"aiperf/internal/workload/tokenizer"
)

func TestLengthWindows(t *testing.T) {
	o := defaults(func(o *compose.Options) {
		o.Entries, o.ISL, o.OSL = 300, recipe.Normal{Mean: 20, Stddev: 9}, recipe.Normal{Mean: 40}
		o.ISLWindow, o.OSLWindow = &synthetic.Window{Ratio: 0.3}, &synthetic.Window{Ratio: 0.5, UpTo: true}
	})
	d := build(t, o)
	n := counts(prompts(d))
	if slices.Min(n) != 14 || slices.Max(n) != 26 {
		t.Errorf("prompts of %d to %d tokens", slices.Min(n), slices.Max(n))
	}
	var limits []int
	for _, c := range d.All() {
		limits = append(limits, *c.Turns[0].MaxTokens)
	}
	if slices.Min(limits) != 20 || slices.Max(limits) != 40 {
		t.Errorf("limits from %d to %d", slices.Min(limits), slices.Max(limits))
	}
	// The window below counts what the tokenizer adds, the one around moves with it.
	for _, c := range []struct {
		window synthetic.Window
		lo, hi int
	}{{synthetic.Window{Ratio: 0.5, UpTo: true}, 8, 18}, {synthetic.Window{Ratio: 0.5}, 9, 27}} {
		o.Entries, o.ISLWindow = 2000, &c.window
		d, _, err := compose.Build(t.Context(), o, adding{tokenizer.Builtin()})
		if err != nil {
			t.Fatal(err)
		}
		n := counts(prompts(d))
		least, most := slices.Min(n), slices.Max(n)
		if least != c.lo || most != c.hi {
			t.Errorf("%+v draws %d to %d, want %d to %d", c.window, least, most, c.lo, c.hi)
		}
	}
}

func TestTokensOfTheVocabularyAsCorpus(t *testing.T) {
	o := defaults(func(o *compose.Options) {
		o.Entries, o.ISL, o.Corpus = 20, recipe.Normal{Mean: 64}, compose.OrdinaryTokens
	})
	random := prompts(build(t, o))
	wantCounts(t, random, 64)
	o.Corpus = ""
	if slices.Equal(random, prompts(build(t, o))) {
		t.Error("the corpus makes no difference")
	}
}

func TestCodeAsCorpus(t *testing.T) {
	o := defaults(func(o *compose.Options) { o.Entries, o.ISL, o.Corpus = 20, recipe.Normal{Mean: 300}, compose.Code })
	texts := prompts(build(t, o))
	wantCounts(t, texts, 300)
	if all := strings.Join(texts, ""); strings.Count(all, "return ") < 10 || strings.Count(all, "\n") < 200 {
		t.Errorf("this is no code: %.500s", all)
	}
	if !slices.Equal(texts, prompts(build(t, o))) {
		t.Error("the same seed made other code")
	}
}
