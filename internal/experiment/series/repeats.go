package series

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"

	"aiperf/internal/base/random"
	"aiperf/internal/config"
	"aiperf/internal/result/summary"
)

// baseLabel names the only variation of an experiment that repeats one configuration.
const baseLabel = "base"

// Repeats is the plan that repeats one configuration.
type Repeats struct {
	base *config.Run
	test *convergence
	log  *slog.Logger
	// Converged says after how many runs, and why, the plan ended early; empty when it did not.
	Converged string
}

// NewRepeats plans the series that a configuration asks for. The result of each check of convergence is logged.
func NewRepeats(base *config.Run, log *slog.Logger) *Repeats {
	r := &Repeats{base: base, log: log}
	if c := base.Series.Convergence; c != nil {
		r.test = &convergence{Convergence: *c, level: base.Series.Confidence, log: log}
	}
	return r
}

// Next implements Plan.
func (r *Repeats) Next(done []Run) (Step, bool) {
	s := &r.base.Series
	if len(done) >= s.Runs {
		return Step{}, false
	}
	if r.test != nil && len(done) >= r.test.MinRuns {
		if why, met := r.test.check(done); met {
			r.Converged = fmt.Sprintf("Converged after %d runs: %s", len(done), why)
			r.log.Info(r.Converged)
			return Step{}, false
		}
	}
	return r.step(len(done)), true
}

// step returns the run of a number.
func (r *Repeats) step(number int) Step {
	step := Step{
		Config: trial(r.base, number, filepath.Join(r.base.Artifacts.Dir, RunsDir, folder(number)), baseLabel),
		Info:   summary.RunInfo{Trial: number, RunLabel: Label(number)},
	}
	if number > 0 {
		step.Pause = r.base.Series.Cooldown
	}
	return step
}

// Planned implements [Planned].
func (r *Repeats) Planned() (steps []Step) {
	for i := range r.base.Series.Runs {
		steps = append(steps, r.step(i))
	}
	return steps
}

// RunsDir holds the folders of the runs.
const RunsDir = "profile_runs"

// folder returns the folder of a run of a series without a sweep, named as the original does. Readers accept trial_NNNN
// as well.
func folder(trial int) string { return fmt.Sprintf("run_%04d", trial+1) }

// Label returns the label of a trial, counted from 0.
func Label(trial int) string { return fmt.Sprintf("trial_%04d", trial+1) }

// trial returns the configuration of one trial of a variation, with its folder, seed and warm-up.
func trial(base *config.Run, number int, dir, variation string) *config.Run {
	own := *base
	own.Artifacts.Dir = dir
	if number > 0 && base.Series.WarmupOnce {
		own.Phases = withoutWarmup(base.Phases)
	}
	switch {
	case base.Series.Seeds == config.VarySeeds && base.RandomSeed != nil:
		seed := trialSeed(*base.RandomSeed, variation, number)
		own.RandomSeed = &seed
	case base.Series.Seeds == config.FreshSeeds && base.Submission != nil:
		seed := rand.Uint64N(1 << 53) // a scenario records its seed, as a number that every JSON reader can read
		own.RandomSeed = &seed
	}
	return &own
}

// withoutWarmup returns the phases that are measured, and with agentic replay the phase that places the lanes: without
// it, lanes would begin with sessions that have no history. A phase that followed a warm-up seamlessly waits for the
// one that is before it now.
func withoutWarmup(phases []config.Phase) []config.Phase {
	var kept []config.Phase
	left := false
	for _, p := range phases {
		out := p.Kind == config.WarmupPhase && !p.Lanes.Seeding()
		if !out {
			p.Seamless = p.Seamless && !left
			kept = append(kept, p)
		}
		left = out
	}
	return kept
}

// trialSeed returns the seed of a trial, of the text "<base>:variation:<variation>:trial:<number>". With sums of base and
// number, neighbouring variations would have the same seeds.
func trialSeed(base uint64, variation string, number int) uint64 {
	return random.OfText(fmt.Sprintf("%d:variation:%s:trial:%d", base, variation, number))
}
