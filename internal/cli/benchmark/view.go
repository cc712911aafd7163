package benchmark

import (
	"cmp"
	"io"
	"os"
	"slices"
	"time"

	"golang.org/x/term"

	"aiperf/internal/cli/command"
	"aiperf/internal/cli/show"
	"aiperf/internal/config"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/publish/progress"
	"aiperf/internal/run/plan"
	"aiperf/internal/view/dashboard"
	"aiperf/internal/view/runlog"
)

// view shows the progress of runs: as a bar, on the whole terminal, or not at all, where both are nil.
type view struct {
	bar    *runlog.Simple
	screen *dashboard.Dashboard
	// errTTY reports that the log would lead to a terminal.
	errTTY bool
	// note says why there is no dashboard though it was asked for.
	note string
}

// dashboardInterval is the time between two computations of the live metrics of a dashboard.
const dashboardInterval = 5 * time.Second

// newView returns the view that a configuration asks for. With a dashboard, what is written on the terminal waits while
// that is on the screen.
func newView(t *command.Terminal, cfg *config.Run, several bool) view {
	mode := cfg.UI.Pick(t.OutTTY, several)
	v := view{errTTY: t.ErrTTY}
	if mode == "dashboard" {
		if v.note = show.Lacks(t); v.note == "" {
			v.screen = newDashboard(t, cfg)
			show.Hold(t, v.screen)
			return v
		}
		if cfg.UI.Mode == "" {
			v.note = "" // nobody asked for it
		}
		mode = "simple"
	}
	if mode == "simple" {
		v.bar = runlog.NewSimple(t.StyledErr, runlog.SimpleOptions{Terminal: t.ErrTTY && !t.Dumb, Colour: t.Colour,
			Width: t.ErrWidth, MinPercent: cfg.Env.UI.MinUpdatePercent})
	}
	return v
}

// liveGroups are the groups of metrics on the dashboard: what the server counted itself is for the report.
func liveGroups(groups []string) []string {
	return slices.DeleteFunc(slices.Clone(groups), func(g string) bool { return g == string(metrics.GroupUsage) })
}

func newDashboard(t *command.Terminal, cfg *config.Run) *dashboard.Dashboard {
	title := "AIPerf"
	if cfg.Env.Dev.Mode {
		title += " (Developer Mode)"
	}
	o := dashboard.Options{
		Out: t.OutFile, Colour: t.Colour, Title: title, Every: dashboardInterval, GPUs: cfg.GPU.Dashboard,
		Frame: min(cfg.Env.UI.LogRefresh, cfg.Env.UI.SpinnerRefresh), Notice: cfg.Env.UI.Notice,
		Groups: liveGroups(cfg.Env.UI.ConsoleGroups), Dir: cfg.Artifacts.Dir, Interrupt: func() { interrupted(t) },
	}
	if every := cmp.Or(cfg.UI.StatsInterval, cfg.Env.UI.RealtimeMetricsInterval); every != nil {
		o.Every = *every
	}
	if term.IsTerminal(int(os.Stdin.Fd())) {
		o.In = os.Stdin
	}
	return dashboard.New(o)
}

// observers are those through which the view follows runs.
func (v view) observers() []progress.Observer {
	switch {
	case v.bar != nil:
		return []progress.Observer{v.bar}
	case v.screen != nil:
		return []progress.Observer{v.screen}
	}
	return nil
}

// logInterval is the time between two blocks of figures in the log; nil is that of the configuration. With a dashboard,
// its own interval is that of its tables.
func (v view) logInterval(cfg *config.Run) *time.Duration {
	if v.screen == nil {
		return nil
	}
	every := plan.StatsInterval(cfg)
	if every > 0 {
		every = max(every, plan.DefaultStatsInterval)
	}
	return &every
}

// leave has the terminal be as it was.
func (v view) leave() {
	if v.screen != nil {
		v.screen.Leave()
	}
}

// logWriter is where log lines go so that they and the progress do not overwrite each other.
func (v view) logWriter(out io.Writer) io.Writer {
	switch {
	case v.bar != nil:
		return v.bar.LogWriter(out)
	case v.screen != nil:
		return v.screen.LogWriter(out, !v.errTTY)
	}
	return out
}

// wraps reports whether the log wraps and colours its lines for the terminal: the pane of a dashboard does so itself.
func (v view) wraps(t *command.Terminal) bool { return t.ErrTTY && v.screen == nil }

// interrupted does what Ctrl-C does; nothing before a run.
func interrupted(t *command.Terminal) {
	if t.Interrupt != nil {
		t.Interrupt()
	}
}
