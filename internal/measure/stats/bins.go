package stats

import "slices"

// Bins cut a line of whole numbers, instants in ns for one, into bins of equal width and keep what happened in each.
// They start at multiples of their width, which doubles when the numbers outgrow Most of them: which bins there are
// depends on the numbers alone and not on their order.
type Bins[B any, P Bin[B]] struct {
	Width int64
	// Most is how many bins the numbers may lie in; Spare are kept behind them.
	Most, Spare int64
	// Low and High are the extremes of the numbers covered, which List reaches; it is empty without any.
	Low, High int64
	First     int64 // number of the first bin, which starts at First × Width
	List      []B
}

// Bin is what Bins keep of a stretch.
type Bin[B any] interface {
	*B
	// Join adds what o holds, a bin that starts so far after this one.
	Join(o *B, after int64)
}

// Number returns that of the bin in which v lies, whether there is room for it or not.
func (b *Bins[B, P]) Number(v int64) int64 {
	if v < 0 {
		return (v+1)/b.Width - 1
	}
	return v / b.Width
}

// Index returns the place in the list of a number that is covered.
func (b *Bins[B, P]) Index(v int64) int { return int(b.Number(v) - b.First) }

// Cover makes room for the numbers from one to another.
func (b *Bins[B, P]) Cover(from, to int64) {
	switch {
	case len(b.List) == 0:
		b.Low, b.High = from, to
	case from >= b.Low && to <= b.High:
		return
	default:
		b.Low, b.High = min(from, b.Low), max(to, b.High)
	}
	b.fit()
}

// fit makes the list reach the extremes.
func (b *Bins[B, P]) fit() {
	for b.Number(b.High)-b.Number(b.Low) >= b.Most {
		b.Coarsen()
	}
	first := b.Number(b.Low)
	if len(b.List) == 0 {
		b.First = first
	}
	if before := b.First - first; before > 0 {
		b.List = slices.Concat(make([]B, before), b.List)
		b.First = first
	}
	if more := int(b.Number(b.High)+b.Spare-b.First) + 1 - len(b.List); more > 0 {
		b.List = append(b.List, make([]B, more)...)
	}
}

// Coarsen doubles the width.
func (b *Bins[B, P]) Coarsen() {
	first, n := b.First>>1, 0
	var from, empty B
	for i := range b.List {
		number := b.First + int64(i)
		at := int(number>>1 - first)
		from = b.List[i]
		if at == n {
			n++
			b.List[at] = empty
		}
		P(&b.List[at]).Join(&from, number&1*b.Width)
	}
	clear(b.List[n:])
	b.List = b.List[:n]
	b.First, b.Width = first, 2*b.Width
}

// Merge adds what o holds.
func (b *Bins[B, P]) Merge(o *Bins[B, P]) {
	if len(o.List) == 0 {
		return
	}
	o = o.Clone()
	b.Cover(o.Low, o.High)
	for o.Width < b.Width {
		o.Coarsen()
	}
	for b.Width < o.Width {
		b.Coarsen()
	}
	b.fit()
	for i := range o.List {
		// A spare bin of o that b has no room for is empty.
		if at := o.First + int64(i) - b.First; at >= 0 && at < int64(len(b.List)) {
			P(&b.List[at]).Join(&o.List[i], 0)
		}
	}
}

// Clone returns a copy with a list of its own; nil has none.
func (b *Bins[B, P]) Clone() *Bins[B, P] {
	if b == nil {
		return nil
	}
	c := *b
	c.List = slices.Clone(b.List)
	return &c
}
