package page

import (
	"aiperf/internal/mockserver/api"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// counter is a number that only grows.
type counter uint8

const (
	cStarted   counter = iota // requests that were admitted
	cStreaming                // of those, streaming ones
	cPrompt                   // prompt tokens of requests that reached their first token
	cGenerated                // tokens handed to the socket
	cStreamed                 // of those, in streams
	cStop                     // whole replies that ended by themselves
	cLength                   // whole replies that ended at their limit
	cAbort                    // admitted requests whose client left
	cError                    // admitted requests whose reply was not whole or not as it should be
	cGone                     // clients that left, whatever the state of their request
	cBytesIn                  // of request bodies
	cBytesOut                 // of replies, heads included
	cDrafts                   // steps of speculative decoding in whole replies
	cDrafted                  // tokens that they drafted
	cAccepted                 // of those, accepted ones
	cCached                   // prompt tokens that the prefix cache had
	cStalled                  // delays of the frontend above 5 ms
	cPreempted                // places in the batch that requests lost
	cDone                     // whole replies of api 0, plain and streaming; those of the next api follow
	// accepted tokens at the first place of a draft; those at the next places follow
	cAcceptedAt = cDone + 2*api.Count
	counters    = cAcceptedAt + api.MaxSpecTokens
)

func cDoneOf(a api.API, stream bool) counter {
	c := cDone + 2*counter(a)
	if stream {
		c++
	}
	return c
}

// level is a number that goes up and down.
type level uint8

const (
	lActive  level = iota // requests admitted and not settled
	lWaiting              // of those, queued for a place in the batch
	lRunning              // of those, in the batch; the others are on their way to the queue
	lFresh                // of the active ones, before their first token
	lPrefill              // of the running ones, before their first token
	lHeld                 // tokens in memory: prompts and replies of the requests in the batch
	levels
)

// quantity is observed once per request or token, in nanoseconds or tokens.
type quantity uint8

const (
	qE2E      quantity = iota // arrival at the engine to the last write of a whole reply
	qTTFT                     // arrival at the engine to the write of the first token
	qFrontE2E                 // both from the arrival at the frontend
	qFrontTTFT
	qLoop       // how late the frontend begins with a request
	qPreprocess // what it does for it
	qITL        // between the writes of two tokens
	qTPOT       // mean of those over a reply
	qQueue      // waiting for a place in the batch
	qPrefill    // from there to the first token
	qDecode     // first to last token
	qInference  // from the place in the batch to the end
	qNever      // what this server does not do, such as sending its KV cache to another one
	qPrompt     // tokens from here on
	qOutput
	qLimit // of the reply, where the request gives one
	qStep  // tokens of an engine step; a request steps by itself here: its prompt and first token, then one by one
	quantities
)

// isTime reports whether the quantity is in nanoseconds; the others are in tokens.
func (q quantity) isTime() bool { return q < qPrompt }

// histogram counts the values up to each of its bounds, and beyond the last.
type histogram struct {
	bounds []int64
	counts []int64
	sum    int64
}

func (h *histogram) observe(v, times int64) {
	low, high := 0, len(h.bounds)
	for low < high {
		middle := int(uint(low+high) >> 1)
		if h.bounds[middle] < v {
			low = middle + 1
		} else {
			high = middle
		}
	}
	h.counts[low] += times
	h.sum += v * times
}

const (
	// shards is how many connections can be accounted for at the same time.
	shards = 32
	// maxModels is how many names of models each shard counts separately.
	maxModels = 100
)

// shard is what some of the connections did. One lock covers all that one moment of a request
// changes, which is cheaper than an atomic operation for each of them.
type shard struct {
	mu     sync.Mutex
	count  [counters]int64
	level  [levels]int64
	hist   [quantities]histogram
	models map[string]*int64 // requests by the model they name, a JSON string
	_      [64]byte          // keeps neighbours off the cache line
}

// Tally is what a server did.
type Tally struct {
	shards [shards]shard
	next   atomic.Uint32

	mu       sync.Mutex
	failures map[failure]int64
}

// failure is a way in which requests end without a whole reply. Status 0 is a reply that broke off.
type failure struct {
	api    api.API
	stream bool
	status int
	gone   bool // the client left
}

func newTally(bounds *[quantities][]int64) *Tally {
	t := &Tally{failures: map[failure]int64{}}
	for i := range t.shards {
		s := &t.shards[i]
		s.models = map[string]*int64{}
		for q := range s.hist {
			s.hist[q] = histogram{bounds: bounds[q], counts: make([]int64, len(bounds[q])+1)}
		}
	}
	return t
}

func (t *Tally) fail(f failure) {
	t.mu.Lock()
	t.failures[f]++
	t.mu.Unlock()
}

// addModel counts a request for a model; those beyond the limit share one name.
func (s *shard) addModel(name []byte) {
	n := s.models[string(name)]
	if n == nil {
		if len(s.models) >= maxModels {
			name = []byte(`"other"`)
		}
		if n = s.models[string(name)]; n == nil {
			n = new(int64)
			s.models[string(name)] = n
		}
	}
	*n++
}

// totals is the tally of all connections at one moment.
type totals struct {
	count [counters]int64
	level [levels]int64
	// hist holds, for each quantity, how many values lie at or below each bound, and at last all.
	hist     [quantities][]int64
	sum      [quantities]int64
	failures map[failure]int64
	models   map[string]int64

	throughput float64 // tokens generated per second, lately
	uptime     float64 // seconds
	startedAt  float64 // of the counters: seconds since the Unix epoch
	// cachedShare is the part of the prompt tokens that the prefix cache serves.
	cachedShare float64
	elapsedNS   int64
	kvBlocks    int
	// followed: usedBlocks are those in use, as the scheduler counts them.
	followed   bool
	usedBlocks int
}

// collect adds the shards up.
func (t *Tally) collect() *totals {
	sum := &totals{failures: map[failure]int64{}, models: map[string]int64{}}
	for q := range sum.hist {
		sum.hist[q] = make([]int64, len(t.shards[0].hist[q].counts))
	}
	for i := range t.shards {
		t.shards[i].addTo(sum)
	}
	for q := range sum.hist {
		for i := 1; i < len(sum.hist[q]); i++ {
			sum.hist[q][i] += sum.hist[q][i-1]
		}
	}
	t.mu.Lock()
	maps.Copy(sum.failures, t.failures)
	t.mu.Unlock()
	return sum
}

func (s *shard) addTo(sum *totals) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, n := range s.count {
		sum.count[i] += n
	}
	for i, n := range s.level {
		sum.level[i] += n
	}
	for q := range s.hist {
		sum.sum[q] += s.hist[q].sum
		for i, n := range s.hist[q].counts {
			sum.hist[q][i] += n
		}
	}
	for name, n := range s.models {
		sum.models[name] += *n
	}
}

// since takes off what was counted before; levels stay.
func (t *totals) since(before *totals) {
	for i, n := range before.count {
		t.count[i] -= n
	}
	for q := range t.hist {
		t.sum[q] -= before.sum[q]
		for i, n := range before.hist[q] {
			t.hist[q][i] -= n
		}
	}
	for f, n := range before.failures {
		t.failures[f] -= n
	}
	for name, n := range before.models {
		t.models[name] -= n
	}
	t.startedAt = before.startedAt
}

func (t *totals) running() float64 { return float64(t.level[lRunning]) }

// cached returns the prompt tokens that the prefix cache served, whole ones: 0.3 of 10 are 3, although the product is
// not exact.
func (t *totals) cached() float64 {
	return float64(t.count[cCached]) + math.Floor(t.cachedShare*float64(t.count[cPrompt])+1e-6)
}

func (t *totals) succeeded() float64 { return float64(t.count[cStop] + t.count[cLength]) }

// mergedBounds returns the union of bounds, ascending.
func mergedBounds(lists ...[]int64) []int64 {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}
