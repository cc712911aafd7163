package loop

import "aiperf/internal/experiment/sweep"

// First returns the first variation of a plan, or the lowest point of a search.
func First(plan *sweep.Plan) sweep.Variation {
	if len(plan.Variations) > 0 {
		return plan.Variations[0]
	}
	spec, _ := Read(plan.Block)
	var lowest []any
	for _, d := range spec.Space {
		lowest = append(lowest, ValueOf(d, d.Lo))
	}
	return plan.Point(0, lowest)
}
