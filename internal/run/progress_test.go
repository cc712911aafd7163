package run

import (
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/load"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
	"aiperf/internal/publish/progress"
	"aiperf/internal/watch/trust"
)

// healthOf is a client about which everything is known, but for what the system does not tell.
func healthOf() *trust.Health {
	return &trust.Health{
		CPUShare: 0.25, CPUPeak: 0.5, CPUQuota: 4, StealShare: math.NaN(), Heap: 1 << 20, RSS: 1 << 21, Descriptors: 30,
		DescriptorLimit: 1024,
		Probe:           trust.Lags{Count: 3, P99: 2, Max: 3},
		GC: trust.GC{Cycles: 5, PauseTotal: 2 * time.Millisecond, PauseMax: time.Millisecond,
			AssistShare: 0.01},
		Host: &trust.Host{
			Processors: 8, BusyShare: 0.5, OthersShare: 0.125, Memory: 1 << 30, AvailableMin: 1 << 29, SwappedIn: -1,
			SwappedOut: -1, RetransmitShare: 0.001, CPUSome: 0.25, IOSome: math.NaN(), IOFull: math.NaN(),
			Links: []trust.Link{{Name: "eth0", ReceivedBytes: 1000, SentBytes: 50, Lost: 3, Speed: 1e9}},
		},
	}
}

func figureOf(c *progress.Client, name string, labels ...string) (float64, bool) {
	i := slices.IndexFunc(c.Figures, func(f progress.Figure) bool {
		return f.Name == name && slices.Equal(f.Labels, labels)
	})
	if i < 0 {
		return 0, false
	}
	return c.Figures[i].Value, true
}

func TestReportOnTheClientForObservers(t *testing.T) {
	t.Parallel()
	var lag stats.Histogram
	lag.Add(50e6)
	c := clientOf(trust.Judge(healthOf(), &trust.Inputs{Requests: 25, ToolLag: &lag,
		TimestampSource: trust.SourceKernel,
		Metrics:         []trust.Metric{{Tag: trust.TTFT, Avg: 20, P50: 20, P99: 40}}}), false)
	if c.Verdict != string(trust.ClientLimited) || !slices.ContainsFunc(c.Findings, func(f progress.Finding) bool {
		return f.Code == "tool_lag" && f.LeadsTo == c.Verdict && f.Message != "" && f.Advice != ""
	}) {
		t.Errorf("verdict %q, findings %+v", c.Verdict, c.Findings)
	}
	for _, want := range []struct {
		name   string
		value  float64
		labels []string
	}{
		{"client_cpu_ratio", 0.25, nil}, {"client_cpu_quota_cores", 4, nil},
		{"client_gc_pause_seconds_total", 0.002, nil}, {"client_timer_delay_p99_seconds", 0.002, nil},
		{"client_open_descriptors_peak", 30, nil}, {"host_cpu_busy_ratio", 0.5, nil},
		{"host_network_received_bytes_total", 1000, []string{"eth0"}},
		{"host_pressure_ratio", 0.25, []string{"cpu", "some"}}, {"host_memory_available_min_bytes", 1 << 29, nil},
	} {
		if got, _ := figureOf(c, want.name, want.labels...); got != want.value {
			t.Errorf("%s %v is %v, want %v", want.name, want.labels, got, want.value)
		}
	}
	for _, f := range c.Figures {
		if math.IsNaN(f.Value) || f.Name == "host_cpu_steal_ratio" || slices.Contains(f.Labels, "io") {
			t.Errorf("the system does not tell %+v", f)
		}
	}
}

// There is no verdict on requests that have not come yet; at the end their absence is one.
func TestNoVerdictBeforeTheFirstRequest(t *testing.T) {
	t.Parallel()
	report := trust.Judge(&trust.Health{CPUShare: 0.1}, &trust.Inputs{})
	if c := clientOf(report, false); c.Verdict != "" || len(c.Findings) > 0 {
		t.Errorf("%+v before there was anything to judge", c)
	}
	if c := clientOf(report, true); c.Verdict != string(trust.Inconclusive) {
		t.Errorf("verdict %q at the end", c.Verdict)
	}
	for _, v := range []trust.Verdict{trust.Valid, trust.ClientLimited, trust.Inconclusive} {
		if !slices.Contains(progress.Verdicts(), string(v)) {
			t.Errorf("observers do not know the verdict %q", v)
		}
	}
}

// docs/telemetry.md has a row for each figure of the client and its machine, with as many labels, and for no other.
func TestFiguresOfTheClientAreDescribed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/telemetry.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{}
	row := regexp.MustCompile("(?m)^\\| `aiperf_((?:client|host)_\\w+)` \\| (?:gauge|counter) \\| (.*?) ?\\|")
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		rows[m[1]] = len(strings.FieldsFunc(m[2], func(r rune) bool { return r == ',' }))
	}
	delete(rows, "client_verdict")
	delete(rows, "client_finding")
	h := healthOf()
	h.StealShare = 0.5
	var lag stats.Histogram
	lag.Add(50e6)
	c := clientOf(trust.Judge(h, &trust.Inputs{Requests: 25, ToolLag: &lag, TimestampSource: trust.SourceKernel,
		Metrics: []trust.Metric{{Tag: trust.TTFT, Avg: 20, P50: 20, P99: 40}}}), false)
	seen := map[string]bool{}
	for _, f := range c.Figures {
		if labels, found := rows[f.Name]; !found || labels != len(f.Labels) {
			t.Errorf("no row is that of %+v", f)
		}
		seen[f.Name] = true
	}
	for name := range rows {
		if !seen[name] {
			t.Errorf("no figure is that of the row aiperf_%s", name)
		}
	}
}

func TestNumbersOfAPhaseForObservers(t *testing.T) {
	t.Parallel()
	const second = int64(time.Second)
	s := load.Stats{Index: 1, Name: "b", Kind: load.Warmup, State: load.SendingComplete, StartNS: 10 * second,
		SentEndNS: 14 * second, GraceEndNS: 20 * second, RequestsSent: 40, RequestsCompleted: 25, RequestsCancelled: 1,
		SentSessions: 30, CompletedSessions: 20, CancelledSessions: 1, ExpectedRequests: 100, DroppedByCatchup: 2}
	p := phaseProgress(&s, 15*second)
	if p.Kind != record.PhaseWarmup || p.State != progress.PhaseSendingComplete || p.Elapsed != 5*time.Second ||
		p.Draining != time.Second || p.GraceLeft != 5*time.Second || p.Progress != 0.25 ||
		p.Remaining != 15*time.Second || p.RequestsInFlight() != 14 || p.SessionsInFlight() != 9 ||
		p.DeliveredRate != 10 || p.CompletedRate != 5 || p.DroppedArrivals != 2 {
		t.Errorf("%+v", p)
	}
	if p := phaseProgress(&load.Stats{}, second); p.Progress != -1 || p.Remaining != -1 ||
		p.State != progress.PhaseCreated {
		t.Errorf("before the start: %+v", p)
	}
	for i, state := range progress.PhaseStates() {
		if load.State(i).String() != string(state) {
			t.Errorf("state %d is %s, which observers call %s", i, load.State(i), state)
		}
	}
}

func TestStagesOfARun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		phase *progress.Phase
		want  progress.Stage
	}{
		{nil, progress.Starting},
		{&progress.Phase{Kind: record.PhaseWarmup, State: progress.PhaseStarted}, progress.WarmingUp},
		{&progress.Phase{Kind: record.PhaseWarmup, State: progress.PhaseSendingComplete}, progress.Draining},
		{&progress.Phase{Kind: record.PhaseWarmup, State: progress.PhaseComplete}, progress.WarmingUp},
		{&progress.Phase{Kind: record.PhaseProfiling, State: progress.PhaseStarted}, progress.Profiling},
		{&progress.Phase{Kind: record.PhaseProfiling, State: progress.PhaseComplete}, progress.Draining},
	} {
		if got := stageOf(c.phase); got != c.want {
			t.Errorf("%+v: %s, want %s", c.phase, got, c.want)
		}
	}
}
