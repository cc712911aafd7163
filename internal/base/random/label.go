package random

import (
	"crypto/sha256"
	"encoding/binary"
)

// OfText returns the seed that a text stands for: the first 63 bits, behind the sign, of its SHA-256, as the original
// derives those of trials and of points of a search.
func OfText(text string) uint64 {
	sum := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint64(sum[:8]) &^ (1 << 63)
}
