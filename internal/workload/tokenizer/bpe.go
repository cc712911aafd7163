package tokenizer

// Pieces up to this length are merged by searching the smallest rank in a row; beyond, where that
// would be quadratic, by a heap.
const maxLinear = 64

// merger merges the bytes of a piece. It holds the room that this needs and is not shared.
type merger struct {
	ranks  *ranks
	starts [maxLinear + 1]int    // where each part starts, then the end of the piece
	pair   [maxLinear + 1]uint32 // rank of each part joined with the next one
	out    []uint32
	cache  [cacheSize]cachedPiece
	long   queueMerger
}

// piece returns the ranks of the tokens of one piece, valid until the next call.
func (m *merger) piece(s string) []uint32 {
	m.out = m.out[:0]
	if len(s) > m.ranks.Longest() {
		return m.merge(s)
	}
	h := Hash(s)
	if rank := uint32(m.ranks.FindHashed(s, h)); rank != noRank {
		m.out = append(m.out, rank)
		return m.out
	}
	cached := &m.cache[h%cacheSize]
	if cached.is(s) {
		return cached.ranks[:cached.count]
	}
	out := m.merge(s)
	cached.set(s, out)
	return out
}

func (m *merger) merge(s string) []uint32 {
	if len(s) <= maxLinear {
		m.linear(s)
	} else {
		m.out = m.long.merge(m.ranks, s, m.out)
	}
	return m.out
}

// linear joins the neighbours of the smallest rank, the leftmost of equals, until none can be
// joined.
func (m *merger) linear(s string) {
	n := len(s)
	for i := range n {
		m.starts[i] = i
		m.pair[i] = noRank
		if i+2 <= n {
			m.pair[i] = m.ranks.rank(s[i : i+2])
		}
	}
	m.starts[n] = n
	for {
		best := 0
		for i := 1; i < n; i++ {
			if m.pair[i] < m.pair[best] {
				best = i
			}
		}
		if n < 2 || m.pair[best] == noRank {
			break
		}
		copy(m.starts[best+1:n], m.starts[best+2:n+1])
		copy(m.pair[best+1:n-1], m.pair[best+2:n])
		n--
		m.setPair(s, best, n)
		if best > 0 {
			m.setPair(s, best-1, n)
		}
	}
	for i := range n {
		m.out = append(m.out, m.ranks.rank(s[m.starts[i]:m.starts[i+1]]))
	}
}

// setPair looks up the rank of part i of n joined with the next one.
func (m *merger) setPair(s string, i, n int) {
	m.pair[i] = noRank
	if i+2 <= n {
		m.pair[i] = m.ranks.rank(s[m.starts[i]:m.starts[i+2]])
	}
}

const (
	cacheSize   = 1024 // pieces remembered by each merger
	cachedBytes = 32   // longest piece remembered
	cachedRanks = 8    // most tokens remembered of a piece
)

// cachedPiece remembers the tokens of one piece; every hash value has one place.
type cachedPiece struct {
	length, count uint8
	text          [cachedBytes]byte
	ranks         [cachedRanks]uint32
}

func (c *cachedPiece) is(s string) bool {
	return int(c.length) == len(s) && string(c.text[:c.length]) == s
}

func (c *cachedPiece) set(s string, ranks []uint32) {
	if len(s) > cachedBytes || len(ranks) > cachedRanks {
		return
	}
	c.length, c.count = uint8(len(s)), uint8(len(ranks))
	copy(c.text[:], s)
	copy(c.ranks[:], ranks)
}
