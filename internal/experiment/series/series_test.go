package series

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/result/summary"
	"aiperf/internal/run"
)

func TestRepeats(t *testing.T) {
	cfg := base(t, config.Series{Runs: 3, WarmupOnce: true})
	var m made
	runs, stopped, _ := Execute(t.Context(), NewRepeats(cfg, silent()),
		m.options(func(int) Finished { return latencies(5) }))
	if stopped || len(runs) != 3 || len(Successes(runs)) != 3 {
		t.Fatalf("%d runs, stopped %v: %+v", len(runs), stopped, runs)
	}
	if got := m.labels(); got != "trial_0001 trial_0002 trial_0003" {
		t.Errorf("the labels are %s", got)
	}
	for i, s := range m.steps {
		if want := filepath.Join(cfg.Artifacts.Dir, "profile_runs",
			fmt.Sprintf("run_%04d", i+1)); s.Config.Artifacts.Dir != want {
			t.Errorf("run %d goes to %s, want %s", i, s.Config.Artifacts.Dir, want)
		}
		if s.Info.Trial != i {
			t.Errorf("run %d is trial %d", i, s.Info.Trial)
		}
		if id := s.Info.SweepID; len(id) != 36 || id != m.steps[0].Info.SweepID {
			t.Errorf("run %d belongs to %q, the first to %q", i, id, m.steps[0].Info.SweepID)
		}
	}
	if len(cfg.Phases) != 2 || filepath.Base(cfg.Artifacts.Dir) != "out" {
		t.Error("the plan changed the configuration that it was given")
	}
}

func phases(c *config.Run) string {
	var names []string
	for _, p := range c.Phases {
		names = append(names, p.Name)
	}
	return strings.Join(names, " ")
}

// TestTrapWarmupGoesByKind: a phase that is not measured is left out whatever its name; agentic replay keeps the
// stage that places its lanes.
func TestTrapWarmupGoesByKind(t *testing.T) {
	all := []config.Phase{
		{Name: "warmup", Kind: config.WarmupPhase, Lanes: &config.Lanes{Lanes: load.Lanes{Stage: load.SeedLanes}}},
		{Name: "prewarm", Kind: config.WarmupPhase},
		{Name: "cache_warmup", Kind: config.WarmupPhase,
			Lanes: &config.Lanes{Lanes: load.Lanes{Stage: load.FillLanes}}},
		{Name: "warmup of sorts", Kind: config.ProfilingPhase},
	}
	for _, c := range []struct {
		once        bool
		first, next string
	}{
		{true, "warmup prewarm cache_warmup warmup of sorts", "warmup warmup of sorts"},
		{false, "warmup prewarm cache_warmup warmup of sorts", "warmup prewarm cache_warmup warmup of sorts"},
	} {
		cfg := base(t, config.Series{Runs: 2, WarmupOnce: c.once})
		cfg.Phases = all
		var m made
		Execute(t.Context(), NewRepeats(cfg, silent()), m.options(func(int) Finished { return latencies(5) }))
		if got := phases(m.steps[0].Config); got != c.first {
			t.Errorf("once %v: the first run has %s", c.once, got)
		}
		if got := phases(m.steps[1].Config); got != c.next {
			t.Errorf("once %v: the second run has %s, want %s", c.once, got, c.next)
		}
	}
}

func TestSeeds(t *testing.T) {
	seven := uint64(7)
	for _, c := range []struct {
		name     string
		kind     config.Seeds
		seed     *uint64
		scenario bool
		check    func(t *testing.T, seeds string)
	}{
		{"the same for all", config.SameSeed, &seven, false, func(t *testing.T, s string) { equal(t, s, "7 7 7") }},
		// The first four bytes of sha256("7:base:trial:0") and so on.
		{"derived for each", config.VarySeeds, &seven, false,
			func(t *testing.T, s string) {
				equal(t, s, "8591936673200650022 2039339905790708698 5213088469389072029")
			}},
		{"none", config.FreshSeeds, nil, false, func(t *testing.T, s string) { equal(t, s, "none none none") }},
		{"a scenario records what it draws", config.FreshSeeds, nil, true, func(t *testing.T, s string) {
			list := strings.Fields(s)
			slices.Sort(list)
			if strings.Contains(s, "none") || len(slices.Compact(list)) != 3 {
				t.Errorf("the seeds are %s", s)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := base(t, config.Series{Runs: 3, Seeds: c.kind})
			cfg.RandomSeed = c.seed
			if c.scenario {
				cfg.Submission = &config.Submission{}
			}
			var m made
			Execute(t.Context(), NewRepeats(cfg, silent()), m.options(func(int) Finished { return latencies(5) }))
			c.check(t, seeds(&m))
		})
	}
	if trialSeed(7, "concurrency_10", 1) == trialSeed(8, "concurrency_10", 0) {
		t.Error("the seeds of neighbouring variations collide")
	}
}

func equal(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestTrapCooldown: the pause lies between runs, also after a failed one, and there is none at the ends.
func TestTrapCooldown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := base(t, config.Series{Runs: 4, Cooldown: 10 * time.Second})
		start := time.Now()
		var begun []time.Duration
		o := Options{Execute: func(context.Context, *Step) Finished {
			begun = append(begun, time.Since(start))
			if len(begun) == 2 {
				return Finished{Code: 1, Err: errors.New("no")}
			}
			return latencies(5)
		}}
		Execute(t.Context(), NewRepeats(cfg, silent()), o)
		equal(t, fmt.Sprint(begun, time.Since(start)), "[0s 10s 20s 30s] 30s")
	})
}

func TestStopDuringTheCooldown(t *testing.T) {
	for name, stop := range map[string]func(context.CancelFunc, chan struct{}){
		"a signal":  func(_ context.CancelFunc, c chan struct{}) { close(c) },
		"a context": func(cancel context.CancelFunc, _ chan struct{}) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := base(t, config.Series{Runs: 5, Cooldown: time.Hour})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var m made
				o, signal := m.options(func(int) Finished { return latencies(5) }), make(chan struct{})
				o.Stop = signal
				time.AfterFunc(90*time.Minute, func() { stop(cancel, signal) })
				start := time.Now()
				runs, stopped, _ := Execute(ctx, NewRepeats(cfg, silent()), o)
				if !stopped || len(runs) != 2 || len(Successes(runs)) != 2 || time.Since(start) != 90*time.Minute {
					t.Errorf("%d runs, stopped %v, after %s", len(runs), stopped, time.Since(start))
				}
			})
		})
	}
}

// TestTrapCancelledRunEndsTheSeries: the current run gets the signal; its results are incomplete.
func TestTrapCancelledRunEndsTheSeries(t *testing.T) {
	for name, end := range map[string]func(stop chan struct{}) Finished{
		"with results": func(chan struct{}) Finished {
			f := latencies(5)
			f.Outcome.Result.WasCancelled = true
			return f
		},
		"without results": func(stop chan struct{}) Finished {
			close(stop)
			return Finished{Code: 1, Err: &run.NoResultsError{Reason: "the run was cancelled before the first request"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var m made
			stop := make(chan struct{})
			o := m.options(func(k int) Finished {
				if k == 2 {
					return end(stop)
				}
				return latencies(5)
			})
			o.Stop = stop
			runs, stopped, _ := Execute(t.Context(), NewRepeats(base(t, config.Series{Runs: 5}), silent()), o)
			if !stopped || len(runs) != 3 || len(Successes(runs)) != 2 {
				t.Fatalf("%d runs, stopped %v", len(runs), stopped)
			}
			wantText(t, "the last run", runs[2].Err, "cancelled")
		})
	}
}

// TestRunThatEndsItselfSaysWhy: a run ends early, too, when its files cannot be written.
func TestRunThatEndsItselfSaysWhy(t *testing.T) {
	var m made
	o := m.options(func(int) Finished {
		f := latencies(5)
		f.Outcome.Result.WasCancelled, f.Outcome.Result.Incomplete = true, "no space left on device"
		return f
	})
	runs, stopped, _ := Execute(t.Context(), NewRepeats(base(t, config.Series{Runs: 5}), silent()), o)
	if !stopped || len(runs) != 1 || runs[0].Err != "no space left on device" {
		t.Errorf("stopped %v: %+v", stopped, runs)
	}
}

// TestSignalAfterTheLastRun: the plan is through, nothing was cut off.
func TestSignalAfterTheLastRun(t *testing.T) {
	var m made
	stop := make(chan struct{})
	o := m.options(func(k int) Finished {
		if k == 1 {
			close(stop)
		}
		return latencies(5)
	})
	o.Stop = stop
	runs, stopped, _ := Execute(t.Context(), NewRepeats(base(t, config.Series{Runs: 2}), silent()), o)
	if stopped || len(Successes(runs)) != 2 {
		t.Errorf("stopped %v, %d successes", stopped, len(Successes(runs)))
	}
}

// TestTrapFailedRuns: what does not count, and why; the series goes on.
func TestTrapFailedRuns(t *testing.T) {
	none := latencies(5)
	none.Outcome.Result.Counts = summary.Counts{Errors: 12}
	empty := Finished{Outcome: &run.Outcome{}}
	uncounted := latencies(5)
	uncounted.Outcome.Result.Metrics[0].Stats.Avg = 0
	aborted := latencies(5)
	aborted.Code, aborted.Err = 1, errors.New("too many requests failed")
	secret := Finished{Code: 1, Err: errors.New("cannot reach http://me:hunter2@h/ with key k-123456789")}
	for _, c := range []struct {
		name     string
		finished Finished
		want     string
	}{
		{"a success", latencies(5), ""},
		{"every request failed", none, "All 12 requests failed"},
		{"exit status 0 without metrics", empty, "no metrics found"},
		{"exit status 0 without a success", uncounted, "No requests completed"},
		{"no request came back", Finished{Code: 1, Err: &run.NoResultsError{Reason: "no request was sent"}},
			"No requests completed: no request was sent"},
		{"it could not start", Finished{Code: 1, Err: errors.New("the dataset is broken")},
			"exit status 1: the dataset is broken"},
		{"it aborted itself", aborted, "exit status 1: too many requests failed"},
		{"a verdict", func() Finished { f := latencies(5); f.Code = 4; return f }(), "exit status 4"},
		{"a secret", secret, "exit status 1: cannot reach http://<redacted>@h/ with key <redacted>"},
		{"a long text", Finished{Code: 1, Err: errors.New("start" + strings.Repeat("é", 5000) + "end")},
			strings.Repeat("é", 998) + "end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := base(t, config.Series{Runs: 2})
			cfg.Endpoint.APIKey, cfg.Endpoint.URLs = "k-123456789", []string{"http://me:hunter2@h/"}
			var m made
			var told []string
			o := m.options(func(k int) Finished {
				if k == 0 {
					return c.finished
				}
				return latencies(5)
			})
			o.Failed = func(r *Run) { told = append(told, r.Err) }
			runs, _, _ := Execute(t.Context(), NewRepeats(cfg, silent()), o)
			if len(runs) != 2 || !runs[1].Succeeded() {
				t.Fatalf("the series ended after %d runs: %+v", len(runs), runs)
			}
			equal(t, runs[0].Err, c.want)
			if (len(told) == 1) != (c.want != "") || (runs[0].Metrics == nil) != (c.want != "") {
				t.Errorf("told %v, %d figures", told, len(runs[0].Metrics))
			}
		})
	}
}

func TestTrapNoPhaseIsSeamlessAfterAWarmupThatIsLeftOut(t *testing.T) {
	kept := withoutWarmup([]config.Phase{
		{Name: "warmup", Kind: config.WarmupPhase}, {Name: "a", Kind: config.ProfilingPhase, Seamless: true},
		{Name: "b", Kind: config.ProfilingPhase, Seamless: true}, {Name: "pause", Kind: config.WarmupPhase},
		{Name: "c", Kind: config.ProfilingPhase, Seamless: true},
	})
	var got []string
	for _, p := range kept {
		got = append(got, fmt.Sprint(p.Name, " ", p.Seamless))
	}
	if s := strings.Join(got, ", "); s != "a false, b true, c false" {
		t.Errorf("the phases are %s", s)
	}
}
