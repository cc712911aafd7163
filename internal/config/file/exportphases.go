package file

import (
	"time"

	"aiperf/internal/config"
	"aiperf/internal/load"
)

func phaseConfig(ph *config.Phase, r *config.Run) Object {
	out := Object{{Key: "name", Value: ph.Name}, {Key: "kind", Value: string(ph.Kind)},
		{Key: "type", Value: ph.YAMLType()}}
	out = addIf(out, ph.Kind == config.WarmupPhase, "exclude_from_results", true)
	out = addIf(out, ph.Mode == config.AgenticReplay, "timing_mode", string(ph.Mode))
	out = append(out, searchConfig(ph.Adaptive)...)
	if ph.Requests != nil {
		out = append(out, Member{Key: "requests", Value: *ph.Requests})
	} else if ph.Schedule != nil && ph.Sessions == nil && ph.Schedule.Rows > 0 {
		out = append(out, Member{Key: "requests", Value: ph.Schedule.Rows})
	}
	if ph.Duration != nil {
		out = append(out, Member{Key: "duration", Value: secondsValue(*ph.Duration)})
	}
	out = addCount(out, "sessions", ph.Sessions)
	out = addCount(out, "concurrency", ph.Concurrency)
	out = addCount(out, "prefill_concurrency", ph.Prefill)
	if ph.Series != nil {
		points := []any{}
		for _, p := range ph.Series {
			points = append(points, Object{{Key: "time_s", Value: p.Seconds}, {Key: "qps", Value: p.Rate}})
		}
		out = append(out, Member{Key: "rate_series", Value: points})
	} else if ph.AtOnce() {
		out = append(out, Member{Key: "rate", Value: nil})
	} else if ph.Mode == config.Rate || ph.Mode == config.UserCentric {
		out = append(out, Member{Key: "rate", Value: ph.Rate})
	}
	if l := ph.Lanes; l != nil && ph.Kind == config.ProfilingPhase {
		out = append(out, lanesConfig(l)...)
	}
	if s := ph.Schedule; s != nil {
		out = append(out, Member{Key: "auto_offset", Value: s.AutoOffset})
		out = addCount(addCount(out, "start_offset", s.StartMS), "end_offset", s.EndMS)
	}
	out = addIf(out, ph.Mode == config.UserCentric, "users", int64(ph.Users))
	for _, ramp := range []struct {
		key      string
		duration time.Duration
		shape    string
	}{
		{"concurrency_ramp", ph.ConcurrencyRamp, ph.ConcurrencyRampShape},
		{"prefill_ramp", ph.PrefillRamp, ph.PrefillRampShape}, {"rate_ramp", ph.RateRamp, ph.RateRampShape},
	} {
		switch {
		case ramp.duration <= 0:
		case ramp.shape == "" || ramp.shape == load.Linear.String():
			out = append(out, Member{Key: ramp.key, Value: ramp.duration.Seconds()})
		default:
			out = append(out, Member{Key: ramp.key,
				Value: Object{{Key: "duration", Value: ramp.duration.Seconds()}, {Key: "strategy", Value: ramp.shape}}})
		}
	}
	out = addIf(out, ph.Smoothness > 0, "smoothness", ph.Smoothness)
	out = addIf(out, ph.Duration != nil, "grace_period", secondsValue(ph.Grace))
	out = addIf(out, ph.Simultaneous, "simultaneous_start", true)
	if c := ph.Cancellation; c != nil {
		out = append(out, Member{Key: "cancellation",
			Value: Object{{Key: "rate", Value: c.Percent}, {Key: "delay", Value: secondsValue(c.Delay)}}})
	}
	out = addIf(out, ph.Seamless, "seamless", true)
	if limit := r.Threshold(ph); limit != nil {
		out = append(out, Member{Key: "failed_request_threshold", Value: *limit})
	}
	out = addIf(out, !r.FailFast && ph.Kind == config.ProfilingPhase, "fail_fast", false)
	return out
}

// lanesConfig is what agentic replay adds to its measured phase.
func lanesConfig(l *config.Lanes) Object {
	out := Object{
		{Key: "trajectory_start_min_ratio", Value: l.MinStart}, {Key: "trajectory_start_max_ratio", Value: l.MaxStart},
		{Key: "burst_phase_starts", Value: l.Together},
	}
	out = addIf(out, l.SystemIdle != config.Unlimited, "system_idle_gap_cap_seconds", l.SystemIdle.Seconds())
	return out
}
