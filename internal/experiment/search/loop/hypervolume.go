package loop

import "slices"

// hypervolume returns the volume between a reference point and points, all coordinates to be made large: that of the
// union of the boxes from the reference to each point. It slices along the last coordinate.
func hypervolume(points [][]float64, reference []float64) float64 {
	last := len(reference) - 1
	var above [][]float64
	for _, p := range points {
		inside := true
		for k := range reference {
			inside = inside && p[k] > reference[k]
		}
		if inside {
			above = append(above, p)
		}
	}
	if len(above) == 0 {
		return 0
	}
	slices.SortFunc(above, func(a, b []float64) int {
		switch {
		case a[last] > b[last]:
			return -1
		case a[last] < b[last]:
			return 1
		}
		return 0
	})
	if last == 0 {
		return above[0][0] - reference[0]
	}
	volume := 0.0
	var slice [][]float64
	for i, p := range above {
		slice = append(slice, p[:last])
		bottom := reference[last]
		if i+1 < len(above) {
			bottom = above[i+1][last]
		}
		if thickness := p[last] - bottom; thickness > 0 {
			volume += thickness * hypervolume(slices.Clone(slice), reference[:last])
		}
	}
	return volume
}
