package chart

import (
	"math"
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
)

// scale places values on an axis.
type scale struct {
	log    bool
	lo, hi float64
	// from and to are the points of lo and hi.
	from, to float64
	ticks    []tick
}

// tick is a mark of an axis; one without a label is a minor one.
type tick struct {
	value float64
	label string
}

// at returns the point of a value, which may be far outside, and NaN for a value without a place.
func (s *scale) at(v float64) float64 {
	lo, hi := s.lo, s.hi
	if s.log {
		if !(v > 0) {
			return math.NaN()
		}
		v, lo, hi = math.Log10(v), math.Log10(lo), math.Log10(hi)
	}
	if !artifact.Finite(v) {
		return math.NaN()
	}
	part := (v/2 - lo/2) / (hi/2 - lo/2) // halves: a span may be larger than the largest number
	return s.from + min(max(part, -1000), 1000)*(s.to-s.from)
}

// base is the point that areas and bars stand on.
func (s *scale) base() float64 {
	if s.log || s.lo > 0 {
		return s.from
	}
	return s.at(min(0, s.hi))
}

// extent is the range of values of an axis.
type extent struct {
	lo, hi   float64
	positive bool // all of them
	any      bool
}

func newExtent() extent { return extent{lo: math.Inf(1), hi: math.Inf(-1), positive: true} }

func (e *extent) add(values ...float64) {
	for _, v := range values {
		if !artifact.Finite(v) {
			continue
		}
		e.any = true
		e.lo, e.hi = min(e.lo, v), max(e.hi, v)
		e.positive = e.positive && v > 0
	}
}

// room says how far an axis goes beyond its values.
type room struct {
	pad float64 // part of the span at each end
	// round ends the axis at ticks.
	round bool
}

// newScale makes the scale of an axis of so many points, with about so many ticks. denied reports that a logarithm was
// asked for that some values do not have.
func newScale(a *Axis, e extent, r room, about int) (s *scale, denied bool) {
	s = &scale{log: a.Log && len(a.Categories) == 0}
	s.lo, s.hi = e.lo, e.hi
	if len(a.Categories) > 0 {
		s.lo, s.hi = -0.5, float64(len(a.Categories))-0.5
		return s, false
	}
	if a.Zero && !s.log {
		e.add(0)
		s.lo, s.hi = e.lo, e.hi
	}
	if !e.any {
		s.lo, s.hi = 0, 1
		if s.log {
			s.lo, s.hi = 1, 10
		}
		r = room{}
	}
	least, most := s.lo, s.hi
	fixedLo, fixedHi := a.Min != nil && artifact.Finite(*a.Min), a.Max != nil && artifact.Finite(*a.Max)
	if fixedLo {
		s.lo = *a.Min
	}
	if fixedHi {
		s.hi = *a.Max
	}
	if s.log && (s.lo <= 0 || !e.positive) {
		s.log, denied = false, true
	}
	const largest = 1e300 // leaves room for what is computed below
	s.lo, s.hi = min(max(s.lo, -largest), largest), min(max(s.hi, -largest), largest)
	if s.lo > s.hi {
		if fixedLo && fixedHi {
			s.lo, s.hi = s.hi, s.lo
		} else if fixedLo {
			s.hi = s.lo
		} else {
			s.lo = s.hi
		}
	}
	if s.log {
		s.logarithmic(r, fixedLo, fixedHi, about)
		return s, denied
	}
	s.widen()
	pad := (s.hi - s.lo) * r.pad
	if !fixedLo && !(a.Zero && least >= 0) {
		if padded := s.lo - pad; least >= 0 && padded < 0 {
			s.lo = 0
		} else {
			s.lo = padded
		}
	}
	if !fixedHi && !(a.Zero && most <= 0) {
		if padded := s.hi + pad; most <= 0 && padded > 0 {
			s.hi = 0
		} else {
			s.hi = padded
		}
	}
	step := NiceStep((s.hi - s.lo) / float64(about))
	if r.round {
		if !fixedLo {
			s.lo = math.Floor(s.lo/step+1e-9) * step
		}
		if !fixedHi {
			s.hi = math.Ceil(s.hi/step-1e-9) * step
		}
	}
	s.linear(step)
	return s, denied
}

// widen gives a scale of one value a span.
func (s *scale) widen() {
	span := s.hi - s.lo
	if size := max(math.Abs(s.lo), math.Abs(s.hi)); span <= size*1e-12 || span < 1e-300 {
		if size < 1e-290 {
			s.lo, s.hi = 0, 1
			return
		}
		s.lo, s.hi = s.lo-size*0.1, s.hi+size*0.1
	}
}

// NiceStep returns the smallest of 1, 2, 2.5, 5 times a power of ten that is no less than raw.
func NiceStep(raw float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range [...]float64{1, 2, 2.5, 5} {
		if m*power >= raw*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// linear sets the ticks at the multiples of a step.
func (s *scale) linear(step float64) {
	first, last := math.Ceil(s.lo/step-1e-9), math.Floor(s.hi/step+1e-9)
	if !(last-first <= 100) || math.Abs(first) > 1e15 || math.Abs(last) > 1e15 { // rounding errors larger than a step
		s.ticks = []tick{{s.lo, alone(s.lo)}, {s.hi, alone(s.hi)}}
		return
	}
	for i := first; i <= last; i++ {
		s.ticks = append(s.ticks, tick{value: i * step})
	}
	format := formatOf(max(math.Abs(s.lo), math.Abs(s.hi)), step)
	for i := range s.ticks {
		s.ticks[i].label = format(s.ticks[i].value)
	}
}

// logarithmic sets ends and ticks: powers of ten, with 2 and 5 or more between them where there is room.
func (s *scale) logarithmic(r room, fixedLo, fixedHi bool, about int) {
	if s.hi/s.lo < 1+1e-9 {
		s.lo, s.hi = s.lo/2, s.hi*2
	}
	decades := math.Log10(s.hi) - math.Log10(s.lo)
	grow := math.Pow(10, decades*r.pad)
	if !fixedLo {
		s.lo = max(s.lo/grow, 1e-307)
	}
	if !fixedHi {
		s.hi *= grow
	}
	decades = math.Log10(s.hi) - math.Log10(s.lo)
	if decades < 0.9 { // too short for powers of ten: round values, unevenly spaced
		s.linear(NiceStep((s.hi - s.lo) / float64(about)))
		return
	}
	labelled := []float64{1}
	switch {
	case decades*3 <= float64(about)+2:
		labelled = []float64{1, 2, 5}
	case decades*2 <= float64(about)+1:
		labelled = []float64{1, 3}
	}
	every := 1 // decades
	for decades/float64(every) > float64(about)+1 {
		every++
	}
	for e := int(math.Floor(math.Log10(s.lo))); e <= int(math.Ceil(math.Log10(s.hi))); e++ {
		for m := 1.0; m < 10; m++ {
			v, err := strconv.ParseFloat(strconv.Itoa(int(m))+"e"+strconv.Itoa(e), 64)
			if err != nil || v < s.lo*(1-1e-9) || v > s.hi*(1+1e-9) {
				continue
			}
			t := tick{value: v}
			for _, l := range labelled {
				if l == m && e%every == 0 {
					t.label = alone(v)
				}
			}
			if t.label != "" || every == 1 {
				s.ticks = append(s.ticks, t)
			}
		}
	}
}

// units are the suffixes of large numbers.
var units = [...]struct {
	size   float64
	suffix string
}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}

// formatOf returns how the ticks of an axis are written: all alike, from its largest value and the step between them.
func formatOf(largest, step float64) func(float64) string {
	if largest >= 1e15 || largest < 1e-3 && largest > 0 {
		return func(v float64) string { return exponent(v, step) }
	}
	if largest >= 1e4 {
		for _, u := range units {
			if d := decimals(step / u.size); largest >= u.size && d <= 2 {
				return func(v float64) string {
					if v == 0 {
						return "0"
					}
					return grouped(v/u.size, d) + u.suffix
				}
			}
		}
	}
	d := decimals(step)
	return func(v float64) string { return grouped(v, d) }
}

// decimals is how many a multiple of step needs.
func decimals(step float64) int {
	for d := 0; d < 12; d++ {
		scaled := step * math.Pow10(d)
		if math.Abs(scaled-math.Round(scaled)) < 1e-6*scaled {
			return d
		}
	}
	return 12
}

// grouped writes a number with separators of thousands.
func grouped(v float64, decimals int) string {
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	whole, rest, found := strings.Cut(text, ".")
	if strings.Trim(text, "-0.") == "" {
		whole = strings.TrimPrefix(whole, "-")
	}
	if whole = artifact.GroupThousands(whole); found {
		return whole + "." + rest
	}
	return whole
}

// exponent writes a multiple of step as a power of ten.
func exponent(v, step float64) string {
	if math.Abs(v) < step/2 {
		return "0"
	}
	digits := int(math.Floor(math.Log10(math.Abs(v)))-math.Floor(math.Log10(step))) + 1
	mantissa, power, _ := strings.Cut(strconv.FormatFloat(v, 'e', min(max(digits, 0), 12), 64), "e")
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimSuffix(strings.TrimRight(mantissa, "0"), ".")
	}
	n, _ := strconv.Atoi(power)
	return mantissa + "e" + strconv.Itoa(n)
}

// alone writes one value by itself.
func alone(v float64) string {
	a := math.Abs(v)
	switch {
	case a >= 1e15 || a < 1e-3 && a > 0:
		return exponent(v, a/1000)
	case a >= 1e4:
		for _, u := range units {
			if a >= u.size {
				return artifact.Trimmed(v/u.size, 3) + u.suffix
			}
		}
	case a >= 1000:
		return artifact.GroupThousands(artifact.Trimmed(v, 0))
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
