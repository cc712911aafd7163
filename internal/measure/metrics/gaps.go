package metrics

import (
	"math"
	"slices"

	"aiperf/internal/measure/stats"
)

const (
	gapPage = 1 << 16
	// gapEscape stands before the two halves of a gap that does not fit into 32 bits (4.29 s).
	gapEscape = math.MaxUint32
)

// gapStore keeps chunk gaps exactly, four bytes each, in the order of their requests.
type gapStore struct {
	pages [][]uint32
	slots int64 // used words over all pages
	count int64 // gaps
}

func (g *gapStore) add(ns int64) {
	g.count++
	if ns < gapEscape {
		g.put(uint32(ns))
		return
	}
	g.put(gapEscape)
	g.put(uint32(ns >> 32))
	g.put(uint32(ns))
}

func (g *gapStore) put(word uint32) {
	at := g.slots % gapPage
	if at == 0 {
		g.pages = append(g.pages, make([]uint32, gapPage))
	}
	g.pages[len(g.pages)-1][at] = word
	g.slots++
}

// snapshot returns the store as it is now; later additions do not touch what it holds.
func (g *gapStore) snapshot() gapStore {
	return gapStore{pages: slices.Clip(g.pages), slots: g.slots, count: g.count}
}

// cursor reads the gaps in order.
func (g *gapStore) cursor() gapCursor { return gapCursor{store: g} }

type gapCursor struct {
	store *gapStore
	at    int64
}

// next returns the next gap; false at the end.
func (c *gapCursor) next() (int64, bool) {
	if c.at >= c.store.slots {
		return 0, false
	}
	word := c.word()
	if word != gapEscape {
		return int64(word), true
	}
	high := int64(c.word())
	return high<<32 | int64(c.word()), true
}

func (c *gapCursor) word() uint32 {
	w := c.store.pages[c.at/gapPage][c.at%gapPage]
	c.at++
	return w
}

// describe returns the exact figures of all gaps without copying them: the values at the needed
// places are found digit by digit, counting.
func (g *gapStore) describe(ranks []float64) stats.Summary {
	s, _ := g.describeWith(ranks, nil)
	return s
}

// describeWith also returns the gaps at the other places that it is asked for.
func (g *gapStore) describeWith(ranks []float64, others []int64) (stats.Summary, map[int64]float64) {
	var m stats.Moments
	var long []float64
	var digits [1 << 16]int64
	for c := g.cursor(); ; {
		ns, ok := c.next()
		if !ok {
			break
		}
		m.Add(float64(ns))
		if ns < gapEscape {
			digits[ns>>16]++
		} else {
			long = append(long, float64(ns))
		}
	}
	slices.Sort(long)
	s := m.Summary()
	if s.Count == 0 {
		return s, nil
	}
	places := append(stats.Places(ranks, s.Count), others...)
	found := g.at(places, &digits, long)
	s.Percentiles = stats.Interpolate(ranks, s.Count, func(place int64) float64 { return found[place] })
	return s, found
}

// at returns the gaps at the given places of the sorted population. High counts the gaps by their
// upper 16 bits; long are those beyond 32 bits, sorted.
func (g *gapStore) at(places []int64, high *[1 << 16]int64, long []float64) map[int64]float64 {
	type bucket struct {
		before int64 // gaps in lower buckets
		low    [1 << 16]int64
	}
	var buckets [1 << 16]*bucket
	short := g.count - int64(len(long))
	found := make(map[int64]float64, len(places))
	home := make(map[int64]uint32, len(places))
	for _, place := range places {
		if place >= short {
			found[place] = long[place-short]
			continue
		}
		digit, before := locate(high, place)
		home[place] = digit
		if buckets[digit] == nil {
			buckets[digit] = &bucket{before: before}
		}
	}
	for c := g.cursor(); ; {
		ns, ok := c.next()
		if !ok {
			break
		}
		if ns < gapEscape && buckets[ns>>16] != nil {
			buckets[ns>>16].low[ns&0xffff]++
		}
	}
	for place, digit := range home {
		b := buckets[digit]
		low, _ := locate(&b.low, place-b.before)
		found[place] = float64(int64(digit)<<16 | int64(low))
	}
	return found
}

// locate determines the digit at a place of the sorted population and how many come before that digit.
func locate(counts *[1 << 16]int64, place int64) (digit uint32, before int64) {
	for i, n := range counts {
		if place < before+n {
			return uint32(i), before
		}
		before += n
	}
	panic("metrics: place beyond the population")
}
