package env

import (
	"time"

	"aiperf/internal/config/option"
)

// clockVariables are about the comparison of the clocks of agents with that of their coordinator.
func clockVariables(c *WorkerClock) []Variable {
	long, some := option.AboveUpTo(0, 100000), option.AtLeast(0)
	return []Variable{
		vInt("WORKER_CLOCK_PROBE_COUNT", "5", option.AtLeast(1),
			"Probes of the clock of an agent at a time.").to(&c.Probes),
		vFloat("WORKER_CLOCK_PROBE_TIMEOUT", "1", long,
			"Seconds for one probe of a clock.").in(time.Second).to(&c.ProbeTimeout),
		vFloat("WORKER_CLOCK_PROBE_BUDGET", "30", long,
			"Seconds for all probes of a clock at a time.").in(time.Second).to(&c.ProbeBudget),
		vFloat("WORKER_CLOCK_PROBE_MAX_RTT_SEC", "0.05", long,
			"Seconds that a probe of a clock may take to count.").in(time.Second).to(&c.SlowestAnswer),
		vInt("WORKER_CLOCK_OFFSET_MIN_SAMPLES", "5", option.AtLeast(1),
			"Probes that must count before an offset is believed; more are made until then.").to(&c.MinSamples),
		vInt("WORKER_CLOCK_OFFSET_WINDOW_SIZE", "20", option.AtLeast(1),
			"Probes of a clock that are kept.").to(&c.Window),
		vFloat("WORKER_CLOCK_OFFSET_MAX_ABS_SEC", "3600", long,
			"Seconds by which the clock of an agent may be off.").in(time.Second).to(&c.LargestOffset),
		vFloat("WORKER_CLOCK_OFFSET_OUTLIER_FACTOR", "4", option.Above(0),
			"Median deviations from which a probe is left out.").to(&c.OutlierFactor),
		vFloat("WORKER_CLOCK_OFFSET_OUTLIER_FLOOR_SEC", "0.001", some,
			"Seconds within which no probe is left out.").in(time.Second).to(&c.OutlierFloor),
		vInt("WORKER_CLOCK_OFFSET_RESET_AFTER_REJECTS", "10", option.AtLeast(1),
			"Probes left out in a row after which those before them are forgotten.").to(&c.ResetAfter),
		vFloat("WORKER_CLOCK_REMEASURE_INTERVAL", "300", some,
			"Seconds between two comparisons of clocks in a phase; 0 compares them at its begin and end alone.").
			in(time.Second).to(&c.Remeasure),
	}
}
