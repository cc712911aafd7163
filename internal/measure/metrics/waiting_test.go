package metrics

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/measure/record"
)

func TestTrapErrorAdjustedLatencyTakesTheNearestRank(t *testing.T) {
	infinite := math.Inf(1)
	want := [9]float64{200, 200, 200, 300, 330, 330, infinite, infinite, infinite}
	for _, limit := range []int64{defaultMaxRecords, 0} {
		cfg := chatConfig()
		cfg.MaxRecords = limit
		r := found(t, engineOf(t, cfg, worked()...).Results(), "adj_request_latency")
		for i, got := range r.Stats.Percentiles {
			if math.Abs(got-want[i]) > 1e-3*want[i] {
				t.Errorf("limit %d: p%v = %v, want %v", limit, PercentileRanks[i], got, want[i])
			}
		}
		s := r.Stats
		if s.Count != 4 || !near(s.Min, 200) || s.Avg != infinite || s.Sum != infinite || s.Max != infinite ||
			!math.IsNaN(s.Std) ||
			r.Header != "Request Latency (error-adjusted)" || r.Unit != "ms" {
			t.Errorf("limit %d: %+v", limit, r)
		}
	}
}

func TestErrorAdjustedNeedsSuccessesAndErrors(t *testing.T) {
	adjusted := []string{"adj_request_latency", "adj_time_to_first_token", "adj_effective_latency",
		"adj_inter_token_latency"}
	absent(t, engineOf(t, chatConfig(), worked()[:3]...).Results(), adjusted...)
	absent(t, engineOf(t, chatConfig(), worked()[3:]...).Results(), adjusted...)
	records := worked()
	for _, r := range records {
		r.Facts[record.CreditIssued] = -5 * ms
	}
	results := engineOf(t, chatConfig(), records...).Results()
	for _, tag := range append(adjusted, "adj_decode_duration", "adj_full_decode_duration",
		"adj_full_response_inter_token_latency") {
		found(t, results, tag)
	}
	if got := len(errorAdjustedTable(table)); got != 8 {
		t.Errorf("%d metrics are adjusted for errors, want 8", got)
	}
}

// Coordinated omission: latency from the admission, of successful requests only.
func TestEffectiveLatency(t *testing.T) {
	records := worked()
	for i, issued := range []int64{-5 * ms, 3 * ms, record.Absent, -time.Hour.Nanoseconds()} {
		records[i].Facts[record.CreditIssued] = issued
	}
	e := engineOf(t, chatConfig(), records...)
	results := e.Results()
	if s := found(t, results, "effective_latency").Stats; s.Count != 2 || !near(s.Max, 310) || !near(s.Min, 207) {
		t.Errorf("effective_latency %+v, want 310 and 207 ms", s)
	}
	if s := found(t, results, "credit_to_start_latency").Stats; s.Count != 2 || !near(s.Sum, 5) || s.Min != 0 {
		t.Errorf("credit_to_start_latency %+v, want 5 and, clamped, 0 ms", s)
	}
	if line := string(e.set.AppendRecordMetrics(nil, records[0])); strings.Contains(line, "effective") ||
		strings.Contains(line, "credit") {
		t.Errorf("the line has what only the summary has: %s", line)
	}
}

func TestLatenciesFromTheIntendedSend(t *testing.T) {
	cfg := chatConfig()
	cfg.OpenLoop = true
	r := with(success(0, 305*ms, 100*ms, 300*ms),
		map[record.Field]int64{record.IntendedSend: -20 * ms, record.ReadLag: ms / 4})
	line := string(mustSet(t, cfg).AppendRecordMetrics(nil, r))
	for _, want := range []string{`"schedule_lag":{"value":20.0,"unit":"ms"}`, `"read_lag":{"value":0.25,"unit":"ms"}`,
		`"request_latency_intended":{"value":320.0,"unit":"ms"}`, `"ttft_intended":{"value":120.0,"unit":"ms"}`} {
		if !strings.Contains(line, want) {
			t.Errorf("%s is not in %s", want, line)
		}
	}
	r.Facts[record.IntendedSend] = ms
	if line := string(mustSet(t, cfg).AppendRecordMetrics(nil, r)); !strings.Contains(line,
		`"schedule_lag":{"value":-1.0,`) {
		t.Errorf("an early send is not told: %s", line)
	}
	bare := success(0, 305*ms, 100*ms, 300*ms)
	absent(t, engineOf(t, cfg, bare).Results(), "schedule_lag", "read_lag", "request_latency_intended", "ttft_intended")
	closed := engineOf(t, chatConfig(), r).Results()
	absent(t, closed, "request_latency_intended", "ttft_intended")
	scalar(t, closed, "schedule_lag", -1)
}

func TestNetworkCalibration(t *testing.T) {
	e := engineOf(t, chatConfig(), worked()...)
	absent(t, e.Results(), "network_rtt", "network_adjusted_request_latency", "network_adjusted_time_to_first_token")
	rtt := 90 * time.Millisecond
	e.SetRunFacts(RunFacts{NetworkRTT: &rtt})
	results := e.Results()
	scalar(t, results, "network_rtt", 90)
	whole, got := found(t, results, "request_latency").Stats,
		found(t, results, "network_adjusted_request_latency").Stats
	if !near(got.Avg, whole.Avg-90) || !near(got.Min, 110) || !near(got.Max, 240) || got.Std != whole.Std ||
		got.Count != 3 ||
		!near(got.Sum, 560) || !near(got.Percentiles[8], 239.4) {
		t.Errorf("network_adjusted_request_latency %+v", got)
	}
	floored := found(t, results, "network_adjusted_time_to_first_token").Stats
	if floored.Min != 0 || floored.Percentiles[0] != 0 || !near(floored.Percentiles[4], 10) || !near(floored.Max, 30) {
		t.Errorf("network_adjusted_time_to_first_token %+v, want it cut off at 0", floored)
	}
	for tag, order := range map[string]int{"network_rtt": 305, "network_adjusted_request_latency": 301,
		"network_adjusted_time_to_first_token": 101, "network_adjusted_time_to_first_output_token": 211} {
		if r := found(t, results, tag); r.Order != order || r.Group != GroupDefault ||
			!strings.HasPrefix(r.Header, "Network") {
			t.Errorf("%s: %+v", tag, r)
		}
	}
	cut := slices.DeleteFunc(e.Warnings(),
		func(s string) bool { return !strings.Contains(s, "90.000 ms are cut off at 0") })
	if len(cut) != 1 || !strings.Contains(cut[0],
		"network_adjusted_time_to_first_token (smallest time_to_first_token: 80.000 ms)") ||
		strings.Contains(cut[0], "request_latency") {
		t.Errorf("warnings %q, want one of what is cut off", cut)
	}
}

func replayed(lagsMS ...int64) []*record.Record {
	var records []*record.Record
	for i, lag := range lagsMS {
		records = append(records, with(success(int64(i)*1000*ms+lag*ms, 50*ms, 40*ms),
			map[record.Field]int64{record.Scheduled: int64(i) * 1000 * ms}))
	}
	return append(records, success(0, 50*ms, 40*ms)) // a turn without a time of its own
}

func TestTrapReplayScheduleLag(t *testing.T) {
	cfg := chatConfig()
	cfg.FixedSchedule = true
	cfg.SliceNS = 500 * ms
	for _, c := range []struct {
		name                    string
		lags                    []int64
		p50, p90, p99, degraded float64
	}{
		{"in time", []int64{7, 7, 7}, 0, 0, 0, 0},
		{"linear", []int64{10, 20, 110}, 10, 82, 98.2, 0},
		{"at the limit", []int64{0, 500, 500}, 500, 500, 500, 0},
		{"one far behind", []int64{10, 12, 5, 800}, 6, 558.6, 771.36, 1},
		{"degraded", []int64{0, 501, 501}, 501, 501, 501, 1},
	} {
		for _, limit := range []int64{defaultMaxRecords, 1} {
			cfg.MaxRecords = limit
			e := engineOf(t, cfg, replayed(c.lags...)...)
			results := e.Results()
			for tag, want := range map[string]float64{"replay_sched_lag_p50": c.p50, "replay_sched_lag_p90": c.p90,
				"replay_sched_lag_p99": c.p99} {
				if got := found(t, results, tag).Stats.Avg; math.Abs(got-want) > 0.02 {
					t.Errorf("%s, limit %d: %s = %v, want %v", c.name, limit, tag, got, want)
				}
			}
			if c.name != "at the limit" || limit > 1 {
				scalar(t, results, "replay_sched_degraded", c.degraded)
				if n := len(slices.DeleteFunc(e.Warnings(),
					func(s string) bool { return !strings.Contains(s, "schedule") })); n != int(c.degraded) {
					t.Errorf("%s: %d warnings", c.name, n)
				}
			}
			absent(t, results, "replay_send_schedule_offset")
			for _, s := range e.Slices() {
				absent(t, s.Results, "replay_sched_lag_p50", "replay_sched_degraded")
			}
		}
	}
	cfg.FixedSchedule = false
	absent(t, engineOf(t, cfg, replayed(1, 2)...).Results(), "replay_sched_lag_p50", "replay_sched_degraded")
	cfg.FixedSchedule = true
	absent(t, engineOf(t, cfg, success(0, 50*ms, 40*ms)).Results(), "replay_sched_lag_p50", "replay_sched_degraded")
}

// The bins of offsets hold their error whatever the spread, however they were filled.
func TestOffsetBins(t *testing.T) {
	one, left, right := newOffsetBins(), newOffsetBins(), newOffsetBins()
	var offsets []float64
	for i := range int64(4000) {
		offset := t0 + (i*i%7919)*977*1000*(1+i/1000)
		offsets = append(offsets, float64(offset-t0)*1e-6)
		one.add(offset)
		if i < 1000 {
			left.add(offset)
		} else {
			right.add(offset)
		}
	}
	left.Merge(&right.Bins)
	if left.lag() != one.lag() || len(one.List) > maxLagBins {
		t.Errorf("merged %+v, want %+v", left.lag(), one.lag())
	}
	slices.Sort(offsets)
	for i, q := range replayRanks {
		h := q / 100 * float64(len(offsets)-1)
		want := offsets[int(h)] + (h-math.Floor(h))*(offsets[int(h)+1]-offsets[int(h)]) - offsets[0]
		if got := one.lag().lagsMS[i]; math.Abs(got-want) > float64(one.Width)*1e-6 {
			t.Errorf("p%v = %v, want %v", q, got, want)
		}
	}
}
