package file

import "aiperf/internal/load"

// searchConfig is the search of a phase by its flat keys, with the defaults that it has; nothing without one.
func searchConfig(a *load.Adaptive) (out Object) {
	if a == nil {
		return nil
	}
	d := a.WithDefaults()
	out = Object{{Key: "adaptive_scale", Value: true},
		{Key: "adaptive_sustain_duration", Value: a.Sustain.Seconds()},
		{Key: "adaptive_assessment_period", Value: d.Period.Seconds()},
		{Key: "adaptive_min_completed_requests", Value: d.MinCompleted},
		{Key: "adaptive_control_variable", Value: a.Variable.String()}, {Key: "adaptive_control_min", Value: d.Min}}
	out = addIf(out, a.Max > 0, "adaptive_control_max", a.Max)
	out = append(out, Member{Key: "adaptive_scale_strategy_type", Value: load.StrategyRampUntilFail},
		Member{Key: "adaptive_scale_step_policy", Value: a.Policy.String()},
		Member{Key: "adaptive_scale_base_step", Value: int64(d.BaseStep)},
		Member{Key: "adaptive_scale_max_step_multiplier", Value: int64(d.MaxMultiplier)},
		Member{Key: "adaptive_scale_step_percent", Value: d.StepPercent})
	limits := []any{}
	for _, sla := range a.SLA {
		limits = append(limits, Object{{Key: "metric_tag", Value: sla.Metric}, {Key: "stat", Value: sla.Stat},
			{Key: "op", Value: sla.Op}, {Key: "threshold", Value: sla.Threshold}})
	}
	return append(out, Member{Key: "sla", Value: limits})
}
