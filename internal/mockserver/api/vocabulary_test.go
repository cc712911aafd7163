package api

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"aiperf/internal/workload/tokenizer"
)

var o200k = tokenizer.Builtin()

func TestEveryReplyWordIsAToken(t *testing.T) {
	v, err := newVocabulary(o200k)
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(replyWords)
	if len(v.tokens) != len(words) {
		t.Errorf("%d of %d words are single tokens", len(v.tokens), len(words))
	}
	seen := map[string]bool{}
	for _, w := range words {
		if seen[w] || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" {
			t.Errorf("word %q is doubled or not in lower-case letters", w)
		}
		seen[w] = true
	}
}

// Any sequence of reply tokens encodes to their ids, one after the other.
func TestReplyTokensNeverMerge(t *testing.T) {
	v, err := newVocabulary(o200k)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom(v.tokens), 1, 50).Draw(t, "pieces")
		var want []int
		for _, p := range pieces {
			want = o200k.Encode(want, p)
		}
		got := o200k.Encode(nil, strings.Join(pieces, ""))
		if len(got) != len(pieces) || len(want) != len(pieces) {
			t.Fatalf("%d pieces, %d ids", len(pieces), len(got))
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("id %d is %d, want %d", i, got[i], want[i])
			}
		}
	})
}

func TestCutTokensNeverMerge(t *testing.T) {
	v := cutVocabulary()
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom(v.tokens), 1, 50).Draw(t, "pieces")
		if n := v.count(strings.Join(pieces, "")); n != len(pieces) {
			t.Fatalf("%d pieces, %d cuts", len(pieces), n)
		}
	})
}

func TestCuts(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "a": 1, "abcd": 1, "abcde": 2, "abcd e": 2, "abcde f": 2, "abcdef g": 2, "abcdefg h": 3,
		"äöüß": 1, "äöüßa": 2, "hello world": 3,
	} {
		if got := countCuts(text); got != want {
			t.Errorf("%q: %d cuts, want %d", text, got, want)
		}
	}
}

func TestCountCacheIsBoundedAndKeepsWhatIsUsed(t *testing.T) {
	var c countCache
	hot := countKey{hash: 1 << 60}
	c.put(hot, 42)
	for i := range uint64(5 * cacheGeneration) {
		c.put(countKey{hash: i}, 1)
		if i%100 == 0 {
			if n, ok := c.get(hot); !ok || n != 42 {
				t.Fatalf("after %d entries: %d, %v", i, n, ok)
			}
		}
	}
	if n := len(c.young) + len(c.old); n > 2*cacheGeneration {
		t.Errorf("%d entries", n)
	}
	if _, ok := c.get(countKey{hash: 5}); ok {
		t.Error("an old entry is still there")
	}
}
