package spm

// prefixes finds the pieces that a text starts with. Nodes are numbered; an edge is a node and a byte.
type prefixes struct {
	edges map[uint64]uint32
	roots [256]uint32
	ids   []int32 // by node; -1 where no piece ends
	count int
}

func newPrefixes() *prefixes { return &prefixes{edges: map[uint64]uint32{}, ids: []int32{-1}} }

func (p *prefixes) put(s string, id int32) {
	at := uint32(0)
	for i := range len(s) {
		next := p.step(at, s[i])
		if next == 0 {
			next = uint32(len(p.ids))
			p.ids = append(p.ids, -1)
			if at == 0 {
				p.roots[s[i]] = next
			} else {
				p.edges[uint64(at)<<8|uint64(s[i])] = next
			}
		}
		at = next
	}
	p.ids[at] = id
	p.count++
}

func (p *prefixes) step(at uint32, b byte) uint32 {
	if at == 0 {
		return p.roots[b]
	}
	return p.edges[uint64(at)<<8|uint64(b)]
}

// each calls found for every piece that s starts with, the shortest first.
func (p *prefixes) each(s string, found func(n int, id int32)) {
	at := uint32(0)
	for i := range len(s) {
		if at = p.step(at, s[i]); at == 0 {
			return
		}
		if id := p.ids[at]; id >= 0 {
			found(i+1, id)
		}
	}
}

// longest is the length and id of the longest piece that s starts with, or 0.
func (p *prefixes) longest(s string) (length int, id int32) {
	if p.count == 0 {
		return 0, -1
	}
	p.each(s, func(n int, i int32) { length, id = n, i })
	return length, id
}
