package capacity

import (
	"math"
	"sync"
	"time"

	"aiperf/internal/experiment/search"
	"aiperf/internal/publish/progress"
	"aiperf/internal/result/summary"
	"aiperf/internal/run"
	"aiperf/internal/watch/trust"
)

// Filters are the limits as conditions on a run.
func (l QuickLimits) Filters() []search.Filter {
	return []search.Filter{
		{Metric: ttftTag, Stat: l.TTFT.Stat(), Op: search.LE, Threshold: l.TTFT.Milliseconds},
		{Metric: itlTag, Stat: l.ITL.Stat(), Op: search.LE, Threshold: l.ITL.Milliseconds},
	}
}

const (
	ttftTag = "time_to_first_token"
	itlTag  = "inter_token_latency"
)

// StageOf returns what a run with a number of users showed; a nil outcome is a run without results, for a reason.
func StageOf(users int, o *run.Outcome, why error, l QuickLimits, w *StageWatch) Stage {
	none := math.NaN()
	s := Stage{Users: users, TTFT: none, ITL: none, TTFTLimited: none, ITLLimited: none, PerUser: none, Total: none,
		Failed: 1}
	s.Queue, s.KV = w.figures()
	s.Cached = none
	if o == nil {
		s.TTFTLimited = math.Inf(1)
		if why != nil {
			s.Error = why.Error()
		}
		return s
	}
	figures := summary.FiguresOf(&o.Result)
	get := func(tag, stat string) float64 {
		if b, ok := figures.Find(tag); ok {
			if v, ok := b.Stats[stat]; ok {
				return v
			}
		}
		return none
	}
	s.TTFT, s.TTFTLimited = get(ttftTag, "avg"), get(ttftTag, l.TTFT.Stat())
	s.ITL, s.ITLLimited = get(itlTag, "avg"), get(itlTag, l.ITL.Stat())
	s.PerUser, s.Total = get("output_token_throughput_per_user", "avg"), get("output_token_throughput", "avg")
	s.Cached = get("overall_usage_prompt_cache_read_pct", "avg")
	if math.IsNaN(s.TTFTLimited) {
		s.TTFTLimited = math.Inf(1)
	}
	counts := &o.Result.Counts
	s.Requests = float64(counts.Completed())
	if s.Requests > 0 {
		s.Failed = float64(counts.Errors) / s.Requests
	}
	if list := o.Result.Errors; len(list) > 0 {
		s.Error = list[0].Error.Message
	}
	s.ClientLimited = o.Verdict == trust.ClientLimited
	return s
}

// watchInterval is the time between two looks at the server's own figures.
const watchInterval = 250 * time.Millisecond

// StageWatch is an observer of a run that notes what the server says of its queue and its cache.
type StageWatch struct {
	mu               sync.Mutex
	waiting, samples float64
	kv               float64
	knowsKV          bool
}

// Begin implements progress.Observer.
func (w *StageWatch) Begin(*progress.Run) progress.Needs {
	return progress.Needs{Servers: true, Every: watchInterval}
}

// Show implements progress.Observer.
func (w *StageWatch) Show(s *progress.Snapshot) {
	if s.Figures == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range s.Figures.Servers {
		switch f.Name {
		case "server_requests_waiting":
			w.waiting, w.samples = w.waiting+f.Value, w.samples+1
		case "server_kv_cache_usage_percent":
			w.kv, w.knowsKV = max(w.kv, f.Value), true
		}
	}
}

// End implements progress.Observer.
func (w *StageWatch) End(*progress.Ending) {}

// figures returns the mean number of waiting requests and the highest usage of the cache, NaN where they are not known.
func (w *StageWatch) figures() (queue, kv float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	queue, kv = math.NaN(), math.NaN()
	if w.samples > 0 {
		queue = w.waiting / w.samples
	}
	if w.knowsKV {
		kv = w.kv
	}
	return queue, kv
}
