package servermetrics

import (
	"slices"

	"aiperf/internal/watch/prom"
)

// Mark is the state of some counters at one instant, to tell their growth since.
type Mark struct {
	timestampNS int64
	counters    map[*Series]float64
}

// Live is what servers say of themselves while the load goes on; nil is unknown. Shares are percentages.
type Live struct {
	// PrefixCacheHit, UniqueTokens, ExternalCacheHit and the rates are since the mark.
	PrefixCacheHit, UniqueTokens, ExternalCacheHit *float64
	// KVUsage, CPUKVUsage, Running and Waiting are of the newest scrapes, the largest of all endpoints.
	KVUsage, CPUKVUsage, Running, Waiting *float64
	// InputRate and OutputRate are tokens per second.
	InputRate, OutputRate *float64
}

// The prefixes of the servers that Live knows.
const (
	vllmPrefix   = "vllm:"
	sglangPrefix = "sglang:"
)

// liveCounters and liveGauges are the names that Live reads.
var (
	liveCounters = []string{
		"vllm:prefix_cache_hits", "vllm:prefix_cache_queries", "vllm:external_prefix_cache_hits",
		"vllm:external_prefix_cache_queries",
		"vllm:prompt_tokens", "vllm:generation_tokens", "sglang:cached_tokens", "sglang:prompt_tokens",
		"sglang:generation_tokens",
	}
	liveGauges = []string{
		"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "vllm:cpu_cache_usage_perc",
		"vllm:num_requests_running", "vllm:num_requests_waiting",
		"sglang:token_usage", "sglang:cache_hit_rate", "sglang:hicache_host_used_tokens",
		"sglang:hicache_host_total_tokens",
		"sglang:num_running_reqs", "sglang:num_queue_reqs",
	}
)

// Mark returns the state of the counters of the newest scrapes. It may be called during the collection.
func (s *Store) Mark() *Mark {
	m := &Mark{counters: map[*Series]float64{}}
	s.newest(liveCounters, func(series *Series, timestampNS int64, v float64) {
		m.counters[series] = v
		m.timestampNS = max(m.timestampNS, timestampNS)
	})
	return m
}

// Live returns what the newest scrapes say, and the growth since a mark; without one, rates and shares of counters
// are unknown. It may be called during the collection.
func (s *Store) Live(since *Mark) Live {
	growth, gauges := map[string]float64{}, map[string]float64{}
	var elapsed float64
	if since != nil {
		s.newest(liveCounters, func(series *Series, timestampNS int64, v float64) {
			elapsed = max(elapsed, seconds(timestampNS-since.timestampNS))
			if before := since.counters[series]; before <= v { // else the server was restarted
				v -= before
			}
			growth[series.Family.Name] += v
		})
	}
	s.newest(liveGauges, func(series *Series, _ int64, v float64) {
		if known, has := gauges[series.Family.Name]; !has || v > known {
			gauges[series.Family.Name] = v
		}
	})
	l := Live{
		PrefixCacheHit: first(share(growth, "vllm:prefix_cache_hits", "vllm:prefix_cache_queries"),
			share(growth, "sglang:cached_tokens", "sglang:prompt_tokens"), percent(gauges, "sglang:cache_hit_rate")),
		UniqueTokens: first(less(growth, "vllm:prefix_cache_queries", "vllm:prefix_cache_hits"),
			less(growth, "sglang:prompt_tokens", "sglang:cached_tokens")),
		ExternalCacheHit: share(growth, "vllm:external_prefix_cache_hits", "vllm:external_prefix_cache_queries"),
		KVUsage: first(percent(gauges, "vllm:kv_cache_usage_perc"),
			percent(gauges, "vllm:gpu_cache_usage_perc"), percent(gauges, "sglang:token_usage")),
		CPUKVUsage: first(percent(gauges, "vllm:cpu_cache_usage_perc"),
			share(gauges, "sglang:hicache_host_used_tokens", "sglang:hicache_host_total_tokens")),
		Running: first(value(gauges, "vllm:num_requests_running"), value(gauges, "sglang:num_running_reqs")),
		Waiting: first(value(gauges, "vllm:num_requests_waiting"), value(gauges, "sglang:num_queue_reqs")),
	}
	if elapsed > 0 {
		for to, name := range map[**float64]string{&l.InputRate: "prompt_tokens", &l.OutputRate: "generation_tokens"} {
			if tokens := first(value(growth, vllmPrefix+name), value(growth, sglangPrefix+name)); tokens != nil {
				rate := *tokens / elapsed
				*to = &rate
			}
		}
	}
	return l
}

// newest visits the series of scalars with one of the names that are in the newest scrape of their endpoint. The
// series for the total of others of its name is left out: they are summed.
func (s *Store) newest(names []string, visit func(series *Series, timestampNS int64, v float64)) {
	for _, e := range s.ByFirstScrape() {
		e.mu.Lock()
		slot := int32(len(e.times)) - 1
		for _, series := range e.series {
			total := slices.Contains(series.Labels, prom.Label{Name: "cache_source", Value: "total"})
			if series.values.lastSlot != slot || len(series.values.last) != scalarRow || total ||
				!slices.Contains(names, series.Family.Name) {
				continue
			}
			visit(series, e.times[slot], series.values.last[0])
		}
		e.mu.Unlock()
	}
}

// first returns the first value that is known.
func first(list ...*float64) *float64 {
	for _, v := range list {
		if v != nil {
			return v
		}
	}
	return nil
}

func value(of map[string]float64, name string) *float64 {
	v, known := of[name]
	if !known {
		return nil
	}
	return &v
}

// percent returns a gauge that is a fraction, up to 1, or a percentage, above.
func percent(of map[string]float64, name string) *float64 {
	v := value(of, name)
	if v != nil && *v <= 1 {
		*v *= 100
	}
	return v
}

// share returns a part of a whole in percent; one of nothing is unknown.
func share(of map[string]float64, part, whole string) *float64 {
	p, w := value(of, part), value(of, whole)
	if p == nil || w == nil || *w <= 0 {
		return nil
	}
	v := 100 * *p / *w
	return &v
}

func less(of map[string]float64, whole, part string) *float64 {
	p, w := value(of, part), value(of, whole)
	if p == nil || w == nil {
		return nil
	}
	v := *w - *p
	return &v
}
