package recompute

import (
	"fmt"
	"sync"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/recordfile"
	"aiperf/internal/result/summary"
)

// afterState is how much later than the last state of a killed run its last records may have begun: the state is
// written each second, unless the machine is suspended.
const afterState = time.Minute

// foreignRecord is the earliest record that began outside the time of the run: it belongs to another run.
type foreignRecord struct {
	from, to int64
	mu       sync.Mutex
	id       string
	startNS  int64
}

func newForeignRecord(s *summary.State) *foreignRecord {
	st := &foreignRecord{from: s.Run.StartNS, to: s.UpdatedNS}
	if s.Status != summary.StateFinished {
		st.to += int64(afterState)
	}
	return st
}

// see checks a record.
func (s *foreignRecord) see(r *record.Record) {
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

// err returns an error if there is such a record.
func (s *foreignRecord) err(path string) error {
	if s.startNS == 0 {
		return nil
	}
	at := func(ns int64) string { return time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.000Z") }
	return fmt.Errorf("%s holds records of another run: request %s began at %s, and the run of the state file lasted "+
		"from %s to %s",
		path, s.id, at(s.startNS), at(s.from), at(s.to))
}

// warming recomputes the warm-up: as a whole, and each of its phases.
type warming struct {
	set    *metrics.Set
	engine *metrics.Engine
	mu     sync.Mutex
	phases phaseEngines
}

// newWarming returns one without requests; a warm-up has no slices.
func (r *recomputation) newWarming() (*warming, error) {
	c := r.config
	c.SliceNS = 0
	set, err := metrics.NewSet(c)
	if err != nil {
		return nil, err
	}
	return &warming{set: set, engine: set.NewEngine(), phases: phaseEngines{}}, nil
}

// add adds a request; it may be called from any goroutine.
func (w *warming) add(rec *record.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.set.Judge(rec)
	w.engine.Add(rec)
	w.phases.add(rec, w.set)
}

// warmup recomputes the metrics of the warm-up where the state or the records have its requests.
func (r *recomputation) warmup() error {
	if r.warming == nil {
		if len(r.state.WarmupRecords) == 0 {
			return nil
		}
		var err error
		if r.warming, err = r.newWarming(); err != nil {
			return err
		}
	}
	w := r.warming
	for i, line := range r.state.WarmupRecords {
		rec, err := recordfile.Parse(line)
		if err != nil {
			return fmt.Errorf("state of the run: warmup_records: item %d: %w", i, err)
		}
		w.add(rec)
	}
	if len(w.phases) == 0 {
		return nil
	}
	w.engine.SetRunFacts(summary.WindowOf(r.state.Phases, string(config.WarmupPhase), r.state.Window))
	for i, apart := range w.phases {
		if r.orig != nil && len(r.state.Phases) == 0 {
			continue // its folder lacks the file of the phases
		}
		if i < 0 || i >= len(r.state.Phases) || r.state.Phases[i].Kind != string(config.WarmupPhase) {
			return fmt.Errorf("state of the run: warmup_records: phase_index %d is not a warm-up", i)
		}
		own := r.state.Phases[i : i+1]
		apart.SetRunFacts(summary.WindowOf(own, string(config.WarmupPhase), r.state.Window))
	}
	r.warmups, r.warmupResults = w.phases, w.engine.Results()
	return nil
}
