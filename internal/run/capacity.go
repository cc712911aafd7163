package run

import (
	"aiperf/internal/config"
	"aiperf/internal/watch/capacity"
	"aiperf/internal/watch/trust"
)

// demands are what the phases ask of the client.
func demands(cfg *config.Run) []capacity.Demand {
	var list []capacity.Demand
	for i := range cfg.Phases {
		p := &cfg.Phases[i]
		d := capacity.Demand{Phase: p.Name, Rate: p.PlannedRate()}
		if cfg.Endpoint.Streaming {
			d.Streams = number(p.Concurrency)
			if p.AtOnce() && p.Concurrency == nil {
				d.Streams = int(max(number(p.Requests), number(p.Sessions)))
			}
			if osl := cfg.Dataset.OSL; osl != nil && len(cfg.Dataset.SequenceDistribution) == 0 {
				d.OutputTokens = osl.Mean
			}
		}
		list = append(list, d)
	}
	return list
}

// compareCapacity warns when the run asks for more than this machine was measured to carry.
func (e *execution) compareCapacity() {
	c := e.options.Capacity
	if c == nil {
		return
	}
	for _, d := range demands(e.cfg) {
		for _, text := range c.Exceeded(d) {
			e.log.Warn(text)
		}
	}
}

// portsOfClosed warns when connections that serve one request each use ports up faster than the system frees them.
func (e *execution) portsOfClosed() {
	if e.cfg.Endpoint.ConnectionReuse != "never" {
		return
	}
	for i := range e.cfg.Phases {
		p := &e.cfg.Phases[i]
		total := float64(number(p.Requests))
		if p.Duration != nil {
			if most := p.PlannedRate() * p.Duration.Seconds(); total == 0 || most < total {
				total = most
			}
		}
		if a, found := trust.PreflightClosed(p.PlannedRate(), int64(total)); found {
			e.warnAdvice(a)
		}
	}
}

func (e *execution) warnAdvice(a trust.Advice) {
	text := a.Message
	if a.Command != "" {
		text += "; to raise it: " + a.Command
	}
	e.log.Warn(text)
}
