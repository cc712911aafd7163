package session

import (
	crand "crypto/rand"
	"encoding/hex"
	"math/rand/v2"
	"sync"
)

// idSource makes random UUIDs (version 4) from a generator that the system's entropy seeds once.
type idSource struct {
	mu  sync.Mutex
	rng *rand.ChaCha8
}

func newIDSource() *idSource {
	var seed [32]byte
	crand.Read(seed[:]) // never fails: crypto/rand ends the program if the system has no entropy
	return &idSource{rng: rand.NewChaCha8(seed)}
}

func (s *idSource) next() string {
	var b [16]byte
	s.mu.Lock()
	s.rng.Read(b[:]) // never fails
	s.mu.Unlock()
	b[6] = b[6]&0x0f | 0x40 // version 4
	b[8] = b[8]&0x3f | 0x80 // variant of RFC 9562
	var text [36]byte
	hex.Encode(text[0:8], b[0:4])
	hex.Encode(text[9:13], b[4:6])
	hex.Encode(text[14:18], b[6:8])
	hex.Encode(text[19:23], b[8:10])
	hex.Encode(text[24:36], b[10:16])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return string(text[:])
}
