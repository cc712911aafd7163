package search

import "math"

// At returns the value of the dimension at a coordinate of the unit interval, which is clamped. Whole numbers are
// rounded half to even; no value is outside of the range.
func (d Dimension) At(u float64) float64 {
	u = max(0, min(1, u))
	x := d.Lo + float64(u*(d.Hi-d.Lo))
	if d.LogUniform {
		x = math.Exp(math.Log(d.Lo) + float64(u*math.Log(d.Hi/d.Lo)))
	}
	if d.Int {
		return max(math.Ceil(d.Lo), min(math.Floor(d.Hi), math.RoundToEven(x)))
	}
	return max(d.Lo, min(d.Hi, x))
}

// Unit returns the coordinate in the unit interval of a value of the dimension.
func (d Dimension) Unit(v float64) float64 {
	switch {
	case d.Hi == d.Lo:
		return 0
	case d.LogUniform:
		return math.Log(v/d.Lo) / math.Log(d.Hi/d.Lo)
	}
	return (v - d.Lo) / (d.Hi - d.Lo)
}
