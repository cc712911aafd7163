package main

import (
	"math"
	"slices"

	"aiperf/internal/experiment/search"
	"aiperf/internal/measure/stats"
)

// The metrics of a probe.
const (
	TTFT   = "time_to_first_token"
	ITL    = "inter_token_latency"
	E2E    = "request_latency"
	Errors = "request_error_rate"
	// Throughput is in requests/s, Tokens in output tokens/s.
	Throughput = "request_throughput"
	Tokens     = "output_token_throughput"
)

// Figures are what a probe amounts to.
type Figures struct {
	// Records are the requests that count, in the order in which they ended.
	Records []Record
	// Seconds is the time that the probe took, ClientLimited reports that the client was its limit.
	Seconds       float64
	ClientLimited bool
	sorted        map[string][]float64
}

// Measure runs a probe to its end, or until certain returns true for the records so far; nil: to its end.
func (s *Session) Measure(p Probe, certain func(*Figures) bool) *Figures {
	f := &Figures{sorted: map[string][]float64{}}
	f.Seconds = s.Probe(p, func(r Record) bool {
		f.Records = append(f.Records, r)
		if certain == nil {
			return true
		}
		clear(f.sorted)
		return !certain(f)
	})
	f.ClientLimited = s.Client > 0 && p.Load > float64(s.Client)
	return f
}

// value returns the value of a metric of one record.
func value(r Record, metric string) float64 {
	switch metric {
	case TTFT:
		return r.TTFT
	case ITL:
		return r.ITL
	}
	return r.E2E
}

// rank returns what percentile a statistic is; ok is false for others.
func rank(stat string) (q float64, ok bool) {
	switch stat {
	case "p50":
		return 50, true
	case "p90":
		return 90, true
	case "p95":
		return 95, true
	case "p99":
		return 99, true
	}
	return 0, false
}

// Figure returns a figure as a [search.Trial] does.
func (f *Figures) Figure(metric, stat string) (float64, bool) {
	switch metric {
	case Errors:
		failed := 0
		for _, r := range f.Records {
			if r.Failed {
				failed++
			}
		}
		return 100 * float64(failed) / float64(max(1, len(f.Records))), len(f.Records) > 0
	case Throughput, Tokens:
		if len(f.Records) < 2 {
			return 0, false
		}
		n, first, last := 0, math.Inf(1), 0.0
		for _, r := range f.Records {
			if !r.Failed {
				n++
				if metric == Tokens {
					n += r.Tokens - 1
				}
			}
			first, last = min(first, r.Start), max(last, r.End)
		}
		return float64(n) / (last - first), true
	}
	values := f.values(metric)
	if len(values) == 0 {
		return 0, false
	}
	if q, ok := rank(stat); ok {
		n := int64(len(values))
		return stats.Interpolate([]float64{q}, n, func(place int64) float64 { return values[place] })[0], true
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values)), true
}

// values returns the values of a metric of all records that did not fail, sorted.
func (f *Figures) values(metric string) []float64 {
	if v, ok := f.sorted[metric]; ok {
		return v
	}
	values := make([]float64, 0, len(f.Records))
	for _, r := range f.Records {
		if !r.Failed {
			values = append(values, value(r, metric))
		}
	}
	slices.Sort(values)
	f.sorted[metric] = values
	return values
}

// Error returns the standard error of a figure that a filter reads: of a percentile from the ranks beside it, with as
// many independent records as the variance of the means of batches lets the record be worth.
func (f *Figures) Error(metric, stat string) float64 {
	var share float64
	q, ok := rank(stat)
	at, _ := f.Figure(metric, stat)
	values := f.values(metric)
	over := func(r Record) bool { return value(r, metric) > at }
	n := len(values)
	switch {
	case metric == Errors:
		over, n, share = func(r Record) bool { return r.Failed }, len(f.Records), at/100
	case ok && n > 20:
		share = 1 - q/100
	default:
		return math.NaN()
	}
	worth := float64(n) / max(1, f.inflation(over, share))
	spread := math.Sqrt(max(share, 1/float64(n)) * (1 - share) / worth)
	if metric == Errors {
		return 100 * spread
	}
	lo := values[max(0, int(float64(n)*(1-share-spread)))]
	hi := values[min(n-1, int(float64(n)*(1-share+spread)))]
	return (hi - lo) / 2
}

// inflation returns how many times larger the variance of a share is than with independent records.
func (f *Figures) inflation(over func(Record) bool, share float64) float64 {
	const batches = 20
	size := len(f.Records) / batches
	if size < 2 || share <= 0 || share >= 1 {
		return 1
	}
	sum := 0.0
	for b := range batches {
		n := 0
		for _, r := range f.Records[b*size : (b+1)*size] {
			if over(r) {
				n++
			}
		}
		d := float64(n)/float64(size) - share
		sum += d * d
	}
	return sum / batches / (share * (1 - share) / float64(size))
}

// Problem is the question put to the server.
func (s *Server) Problem() search.Problem {
	return search.Problem{Filters: s.Filters, Space: []search.Dimension{s.Dimension()},
		Objectives: []search.Objective{{Metric: Throughput, Stat: "avg", Maximize: true}}}
}

// Judge returns the result of a probe for planners.
func (s *Server) Judge(f *Figures, load float64) search.Result {
	p := s.Problem()
	return p.Judge(search.Point{load}, []search.Trial{f.Figure}, nil)
}

// Dimension is the load of the server.
func (s *Server) Dimension() search.Dimension {
	path := "phases.profiling.concurrency"
	if s.Rate {
		path = "phases.profiling.rate"
	}
	return search.Dimension{Path: path, Lo: s.Lo, Hi: s.Hi, Int: !s.Rate, LogUniform: true}
}
