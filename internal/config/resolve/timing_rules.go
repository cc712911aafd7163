package resolve

import (
	"math"
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
)

func (ti *timing) checkSchedule() {
	start, end := ti.p.FixedScheduleStartOffset.Pointer(), ti.p.FixedScheduleEndOffset.Pointer()
	if start != nil && ti.p.FixedScheduleAutoOffset.Get() {
		ti.fault("V3", "%s and %s cannot be used together", ti.p.FixedScheduleStartOffset.Flag(),
			ti.p.FixedScheduleAutoOffset.Flag())
	}
	if start != nil && end != nil && *start > *end {
		ti.fault("V4", "%s %d must be at most %s %d", ti.p.FixedScheduleStartOffset.Flag(), *start,
			ti.p.FixedScheduleEndOffset.Flag(), *end)
	}
	if ti.mode != config.FixedSchedule {
		if flags := givenOf(&ti.p.FixedScheduleAutoOffset, &ti.p.FixedScheduleStartOffset,
			&ti.p.FixedScheduleEndOffset); len(flags) > 0 {
			ti.fault("V5", "%s can only be used together with --fixed-schedule", strings.Join(flags, ", "))
		}
		return
	}
	if order := ti.p.DatasetSamplingStrategy.Get(); order != "" && order != "sequential" {
		ti.fault("V26", "%s %s is not compatible with a fixed schedule, which sends every conversation exactly once, "+
			"in order", ti.p.DatasetSamplingStrategy.Flag(), order)
	}
	if ti.p.RequestRateRampDuration.Given() {
		ti.fault("V25", "%s is not compatible with a fixed schedule, which has no rate",
			ti.p.RequestRateRampDuration.Flag())
	}
	if !ti.p.FixedSchedule.Get() {
		if flags := givenOf(&ti.p.RequestRate, &ti.p.RequestRateSeries, &ti.p.UserCentricRate, &ti.p.NumUsers,
			&ti.p.ArrivalSmoothness); len(flags) > 0 {
			ti.fault("", "%s cannot be used here: the trace contains timestamps, so requests follow its schedule; "+
				"--no-fixed-schedule prevents this", strings.Join(flags, ", "))
		}
		return
	}
	if flags := givenOf(&ti.p.RequestRate, &ti.p.RequestRateSeries, &ti.p.ArrivalPattern,
		&ti.p.UserCentricRate); len(flags) > 0 {
		ti.warn("%s has no effect with --fixed-schedule: requests go out at their recorded times",
			strings.Join(flags, ", "))
	}
}

func (ti *timing) checkSimultaneousStart() {
	if !ti.p.SimultaneousStart.Get() {
		return
	}
	switch {
	case ti.mode != config.Burst || !ti.p.Concurrency.Given():
		ti.fault("", "%s needs --concurrency without a rate or a schedule", ti.p.SimultaneousStart.Flag())
	case ti.p.ConcurrencyRampDuration.Given():
		ti.fault("", "%s and %s cannot be used together", ti.p.SimultaneousStart.Flag(),
			ti.p.ConcurrencyRampDuration.Flag())
	}
}

func (ti *timing) checkConcurrency() {
	concurrencies := ti.p.Concurrency.All()
	if len(concurrencies) == 0 && ti.concurrency != nil {
		concurrencies = []int64{*ti.concurrency}
	}
	for _, c := range concurrencies {
		bounds, what := ti.p.NumSessions.All(), ti.p.NumSessions.Flag()
		if n := ti.p.RequestCount.All(); len(bounds) == 0 || len(n) > 0 && slices.Min(n) < slices.Min(bounds) {
			bounds, what = n, ti.p.RequestCount.Flag()
		}
		if len(bounds) == 0 && ti.roots > 0 {
			bounds, what = []int64{ti.roots}, "the derived --num-sessions, one for each root session of the file,"
		}
		if len(bounds) == 0 {
			if n := ti.defaultRequests(&c); n != nil {
				bounds, what = []int64{*n}, "the derived request count"
			}
		}
		for _, n := range bounds {
			if c > n {
				ti.warn("%s %d has no effect beyond %d, which is %s", ti.p.Concurrency.Flag(), c, n, what)
			}
		}
	}
}

func (ti *timing) checkPrefill() {
	if flags := givenOf(&ti.p.PrefillConcurrency, &ti.p.WarmupPrefillConcurrency); len(flags) > 0 &&
		!ti.endpoint.streaming {
		ti.fault("V13", "%s requires --streaming%s", strings.Join(flags, ", "), ti.endpoint.whyNoStreaming())
	}
	ti.checkAtMost(&ti.p.PrefillConcurrency, &ti.p.Concurrency)
	if ti.p.WarmupConcurrency.Given() {
		ti.checkAtMost(&ti.p.WarmupPrefillConcurrency, &ti.p.WarmupConcurrency)
	} else {
		ti.checkAtMost(&ti.p.WarmupPrefillConcurrency, &ti.p.Concurrency)
	}
}

// checkAtMost refuses a prefill limit above the concurrency it is part of.
func (ti *timing) checkAtMost(part, whole *option.Opt[int64]) {
	for _, p := range part.All() {
		for _, w := range whole.All() {
			if p > w {
				ti.fault("V14", "%s %d cannot be greater than %s %d", part.Flag(), p, whole.Flag(), w)
			}
		}
	}
}

func (ti *timing) checkUsers() {
	if ti.p.UserCentricRate.Given() && ti.file.generated() { // other data has the turns that it has
		if turns := ti.p.ConversationTurnMean.All(); len(turns) == 0 || slices.Min(turns) < 2 {
			if ti.inFile { // whose schema lets it be
				ti.warn("%s: conversations have one turn, so that each user sends one request",
					ti.p.UserCentricRate.Flag())
			} else {
				ti.fault("V17", "%s requires multi-turn conversations: give --session-turns-mean 2 or more",
					ti.p.UserCentricRate.Flag())
			}
		}
	}
	for _, users := range ti.p.NumUsers.All() {
		for _, bound := range []*option.Opt[int64]{&ti.p.NumSessions, &ti.p.RequestCount} {
			for _, n := range bound.All() {
				if n < users {
					ti.fault("V19", "%s %d cannot be less than %s %d", bound.Flag(), n, ti.p.NumUsers.Flag(), users)
				}
			}
		}
	}
}

// checkUsersFile refuses files without conversations of several turns where users take turns at a rate.
func (ti *timing) checkUsersFile() {
	file := ti.p.InputFile.Get()
	if ti.mode != config.UserCentric || file == "" ||
		ti.file.branching { // those of branching sessions are refused by checkRoots
		return
	}
	if format := ti.file.format(file); format != "" && format != option.MultiTurn {
		ti.fault("", "%s needs a file of format %s, but %s has the format %s", ti.p.UserCentricRate.Flag(),
			option.MultiTurn,
			fault.Shorten(file), format)
	}
}

func (ti *timing) checkArrivals() {
	pattern := ti.p.ArrivalPattern.Get()
	rates := givenOf(&ti.p.RequestRate, &ti.p.RequestRateSeries)
	if len(rates) > 0 && pattern == string(config.Burst) {
		ti.fault("V20", "%s %s is not allowed when %s is given", ti.p.ArrivalPattern.Flag(), pattern, rates[0])
	}
	ti.checkInfiniteRate()
	if !ti.p.ArrivalSmoothness.Given() {
		return
	}
	switch {
	case ti.p.ArrivalPattern.Given() && pattern != config.PatternGamma:
		ti.fault("V21", "%s can only be used with the gamma pattern, not with %s %s", ti.p.ArrivalSmoothness.Flag(),
			ti.p.ArrivalPattern.Flag(), pattern)
	case len(rates) == 0:
		ti.fault("V21", "%s can only be used with the gamma pattern, which needs --request-rate",
			ti.p.ArrivalSmoothness.Flag())
	}
}

// checkInfiniteRate refuses an infinite rate that nothing but a duration limits: it would send until memory is full.
func (ti *timing) checkInfiniteRate() {
	infinite := func(rate *option.Opt[float64]) bool { return math.IsInf(rate.Get(), 1) }
	if ti.mode == config.Rate && infinite(&ti.p.RequestRate) {
		if ti.concurrency == nil && ti.prefill == nil && ti.requests == nil && ti.sessions == nil {
			ti.fault("", "%s inf sends all requests at once: give --concurrency, --request-count or --num-sessions",
				ti.p.RequestRate.Flag())
		}
		if ti.p.RequestRateRampDuration.Given() {
			ti.warn("%s has no effect with %s inf", ti.p.RequestRateRampDuration.Flag(), ti.p.RequestRate.Flag())
		}
	}
	if !ti.warmsUp() {
		return
	}
	if w := ti.warmup(); w.AtOnce() && w.Concurrency == nil && w.Prefill == nil && w.Requests == nil &&
		w.Sessions == nil {
		rate := &ti.p.RequestRate
		if infinite(&ti.p.WarmupRequestRate) {
			rate = &ti.p.WarmupRequestRate
		}
		ti.fault("", "%s inf sends all requests of the warm-up at once: give --warmup-concurrency, "+
			"--warmup-request-count or --num-warmup-sessions",
			rate.Flag())
	}
}

func (ti *timing) checkStop() {
	if ti.mode != config.FixedSchedule && ti.requests == nil && ti.sessions == nil && ti.duration == nil &&
		!ti.whole && !ti.p.Sized {
		ti.fault("V46", "at least one stop condition is needed: give --request-count, --num-sessions or "+
			"--benchmark-duration")
	}
}

// checkRoots refuses the timing modes that play conversations as lists of turns, and options that only recorded
// agents know.
func (ti *timing) checkRoots() {
	if flags := activeOf(&ti.p.UseThinkTimeOnly, &ti.p.MaxContextLength); len(flags) > 0 && !ti.file.recorded {
		ti.fault("", "%s can only be used with a %s, %s or %s file", strings.Join(flags, ", "), option.WekaTrace,
			option.TraceLab,
			option.DynamoTrace)
	}
	if flags := activeOf(&ti.p.InterTurnDelayCapSeconds); len(flags) > 0 && !ti.file.branching &&
		!ti.file.ofBaseten &&
		!ti.file.recorded && ti.recorded() == nil {
		ti.fault("", "%s can only be used with a baseten_trace, %s, %s, %s, %s or %s file", strings.Join(flags, ", "),
			option.WekaTrace, option.TraceLab, option.DynamoTrace, option.DAGJSONL, option.Recording)
	}
	if flags := activeOf(&ti.p.UseThinkTimeOnly, &ti.p.InterTurnDelayCapSeconds); len(flags) > 0 &&
		ti.file.recorded &&
		ti.mode == config.FixedSchedule && !ti.file.branching {
		ti.warn("%s has no effect in a fixed schedule, which keeps the recorded times: give --no-fixed-schedule",
			strings.Join(flags, ", "))
	}
	if !ti.file.branching || ti.mode != config.UserCentric && ti.mode != config.FixedSchedule {
		return
	}
	mode := "--user-centric-rate"
	if ti.mode == config.FixedSchedule {
		mode = "a fixed schedule"
	}
	ti.fault("", "%s cannot be used with the branching sessions of %s: give --concurrency or --request-rate", mode,
		ti.file.source())
}

// agenticOnly are the options that only agentic replay knows.
func agenticOnly(p *option.Tree) []option.Field {
	return []option.Field{&p.TrajectoryStartMinRatio, &p.TrajectoryStartMaxRatio, &p.BurstPhaseStarts,
		&p.TraceIdleGapCapSeconds, &p.SystemIdleGapCapSeconds, &p.AgenticCacheWarmupDuration,
		&p.AgenticWarmupGracePeriod, &p.WarmupRequestsPerLane, &p.AllowDatasetWrap}
}

func (ti *timing) checkAgentic() {
	if ti.mode != config.AgenticReplay {
		if flags := activeOf(agenticOnly(&ti.p.Tree)...); len(flags) > 0 {
			ti.fault("", "%s can only be used with agentic replay: give --scenario %s", strings.Join(flags, ", "),
				agentX)
		}
		return
	}
	if low, high := ti.scenario.minStart, ti.scenario.maxStart; low > high {
		ti.fault("", "%s %v must be at most %s %v", ti.p.TrajectoryStartMinRatio.Flag(), low,
			ti.p.TrajectoryStartMaxRatio.Flag(), high)
	}
	if ti.p.WarmupRequestsPerLane.Given() && ti.p.AgenticCacheWarmupDuration.Given() {
		ti.fault("", "%s and %s cannot be used together: the caches are filled for a time or with a number of requests",
			ti.p.WarmupRequestsPerLane.Flag(), ti.p.AgenticCacheWarmupDuration.Flag())
	}
	warmups := activeOf(&ti.p.WarmupRequestCount, &ti.p.WarmupDuration, &ti.p.NumWarmupSessions,
		&ti.p.WarmupConcurrency,
		&ti.p.WarmupPrefillConcurrency, &ti.p.WarmupRequestRate, &ti.p.WarmupArrivalPattern, &ti.p.WarmupGracePeriod,
		&ti.p.WarmupConcurrencyRampDuration, &ti.p.WarmupPrefillConcurrencyRampDuration,
		&ti.p.WarmupRequestRateRampDuration)
	if len(warmups) > 0 {
		ti.fault("", "%s cannot be used with agentic replay, which warms up its lanes: see "+
			"--agentic-cache-warmup-duration", strings.Join(warmups, ", "))
	}
	if target := ti.scenario.cacheBust(); strings.HasPrefix(target, "warmup_isolation_") {
		ti.fault("", "--cache-bust %s cannot be used with agentic replay, whose warm-up fills the caches", target)
	}
	if ti.p.DatasetSamplingStrategy.Get() == "random" {
		ti.fault("", "%s random cannot be used with agentic replay, which plays every recording in turn: use "+
			"sequential or shuffle", ti.p.DatasetSamplingStrategy.Flag())
	}
	if flags := activeOf(&ti.p.ConcurrencyRampDuration, &ti.p.SimultaneousStart,
		&ti.p.ConversationTurnMean); len(flags) > 0 {
		ti.fault("", "%s cannot be used with agentic replay, whose lanes play recorded sessions",
			strings.Join(flags, ", "))
	}
}

// warnWarmup warns of warm-up options that have no effect because nothing starts a warm-up.
func (ti *timing) warnWarmup() {
	if ti.warmsUp() {
		return
	}
	flags := givenOf(&ti.p.WarmupConcurrency, &ti.p.WarmupPrefillConcurrency, &ti.p.WarmupRequestRate,
		&ti.p.WarmupArrivalPattern,
		&ti.p.WarmupConcurrencyRampDuration, &ti.p.WarmupPrefillConcurrencyRampDuration,
		&ti.p.WarmupRequestRateRampDuration)
	if len(flags) > 0 {
		ti.warn("no warm-up: %s have an effect only with --warmup-request-count, --warmup-duration or "+
			"--num-warmup-sessions", strings.Join(flags, ", "))
	}
}
