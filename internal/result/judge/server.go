package judge

import (
	"fmt"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/timesplit"
	"aiperf/internal/watch/servermetrics"
)

const (
	// uneven is the ratio of the speeds of two replicas from which they are uneven, of which each had leastRequests.
	uneven, leastRequests = 1.5, 10
	// apart is the share of the time to the first token that way or front end take if they are the cause, and
	// leastApart the least such time in milliseconds.
	apart, leastApart = 0.3, 10
	// lowAcceptance is the share of drafted tokens below which speculation costs more than it saves, as a rule.
	lowAcceptance = 0.35
	// stalled is the ratio of the longest gaps between tokens to the usual ones that is a stall, of leastStall
	// milliseconds at least; longPrompt is the least input length in tokens that explains it where no server says how long
	// prefills took.
	stalled, leastStall, longPrompt = 5, 30, 500
	// shared is the part of prompts that repeats from which a cache of prefixes is worth having; missed is the part of it
	// that was found below which it is not used.
	shared, missed = 0.3, 1.0 / 3
	// savedByCache is the share of the mean latency that a cache must be able to save.
	savedByCache = 0.15
	// dominant is the share of a time that one stage takes if it is what the time is spent on. leastPrefill is that
	// stage's least time in milliseconds, leastBatch the least batch and slowToken the least gap between tokens in
	// milliseconds where decoding is.
	dominant, leastPrefill, leastBatch, slowToken = 0.5, 100, 12, 20
)

// signs are those of the servers' pages; the zero value without any.
func (f *view) signs() servermetrics.Signs {
	if f.Servers == nil || f.Servers.Signs == nil {
		return servermetrics.Signs{}
	}
	return *f.Servers.Signs
}

// ttft is where the time to the first token went, or where replies were not streamed that of the whole request; nil
// where that is not known.
func (f *view) ttft() *timesplit.Split {
	switch {
	case f.Times == nil:
		return nil
	case f.Times.TTFT != nil:
		return f.Times.TTFT
	}
	return f.Times.Latency
}

// part returns a stage's milliseconds and its share of a split; 0 where it is not known.
func part(s *timesplit.Split, stage timesplit.Stage) (ms, share float64) {
	if p := s.Find(stage); p != nil {
		return p.Milliseconds, p.Share
	}
	return 0, 0
}

// stageEvidence is the evidence of a stage's time.
func stageEvidence(s *timesplit.Split, stage timesplit.Stage) []Evidence {
	p := s.Find(stage)
	if p == nil {
		return nil
	}
	source := p.Source
	if source == "" {
		source = string(stage)
	}
	return []Evidence{{Metric: source, Value: p.Milliseconds, Unit: "ms"}}
}

// unevenReplicas are replicas of which one is much slower than another.
func (f *view) unevenReplicas() (Finding, bool) {
	for _, figure := range []struct {
		name, metric string
		of           func(*servermetrics.Replica) float64
	}{
		{"a token each", "inter_token_latency_seconds", func(p *servermetrics.Replica) float64 { return p.ITL }},
		{"a request in", "e2e_request_latency_seconds", func(p *servermetrics.Replica) float64 { return p.Latency }},
	} {
		slow, fast := extremes(f.signs().Replicas, figure.of)
		if slow == nil {
			continue
		}
		from, to := 1e3*figure.of(slow), 1e3*figure.of(fast)
		return Finding{Code: CodeUneven, Level: Warn, Title: "Uneven replicas", Confidence: Likely,
			Text: fmt.Sprintf("%s took %s %s ms where %s took %s ms, with %s and %s requests.", slow.Name, figure.name,
				short(from), fast.Name, short(to), short(slow.Requests), short(fast.Requests)),
			Brief: fmt.Sprintf("uneven replicas: %s is %s × slower than %s", slow.Name, short(from/to), fast.Name),
			Evidence: []Evidence{{Metric: figure.metric, Value: from, Unit: "ms", Window: slow.Name},
				{Metric: figure.metric, Value: to, Unit: "ms", Window: fast.Name}},
			Advice: "find out why the slower replica is slower (its GPUs, its neighbours, its switches), or let the balancer " +
				"send each request to the replica with the least outstanding ones",
			Confirm: "measure each replica alone: aiperf profile --url once for each",
		}, from >= uneven*to
	}
	return Finding{}, false
}

// extremes returns the replicas with the largest and the smallest of a figure; nil where fewer than two have it.
func extremes(list []servermetrics.Replica, of func(*servermetrics.Replica) float64) (slow, fast *servermetrics.Replica) {
	n := 0
	for i := range list {
		p := &list[i]
		if p.Requests < leastRequests || !(of(p) > 0) {
			continue
		}
		n++
		if slow == nil || of(p) > of(slow) {
			slow = p
		}
		if fast == nil || of(p) < of(fast) {
			fast = p
		}
	}
	if n < 2 {
		return nil, nil
	}
	return slow, fast
}

// network is time on the way to the server.
func (f *view) network() (Finding, bool) {
	s := f.ttft()
	l := Finding{Code: CodeNetwork, Level: Warn, Title: "Network", Confidence: Certain,
		Advice: "measure from a machine closer to the server, in the same zone, or over fewer proxies; " +
			"--network-latency-automatic takes the way out of the figures",
		Confirm: "aiperf profile on the server's own machine: the difference is the network"}
	if s == nil {
		return l, false
	}
	ms, share := part(s, timesplit.Network)
	l.Evidence = stageEvidence(s, timesplit.Network)
	if share < apart || ms < leastApart {
		// Nobody measured the way of a request, but no scrape was faster than this.
		rest, restShare := part(s, timesplit.Unknown)
		scrape := f.signs().FastestScrape
		if scrape == nil || restShare < apart || rest < leastApart || 1e3**scrape < rest/2 || f.ofFew(rest) {
			return l, false
		}
		l.Confidence, ms, share = Likely, rest, restShare
		l.Evidence = []Evidence{{Metric: "fastest scrape of the metrics page", Value: 1e3 * *scrape, Unit: "ms"},
			{Metric: "time that no server saw", Value: rest, Unit: "ms"}}
	}
	l.Text = fmt.Sprintf("%s ms of %s ms to the first token (%s) passed on the way to the server and back.", short(ms),
		short(s.Milliseconds), percent(share))
	l.Brief = fmt.Sprintf("the network: %s of the time to the first token", percent(share))
	return l, true
}

// ofFew reports whether a mean part of the time to the first token, in ms, is longer than that whole time of the usual
// request: then a few requests, such as the first ones, make the mean.
func (f *view) ofFew(ms float64) bool {
	m := metrics.Find(f.Metrics, "time_to_first_token")
	return m != nil && m.Distribution && ms > m.Percentile(50)
}

// frontend is time in servers before the engine.
func (f *view) frontend() (Finding, bool) {
	signs := f.signs()
	l := Finding{Code: CodeFrontend, Level: Warn, Title: "Front end", Confidence: Likely,
		Advice:  f.switchOf(needFrontend),
		Confirm: "send the same load to the engine without the gateway, or repeat with twice as many front ends"}
	if delay := signs.LoopDelay; delay != nil && 1e3**delay >= leastApart {
		l.Confidence = Certain
		l.Text = fmt.Sprintf("The event loop of the front end was %s ms late on average: it has more to do than it can.",
			short(1e3**delay))
		l.Brief = fmt.Sprintf("the front end: its event loop was %s ms late on average", short(1e3**delay))
		l.Evidence = []Evidence{{Metric: "dynamo_frontend_event_loop_delay_seconds", Value: 1e3 * *delay, Unit: "ms"}}
		return l, true
	}
	s := f.ttft()
	if s == nil {
		return l, false
	}
	ms, share := part(s, timesplit.Frontend)
	l.Evidence = stageEvidence(s, timesplit.Frontend)
	if rest, restShare := part(s, timesplit.Unknown); share < apart && restShare >= apart && f.measuredByServer(s) {
		l.Confidence, ms, share = Possible, rest, restShare
		l.Evidence = []Evidence{{Metric: "time that no engine saw", Value: rest, Unit: "ms"}}
	}
	if f.ofFew(ms) {
		return l, false
	}
	l.Text = fmt.Sprintf("%s ms of %s ms to the first token (%s) passed before the engine had the request: in a gateway, an "+
		"API server or its queue.", short(ms), short(s.Milliseconds), percent(share))
	l.Brief = fmt.Sprintf("the front end: %s of the time to the first token", percent(share))
	return l, share >= apart && ms >= leastApart
}

// measuredByServer reports whether a server says how long its part of the time was.
func (f *view) measuredByServer(s *timesplit.Split) bool {
	for _, stage := range []timesplit.Stage{timesplit.Queue, timesplit.Prefill, timesplit.Compute, timesplit.Server} {
		if s.Find(stage) != nil {
			return true
		}
	}
	return false
}

// speculation is a draft whose tokens are mostly thrown away.
func (f *view) speculation() (Finding, bool) {
	signs := f.signs()
	if signs.Acceptance == nil {
		return Finding{}, false
	}
	share := *signs.Acceptance
	return Finding{Code: CodeSpeculation, Level: Warn, Title: "Low acceptance of speculation", Confidence: Likely,
		Text: fmt.Sprintf("Only %s of the drafted tokens were accepted: the others were computed for nothing.",
			percent(share)),
		Brief:    fmt.Sprintf("speculative decoding: only %s of the drafted tokens were accepted", percent(share)),
		Evidence: []Evidence{{Metric: signs.AcceptedBy, Value: 100 * share, Unit: "%"}},
		Advice:   f.switchOf(needSpeculation),
		Confirm:  "measure without speculative decoding; synthetic prompts are harder to guess than real ones"}, share < lowAcceptance
}

// prefillStalls are tokens that waited for the prefill of another request.
func (f *view) prefillStalls() (Finding, bool) {
	m := metrics.Find(f.Metrics, "inter_chunk_latency")
	if m == nil || !m.Distribution {
		return Finding{}, false
	}
	usual, longest := m.Percentile(50), m.Percentile(99)
	prefill, _ := part(f.ttft(), timesplit.Prefill)
	l := Finding{Code: CodePrefillStalls, Level: Warn, Title: "Prefills stall decoding", Confidence: Likely,
		Text: fmt.Sprintf("One gap of a hundred between tokens was longer than %s ms, where the usual one was %s ms: the prefill "+
			"of another request kept the batch waiting.", short(longest), short(usual)),
		Brief: fmt.Sprintf("prefills that stall decoding: gaps of %s ms where %s ms are usual", short(longest), short(usual)),
		Evidence: []Evidence{{Metric: "inter_chunk_latency p99", Value: longest, Unit: "ms"},
			{Metric: "inter_chunk_latency p50", Value: usual, Unit: "ms"}},
		Advice:  f.switchOf(needChunks),
		Confirm: "repeat with --isl 16: without long prompts the gaps are gone"}
	l.Evidence = append(l.Evidence, stageEvidence(f.ttft(), timesplit.Prefill)...)
	if prefill == 0 {
		l.Confidence = Possible
		if length, known := f.Value("input_sequence_length"); !known || length < longPrompt {
			return l, false
		}
	} else if prefill < (longest-usual)/4 {
		return l, false
	}
	return l, usual > 0 && longest >= stalled*usual && longest-usual >= leastStall && !f.alone()
}

// alone reports whether no other request was in flight.
func (f *view) alone() bool {
	busy, known := f.Value("effective_concurrency")
	return known && busy < 1.5
}

// prefixMissed are prompts that share a beginning, which is computed again and again.
func (f *view) prefixMissed() (Finding, bool) {
	c := f.Cached
	if c == nil || c.Repeats < 0 {
		return Finding{}, false
	}
	again := c.Repeats
	if f.MeanRepeats > 1 { // whole prompts that the data set repeats are the benchmark's own
		again -= 1 - 1/f.MeanRepeats
	}
	prefill, share := part(f.ttft(), timesplit.Prefill)
	if whole := f.Times.OfLatency(); whole != nil && prefill > 0 && again*prefill < savedByCache*whole.Milliseconds {
		return Finding{}, false
	}
	return Finding{Code: CodePrefixCache, Level: Warn, Title: "Prefix cache not hit", Confidence: Likely,
		Text: fmt.Sprintf("%s of the prompts' text had been sent before, and %s of the prompt tokens came from the prefix cache.",
			percent(again), percent(c.Share)),
		Brief: fmt.Sprintf("the prefix cache: %s of the prompts repeat, %s came from it", percent(again), percent(c.Share)),
		Evidence: append([]Evidence{{Metric: c.Metric, Value: 100 * c.Share, Unit: "%"}},
			stageEvidence(f.ttft(), timesplit.Prefill)...),
		Advice:  f.switchOf(needPrefix),
		Confirm: "aiperf profile with the cache on: the prompt tokens of its counter grow, and TTFT falls",
	}, again >= shared && c.Share < missed*again && (prefill == 0 || share >= 0.2)
}

// prefill is the computation of prompts, where most of the time goes there.
func (f *view) prefillCompute() (Finding, bool) {
	s := f.ttft()
	ms, share := part(s, timesplit.Prefill)
	if ms < leastPrefill || share < dominant {
		return Finding{}, false
	}
	whole := s.Milliseconds // of a request, all of whose time is that to its only token where nothing is streamed
	if f.Times.Latency != nil {
		whole = f.Times.Latency.Milliseconds
	}
	level := Plain
	if s := f.Servers; s != nil && s.Running != nil && *s.Running >= 2 && ms >= 2*leastPrefill {
		level = Warn // prompts wait for one another
	}
	return Finding{Code: CodePrefill, Level: level, Title: "Prefill", Confidence: Likely,
		Text: fmt.Sprintf("Computing the prompts took %s ms of %s ms to the first token (%s).", short(ms),
			short(s.Milliseconds), percent(share)),
		Brief:    fmt.Sprintf("prefill: computing the prompts took %s of the time to the first token", percent(share)),
		Evidence: stageEvidence(s, timesplit.Prefill), Advice: f.switchOf(needPrefill),
		Confirm: "aiperf profile --isl with half the length: TTFT halves"}, s.Milliseconds >= dominant*whole
}

// decodeBatch is decoding in a large batch, where most of the time goes there.
func (f *view) decodeBatch() (Finding, bool) {
	if f.Times == nil || f.Servers == nil || f.Servers.Running == nil {
		return Finding{}, false
	}
	ms, share := part(f.Times.Latency, timesplit.Decode)
	gap, known := f.Value("inter_token_latency")
	running := *f.Servers.Running
	return Finding{Code: CodeDecodeBatch, Level: Plain, Title: "Decoding in a large batch", Confidence: Possible,
		Text: fmt.Sprintf("Decoding took %s ms of each request (%s): a token each %s ms, with %s requests in the batch.",
			short(ms), percent(share), short(gap), short(running)),
		Brief: fmt.Sprintf("decoding: a token each %s ms with %s requests in the batch", short(gap), short(running)),
		Evidence: append(stageEvidence(f.Times.Latency, timesplit.Decode),
			Evidence{Metric: "inter_token_latency", Value: gap, Unit: "ms"},
			Evidence{Metric: "running requests", Value: running, Unit: "requests"}),
		Advice:  f.switchOf(needDecode),
		Confirm: "aiperf profile --concurrency 1,4,16 shows how the gap grows with the batch",
	}, known && share >= dominant && running >= leastBatch && gap >= slowToken
}

// coldStart are first requests that were far slower than the others.
func (f *view) coldStart() (Finding, bool) {
	why := f.courseReason("cold_start")
	if why == nil {
		return Finding{}, false
	}
	return Finding{Code: CodeColdStart, Level: Plain, Title: "Cold start", Confidence: Certain,
		Text: upper(why.Message) + ".", Advice: why.Advice,
		Confirm: "repeat the run at once: its first requests are as fast as the others"}, true
}
