package loader

import "testing"

func TestKeyTable(t *testing.T) {
	for _, as := range []func(int) uint32{
		func(i int) uint32 { return uint32(i) },
		func(i int) uint32 { return uint32(3 * i) },
		func(i int) uint32 { return uint32(i + i/3000) },
		func(i int) uint32 { return uint32(i + 1) },
	} {
		testKeyTable(t, as)
	}
}

func testKeyTable(t *testing.T, as func(int) uint32) {
	var table Keys
	// Keys that begin at the same slots and others; each is found, no other is.
	key := func(i int) uint64 { return uint64(1 + i%7 + i<<40) }
	for i := range 5000 {
		if at, ok := table.Find(key(i)); ok {
			t.Fatalf("key %d is there as %d before it was added", i, at)
		}
		table.Add(key(i), as(i))
	}
	for i := range 5000 {
		if at, ok := table.Find(key(i)); !ok || at != as(i) {
			t.Fatalf("key %d is %d, %v", i, at, ok)
		}
	}
	if _, ok := table.Find(9); ok {
		t.Error("a key that was never added is there")
	}
}
