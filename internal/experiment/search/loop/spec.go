// Package loop makes a search of its specification: it asks a planner for points, judges the runs that were made there,
// applies the rules that end a search, and keeps the files of the search.
//
// Vocabulary: a [Spec] is the block "sweep: {type: adaptive_search}" as it was read; a [Proposal] is the next point, an
// iteration the visit to it; a [Trial] is one run there with its figures; a [History] is search_history.json.
//
// Invariants: the files are complete after every iteration and replaced as a whole; a search is resumed by telling its
// planner the checkpoint again, and refused if the planner then proposes other points. The package never knows how a
// run is made: the caller makes the runs of a proposal and tells their figures.
package loop

import (
	"fmt"
	"time"

	"aiperf/internal/config/document"
	"aiperf/internal/experiment/search"
	"aiperf/internal/experiment/sweep"
)

// The planners.
const (
	Bayesian       = "bayesian"
	Optuna         = "optuna"
	MonotonicSLA   = "monotonic_sla"
	SmoothIsotonic = "smooth_isotonic"
)

// Spec says what a search is asked to do.
type Spec struct {
	Planner string
	search.Problem
	// MaxIterations bounds the visits to points; the first InitialPoints of a model do not use its results.
	MaxIterations, InitialPoints int
	// Seed is nil where none was given.
	Seed *int64
	// Patience is the number of iterations without an improvement that ends a search, PlateauWindow the number of
	// scored ones whose relative spread below PlateauThreshold does. Planners of one dimension do not use them.
	Patience, PlateauWindow int
	PlateauThreshold        float64
	// Pooled takes percentiles of the objectives over the requests of all trials.
	Pooled bool
	// Tiers are sets of conditions whose limits are searched together; none or at least two.
	Tiers []Tier
	// Stability is the number of equal outcomes that decide a point for monotonic_sla.
	Stability int
	// Replicates is the number of repeated probes at the candidate of smooth_isotonic; 0 derives it.
	Replicates int
	// Precision is tight, normal or coarse; empty where it was not given.
	Precision string
	// Warmup is the length of the warm-up of a probe in seconds; nil is the default, 0 is none.
	Warmup *float64
	// Sampler, Acquisition and Terminator are those of the planner optuna; empty where they were not given.
	Sampler, Acquisition, Terminator string
	// Recipe is the name of the recipe that made the block, empty without one.
	Recipe string
	// Trials is the number of runs at a point. It is no part of the block: [Read] sets 1.
	Trials int
}

// Tier is a set of conditions with a name.
type Tier struct {
	Label   string
	Filters []search.Filter
	// Rank is the given place among tiers of growing strictness, nil without one.
	Rank *int64
}

// The defaults of the keys of a block.
const (
	defaultInitialPoints    = 5
	defaultPatience         = 10
	defaultPlateauWindow    = 8
	defaultPlateauThreshold = 0.01
	defaultStability        = 2
	defaultStat             = "avg"
)

// Read reads a block of type adaptive_search that package experiment/sweep has checked, with the full paths of its
// dimensions (the Block of a [sweep.Plan]). The warnings are about keys without effect.
func Read(block *document.Node) (*Spec, []string) {
	s := &Spec{
		Planner: text(block.Get("planner"), Bayesian), MaxIterations: whole(block.Get("max_iterations"), 0),
		InitialPoints: whole(block.Get("n_initial_points"), defaultInitialPoints),
		Patience:      whole(block.Get("improvement_patience"), defaultPatience),
		PlateauWindow: whole(block.Get("plateau_window"), defaultPlateauWindow), PlateauThreshold: defaultPlateauThreshold,
		Pooled:     text(block.Get("objective_pooling"), "") == "pooled",
		Stability:  whole(block.Get("monotonic_stability_trials"), defaultStability),
		Replicates: whole(block.Get("sla_replicates"), 0), Precision: text(block.Get("sla_precision"), ""),
		Sampler: text(block.Get("optuna_sampler"), ""), Acquisition: text(block.Get("optuna_acquisition"), ""),
		Terminator: text(block.Get("optuna_terminator"), ""), Recipe: text(block.Get("recipe_name"), ""), Trials: 1,
	}
	if v, ok := block.Get("plateau_threshold").Number(); ok {
		s.PlateauThreshold = v
	}
	if v, ok := block.Get("sla_warmup_seconds").Number(); ok {
		s.Warmup = &v
	}
	if v, ok := block.Get("random_seed").Number(); ok {
		seed := int64(v)
		s.Seed = &seed
	}
	for _, n := range items(block.Get("search_space")) {
		lo, _ := n.Get("lo").Number()
		hi, _ := n.Get("hi").Number()
		s.Space = append(s.Space, search.Dimension{Path: text(n.Get("path"), ""), Lo: lo, Hi: hi,
			Int: text(n.Get("kind"), "") == "int", LogUniform: text(n.Get("prior"), "") == "log-uniform"})
	}
	for _, n := range items(block.Get("objectives")) {
		o := search.Objective{Metric: text(n.Get("metric"), ""), Stat: text(n.Get("stat"), defaultStat),
			Maximize: text(n.Get("direction"), "") == "maximize"}
		if v, ok := n.Get("threshold").Number(); ok {
			o.Threshold = &v
		}
		s.Objectives = append(s.Objectives, o)
	}
	for _, n := range items(block.Get("outcome_constraints")) {
		bound, _ := n.Get("bound").Number()
		s.Constraints = append(s.Constraints, search.Constraint{Metric: text(n.Get("metric"), ""),
			Op: text(n.Get("op"), ""), Bound: bound})
	}
	s.Filters = sweep.Filters(block.Get("sla_filters"))
	for i, n := range items(block.Get("sla_tiers")) {
		t := Tier{Label: text(n.Get("label"), fmt.Sprintf("tier_%d", i+1)), Filters: sweep.Filters(n.Get("filters"))}
		if v, ok := n.Get("ordering_rank").Number(); ok {
			rank := int64(v)
			t.Rank = &rank
		}
		s.Tiers = append(s.Tiers, t)
	}
	return s, s.warnings(block)
}

// warnings returns what of a block has no effect.
func (s *Spec) warnings(block *document.Node) (list []string) {
	if s.OneDimensional() {
		for _, key := range []string{"improvement_patience", "plateau_window", "plateau_threshold"} {
			if n := block.Get(key); n != nil && n.Kind != document.Null {
				list = append(list, fmt.Sprintf("%s has no effect: planner %s ends at its own precision", key, s.planner()))
			}
		}
	}
	if len(s.Tiers) > 0 && s.Planner != SmoothIsotonic {
		list = append(list, fmt.Sprintf("planner %s has no effect: tiers have a planner of their own", s.Planner))
	}
	return list
}

// OneDimensional reports whether the planner looks for the limit of one dimension instead of the best point.
func (s *Spec) OneDimensional() bool {
	return len(s.Tiers) > 0 || s.Planner == MonotonicSLA || s.Planner == SmoothIsotonic
}

// planner returns the name of the planner that is used.
func (s *Spec) planner() string {
	if len(s.Tiers) > 0 {
		return "multi_tier"
	}
	return s.Planner
}

// Probing are the lengths of the probes of planners of one dimension.
type Probing struct {
	// Warmup is the default warm-up, Floor the least of later probes of a point, FirstFloor that of the first.
	Warmup, FirstFloor, Floor time.Duration
	// Requests are those of a probe by precision.
	Requests map[string]int64
}

// ProbeWarmup returns the length of the warm-up of a probe, 0 for none; first says that it is the first one at its
// point.
func (s *Spec) ProbeWarmup(p Probing, first bool) time.Duration {
	base := p.Warmup
	if s.Planner == MonotonicSLA && len(s.Tiers) == 0 {
		base = 0 // two probes of a point decide it; it warms up only where the block says so
	}
	if s.Warmup != nil {
		base = time.Duration(*s.Warmup * float64(time.Second))
	}
	switch {
	case !s.OneDimensional() || base == 0:
		return 0
	case first:
		return max(p.FirstFloor, base)
	}
	return max(p.Floor, base)
}

// ProbeRequests returns the number of requests of a probe where the configuration gives none; 0 leaves it alone.
func (s *Spec) ProbeRequests(p Probing) int64 {
	if !s.OneDimensional() {
		return 0
	}
	if s.Precision == "" {
		return p.Requests["normal"]
	}
	return p.Requests[s.Precision]
}

func items(n *document.Node) []*document.Node {
	if n == nil {
		return nil
	}
	return n.Items
}

func text(n *document.Node, def string) string {
	if n != nil {
		if v, ok := n.Scalar.(string); ok {
			return v
		}
	}
	return def
}

func whole(n *document.Node, def int) int {
	if v, ok := n.Number(); ok {
		return int(v)
	}
	return def
}
