package timeline

import (
	"math"

	"aiperf/internal/measure/metrics"
)

// Distribution is how a metric is distributed over the requests, in its display unit.
type Distribution struct {
	Tag, Title, Unit string
	Count            int64
	Linear           Histogram
	// Log has columns of equal width on a logarithmic axis; nil where that shows nothing more.
	Log *Histogram
}

// Histogram counts the values between neighbouring edges.
type Histogram struct {
	Edges  []float64
	Counts []int64
	// Below is the share of all values below each edge, in percent.
	Below []float64
	// Beyond is how many values are larger than the last edge: a linear axis ends before a long tail.
	Beyond int64
}

const (
	leastColumns = 8
	// MostColumns bounds the columns of a histogram, but for one that is begun.
	MostColumns = 60
	// A tail is left out of the linear axis when the largest value is more than so many times the 99th percentile.
	tail = 3
)

// Distributions returns those of the metrics that any request had.
func (r *Recorder) Distributions() []Distribution {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Distribution
	for i := range r.whole {
		if r.whole[i].n > 0 {
			out = append(out, r.whole[i].distribution(definitions[i]))
		}
	}
	return out
}

func (s *Sketch) distribution(def *metrics.Definition) Distribution {
	scale := toDisplay(def)
	whole := def.Unit == def.Display // counts
	d := Distribution{Tag: def.Tag, Title: def.Header, Unit: string(def.Display), Count: s.n}
	d.Linear = s.histogram(s.linearEdges(whole), scale)
	if s.min > 0 && float64(s.max) > 1.5*float64(s.min) {
		log := s.histogram(s.logEdges(whole), scale)
		d.Log = &log
	}
	return d
}

// linearEdges returns edges with the distance that Freedman and Diaconis give.
func (s *Sketch) linearEdges(whole bool) []float64 {
	low, high := float64(s.min), float64(s.max)
	if p99 := s.Quantile(0.99, WholePrecision); high > tail*p99 && s.n >= 100 {
		high = tail / 2.0 * p99
	}
	spread := s.Quantile(0.75, WholePrecision) - s.Quantile(0.25, WholePrecision)
	width := 2 * spread / math.Cbrt(float64(s.n))
	columns := float64(MostColumns)
	if width > 0 {
		columns = min(max(math.Ceil((high-low)/width), leastColumns), MostColumns)
	}
	if whole {
		width = max(1, math.Ceil((high-low+1)/columns))
		low -= 0.5
		columns = math.Ceil((high + 0.5 - low) / width)
	} else if high > low {
		width = (high - low) / columns
	} else {
		width, columns = max(1, high/100), 1
		low -= width / 2
	}
	edges := make([]float64, int(columns)+1)
	for i := range edges {
		edges[i] = low + float64(i)*width
	}
	if !whole && columns > 1 {
		edges[len(edges)-1] = high
	}
	return edges
}

// logEdges returns the edges of columns of equal ratio from the smallest to the largest value: 2·∛n of them, within
// limits (Rice's rule). Edges of whole numbers lie half way between two of them.
func (s *Sketch) logEdges(whole bool) []float64 {
	low, high := float64(s.min), float64(s.max)
	if whole {
		low, high = low-0.5, high+0.5
	}
	ratio := math.Log(high / low)
	columns := min(max(int(math.Ceil(math.Cbrt(float64(s.n))*2)), leastColumns), MostColumns)
	edges := make([]float64, 0, columns+1)
	for i := range columns + 1 {
		e := low * math.Exp(ratio*float64(i)/float64(columns))
		if whole { // a whole number belongs to one column, and none lies between two edges without one
			e = math.Ceil(e-0.5) + 0.5
			if n := len(edges); n > 0 && e <= edges[n-1] {
				continue
			}
		}
		edges = append(edges, e)
	}
	if !whole {
		edges[columns] = high
	}
	return edges
}

// histogram counts by edges in the unit of the sketch and returns them in display units. A value on an edge belongs
// to the column after it, one on the last edge to the last column.
func (s *Sketch) histogram(edges []float64, scale float64) Histogram {
	columns := len(edges) - 1
	h := Histogram{Edges: make([]float64, columns+1), Counts: make([]int64, columns), Below: make([]float64, columns+1)}
	at := 0
	for class, n := range s.classes.All() {
		low, width := ClassRange(class, WholePrecision)
		v := min(max(float64(low)+float64(width-1)/2, float64(s.min)), float64(s.max))
		for at < columns-1 && v >= edges[at+1] {
			at++
		}
		if v > edges[columns] {
			h.Beyond += n
		} else {
			h.Counts[at] += n
		}
	}
	var below int64
	for i, e := range edges {
		h.Edges[i] = e * scale
		h.Below[i] = 100 * float64(below) / float64(s.n)
		if i < columns {
			below += h.Counts[i]
		}
	}
	return h
}
