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

// loadFields are the options of when requests are sent.
type loadFields struct {
	ArrivalPattern, RequestRateSeries, WarmupArrivalPattern, Scenario Opt[string]
	SimultaneousStart, FailFast, UnsafeOverride, BurstPhaseStarts     Opt[bool]
	Concurrency, PrefillConcurrency, RequestCount, NumUsers, WarmupRequestCount, NumWarmupSessions,
	WarmupConcurrency, WarmupPrefillConcurrency, WarmupRequestsPerLane Opt[int64]
	RequestRate, ArrivalSmoothness, BenchmarkDuration, BenchmarkGracePeriod, ConcurrencyRampDuration,
	PrefillConcurrencyRampDuration, RequestRateRampDuration, UserCentricRate, RequestCancellationRate,
	RequestCancellationDelay, FailedRequestThreshold, WarmupDuration, WarmupRequestRate,
	WarmupConcurrencyRampDuration, WarmupPrefillConcurrencyRampDuration, WarmupRequestRateRampDuration,
	WarmupGracePeriod, TrajectoryStartMinRatio, TrajectoryStartMaxRatio, TraceIdleGapCapSeconds,
	SystemIdleGapCapSeconds, AgenticCacheWarmupDuration, AgenticWarmupGracePeriod Opt[float64]
}

func (l *loadFields) rows() []Option {
	const (
		phase  = "phases.profiling."
		warmup = "phases.warmup."
	)
	atLeastOne, positive, share := limits(AtLeast(1)), limits(Above(0)), limits(Between(0, 1))
	return []Option{
		opt(&l.Concurrency, "concurrency", "", 1,
			"Maximum number of sessions in flight. Without a rate, a session starts as soon as a slot is free.",
			derived("1 without a rate, else unlimited"), sweep, limits(Between(1, maxAtATime)),
			yaml(phase+"concurrency")),
		opt(&l.SimultaneousStart, "simultaneous-start", "false", 2, "Send the first requests, as many as the "+
			"concurrency allows, at the same instant. The report shows how far apart they were sent.",
			yaml(phase+"simultaneous_start")),
		opt(&l.PrefillConcurrency, "prefill-concurrency", "", 2,
			"Maximum number of requests that wait for their first token. Needs --streaming.", sweep,
			limits(Between(1, maxAtATime)), yaml(phase+"prefill_concurrency")),
		opt(&l.RequestRate, "request-rate", "", 1,
			"Requests per second; inf sends each request as soon as the concurrency allows, or all of them at once.",
			infinite, sweep, positive, yaml(phase+"rate")),
		opt(&l.ArrivalPattern, "arrival-pattern request-rate-mode", "poisson", 1, "How requests are spaced at a rate.",
			derived("poisson; gamma when --arrival-smoothness is given"), choices(arrivalPatterns()...),
			yaml(phase+"type")),
		opt(&l.ArrivalSmoothness, "arrival-smoothness vllm-burstiness", "", 2,
			"Shape of gamma arrivals: 1 is poisson, more is smoother, less is burstier.", derived("1.0 with gamma"),
			positive, yaml(phase+"smoothness")),
		opt(&l.RequestRateSeries, "request-rate-series", "", 3,
			"JSON file with a rate that changes over time: a list of {\"time_s\": t, \"qps\": r}, linear in between.",
			mustExist, yaml(phase+"rate_series")),
		opt(&l.RequestCount, "request-count num-requests", "", 1, "Stop after this many requests were sent.",
			derived("without any stop condition: at a rate max(10, concurrency), else max(10, 2 × concurrency)"), sweep,
			limits(Between(1, maxRequests)), yaml(phase+"requests")),
		opt(&l.BenchmarkDuration, "benchmark-duration", "", 1, "Stop sending after this many seconds.", seconds, sweep,
			positive, yaml(phase+"duration")),
		opt(&l.BenchmarkGracePeriod, "benchmark-grace-period", "30", 1,
			"Seconds to wait for replies after the duration; inf waits for all.", seconds, infinite, limits(AtLeast(0)),
			yaml(phase+"grace_period")),
		opt(&l.ConcurrencyRampDuration, "concurrency-ramp-duration", "", 2,
			"Seconds in which the concurrency grows from 1.", seconds, positive, yaml(phase+"concurrency_ramp")),
		opt(&l.PrefillConcurrencyRampDuration, "prefill-concurrency-ramp-duration", "", 2,
			"Seconds in which the prefill concurrency grows from 1.", seconds, positive, yaml(phase+"prefill_ramp")),
		opt(&l.RequestRateRampDuration, "request-rate-ramp-duration", "", 2,
			"Seconds in which the rate grows to its value.", seconds, positive, yaml(phase+"rate_ramp")),
		opt(&l.UserCentricRate, "user-centric-rate", "", 2,
			"Requests per second over all users, each user at its own pace.", positive, yaml(phase+"rate")),
		opt(&l.NumUsers, "num-users", "", 2, "Number of users of --user-centric-rate.", sweep,
			limits(Between(1, maxAtATime)), yaml(phase+"users")),
		opt(&l.RequestCancellationRate, "request-cancellation-rate", "", 2,
			"Percent of the requests that are cancelled on purpose.", limits(AboveUpTo(0, 100)),
			yaml(phase+"cancellation.rate")),
		opt(&l.RequestCancellationDelay, "request-cancellation-delay", "0", 2,
			"Seconds from the sending of a request to its cancellation.", seconds, limits(AtLeast(0)),
			yaml(phase+"cancellation.delay")),
		opt(&l.FailedRequestThreshold, "failed-request-threshold", "", 2,
			"Share of failed requests above which the run ends early, with a non-zero exit.", share,
			yaml(phase+"failed_request_threshold")),
		opt(&l.FailFast, "fail-fast", "true", 2, "End the run if the server was never reached: after 10 s and 100 "+
			"failed connections in a row, or after 60 s. Until then, and whenever every connection fails later on, "+
			"failed requests are followed by pauses of up to 1 s.", negated),
		opt(&l.WarmupRequestCount, "warmup-request-count num-warmup-requests", "", 1,
			"Warm up with this many requests; they are not measured.", limits(Between(1, maxRequests)),
			yaml(warmup+"requests")),
		opt(&l.WarmupDuration, "warmup-duration", "", 1, "Warm up for this many seconds.", seconds, positive,
			yaml(warmup+"duration")),
		opt(&l.NumWarmupSessions, "num-warmup-sessions", "", 2, "Warm up with this many sessions.",
			limits(Between(1, maxRequests)), yaml(warmup+"sessions")),
		opt(&l.WarmupConcurrency, "warmup-concurrency", "", 2, "Concurrency of the warm-up.", derived("--concurrency"),
			limits(Between(1, maxAtATime)), yaml(warmup+"concurrency")),
		opt(&l.WarmupPrefillConcurrency, "warmup-prefill-concurrency", "", 2, "Prefill concurrency of the warm-up.",
			derived("--prefill-concurrency"), limits(Between(1, maxAtATime)), yaml(warmup+"prefill_concurrency")),
		opt(&l.WarmupRequestRate, "warmup-request-rate", "", 2,
			"Requests per second of the warm-up; inf as for --request-rate.", derived("--request-rate"), infinite,
			positive, yaml(warmup+"rate")),
		opt(&l.WarmupArrivalPattern, "warmup-arrival-pattern", "", 2, "Arrival pattern of the warm-up.",
			derived("--arrival-pattern"), choices(arrivalPatterns()...), yaml(warmup+"type")),
		opt(&l.WarmupConcurrencyRampDuration, "warmup-concurrency-ramp-duration", "", 2,
			"Concurrency ramp of the warm-up in seconds.", seconds, derived("--concurrency-ramp-duration"), positive,
			yaml(warmup+"concurrency_ramp")),
		opt(&l.WarmupPrefillConcurrencyRampDuration, "warmup-prefill-concurrency-ramp-duration", "", 2,
			"Prefill concurrency ramp of the warm-up in seconds.", seconds,
			derived("--prefill-concurrency-ramp-duration"), positive, yaml(warmup+"prefill_ramp")),
		opt(&l.WarmupRequestRateRampDuration, "warmup-request-rate-ramp-duration", "", 2,
			"Rate ramp of the warm-up in seconds.", seconds, derived("--request-rate-ramp-duration"), positive,
			yaml(warmup+"rate_ramp")),
		opt(&l.WarmupGracePeriod, "warmup-grace-period", "inf", 2,
			"Seconds to wait for replies after the warm-up's duration.", seconds, infinite, limits(AtLeast(0)),
			yaml(warmup+"grace_period")),
		opt(&l.Scenario, "scenario", "", 3, "Named set of conditions that a run must meet.", yaml("scenario")),
		opt(&l.UnsafeOverride, "unsafe-override", "false", 3, "Turn violations of the scenario into warnings.",
			yaml("unsafe_override")),
		opt(&l.TrajectoryStartMinRatio, "trajectory-start-min-ratio", "0.25", 3,
			"Earliest start inside a trajectory, as a share of it.", share, yaml(phase+"trajectory_start_min_ratio")),
		opt(&l.TrajectoryStartMaxRatio, "trajectory-start-max-ratio", "0.75", 3,
			"Latest start inside a trajectory, as a share of it.", share, yaml(phase+"trajectory_start_max_ratio")),
		opt(&l.BurstPhaseStarts, "burst-phase-starts", "false", 3, "Start all trajectories of a phase at once.",
			yaml(phase+"burst_phase_starts")),
		opt(&l.TraceIdleGapCapSeconds, "trace-idle-gap-cap-seconds", "", 3,
			"Longest idle gap inside a trajectory in seconds.", seconds, limits(AtLeast(0))),
		opt(&l.SystemIdleGapCapSeconds, "system-idle-gap-cap-seconds", "10", 3,
			"Longest time in seconds without any request in flight; inf means no limit.", seconds, infinite,
			limits(AtLeast(0))),
		opt(&l.AgenticCacheWarmupDuration, "agentic-cache-warmup-duration", "", 3,
			"Seconds in which the server's cache is warmed.", seconds, positive,
			yaml(phase+"agentic_cache_warmup_duration")),
		opt(&l.AgenticWarmupGracePeriod, "agentic-warmup-grace-period", "", 3,
			"Grace period of that warm-up in seconds.", seconds, infinite, limits(AtLeast(0)),
			yaml(phase+"agentic_warmup_grace_period")),
		opt(&l.WarmupRequestsPerLane, "warmup-requests-per-lane", "", 3,
			"Warm-up requests per lane, instead of a duration.", atLeastOne),
	}
}
