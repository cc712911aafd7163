package boundary

// pool is a run of neighbours that share their mean.
type pool struct {
	sum   float64
	count int
}

func (p pool) mean() float64 { return p.sum / float64(p.count) }

// isotonic returns the non-decreasing values that are nearest to y in least squares, in linear time: neighbours that
// violate the order are pooled until none does (pool adjacent violators; Ayer et al., 1955).
func isotonic(y []float64) []float64 {
	var pools []pool
	for _, v := range y {
		pools = append(pools, pool{v, 1})
		for n := len(pools) - 1; n > 0 && pools[n-1].mean() > pools[n].mean(); n-- {
			pools[n-1].sum += pools[n].sum
			pools[n-1].count += pools[n].count
			pools = pools[:n]
		}
	}
	out := make([]float64, 0, len(y))
	for _, p := range pools {
		for range p.count {
			out = append(out, p.mean())
		}
	}
	return out
}
