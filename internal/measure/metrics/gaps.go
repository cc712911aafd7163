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

// stretches yields the gaps in order: those that follow each other and fit into 32 bits, or one that does not.
func (g *gapStore) stretches(yield func(short []uint32, long int64) bool) {
	for c := g.cursor(); c.at < g.slots; {
		from := c.at % gapPage
		words := g.pages[c.at/gapPage][from:min(gapPage, from+g.slots-c.at)]
		if n := slices.Index(words, gapEscape); n >= 0 {
			words = words[:n]
		}
		if len(words) == 0 {
			if long, _ := c.next(); !yield(nil, long) {
				return
			}
			continue
		}
		if c.at += int64(len(words)); !yield(words, 0) {
			return
		}
	}
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
	var longest uint32 // of those that fit into 32 bits
	for words, ns := range g.stretches {
		if words == nil {
			m.Add(float64(ns))
			long = append(long, float64(ns))
			continue
		}
		m.AddWhole(words)
		longest = max(longest, slices.Max(words))
	}
	slices.Sort(long)
	s := m.Summary()
	if s.Count == 0 {
		return s, nil
	}
	places := append(stats.Places(ranks, s.Count), others...)
	slices.Sort(places)
	found := g.at(slices.Compact(places), longest, long)
	s.Percentiles = stats.Interpolate(ranks, s.Count, func(place int64) float64 { return found[place] })
	return s, found
}

// lowBits of a gap are its second digit, the bits above the first. Gaps of a run are so near each other that the
// counts of both stay in the processor's cache.
const lowBits = 12

// at returns the gaps at ascending places of the sorted population, of which the longest within 32 bits is given, and
// the others are listed, sorted.
func (g *gapStore) at(places []int64, longest uint32, long []float64) map[int64]float64 {
	type bucket struct {
		places []int64 // among the gaps of the bucket
		low    [1 << lowBits]int64
	}
	found := make(map[int64]float64, len(places))
	short := g.count - int64(len(long))
	n, _ := slices.BinarySearch(places, short)
	for _, place := range places[n:] {
		found[place] = long[place-short]
	}
	if n == 0 {
		return found
	}
	high := make([]int64, longest>>lowBits+1)
	for words := range g.stretches {
		for _, ns := range words {
			high[ns>>lowBits]++
		}
	}
	buckets := make([]*bucket, len(high))
	locate(high, places[:n], func(place int64, digit int, rest int64) {
		if buckets[digit] == nil {
			buckets[digit] = new(bucket)
		}
		buckets[digit].places = append(buckets[digit].places, rest)
	})
	for words := range g.stretches {
		for _, ns := range words {
			if b := buckets[ns>>lowBits]; b != nil {
				b.low[ns%(1<<lowBits)]++
			}
		}
	}
	next := 0
	for digit, b := range buckets {
		if b == nil {
			continue
		}
		locate(b.low[:], b.places, func(_ int64, low int, _ int64) {
			found[places[next]] = float64(digit<<lowBits | low)
			next++
		})
	}
	return found
}

// locate calls yield for each of ascending places of the sorted population that was counted by a digit: with the digit,
// and with the place among those that share it.
func locate(counts []int64, places []int64, yield func(place int64, digit int, rest int64)) {
	var before int64
	digit := 0
	for _, place := range places {
		for ; place >= before+counts[digit]; digit++ {
			before += counts[digit]
		}
		yield(place, digit, place-before)
	}
}
