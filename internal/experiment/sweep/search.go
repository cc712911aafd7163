package sweep

import (
	"slices"
	"strings"

	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
)

// The planners of a search; those of one dimension need conditions instead of an objective.
const (
	bayesian       = "bayesian"
	optuna         = "optuna"
	monotonicSLA   = "monotonic_sla"
	smoothIsotonic = "smooth_isotonic"
)

// initialPoints is the default of n_initial_points.
const initialPoints = 5

// searchKeys are the keys of an adaptive search.
func searchKeys() []key {
	atLeast := func(lo float64) func(*document.Node) string { return whole(option.AtLeast(lo)) }
	return []key{
		{name: "planner", check: oneOf(bayesian, optuna, monotonicSLA, smoothIsotonic)},
		{name: "search_space", check: aList, required: true, fields: []key{
			{name: "path", check: text, required: true}, {name: "lo", check: number(option.Limits{}), required: true},
			{name: "hi", check: number(option.Limits{}), required: true},
			{name: "kind", check: oneOf("int", "real", "float")},
			{name: "prior", check: oneOf("uniform", "log-uniform")},
		}},
		{name: "objectives", check: aList, required: true, fields: []key{
			{name: "metric", check: text, required: true},
			{name: "stat", check: oneOf("avg", "p50", "p90", "p95", "p99")},
			{name: "direction", check: oneOf("maximize", "minimize"), required: true},
			{name: "threshold", check: number(option.Limits{})},
		}},
		{name: "outcome_constraints", check: aList, fields: []key{
			{name: "metric", check: text, required: true}, {name: "op", check: oneOf("<=", ">=", "=="), required: true},
			{name: "bound", check: number(option.Limits{}), required: true},
		}},
		{name: "max_iterations", check: byOption("search-max-iterations"), required: true},
		{name: "n_initial_points", check: byOption("search-initial-points")},
		{name: "random_seed", check: byOption("search-random-seed")},
		{name: "improvement_patience", check: atLeast(2)}, {name: "plateau_window", check: atLeast(2)},
		{name: "plateau_threshold", check: number(option.Above(0))},
		{name: "objective_pooling", check: oneOf(option.Named("search-percentile-pooling").Values...)},
		{name: "monotonic_stability_trials", check: atLeast(1)},
		{name: "sla_replicates", check: atLeast(0)}, {name: "sla_precision", check: oneOf("tight", "normal", "coarse")},
		{name: "sla_warmup_seconds", check: number(option.AtLeast(0))},
		{name: "sla_tiers", check: aList, fields: []key{
			{name: "label", check: text}, {name: "filters", check: aList, required: true, fields: filterKeys},
			{name: "ordering_rank", check: atLeast(0)},
		}},
		{name: "optuna_sampler", check: oneOf("tpe", "gp", "botorch")},
		{name: "optuna_acquisition", check: oneOf("logei", "qlogei", "qnei", "qlognei", "qehvi", "qnehvi",
			"qlognehvi")},
		{name: "optuna_terminator", check: oneOf("none", "regret", "emmr")},
		{name: "constraint_mode", check: oneOf("penalty", "eic")},
	}
}

// search checks an adaptive search. It has no variations before it runs.
func (x *expansion) search(block *document.Node) {
	for _, name := range []string{"iteration_order", "same_seed"} {
		if m := block.Member(name); m != nil {
			x.fault(m.Value, document.Path("sweep", name), "a search has no variations that it applies to; remove it")
		}
	}
	block = block.Clone()
	x.plan.Block = block
	planner := words(block.Get("planner"), bayesian)
	space := block.Get("search_space")
	whole := x.space(space)
	switch planner {
	case bayesian, optuna:
		initial := block.Get("n_initial_points")
		n, given := numeric(initial)
		if !given {
			n, initial = initialPoints, block.Get("max_iterations")
		}
		if most, _ := numeric(block.Get("max_iterations")); n >= most {
			x.fault(initial, "sweep.n_initial_points", "%v is not below max_iterations (%v), so that the search would "+
				"never use a result", n, most)
		}
	default:
		for _, list := range []string{"search_space", "objectives"} {
			if n := block.Get(list); len(n.Items) > 1 {
				x.fault(n, document.Path("sweep", list), "planner %s takes one, not %d", planner, len(n.Items))
			}
		}
		if !whole {
			x.fault(space, "sweep.search_space", "planner %s needs kind: int and lo of at least 1", planner)
		}
		if len(items(block.Get("sla_filters"))) == 0 && len(items(block.Get("sla_tiers"))) == 0 {
			x.fault(block, "sweep", "planner %s needs at least one condition in sla_filters", planner)
		}
	}
	x.model(block)
	if tiers := block.Get("sla_tiers"); tiers != nil && (len(tiers.Items) < 2 || len(tiers.Items) > 10) {
		x.fault(tiers, "sweep.sla_tiers", "takes 2 to 10 tiers, not %d", len(tiers.Items))
	}
}

// severalObjectives are the acquisitions for several objectives; the others are for one.
var severalObjectives = []string{"qehvi", "qnehvi", "qlognehvi"}

// model checks the options of the model, and how percentiles of its objectives are made.
func (x *expansion) model(block *document.Node) {
	several := len(items(block.Get("objectives"))) > 1
	if n := block.Get("optuna_acquisition"); n != nil && n.Kind == document.Text {
		if slices.Contains(severalObjectives, n.Written) != several {
			x.fault(n, "sweep.optuna_acquisition", "%s is for %s; this search has %d", n.Written,
				map[bool]string{false: "several objectives", true: "one objective"}[several],
				len(items(block.Get("objectives"))))
		}
		if sampler := words(block.Get("optuna_sampler"), ""); sampler != "" && sampler != "botorch" {
			x.fault(n, "sweep.optuna_acquisition", "only applies to the sampler botorch, not to %s", sampler)
		}
	}
	if n := block.Get("objective_pooling"); words(n, "") == "pooled" {
		for i, o := range items(block.Get("objectives")) {
			if words(o.Get("stat"), "") == "avg" {
				x.fault(n, "sweep.objective_pooling", "pooled needs a percentile, and sweep.objectives[%d].stat is avg", i)
			}
		}
	}
}

// space checks the dimensions of a search, and reports whether all are of whole numbers from 1.
func (x *expansion) space(list *document.Node) (whole bool) {
	whole = true
	var all []destination
	for i, n := range list.Items {
		at := document.Index("sweep.search_space", i)
		lo, _ := numeric(n.Get("lo"))
		hi, _ := numeric(n.Get("hi"))
		kind := words(n.Get("kind"), "real")
		x.bounds(n, at, lo, hi, words(n.Get("prior"), "uniform") == "log-uniform", kind == "int")
		whole = whole && kind == "int" && lo >= 1
		p, ok := x.place(words(n.Get("path"), ""), n.Get("path"), at+".path")
		if !ok {
			continue
		}
		for _, o := range all {
			x.distinct(p, o, n.Get("path"), at+".path", o.path)
		}
		all = append(all, p)
		x.plan.space = append(x.plan.space, p)
		n.Get("path").Scalar = p.path
		switch {
		case slices.Contains(strings.Split(p.path, "."), "rate_series"):
			x.fault(n.Get("path"), at+".path", "%s is not a number, so that it cannot be searched",
				fault.Shorten(p.path))
		case strings.HasSuffix(p.path, ".users") && kind != "int":
			x.fault(n, at, "users are whole numbers; write kind: int")
		}
	}
	return whole
}
