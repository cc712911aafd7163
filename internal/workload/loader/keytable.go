package loader

// keyTable finds the conversations of sessions. A map of them would take several times the memory.
type keyTable struct {
	// slots hold one more than a place in keys; the number of slots is a power of 2.
	slots []uint32
	keys  ints
	// conversations are those of the keys; empty as long as key i is that of conversation i.
	conversations ints
}

func (t *keyTable) find(key sessionKey) (conversation uint32, ok bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	for at := t.home(key); ; at = (at + 1) % len(t.slots) {
		switch entry := t.slots[at]; {
		case entry == 0:
			return 0, false
		case t.key(int(entry-1)) == key:
			if t.conversations.n == 0 {
				return entry - 1, true
			}
			return uint32(t.conversations.at(int(entry - 1))), true
		}
	}
}

func (t *keyTable) key(i int) sessionKey { return sessionKey(t.keys.at(i)) }

// add adds a key that is not there.
func (t *keyTable) add(key sessionKey, conversation uint32) {
	if t.conversations.n == 0 && int(conversation) != t.keys.n {
		for i := range t.keys.n {
			t.conversations.add(int64(i))
		}
	}
	if t.conversations.n > 0 || int(conversation) != t.keys.n {
		t.conversations.add(int64(conversation))
	}
	t.keys.add(int64(key))
	if 4*t.keys.n > 3*len(t.slots) {
		t.slots = make([]uint32, max(64, 2*len(t.slots)))
		for i := range t.keys.n {
			t.place(i)
		}
		return
	}
	t.place(t.keys.n - 1)
}

func (t *keyTable) place(i int) {
	at := t.home(t.key(i))
	for t.slots[at] != 0 {
		at = (at + 1) % len(t.slots)
	}
	t.slots[at] = uint32(i + 1)
}

// home is the first slot of a key, whose bits are those of a hash.
func (t *keyTable) home(key sessionKey) int { return int(uint64(key) & uint64(len(t.slots)-1)) }
