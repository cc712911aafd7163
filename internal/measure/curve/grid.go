package curve

// Grid is the time axis of all charts: bins of equal length, counted in seconds from the start of profiling.
type Grid struct {
	OriginNS int64
	// First is the number of the first bin: negative where the warm-up is shown.
	First, Count int
	WidthNS      int64
	// EndNS is the end of the run, from the origin: the last bin may be longer.
	EndNS int64
}

// Covered is how much of a bin, by its place in the grid, the run lasted: a quarter of it at least, lest the rate of
// a moment stands for that of a bin.
func (g Grid) Covered(i int) int64 {
	end := g.EndNS - int64(g.First+i)*g.WidthNS
	return min(max(end, g.WidthNS/4), g.WidthNS)
}

// Seconds are the middles of the bins.
func (g Grid) Seconds() []float64 {
	out := make([]float64, g.Count)
	for i := range out {
		out[i] = (float64(g.First+i) + 0.5) * float64(g.WidthNS) / 1e9
	}
	return out
}

// From and To are the ends of the axis in seconds.
func (g Grid) From() float64 { return float64(g.First) * float64(g.WidthNS) / 1e9 }

// To is the end of the axis.
func (g Grid) To() float64 { return float64(g.First+g.Count) * float64(g.WidthNS) / 1e9 }
