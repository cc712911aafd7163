package library

import (
	"math"
	"slices"
)

// Timeline is what requests did over time, in bins of the same width from the start of the first one. Rates are per
// second. A median is NaN where no request of the bin has a value.
type Timeline struct {
	// StartNS is the start of the first request, WidthSeconds that of a bin.
	StartNS      int64
	WidthSeconds float64
	// Done and Failed count where requests end, Tokens the output tokens of those that end.
	Done, Failed, Tokens []float64
	// InFlight is the mean number of requests in flight.
	InFlight []float64
	// FirstToken and Latency are medians of requests by when they were sent, in ms.
	FirstToken, Latency []float64
}

// widths are those of bins in seconds; longer ones follow by doubling.
var widths = []float64{0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600}

// Timeline returns the time line in at most so many bins. Requests of a warm-up are left out.
func (x *RequestIndex) Timeline(most int) *Timeline {
	latency, ttft := x.column("request_latency"), x.column("time_to_first_token")
	tokens, duration := x.column("output_sequence_length"), x.duration()
	first, last := int64(math.MaxInt64), int64(0)
	for i, at := range x.starts {
		if at <= 0 || x.flags[i]&Warmup != 0 {
			continue
		}
		first, last = min(first, at), max(last, at+int64(duration(i)*1e9))
	}
	if last <= first {
		return nil
	}
	seconds := float64(last-first) / 1e9
	width := widths[0]
	for k := 0; seconds/width > float64(most); k++ {
		if k < len(widths) {
			width = widths[k]
		} else {
			width *= 2
		}
	}
	n := int(seconds/width) + 1
	t := &Timeline{StartNS: first, WidthSeconds: width}
	for _, list := range []*[]float64{&t.Done, &t.Failed, &t.Tokens, &t.InFlight, &t.FirstToken, &t.Latency} {
		*list = make([]float64, n)
	}
	firsts, latencies := make([][]float32, n), make([][]float32, n)
	bin := func(s float64) int { return min(max(int(s/width), 0), n-1) }
	for i, at := range x.starts {
		if at <= 0 || x.flags[i]&Warmup != 0 {
			continue
		}
		from := float64(at-first) / 1e9
		to := from + duration(i)
		end := bin(to)
		if x.flags[i]&Failed != 0 {
			t.Failed[end] += 1 / width
		} else {
			t.Done[end] += 1 / width
		}
		if v := tokens(i); v == v {
			t.Tokens[end] += v / width
		}
		for k := bin(from); k <= end; k++ {
			t.InFlight[k] += max(0, min(to, float64(k+1)*width)-max(from, float64(k)*width)) / width
		}
		if v := ttft(i); v == v {
			firsts[bin(from)] = append(firsts[bin(from)], float32(v))
		}
		if v := latency(i); v == v {
			latencies[bin(from)] = append(latencies[bin(from)], float32(v))
		}
	}
	for k := range n {
		t.FirstToken[k], t.Latency[k] = median(firsts[k]), median(latencies[k])
	}
	return t
}

// duration returns how long a request took in seconds, 0 where that is not known.
func (x *RequestIndex) duration() func(i int) float64 {
	latency, failed := x.column("request_latency"), x.column("error_latency")
	return func(i int) float64 {
		if v := latency(i); v == v {
			return v / 1e3
		}
		if v := failed(i); v == v {
			return v / 1e3
		}
		return 0
	}
}

// FirstNS returns when the first request was sent, by the wall clock; 0 if that is not known.
func (x *RequestIndex) FirstNS() int64 {
	first := int64(0)
	for _, at := range x.starts {
		if at > 0 && (first == 0 || at < first) {
			first = at
		}
	}
	return first
}

// column returns the values of a metric; NaN where there is none.
func (x *RequestIndex) column(tag string) func(i int) float64 {
	if !x.Has(tag) {
		return func(int) float64 { return math.NaN() }
	}
	column := x.values[places[tag]]
	return func(i int) float64 { return float64(column[i]) }
}

func median(values []float32) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	return float64(values[len(values)/2])
}
