package run

import (
	"fmt"

	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/run/plan"
)

// ShareError reports that a configuration asks for something that cannot be divided among several processes.
type ShareError struct {
	// Option is what asks for it, Why says what keeps it whole and Way what the user can do.
	Option, Why, Way string
}

func (e *ShareError) Error() string {
	return fmt.Sprintf("%s cannot be divided among several agents: %s; %s", e.Option, e.Why, e.Way)
}

// alone is the way out that always exists.
const alone = "run it in one process, without agents"

// CheckShares returns a *[ShareError] if a run cannot be made in shares.
func CheckShares(cfg *config.Run) error {
	for i := range cfg.Phases {
		p := &cfg.Phases[i]
		switch {
		case p.Adaptive != nil:
			return &ShareError{fmt.Sprintf("adaptive_scale of phase %s", p.Name),
				"each step depends on the requests of all", alone}
		case p.Lanes != nil && p.Lanes.Stage == load.ReplayLanes && p.Lanes.SystemIdle != config.Unlimited:
			return &ShareError{"--system-idle-gap-cap-seconds",
				"no agent knows when nothing is in flight in all of them",
				"give --system-idle-gap-cap-seconds inf, or " + alone}
		}
	}
	if cfg.RandomSeed == nil {
		return &ShareError{"a run without --random-seed", "its agents would draw different requests",
			"give --random-seed"}
	}
	return nil
}

// KeepsResidues reports whether each of so many shares of a run takes only sessions whose numbers are its index modulo
// the number of shares, so that it needs no other conversations; see [load.Plan.KeepsResidues].
func KeepsResidues(cfg *config.Run, shares int) bool {
	p := plan.Load(cfg, 1, 1)
	p.Share = load.Share{Of: shares}
	return p.KeepsResidues()
}
