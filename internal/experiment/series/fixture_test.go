package series

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
	"aiperf/internal/run"
)

// outcome is a run with some metrics: a count of requests, and single values by tag.
func outcome(values map[string]float64, order ...string) *run.Outcome {
	o := &run.Outcome{Result: summary.Result{Run: summary.Run{Counts: summary.Counts{Successes: 10}}}}
	for _, tag := range append([]string{"request_count"}, order...) {
		m := metrics.Metric{Tag: tag, Header: tag, Unit: "ms", Group: metrics.GroupDefault}
		if m.Stats.Avg = values[tag]; tag == "request_count" {
			m.Unit, m.Stats.Avg = "requests", 10
		}
		o.Result.Metrics = append(o.Result.Metrics, m)
	}
	return o
}

// latencies returns a finished run with this figure and its count.
func latencies(v float64) Finished {
	return Finished{Outcome: outcome(map[string]float64{"request_latency": v}, "request_latency")}
}

// successes are runs with these averages of request_latency.
func successes(values ...float64) (runs []Run) {
	for i, v := range values {
		runs = append(runs, Run{Info: summary.RunInfo{Trial: i, RunLabel: Label(i)}, Metrics: []metrics.Metric{
			{Tag: "request_latency", Unit: "ms", Stats: metrics.Stats{Avg: v}}}})
	}
	return runs
}

// base is the configuration of a series with a warm-up.
func base(t *testing.T, s config.Series) *config.Run {
	t.Helper()
	if s.Confidence == 0 {
		s.Confidence = 0.95
	}
	if c := s.Convergence; c != nil && c.MinRuns == 0 {
		c.MinRuns = min(3, s.Runs)
	}
	return &config.Run{
		Series: s, Artifacts: config.Artifacts{Dir: filepath.Join(t.TempDir(), "out")},
		Phases: []config.Phase{{Name: "warmup", Kind: config.WarmupPhase},
			{Name: "profiling", Kind: config.ProfilingPhase}},
	}
}

// made records the steps of an experiment; run k ends as ends(k) says.
type made struct{ steps []Step }

func (m *made) options(ends func(k int) Finished) Options {
	return Options{Execute: func(_ context.Context, s *Step) Finished {
		m.steps = append(m.steps, *s)
		return ends(len(m.steps) - 1)
	}}
}

func (m *made) labels() string {
	var list []string
	for _, s := range m.steps {
		list = append(list, s.Info.RunLabel)
	}
	return strings.Join(list, " ")
}

// logged is a logger and what it has said.
func logged() (*slog.Logger, *strings.Builder) {
	var b strings.Builder
	return slog.New(slog.NewTextHandler(&b, nil)), &b
}

func silent() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func wantText(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s: no %q in %q", what, part, text)
		}
	}
}

func seeds(m *made) string {
	var list []string
	for _, s := range m.steps {
		if s.Config.RandomSeed == nil {
			list = append(list, "none")
		} else {
			list = append(list, fmt.Sprint(*s.Config.RandomSeed))
		}
	}
	return strings.Join(list, " ")
}
