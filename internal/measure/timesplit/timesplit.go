// Package timesplit says where the mean time of a request went: which part of it was spent in the client, on the
// network, in front ends, in a queue, in prefill and in decode.
//
// Vocabulary: the whole is the mean of a latency metric as the client measured it; a part is the mean time of a request
// in one stage, as the client or the server measured it; a detail is what of a part is known in itself.
//
// The invariant: the parts add up to the whole. What nobody measured is a part of its own, [Unknown], and no part is
// larger than what the others leave.
package timesplit

// Stage is where time is spent.
type Stage string

// The stages, in the order in which a request comes through them.
const (
	// Client is this program: the send of the request and the wait for a connection.
	Client Stage = "client"
	// Network is the set-up of connections and one round trip.
	Network Stage = "network"
	// Frontend is what servers spend around their engine: a gateway, a router, the API server, the tokenizer.
	Frontend Stage = "frontend"
	// Queue is the wait for a place in the batch.
	Queue Stage = "queue"
	// Prefill is from the start of the work to the first token, Decode from there to the last one.
	Prefill Stage = "prefill"
	Decode  Stage = "decode"
	// Compute is the work of a server that does not tell prefill from decode.
	Compute Stage = "compute"
	// Server is the time in a server that does not say what it was spent on.
	Server Stage = "server"
	// Unknown is what nobody measured.
	Unknown Stage = "unknown"
)

// order is that of the parts.
var order = []Stage{Client, Network, Frontend, Queue, Prefill, Decode, Compute, Server, Unknown}

// Name returns the stage as texts call it.
func (s Stage) Name() string {
	switch s {
	case Server:
		return "server, not split"
	case Unknown:
		return "not known"
	}
	return string(s)
}

// Meaning returns a sentence on the stage, without a full stop.
func (s Stage) Meaning() string { return meanings[s] }

var meanings = map[Stage]string{
	Client:   "this program: sending the request, waiting for a connection",
	Network:  "setting up connections, and one round trip where it was measured",
	Frontend: "servers around the engine: gateway, router, API server, tokenizer",
	Queue:    "waiting for a place in the batch",
	Prefill:  "computing the prompt, up to the first token",
	Decode:   "generating, from the first token to the last",
	Compute:  "the engine's work, prefill and decode in one",
	Server:   "in the server, which does not say what it was spent on",
	Unknown:  "measured by nobody: what the other parts leave of the client's time",
}

// Part is the mean time of a request in one stage.
type Part struct {
	Stage        Stage   `json:"stage"`
	Milliseconds float64 `json:"ms"`
	// Share is the part of the whole, 0 to 1.
	Share float64 `json:"share"`
	// Known is false for [Unknown] alone.
	Known bool `json:"known"`
	// Source names the metrics that the time is from.
	Source string `json:"source,omitempty"`
	// Limit is an upper limit of the client's part at the 99th percentile, in milliseconds; nil for other parts.
	Limit *float64 `json:"p99_limit_ms,omitempty"`
	// Details are known pieces of the part, which need not add up to it.
	Details []Detail `json:"of,omitempty"`
}

// Detail is a piece of a part.
type Detail struct {
	Name         string  `json:"name"`
	Milliseconds float64 `json:"ms"`
	Source       string  `json:"source"`
}

// Split is where the time of one metric went.
type Split struct {
	// Milliseconds is the whole: the metric's mean over the client's successful requests.
	Milliseconds float64 `json:"ms"`
	// Server is the same time by the clock of the outermost server that measures it, and its metric; nil where none
	// does.
	Server *ServerTime `json:"server,omitempty"`
	// Parts are in the order of the stages; one of no time is known to have taken none.
	Parts []Part `json:"parts"`
}

// ServerTime is a server's own mean of the same metric.
type ServerTime struct {
	Milliseconds float64 `json:"ms"`
	Source       string  `json:"source"`
}

// Times are the splits of a run.
type Times struct {
	// TTFT is nil where replies were not streamed, Latency where no request succeeded.
	TTFT    *Split `json:"time_to_first_token,omitempty"`
	Latency *Split `json:"request_latency,omitempty"`
	// Server is the kind of the engines, such as vLLM, or of the front ends where these say nothing; "" where no page of
	// a known kind was scraped.
	Server string `json:"server_kind,omitempty"`
	// Requests are the client's successful ones, Observed those that the servers' means are of; 0 is unknown.
	Requests int64   `json:"requests"`
	Observed float64 `json:"server_requests,omitempty"`
	// Note is what to know of the figures, such as why the servers' are left out; "" is nothing.
	Note string `json:"note,omitempty"`
}

// Find returns the part of a stage; nil without one.
func (s *Split) Find(stage Stage) *Part {
	if s == nil {
		return nil
	}
	for i := range s.Parts {
		if s.Parts[i].Stage == stage {
			return &s.Parts[i]
		}
	}
	return nil
}

// Share returns the part of the whole, 0 to 1, that was spent in a stage; 0 where that is not known.
func (s *Split) Share(stage Stage) float64 {
	if p := s.Find(stage); p != nil {
		return p.Share
	}
	return 0
}

// rank is in which order stages get their part of the whole: what servers measured is surer than what the client
// infers of the network.
var rank = []Stage{Queue, Prefill, Decode, Compute, Frontend, Server, Client, Network}

// Fit makes the split of a whole from what is known of its stages; a part without a source is not. A part that is
// larger than what the ones before it in rank leave is cut; the rest of the whole is [Unknown].
func Fit(wholeMS float64, known []Part) *Split {
	s := &Split{Milliseconds: wholeMS}
	left := wholeMS
	fitted := map[Stage]Part{}
	for _, stage := range rank {
		for _, p := range known {
			if p.Stage != stage || p.Source == "" {
				continue
			}
			p.Milliseconds, p.Known = min(max(p.Milliseconds, 0), left), true
			if p.Milliseconds < leastRest*wholeMS { // of rounding
				p.Milliseconds = 0
			}
			left -= p.Milliseconds
			fitted[stage] = p
		}
	}
	if left > leastRest*wholeMS {
		fitted[Unknown] = Part{Milliseconds: left}
	}
	for _, stage := range order {
		if p, has := fitted[stage]; has {
			p.Stage, p.Share = stage, p.Milliseconds/wholeMS
			s.Parts = append(s.Parts, p)
		}
	}
	return s
}

// leastRest is the part of the whole below which a rest is one of rounding.
const leastRest = 1e-9

// OfTTFT returns the split of the time to the first token; nil where it is not known.
func (t *Times) OfTTFT() *Split {
	if t == nil {
		return nil
	}
	return t.TTFT
}

// OfLatency returns the split of the latency; nil where it is not known.
func (t *Times) OfLatency() *Split {
	if t == nil {
		return nil
	}
	return t.Latency
}

// Mean returns the mean of the splits of several runs, of those that have one; nil where none has. Details, limits and the
// time by the server's clock are those of single runs, and left out.
func Mean(runs []*Times) *Times {
	out := &Times{TTFT: meanSplit(runs, (*Times).OfTTFT), Latency: meanSplit(runs, (*Times).OfLatency)}
	if out.TTFT == nil && out.Latency == nil {
		return nil
	}
	for _, t := range runs {
		if t == nil {
			continue
		}
		out.Requests, out.Observed = out.Requests+t.Requests, out.Observed+t.Observed
		if out.Server == "" {
			out.Server = t.Server
		}
		if out.Note == "" {
			out.Note = t.Note
		}
	}
	return out
}

func meanSplit(runs []*Times, of func(*Times) *Split) *Split {
	sum := &Split{}
	n := 0.0
	at := map[Stage]*Part{}
	for _, t := range runs {
		s := of(t)
		if s == nil {
			continue
		}
		n++
		sum.Milliseconds += s.Milliseconds
		for _, p := range s.Parts {
			if at[p.Stage] == nil {
				at[p.Stage] = &Part{Stage: p.Stage, Known: p.Known, Source: p.Source}
			}
			at[p.Stage].Milliseconds += p.Milliseconds
		}
	}
	if n == 0 || sum.Milliseconds <= 0 {
		return nil
	}
	for _, stage := range order {
		if p := at[stage]; p != nil {
			p.Share = p.Milliseconds / sum.Milliseconds
			p.Milliseconds /= n
			sum.Parts = append(sum.Parts, *p)
		}
	}
	sum.Milliseconds /= n
	return sum
}
