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
	start, end := ti.p.Int("fixed-schedule-start-offset"), ti.p.Int("fixed-schedule-end-offset")
	if start != nil && ti.p.Bool("fixed-schedule-auto-offset") {
		ti.fault("V3", "%s and %s cannot be used together", ti.flag("fixed-schedule-start-offset"),
			ti.flag("fixed-schedule-auto-offset"))
	}
	if start != nil && end != nil && *start > *end {
		ti.fault("V4", "%s %d must be at most %s %d", ti.flag("fixed-schedule-start-offset"), *start,
			ti.flag("fixed-schedule-end-offset"), *end)
	}
	if ti.mode != config.FixedSchedule {
		if flags := ti.givenOf("fixed-schedule-auto-offset", "fixed-schedule-start-offset",
			"fixed-schedule-end-offset"); len(flags) > 0 {
			ti.fault("V5", "%s can only be used together with --fixed-schedule", strings.Join(flags, ", "))
		}
		return
	}
	if order := ti.p.Text("dataset-sampling-strategy"); order != "" && order != "sequential" {
		ti.fault("V26", "%s %s is not compatible with a fixed schedule, which sends every conversation exactly once, "+
			"in order", ti.flag("dataset-sampling-strategy"), order)
	}
	if ti.given("request-rate-ramp-duration") {
		ti.fault("V25", "%s is not compatible with a fixed schedule, which has no rate",
			ti.flag("request-rate-ramp-duration"))
	}
	if !ti.p.Bool("fixed-schedule") {
		if flags := ti.givenOf("request-rate", "request-rate-series", "user-centric-rate", "num-users",
			"arrival-smoothness"); len(flags) > 0 {
			ti.fault("", "%s cannot be used here: the trace contains timestamps, so requests follow its schedule; "+
				"--no-fixed-schedule prevents this", strings.Join(flags, ", "))
		}
		return
	}
	if flags := ti.givenOf("request-rate", "request-rate-series", "arrival-pattern",
		"user-centric-rate"); len(flags) > 0 {
		ti.warn("%s has no effect with --fixed-schedule: requests go out at their recorded times",
			strings.Join(flags, ", "))
	}
}

func (ti *timing) checkSimultaneousStart() {
	if !ti.p.Bool("simultaneous-start") {
		return
	}
	switch {
	case ti.mode != config.Burst || !ti.given("concurrency"):
		ti.fault("", "%s needs --concurrency without a rate or a schedule", ti.flag("simultaneous-start"))
	case ti.given("concurrency-ramp-duration"):
		ti.fault("", "%s and %s cannot be used together", ti.flag("simultaneous-start"),
			ti.flag("concurrency-ramp-duration"))
	}
}

func (ti *timing) checkConcurrency() {
	concurrencies := ti.intValues("concurrency")
	if len(concurrencies) == 0 && ti.concurrency != nil {
		concurrencies = []int64{*ti.concurrency}
	}
	for _, c := range concurrencies {
		bounds, what := ti.intValues("num-sessions"), ti.flag("num-sessions")
		if n := ti.intValues("request-count"); len(bounds) == 0 || len(n) > 0 && slices.Min(n) < slices.Min(bounds) {
			bounds, what = n, ti.flag("request-count")
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
				ti.warn("%s %d has no effect beyond %d, which is %s", ti.flag("concurrency"), c, n, what)
			}
		}
	}
}

func (ti *timing) checkPrefill() {
	if flags := ti.givenOf("prefill-concurrency", "warmup-prefill-concurrency"); len(flags) > 0 &&
		!ti.endpoint.streaming {
		ti.fault("V13", "%s requires --streaming%s", strings.Join(flags, ", "), ti.endpoint.whyNoStreaming())
	}
	ti.checkAtMost("prefill-concurrency", "concurrency")
	if ti.given("warmup-concurrency") {
		ti.checkAtMost("warmup-prefill-concurrency", "warmup-concurrency")
	} else {
		ti.checkAtMost("warmup-prefill-concurrency", "concurrency")
	}
}

// checkAtMost refuses a prefill limit above the concurrency it is part of.
func (ti *timing) checkAtMost(part, whole string) {
	for _, p := range ti.intValues(part) {
		for _, w := range ti.intValues(whole) {
			if p > w {
				ti.fault("V14", "%s %d cannot be greater than %s %d", ti.flag(part), p, ti.flag(whole), w)
			}
		}
	}
}

func (ti *timing) checkUsers() {
	if ti.given("user-centric-rate") && ti.file.generated() { // other data has the turns that it has
		if turns := ti.intValues("session-turns-mean"); len(turns) == 0 || slices.Min(turns) < 2 {
			if ti.inFile { // whose schema lets it be
				ti.warn("%s: conversations have one turn, so that each user sends one request",
					ti.flag("user-centric-rate"))
			} else {
				ti.fault("V17", "%s requires multi-turn conversations: give --session-turns-mean 2 or more",
					ti.flag("user-centric-rate"))
			}
		}
	}
	for _, users := range ti.intValues("num-users") {
		for _, bound := range []string{"num-sessions", "request-count"} {
			for _, n := range ti.intValues(bound) {
				if n < users {
					ti.fault("V19", "%s %d cannot be less than %s %d", ti.flag(bound), n, ti.flag("num-users"), users)
				}
			}
		}
	}
}

// checkUsersFile refuses files without conversations of several turns where users take turns at a rate.
func (ti *timing) checkUsersFile() {
	file := ti.p.Text("input-file")
	if ti.mode != config.UserCentric || file == "" ||
		ti.file.branching { // those of branching sessions are refused by checkRoots
		return
	}
	if format := ti.file.format(file); format != "" && format != option.MultiTurn {
		ti.fault("", "%s needs a file of format %s, but %s has the format %s", ti.flag("user-centric-rate"),
			option.MultiTurn,
			fault.Shorten(file), format)
	}
}

func (ti *timing) checkArrivals() {
	pattern := ti.p.Text("arrival-pattern")
	rates := ti.givenOf("request-rate", "request-rate-series")
	if len(rates) > 0 && pattern == string(config.Burst) {
		ti.fault("V20", "%s %s is not allowed when %s is given", ti.flag("arrival-pattern"), pattern, rates[0])
	}
	ti.checkInfiniteRate()
	if !ti.given("arrival-smoothness") {
		return
	}
	switch {
	case ti.given("arrival-pattern") && pattern != config.PatternGamma:
		ti.fault("V21", "%s can only be used with the gamma pattern, not with %s %s", ti.flag("arrival-smoothness"),
			ti.flag("arrival-pattern"), pattern)
	case len(rates) == 0:
		ti.fault("V21", "%s can only be used with the gamma pattern, which needs --request-rate",
			ti.flag("arrival-smoothness"))
	}
}

// checkInfiniteRate refuses an infinite rate that nothing but a duration limits: it would send until memory is full.
func (ti *timing) checkInfiniteRate() {
	infinite := func(name string) bool { rate := ti.p.Float(name); return rate != nil && math.IsInf(*rate, 1) }
	if ti.mode == config.Rate && infinite("request-rate") {
		if ti.concurrency == nil && ti.prefill == nil && ti.requests == nil && ti.sessions == nil {
			ti.fault("", "%s inf sends all requests at once: give --concurrency, --request-count or --num-sessions",
				ti.flag("request-rate"))
		}
		if ti.given("request-rate-ramp-duration") {
			ti.warn("%s has no effect with %s inf", ti.flag("request-rate-ramp-duration"), ti.flag("request-rate"))
		}
	}
	if !ti.warmsUp() {
		return
	}
	if w := ti.warmup(); w.AtOnce() && w.Concurrency == nil && w.Prefill == nil && w.Requests == nil &&
		w.Sessions == nil {
		rate := "request-rate"
		if infinite("warmup-request-rate") {
			rate = "warmup-request-rate"
		}
		ti.fault("", "%s inf sends all requests of the warm-up at once: give --warmup-concurrency, "+
			"--warmup-request-count or --num-warmup-sessions",
			ti.flag(rate))
	}
}

func (ti *timing) checkStop() {
	if ti.mode != config.FixedSchedule && ti.requests == nil && ti.sessions == nil && ti.duration == nil &&
		!ti.whole {
		ti.fault("V46", "at least one stop condition is needed: give --request-count, --num-sessions or "+
			"--benchmark-duration")
	}
}

// checkRoots refuses the timing modes that play conversations as lists of turns, and options that only recorded
// agents know.
func (ti *timing) checkRoots() {
	if flags := ti.activeOf("use-think-time-only", "max-context-length"); len(flags) > 0 && !ti.file.recorded {
		ti.fault("", "%s can only be used with a %s, %s or %s file", strings.Join(flags, ", "), option.WekaTrace,
			option.TraceLab,
			option.DynamoTrace)
	}
	if flags := ti.activeOf("inter-turn-delay-cap-seconds"); len(flags) > 0 && !ti.file.branching &&
		!ti.file.ofBaseten &&
		!ti.file.recorded {
		ti.fault("", "%s can only be used with a baseten_trace, %s, %s, %s or %s file", strings.Join(flags, ", "),
			option.WekaTrace, option.TraceLab, option.DynamoTrace, option.DAGJSONL)
	}
	if flags := ti.activeOf("use-think-time-only", "inter-turn-delay-cap-seconds"); len(flags) > 0 &&
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
func agenticOnly() []string {
	return []string{
		"trajectory-start-min-ratio", "trajectory-start-max-ratio", "burst-phase-starts", "trace-idle-gap-cap-seconds",
		"system-idle-gap-cap-seconds", "agentic-cache-warmup-duration", "agentic-warmup-grace-period",
		"warmup-requests-per-lane", "allow-dataset-wrap",
	}
}

func (ti *timing) checkAgentic() {
	if ti.mode != config.AgenticReplay {
		if flags := ti.activeOf(agenticOnly()...); len(flags) > 0 {
			ti.fault("", "%s can only be used with agentic replay: give --scenario %s", strings.Join(flags, ", "),
				agentX)
		}
		return
	}
	if low, high := ti.scenario.minStart, ti.scenario.maxStart; low > high {
		ti.fault("", "%s %v must be at most %s %v", ti.flag("trajectory-start-min-ratio"), low,
			ti.flag("trajectory-start-max-ratio"), high)
	}
	if ti.given("warmup-requests-per-lane") && ti.given("agentic-cache-warmup-duration") {
		ti.fault("", "%s and %s cannot be used together: the caches are filled for a time or with a number of requests",
			ti.flag("warmup-requests-per-lane"), ti.flag("agentic-cache-warmup-duration"))
	}
	warmups := ti.activeOf("warmup-request-count", "warmup-duration", "num-warmup-sessions", "warmup-concurrency",
		"warmup-prefill-concurrency", "warmup-request-rate", "warmup-arrival-pattern", "warmup-grace-period",
		"warmup-concurrency-ramp-duration", "warmup-prefill-concurrency-ramp-duration",
		"warmup-request-rate-ramp-duration")
	if len(warmups) > 0 {
		ti.fault("", "%s cannot be used with agentic replay, which warms up its lanes: see "+
			"--agentic-cache-warmup-duration", strings.Join(warmups, ", "))
	}
	if target := ti.scenario.cacheBust(); strings.HasPrefix(target, "warmup_isolation_") {
		ti.fault("", "--cache-bust %s cannot be used with agentic replay, whose warm-up fills the caches", target)
	}
	if ti.p.Text("dataset-sampling-strategy") == "random" {
		ti.fault("", "%s random cannot be used with agentic replay, which plays every recording in turn: use "+
			"sequential or shuffle", ti.flag("dataset-sampling-strategy"))
	}
	if flags := ti.activeOf("concurrency-ramp-duration", "simultaneous-start", "session-turns-mean"); len(flags) > 0 {
		ti.fault("", "%s cannot be used with agentic replay, whose lanes play recorded sessions",
			strings.Join(flags, ", "))
	}
}

// warnWarmup warns of warm-up options that have no effect because nothing starts a warm-up.
func (ti *timing) warnWarmup() {
	if ti.warmsUp() {
		return
	}
	flags := ti.givenOf("warmup-concurrency", "warmup-prefill-concurrency", "warmup-request-rate",
		"warmup-arrival-pattern",
		"warmup-concurrency-ramp-duration", "warmup-prefill-concurrency-ramp-duration",
		"warmup-request-rate-ramp-duration")
	if len(flags) > 0 {
		ti.warn("no warm-up: %s have an effect only with --warmup-request-count, --warmup-duration or "+
			"--num-warmup-sessions", strings.Join(flags, ", "))
	}
}
