package runlog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/publish/progress"
)

// spread is a distribution with the percentiles from p50 on.
func spread(tag string, p50, p75, p90, p95, p99 float64) metrics.Metric {
	return metrics.Metric{Tag: tag, Distribution: true,
		Stats: metrics.Stats{Percentiles: [9]float64{4: p50, 5: p75, 6: p90, 7: p95, 8: p99}}}
}

func single(tag string, v float64) metrics.Metric {
	return metrics.Metric{Tag: tag, Stats: metrics.Stats{Avg: v}}
}

func TestRealtimeBlock(t *testing.T) {
	rps := 26.5
	b := block{rps: &rps, Figures: &progress.Figures{
		Elapsed: 61500 * time.Millisecond, Records: progress.Records{Successes: 1500, Errors: 7},
		Metrics: []metrics.Metric{
			single("request_throughput", 25), single("input_token_throughput", 12345.6),
			single("output_token_throughput", 999.4),
			single("total_isl", 740736), single("total_osl", 59964), single("theoretical_prefix_cache_hit", 97.5),
			spread("time_to_first_token", 12.4, 20, 30, 1234.4, 2000),
			spread("request_latency", 900, 1000, 1100, 1200, 12000),
			spread("output_token_throughput_per_user", 50.5, 60, 70, 80, 90),
			spread("input_sequence_length", 500, 1000, 1500, 1700, 2000),
		},
		Servers: []progress.Figure{
			{Name: "server_prefix_cache_hit_percent", Value: 60}, {Name: "server_unique_prompt_tokens", Value: 1234},
			{Name: "server_external_cache_hit_percent", Value: 1.25},
			{Name: "server_kv_cache_usage_percent", Value: 42},
			{Name: "server_cpu_kv_cache_usage_percent", Value: 7.04},
			{Name: "server_requests_running", Value: 32}, {Name: "server_requests_waiting", Value: 1},
			{Name: "server_input_tokens_per_second", Value: 12000},
			{Name: "server_output_tokens_per_second", Value: 950.5},
		},
	}}
	want := []string{
		"[realtime 01:01 profiling]",
		"  rps=26.50 (avg 25.00)  tput_in=12,346/s  tput_out=999/s  done=1507 ok=1500 err=7",
		"  ttft    p50= 12ms  p75=   20ms  p95=1,234ms  p99= 2,000ms",
		"  e2e     p50=900ms  p75=1,000ms  p95=1,200ms  p99=12,000ms",
		"  intvty  p50=   50  p75=     60  p95=     80  p99=      90 (1/tpot tok/s)",
		"  isl     p50=  500  p75=  1,000  p90=  1,500  p99=   2,000 (tokens)",
		"  tot  in=740,736 out=59,964",
		"  trace theoretical_prefix_cache_hit=97.5%",
		"  srv prefix_cache_hit=60.0% unique_in_srv=1,234 ext_cache_hit=1.2% kv_usage=42.0% cpu_kv_usage=7.0% " +
			"queue=32r/1w tput_in_srv=12,000/s tput_out_srv=950/s",
	}
	if got := b.lines(); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestRealtimeBlockWithoutFigures(t *testing.T) {
	b := block{Figures: &progress.Figures{Elapsed: 100 * time.Minute, Records: progress.Records{Errors: 3},
		Metrics: []metrics.Metric{single("request_throughput", 2)}}}
	want := []string{"[realtime 100:00 profiling]", "  rps=2.00 (avg 2.00)  tput_in=-  tput_out=-  done=3 ok=0 err=3"}
	if got := b.lines(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A block is due once an interval, whenever figures are computed, and its rate is that since the block before.
func TestBlocksComeAtTheirInterval(t *testing.T) {
	var lines bytes.Buffer
	p := NewProgress(New(Options{Console: &lines}), 10*time.Second)
	if needs := p.Begin(&progress.Run{}); needs.Every != 10*time.Second || !needs.Servers {
		t.Errorf("needs %+v", needs)
	}
	start := time.Unix(1, 0)
	for second := range 31 {
		elapsed := time.Duration(second) * time.Second
		p.Show(&progress.Snapshot{Elapsed: elapsed, Figures: &progress.Figures{At: start.Add(elapsed), Elapsed: elapsed,
			Records: progress.Records{Successes: int64(second * second)}}})
	}
	var got []string
	for line := range strings.Lines(lines.String()) {
		if _, rps, found := strings.Cut(line, "rps="); found {
			got = append(got, rps[:strings.IndexByte(rps, ' ')])
		}
	}
	if want := []string{"-", "30.00", "50.00"}; !slices.Equal(got, want) {
		t.Errorf("rates %q, want %q:\n%s", got, want, lines.String())
	}
}

func TestAPhaseHasALineForEachState(t *testing.T) {
	var lines bytes.Buffer
	p := NewProgress(New(Options{Console: &lines}), 0)
	for _, c := range []struct {
		phase progress.Phase
		want  string
	}{
		{progress.Phase{State: progress.PhaseStarted, ExpectedRequests: 9, ExpectedSessions: 3,
			ExpectedDuration: time.Minute, TargetRate: 2.5},
			"Phase a started | requests=9 | sessions=3 | duration=1m0s | rate=2.5/s | elapsed=0.00s"},
		{progress.Phase{State: progress.PhaseSendingComplete, RequestsSent: 9, RequestsCompleted: 4,
			GraceLeft: 3 * time.Second, SentSessions: 3, CompletedSessions: 1, TotalSessionTurns: 9,
			Elapsed: time.Second, TimeoutTriggered: true},
			"Phase a sending complete | sent=9, completed=4, in_flight=5 | waiting at most 3.0 s for them | " +
				"sessions sent=3, completed=1 | elapsed=1.00s | timeout_triggered"},
		{progress.Phase{State: progress.PhaseComplete, RequestsCompleted: 8, RequestsCancelled: 1, RequestErrors: 2,
			OldestCutOff: 1500 * time.Millisecond, WasCancelled: true, GracePeriodTimeoutTriggered: true},
			"Phase a complete | completed=8, cancelled=1, errors=2 | oldest_cut_off=1.50s | elapsed=0.00s | " +
				"grace_period_timeout_triggered | was_cancelled"},
	} {
		lines.Reset()
		c.phase.Name = "a"
		p.PhaseChanged(&c.phase)
		if !strings.HasSuffix(lines.String(), " NOTICE   "+c.want+"\n") {
			t.Errorf("got %s\nwant %s", lines.String(), c.want)
		}
	}
}

func TestTheNewestWarningsAreKept(t *testing.T) {
	l := New(Options{})
	log := l.Logger("a")
	for i := range 25 {
		log.Warn(fmt.Sprint("warning ", i))
		log.Info("information")
	}
	log.Error("error")
	if w := l.Warnings(); len(w) != maxWarnings || w[0] != "warning 6" || w[maxWarnings-1] != "error" {
		t.Errorf("%d warnings: %q", len(w), w)
	}
}
