package web

import (
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
	"aiperf/internal/publish/progress"
)

// The history has rows of equal length of time, at first of firstRow; when it has mostRows, each two become one.
const (
	firstRow = 500 * time.Millisecond
	mostRows = 600
)

// banded are the metrics whose percentiles are kept over time, bandRanks these percentiles.
var (
	banded    = [...]string{"time_to_first_token", "inter_token_latency", "request_latency"}
	bandRanks = []float64{50, 90, 99}
	bandNames = [len(banded)]string{"ttft", "itl", "latency"}
)

// gauges are what is read of a snapshot for a row, averaged over its time.
var gauges = [...]struct {
	name string
	of   func(*progress.Snapshot) float64
}{
	{"in_flight", func(s *progress.Snapshot) float64 {
		n := int64(0)
		for i := range s.Phases {
			n += s.Phases[i].RequestsInFlight()
		}
		return float64(n)
	}},
	{"target_rate", func(s *progress.Snapshot) float64 {
		if p := s.Current(); p != nil && p.TargetRate > 0 && p.State == progress.PhaseStarted {
			return p.TargetRate
		}
		return math.NaN()
	}},
	{"running", serverFigure("server_requests_running")},
	{"waiting", serverFigure("server_requests_waiting")},
	{"kv_cache", serverFigure("server_kv_cache_usage_percent")},
	{"prefix_hits", serverFigure("server_prefix_cache_hit_percent")},
	{"gpu_utilization", gpuMean("gpu_utilization", "amd_gfx_activity")},
	{"gpu_memory", gpuSum("gpu_memory_used", "amd_memory_used")},
	{"gpu_power", gpuSum("gpu_power_usage", "amd_power")},
	{"client_cpu", func(s *progress.Snapshot) float64 {
		if s.Client != nil {
			for _, f := range s.Client.Figures {
				if f.Name == "client_cpu_ratio" {
					return 100 * f.Value
				}
			}
		}
		return math.NaN()
	}},
}

func serverFigure(name string) func(*progress.Snapshot) float64 {
	return func(s *progress.Snapshot) float64 {
		if s.Figures != nil {
			for _, f := range s.Figures.Servers {
				if f.Name == name {
					return f.Value
				}
			}
		}
		return math.NaN()
	}
}

func gpuSum(tags ...string) func(*progress.Snapshot) float64 {
	return func(s *progress.Snapshot) float64 { sum, _ := gpuTotal(s, tags); return sum }
}

func gpuMean(tags ...string) func(*progress.Snapshot) float64 {
	return func(s *progress.Snapshot) float64 { sum, n := gpuTotal(s, tags); return sum / n }
}

// gpuTotal returns the sum of a metric over all GPUs and their number; NaN where none has it. Makers call it by
// different tags.
func gpuTotal(s *progress.Snapshot, tags []string) (sum, n float64) {
	for i := range s.GPUs {
		for _, v := range s.GPUs[i].Values {
			if slices.Contains(tags, v.Tag) && !math.IsNaN(v.Now) {
				sum += v.Now
				n++
			}
		}
	}
	if n == 0 {
		sum = math.NaN()
	}
	return sum, n
}

// columns are the names of the figures of a row, in their order.
var columns = func() []string {
	list := []string{"t", "completed", "failed", "input_tokens", "output_tokens"}
	for _, name := range bandNames {
		for _, rank := range bandRanks {
			list = append(list, name+"_p"+strconv.FormatFloat(rank, 'f', -1, 64))
		}
	}
	for _, g := range gauges {
		list = append(list, g.name)
	}
	return list
}()

// row is what happened in a stretch of time, from the start of the run.
type row struct {
	from, to       time.Duration
	done, failed   int64
	input, output  float64 // tokens; NaN where they are not counted
	bands          [len(banded)]stats.Sketch
	sums, readings [len(gauges)]float64
}

// join adds the row behind this one.
func (r *row) join(o *row) {
	r.to = o.to
	r.done, r.failed = r.done+o.done, r.failed+o.failed
	r.input, r.output = r.input+o.input, r.output+o.output
	for i := range r.bands {
		r.bands[i].Merge(&o.bands[i])
	}
	for i := range r.sums {
		r.sums[i] += o.sums[i]
		r.readings[i] += o.readings[i]
	}
}

// figures appends the row as a JSON list, in the order of columns.
func (r *row) figures(dst []byte) []byte {
	seconds := (r.to - r.from).Seconds()
	dst = append(dst, '[')
	dst = appendNumber(dst, r.to.Seconds())
	for _, n := range []float64{float64(r.done), float64(r.failed), r.input, r.output} {
		dst = appendNumber(append(dst, ','), n/seconds)
	}
	for i := range r.bands {
		s := r.bands[i].Summary(bandRanks)
		for k := range bandRanks {
			v := math.NaN()
			if s.Count > 0 {
				v = s.Percentiles[k] / 1e6
			}
			dst = appendNumber(append(dst, ','), v)
		}
	}
	for i, sum := range r.sums {
		dst = appendNumber(append(dst, ','), sum/r.readings[i])
	}
	return append(dst, ']')
}

// appendNumber appends a number with five digits, null where it is none.
func appendNumber(dst []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(dst, "null"...)
	}
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.AppendInt(dst, int64(v), 10)
	}
	digits := 5
	if v >= 1e4 {
		digits = 7
	}
	return strconv.AppendFloat(dst, v, 'g', digits, 64)
}

// history is the course of one run.
type history struct {
	mu      sync.Mutex
	start   time.Time
	length  time.Duration
	rows    []*row
	open    *row
	bands   [len(banded)]metrics.Sample
	has     [len(banded)]bool
	input   metrics.Sample
	output  metrics.Sample
	counted [2]bool
	values  []float64 // reused
	ended   bool
}

// begin forgets the last run.
func (h *history) begin(set *metrics.Set, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.start, h.length, h.rows, h.ended = now, firstRow, nil, false
	for i, tag := range banded {
		h.bands[i], h.has[i] = set.Sample(tag)
	}
	h.input, h.counted[0] = set.Sample("input_sequence_length")
	h.output, h.counted[1] = set.Sample("output_sequence_length")
	h.open = h.newRow(0)
}

// newRow returns an empty row.
func (h *history) newRow(from time.Duration) *row {
	r := &row{from: from}
	if !h.counted[0] {
		r.input = math.NaN()
	}
	if !h.counted[1] {
		r.output = math.NaN()
	}
	return r
}

// add adds a finished request.
func (h *history) add(r *record.Record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open == nil {
		return
	}
	if r.IsError() {
		h.open.failed++
		return
	}
	h.open.done++
	for i := range h.bands {
		if !h.has[i] {
			continue
		}
		h.values = h.bands[i].AppendValues(h.values[:0], r)
		for _, v := range h.values {
			h.open.bands[i].Add(v)
		}
	}
	for i, s := range []*metrics.Sample{&h.input, &h.output} {
		if !h.counted[i] {
			continue
		}
		h.values = s.AppendValues(h.values[:0], r)
		for _, v := range h.values {
			if i == 0 {
				h.open.input += v
			} else {
				h.open.output += v
			}
		}
	}
}

// advance reads the gauges and closes the open row when its time is over. It returns the rows that were closed; all
// reports that earlier rows have changed too.
func (h *history) advance(now time.Time, s *progress.Snapshot) (closed []*row, all bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open == nil || s == nil {
		return nil, false
	}
	for i := range gauges {
		if v := gauges[i].of(s); !math.IsNaN(v) {
			h.open.sums[i] += v
			h.open.readings[i]++
		}
	}
	elapsed := now.Sub(h.start)
	if elapsed-h.open.from < h.length && !h.ended {
		return nil, false
	}
	last := h.open
	last.to = elapsed
	h.open = h.newRow(elapsed)
	if h.ended {
		h.open = nil
	}
	if n := len(h.rows); h.ended && n > 0 && last.to-last.from < h.length/2 {
		h.rows[n-1].join(last) // rates over a short time mislead
		return nil, true
	}
	h.rows = append(h.rows, last)
	if len(h.rows) < mostRows {
		return h.rows[len(h.rows)-1:], false
	}
	kept := h.rows[:0]
	for i := 0; i < len(h.rows); i += 2 {
		one := h.rows[i]
		if i+1 < len(h.rows) {
			one.join(h.rows[i+1])
		}
		kept = append(kept, one)
	}
	clear(h.rows[len(kept):])
	h.rows, h.length = kept, 2*h.length
	return nil, true
}

// close makes the next advance the last one.
func (h *history) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
}

// appendRows appends rows as a JSON list.
func appendRows(dst []byte, rows []*row) []byte {
	dst = append(dst, '[')
	for i, r := range rows {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = r.figures(dst)
	}
	return append(dst, ']')
}

// text returns all closed rows as a JSON list.
func (h *history) text() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return appendRows(nil, h.rows)
}
