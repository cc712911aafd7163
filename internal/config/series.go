package config

import "time"

// Seeds says which seed each run of a series gets.
type Seeds uint8

// The kinds of seeds.
const (
	// SameSeed gives every run that of the configuration.
	SameSeed Seeds = iota
	// VarySeeds derives one for each run from that of the configuration.
	VarySeeds
	// FreshSeeds gives none: every run differs.
	FreshSeeds
)

// seriesSeed is the seed of a series when the user gave none.
const seriesSeed = 42

// Series says how often the benchmark is repeated.
type Series struct {
	// Runs is their number; with Convergence the most of them.
	Runs int
	// Cooldown is the pause between two runs.
	Cooldown time.Duration
	// Confidence is the two-sided level of the intervals, between 0 and 1.
	Confidence float64
	// WarmupOnce leaves the warm-up out from the second run on.
	WarmupOnce bool
	Seeds      Seeds
	// Convergence is nil where all runs are made.
	Convergence *Convergence
}

// The modes of Convergence.
const (
	ConvergeCIWidth      = "ci_width"
	ConvergeCV           = "cv"
	ConvergeDistribution = "distribution"
)

// Convergence ends a series early.
type Convergence struct {
	// Metric and Stat are what has to be stable; ConvergeDistribution takes the values of each request instead of Stat.
	Metric, Stat string
	Mode         string
	Threshold    float64
	// MinRuns is the number of runs before the first check.
	MinRuns int
}

// Several reports whether the benchmark is repeated.
func (r *Run) Several() bool { return r.Series.Runs > 1 }

// convergenceThreshold is the bound that was given, else that of the mode.
func convergenceThreshold(p *Parsed) float64 {
	switch v := p.Float("convergence-threshold"); {
	case v != nil:
		return *v
	case p.Text("convergence-mode") == ConvergeCIWidth:
		return 0.10
	default:
		return 0.05
	}
}

// repeats resolves the repetition of a run, and the seed that it needs.
func (d *draft) repeats(r *Run) {
	p := d.p
	s := Series{
		Runs: int(*p.Int("num-profile-runs")), Cooldown: secondsDuration(*p.Float("profile-run-cooldown-seconds")),
		Confidence: *p.Float("confidence-level"), WarmupOnce: p.Bool("profile-run-disable-warmup-after-first"),
	}
	if metric := p.Text("convergence-metric"); metric != "" {
		if facts, known := d.catalog.Metric(metric); known {
			metric = facts.Tag
		}
		s.Convergence = &Convergence{
			Metric: metric, Stat: p.Text("convergence-stat"), Mode: p.Text("convergence-mode"),
			Threshold: convergenceThreshold(p), MinRuns: min(3, s.Runs),
		}
	}
	r.Series = s
	if s.Runs == 1 {
		return
	}
	vary, given := p.Bool("vary-seed-per-trial"), p.Int("random-seed") != nil
	switch {
	case vary:
		r.Series.Seeds = VarySeeds
	case !given && !p.Bool("set-consistent-seed"):
		r.Series.Seeds = FreshSeeds
		d.warn("%s: the runs send different content, which their spread will show; give --random-seed to make them alike", d.flag("set-consistent-seed"))
	}
	if !given && r.Series.Seeds != FreshSeeds {
		seed := uint64(seriesSeed)
		r.RandomSeed = &seed
	}
	if !d.given("ui-type") {
		d.info("Several runs are shown by --ui simple, without a terminal by none")
	}
}
