package run

import (
	"fmt"

	"aiperf/internal/config"
	"aiperf/internal/run/plan"
	"aiperf/internal/watch/trust"
	"aiperf/internal/wire/client"
)

// compareCapacity warns when the run asks for more than this machine was measured to carry.
func (t *target) compareCapacity() {
	c := t.options.Capacity
	if c == nil {
		return
	}
	for _, d := range plan.Demands(t.cfg) {
		d.Rate, d.Streams = t.part(d.Rate), int(t.options.Share.Part(int64(d.Streams)))
		for _, text := range c.Exceeded(d) {
			t.log.Warn(text)
		}
	}
}

// portsOfClosed warns when connections that serve one request each use ports up faster than the system frees them.
func (t *target) portsOfClosed() {
	if t.cfg.Endpoint.ConnectionReuse != "never" {
		return
	}
	for i := range t.cfg.Phases {
		p := &t.cfg.Phases[i]
		total, rate := t.part(float64(plan.Limit(p.Requests))), t.part(p.PlannedRate())
		if p.Duration != nil {
			if most := rate * p.Duration.Seconds(); total == 0 || most < total {
				total = most
			}
		}
		if a, found := trust.PreflightClosed(rate, int64(total)); found {
			t.warnAdvice(a)
		}
	}
}

// part returns the part of a rate or of a number that is this share's.
func (b *base) part(whole float64) float64 { return whole / float64(max(1, b.options.Share.Of)) }

func (b *base) warnAdvice(a trust.Advice) {
	text := a.Message
	if a.Command != "" {
		text += "; to raise it: " + a.Command
	}
	b.log.Warn(text)
}

// preflight warns when the run asks for more than the system's limits allow.
func (t *target) preflight(workers int) {
	t.compareCapacity()
	t.portsOfClosed()
	requests := int(t.options.Share.Part(int64(t.cfg.InFlight())))
	if requests == 0 {
		return
	}
	open, servers := workers*t.cfg.Env.HTTP.ConnectionLimit, len(servers(t.urls))
	connections := min(requests, open)
	shared := sharesConnections(t.cfg)
	if open < requests {
		places := "connections"
		if shared {
			places = "places on their connections"
		}
		t.log.Warn(fmt.Sprintf("%d requests at a time share %d %s (workers: %d, AIPERF_HTTP_CONNECTION_LIMIT: %d): "+
			"the others wait, which their latency shows; leave --workers-max out or raise it",
			requests, open, places, workers, t.cfg.Env.HTTP.ConnectionLimit))
	}
	if shared {
		connections = min(connections, servers)
	}
	for _, a := range trust.Preflight(trust.Asked{
		Requests: requests, Connections: connections, Sources: len(t.cfg.Endpoint.SourceAddresses), Servers: servers,
	}) {
		t.warnAdvice(a)
	}
}

// sharesConnections reports whether all requests to a server go over one connection, unless the server bounds the
// streams of one.
func sharesConnections(cfg *config.Run) bool {
	once := cfg.Env.HTTP.ForceClose || !cfg.Endpoint.GRPC && cfg.Env.HTTP.KeepaliveTimeout <= 0
	return (cfg.Endpoint.GRPC || cfg.Endpoint.HTTP2) &&
		client.Reuse(cfg.Endpoint.ConnectionReuse) == client.ReusePooled && !once
}
