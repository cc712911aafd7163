package option

func statNames() []string { return []string{"avg", "p50", "p90", "p95", "p99", "min", "max"} }

func seriesOptions() []Option {
	const (
		search    = "adaptive search"
		multiRun  = "/multi_run."
		sweepPath = "/sweep."
	)
	share, positive := limits(within(0, 1)), limits(Above(0))
	options := []Option{
		opt("num-profile-runs", Int, "1", 2, "Number of runs with the same settings, for confidence intervals.",
			limits(Between(1, 10)), yaml(multiRun+"num_runs")),
		opt("profile-run-cooldown-seconds", Float, "0", 2, "Pause between these runs in seconds.", seconds,
			limits(AtLeast(0)), yaml(multiRun+"cooldown_seconds")),
		opt("confidence-level", Float, "0.95", 2, "Confidence of the intervals.", share,
			yaml(multiRun+"confidence_level")),
		opt("profile-run-disable-warmup-after-first", Bool, "true", 2, "Warm up before the first run only.",
			negation("no-profile-run-disable-warmup-after-first"), yaml(multiRun+"disable_warmup_after_first")),
		opt("set-consistent-seed", Bool, "true", 2, "Use seed 42 for a series of runs when none is given.", negated,
			yaml(multiRun+"set_consistent_seed")),
		opt("vary-seed-per-trial", Bool, "false", 3, "Give each run of a series its own seed.", negated,
			yaml(multiRun+"vary_seed_per_trial")),
		opt("convergence-metric", String, "", 3, "End a series early once this metric is stable."),
		opt("convergence-stat", Enum, "avg", 3, "Statistic of that metric.", values(statNames()...)),
		opt("convergence-mode", Enum, "ci_width", 3, "How stability is judged.",
			choices("ci_width", "The confidence interval of the metric is narrow, relative to its mean.",
				"cv", "The standard deviation is small, relative to the mean.",
				"distribution", "The distributions of the last two runs do not differ.")),
		opt("convergence-threshold", Float, "", 3, "Bound below which the metric is stable.",
			derived("0.10 for ci_width, 0.05 for cv and distribution"), share),
		opt("parameter-sweep-mode", Enum, "repeated", 2, "Repeat the whole sweep, or each value before the next.",
			values("repeated", "independent"), yaml(sweepPath+"iteration_order")),
		opt("parameter-sweep-cooldown-seconds", Float, "0", 2, "Pause between values in seconds.", seconds,
			limits(AtLeast(0)), yaml(sweepPath+"cooldown_seconds")),
		opt("parameter-sweep-same-seed", Bool, "false", 2, "Use one seed for all values.", negated,
			yaml(sweepPath+"same_seed")),
		opt("sweep-type", Enum, "grid", 2, "Combine several lists as a product (grid) or element by element (zip).",
			values("grid", "zip"), yaml(sweepPath+"type")),
		opt("no-sweep-table", Bool, "false", 3, "Do not show the live table of a sweep."),
		opt("variant sweep-variant", String, "", 3,
			`A manually defined point of a sweep, as "name: key=value, key=value"; give it at least twice.`, whole),
		opt("resume", Bool, "false", 2,
			"Keep the complete runs of an earlier start with the same options, and make only those that are missing."),
		opt("pareto-objectives", String, "", 3,
			"Axes of the Pareto front of a sweep, as metric:stat:min|max,metric:stat:min|max."),
		opt("fail-on-partial", Bool, "false", 2, "Exit with 1 if any run of a sweep or series failed."),
		opt("search-space", String, "", 3, "Dimension to search, as path:low,high[:kind].", whole, missing(search)),
		opt("search-metric", String, "", 3, "Metric to optimise.", missing(search)),
		opt("search-stat", String, "avg", 3, "Statistic of that metric.", missing(search)),
		opt("search-direction", Enum, "", 3, "Whether more or less is better.", values("maximize", "minimize"),
			missing(search)),
		opt("search-max-iterations", Int, "", 3, "Maximum number of runs of a search.", limits(Between(2, 200)),
			missing(search)),
		opt("search-initial-points", Int, "5", 3, "Runs before the search uses their results.", limits(AtLeast(1)),
			missing(search)),
		opt("search-random-seed", Int, "", 3, "Seed of the search.", limits(AtLeast(0)), missing(search)),
		opt("search-planner", Enum, "", 3, "Method of the search.",
			values("bayesian", "optuna", "monotonic_sla", "smooth_isotonic"), missing(search)),
		opt("search-sla", String, "", 3, "Condition that a point must meet, as tag:stat:op:threshold.", repeat,
			missing(search)),
		opt("search-sla-tier", String, "", 3, "Tier of conditions.", repeat, missing(search)),
		opt("search-percentile-pooling", Enum, "", 3, "How percentiles of repeated runs are combined.",
			values("mean", "pooled"), missing(search)),
		opt("optuna-sampler", String, "", 3, "Sampler of the optuna planner.", missing(search)),
		opt("optuna-acquisition", String, "", 3, "Acquisition function of the optuna planner.", missing(search)),
		opt("optuna-terminator", String, "", 3, "Stop rule of the optuna planner.", missing(search)),
		opt("bo-constraint-mode", String, "", 3, "Accepted without effect.", missing(search)),
		opt("search-recipe", Enum, "", 3, "Named search.",
			values("max-throughput-ttft-sla", "max-throughput-itl-sla", "max-concurrency-under-sla",
				"max-goodput-under-slo",
				"concurrency-ramp", "prefill-ttft-curve", "decode-itl-curve", "pareto-sweep"), missing(search)),
	}
	for _, limit := range []struct{ name, of string }{{"ttft", "time to first token"}, {"itl", "inter token latency"},
		{"tpot", "time per output token"}, {"e2e", "request latency"}} {
		options = append(options, opt(limit.name+"-sla-ms", Float, "", 3, "Limit on "+limit.of+" in milliseconds.",
			positive, milliseconds, missing(search)))
	}
	options = append(options,
		opt("error-rate-sla", Float, "", 3, "Limit on the share of failed requests.", share, missing(search)),
		opt("slo-attainment-fraction", Float, "0.95", 3, "Share of requests that must meet the service levels.",
			limits(AboveUpTo(0, 1)), missing(search)),
		opt("isl-osl-pairs", String, "", 3, "Pairs of lengths to try, as a/b,c/d.", missing(search)),
		opt("search-style", Enum, "", 3, "Method of a named search.",
			values("smooth_isotonic", "monotonic", "bo", "optuna", "grid"), missing(search)),
		opt("degradation-threshold", Float, "", 3, "Relative loss that counts as degradation.", share, missing(search)),
		opt("degradation-metric-tag", String, "request_latency", 3, "Metric that is checked for degradation.",
			missing(search)),
		opt("degradation-stat", String, "p99", 3, "Statistic of that metric.", missing(search)),
	)
	for _, axis := range []struct{ name, lo, hi, steps string }{{"isl", "256", "32768", "8"},
		{"concurrency", "1", "1000", "8"}, {"osl", "64", "1024", "4"}} {
		options = append(options,
			opt(axis.name+"-min", Int, axis.lo, 3, "Lowest "+axis.name+" of a named search.", limits(AtLeast(1)),
				missing(search)),
			opt(axis.name+"-max", Int, axis.hi, 3, "Highest "+axis.name+" of a named search.", limits(AtLeast(1)),
				missing(search)),
			opt(axis.name+"-steps", Int, axis.steps, 3, "Steps from the lowest to the highest "+axis.name+".",
				limits(AtLeast(2)), missing(search)))
	}
	return options
}
