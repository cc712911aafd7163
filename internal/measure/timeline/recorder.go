package timeline

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
)

// Recorder takes the requests of a profiling phase, from any goroutine.
type Recorder struct {
	mu       sync.Mutex
	originNS int64
	bins     bins
	whole    [len(distributed)]Sketch
	samples  map[record.Key][]Sample
}

// distributed are the metrics with a distribution.
var distributed = [...]string{"time_to_first_token", "inter_token_latency", "request_latency", "output_sequence_length",
	"input_sequence_length"}

// WholePrecision is the precision of the [Sketch] of a metric over all requests: 0.05 % on average.
const WholePrecision = 10

// definitions are those of distributed.
var definitions = func() (out [len(distributed)]*metrics.Definition) {
	for i, tag := range distributed {
		out[i] = definition(tag)
	}
	return out
}()

const (
	// samplesPerError is how many requests are named for an error, maxErrors for how many errors.
	samplesPerError = 3
	maxErrors       = 1000
)

// Sample is a request that failed.
type Sample struct {
	// AtNS is when it was sent, from the start of the profiling phase.
	AtNS                      int64
	RequestID, ConversationID string
	Turn                      int
}

// optional is a value that a request may lack.
type optional struct {
	value int64
	ok    bool
}

// New makes an empty recorder of a phase that began at a wall instant.
func New(originNS int64) *Recorder {
	return &Recorder{originNS: originNS, bins: newBins(), samples: map[record.Key][]Sample{}}
}

// Bins returns how many bins the recorder keeps, which is a measure of its memory: at most [MaxBins].
func (r *Recorder) Bins() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.bins.List)
}

// Add adds a finished request of the profiling phase. It keeps nothing of it but the ids of some that failed.
func (r *Recorder) Add(rec *record.Record) {
	f := &rec.Facts
	var values [len(distributed)]optional
	if !f.IsError() {
		for i, d := range definitions {
			if v, ok := d.ValueOf(f); ok && v >= 0 {
				values[i] = optional{int64(math.Round(v)), true}
			}
		}
	}
	start := f[record.StartWall] - r.originNS
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bins.take(f, start, (*[len(banded)]optional)(values[:len(banded)]))
	for i, v := range values {
		if v.ok {
			r.whole[i].Add(v.value, WholePrecision)
		}
	}
	if rec.Err != nil {
		r.sample(rec, start)
	}
}

// sample keeps the first requests of each error.
func (r *Recorder) sample(rec *record.Record, start int64) {
	key := rec.Err.Key()
	list := r.samples[key]
	if list == nil && len(r.samples) == maxErrors {
		return
	}
	s := Sample{AtNS: start, RequestID: rec.RequestID, ConversationID: rec.ConversationID, Turn: rec.TurnIndex}
	at, _ := slices.BinarySearchFunc(list, s, func(a, b Sample) int {
		return cmp.Or(cmp.Compare(a.AtNS, b.AtNS), cmp.Compare(a.RequestID, b.RequestID))
	})
	if at < samplesPerError {
		list = slices.Insert(list, at, s)
		r.samples[key] = list[:min(len(list), samplesPerError)]
	}
}

// Samples returns the first requests that failed like this one.
func (r *Recorder) Samples(key record.Key) []Sample {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.samples[key])
}

// toDisplay returns the factor from the unit of a metric to that of reports.
func toDisplay(d *metrics.Definition) float64 {
	ratio, err := metrics.RatioOf(d.Unit, d.Display)
	if err != nil {
		panic("metric " + d.Tag + ": " + err.Error())
	}
	return ratio
}
