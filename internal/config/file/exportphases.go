package file

import (
	"time"

	"aiperf/internal/config"
	"aiperf/internal/load"
)

func phaseConfig(ph *config.Phase, r *config.Run) Object {
	out := Object{{Key: "name", Value: ph.Name}, {Key: "kind", Value: string(ph.Kind)},
		{Key: "type", Value: ph.YAMLType()}}
	if ph.Kind == config.WarmupPhase {
		out = append(out, Member{Key: "exclude_from_results", Value: true})
	}
	if ph.Mode == config.AgenticReplay {
		out = append(out, Member{Key: "timing_mode", Value: string(ph.Mode)})
	}
	out = append(out, searchConfig(ph.Adaptive)...)
	if ph.Requests != nil {
		out = append(out, Member{Key: "requests", Value: *ph.Requests})
	} else if ph.Schedule != nil && ph.Sessions == nil && ph.Schedule.Rows > 0 {
		out = append(out, Member{Key: "requests", Value: ph.Schedule.Rows})
	}
	if ph.Duration != nil {
		out = append(out, Member{Key: "duration", Value: secondsValue(*ph.Duration)})
	}
	if ph.Sessions != nil {
		out = append(out, Member{Key: "sessions", Value: *ph.Sessions})
	}
	if ph.Concurrency != nil {
		out = append(out, Member{Key: "concurrency", Value: int64(*ph.Concurrency)})
	}
	if ph.Prefill != nil {
		out = append(out, Member{Key: "prefill_concurrency", Value: int64(*ph.Prefill)})
	}
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
		if s.StartMS != nil {
			out = append(out, Member{Key: "start_offset", Value: *s.StartMS})
		}
		if s.EndMS != nil {
			out = append(out, Member{Key: "end_offset", Value: *s.EndMS})
		}
	}
	if ph.Mode == config.UserCentric {
		out = append(out, Member{Key: "users", Value: int64(ph.Users)})
	}
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
	if ph.Smoothness > 0 {
		out = append(out, Member{Key: "smoothness", Value: ph.Smoothness})
	}
	if ph.Duration != nil {
		out = append(out, Member{Key: "grace_period", Value: secondsValue(ph.Grace)})
	}
	if ph.Simultaneous {
		out = append(out, Member{Key: "simultaneous_start", Value: true})
	}
	if c := ph.Cancellation; c != nil {
		out = append(out, Member{Key: "cancellation",
			Value: Object{{Key: "rate", Value: c.Percent}, {Key: "delay", Value: secondsValue(c.Delay)}}})
	}
	if ph.Seamless {
		out = append(out, Member{Key: "seamless", Value: true})
	}
	if limit := r.Threshold(ph); limit != nil {
		out = append(out, Member{Key: "failed_request_threshold", Value: *limit})
	}
	if !r.FailFast && ph.Kind == config.ProfilingPhase {
		out = append(out, Member{Key: "fail_fast", Value: false})
	}
	return out
}

// lanesConfig is what agentic replay adds to its measured phase.
func lanesConfig(l *config.Lanes) Object {
	out := Object{
		{Key: "trajectory_start_min_ratio", Value: l.MinStart}, {Key: "trajectory_start_max_ratio", Value: l.MaxStart},
		{Key: "burst_phase_starts", Value: l.Together},
	}
	if l.SystemIdle != config.Unlimited {
		out = append(out, Member{Key: "system_idle_gap_cap_seconds", Value: l.SystemIdle.Seconds()})
	}
	return out
}
