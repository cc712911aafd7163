package main

import "aiperf/internal/experiment/search"

func ttft(stat string, ms float64) search.Filter {
	return search.Filter{Metric: TTFT, Stat: stat, Op: search.LE, Threshold: ms}
}
func itl(stat string, ms float64) search.Filter {
	return search.Filter{Metric: ITL, Stat: stat, Op: search.LE, Threshold: ms}
}
func e2e(stat string, ms float64) search.Filter {
	return search.Filter{Metric: E2E, Stat: stat, Op: search.LE, Threshold: ms}
}
func failures(percent float64) search.Filter {
	return search.Filter{Metric: Errors, Stat: "avg", Op: search.LE, Threshold: percent}
}

// Servers returns the 24 servers. The answer of each is in truth.go.
func Servers() []Server {
	type filters = []search.Filter
	all := []Server{
		{Name: "linear", Step: .005, Each: .0001, Prefill: .004, Filters: filters{itl("p95", 25)}},
		{Name: "linear-small", Step: .01, Each: .001, Prefill: .01, Filters: filters{itl("p95", 40)}},
		{Name: "linear-large", Step: .008, Each: .00002, Prefill: .001, Batch: 2000, Filters: filters{itl("p95", 24)}},
		{Name: "knee", Step: .01, Each: .00002, Knee: 96, Beyond: .0003, Prefill: .003, Filters: filters{itl("p95", 25)}},
		{Name: "knee-late", Step: .01, Each: .000005, Knee: 500, Beyond: .0002, Prefill: .001, Batch: 2000,
			Filters: filters{itl("p95", 25)}},
		{Name: "cliff-cache-full", Step: .008, Each: .00004, Cliff: 150, CliffSpeed: .35, Prefill: .002,
			Filters: filters{itl("p95", 30)}},
		{Name: "cliff-batch-full", Step: .01, Each: .00005, Batch: 64, Prefill: .004, Filters: filters{ttft("p95", 500)}},
		{Name: "prefill", Step: .008, Each: .00005, Prefill: .02, PrefillCV: .5, Stall: .6, Tokens: 64,
			Filters: filters{ttft("p99", 400)}},
		{Name: "prefill-or-decode", Step: .008, Each: .00016, Prefill: .012, PrefillCV: .5, Stall: .2,
			Filters: filters{ttft("p99", 160), itl("p95", 25)}},
		{Name: "noisy", Step: .008, Each: .0001, Prefill: .003, Noise: .1, Filters: filters{itl("p95", 25)}},
		{Name: "noisy-memory", Step: .008, Each: .0001, Prefill: .003, Noise: .08, Memory: .8,
			Filters: filters{itl("p95", 25)}},
		{Name: "heavy-tail", Step: .008, Each: .0001, Prefill: .003, PrefillCV: 1, TokensCV: 1,
			Filters: filters{e2e("p95", 10000)}},
		{Name: "jitter", Step: .008, Each: .0001, Prefill: .02, Stall: .5, Network: .05, Jitter: 1, Tokens: 64,
			Filters: filters{ttft("p95", 400)}},
		{Name: "wave", Step: .008, Each: .0001, Prefill: .003, Wave: .1, Period: 60, Filters: filters{itl("p95", 25)}},
		{Name: "drift", Step: .008, Each: .0001, Prefill: .003, Drift: .08, Filters: filters{itl("p95", 25)}},
		{Name: "cache", Step: .006, Each: .00005, Prefill: .016, Cached: .8, Stall: .5, Tokens: 96,
			Filters: filters{ttft("p95", 400)}},
		{Name: "client-bound", Step: .006, Each: .00003, Prefill: .002, Client: 120, Filters: filters{itl("p95", 25)}},
		{Name: "bump", Step: .008, Each: .0001, Prefill: .002, Bump: 40, BumpEnd: 60, BumpSpeed: .45,
			Filters: filters{itl("p95", 25)}},
		{Name: "refusals", Step: .008, Each: .00005, Batch: 100, Queue: 40, Prefill: .003,
			Filters: filters{ttft("p95", 5000), failures(1)}},
		{Name: "none-holds", Step: .05, Each: .001, Prefill: .01, Filters: filters{itl("p95", 25)}},
		{Name: "all-hold", Step: .005, Each: .00001, Prefill: .001, Batch: 2000, Filters: filters{itl("p95", 50)}},
		{Name: "rate", Rate: true, Step: .006, Each: .0002, Prefill: .004, Filters: filters{itl("p95", 25)}},
		{Name: "rate-saturation", Rate: true, Step: .01, Each: .00005, Batch: 64, Prefill: .004,
			Filters: filters{ttft("p95", 300)}},
		{Name: "rate-noisy", Rate: true, Step: .008, Each: .00015, Noise: .08, Memory: .5, Prefill: .004,
			Filters: filters{itl("p95", 25), ttft("p99", 500)}},
	}
	for i := range all {
		s := &all[i]
		s.Lo, s.Hi = 1, 1000
		if s.Rate {
			s.Hi = 200
		}
		if s.Batch == 0 {
			s.Batch = 1024
		}
		if s.Tokens == 0 {
			s.Tokens = 128
		}
		if s.TokensCV == 0 {
			s.TokensCV = .3
		}
		if s.PrefillCV == 0 {
			s.PrefillCV = .3
		}
	}
	return all
}

// Real returns four servers that are slow enough to be served over HTTP on a small machine: about 1,000 tokens/s. Replies
// have 32 tokens, as the requests of programs that search on them must ask for.
func Real() []Server {
	type filters = []search.Filter
	all := []Server{
		{Name: "real-linear", Step: .008, Each: .0005, Prefill: .004, Filters: filters{itl("p95", 20)}},
		{Name: "real-knee", Step: .01, Each: .0001, Knee: 12, Beyond: .002, Prefill: .004,
			Filters: filters{itl("p95", 25)}},
		{Name: "real-cliff", Step: .01, Each: .0003, Cliff: 18, CliffSpeed: .4, Prefill: .004,
			Filters: filters{itl("p95", 25)}},
		{Name: "real-batch", Step: .015, Batch: 16, Prefill: .004, Filters: filters{ttft("p95", 200)}},
	}
	for i := range all {
		s := &all[i]
		s.Lo, s.Hi, s.Tokens, s.PrefillCV = 1, 200, 32, .3
		if s.Batch == 0 {
			s.Batch = 1024
		}
	}
	return all
}
