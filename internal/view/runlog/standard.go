package runlog

import (
	standardlog "log"
	"log/slog"
)

// AdoptStandard makes what libraries say on the standard logger lines of the log: on the terminal they would stand in
// the midst of the progress. The returned function ends that.
func (l *Log) AdoptStandard() (end func()) {
	to, flags := standardlog.Writer(), standardlog.Flags()
	standardlog.SetFlags(0)
	standardlog.SetOutput(slog.NewLogLogger(l.Logger("library").Handler(), slog.LevelDebug).Writer())
	return func() {
		standardlog.SetOutput(to)
		standardlog.SetFlags(flags)
	}
}
