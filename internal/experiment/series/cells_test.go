package series

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aiperf/internal/config"
)

// cells are configurations that differ in name only.
func cells(t *testing.T, runs int, names ...string) (list []Cell) {
	for i, name := range names {
		list = append(list, Cell{Index: i, Dir: name, Label: "label " + name,
			Config: base(t, config.Series{Runs: runs, WarmupOnce: true})})
	}
	return list
}

// planned are the steps of a plan whose runs all succeed.
func planned(p Plan) (steps []Step) {
	var done []Run
	for {
		s, more := p.Next(done)
		if !more {
			return steps
		}
		steps = append(steps, s)
		done = append(done, Run{Info: s.Info})
	}
}

// In repeated order trial 2 follows when all cells have run once; in independent order each cell has its trials in a
// row. The pause is that of what changes, never both, and none is at the end.
func TestTrap16PausesBetweenCellsAndTrials(t *testing.T) {
	for _, c := range []struct {
		independent bool
		pauses      string
		labels      string
		folders     string
	}{
		{false, "0s 5s 5s 10s 5s 5s", "trial_0001_a trial_0001_b trial_0001_c trial_0002_a trial_0002_b trial_0002_c",
			"profile_runs/trial_0001/a profile_runs/trial_0001/b profile_runs/trial_0001/c profile_runs/trial_0002/a " +
				"profile_runs/trial_0002/b profile_runs/trial_0002/c"},
		{true, "0s 10s 5s 10s 5s 10s", "a_trial_0001 a_trial_0002 b_trial_0001 b_trial_0002 c_trial_0001 c_trial_0002",
			"a/profile_runs/trial_0001 a/profile_runs/trial_0002 b/profile_runs/trial_0001 b/profile_runs/trial_0002 " +
				"c/profile_runs/trial_0001 c/profile_runs/trial_0002"},
	} {
		plan := NewCells(cells(t, 2, "a", "b", "c"), Layout{Dir: "D", Trials: 2, Independent: c.independent,
			Between: 5 * time.Second, Pause: 10 * time.Second}, silent())
		if plan.Total() != 6 {
			t.Errorf("%d runs", plan.Total())
		}
		var pauses, labels, folders, warm []string
		for _, s := range planned(plan) {
			pauses, labels = append(pauses, s.Pause.String()), append(labels, s.Info.RunLabel)
			dir, _ := filepath.Rel("D", s.Config.Artifacts.Dir)
			folders = append(folders, filepath.ToSlash(dir))
			warm = append(warm, fmt.Sprint(len(s.Config.Phases)-1))
		}
		for what, got := range map[string][2]string{"pauses": {strings.Join(pauses, " "), c.pauses},
			"labels": {strings.Join(labels, " "), c.labels}, "folders": {strings.Join(folders, " "), c.folders}} {
			if got[0] != got[1] {
				t.Errorf("independent %v: %s are %s, want %s", c.independent, what, got[0], got[1])
			}
		}
		// The first trial of each cell warms up.
		want := map[bool]string{false: "1 1 1 0 0 0", true: "1 0 1 0 1 0"}[c.independent]
		if got := strings.Join(warm, " "); got != want {
			t.Errorf("independent %v: warm-ups %s, want %s", c.independent, got, want)
		}
	}
}

func TestSingleRunsOfCellsGoToTheirFolders(t *testing.T) {
	steps := planned(NewCells(cells(t, 1, "a", "b"), Layout{Dir: "D", Trials: 1}, silent()))
	if len(steps) != 2 || steps[1].Config.Artifacts.Dir != filepath.Join("D", "b") || steps[1].Info.RunLabel != "b" ||
		steps[1].Info.VariationLabel != "label b" || steps[1].Info.VariationIndex != 1 {
		t.Errorf("%+v", steps)
	}
	nested := Layout{Dir: "D", Trials: 1, Independent: true, Nested: true}
	if s := nested.Step(&cells(t, 1, "search_iter_0000")[0], 0); s.Config.Artifacts.Dir !=
		filepath.Join("D", "search_iter_0000", "profile_runs", "trial_0001") {
		t.Errorf("the run of a search goes to %s", s.Config.Artifacts.Dir)
	}
}

// A cell whose figures agree needs no further trials; the next cell begins anew.
func TestCellsConvergeOneByOne(t *testing.T) {
	list := cells(t, 6, "a", "b")
	for i := range list {
		list[i].Config.Series.Convergence = &config.Convergence{Metric: "request_latency", Stat: "avg",
			Mode: config.ConvergeCV, Threshold: 0.05, MinRuns: 3}
	}
	plan := NewCells(list, Layout{Dir: "D", Trials: 6, Independent: true}, silent())
	values := map[string][]float64{"label a": {100, 100, 101, 1, 1, 1}, "label b": {100, 150, 60, 100, 40, 180}}
	var done []Run
	made := map[string]int{}
	for {
		s, more := plan.Next(done)
		if !more {
			break
		}
		label := s.Info.VariationLabel
		r := successes(values[label][made[label]])[0]
		r.Info = s.Info
		made[label]++
		done = append(done, r)
	}
	if made["label a"] != 3 || made["label b"] != 6 || len(plan.Converged) != 1 {
		t.Errorf("%v runs, %v", made, plan.Converged)
	}
}

// Seeds that the original gave these trials.
func TestTrap17SeedsOfTrials(t *testing.T) {
	for _, c := range []struct {
		variation string
		trial     int
		seed      uint64
	}{
		{"phases.profiling.concurrency=8", 0, 8200661095152950310},
		{"phases.profiling.concurrency=8", 1, 5110545588440179007},
		{"phases.profiling.concurrency=16", 0, 5258138798913735928}, {"base", 0, 6858774025263032934},
		{"base", 1, 4337237111802998792},
	} {
		if got := trialSeed(42, c.variation, c.trial); got != c.seed {
			t.Errorf("trial %d of %s has the seed %d, want %d", c.trial, c.variation, got, c.seed)
		}
	}
}
