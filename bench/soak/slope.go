//go:build unix

package main

import (
	"math"

	"aiperf/internal/measure/stats"
)

// slope is how much a quantity grows in an hour, with the half width of its 95 % interval.
type slope struct {
	perHour, half, mean float64
}

// slopeBlocks is the number of blocks whose means are fitted. Samples of one second depend on those before them (a
// garbage collector's rhythm); means of long blocks hardly do, so that the interval is not too narrow.
const slopeBlocks = 20

// fit returns the slope of y over x (seconds) by least squares between two instants. Values that are no numbers are
// left out. Too few of them have no interval.
func fit(x, y []float64, from, to float64) slope {
	width := (to - from) / slopeBlocks
	var blockX, blockY, count [slopeBlocks]float64
	for i, at := range x {
		if at < from || at >= to || math.IsNaN(y[i]) {
			continue
		}
		b := min(int((at-from)/width), slopeBlocks-1)
		blockX[b] += at
		blockY[b] += y[i]
		count[b]++
	}
	var xs, ys []float64
	for b := range slopeBlocks {
		if count[b] > 0 {
			xs, ys = append(xs, blockX[b]/count[b]), append(ys, blockY[b]/count[b])
		}
	}
	n := float64(len(xs))
	meanX, meanY := mean(xs), mean(ys)
	var sxx, sxy float64
	for i := range xs {
		sxx += (xs[i] - meanX) * (xs[i] - meanX)
		sxy += (xs[i] - meanX) * (ys[i] - meanY)
	}
	b := sxy / sxx
	var rest float64
	for i := range xs {
		d := ys[i] - meanY - b*(xs[i]-meanX)
		rest += d * d
	}
	const hour = 3600
	return slope{perHour: hour * b, half: hour * stats.StudentT(0.95, n-2) * math.Sqrt(rest/(n-2)/sxx), mean: meanY}
}

func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
