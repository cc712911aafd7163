package capacity

import (
	"math"

	"aiperf/internal/experiment/search"
	"aiperf/internal/result/summary"
	"aiperf/internal/run"
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
func StageOf(users int, o *run.Outcome, why error, l QuickLimits) Stage {
	none := math.NaN()
	s := Stage{Users: users, TTFT: none, ITL: none, TTFTLimited: none, ITLLimited: none, PerUser: none, Total: none,
		Throughput: none, Latency: none, Failed: 1}
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
	s.Throughput, s.Latency = get("request_throughput", "avg"), get("request_latency", "avg")
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
	s.Judged = figures.Judgement
	return s
}
