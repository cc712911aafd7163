package random

import (
	"math/bits"
)

// MaxDimensions is the largest number of coordinates of [Sobol].
const MaxDimensions = 64

// sobolBits is the number of binary digits of a coordinate of [Sobol]; it bounds the number of points.
const sobolBits = 30

// Sobol returns the first n points of a Sobol sequence with the direction numbers of Joe and Kuo (2008), in 1 to
// MaxDimensions dimensions. Scrambling (a random linear matrix and a digital shift, Matoušek 1998) takes the seed;
// without it the first point is the origin. Any 2^k points from the start are balanced.
func Sobol(dimensions, n int, scramble bool, seed uint64) [][]float64 {
	v := make([][sobolBits]uint32, dimensions)
	for d := range v {
		v[d] = directions(d)
	}
	at := make([]uint32, dimensions)
	if scramble {
		scrambleDirections(v, at, newGenerator(seed))
	}
	points := make([][]float64, n)
	for i := range points {
		if i > 0 {
			for d := range at {
				at[d] ^= v[d][bits.TrailingZeros32(^uint32(i-1))]
			}
		}
		points[i] = make([]float64, dimensions)
		for d, x := range at {
			points[i][d] = float64(x) / (1 << sobolBits)
		}
	}
	return points
}

// directions are the direction numbers of a dimension, as digits from the top.
func directions(d int) (v [sobolBits]uint32) {
	row := joeKuo[d]
	degree := bits.Len(uint(row.polynomial)) - 1
	if d == 0 {
		for j := range v {
			v[j] = 1
		}
	} else {
		for j := range v {
			if j < degree {
				v[j] = row.initial[j]
				continue
			}
			v[j] = v[j-degree]
			for k := range degree {
				if row.polynomial>>(degree-1-k)&1 == 1 {
					v[j] ^= v[j-k-1] << (k + 1)
				}
			}
		}
	}
	for j := range v {
		v[j] <<= sobolBits - 1 - j
	}
	return v
}

// scrambleDirections multiplies the direction numbers by random lower triangular matrices, and fills shift.
func scrambleDirections(v [][sobolBits]uint32, shift []uint32, g *generator) {
	for d := range shift {
		for j := range sobolBits {
			shift[d] |= uint32(g.below(2)) << j
		}
	}
	for d := range v {
		var rows [sobolBits]uint32
		for p := range rows {
			for k := range sobolBits {
				bit := uint32(g.below(2))
				if k < p || k == p {
					if k == p {
						bit = 1
					}
					rows[p] |= bit << (sobolBits - 1 - k)
				}
			}
		}
		for j, old := range v[d] {
			v[d][j] = 0
			for p, row := range rows {
				v[d][j] |= uint32(bits.OnesCount32(row&old)&1) << (sobolBits - 1 - p)
			}
		}
	}
}
