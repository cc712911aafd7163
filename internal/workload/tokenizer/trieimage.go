package tokenizer

import (
	"fmt"
)

// Save adds the trie to a packed file. Its sections start with the name, which has at most nine bytes.
func (t *Trie) Save(w *TableWriter, name string) {
	WriteNumbers(w, name+".edges", t.slots)
	WriteNumbers(w, name+".values", t.values)
	WriteNumbers(w, name+".roots", t.roots[:])
}

// LoadTrie takes a trie with values below limit out of a packed file.
func LoadTrie(f *TableFile, name string, limit int) (*Trie, error) {
	wrong := func(what string) error { return fmt.Errorf("the trie %q of the packed file is wrong: %s", name, what) }
	t := &Trie{}
	var err error
	if t.slots, err = Numbers[uint64](f, name+".edges"); err != nil {
		return nil, err
	}
	if t.values, err = Numbers[int32](f, name+".values"); err != nil {
		return nil, err
	}
	roots, err := Numbers[uint32](f, name+".roots")
	if err != nil {
		return nil, err
	}
	if len(roots) != len(t.roots) || len(t.values) == 0 || len(t.slots) == 0 || len(t.slots)&(len(t.slots)-1) != 0 {
		return nil, wrong("its sizes do not fit")
	}
	copy(t.roots[:], roots)
	t.mask = uint32(len(t.slots) - 1)
	free, largest := 0, uint32(0)
	for _, s := range t.slots {
		if uint32(s) == 0 {
			free++
		}
		largest = max(largest, uint32(s))
	}
	for _, child := range roots {
		largest = max(largest, child)
	}
	if free == 0 || int(largest) >= len(t.values) {
		return nil, wrong("an edge leads out of it")
	}
	for _, v := range t.values {
		if v < -1 || int(v) >= limit {
			return nil, wrong("a value is too large")
		}
	}
	return t, nil
}
