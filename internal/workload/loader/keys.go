package loader

// Keys maps hashes to numbers. A map of them would take several times the memory.
type Keys struct {
	// slots hold one more than a place in keys; the number of slots is a power of 2.
	slots []uint32
	keys  Ints
	// values are those of the keys; empty as long as the value of key i is i.
	values Ints
}

// Find returns the value of a key; ok reports whether the key was added.
func (t *Keys) Find(key uint64) (value uint32, ok bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	for at := t.home(key); ; at = (at + 1) % len(t.slots) {
		switch entry := t.slots[at]; {
		case entry == 0:
			return 0, false
		case t.key(int(entry-1)) == key:
			if t.values.n == 0 {
				return entry - 1, true
			}
			return uint32(t.values.At(int(entry - 1))), true
		}
	}
}

func (t *Keys) key(i int) uint64 { return uint64(t.keys.At(i)) }

// Add adds a key that is not there.
func (t *Keys) Add(key uint64, value uint32) {
	if t.values.n == 0 && int(value) != t.keys.n {
		for i := range t.keys.n {
			t.values.Add(int64(i))
		}
	}
	if t.values.n > 0 || int(value) != t.keys.n {
		t.values.Add(int64(value))
	}
	t.keys.Add(int64(key))
	if 4*t.keys.n > 3*len(t.slots) {
		t.slots = make([]uint32, max(64, 2*len(t.slots)))
		for i := range t.keys.n {
			t.place(i)
		}
		return
	}
	t.place(t.keys.n - 1)
}

func (t *Keys) place(i int) {
	at := t.home(t.key(i))
	for t.slots[at] != 0 {
		at = (at + 1) % len(t.slots)
	}
	t.slots[at] = uint32(i + 1)
}

// home returns the first slot of a key, whose bits are those of a hash.
func (t *Keys) home(key uint64) int { return int(key & uint64(len(t.slots)-1)) }
