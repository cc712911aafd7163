package hf

// trie holds byte strings with a value each. Node 0 is the root.
type trie struct {
	slots  []trieSlot
	mask   uint32
	values []int32 // by node; -1 where no string ends
	roots  [256]uint32
}

// trieSlot leads from a node by a byte to a child; an empty one has child 0, which no edge leads to.
type trieSlot struct{ key, child uint32 }

func newTrie() *trie {
	return &trie{slots: make([]trieSlot, 64), mask: 63, values: []int32{-1}}
}

// put adds a string, over an earlier value.
func (t *trie) put(s string, value int32) {
	node := uint32(0)
	for i := range len(s) {
		child := t.step(node, s[i])
		if child == 0 {
			child = uint32(len(t.values))
			t.values = append(t.values, -1)
			t.link(node, s[i], child)
		}
		node = child
	}
	t.values[node] = value
}

// step is the child of node by a byte, or 0.
func (t *trie) step(node uint32, b byte) uint32 {
	if node == 0 {
		return t.roots[b]
	}
	key := node<<8 | uint32(b)
	for at := hashKey(key) & t.mask; ; at = (at + 1) & t.mask {
		if s := t.slots[at]; s.child == 0 || s.key == key {
			return s.child
		}
	}
}

// find is the node of a string, or 0 and false.
func (t *trie) find(s string) (uint32, bool) {
	node := uint32(0)
	for i := range len(s) {
		if node = t.step(node, s[i]); node == 0 {
			return 0, false
		}
	}
	return node, true
}

func (t *trie) link(node uint32, b byte, child uint32) {
	if node == 0 {
		t.roots[b] = child
		return
	}
	if 2*len(t.values) > len(t.slots) {
		old := t.slots
		t.slots = make([]trieSlot, 4*len(old))
		t.mask = uint32(len(t.slots) - 1)
		for _, s := range old {
			if s.child != 0 {
				t.place(s)
			}
		}
	}
	t.place(trieSlot{node<<8 | uint32(b), child})
}

func (t *trie) place(s trieSlot) {
	at := hashKey(s.key) & t.mask
	for t.slots[at].child != 0 {
		at = (at + 1) & t.mask
	}
	t.slots[at] = s
}

func hashKey(k uint32) uint32 {
	k *= 0x9e3779b1
	return k ^ k>>15
}
