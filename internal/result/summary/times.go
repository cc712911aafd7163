package summary

import (
	"fmt"
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/timesplit"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/trust"
)

// The bounds within which the servers' means are taken to be of the client's requests: how many they observed, and how
// much longer than the client they measured, as parts of the client's own figures. Beyond noted the text says so.
const (
	fewestObserved = 0.25
	mostObserved   = 1.1
	notedObserved  = 0.02
	mostLonger     = 1.05
)

// Times says where the mean time of a request went; nil where neither servers nor the network say anything of it.
func (r *Result) Times() *timesplit.Times {
	t := &timesplit.Times{Requests: r.Counts.Successes}
	s := r.servers(t)
	c := clientTimes{health: ParseClient(r.ClientHealth)}
	c.network(r)
	t.TTFT = c.split(r, trust.TTFT, s.ttft, &t.Note)
	if t.TTFT != nil || !s.latency.empty() || c.rtt {
		t.Latency = c.split(r, trust.Latency, s.withDecode(r), &t.Note)
	}
	if t.TTFT == nil && t.Latency == nil {
		return nil
	}
	return t
}

// serverParts are where the servers spent the time, and the time by their clock; nil where that is not known.
type serverParts struct {
	parts []timesplit.Part
	whole *timesplit.ServerTime
}

func (s *serverParts) empty() bool { return len(s.parts) == 0 }

// serverTimes are those of both metrics.
type serverTimes struct{ ttft, latency serverParts }

// servers returns the times of the servers' stages where these are of the client's requests, and notes what is to be
// known of them.
func (r *Result) servers(t *timesplit.Times) (of serverTimes) {
	s := r.Stages
	if s == nil || t.Requests == 0 {
		return of
	}
	outer := s.Outermost()
	t.Server = outer.Kind
	if s.Engines != nil {
		t.Server = s.Engines.Kind
	}
	t.Observed = outer.Observed()
	if t.Observed == 0 {
		return r.uncounted(s, t)
	}
	if n := r.Reconciliation; n != nil && n.Pages != 0 && n.Pages < n.Server.Pages {
		t.Observed *= float64(n.Pages) / float64(n.Server.Pages)
	}
	n := float64(t.Requests)
	switch counts := fmt.Sprintf("the servers observed %s requests in this time, the client %d",
		artifact.Trimmed(t.Observed, 0), t.Requests); {
	case t.Observed > mostObserved*(n+float64(r.Counts.Errors+r.Counts.CutOff)):
		t.Note = counts + ": others use them too, and their times are left out"
		return of
	case t.Observed < fewestObserved*n:
		t.Note = counts + ": not all of them were scraped, and their times are left out"
		return of
	case t.Observed > (1+notedObserved)*n || t.Observed < (1-notedObserved)*n:
		t.Note = counts + ": their times are means of those"
	}
	of.ttft.parts, of.ttft.whole = s.TTFT()
	of.latency.parts, of.latency.whole = s.Latency()
	return of
}

// uncounted returns the times of servers that do not count their requests: of their sums each request has its part,
// provided that the tokens show that there were no other requests.
func (r *Result) uncounted(s *servermetrics.Stages, t *timesplit.Times) (of serverTimes) {
	var tokens *servermetrics.Row
	if r.Reconciliation != nil {
		tokens = r.Reconciliation.Row(servermetrics.GeneratedTokens)
	}
	if tokens == nil || tokens.Status != servermetrics.Agrees && tokens.Status != servermetrics.Explained {
		t.Note = t.Server + " does not count its requests, and its tokens are not those of this run: its times are left out"
		return of
	}
	of.ttft.parts, of.ttft.whole = s.TTFT()
	of.latency.parts, of.latency.whole = s.Latency()
	for _, list := range [][]timesplit.Part{of.ttft.parts, of.latency.parts} {
		for i := range list {
			list[i].Milliseconds /= float64(t.Requests)
		}
	}
	return of
}

// clientTimes are the parts that the client knows.
type clientTimes struct {
	health trust.Document
	net    timesplit.Part
	rtt    bool
}

// network adds up one round trip and what connections took to be made.
func (c *clientTimes) network(r *Result) {
	c.net = timesplit.Part{Stage: timesplit.Network}
	for _, of := range []struct{ name, tag string }{
		{"round trip", "network_rtt"}, {"name look-up", "http_req_dns_lookup"}, {"connecting", "http_req_connecting"},
	} {
		m, has := r.Find(of.tag)
		if !has || !artifact.Finite(m.Stats.Avg) || m.Stats.Avg <= 0 {
			continue
		}
		c.rtt = c.rtt || of.tag == "network_rtt"
		c.net.Milliseconds += m.Stats.Avg
		if c.net.Source != "" {
			c.net.Source += " + "
		}
		c.net.Source += of.tag
		c.net.Details = append(c.net.Details, timesplit.Detail{Name: of.name, Milliseconds: m.Stats.Avg, Source: of.tag})
	}
}

// client is what this program took of a metric.
func (c *clientTimes) client(tag string) timesplit.Part {
	p := timesplit.Part{Stage: timesplit.Client}
	for _, of := range []struct {
		lag  *trust.LagDocument
		name string
	}{{c.health.SendTime, "send_time"}, {c.health.ConnectionWait, "connection_wait"}} {
		if of.lag == nil || !(of.lag.Avg > 0) {
			continue
		}
		if p.Source != "" {
			p.Source += " + "
		}
		p.Source, p.Milliseconds = p.Source+"client_health."+of.name, p.Milliseconds+of.lag.Avg
	}
	if b, has := c.health.Bounds.Get(tag); has && b.Value > 0 && p.Milliseconds > 0 {
		p.Limit = &b.Value
	}
	return p
}

// split returns where the time of a metric went; nil where the run has no such metric, and where neither a server nor a
// measured round trip says anything of it.
func (c *clientTimes) split(r *Result, tag string, s serverParts, note *string) *timesplit.Split {
	m, has := r.Find(tag)
	whole := m.Stats.Avg
	if !has || !artifact.Finite(whole) || whole <= 0 {
		return nil
	}
	if sum := total(s.parts); sum > mostLonger*whole {
		if *note == "" {
			*note = fmt.Sprintf("the servers measured %s ms of %s, the client %s: these are not the same requests, and the "+
				"servers' times are left out", artifact.Trimmed(sum, 1), tag, artifact.Trimmed(whole, 1))
		}
		s = serverParts{}
	}
	if len(s.parts) == 0 && !c.rtt {
		return nil
	}
	split := timesplit.Fit(whole, append([]timesplit.Part{c.client(tag), c.net}, s.parts...))
	split.Server = s.whole
	return split
}

func total(parts []timesplit.Part) (ms float64) {
	for i := range parts {
		ms += parts[i].Milliseconds
	}
	return ms
}

// withDecode returns the parts of the latency. Where no server says how long replies went on after the first token, the
// client's own clock does.
func (s *serverTimes) withDecode(r *Result) serverParts {
	for _, p := range s.latency.parts {
		if p.Stage == timesplit.Decode || p.Stage == timesplit.Compute {
			return s.latency
		}
	}
	if len(s.ttft.parts) == 0 && !s.latency.empty() {
		return s.latency
	}
	first, streamed := r.Find(trust.TTFT)
	last, has := r.Find(trust.Latency)
	ms := last.Stats.Avg - first.Stats.Avg
	if !streamed || !has || !(ms > 0) {
		return s.latency
	}
	decode := timesplit.Part{Stage: timesplit.Decode, Milliseconds: ms, Source: trust.Latency + " − " + trust.TTFT}
	return serverParts{append(slices.Clone(s.ttft.parts), decode), s.latency.whole}
}
