package run

import (
	"fmt"
)

// checkLanes refuses more lanes than recordings unless a recording may be in several of them.
func (e *execution) checkLanes() error {
	p := e.cfg.Profiling()
	if p.Lanes == nil || p.Lanes.Wrap || *p.Concurrency <= e.data.RootCount() {
		return nil
	}
	return fmt.Errorf("--concurrency %d asks for more lanes than %s has recordings, which is %d: lower it, or give --allow-dataset-wrap to play a recording in several lanes at once",
		*p.Concurrency, e.cfg.Dataset.Path, e.data.RootCount())
}
