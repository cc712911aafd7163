package tokenizer

// Trie is a set of byte strings. Node 0 is the root.
type Trie struct {
	slots  []uint64 // an edge: the node and the byte above, the child below; an empty one has child 0
	mask   uint32
	values []int32 // by node; -1 where no string ends
	roots  [256]uint32
}

// NewTrie returns an empty trie.
func NewTrie() *Trie {
	return &Trie{slots: make([]uint64, 64), mask: 63, values: []int32{-1}}
}

// Put adds a string, over an earlier value.
func (t *Trie) Put(s string, value int32) {
	node := uint32(0)
	for i := range len(s) {
		child := t.Step(node, s[i])
		if child == 0 {
			child = uint32(len(t.values))
			t.values = append(t.values, -1)
			t.link(node, s[i], child)
		}
		node = child
	}
	t.values[node] = value
}

// Step returns the child of node by a byte, or 0.
func (t *Trie) Step(node uint32, b byte) uint32 {
	if node == 0 {
		return t.roots[b]
	}
	key := node<<8 | uint32(b)
	for at := hashKey(key) & t.mask; ; at = (at + 1) & t.mask {
		if s := t.slots[at]; uint32(s) == 0 || uint32(s>>32) == key {
			return uint32(s)
		}
	}
}

// Value returns the value of the string that ends at a node, or -1.
func (t *Trie) Value(node uint32) int32 { return t.values[node] }

// Empty reports whether no string was added.
func (t *Trie) Empty() bool { return len(t.values) == 1 }

// Starts reports whether a string starts with b.
func (t *Trie) Starts(b byte) bool { return t.roots[b] != 0 }

// Each calls found for every string that s starts with, the shortest first. The empty string is none.
func (t *Trie) Each(s string, found func(length int, value int32)) {
	node := uint32(0)
	for i := range len(s) {
		if node = t.Step(node, s[i]); node == 0 {
			return
		}
		if v := t.values[node]; v >= 0 {
			found(i+1, v)
		}
	}
}

// Longest returns the length and value of the longest string that s starts with, or 0 and -1.
func (t *Trie) Longest(s string) (length int, value int32) {
	value = -1
	t.Each(s, func(n int, v int32) { length, value = n, v })
	return length, value
}

// Find returns the node of a string, or 0 and false.
func (t *Trie) Find(s string) (uint32, bool) {
	node := uint32(0)
	for i := range len(s) {
		if node = t.Step(node, s[i]); node == 0 {
			return 0, false
		}
	}
	return node, true
}

func (t *Trie) link(node uint32, b byte, child uint32) {
	if node == 0 {
		t.roots[b] = child
		return
	}
	if 2*len(t.values) > len(t.slots) {
		old := t.slots
		t.slots = make([]uint64, 4*len(old))
		t.mask = uint32(len(t.slots) - 1)
		for _, s := range old {
			if s != 0 {
				t.place(s)
			}
		}
	}
	t.place(uint64(node<<8|uint32(b))<<32 | uint64(child))
}

func (t *Trie) place(s uint64) {
	at := hashKey(uint32(s>>32)) & t.mask
	for t.slots[at] != 0 {
		at = (at + 1) & t.mask
	}
	t.slots[at] = s
}

func hashKey(k uint32) uint32 {
	k *= 0x9e3779b1
	return k ^ k>>15
}
