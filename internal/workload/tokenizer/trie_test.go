package tokenizer_test

import (
	"fmt"
	"slices"
	"testing"

	"aiperf/internal/workload/tokenizer"
)

func TestEveryStringIsFound(t *testing.T) {
	tree := tokenizer.NewTrie()
	if !tree.Empty() {
		t.Error("a new trie is not empty")
	}
	if n, v := tree.Longest("a"); n != 0 || v != -1 {
		t.Errorf("an empty trie found %d, %d", n, v)
	}
	for i := range 5000 {
		tree.Put(fmt.Sprintf("%d-é", i), int32(i))
	}
	tree.Put("", 7)
	tree.Put("12", 9999)
	tree.Put("17-é", 1)
	for i := range 5000 {
		text := fmt.Sprintf("%d-é", i)
		want := int32(i)
		if i == 17 {
			want = 1 // the later value
		}
		if n, v := tree.Longest(text + "rest"); n != len(text) || v != want {
			t.Fatalf("%s: %d, %d", text, n, v)
		}
	}
	var all []int32
	tree.Each("12-é", func(_ int, v int32) { all = append(all, v) })
	if !slices.Equal(all, []int32{9999, 12}) {
		t.Errorf("prefixes %v", all)
	}
	if node, ok := tree.Find("12"); !ok || tree.Value(node) != 9999 {
		t.Error("12 is not there")
	}
	if _, ok := tree.Find("nothing"); ok {
		t.Error("nothing is there")
	}
}
