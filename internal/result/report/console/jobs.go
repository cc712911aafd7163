package console

import (
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
)

// jobTable appends what was measured of jobs, and what their rates hold for.
func (p *page) jobTable(r *summary.Result) {
	if !p.groupTable(r, metrics.GroupJobs, product+": Jobs") {
		return
	}
	if steady, ok := r.Value("job_window_steady"); ok && steady == 0 {
		p.remark("Jobs per hour are over the whole time, begin and end of the load included: the run is too short for a "+
			"steady window.", plain)
	}
}
