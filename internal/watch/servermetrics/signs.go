package servermetrics

import (
	"cmp"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/watch/prom"
)

// Signs are what servers' pages show, over a phase, of why they were as fast as they were; nil is not known.
type Signs struct {
	// Kind is the name of the server, such as vLLM; that of the engines where a front end has a page, too.
	Kind string `json:"kind,omitempty"`
	// FrontEnd is the name of a front end that has a page.
	FrontEnd string `json:"front_end,omitempty"`
	// Replicas are the engines that count their requests, of the model that had the most.
	Replicas []Replica `json:"replicas,omitempty"`
	// Acceptance is the share of the tokens drafted by speculative decoding that were accepted, from 0 to 1, and
	// AcceptedBy the metric that says so.
	Acceptance *float64 `json:"acceptance,omitempty"`
	AcceptedBy string   `json:"accepted_by,omitempty"`
	// LoopDelay is the mean delay of the event loop of a front end in seconds.
	LoopDelay *float64 `json:"loop_delay,omitempty"`
	// FastestScrape is how long the fastest scrape took, in seconds, of the page that is furthest away: no way to it is
	// longer.
	FastestScrape *float64 `json:"fastest_scrape,omitempty"`
}

// Replica is one engine.
type Replica struct {
	// Name is its address, with the labels that tell it from others on the same page.
	Name string `json:"name"`
	// Requests ended in the phase. Latency, TTFT and ITL are means in seconds, 0 if the engine does not say so.
	Requests float64 `json:"requests"`
	Latency  float64 `json:"latency,omitempty"`
	TTFT     float64 `json:"ttft,omitempty"`
	ITL      float64 `json:"itl,omitempty"`

	model string
}

// The metrics that Signs reads beside those of [Load] and of [Now].
var (
	draftedCounters  = names{engines: []string{draftedCounter, "trtllm:spec_decode_num_draft_tokens"}}
	acceptedCounters = names{engines: []string{acceptedCounter, "trtllm:spec_decode_num_accepted_tokens"}}
	loopDelays       = []string{"dynamo_frontend_event_loop_delay_seconds"}
	// replicaLabels tell engines on one page apart.
	replicaLabels = []string{"engine", "engine_id", "dp_rank", "worker_id", "instance"}
)

// SignsOf returns what the pages show; nil where they show nothing.
func SignsOf(r *Results) *Signs {
	s := Signs{Replicas: replicasOf(r), LoopDelay: r.largest(loopDelays, "avg"), FastestScrape: fastestScrape(r)}
	for i := range r.Families {
		name := r.Families[i].Name
		if kind := frontEndOf(name); kind != "" {
			s.FrontEnd = cmp.Or(s.FrontEnd, kind)
			continue
		}
		for k := range ledgers {
			if s.Kind == "" && ledgers[k].owns(name) {
				s.Kind = ledgers[k].kind
			}
		}
	}
	s.Kind = cmp.Or(s.Kind, s.FrontEnd)
	s.acceptance(r)
	if s.Kind == "" {
		return nil
	}
	return &s
}

// acceptance sets that of speculative decoding: of counters of tokens, or as a gauge says it.
func (s *Signs) acceptance(r *Results) {
	drafted, accepted := r.total(draftedCounters, "total"), r.total(acceptedCounters, "total")
	switch {
	case drafted != nil && accepted != nil && *drafted > 0:
		s.Acceptance, s.AcceptedBy = artifact.Known(min(1, *accepted / *drafted)), acceptedCounters.engines[0]
	case drafted == nil:
		if s.Acceptance = r.largest([]string{acceptRate}, "avg"); s.Acceptance != nil {
			s.AcceptedBy = acceptRate
		}
	}
}

// replicasOf returns the engines of the model that had the most requests, by their names.
func replicasOf(r *Results) []Replica {
	var out []Replica
	add := func(s *SeriesStats, scale float64, to func(p *Replica, mean, count float64)) {
		if !s.adds() || s.Histogram == nil || s.Histogram.Count == 0 {
			return
		}
		name, model := replicaName(s), labelOf(s.Labels, modelLabel)
		i := slices.IndexFunc(out, func(o Replica) bool { return o.Name == name && o.model == model })
		if i < 0 {
			i = len(out)
			out = append(out, Replica{Name: name, model: model})
		}
		to(&out[i], scale*s.Histogram.Avg, float64(s.Histogram.Count))
	}
	fields := [...]func(p *Replica, mean, count float64){
		func(p *Replica, mean, _ float64) { p.TTFT = mean },
		func(p *Replica, mean, _ float64) { p.ITL = mean },
		func(p *Replica, mean, count float64) { p.Latency, p.Requests = mean, count },
	}
	for i := range r.Families {
		f := &r.Families[i]
		if f.Type != prom.Histogram || frontEndOf(f.Name) != "" {
			continue
		}
		scale := 1.0
		if strings.HasSuffix(f.Name, "_ms") {
			scale = 1e-3
		}
		for k, bare := range latencyNames {
			if slices.Contains(bare, bareName(f.Name)) {
				for n := range f.Series {
					add(&f.Series[n], scale, fields[k])
				}
			}
		}
	}
	return ofOneModel(out)
}

// ofOneModel keeps the replicas of the model that had the most requests.
func ofOneModel(list []Replica) []Replica {
	counts := map[string]float64{}
	most := ""
	for _, p := range list {
		counts[p.model] += p.Requests
		if counts[p.model] > counts[most] {
			most = p.model
		}
	}
	return slices.DeleteFunc(list, func(p Replica) bool { return p.model != most || p.Requests == 0 })
}

func labelOf(labels []prom.Label, name string) string {
	for _, l := range labels {
		if l.Name == name {
			return l.Value
		}
	}
	return ""
}

func replicaName(s *SeriesStats) string {
	name := prom.Display(s.EndpointURL)
	for _, label := range replicaLabels {
		if v := labelOf(s.Labels, label); v != "" {
			name += " " + label + " " + v
		}
	}
	return name
}

// fastestScrape returns how long the fastest scrape took of the endpoint that is furthest away, in seconds.
func fastestScrape(r *Results) *float64 {
	var furthest int64
	seen := map[*EndpointStore]bool{}
	for i := range r.Families {
		for k := range r.Families[i].Series {
			if e := r.Families[i].Series[k].Series.endpoint; e != nil && !seen[e] {
				seen[e] = true
				furthest = max(furthest, e.fastest())
			}
		}
	}
	if furthest == 0 {
		return nil
	}
	return artifact.Known(seconds(furthest))
}

// fastest returns how long the fastest scrape took; 0 where that is not known.
func (e *EndpointStore) fastest() (ns int64) {
	for _, took := range e.latencies {
		if took > 0 && (ns == 0 || took < ns) {
			ns = took
		}
	}
	return ns
}
