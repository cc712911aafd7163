package run

import (
	"aiperf/internal/run/plan"
	"aiperf/internal/watch/trust"
)

// compareCapacity warns when the run asks for more than this machine was measured to carry.
func (e *execution) compareCapacity() {
	c := e.options.Capacity
	if c == nil {
		return
	}
	for _, d := range plan.Demands(e.cfg) {
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
		total := float64(plan.Limit(p.Requests))
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
