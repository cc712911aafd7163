package option

// The arrival patterns: how requests are spaced in time.
const (
	ArrivalConstant = "constant"
	ArrivalPoisson  = "poisson"
	ArrivalGamma    = "gamma"
	ArrivalBurst    = "concurrency_burst"
)

// arrivalPatterns are the patterns and their meanings.
func arrivalPatterns() []string {
	return []string{
		ArrivalConstant, "Equal distances.",
		ArrivalPoisson, "Independent arrivals: exponentially distributed distances.",
		ArrivalGamma, "Gamma distributed distances, smoother or burstier than poisson.",
		ArrivalBurst, "As soon as the concurrency allows, without a rate.",
	}
}

func loadOptions() []Option {
	const (
		phase  = "phases.profiling."
		warmup = "phases.warmup."
	)
	atLeastOne, positive, share := limits(AtLeast(1)), limits(Above(0)), limits(Between(0, 1))
	return []Option{
		opt("concurrency", Int, "", 1,
			"Maximum number of sessions in flight. Without a rate, a session starts as soon as a slot is free.",
			derived("1 without a rate, else unlimited"), sweep, limits(Between(1, maxAtATime)),
			yaml(phase+"concurrency")),
		opt("simultaneous-start", Bool, "false", 2,
			"Send the first requests, as many as the concurrency allows, at the same instant. The report shows how "+
				"far apart they were sent.", yaml(phase+"simultaneous_start")),
		opt("prefill-concurrency", Int, "", 2,
			"Maximum number of requests that wait for their first token. Needs --streaming.",
			sweep, limits(Between(1, maxAtATime)), yaml(phase+"prefill_concurrency")),
		opt("request-rate", Float, "", 1,
			"Requests per second; inf sends each request as soon as the concurrency allows, or all of them at once.",
			infinite, sweep, positive, yaml(phase+"rate")),
		opt("arrival-pattern request-rate-mode", Enum, "poisson", 1, "How requests are spaced at a rate.",
			derived("poisson; gamma when --arrival-smoothness is given"), choices(arrivalPatterns()...),
			yaml(phase+"type")),
		opt("arrival-smoothness vllm-burstiness", Float, "", 2,
			"Shape of gamma arrivals: 1 is poisson, more is smoother, less is burstier.", derived("1.0 with gamma"),
			positive, yaml(phase+"smoothness")),
		opt("request-rate-series", Path, "", 3,
			"JSON file with a rate that changes over time: a list of {\"time_s\": t, \"qps\": r}, linear in between.",
			mustExist, yaml(phase+"rate_series")),
		opt("request-count num-requests", Int, "", 1, "Stop after this many requests were sent.",
			derived("without any stop condition: at a rate max(10, concurrency), else max(10, 2 × concurrency)"),
			sweep,
			limits(Between(1, maxRequests)), yaml(phase+"requests")),
		opt("benchmark-duration", Float, "", 1, "Stop sending after this many seconds.", seconds, sweep, positive,
			yaml(phase+"duration")),
		opt("benchmark-grace-period", Float, "30", 1,
			"Seconds to wait for replies after the duration; inf waits for all.", seconds, infinite, limits(AtLeast(0)),
			yaml(phase+"grace_period")),
		opt("concurrency-ramp-duration", Float, "", 2, "Seconds in which the concurrency grows from 1.", seconds,
			positive, yaml(phase+"concurrency_ramp")),
		opt("prefill-concurrency-ramp-duration", Float, "", 2, "Seconds in which the prefill concurrency grows from 1.",
			seconds, positive, yaml(phase+"prefill_ramp")),
		opt("request-rate-ramp-duration", Float, "", 2, "Seconds in which the rate grows to its value.", seconds,
			positive, yaml(phase+"rate_ramp")),
		opt("user-centric-rate", Float, "", 2, "Requests per second over all users, each user at its own pace.",
			positive, yaml(phase+"rate")),
		opt("num-users", Int, "", 2, "Number of users of --user-centric-rate.", sweep, limits(Between(1, maxAtATime)),
			yaml(phase+"users")),
		opt("request-cancellation-rate", Float, "", 2, "Percent of the requests that are cancelled on purpose.",
			limits(AboveUpTo(0, 100)), yaml(phase+"cancellation.rate")),
		opt("request-cancellation-delay", Float, "0", 2, "Seconds from the sending of a request to its cancellation.",
			seconds, limits(AtLeast(0)), yaml(phase+"cancellation.delay")),
		opt("failed-request-threshold", Float, "", 2,
			"Share of failed requests above which the run ends early, with a non-zero exit.", share,
			yaml(phase+"failed_request_threshold")),
		opt("fail-fast", Bool, "true", 2,
			"End the run if the server was never reached: after 10 s and 100 failed connections in a row, or after "+
				"60 s. Until then, and whenever every connection fails later on, failed requests are followed by "+
				"pauses of up to 1 s.", negated),
		opt("warmup-request-count num-warmup-requests", Int, "", 1,
			"Warm up with this many requests; they are not measured.", limits(Between(1, maxRequests)),
			yaml(warmup+"requests")),
		opt("warmup-duration", Float, "", 1, "Warm up for this many seconds.", seconds, positive,
			yaml(warmup+"duration")),
		opt("num-warmup-sessions", Int, "", 2, "Warm up with this many sessions.", limits(Between(1, maxRequests)),
			yaml(warmup+"sessions")),
		opt("warmup-concurrency", Int, "", 2, "Concurrency of the warm-up.", derived("--concurrency"),
			limits(Between(1, maxAtATime)),
			yaml(warmup+"concurrency")),
		opt("warmup-prefill-concurrency", Int, "", 2, "Prefill concurrency of the warm-up.",
			derived("--prefill-concurrency"), limits(Between(1, maxAtATime)), yaml(warmup+"prefill_concurrency")),
		opt("warmup-request-rate", Float, "", 2, "Requests per second of the warm-up; inf as for --request-rate.",
			derived("--request-rate"), infinite, positive, yaml(warmup+"rate")),
		opt("warmup-arrival-pattern", Enum, "", 2, "Arrival pattern of the warm-up.", derived("--arrival-pattern"),
			choices(arrivalPatterns()...), yaml(warmup+"type")),
		opt("warmup-concurrency-ramp-duration", Float, "", 2, "Concurrency ramp of the warm-up in seconds.", seconds,
			derived("--concurrency-ramp-duration"), positive, yaml(warmup+"concurrency_ramp")),
		opt("warmup-prefill-concurrency-ramp-duration", Float, "", 2,
			"Prefill concurrency ramp of the warm-up in seconds.", seconds,
			derived("--prefill-concurrency-ramp-duration"), positive, yaml(warmup+"prefill_ramp")),
		opt("warmup-request-rate-ramp-duration", Float, "", 2, "Rate ramp of the warm-up in seconds.", seconds,
			derived("--request-rate-ramp-duration"), positive, yaml(warmup+"rate_ramp")),
		opt("warmup-grace-period", Float, "inf", 2, "Seconds to wait for replies after the warm-up's duration.",
			seconds, infinite, limits(AtLeast(0)), yaml(warmup+"grace_period")),
		opt("scenario", String, "", 3, "Named set of conditions that a run must meet.", yaml("scenario")),
		opt("unsafe-override", Bool, "false", 3, "Turn violations of the scenario into warnings.",
			yaml("unsafe_override")),
		opt("trajectory-start-min-ratio", Float, "0.25", 3, "Earliest start inside a trajectory, as a share of it.",
			share, yaml(phase+"trajectory_start_min_ratio")),
		opt("trajectory-start-max-ratio", Float, "0.75", 3, "Latest start inside a trajectory, as a share of it.",
			share, yaml(phase+"trajectory_start_max_ratio")),
		opt("burst-phase-starts", Bool, "false", 3, "Start all trajectories of a phase at once.",
			yaml(phase+"burst_phase_starts")),
		opt("trace-idle-gap-cap-seconds", Float, "", 3, "Longest idle gap inside a trajectory in seconds.", seconds,
			limits(AtLeast(0))),
		opt("system-idle-gap-cap-seconds", Float, "10", 3,
			"Longest time in seconds without any request in flight; inf means no limit.", seconds, infinite,
			limits(AtLeast(0))),
		opt("agentic-cache-warmup-duration", Float, "", 3, "Seconds in which the server's cache is warmed.", seconds,
			positive, yaml(phase+"agentic_cache_warmup_duration")),
		opt("agentic-warmup-grace-period", Float, "", 3, "Grace period of that warm-up in seconds.", seconds, infinite,
			limits(AtLeast(0)), yaml(phase+"agentic_warmup_grace_period")),
		opt("warmup-requests-per-lane", Int, "", 3, "Warm-up requests per lane, instead of a duration.", atLeastOne),
	}
}
