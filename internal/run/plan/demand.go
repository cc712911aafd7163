package plan

import (
	"aiperf/internal/config"
	"aiperf/internal/watch/capacity"
)

// Demands returns what the phases ask of the client.
func Demands(cfg *config.Run) []capacity.Demand {
	var list []capacity.Demand
	for i := range cfg.Phases {
		p := &cfg.Phases[i]
		d := capacity.Demand{Phase: p.Name, Rate: p.PlannedRate()}
		if cfg.Endpoint.Streaming {
			d.Streams = Limit(p.Concurrency)
			if p.AtOnce() && p.Concurrency == nil {
				d.Streams = int(max(Limit(p.Requests), Limit(p.Sessions)))
			}
			if osl := cfg.Dataset.OSL; osl != nil && len(cfg.Dataset.SequenceDistribution) == 0 {
				d.OutputTokens = osl.Mean
			}
		}
		list = append(list, d)
	}
	return list
}
