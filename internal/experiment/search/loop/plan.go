package loop

import (
	"aiperf/internal/base/artifact"
	"aiperf/internal/experiment/series"
)

// Plan makes the runs of a search, one iteration after the other.
type Plan struct {
	// Layout says where the files go; its trials are the runs at a point.
	series.Layout
	Search *Search
	// Make returns the cell of a point. Its error ends the search.
	Make func(*Proposal) (series.Cell, error)
	// Trial makes a trial of a run, TrialOf where it is nil; the members are further ones of the iteration.
	Trial func(*series.Run) (Trial, artifact.Object)
	// Told is called after each iteration with its cell and the runs there; it may be nil.
	Told func(*Proposal, *series.Cell, []series.Run)
	// Err is why the search ended without a result: a point without a valid configuration, or files that could not be
	// written.
	Err error

	proposal Proposal
	cell     *series.Cell
	begun    bool
}

// Next implements series.Plan.
func (p *Plan) Next(done []series.Run) (series.Step, bool) {
	if p.cell != nil {
		own := p.cell.Runs(done)
		if len(own) < p.Trials {
			step := p.Step(p.cell, len(own))
			step.Pause = p.Pause
			return step, true
		}
		p.tell(own)
	}
	if p.Err != nil {
		return series.Step{}, false
	}
	proposal, more := p.Search.Ask()
	if !more {
		return series.Step{}, false
	}
	cell, err := p.Make(&proposal)
	if err != nil {
		p.Err = err
		return series.Step{}, false
	}
	p.proposal, p.cell = proposal, &cell
	step := p.Step(p.cell, 0)
	if p.begun {
		step.Pause = p.Between
	}
	p.begun = true
	return step, true
}

// tell reports the runs of the current iteration to the search.
func (p *Plan) tell(own []series.Run) {
	var trials []Trial
	var extra artifact.Object
	for i := range own {
		if p.Trial == nil {
			trials = append(trials, TrialOf(&own[i]))
			continue
		}
		t, more := p.Trial(&own[i])
		trials, extra = append(trials, t), more
	}
	if err := p.Search.Tell(trials, extra); err != nil {
		p.Err = err
	}
	if p.Told != nil {
		p.Told(&p.proposal, p.cell, own)
	}
	p.cell = nil
}
