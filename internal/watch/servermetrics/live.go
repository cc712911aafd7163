package servermetrics

import (
	"slices"

	"aiperf/internal/watch/prom"
)

// Mark is the state of some counters at one instant, to tell their growth since. A counter that the page of an endpoint
// did not have then was 0; of one that had not been scraped nothing is known.
type Mark struct {
	timestampNS int64 // of the newest scrape
	counters    map[*Series]float64
	scraped     map[*EndpointStore]bool
}

// Live is what servers say of themselves while the load goes on; nil is unknown. Shares are percentages.
type Live struct {
	// PrefixCacheHit, UniqueTokens, ExternalCacheHit and the rates are since the mark.
	PrefixCacheHit, UniqueTokens, ExternalCacheHit *float64
	// The others are of the newest scrapes: KVUsage and CPUKVUsage the largest of all engines, Running and Waiting their
	// sums, as in [Load].
	KVUsage, CPUKVUsage, Running, Waiting *float64
	// InputRate and OutputRate are tokens per second.
	InputRate, OutputRate *float64
}

// Load is how busy the servers are by the newest scrapes; nil where they do not say so.
func (l *Live) Load() *Load {
	if l.Running == nil && l.Waiting == nil && l.KVUsage == nil {
		return nil
	}
	return &Load{Running: l.Running, RunningMax: l.Running, Waiting: l.Waiting, WaitingMax: l.Waiting, KVUsage: l.KVUsage,
		KVUsageMax: l.KVUsage}
}

// The counters of tokens that Live reads, and its gauges beside those of [Load].
var (
	promptCounters = []string{"vllm:prompt_tokens", "sglang:prompt_tokens", "trtllm_prompt_tokens",
		"trtllm:prompt_tokens", "llamacpp:prompt_tokens"}
	generatedCounters = []string{"vllm:generation_tokens", "sglang:generation_tokens", "trtllm_generation_tokens",
		"trtllm:generation_tokens", "dynamo_frontend_output_tokens", "llamacpp:tokens_predicted"}
	hitRateGauges = []string{"sglang:cache_hit_rate", "trtllm_kv_cache_hit_rate", "trtllm:kv_cache_hit_rate"}

	liveCounters = slices.Concat(promptCounters, generatedCounters, []string{
		"vllm:prefix_cache_hits", "vllm:prefix_cache_queries", "vllm:external_prefix_cache_hits",
		"vllm:external_prefix_cache_queries", "sglang:cached_tokens",
	})
	// A frontend of Dynamo has no gauge of the requests that run: those that are at its workers have to do.
	liveRunning = names{runningGauges.engines, []string{"dynamo_frontend_inflight_requests"}}
	liveCaches  = slices.Concat(kvGauges, hitRateGauges, []string{
		"vllm:cpu_cache_usage_perc", "sglang:hicache_host_used_tokens", "sglang:hicache_host_total_tokens",
	})
	liveRequests = slices.Concat(liveRunning.all(), waitingGauges.all())
)

// Mark returns the state of the counters of the newest scrapes. It may be called during the collection.
func (s *Store) Mark() *Mark {
	m := &Mark{counters: map[*Series]float64{}, scraped: map[*EndpointStore]bool{}}
	for _, e := range s.ByFirstScrape() {
		e.mu.Lock()
		m.scraped[e] = true
		m.timestampNS = max(m.timestampNS, e.times[len(e.times)-1])
		e.mu.Unlock()
	}
	s.newest(liveCounters, true, func(series *Series, _ int64, v float64) { m.counters[series] = v })
	return m
}

// Live returns what the newest scrapes say, and the growth since a mark; without one, rates and shares of counters
// are unknown. It may be called during the collection.
func (s *Store) Live(since *Mark) Live {
	growth, gauges := map[string]float64{}, map[string]float64{}
	var elapsed float64
	if since != nil {
		s.newest(liveCounters, false, func(series *Series, timestampNS int64, v float64) {
			if !since.scraped[series.endpoint] { // what it counted before is not known
				return
			}
			elapsed = max(elapsed, seconds(timestampNS-since.timestampNS))
			if before := since.counters[series]; before <= v { // else the server was restarted
				v -= before
			}
			growth[series.Family.Name] += v
		})
	}
	var requests sums
	s.newest(liveRequests, false, func(series *Series, _ int64, v float64) {
		requests.add(series.endpoint, series.Family.Name, v)
	})
	s.newest(liveCaches, true, func(series *Series, _ int64, v float64) {
		if known, has := gauges[series.Family.Name]; !has || v > known {
			gauges[series.Family.Name] = v
		}
	})
	l := Live{
		PrefixCacheHit: first(share(growth, "vllm:prefix_cache_hits", "vllm:prefix_cache_queries"),
			share(growth, "sglang:cached_tokens", "sglang:prompt_tokens"), percent(gauges, hitRateGauges)),
		UniqueTokens: first(less(growth, "vllm:prefix_cache_queries", "vllm:prefix_cache_hits"),
			less(growth, "sglang:prompt_tokens", "sglang:cached_tokens")),
		ExternalCacheHit: share(growth, "vllm:external_prefix_cache_hits", "vllm:external_prefix_cache_queries"),
		KVUsage:          percent(gauges, kvGauges),
		CPUKVUsage: first(percent(gauges, []string{"vllm:cpu_cache_usage_perc"}),
			share(gauges, "sglang:hicache_host_used_tokens", "sglang:hicache_host_total_tokens")),
		Running: requests.total(liveRunning), Waiting: requests.total(waitingGauges),
	}
	if elapsed > 0 {
		l.InputRate, l.OutputRate = anyOf(growth, promptCounters), anyOf(growth, generatedCounters)
		for _, rate := range []*float64{l.InputRate, l.OutputRate} {
			if rate != nil {
				*rate /= elapsed
			}
		}
	}
	return l
}

// newest visits the series of scalars with one of the names that are in the newest scrape of their endpoint. The
// series for the total of others of its name is left out: they are summed. Endpoints at which several servers answer in
// turn, each for itself, are visited only if mixed, and so is the page of an earlier endpoint.
func (s *Store) newest(names []string, mixed bool, visit func(series *Series, timestampNS int64, v float64)) {
	again := s.again()
	for _, e := range s.ByFirstScrape() {
		if !mixed && again[e] != nil {
			continue
		}
		e.mu.Lock()
		if _, answered := e.inTurnSoFar(); answered && !mixed {
			e.mu.Unlock()
			continue
		}
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

// anyOf returns the value of the first of some names that is there.
func anyOf(of map[string]float64, names []string) *float64 {
	for _, name := range names {
		if v := value(of, name); v != nil {
			return v
		}
	}
	return nil
}

// percent returns the first gauge of some names, a fraction, up to 1, or a percentage, above.
func percent(of map[string]float64, names []string) *float64 {
	v := anyOf(of, names)
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
