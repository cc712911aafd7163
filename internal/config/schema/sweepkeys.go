package schema

import "aiperf/internal/config/option"

// sweepSection describes the block for editors and for the page of keys. The block is read and checked by the room of
// sweeps, for it depends on the type which keys it may have; a test there compares the names.
func sweepSection(t *option.Tree) Key {
	k := section("sweep", "Which parameters are varied, and how. The type decides which keys there are.",
		sweepKeys(t)...)
	k.Kind = Anything
	return k
}

// like is a key with the grammar of an option, but not its effect: the room of sweeps reads it.
func like(name string, f option.Field) Key {
	k := Key{Option: f.Row()}
	return Key{Name: name, Kind: k.Holds(), Values: k.Choices(), Limits: k.Bounds(), Help: k.Text()}
}

func choice(name, help string, values ...string) Key {
	return Key{Name: name, Kind: Choice, Values: values, Help: help}
}

func word(name, help string) Key     { return Key{Name: name, Kind: Word, Help: help} }
func number(name, help string) Key   { return Key{Name: name, Kind: Number, Help: help} }
func anything(name, help string) Key { return Key{Name: name, Kind: Anything, Help: help} }

func whole(name, help string, limits option.Limits) Key {
	return Key{Name: name, Kind: Whole, Help: help, Limits: limits}
}

func (k Key) list() Key { k.Kind = Sections; return k }

func sweepKeys(t *option.Tree) []Key {
	sampled, search := []string{"sobol", "latin_hypercube"}, []string{"adaptive_search"}
	conditions := func(name, help string) Key {
		return section(name, help, word("metric_tag", "The tag of the metric."),
			choice("stat", "Its statistic.", "avg", "min", "max", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95",
				"p99"),
			choice("op", "The comparison.", "lt", "le", "gt", "ge"),
			number("threshold", "The limit, in the display unit of the metric.")).list()
	}
	keys := fields([]Key{
		choice("type", "How the variations are made.", "grid", "zip", "scenarios", "sobol", "latin_hypercube",
			"adaptive_search").required(),
		like("cooldown_seconds", &t.ParameterSweepCooldownSeconds),
		like("iteration_order", &t.ParameterSweepMode),
		{Name: "same_seed", Kind: Switch, Help: "All variations have the random seed of the benchmark."},
		conditions("sla_filters", "What a cell must meet to be feasible."),
		section("post_process", "A computation over all cells at the end.", word("handler", "Its name."),
			anything("params", "Its parameters."),
			word("output_filename", "The file of its result, a name that ends in .json.")),
		word("recipe_name", "The recipe that the block was made of."),
	}, of([]string{"grid", "zip"},
		Key{Name: "parameters", Kind: Table, Help: "Path of each parameter below benchmark, and its list of values."}),
		of([]string{"scenarios"}, section("runs", "The variations.", word("name", "The name of the run and its folder."),
			Key{Name: "benchmark", Kind: Table, Help: "What differs from the benchmark of the file."},
			Key{Name: "variables", Kind: Table, Help: "Values for {{ expressions }}."},
			Key{Name: "values", Kind: Table, Help: "Single values that name the folder."}).list()),
		of(sampled, whole("samples", "The number of points.", option.Between(2, 1<<20)),
			whole("seed", "The seed of the points.", option.AtLeast(0)),
			section("dimensions", "What is sampled.", word("path", "Path of the parameter below benchmark."),
				number("lo", "The least value."), number("hi", "The largest value."),
				choice("scale", "How values are spread.", "linear", "log"),
				choice("kind", "Whole numbers or others.", "real", "int", "float"),
				anything("choices", "A list of values in place of a range.")).list(),
			choice("label_format", "How folders are named.", "index", "kv")),
		of([]string{"sobol"}, Key{Name: "scramble", Kind: Switch, Help: "Scramble the sequence."}),
		of([]string{"latin_hypercube"}, choice("optimization", "Make the points more even.", "random-cd", "lloyd")),
		of(search, searchKeys(t, conditions)...))
	return keys
}

func searchKeys(t *option.Tree, conditions func(name, help string) Key) []Key {
	return []Key{
		choice("planner", "Who chooses the next point.", "bayesian", "optuna", "monotonic_sla", "smooth_isotonic"),
		section("search_space", "What is searched.", word("path", "Path of the parameter below benchmark."),
			number("lo", "The least value."), number("hi", "The largest value."),
			choice("kind", "Whole numbers or others.", "int", "real", "float"),
			choice("prior", "Which values are likely.", "uniform", "log-uniform")).list(),
		section("objectives", "What is optimised.", word("metric", "The tag of the metric."),
			choice("stat", "Its statistic.", "avg", "p50", "p90", "p95", "p99"),
			choice("direction", "Whether more is better.", "maximize", "minimize"),
			number("threshold", "The reference point of several objectives.")).list(),
		section("outcome_constraints", "What the best point must meet.", word("metric", "The tag of the metric."),
			choice("op", "The comparison.", "<=", ">=", "=="), number("bound", "The limit.")).list(),
		like("max_iterations", &t.SearchMaxIterations), like("n_initial_points", &t.SearchInitialPoints),
		like("random_seed", &t.SearchRandomSeed),
		whole("improvement_patience", "End after so many points without an improvement.", option.AtLeast(2)),
		whole("plateau_window", "End when so many points in a row are alike.", option.AtLeast(2)),
		{Name: "plateau_threshold", Kind: Number, Limits: option.Above(0),
			Help: "The coefficient of variation below which they are."},
		choice("objective_pooling", "How percentiles of several trials are made.",
			t.SearchPercentilePooling.Row().Values...),
		whole("monotonic_stability_trials", "Runs of each point of planner monotonic_sla.", option.AtLeast(1)),
		whole("sla_replicates", "Further runs at the boundary.", option.AtLeast(0)),
		choice("sla_precision", "How narrow the answer becomes.", "tight", "normal", "coarse"),
		{Name: "sla_warmup_seconds", Kind: Number, Limits: option.AtLeast(0), Help: "Seconds of warm-up of each point."},
		section("sla_tiers", "Sets of conditions, of which each gets its own answer.",
			word("label", "The name of the tier."),
			conditions("filters", "Its conditions."), whole("ordering_rank", "Its place.", option.AtLeast(0))).list(),
		choice("optuna_sampler", "The model of planner optuna.", "tpe", "gp", "botorch"),
		choice("optuna_acquisition", "How it chooses points.", "logei", "qlogei", "qnei", "qlognei", "qehvi", "qnehvi",
			"qlognehvi"),
		choice("optuna_terminator", "When it ends.", "none", "regret", "emmr"),
		choice("constraint_mode", "How outcome_constraints count.", "penalty", "eic"),
	}
}
