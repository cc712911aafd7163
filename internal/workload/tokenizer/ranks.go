package tokenizer

import (
	"encoding/binary"
)

// noRank is the rank of a byte string that is not a token.
const noRank = ^uint32(0)

// ranks is the table of the mergeable tokens: byte string → rank and back. In the vocabularies
// held in this form the rank of a token is its id.
type ranks struct{ *Vocab }

// newRanks reads the packed form that the pack command writes.
func newRanks(packed string) *ranks {
	n := int(binary.LittleEndian.Uint32([]byte(packed[:4])))
	lengths := packed[4 : 4+n]
	return &ranks{VocabFromLengths(packed[4+n:], n, func(i int) int { return int(lengths[i]) })}
}

// all lists the tokens by rank.
func (r *ranks) all() []string {
	list := make([]string, r.Len())
	for i := range list {
		list[i] = r.token(uint32(i))
	}
	return list
}

// token returns the byte string of a rank below Len.
func (r *ranks) token(rank uint32) string { return r.Text(int32(rank)) }

// rank returns the rank of a byte string, or noRank.
func (r *ranks) rank(s string) uint32 { return uint32(r.Find(s)) }
