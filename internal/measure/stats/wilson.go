package stats

import "math"

// Wilson returns the score interval of a share of n trials (E. B. Wilson 1927), within 0 and 1.
func Wilson(share, n, confidence float64) Range {
	z := math.Sqrt2 * math.Erfinv(confidence)
	centre := (share + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(share*(1-share)/n+z*z/(4*n*n))
	return Range{Low: max(0, centre-half), High: min(1, centre+half)}
}
