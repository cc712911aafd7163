package prom

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// layout is what a histogram series has beyond a scalar one.
type layout struct {
	fixed    bool // by the first body with finite values
	first    []bucket
	values   []float64 // parallel to Series.Bounds
	sum      float64
	count    float64
	counted  bool // a _count was there
	infinite bool // something was not finite
	warned   bool
}

// bucket is one of a histogram whose layout is not fixed yet.
type bucket struct {
	text  string
	upper float64
	value float64
}

// Values of line.slot that are no index.
const (
	slotUnset int32 = -1
	slotExtra int32 = -2
)

// component keeps a bucket, the sum or the count of a histogram.
func (p *Parser) component(l *line, v float64) {
	st := l.state
	h := st.layout
	if st.mark != p.body {
		list := p.listOf(st)
		st.mark, st.at = p.body, len(*list)
		*list = append(*list, Sample{Series: &st.Series})
		p.histograms = append(p.histograms, st)
		h.first, h.sum, h.count, h.counted, h.infinite = h.first[:0], 0, 0, false, false
		for i := range h.values {
			h.values[i] = st.unsaid()
		}
	}
	if v-v != 0 && !(l.role == roleBucket && st.family.Type == Summary) {
		h.infinite = true
		return
	}
	switch l.role {
	case roleSum:
		h.sum = v
	case roleCount:
		h.count, h.counted = v, true
	default:
		p.bucket(l, h, v)
	}
}

// listOf returns the list that has the samples of a series.
func (p *Parser) listOf(st *state) *[]Sample {
	if st.family.Type == Summary {
		return &p.summaries
	}
	return &p.samples
}

// unsaid returns what a bucket or a quantile is of which a body says nothing.
func (st *state) unsaid() float64 {
	if st.family.Type == Summary {
		return math.NaN()
	}
	return 0
}

// bucket takes the value of a bucket. The first scrape fixes the buckets of a histogram; a line of a later one finds
// its slot once, by its bound, and keeps it. Further buckets are ignored with a warning: they have no history.
func (p *Parser) bucket(l *line, h *layout, v float64) {
	if !h.fixed {
		upper, text, _ := bound(l.le)
		h.first = append(h.first, bucket{text: text, upper: upper, value: v})
		return
	}
	if l.slot == slotUnset {
		l.slot = slotExtra
		upper, _, _ := bound(l.le)
		if i, ok := slices.BinarySearch(l.state.Upper, upper); ok {
			l.slot = int32(i)
		}
	}
	if l.slot >= 0 {
		h.values[l.slot] = v
		return
	}
	if !h.warned {
		h.warned = true
		name := l.state.family.Name + "{" + labelText(l.state.Labels) + "}"
		p.note(BucketsChanged, name, fmt.Sprintf(
			"Histogram %s has buckets that its first scrape lacked; they are ignored", name))
	}
}

// complete makes the sample of a histogram at the end of a body; false means that it is dropped.
func (p *Parser) complete(st *state) bool {
	h := st.layout
	if h.infinite {
		p.noteNonFinite(st)
		return false
	}
	if !h.fixed {
		st.fix()
		p.text += len(st.Upper) * boundSize
	}
	if n := len(st.Upper); st.family.Type == Histogram && !h.counted && n > 0 && math.IsInf(st.Upper[n-1], 1) {
		h.count = h.values[n-1]
	}
	s := &(*p.listOf(st))[st.at]
	s.Buckets, s.Sum, s.Count = h.values, h.sum, h.count
	return true
}

// fix makes the buckets of the first body those of the series. Bounds that are the same number are one
// bucket, with the text of its first and the value of its last line.
func (st *state) fix() {
	h := st.layout
	slices.SortStableFunc(h.first, func(a, b bucket) int { return cmp.Compare(a.upper, b.upper) })
	for _, b := range h.first {
		if n := len(st.Upper); n > 0 && st.Upper[n-1] == b.upper {
			h.values[n-1] = b.value
			continue
		}
		st.Bounds = append(st.Bounds, b.text)
		st.Upper = append(st.Upper, b.upper)
		h.values = append(h.values, b.value)
	}
	h.fixed, h.first = true, nil
}

// bound returns the number and the text of an le label. No label at all, an empty one and every spelling of
// infinity mean +Inf.
func bound(le string) (upper float64, text string, ok bool) {
	if le == "" {
		return math.Inf(1), "+Inf", true
	}
	b := []byte(le)
	upper, end, ok := number(b, 0)
	switch {
	case !ok || end != len(b) || math.IsNaN(upper):
		return 0, "", false
	case math.IsInf(upper, 1):
		return upper, "+Inf", true
	}
	return upper, strings.Clone(le), true
}
