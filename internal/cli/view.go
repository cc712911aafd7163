package cli

import (
	"io"

	"aiperf/internal/config"
	"aiperf/internal/view/simple"
)

// view shows the progress of a run; a nil bar shows nothing.
type view struct{ bar *simple.Simple }

func newView(t *terminal, cfg *config.Run) view {
	if cfg.UI.Pick(t.outTTY) != "simple" {
		return view{}
	}
	return view{simple.New(t.styledErr, simple.Options{Terminal: t.errTTY && !t.dumb, Colour: t.colour,
		Width: t.errWidth, MinPercent: cfg.Env.UI.MinUpdatePercent})}
}

// logWriter is where log lines go so that they and the progress do not overwrite each other.
func (v view) logWriter(out io.Writer) io.Writer {
	if v.bar == nil {
		return out
	}
	return v.bar.LogWriter(out)
}
