package run

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/mockserver"
	"aiperf/internal/view/runlog"
	"aiperf/internal/watch/servermetrics"
)

// spread is a distribution with the percentiles from p50 on.
func spread(tag string, p50, p75, p90, p95, p99 float64) metrics.Result {
	return metrics.Result{Tag: tag, Distribution: true,
		Stats: metrics.Stats{Percentiles: [9]float64{4: p50, 5: p75, 6: p90, 7: p95, 8: p99}}}
}

func single(tag string, v float64) metrics.Result {
	return metrics.Result{Tag: tag, Stats: metrics.Stats{Avg: v}}
}

func TestRealtimeBlock(t *testing.T) {
	v := func(x float64) *float64 { return &x }
	f := figures{
		elapsed: 61500 * time.Millisecond, seen: metrics.Snapshot{Successes: 1500, Errors: 7}, rps: v(26.5),
		results: []metrics.Result{
			single("request_throughput", 25), single("input_token_throughput", 12345.6),
			single("output_token_throughput", 999.4),
			single("total_isl", 740736), single("total_osl", 59964), single("theoretical_prefix_cache_hit", 97.5),
			spread("time_to_first_token", 12.4, 20, 30, 1234.4, 2000),
			spread("request_latency", 900, 1000, 1100, 1200, 12000),
			spread("output_token_throughput_per_user", 50.5, 60, 70, 80, 90),
			spread("input_sequence_length", 500, 1000, 1500, 1700, 2000),
		},
		servers: servermetrics.Live{
			PrefixCacheHit: v(60), UniqueTokens: v(1234), ExternalCacheHit: v(1.25), KVUsage: v(42),
			CPUKVUsage: v(7.04),
			Running:    v(32), Waiting: v(1), InputRate: v(12000), OutputRate: v(950.5),
		},
	}
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
	if got := f.lines(); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestRealtimeBlockWithoutFigures(t *testing.T) {
	f := figures{elapsed: 100 * time.Minute, seen: metrics.Snapshot{Errors: 3},
		results: []metrics.Result{single("request_throughput", 2)}}
	want := []string{"[realtime 100:00 profiling]", "  rps=2.00 (avg 2.00)  tput_in=-  tput_out=-  done=3 ok=0 err=3"}
	if got := f.lines(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRealtimeBlocksInTheLog(t *testing.T) {
	url := serve(t, mockserver.Options{TTFT: 2e6, ITL: 2e6})
	for interval, want := range map[string]bool{"0.02": true, "0": false} {
		dir := t.TempDir()
		cfg := watching(t, dir, url, "--streaming", "--concurrency", "2", "--benchmark-duration", "0.5",
			"--stats-interval", interval)
		var lines bytes.Buffer
		log := runlog.New(runlog.Options{Console: &lines})
		_, err := Execute(t.Context(), cfg, Options{Version: "test", Log: log})
		log.Close()
		if err != nil {
			t.Fatal(err)
		}
		for name, pattern := range map[string]string{
			"head":        `INFO +\[realtime 00:0\d profiling\]\n`,
			"rates":       `INFO +rps=[\d.]+ \(avg [\d.]+\)  tput_in=[\d,]+/s  tput_out=[\d,]+/s  done=\d+ ok=\d+ err=0\n`,
			"percentiles": `INFO +ttft    p50= *\d+ms  p75=`,
			"throughput":  `INFO +intvty  p50= *\d+  p75=.* \(1/tpot tok/s\)\n`,
			"totals":      `INFO +tot  in=[\d,]+ out=[\d,]+\n`,
			"servers":     `INFO +srv .*queue=\d+r/\d+w`,
		} {
			if got := regexp.MustCompile(pattern).MatchString(lines.String()); got != want {
				t.Errorf("interval %s: %s: %t, want %t\n%s", interval, name, got, want, lines.String())
			}
		}
	}
}
