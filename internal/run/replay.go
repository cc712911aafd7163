package run

import (
	"fmt"
	"math"
	"time"

	"aiperf/internal/load"
	"aiperf/internal/workload/dataset"
)

// lateStart is the wait for a first request from which a user may think that nothing happens.
const lateStart = 10 * time.Second

// warnLateStart tells that a recording begins late.
func (e *execution) warnLateStart(s *load.Stats) {
	if first := time.Duration(s.FirstDueNS); first > lateStart {
		e.log.Warn(fmt.Sprintf("The first request of the schedule is due %.1f s after the start: --fixed-schedule-auto-offset lets the first recorded time be the start", first.Seconds()))
	}
}

// checkThreadedMessages refuses extra inputs that would replace the messages which replies are put into.
func (e *execution) checkThreadedMessages(data *dataset.Dataset) error {
	if _, ok := e.cfg.Endpoint.Extra.Get("messages"); !ok {
		return nil
	}
	if holds(data).Threaded > 0 {
		return fmt.Errorf("--extra-inputs messages cannot be used with %s: its requests are built up from messages", e.cfg.Dataset.Path)
	}
	return nil
}

// nanoseconds of a number of milliseconds. The whole ones are taken apart: times since 1970 leave a
// float no digits for the rest.
func nanoseconds(ms float64) int64 {
	whole := math.Floor(ms)
	return int64(whole)*1e6 + int64(math.Round((ms-whole)*1e6))
}
