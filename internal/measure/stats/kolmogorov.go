package stats

import (
	"math"
	"slices"
)

// exactKS is the largest sample for which the probability of a distance is exact.
const exactKS = 10_000

// SameDistribution returns the two-sample, two-sided Kolmogorov-Smirnov test: the largest distance between the
// empirical distributions of a and b, and the probability that two samples of one distribution lie at least
// so far apart. It sorts both, which must not be empty.
func SameDistribution(a, b []float64) (distance, p float64) {
	slices.Sort(a)
	slices.Sort(b)
	n, m := len(a), len(b)
	widest := 0 // in units of 1/(n·m), so that distances compare exactly
	for i, j := 0, 0; i < n && j < m; {
		at := min(a[i], b[j])
		for i < n && a[i] == at {
			i++
		}
		for j < m && b[j] == at {
			j++
		}
		widest = max(widest, ksDistance(i, j, n, m))
	}
	distance = float64(widest) / (float64(n) * float64(m))
	if max(n, m) <= exactKS {
		return distance, ksProbability(widest, n, m)
	}
	return distance, kolmogorovTail(distance * math.Sqrt(math.Round(float64(n)/float64(n+m)*float64(m))))
}

// ksDistance returns the distance between i of n and j of m values, in units of 1/(n·m).
func ksDistance(i, j, n, m int) int {
	d := i*m - j*n
	return max(d, -d)
}

// ksProbability returns the share of the orders of n and m values, all equally likely, in which the distance reaches
// widest somewhere. An order is a lattice path from (0,0) to (n,m); of those to a node inside, i of i+j come
// from the left. As shares of paths that have reached it, no number overflows and none is a difference.
func ksProbability(widest, n, m int) float64 {
	row := make([]float64, m+1)
	for i := range n + 1 {
		for j := range m + 1 {
			switch {
			case ksDistance(i, j, n, m) >= widest:
				row[j] = 1
			case i+j == 0:
				row[j] = 0
			default:
				var before float64
				if j > 0 {
					before = row[j-1]
				}
				row[j] = (float64(i)*row[j] + float64(j)*before) / float64(i+j)
			}
		}
	}
	return row[m]
}

// kolmogorovTail returns the probability that the limiting distribution exceeds x: 2·Σ (−1)^(k−1) e^(−2k²x²).
func kolmogorovTail(x float64) float64 {
	if x < 0.2 { // the series needs many terms where the probability is 1 to twelve digits
		return 1
	}
	sum, sign := 0.0, 1.0
	for k := 1.0; k <= 100; k++ {
		term := math.Exp(-2 * k * k * x * x)
		sum += sign * term
		if term < 1e-17 {
			break
		}
		sign = -sign
	}
	return min(max(2*sum, 0), 1)
}
