package tokenizer_test

import (
	"fmt"
	"strings"
	"testing"

	"aiperf/internal/workload/tokenizer"
)

const none = -1 // what is found for a text that is not a token

// put is an entry of a vocabulary as a file lists it.
type put struct {
	token string
	id    int32
}

func built(list ...put) *tokenizer.Vocab {
	b := tokenizer.NewVocabBuilder(0, 0)
	for _, p := range list {
		b.Put(p.token, p.id)
	}
	return b.Vocab()
}

// reloaded returns the same table out of a packed file.
func reloaded(t *testing.T, v *tokenizer.Vocab) *tokenizer.Vocab {
	t.Helper()
	w := &tokenizer.TableWriter{}
	if err := v.Save(w, "v"); err != nil {
		t.Fatal(err)
	}
	f, err := tokenizer.OpenTables(w.File())
	if err != nil {
		t.Fatal(err)
	}
	if v, err = tokenizer.LoadVocab(f, "v"); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTokensAreFoundEitherWay(t *testing.T) {
	for name, c := range map[string]struct {
		list  []put
		found map[string]int32
		texts map[int]string // what the ids show; the others have no token
	}{
		"ids in their order": {[]put{{"a", 0}, {"b", 1}}, map[string]int32{"a": 0, "b": 1, "c": none, "": none},
			map[int]string{0: "a", 1: "b"}},
		"ids in any order": {[]put{{"b", 1}, {"a", 0}}, map[string]int32{"a": 0, "b": 1},
			map[int]string{0: "a", 1: "b"}},
		"holes": {[]put{{"a", 2}, {"b", 5}}, map[string]int32{"a": 2, "b": 5, "": none},
			map[int]string{2: "a", 5: "b"}},
		"a token without bytes": {[]put{{"", 0}, {"a", 1}}, map[string]int32{"": 0, "a": 1},
			map[int]string{0: "", 1: "a"}},
		"one without bytes, and gap": {[]put{{"a", 0}, {"", 3}}, map[string]int32{"": 3, "a": 0}, nil},
		"a token twice": {[]put{{"a", 0}, {"b", 1}, {"a", 2}}, map[string]int32{"a": 2, "b": 1},
			map[int]string{1: "b", 2: "a"}},
		"an id twice": {[]put{{"a", 0}, {"bcd", 0}, {"e", 0}}, map[string]int32{"a": 0, "bcd": 0, "e": 0},
			map[int]string{0: "e"}},
		"nothing": {nil, map[string]int32{"a": none, "": none}, nil},
	} {
		v := built(c.list...)
		for _, v := range []*tokenizer.Vocab{v, reloaded(t, v)} {
			for token, want := range c.found {
				if got := v.Find(token); got != want {
					t.Errorf("%s: Find(%q) is %d, want %d", name, token, got, want)
				}
				if got := v.FindBytes([]byte(token)); got != want {
					t.Errorf("%s: FindBytes(%q) is %d, want %d", name, token, got, want)
				}
			}
			for id := -1; id <= v.Len() && c.texts != nil; id++ {
				text, ok := c.texts[id]
				if v.Has(id) != ok || ok && v.Text(int32(id)) != text {
					t.Errorf("%s: the id %d has a token: %v, want %v %q", name, id, v.Has(id), ok, text)
				}
			}
			seen := map[string]int32{}
			v.Each(func(token string, id int32) { seen[token] = id })
			for token, want := range c.found {
				if got, ok := seen[token]; ok != (want != none) || ok && got != want {
					t.Errorf("%s: Each gives %q the id %d, %v", name, token, got, ok)
				}
			}
		}
	}
}

func TestManyTokens(t *testing.T) {
	b := tokenizer.NewVocabBuilder(0, 0)
	for id := range int32(5000) {
		b.Put(fmt.Sprintf("%d%s", id, strings.Repeat("x", int(id%40))), id)
	}
	v := b.Vocab()
	for _, v := range []*tokenizer.Vocab{v, reloaded(t, v)} {
		for id := range int32(5000) {
			if got := v.Find(v.Text(id)); got != id {
				t.Fatalf("Find(%q) is %d, want %d", v.Text(id), got, id)
			}
			if got := v.Find(v.Text(id) + "y"); got != none {
				t.Fatalf("Find(%q) is %d", v.Text(id)+"y", got)
			}
		}
	}
}
