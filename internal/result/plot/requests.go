package plot

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"aiperf/internal/config"
	"aiperf/internal/measure/recordfile"
)

var (
	recordsName     = config.Artifacts{}.Name(config.RecordsJSONL)
	summaryFileName = config.Artifacts{}.Name(config.SummaryJSON)
)

// requests are those of a run that succeeded, in the order of their starts.
type requests struct {
	startNS, endNS []int64
	// number is the place among the successful requests of the file, which has them as they were completed.
	number []int
	// metrics are those that plots need; NaN where a request lacks one.
	metrics map[string][]float64
	// failed counts the requests that have no figures.
	failed int
	// originNS is the start of the first one.
	originNS int64
}

// readRequests reads the metrics with some tags of a file of requests.
func readRequests(path string, tags []string) (*requests, error) {
	r := &requests{metrics: map[string][]float64{}}
	for _, tag := range tags {
		r.metrics[tag] = nil
	}
	var parser recordfile.RowParser
	for line, err := range recordfile.Lines(path) {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no %s", path)
		}
		if err != nil {
			return nil, err
		}
		row, err := parser.Parse(line.Text)
		if err != nil {
			return nil, line.Fault(err)
		}
		if row.Phase != "" && row.Phase != string(config.ProfilingPhase) {
			continue
		}
		if row.Failed || row.StartNS == 0 {
			r.failed++
			continue
		}
		n := len(r.startNS)
		r.startNS, r.endNS, r.number = append(r.startNS, row.StartNS), append(r.endNS, row.EndNS), append(r.number, n)
		for tag, column := range r.metrics {
			r.metrics[tag] = append(column, math.NaN())
		}
		for _, v := range row.Values {
			if column, wanted := r.metrics[v.Tag]; wanted {
				column[n] = v.Number
			}
		}
	}
	r.sort()
	return r, nil
}

// sort brings the requests in the order of their starts.
func (r *requests) sort() {
	order := make([]int, len(r.startNS))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.startNS[a], r.startNS[b]) })
	r.startNS, r.endNS, r.number = permute(r.startNS, order), permute(r.endNS, order), permute(r.number, order)
	for tag, column := range r.metrics {
		r.metrics[tag] = permute(column, order)
	}
	if len(r.startNS) > 0 {
		r.originNS = r.startNS[0]
	}
}

func permute[T any](values []T, order []int) []T {
	out := make([]T, len(values))
	for i, from := range order {
		out[i] = values[from]
	}
	return out
}

func (r *requests) seconds(ns int64) float64 { return float64(ns-r.originNS) / 1e9 }

// flow is the throughput of tokens and the number of requests that receive them, from one change to the next.
type flow struct {
	seconds, rate []float64
	active        []int
}

// flow spreads the tokens of each request evenly over the time from its first token to its end, over the whole request
// where the first token is not known. Time counts from the first change.
func (r *requests) flow() flow {
	tokens, ttft := r.metrics["output_sequence_length"], r.metrics["time_to_first_token"]
	type event struct {
		ns    int64
		rate  float64
		count int
	}
	var events []event
	for i, end := range r.endNS {
		begin := r.startNS[i]
		if v := ttft[i]; !math.IsNaN(v) {
			begin += int64(v * 1e6)
		}
		n := tokens[i]
		if math.IsNaN(n) || end <= begin {
			continue
		}
		rate := n / (float64(end-begin) / 1e9)
		events = append(events, event{begin, rate, 1}, event{end, -rate, -1})
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.ns, b.ns) })
	var f flow
	rate, active := 0.0, 0
	for i, e := range events {
		rate, active = rate+e.rate, active+e.count
		if active == 0 {
			rate = 0 // without what rounding leaves
		}
		if i+1 < len(events) && events[i+1].ns == e.ns {
			continue
		}
		f.seconds = append(f.seconds, float64(e.ns-events[0].ns)/1e9)
		f.rate, f.active = append(f.rate, rate), append(f.active, active)
	}
	return f
}

// RollingPercentile returns the percentile rank, from 0 to 100, of each value and up to window−1 before it.
func RollingPercentile(values []float64, window int, rank float64) []float64 {
	out := make([]float64, len(values))
	var sorted []float64
	for i := range values {
		sorted = append(sorted[:0], values[max(0, i-window+1):i+1]...)
		slices.Sort(sorted)
		out[i] = percentile(sorted, rank)
	}
	return out
}
