package loader

// keyTable finds the conversations of sessions. A map of them would take several times the memory.
type keyTable struct {
	// slots hold one more than a place in keys; the number of slots is a power of 2.
	slots         []uint32
	keys          []sessionKey
	conversations []uint32
}

func (t *keyTable) find(key sessionKey) (conversation uint32, ok bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	for at := t.home(key); ; at = (at + 1) % len(t.slots) {
		switch entry := t.slots[at]; {
		case entry == 0:
			return 0, false
		case t.keys[entry-1] == key:
			return t.conversations[entry-1], true
		}
	}
}

// add adds a key that is not there.
func (t *keyTable) add(key sessionKey, conversation uint32) {
	t.keys, t.conversations = append(t.keys, key), append(t.conversations, conversation)
	if 4*len(t.keys) > 3*len(t.slots) {
		t.slots = make([]uint32, max(64, 2*len(t.slots)))
		for i := range t.keys {
			t.place(i)
		}
		return
	}
	t.place(len(t.keys) - 1)
}

func (t *keyTable) place(i int) {
	at := t.home(t.keys[i])
	for t.slots[at] != 0 {
		at = (at + 1) % len(t.slots)
	}
	t.slots[at] = uint32(i + 1)
}

// home is the first slot of a key, whose bits are those of a hash.
func (t *keyTable) home(key sessionKey) int { return int(uint64(key) & uint64(len(t.slots)-1)) }
