package load

import "errors"

// lanesMade is when lanes were made: in which phase, and what had been used before.
type lanesMade struct {
	phase int
	used  Used
	// Phases that follow each other go on with the numbers of their sessions, as recordings wait for the lanes of a
	// share.
	until          int
	numbers, begun numbering
}

// keepNumbers keeps the numbers of a phase with lanes for the next one.
func (p *phaseRun) keepNumbers() {
	made := &p.e.lanesMade
	made.until, made.numbers, made.begun = p.stats.Index, p.numbers, p.begun
}

// smallestElsewhere returns the smallest distance that a first request of another share's lanes has from the point at
// which its lane begins. It is 0 where lanes have gone on since they were made: each begins with its next turn then.
// Shares exchange nothing during a phase; but the lanes of each are a function of the plan, and are made here again.
func (p *phaseRun) smallestElsewhere() (offset int64, any bool) {
	e := p.e
	if p.share.Whole() {
		return 0, false
	}
	for _, before := range e.plan.Phases[:p.stats.Index] {
		if before.replay().Stage == FillLanes {
			return 0, true
		}
	}
	for index := range p.share.Of {
		if index == p.share.Index {
			continue
		}
		elsewhere := &Engine{plan: e.plan, source: e.source, sender: nobody{}, opener: nobody{}, used: e.lanesMade.used,
			nextChild: FirstChild}
		of := Share{index, p.share.Of}
		other := &phaseRun{e: elsewhere, share: of, taking: of}
		other.stats.Index = e.lanesMade.phase
		other.number()
		other.makeLanes(e.plan.Phases[e.lanesMade.phase].part(of, of))
		for _, l := range elsewhere.lanes {
			for _, n := range l.tree.parked() {
				if o := l.offset(n); !any || o < offset {
					offset, any = o, true
				}
			}
		}
	}
	return offset, any
}

// nobody is a Sender to whom nothing is sent.
type nobody struct{}

func (nobody) Prepare(int, uint64, int) {}
func (nobody) Send(Credit)              {}
func (nobody) Forget(uint64)            {}
func (nobody) CutOff()                  {}
func (nobody) Open(Opening)             {}

// needsWhole returns an error for a phase that cannot be made in shares, since it decides by what all of its requests
// do together.
func (p *Phase) needsWhole() error {
	switch {
	case p.Adaptive != nil:
		return errors.New("a search of the load needs the whole run in one process")
	case p.replay().SystemIdle != Infinite:
		return errors.New("a limit of the time in which nothing is in flight needs the whole run in one process")
	}
	return nil
}
