package search

import (
	"math"
	"slices"
)

// Monotone is a curve of cubics through points that rises, falls or stays between two points as they do (Fritsch and
// Butland, "A method for constructing local monotone piecewise cubic interpolants", 1984).
type Monotone struct{ xs, ys, slopes []float64 }

// NewMonotone returns the curve through at least two points; false if xs do not rise.
func NewMonotone(xs, ys []float64) (*Monotone, bool) {
	n := len(xs)
	if n < 2 || n != len(ys) {
		return nil, false
	}
	widths, secants := make([]float64, n-1), make([]float64, n-1)
	for i := range widths {
		widths[i] = xs[i+1] - xs[i]
		if !(widths[i] > 0) {
			return nil, false
		}
		secants[i] = (ys[i+1] - ys[i]) / widths[i]
	}
	m := &Monotone{xs, ys, make([]float64, n)}
	if n == 2 {
		m.slopes[0], m.slopes[1] = secants[0], secants[0]
		return m, true
	}
	for i := 1; i < n-1; i++ {
		left, right := secants[i-1], secants[i]
		if left*right > 0 {
			share := (widths[i-1] + 2*widths[i]) / (3 * (widths[i-1] + widths[i]))
			m.slopes[i] = left * right / (share*right + (1-share)*left)
		}
	}
	m.slopes[0] = edge(widths[0], widths[1], secants[0], secants[1])
	m.slopes[n-1] = edge(widths[n-2], widths[n-3], secants[n-2], secants[n-3])
	return m, true
}

// edge returns the slope at an end: that of a parabola through three points, where it keeps the curve monotone.
func edge(width, nextWidth, secant, nextSecant float64) float64 {
	d := ((2*width+nextWidth)*secant - width*nextSecant) / (width + nextWidth)
	switch {
	case d*secant <= 0:
		return 0
	case secant*nextSecant <= 0 && math.Abs(d) > 3*math.Abs(secant):
		return 3 * secant
	}
	return d
}

// At returns the curve at a place; beyond its ends it is constant.
func (m *Monotone) At(x float64) float64 {
	last := len(m.xs) - 1
	switch {
	case x <= m.xs[0]:
		return m.ys[0]
	case x >= m.xs[last]:
		return m.ys[last]
	}
	i, exact := slices.BinarySearch(m.xs, x)
	if exact {
		return m.ys[i]
	}
	i--
	width := m.xs[i+1] - m.xs[i]
	t := (x - m.xs[i]) / width
	s := 1 - t
	return (1+2*t)*s*s*m.ys[i] + t*t*(3-2*t)*m.ys[i+1] + width*t*s*(s*m.slopes[i]-t*m.slopes[i+1])
}
