package option

func statNames() []string { return []string{"avg", "p50", "p90", "p95", "p99", "min", "max"} }

func seriesOptions() []Option {
	const (
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
		opt("probe-early-stop", Bool, "false", 2,
			"End a run of a search as soon as it is certain whether its service levels are met or the server is "+
				"saturated, and its warm-up as soon as its figures are stationary.", negated),
		opt("probe-confidence", Float, "0.95", 2, "How certain that must be.", limits(within(0.5, 1))),
		opt("probe-isolation", Bool, "false", 2,
			"Keep the runs of a search from helping each other: other generated prompts in each, and a wait before it "+
				"until the server's metrics show no request.", negated),
		opt("search-space", String, "", 3,
			"Dimension to search, as path:low,high[:int|real], such as concurrency:1,200:int. Each iteration of the "+
				"search is a run, or several with --num-profile-runs.", whole),
		opt("search-metric", String, "", 3, "Metric to optimise. Needed with --search-space."),
		opt("search-stat", Enum, "avg", 3, "Statistic of that metric.", values("avg", "p50", "p90", "p95", "p99")),
		opt("search-direction", Enum, "", 3, "Whether more or less is better. Needed with --search-space.",
			values("maximize", "minimize")),
		opt("search-max-iterations", Int, "", 3, "Most iterations of a search. Needed with --search-space.",
			limits(Between(2, 200)), derived("20 or 30 with --search-recipe"), yaml(sweepPath+"max_iterations")),
		opt("search-initial-points", Int, "5", 3, "Iterations before a model of the results chooses the points.",
			limits(AtLeast(1)), yaml(sweepPath+"n_initial_points")),
		opt("search-random-seed", Int, "", 3, "Seed of the search: with the same one the same results lead to the "+
			"same points.", limits(AtLeast(0)), yaml(sweepPath+"random_seed")),
		opt("search-planner", Enum, "bayesian", 3, "How the search chooses its points.",
			choices("bayesian", "A Gaussian process with expected improvement; several dimensions and objectives.",
				"optuna", "The same with a sampler, an acquisition and a terminator of choice.",
				"monotonic_sla", "Doubling and bisection to the limit of one dimension; two equal outcomes decide.",
				"smooth_isotonic", "The limit of one dimension by a monotone curve through the margins."),
			yaml(sweepPath+"planner")),
		opt("search-sla", String, "", 3, "Condition that a point must meet, as tag:stat:op:threshold in the unit of "+
			"the metric, such as time_to_first_token:p95:lt:200; operators are lt, le, gt and ge.", whole),
		opt("search-sla-tier", String, "", 3, "Tier of conditions whose limit is searched together with those of "+
			"others, as [label:]condition[,condition…]; give it 2 to 10 times.", whole),
		opt("search-percentile-pooling", Enum, "mean", 3, "How a percentile of several runs at a point is combined.",
			choices("mean", "The mean of the runs' percentiles.",
				"pooled", "The percentile of the requests of all runs together."), yaml(sweepPath+"objective_pooling")),
		opt("optuna-sampler", Enum, "botorch", 3, "Sampler of --search-planner optuna. gp and botorch are the same "+
			"Gaussian process.", values("tpe", "gp", "botorch"), yaml(sweepPath+"optuna_sampler")),
		opt("optuna-acquisition", Enum, "", 3, "Acquisition function of the botorch sampler: qehvi, qnehvi and "+
			"qlognehvi are for several objectives.", values("logei", "qlogei", "qnei", "qlognei", "qehvi", "qnehvi",
			"qlognehvi"), yaml(sweepPath+"optuna_acquisition")),
		opt("optuna-terminator", Enum, "none", 3, "Further stop rule of --search-planner optuna.",
			values("none", "regret", "emmr"), yaml(sweepPath+"optuna_terminator")),
		opt("bo-constraint-mode", Enum, "", 3, "Accepted without effect.", values("penalty", "eic"),
			yaml(sweepPath+"constraint_mode")),
		opt("search-recipe", Enum, "", 3, "A search, or a sweep with its evaluation, by name.",
			choices("max-throughput-ttft-sla", "Most output tokens per second under --ttft-sla-ms.",
				"max-throughput-itl-sla", "Most output tokens per second under --itl-sla-ms.",
				"max-concurrency-under-sla", "Highest concurrency under limits, by --search-style.",
				"max-goodput-under-slo", "Most good requests per second under --ttft-sla-ms, --tpot-sla-ms, --e2e-sla-ms.",
				"concurrency-ramp", "From which concurrency a metric degrades.",
				"prefill-ttft-curve", "Time to first token over the length of the input.",
				"decode-itl-curve", "Inter token latency over concurrency and length of the output.",
				"pareto-sweep", "Latency against throughput for --isl-osl-pairs."), yaml(sweepPath+"recipe_name")),
	}
	for _, limit := range []struct{ name, of string }{{"ttft", "p95 time to first token"},
		{"itl", "p95 inter token latency"}, {"tpot", "p95 time per output token"}, {"e2e", "p99 request latency"}} {
		options = append(options, opt(limit.name+"-sla-ms", Float, "", 3, "Limit of a recipe on the "+limit.of+
			" in milliseconds.", positive, milliseconds))
	}
	options = append(options,
		opt("error-rate-sla", Float, "", 3, "Limit of a recipe on the share of failed requests, between 0 and 1.", share),
		opt("slo-attainment-fraction", Float, "0.95", 3, "Share of requests that must meet all limits of "+
			"max-goodput-under-slo.", limits(AboveUpTo(0, 1))),
		opt("isl-osl-pairs", String, "", 3, "Shapes of pareto-sweep, as isl/osl,isl/osl."),
		opt("search-style", Enum, "smooth_isotonic", 3, "Method of max-concurrency-under-sla.",
			values("smooth_isotonic", "monotonic", "bo", "optuna", "grid")),
		opt("degradation-threshold", Float, "0.2", 3, "Relative loss that concurrency-ramp takes for degradation.",
			share),
		opt("degradation-metric-tag", String, "request_latency", 3, "Metric that concurrency-ramp checks."),
		opt("degradation-stat", Enum, "p99", 3, "Statistic of that metric.", values(statNames()...)),
	)
	for _, axis := range []struct{ name, lo, hi, most, steps, number string }{
		{"isl", "256", "32768", "", "8", ""},
		{"concurrency", "1", "1000", "1000; 200 with decode-itl-curve", "8", "8; 6 with decode-itl-curve"},
		{"osl", "64", "1024", "", "4", ""}} {
		options = append(options,
			opt(axis.name+"-min", Int, axis.lo, 3, "Lowest "+axis.name+" of a recipe.", limits(AtLeast(1))),
			opt(axis.name+"-max", Int, axis.hi, 3, "Highest "+axis.name+" of a recipe.", limits(AtLeast(1)),
				derived(axis.most)),
			opt(axis.name+"-steps", Int, axis.steps, 3, "Logarithmic steps of a recipe from the lowest to the highest "+
				axis.name+".", limits(AtLeast(2)), derived(axis.number)))
	}
	return options
}
