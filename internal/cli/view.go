package cli

import (
	"io"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/run"
	"aiperf/internal/view/simple"
)

// view shows the progress of a run.
type view struct{ ui simple.View }

func newView(t *terminal, cfg *config.Run) view {
	if cfg.UI.Pick(t.outTTY) != "simple" {
		return view{simple.None{}}
	}
	return view{simple.NewSimple(t.styledErr, t.errTTY && !t.dumb, t.colour, cfg.Env.UI.MinUpdatePercent)}
}

// logWriter is where log lines go so that they and the progress do not overwrite each other.
func (v view) logWriter(out io.Writer) io.Writer {
	if s, ok := v.ui.(*simple.Simple); ok {
		return s.Beside(out)
	}
	return out
}

func (v view) clear() { v.ui.Clear() }

// observe draws a snapshot of the run.
func (v view) observe(s run.Snapshot) {
	if p, ok := progress(s); ok {
		v.ui.Show(p)
	}
}

// progress is what a snapshot says about the phase that is under way.
func progress(s run.Snapshot) (simple.Progress, bool) {
	var current *load.Stats
	for i := range s.Phases {
		if s.Phases[i].State != load.Created {
			current = &s.Phases[i]
		}
	}
	if current == nil {
		return simple.Progress{}, false
	}
	p := simple.Progress{Stage: simple.Profiling, Elapsed: current.Elapsed(s.NowNS), Errors: current.RequestErrors}
	if current.Kind == load.Warmup {
		p.Stage = simple.Warmup
	}
	switch {
	case current.State == load.Complete && current.Kind == load.Profiling:
		p.Stage = simple.ProcessingRecords
		p.Done, p.Total = s.Records.Requests(), current.RequestsCompleted
	case current.State == load.SendingComplete && current.TimeoutTriggered:
		p.Stage++ // the grace period follows its phase
		p.Done, p.Total = current.RequestsCompleted+current.RequestsCancelled, current.RequestsSent
		p.Elapsed = time.Duration(s.NowNS - current.SentEndNS)
	default:
		if percent, known := current.Progress(s.NowNS); known {
			p.Fraction = percent / 100
		}
		p.Done, p.Total = current.RequestsCompleted, current.ExpectedRequests
		return p, true
	}
	if p.Total > 0 {
		p.Fraction = float64(p.Done) / float64(p.Total)
	}
	return p, true
}
