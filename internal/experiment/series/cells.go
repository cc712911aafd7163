package series

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"aiperf/internal/result/summary"
)

// Layout says in which order the runs of several cells are made, and where their files go.
type Layout struct {
	// Dir is the folder of the experiment.
	Dir string
	// Trials is the number of runs of each cell, with convergence the most of them.
	Trials int
	// Independent makes all trials of a cell before the next cell; else all cells are run once, then again.
	Independent bool
	// Nested puts the runs of a cell into profile_runs below the cell even where there is one.
	Nested bool
	// Between is the pause between cells, Pause that between trials of the same cells.
	Between, Pause time.Duration
}

// Mode is the layout's name in files.
func (l *Layout) Mode() string {
	if l.Independent {
		return "independent"
	}
	return "repeated"
}

// folder returns the folder of a run.
func (l *Layout) folder(c *Cell, trial int) string {
	switch {
	case l.Trials == 1 && !l.Nested:
		return filepath.Join(l.Dir, c.Dir)
	case l.Independent:
		return filepath.Join(l.Dir, c.Dir, RunsDir, Label(trial))
	}
	return filepath.Join(l.Dir, RunsDir, Label(trial), c.Dir)
}

// label returns the name of a run.
func (l *Layout) label(c *Cell, trial int) string {
	switch {
	case l.Trials == 1 && !l.Nested:
		return c.Dir
	case l.Independent:
		return c.Dir + "_" + Label(trial)
	}
	return Label(trial) + "_" + c.Dir
}

// Step returns the run of a cell.
func (l *Layout) Step(c *Cell, number int) Step {
	own := trial(c.Config, number, l.folder(c, number), c.Label)
	return Step{Config: own, Info: summary.RunInfo{Trial: number, RunLabel: l.label(c, number), VariationLabel: c.Label,
		VariationIndex: c.Index, VariationValues: c.Values}}
}

// Cells is the plan that runs several cells.
type Cells struct {
	Layout
	cells []Cell
	log   *slog.Logger
	// next is the place of the next run: in independent order trial of cell, else cell of trial.
	cell, trial int
	begun       bool
	// Converged has a line for each cell that needed fewer trials than planned.
	Converged []string
}

// NewCells plans the runs of cells. The result of each check of convergence is logged.
func NewCells(cells []Cell, l Layout, log *slog.Logger) *Cells {
	return &Cells{Layout: l, cells: cells, log: log}
}

// Total is the number of runs, with convergence the most of them.
func (p *Cells) Total() int { return len(p.cells) * p.Trials }

// Planned implements [Planned].
func (p *Cells) Planned() (steps []Step) {
	outer, inner := p.Trials, len(p.cells)
	if p.Independent {
		outer, inner = inner, outer
	}
	for i := range outer {
		for k := range inner {
			cell, trial := k, i
			if p.Independent {
				cell, trial = i, k
			}
			steps = append(steps, p.Step(&p.cells[cell], trial))
		}
	}
	return steps
}

// Next implements Plan.
func (p *Cells) Next(done []Run) (Step, bool) {
	pause := time.Duration(0)
	if p.begun {
		pause = p.advance(done)
	}
	p.begun = true
	if p.cell >= len(p.cells) || p.trial >= p.Trials {
		return Step{}, false
	}
	step := p.Step(&p.cells[p.cell], p.trial)
	step.Pause = pause
	return step, true
}

// advance moves to the next run, and returns the pause before it.
func (p *Cells) advance(done []Run) time.Duration {
	if !p.Independent {
		if p.cell++; p.cell < len(p.cells) {
			return p.Between
		}
		p.cell, p.trial = 0, p.trial+1
		return p.Pause
	}
	if p.trial++; p.trial < p.Trials && !p.stable(done) {
		return p.Pause
	}
	p.cell, p.trial = p.cell+1, 0
	return p.Between
}

// stable reports whether the runs of the current cell are enough.
func (p *Cells) stable(done []Run) bool {
	c := &p.cells[p.cell]
	converge := c.Config.Series.Convergence
	if converge == nil || p.trial < converge.MinRuns {
		return false
	}
	test := convergence{Convergence: *converge, level: c.Config.Series.Confidence, log: p.log}
	why, met := test.check(c.Runs(done))
	if met {
		line := fmt.Sprintf("%s converged after %d runs: %s", c.Label, p.trial, why)
		p.Converged = append(p.Converged, line)
		p.log.Info(line)
	}
	return met
}

var _ Planned = (*Cells)(nil)
