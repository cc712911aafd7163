package servermetrics

import (
	"strings"

	"aiperf/internal/measure/timesplit"
)

// twoEngines is from how many observations of engines for each of a front end on a request is taken to come through
// several of them, as where one computes prompts and another one generates.
const twoEngines = 1.5

// Visits returns how many engines a request comes through on average: 1 but for disaggregated serving, which only a
// front end tells from two engines that share the requests.
func (s *Stages) Visits() float64 {
	if s.Engines == nil || s.FrontEnds == nil {
		return 1
	}
	if of := s.FrontEnds.Observed(); of > 0 && s.Engines.Observed() >= twoEngines*of {
		return s.Engines.Observed() / of
	}
	return 1
}

// Observed returns of how many requests the servers know the latency, or where they do not the time to the first token;
// 0 where they do not count.
func (t *Tier) Observed() float64 {
	for _, of := range []*StageTime{t.Latency, t.TTFT, t.Queue, t.Prefill, t.Decode} {
		if of != nil && of.Count > 0 {
			return of.Count
		}
	}
	return 0
}

// Outermost returns the front ends, or where these say nothing the engines.
func (s *Stages) Outermost() *Tier {
	if s.FrontEnds != nil {
		return s.FrontEnds
	}
	return s.Engines
}

// parts are the times of a request in the stages of the servers, in milliseconds.
type parts struct {
	list []timesplit.Part
}

// add adds a time to a stage.
func (p *parts) add(stage timesplit.Stage, ms float64, source string) {
	for i := range p.list {
		if of := &p.list[i]; of.Stage == stage {
			of.Milliseconds += ms
			of.Source = join(of.Source, source, " + ")
			return
		}
	}
	p.list = append(p.list, timesplit.Part{Stage: stage, Milliseconds: ms, Source: source})
}

func join(a, b, by string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + by + b
}

// total returns the time of all parts and the metrics that they are from.
func (p *parts) total() (ms float64, sources string) {
	for i := range p.list {
		ms += p.list[i].Milliseconds
		sources = join(sources, p.list[i].Source, " − ")
	}
	return ms, sources
}

// rest adds what a time has beyond the parts so far.
func (p *parts) rest(stage timesplit.Stage, whole *timesplit.ServerTime) {
	if whole == nil {
		return
	}
	ms, sources := p.total()
	if whole.Milliseconds > ms {
		p.add(stage, whole.Milliseconds-ms, join(whole.Source, sources, " − "))
	}
}

// serverTime returns a mean in milliseconds; nil without one.
func serverTime(s *StageTime, visits float64) *timesplit.ServerTime {
	if s == nil {
		return nil
	}
	return &timesplit.ServerTime{Milliseconds: s.Seconds * 1e3 * visits, Source: s.Metric}
}

// stage adds a time that the engines have; it reports whether they have it.
func (p *parts) stage(stage timesplit.Stage, of *StageTime, visits float64) bool {
	if t := serverTime(of, visits); t != nil {
		p.add(stage, t.Milliseconds, t.Source)
		return true
	}
	return false
}

// TTFT returns where the servers spent the time to the first token, and that time by the outermost clock; nil where
// none of them says so.
func (s *Stages) TTFT() ([]timesplit.Part, *timesplit.ServerTime) {
	var p parts
	whole := s.engineTTFT(&p)
	if f := s.FrontEnds; f != nil && f.TTFT != nil {
		outer := serverTime(f.TTFT, 1)
		s.around(&p, outer, whole != nil)
		whole = longer(whole, outer)
	}
	return p.list, whole
}

// engineTTFT adds what the engines do before the first token and returns how long that takes.
func (s *Stages) engineTTFT(p *parts) *timesplit.ServerTime {
	e := s.Engines
	if e == nil {
		return nil
	}
	visits := s.Visits()
	queue := p.stage(timesplit.Queue, e.Queue, visits)
	prefill := p.stage(timesplit.Prefill, e.Prefill, visits)
	whole := serverTime(e.TTFT, visits)
	if whole == nil && queue && prefill {
		ms, sources := p.total()
		return &timesplit.ServerTime{Milliseconds: ms, Source: strings.ReplaceAll(sources, " − ", " + ")}
	}
	if queue && prefill {
		p.rest(timesplit.Frontend, whole)
	} else {
		p.rest(timesplit.Server, whole)
	}
	return whole
}

// Latency returns where the servers spent the time of a request, and that time by the outermost clock; nil where none
// of them says so.
func (s *Stages) Latency() ([]timesplit.Part, *timesplit.ServerTime) {
	var p parts
	whole := s.engineLatency(&p)
	f := s.FrontEnds
	if f == nil || f.Latency == nil {
		return p.list, whole
	}
	outer := serverTime(f.Latency, 1)
	if whole == nil && f.TTFT != nil && f.Latency.Seconds > f.TTFT.Seconds {
		p.add(timesplit.Decode, (f.Latency.Seconds-f.TTFT.Seconds)*1e3, f.Latency.Metric+" − "+f.TTFT.Metric)
	}
	s.around(&p, outer, whole != nil)
	return p.list, longer(whole, outer)
}

// longer returns the time of the front ends, unless these stop their clocks before the engines do, as some do at the head
// of a reply.
func longer(engines, frontEnds *timesplit.ServerTime) *timesplit.ServerTime {
	if engines != nil && engines.Milliseconds > frontEnds.Milliseconds {
		return engines
	}
	return frontEnds
}

// engineLatency adds what the engines do for a request and returns how long that takes.
func (s *Stages) engineLatency(p *parts) *timesplit.ServerTime {
	e := s.Engines
	if e == nil {
		return nil
	}
	visits := s.Visits()
	queue := p.stage(timesplit.Queue, e.Queue, visits)
	work := p.stage(timesplit.Compute, e.Compute, visits)
	if !work {
		prefill := p.stage(timesplit.Prefill, e.Prefill, visits)
		decode := p.stage(timesplit.Decode, e.Decode, visits)
		if !decode && e.Latency != nil && e.TTFT != nil && e.Latency.Seconds > e.TTFT.Seconds {
			p.add(timesplit.Decode, (e.Latency.Seconds-e.TTFT.Seconds)*1e3*visits, e.Latency.Metric+" − "+e.TTFT.Metric)
			decode = true
		}
		work = prefill && decode
	}
	whole := serverTime(e.Latency, visits)
	if queue && work {
		p.rest(timesplit.Frontend, whole)
	} else {
		p.rest(timesplit.Server, whole)
	}
	return whole
}

// The stages of Dynamo's frontend: the last one has the engine in it.
const roundTripStage = "transport_roundtrip"

// around adds what the front ends take around the engines, whose time is known or not. Without it, the front ends' own
// stages are theirs, and the rest is in a server.
func (s *Stages) around(p *parts, whole *timesplit.ServerTime, engines bool) {
	own := s.ownStages()
	if engines {
		p.rest(timesplit.Frontend, whole)
	} else {
		for _, d := range own {
			p.add(timesplit.Frontend, d.Milliseconds, d.Source)
		}
		p.rest(timesplit.Server, whole)
	}
	for i := range p.list {
		if p.list[i].Stage == timesplit.Frontend {
			p.list[i].Details = own
		}
	}
}

// ownStages are the front ends' stages without the one that has the engine in it; of that one what is left beside the
// engine's time to the first token.
func (s *Stages) ownStages() (list []timesplit.Detail) {
	for _, d := range s.FrontEnds.Details {
		t := timesplit.Detail{Name: d.Name, Milliseconds: d.Seconds * 1e3, Source: d.Metric}
		if d.Name == roundTripStage {
			var inner parts
			engine := s.engineTTFT(&inner)
			if engine == nil || t.Milliseconds <= engine.Milliseconds {
				continue
			}
			t.Name, t.Milliseconds = "transport", t.Milliseconds-engine.Milliseconds
			t.Source += " − " + engine.Source
		}
		list = append(list, t)
	}
	return list
}
