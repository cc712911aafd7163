package synthetic

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"aiperf/internal/base/random"
)

func codeGenerator(seed uint64) *random.Rand {
	r := random.Root(seed).Stream("test").At(0)
	return &r
}

func TestDocuments(t *testing.T) {
	all := Documents(codeGenerator(1), 2_000_000) // enough to play every alternative
	distinct, characters := map[string]bool{}, 0
	for _, text := range all {
		if text == "" || strings.ContainsAny(text, "«»") || !utf8.ValidString(text) {
			t.Fatalf("%q", text)
		}
		distinct[text] = true
		characters += len(text)
	}
	if characters < 2_000_000 || characters > 2_200_000 || len(distinct) < len(all)*99/100 {
		t.Errorf("%d characters, %d of %d documents differ", characters, len(distinct), len(all))
	}
	if again := Documents(codeGenerator(1), 50_000); !slices.Equal(again, all[:len(again)]) {
		t.Error("the same generator made other documents")
	}
	if other := Documents(codeGenerator(2), 1000); other[0] == all[0] {
		t.Error("another generator made the same document")
	}
}

func TestDocumentsNameThingsAlike(t *testing.T) {
	w := &writer{r: codeGenerator(3)}
	for range 50 {
		text := w.document("pyclass")
		name, _, _ := strings.Cut(strings.TrimPrefix(text[strings.Index(text, "self._"):], "self._"), " ")
		if strings.Count(text, "self._"+name) < 2 {
			t.Errorf("%s is never used again:\n%s", name, text)
		}
	}
}

func TestEveryRuleIsUsedAndEveryOneUsedIsThere(t *testing.T) {
	used := map[string]bool{}
	for _, kind := range kinds {
		used[kind] = true
	}
	w := &writer{r: codeGenerator(1)}
	for _, alternatives := range compiled() {
		for _, parts := range alternatives {
			for _, p := range parts {
				if p.rule == "" {
					continue
				}
				used[p.rule] = true
				if _, ok := compiled()[p.rule]; !ok && !w.terminal(p.rule) {
					t.Errorf("no rule %s", p.rule)
				}
				if p.from > p.to {
					t.Errorf("%s: %d to %d times", p.rule, p.from, p.to)
				}
			}
		}
	}
	for rule := range compiled() {
		if !used[rule] {
			t.Errorf("nothing uses %s", rule)
		}
	}
}

func BenchmarkDocuments(b *testing.B) {
	for b.Loop() {
		Documents(codeGenerator(1), 1_000_000)
	}
}
