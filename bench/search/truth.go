package main

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Truth is the answer of a server.
type Truth struct {
	// Load is the largest load at which all filters hold in the long run; 0: not even the smallest one, +Inf: every one.
	Load float64
	// Late is the same half an hour after the start, where the server drifts; otherwise it equals Load.
	Late float64
	// Other is a second boundary where the server is not monotonic: the one above which loads hold again, up to Load.
	Other float64
	// Client is the load above which nothing can be known of the server; 0: there is none.
	Client float64
}

//go:embed truth.csv
var truths string

// Truths returns the answers of all servers by name, as [Server.Truth] computed them.
func Truths() (map[string]Truth, error) {
	rows, err := csv.NewReader(strings.NewReader(truths)).ReadAll()
	if err != nil {
		return nil, err
	}
	all := map[string]Truth{}
	for _, row := range rows[1:] {
		var t Truth
		for i, to := range []*float64{&t.Load, &t.Late, &t.Other, &t.Client} {
			if *to, err = strconv.ParseFloat(row[i+1], 64); err != nil {
				return nil, fmt.Errorf("truth.csv: %s: %w", row[0], err)
			}
		}
		all[row[0]] = t
	}
	return all, nil
}

// Truth computes the answer with probes of so many requests.
func (s *Server) Truth(requests int) Truth {
	steady := *s
	steady.Drift, steady.Client = 0, 0
	t := Truth{Client: float64(s.Client)}
	if s.Bump > 0 {
		t.Other = steady.boundary(s.Lo, float64(s.Bump+s.BumpEnd)/2, requests)
		t.Load = steady.boundary(float64(s.BumpEnd)*1.1, s.Hi, requests)
	} else {
		t.Load = steady.boundary(s.Lo, s.Hi, requests)
	}
	t.Late = t.Load
	if s.Drift > 0 {
		for _, part := range []*float64{&steady.Step, &steady.Each, &steady.Beyond, &steady.Prefill} {
			*part /= 1 - s.Drift
		}
		t.Late = steady.boundary(s.Lo, s.Hi, requests)
	}
	return t
}

// boundary returns the largest load of a range at which all filters hold.
func (s *Server) boundary(lo, hi float64, requests int) float64 {
	if !s.holds(lo, requests/10) {
		return 0
	}
	if s.holds(hi, requests/10) {
		return math.Inf(1)
	}
	for hi > lo*1.002 && (s.Rate || hi > lo+1) {
		x := math.Sqrt(lo * hi)
		if !s.Rate {
			x = min(max(math.Round(x), lo+1), hi-1)
		}
		if s.holds(x, requests) {
			lo = x
		} else {
			hi = x
		}
	}
	return lo
}

func (s *Server) holds(load float64, requests int) bool {
	f := s.Session(1).Measure(Probe{Load: load, Warmup: 120, Seconds: math.Inf(1), Requests: requests, Fresh: true}, nil)
	ok := true
	for _, filter := range s.Filters {
		v, has := f.Figure(filter.Metric, filter.Stat)
		ok = ok && has && filter.Passes(v)
	}
	return ok
}

// At returns the largest load after some seconds of the session.
func (t Truth) At(seconds float64) float64 {
	if math.IsInf(t.Load, 1) {
		return t.Load
	}
	return t.Load + (t.Late-t.Load)*min(seconds/1800, 1)
}
