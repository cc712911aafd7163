package compose

import (
	"crypto/rand"
	"fmt"
)

// identify gives an id to the conversations that have none: numbered with a seed, random otherwise.
// Numbers that the file uses itself are left out.
func (b *builder) identify() {
	taken := map[string]bool{}
	all := b.dataset.InMemory()
	for i := range all {
		if id := all[i].SessionID; id != "" {
			taken[id] = true
		}
	}
	number := 0
	for i := range all {
		c := &all[i]
		for c.SessionID == "" {
			id := newUUID()
			if b.Seed.IsSet() {
				id = fmt.Sprintf("session_%06d", number)
				number++
			}
			if !taken[id] {
				c.SessionID = id
			}
		}
	}
}

// newUUID returns a random UUID (version 4, RFC 9562).
func newUUID() string {
	var u [16]byte
	rand.Read(u[:]) // never fails: crypto/rand ends the program if the OS has no entropy
	return uuidOf(u)
}

// uuidOf makes a UUID of random bytes.
func uuidOf(u [16]byte) string {
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
