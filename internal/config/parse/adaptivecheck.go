package parse

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"aiperf/internal/config"
	"aiperf/internal/config/document"
	"aiperf/internal/load"
)

// CheckAdaptive reports the first thing that keeps a resolved phase from being searched; nothing for a phase without a
// search. The node is that of the phase, which may be nil, path its path; streaming is that of the endpoint.
func CheckAdaptive(phase *document.Node, path string, p *config.Phase, streaming bool, report Report) {
	if p.Adaptive == nil {
		return
	}
	for _, find := range []func(*config.Phase) (key, text string){
		required, mode, largest, alone, bounds,
		func(p *config.Phase) (key, text string) { return observable(p.Adaptive, streaming) },
	} {
		if key, text := find(p); text != "" {
			report(cmp.Or(phase.Get(key), phase.Get(keyAdaptive), phase), document.Path(path, key), "%s", text)
			return
		}
	}
}

// What follows finds faults, in the order in which they are reported: each returns the key of the phase that is to
// blame and what is wrong with it, "" for nothing.

func required(p *config.Phase) (key, text string) {
	a := p.Adaptive
	switch {
	case p.Duration == nil:
		return keyAdaptive, "a search needs a duration of the phase, which bounds it: add duration, such as 10m"
	case a.Sustain == 0:
		return keyAdaptive, "needs sustain_duration: how long the load that was found is held, such as 60"
	case len(a.SLA) == 0:
		return keyAdaptive, "needs limits that the load is searched for: add sla, such as " +
			"{request_latency: {p95: {le: 500}}}"
	}
	return "", ""
}

// mode finds what the kind of the phase excludes.
func mode(p *config.Phase) (key, text string) {
	switch v := p.Adaptive.Variable; {
	case p.Mode == config.FixedSchedule || p.Mode == config.AgenticReplay:
		return keyAdaptive, "a phase that replays a recording (" + string(p.Mode) + ") cannot be searched"
	case v == load.ControlRequestRate && p.Mode != config.Rate:
		return keyAdaptive, "request_rate is searched in phases of the types constant, poisson and gamma only, this " +
			"one is " + p.YAMLType()
	case v == load.ControlUsers && p.Mode != config.UserCentric:
		return keyAdaptive, "users are searched in phases of the type user_centric only, this one is " + p.YAMLType()
	}
	return "", ""
}

// largest finds a search without an end.
func largest(p *config.Phase) (key, text string) {
	if _, high := limits(p); high == 0 || math.IsInf(high, 0) {
		return keyAdaptive, "the phase has no " + p.Adaptive.Variable.String() +
			" of its own: give the largest value of the search as control.max"
	}
	return "", ""
}

// alone finds what else would change the value.
func alone(p *config.Phase) (key, text string) {
	switch v := p.Adaptive.Variable; {
	case v == load.ControlConcurrency && p.Simultaneous:
		return keyAdaptive, "a search of the concurrency excludes a simultaneous start"
	case v == load.ControlConcurrency && p.ConcurrencyRamp != 0:
		return "concurrency_ramp", "excludes a search of the concurrency: it would change the same value"
	case v == load.ControlPrefill && p.PrefillRamp != 0:
		return "prefill_ramp", "excludes a search of prefill_concurrency: it would change the same value"
	case v == load.ControlRequestRate && p.RateRamp != 0:
		return "rate_ramp", "excludes a search of request_rate: it would change the same value"
	case v == load.ControlRequestRate && len(p.Series) > 0:
		return "rate_series", "excludes a search of request_rate: it would change the same value"
	}
	return "", ""
}

// limits returns the smallest and the largest value of a search; 0 for a largest one that is not known.
func limits(p *config.Phase) (low, high float64) {
	low, high = cmp.Or(p.Adaptive.Min, 1), p.Adaptive.Max
	if high == 0 {
		high = own(p)
	}
	return low, high
}

// bounds finds what is wrong with the range that is searched.
func bounds(p *config.Phase) (key, text string) {
	a := p.Adaptive
	name := a.Variable.String()
	low, high := limits(p)
	whole, concurrency := a.Variable != load.ControlRequestRate, count(p.Concurrency)
	switch {
	case !(high > low):
		return keyAdaptive, "the largest " + name + " of the search, " + number(high) +
			", must be above the smallest one, " + number(low) + ": raise control.max or the phase's own value"
	case whole && low != math.Trunc(low):
		return keyAdaptive, "control.min must be whole for " + name + ", got " + number(low)
	case whole && high != math.Trunc(high):
		return keyAdaptive, "control.max must be whole for " + name + ", got " + number(high)
	case a.Variable == load.ControlConcurrency && concurrency > 0 && low > concurrency:
		return keyAdaptive, "control.min " + number(low) + " must not be above the concurrency of the phase, " +
			number(concurrency)
	case a.Variable == load.ControlPrefill && concurrency > 0 && high > concurrency:
		return keyAdaptive, "control.max " + number(high) + " must not be above the concurrency of the phase, " +
			number(concurrency) + ": no more requests than that are under way"
	}
	return "", ""
}

// own is the phase's own value of the variable, 0 for none.
func own(p *config.Phase) float64 {
	switch p.Adaptive.Variable {
	case load.ControlPrefill:
		return count(p.Prefill)
	case load.ControlRequestRate:
		return p.Rate
	case load.ControlUsers:
		return float64(p.Users)
	}
	return count(p.Concurrency)
}

func count(n *int) float64 {
	if n == nil {
		return 0
	}
	return float64(*n)
}

// observable finds what cannot be seen in the replies: limits that no window could meet, and the end of a prefill.
func observable(a *load.Adaptive, streaming bool) (key, text string) {
	if a.Variable == load.ControlPrefill && !streaming {
		return keyAdaptive, "a search of prefill_concurrency needs replies that are streamed: add streaming: true to " +
			"the endpoint"
	}
	latency := slices.ContainsFunc(a.SLA, load.SLA.OfRequests)
	for _, sla := range a.SLA {
		switch {
		case sla.NeedsStream() && !streaming:
			return keySLA, "a limit on " + sla.Metric +
				" needs replies that are streamed: add streaming: true to the endpoint"
		case sla.OfGoodRequests() && !latency:
			return keySLA, "a limit on " + sla.Metric +
				" needs one on a latency as well: it says which requests are good"
		}
	}
	return "", ""
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
