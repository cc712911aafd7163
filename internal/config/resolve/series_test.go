package resolve

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/config/settings"
)

func seriesOf(t *testing.T, flags string) config.Series {
	t.Helper()
	r, _ := mustResolve(t, "-m m "+flags)
	return r.Series
}

func TestSeries(t *testing.T) {
	one := seriesOf(t, "")
	if one.Runs != 1 || one.Convergence != nil {
		t.Errorf("a lone run is %+v", one)
	}
	s := seriesOf(t, "--num-profile-runs 5")
	if s != (config.Series{Runs: 5, Confidence: 0.95, WarmupOnce: true}) {
		t.Errorf("the defaults are %+v", s)
	}
	s = seriesOf(t, "--num-profile-runs 8 --profile-run-cooldown-seconds 0.25 --confidence-level 0.9 "+
		"--no-profile-run-disable-warmup-after-first --vary-seed-per-trial "+
		"--convergence-metric request_latency --convergence-stat p90 --convergence-mode cv --convergence-threshold 0.2")
	c := *s.Convergence
	s.Convergence = nil
	if s != (config.Series{Runs: 8, Cooldown: 250 * time.Millisecond, Confidence: 0.9, Seeds: config.VarySeeds}) {
		t.Errorf("the series is %+v", s)
	}
	if c != (config.Convergence{Metric: "request_latency", Stat: "p90", Mode: "cv", Threshold: 0.2, MinRuns: 3}) {
		t.Errorf("the convergence is %+v", c)
	}
	if c := seriesOf(t, "--num-profile-runs 2 --convergence-metric x").Convergence; c.MinRuns != 2 ||
		c.Threshold != 0.1 || c.Mode != config.ConvergeCIWidth || c.Stat != "avg" {
		t.Errorf("the defaults of convergence are %+v", c)
	}
}

func TestSeedOfASeries(t *testing.T) {
	for line, want := range map[string]string{
		"":                                     "none",
		"--num-profile-runs 2":                 "42",
		"--num-profile-runs 2 --random-seed 0": "0",
		"--num-profile-runs 2 --set-consistent-seed":                          "42",
		"--num-profile-runs 2 --no-set-consistent-seed":                       "none fresh",
		"--num-profile-runs 2 --no-set-consistent-seed --random-seed 7":       "7",
		"--num-profile-runs 2 --vary-seed-per-trial":                          "42 vary",
		"--num-profile-runs 2 --vary-seed-per-trial --no-set-consistent-seed": "42 vary",
		"--num-profile-runs 2 --vary-seed-per-trial --random-seed 7":          "7 vary",
	} {
		p := mustParse(t, "-m m "+line)
		r, warnings, err := Resolve(p, fakeCatalog{})
		if err != nil {
			t.Fatal(err)
		}
		got := "none"
		if r.RandomSeed != nil {
			got = fmt.Sprint(*r.RandomSeed)
		}
		got += map[config.Seeds]string{config.VarySeeds: " vary", config.FreshSeeds: " fresh"}[r.Series.Seeds]
		if got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
		if said := strings.Contains(fmt.Sprint(warnings),
			"the runs send different content"); said != strings.HasSuffix(want, "fresh") {
			t.Errorf("%s: it warns: %v", line, warnings)
		}
	}
}

// TestTrapSeriesOptionsOfALoneRun: an option that was given counts, not one that differs from its default.
func TestTrapSeriesOptionsOfALoneRun(t *testing.T) {
	for _, line := range []string{
		"--profile-run-cooldown-seconds 0", "--profile-run-disable-warmup-after-first", "--set-consistent-seed",
		"--convergence-metric request_latency", "--num-profile-runs 1 --no-set-consistent-seed",
	} {
		if faults := resolveError(t, "-m m "+line); !faults.Has("V41") {
			t.Errorf("%s: %v", line, faults)
		}
	}
	mustResolve(t, "-m m --num-profile-runs 1")
}

func TestBoundsOfASeries(t *testing.T) {
	for _, flags := range []string{
		"--num-profile-runs 0", "--num-profile-runs 11", "--num-profile-runs 2 --confidence-level 0",
		"--num-profile-runs 2 --confidence-level 1",
		"--num-profile-runs 3 --convergence-metric x --convergence-threshold 0",
		"--num-profile-runs 3 --convergence-metric x --convergence-threshold 1",
		"--num-profile-runs 2 --profile-run-cooldown-seconds -1",
	} {
		p, err := settings.Parse(strings.Fields("-m m "+flags), func(string) (string, bool) { return "", false })
		if err == nil {
			_, _, err = Resolve(p, fakeCatalog{})
		}
		name := strings.Fields(flags)[len(strings.Fields(flags))-2]
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", flags, err)
		}
	}
}

func TestConvergenceThresholdIsThatOfTheMode(t *testing.T) {
	for mode, want := range map[string]float64{config.ConvergeCIWidth: 0.10, config.ConvergeCV: 0.05,
		config.ConvergeDistribution: 0.05} {
		r, _ := mustResolve(t, "-m m --num-profile-runs 3 --convergence-metric ttft --convergence-mode "+mode)
		if c := r.Series.Convergence; c.Threshold != want || c.Metric != "time_to_first_token" {
			t.Errorf("%s: %+v, want threshold %v", mode, c, want)
		}
	}
}

func TestProbesOfASearch(t *testing.T) {
	probes := func(flags string) config.Probes {
		r, _ := mustResolve(t, "-m m "+flags)
		return r.Probes
	}
	if p := probes(""); p != (config.Probes{Confidence: 0.95}) {
		t.Errorf("without flags: %+v", p)
	}
	p := probes("--probe-early-stop --probe-confidence 0.99 --probe-isolation")
	if p != (config.Probes{EarlyStop: true, Confidence: 0.99, Isolated: true}) {
		t.Errorf("with flags: %+v", p)
	}
}
