package search

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Lower is a lower triangle: a triangular matrix, or the part of a symmetric one that says it all.
type Lower struct {
	n      int
	values []float64
}

// NewLower returns a triangle of n rows of zeros.
func NewLower(n int) Lower { return Lower{n, make([]float64, n*(n+1)/2)} }

// Size is the number of rows.
func (l Lower) Size() int { return l.n }

// Row is row i up to the diagonal; it may be written to.
func (l Lower) Row(i int) []float64 {
	from := i * (i + 1) / 2
	return l.values[from : from+i+1 : from+i+1]
}

// worstCondition is the condition number from which a matrix counts as singular.
const worstCondition = 1e16

// Cholesky returns the factor L of a symmetric matrix L·Lᵀ; false if the matrix is not positive definite or too close
// to one that is not.
func Cholesky(matrix Lower) (Lower, bool) {
	l := NewLower(matrix.n)
	least, most := math.Inf(1), 0.0
	for i := range l.n {
		from, row := matrix.Row(i), l.Row(i)
		for j := range i {
			other := l.Row(j)
			row[j] = (from[j] - floats.Dot(row[:j], other[:j])) / other[j]
		}
		pivot := from[i] - floats.Dot(row[:i], row[:i])
		if !(pivot > 0) || math.IsInf(pivot, 1) {
			return Lower{}, false
		}
		row[i] = math.Sqrt(pivot)
		least, most = min(least, pivot), max(most, pivot)
	}
	return l, l.n == 0 || most < worstCondition*least
}

// Whiten solves L·y = x and replaces x.
func (l Lower) Whiten(x []float64) {
	for i := range l.n {
		row := l.Row(i)
		x[i] = (x[i] - floats.Dot(row[:i], x[:i])) / row[i]
	}
}

// Solve solves L·Lᵀ·y = x and replaces x.
func (l Lower) Solve(x []float64) {
	l.Whiten(x)
	for i := l.n - 1; i >= 0; i-- {
		row := l.Row(i)
		x[i] /= row[i]
		floats.AddScaled(x[:i], -x[i], row[:i])
	}
}

// LogDet returns the logarithm of the determinant of L·Lᵀ.
func (l Lower) LogDet() float64 {
	sum := 0.0
	for i := range l.n {
		sum += math.Log(l.Row(i)[i])
	}
	return 2 * sum
}

// Inverse returns the inverse of the symmetric matrix L·Lᵀ.
func (l Lower) Inverse() Lower {
	root, inverse := NewLower(l.n), NewLower(l.n) // root is the inverse of L
	for i := range l.n {
		row, own := l.Row(i), root.Row(i)
		for k := range i {
			floats.AddScaled(own[:k+1], -row[k], root.Row(k))
		}
		own[i] = 1
		floats.Scale(1/row[i], own)
		for j := range i + 1 {
			floats.AddScaled(inverse.Row(j), own[j], own[:j+1])
		}
	}
	return inverse
}
