package replay

import (
	"fmt"
	"sync"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/metrics"
	"aiperf/internal/record"
	"aiperf/internal/report"
	"aiperf/internal/summary"
)

// afterState is how much later than the last state of a killed run its last records may have begun: the state is
// written each second, unless the machine stands still.
const afterState = time.Minute

// stranger is the first record found that began while its run was not going on.
type stranger struct {
	from, to int64
	mu       sync.Mutex
	id       string
	startNS  int64
}

func newStranger(s *summary.State) *stranger {
	st := &stranger{from: s.Run.StartNS, to: s.UpdatedNS}
	if s.Status != summary.StateFinished {
		st.to += int64(afterState)
	}
	return st
}

// see takes a record.
func (s *stranger) see(r *record.Record) {
	start := r.Facts[record.StartWall]
	if s.from == 0 || s.to == 0 || start >= s.from && start <= s.to {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.startNS == 0 || start < s.startNS {
		s.id, s.startNS = r.RequestID, start
	}
}

// err says that the records are those of another run.
func (s *stranger) err(path string) error {
	if s.startNS == 0 {
		return nil
	}
	at := func(ns int64) string { return time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.000Z") }
	return fmt.Errorf("%s holds records of another run: request %s began at %s, and the run of the state file lasted from %s to %s",
		path, s.id, at(s.startNS), at(s.from), at(s.to))
}

// warmup computes the metrics of the warm-up anew, where the state has its records.
func (r *recomputation) warmup() error {
	if len(r.state.WarmupRecords) == 0 {
		return nil
	}
	c := r.config
	c.SliceNS = 0
	set, err := metrics.NewSet(c)
	if err != nil {
		return err
	}
	engine := set.NewEngine()
	for i, line := range r.state.WarmupRecords {
		rec, err := report.ParseRecord(line)
		if err != nil {
			return fmt.Errorf("state of the run: warmup_records: item %d: %w", i, err)
		}
		set.Judge(rec)
		engine.Add(rec)
	}
	facts := r.state.Window
	facts.WindowStartNS, facts.WindowEndNS = 0, 0
	for i := range r.state.Phases {
		if p := &r.state.Phases[i]; p.Kind == string(config.WarmupPhase) {
			if p.StartNS != 0 && p.RequestsEndNS != 0 {
				facts.WindowStartNS, facts.WindowEndNS = p.StartNS, p.RequestsEndNS
			}
			break
		}
	}
	engine.SetRunFacts(facts)
	r.warmupResults = engine.Results()
	return nil
}
