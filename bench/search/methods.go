package main

import (
	"math"
)

func methods() []method {
	return []method{
		{"grid", grid},
		{"bisection", bisection},
		{"monotonic", documented(20, monotonic)},
		{"isotonic", documented(30, isotonic)},
		{"bayesian", documented(30, gaussian)},
		{"tpe", documented(30, parzen)},
		{"capacity-whole", capacity(.1, 15, 60, nil)},
		{"capacity", capacity(.1, 15, 60, decided(4, .15, .4, 20))},
	}
}

// fixed is a probe of constant length, as a script around a load generator makes it.
func fixed(load float64) Probe {
	return Probe{Load: load, Warmup: 15, Seconds: 60, Fresh: true}
}

// holds runs a probe and decides by its figures.
func holds(s *Session, p Probe, o *outcome) bool {
	f := s.Measure(p, nil)
	o.probes++
	o.seconds += f.Seconds
	return s.Judge(f, p.Load).Feasible
}

// bisection doubles the load until a probe fails, then halves the bracket down to 5 %.
func bisection(s *Session) outcome {
	o := outcome{low: math.NaN(), high: math.NaN()}
	var pass, fail float64
	for x := s.Lo; ; x = min(2*x, s.Hi) {
		if !holds(s, fixed(x), &o) {
			fail = x
			break
		}
		if pass = x; x == s.Hi {
			o.load = math.Inf(1)
			return o
		}
	}
	if pass == 0 {
		return o
	}
	for fail > 1.05*pass && (s.Rate || fail > pass+1) {
		x := (pass + fail) / 2
		if !s.Rate {
			x = math.Floor(x)
		}
		if holds(s, fixed(x), &o) {
			pass = x
		} else {
			fail = x
		}
	}
	o.load = pass
	return o
}

// grid probes eight loads, evenly spread on a logarithmic scale, and takes the largest below the first failure.
func grid(s *Session) outcome {
	o := outcome{low: math.NaN(), high: math.NaN(), load: math.Inf(1)}
	pass := 0.0
	for i := range 8 {
		x := s.Lo * math.Pow(s.Hi/s.Lo, float64(i)/7)
		if !s.Rate {
			x = math.Round(x)
		}
		if holds(s, fixed(x), &o) {
			if math.IsInf(o.load, 1) {
				pass = x
			}
		} else if math.IsInf(o.load, 1) {
			o.load = pass
		}
	}
	return o
}
