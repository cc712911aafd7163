// Package trace holds the commands for traces: it analyses a trace, checks whether a file is one, and generates traces.
//
// Traces are read as rows, one in memory at a time; generated sessions depend on the seed and their number alone. The
// package sends nothing and needs no tokenizer.
package trace

import (
	"context"
	"fmt"
	"math"
	"slices"

	"aiperf/internal/workload/loader"
)

// Stats are statistics of a column; the deviation is that of a population.
type Stats struct {
	Mean   number `json:"mean"`
	StdDev number `json:"std_dev"`
	Min    number `json:"min"`
	P25    number `json:"p25"`
	Median number `json:"median"`
	P75    number `json:"p75"`
	Max    number `json:"max"`
}

// Analysis is what a trace is like.
type Analysis struct {
	Requests       int    `json:"total_requests"`
	UniquePrefixes int    `json:"unique_prefixes"`
	PrefixGroups   int    `json:"num_prefix_groups"`
	CacheHitRate   number `json:"cache_hit_rate"`
	MinISL         int64  `json:"min_isl"`
	MaxISL         int64  `json:"max_isl"`
	AvgISL         number `json:"avg_isl"`
	MinOSL         int64  `json:"min_osl"`
	MaxOSL         int64  `json:"max_osl"`
	AvgOSL         number `json:"avg_osl"`
	PrefixReuse    number `json:"prefix_reuse_ratio"`
	ISL            *Stats `json:"isl_stats"`
	OSL            *Stats `json:"osl_stats"`
	Context        *Stats `json:"context_length_stats"`
	Unique         *Stats `json:"unique_prompt_length_stats"`
	HitRates       *Stats `json:"hit_rate_stats"`
}

// positionedID is an id at its position in a row.
type positionedID struct {
	position int
	id       int64
}

// step leads from a prefix, by the next id, to a longer one.
type step struct {
	prefix int
	id     int64
}

// analyser collects rows. A prefix is a number: 0 is the empty one.
type analyser struct {
	input, output []float64
	ids           []int64
	ends          []int // of each row in ids
	hits          []float64
	seen          map[int64]bool
	places        map[positionedID]int
	steps         map[step]int
	// times counts the occurrences of each prefix.
	times []int
}

// Analyze reads a mooncake trace. blockSize is the number of tokens of a hash id.
func Analyze(ctx context.Context, path string, blockSize int) (*Analysis, error) {
	a := &analyser{seen: map[int64]bool{}, places: map[positionedID]int{}, steps: map[step]int{}, times: []int{0}}
	if err := loader.EachLengths(ctx, path, a.add); err != nil {
		return nil, err
	}
	if len(a.input) == 0 {
		return nil, fmt.Errorf("%s contains no records", path)
	}
	return a.result(blockSize), nil
}

// add counts a request. A hit is the share of its blocks, from the first one on, that any request before it had: what
// an unlimited prefix cache would have. Prefixes are numbered as the nodes of a tree: a step goes from one by a block
// id.
func (a *analyser) add(row loader.Lengths) {
	a.input, a.output = append(a.input, row.Input), append(a.output, row.Output)
	a.ids = append(a.ids, row.IDs...)
	a.ends = append(a.ends, len(a.ids))
	if len(row.IDs) == 0 {
		return
	}
	known := 0
	for known < len(row.IDs) && a.seen[row.IDs[known]] {
		known++
	}
	a.hits = append(a.hits, float64(known)/float64(len(row.IDs)))
	prefix := 0
	for position, id := range row.IDs {
		a.seen[id] = true
		a.places[positionedID{position, id}]++
		next, ok := a.steps[step{prefix, id}]
		if !ok {
			next = len(a.times)
			a.steps[step{prefix, id}] = next
			a.times = append(a.times, 0)
		}
		a.times[next]++
		prefix = next
	}
}

// result returns the figures of all requests. Context is what a request shares with others, unique the rest of its
// input; which is which is known only when all requests are.
func (a *analyser) result(blockSize int) *Analysis {
	r := &Analysis{
		Requests: len(a.input), UniquePrefixes: len(a.times) - 1,
		MinISL: int64(slices.Min(a.input)), MaxISL: int64(slices.Max(a.input)),
		MinOSL: int64(slices.Min(a.output)), MaxOSL: int64(slices.Max(a.output)),
		ISL: statsOf(a.input), OSL: statsOf(a.output), HitRates: statsOf(a.hits),
	}
	r.AvgISL, r.AvgOSL = r.ISL.Mean, r.OSL.Mean
	if r.HitRates != nil {
		r.CacheHitRate = r.HitRates.Mean
	}
	for s, prefix := range a.steps {
		if s.prefix == 0 && a.times[prefix] >= 2 {
			r.PrefixGroups++
		}
	}
	all, again := 0, 0
	for _, n := range a.times {
		all += n
		if n >= 2 {
			again += n
		}
	}
	if all > 0 {
		r.PrefixReuse = number(float64(again) / float64(all))
	}
	contexts, uniques := make([]float64, len(a.input)), make([]float64, len(a.input))
	from := 0
	for i, end := range a.ends {
		contexts[i] = a.context(a.ids[from:end], a.input[i], float64(blockSize))
		uniques[i] = a.input[i] - contexts[i]
		from = end
	}
	r.Context, r.Unique = statsOf(contexts), statsOf(uniques)
	return r
}

// context returns the length of a row's ids that occur at their positions in other rows too.
func (a *analyser) context(ids []int64, input, blockSize float64) float64 {
	shared := 0
	for position, id := range ids {
		if a.places[positionedID{position, id}] >= 2 {
			shared++
		}
	}
	if shared == len(ids) && shared > 0 {
		return input
	}
	return float64(shared) * blockSize
}

// statsOf sorts a copy; nil of nothing.
func statsOf(values []float64) *Stats {
	if len(values) == 0 {
		return nil
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	n := float64(len(sorted))
	sum, squares := 0.0, 0.0
	for _, v := range sorted {
		sum += v
	}
	mean := sum / n
	for _, v := range sorted {
		squares += (v - mean) * (v - mean)
	}
	return &Stats{
		Mean: number(mean), StdDev: number(math.Sqrt(squares / n)),
		Min: number(sorted[0]), P25: percentile(sorted, 0.25), Median: percentile(sorted, 0.5),
		P75: percentile(sorted, 0.75),
		Max: number(sorted[len(sorted)-1]),
	}
}

// percentile interpolates between the neighbours of the place (n-1)·p.
func percentile(sorted []float64, p float64) number {
	at := float64(len(sorted)-1) * p
	low := int(at)
	if low+1 >= len(sorted) {
		return number(sorted[low])
	}
	return number(sorted[low] + (sorted[low+1]-sorted[low])*(at-float64(low)))
}
