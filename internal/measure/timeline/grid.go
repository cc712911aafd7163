package timeline

import (
	"math"
	"time"
)

// Points of a chart: enough to see, few enough for a small file and for several requests in each; of a run of more than
// leastPoints seconds none is shorter than a second, where lines become noise.
const (
	leastPoints = 60
	// MostPoints bounds those of [Recorder.Grid], but for one that is begun.
	MostPoints       = 400
	requestsPerPoint = 8
)

// Grid is the time axis of all charts: bins of equal length, counted in seconds from the start of profiling.
type Grid struct {
	OriginNS int64
	// First is the number of the first bin: negative where the warm-up is shown.
	First, Count int
	WidthNS      int64
	// EndNS is the end of the run, from the origin: the last bin may be longer.
	EndNS int64
}

// Covered returns how much of a bin, by its place in the grid, the run lasted, in ns: a quarter of it at least, so that
// the rate of a moment does not stand for that of a bin.
func (g Grid) Covered(i int) int64 {
	end := g.EndNS - int64(g.First+i)*g.WidthNS
	return min(max(end, g.WidthNS/4), g.WidthNS)
}

// Seconds returns the middles of the bins.
func (g Grid) Seconds() []float64 {
	out := make([]float64, g.Count)
	for i := range out {
		out[i] = (float64(g.First+i) + 0.5) * float64(g.WidthNS) / 1e9
	}
	return out
}

// From returns the start of the axis in seconds.
func (g Grid) From() float64 { return float64(g.First) * float64(g.WidthNS) / 1e9 }

// To returns the end of the axis.
func (g Grid) To() float64 { return float64(g.First+g.Count) * float64(g.WidthNS) / 1e9 }

// Window is a number of bins, always odd, over which [Window.Mean] averages.
type Window struct {
	Bins    int
	Seconds float64
}

// Window returns a window of at least so much time, but of at most a tenth of the axis.
func (g Grid) Window(least time.Duration) Window {
	bins := min(int(math.Ceil(float64(least)/float64(g.WidthNS))), g.Count/10)
	bins = max(bins/2*2+1, 1)
	return Window{bins, float64(bins) * float64(g.WidthNS) / 1e9}
}

// Mean returns the running means of values of bins: each is that of the window around it, as far as it has values.
func (w Window) Mean(values []float64) []float64 {
	out := make([]float64, len(values))
	for i := range values {
		sum, n := 0.0, 0
		for _, v := range values[max(0, i-w.Bins/2):min(len(values), i+w.Bins/2+1)] {
			if !math.IsNaN(v) {
				sum, n = sum+v, n+1
			}
		}
		out[i] = math.NaN()
		if !math.IsNaN(values[i]) {
			out[i] = sum / float64(n)
		}
	}
	return out
}

// Grid returns an axis from one instant to another, wall ns.
func (r *Recorder) Grid(fromNS, toNS int64) Grid {
	r.mu.Lock()
	defer r.mu.Unlock()
	from, to := fromNS-r.originNS, max(toNS, fromNS+1)-r.originNS
	var requests int64
	for i := range r.bins.List {
		requests += r.bins.List[i].sent
	}
	points := min(max(requests/requestsPerPoint, leastPoints), max(leastPoints, (to-from)/int64(time.Second)), MostPoints)
	g := Grid{OriginNS: r.originNS, WidthNS: r.bins.Width, EndNS: to}
	for (to-from)/g.WidthNS > points {
		g.WidthNS *= 2
	}
	g.First = int(math.Floor(float64(from) / float64(g.WidthNS)))
	g.Count = int(math.Ceil(float64(to)/float64(g.WidthNS))) - g.First
	return g
}

// Points is what requests did in the bins of a grid. Bins without a value are NaN.
type Points struct {
	Sent, Done, Failed []float64 // per second
	Input, Output      []float64 // tokens per second
	InFlight           []float64 // average
	Bands              [bandCount]Band
}

// Band is a latency in ms over time: values of the requests that were sent in a bin.
type Band struct {
	P50, P90, P99, Max []float64
	// Any reports that there is a value at all.
	Any bool
}

// Points maps what was recorded to a grid; requests outside of it are left out.
func (r *Recorder) Points(g Grid) Points {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.bins.Clone()
	for b.Width < g.WidthNS {
		b.Coarsen()
	}
	var p Points
	level := int64(0)
	add := func(list *[]float64, v float64) { *list = append(*list, v) }
	for i := min(g.First, 0); i < g.First+g.Count; i++ {
		var at bin
		if i >= 0 && i < len(b.List) {
			at = b.List[i]
		}
		level += at.step
		if i < g.First {
			continue
		}
		length := float64(g.Covered(i - g.First))
		rate := func(list *[]float64, n int64) {
			v := float64(n) * float64(time.Second) / length
			if i < 0 {
				v = math.NaN()
			}
			add(list, v)
		}
		rate(&p.Sent, at.sent)
		rate(&p.Done, at.done)
		rate(&p.Failed, at.failed)
		rate(&p.Input, at.input)
		rate(&p.Output, at.output)
		inFlight := (float64(level)*float64(b.Width) + float64(at.own)) / length
		if i < 0 {
			inFlight = math.NaN()
		}
		add(&p.InFlight, inFlight)
		for k := range at.bands {
			s, band := &at.bands[k], &p.Bands[k]
			add(&band.P50, s.Quantile(0.5, BandPrecision)/1e6)
			add(&band.P90, s.Quantile(0.9, BandPrecision)/1e6)
			add(&band.P99, s.Quantile(0.99, BandPrecision)/1e6)
			most := math.NaN()
			if s.n > 0 {
				most, band.Any = float64(s.max)/1e6, true
			}
			add(&band.Max, most)
		}
	}
	return p
}
