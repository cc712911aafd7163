package series

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/publish/progress"
)

// watcher keeps the states of a series.
type watcher struct{ states []*progress.Series }

func (*watcher) Begin(*progress.Run) progress.Needs { return progress.Needs{} }
func (*watcher) Show(*progress.Snapshot)            {}
func (*watcher) End(*progress.Ending)               {}
func (w *watcher) SeriesChanged(s *progress.Series) { w.states = append(w.states, s) }
func (w *watcher) course(kind string, trials int) *Course {
	return NewCourse(kind, trials, w.list(), nil)
}
func (w *watcher) list() []progress.Observer { return []progress.Observer{w} }

// line is the states of all cells.
func line(s *progress.Series) string {
	var parts []string
	for _, c := range s.Cells {
		parts = append(parts, string(c.State[:1]))
	}
	return strings.Join(parts, "")
}

func TestObserversSeeWhereASeriesStands(t *testing.T) {
	cfg := base(t, config.Series{Runs: 1})
	var cells []Cell
	for i, n := range []int64{1, 8} {
		cells = append(cells, Cell{Index: i, Dir: fmt.Sprint("c", n), Label: fmt.Sprint("concurrency=", n), Config: cfg,
			Values: artifact.Object{{Key: "phases.profiling.concurrency", Value: n}}})
	}
	w := &watcher{}
	n := 0.0
	runs, _, err := Execute(context.Background(), NewCells(cells, Layout{Dir: t.TempDir(), Trials: 2}, nil), Options{
		Course: w.course(progress.SweepKind, 2),
		Execute: func(context.Context, *Step) Finished {
			if n++; n == 2 {
				return Finished{Code: 1}
			}
			return Finished{Outcome: outcome(map[string]float64{"output_token_throughput": n},
				"output_token_throughput")}
		},
	})
	if err != nil || len(runs) != 4 {
		t.Fatal(runs, err)
	}
	var lines []string
	for _, s := range w.states {
		lines = append(lines, line(s))
	}
	want := []string{"wwww", "rwww", "dwww", "drww", "dfww", "dfrw", "dfdw", "dfdr", "dfdd", "dfdd"}
	if !slices.Equal(lines, want) {
		t.Errorf("states %q, want %q", lines, want)
	}
	last := w.states[len(w.states)-1]
	if c := last.Cells[3]; c.Label != "concurrency=8" || c.Trial != 2 || c.Trials != 2 || c.Values[0].Number != 8 ||
		c.Values[0].Name != "concurrency" || len(c.Metrics) != 1 || c.Metrics[0].Value != 4 {
		t.Errorf("the last cell is %+v", c)
	}
	if last.Planned != 4 || !strings.Contains(last.Answer, "4.00 ms with concurrency 8") {
		t.Errorf("planned %d, answer %q", last.Planned, last.Answer)
	}
}

// What a plan leaves out is not waited for.
func TestRunsThatAreNotNeededAreSkipped(t *testing.T) {
	cfg := base(t, config.Series{Runs: 5, Convergence: &config.Convergence{Metric: "request_latency", Stat: "avg",
		Mode: config.ConvergeCIWidth, Threshold: 1}})
	w := &watcher{}
	runs, _, err := Execute(context.Background(), NewRepeats(cfg, silent()), Options{
		Course:  w.course(progress.RepeatsKind, 5),
		Execute: func(context.Context, *Step) Finished { return latencies(7) },
	})
	if err != nil || len(runs) != 3 {
		t.Fatal(len(runs), err)
	}
	if got := line(w.states[len(w.states)-1]); got != "dddss" {
		t.Errorf("states %q, want dddss", got)
	}
}

func TestNobodyFollows(t *testing.T) {
	if c := NewCourse(progress.SweepKind, 1, nil, nil); c != nil {
		t.Error("a course without observers")
	}
}
