package trust

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/clock"
	"aiperf/internal/measure/stats"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// files makes a tree of the given files.
func files(t *testing.T, content map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range content {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestTreeTellsWhatItHas(t *testing.T) {
	root := files(t, map[string]string{
		"proc/stat": "cpu  10 1 20 300 5 0 4 60 7 8\ncpu0 1 2 3 4\n",
		"proc/pressure/cpu": "some avg10=1.00 avg60=2.00 avg300=0.00 total=123456\nfull " +
			"avg10=0.00 avg60=0.00 avg300=0.00 total=9\n",
		"proc/net/sockstat":                        "sockets: used 14\nTCP: inuse 20 orphan 0 tw 130 alloc 2 mem 9\n",
		"proc/net/sockstat6":                       "TCP6: inuse 3\n",
		"proc/sys/net/ipv4/ip_local_port_range":    "32768\t60999\n",
		"proc/meminfo":                             "MemTotal:  8000 kB\nMemAvailable:  5000 kB\n",
		"proc/self/statm":                          "900 100 50 1 0 1 0\n",
		"proc/self/cgroup":                         "0::/a/b\n",
		"proc/self/fd/0":                           "",
		"proc/self/fd/1":                           "",
		"sys/fs/cgroup/a/cpu.max":                  "150000 100000\n",
		"sys/fs/cgroup/a/b/cpu.max":                "max 100000\n",
		"sys/fs/cgroup/a/memory.max":               "4096000\n",
		"sys/fs/cgroup/a/b/memory.max":             "max\n",
		"sys/fs/cgroup/cpu/elsewhere/cpu.max":      "1 100000\n",
		"sys/fs/cgroup/unrelated/cpu.cfs_quota_us": "1\n",
	})
	r := reading{quota: 8}
	tree(root).readUse(&r)
	tree(root).readRest(&r)
	for _, f := range []struct {
		name      string
		got, want int64
	}{
		{"jiffies", r.jiffies, 400}, {"steal", r.steal, 60}, {"pressure", r.pressureUS, 123456},
		{"sockets", r.sockets, 153}, {"ports", r.portRange, 28232}, {"memory limit", r.memoryLimit, 4096000},
		{"resident", r.rss, 100 * int64(os.Getpagesize())}, {"descriptors", r.descriptors, 2},
		{"available memory", tree(root).availableMemory(), 5000 << 10},
	} {
		if f.got != f.want {
			t.Errorf("%s: %d, want %d", f.name, f.got, f.want)
		}
	}
	if r.quota != 1.5 || !r.hasPressure {
		t.Errorf("quota %v, pressure %v; want 1.5, true", r.quota, r.hasPressure)
	}
}

func TestQuotaOfTheOldControlGroups(t *testing.T) {
	root := files(t, map[string]string{
		"proc/self/cgroup":                             "4:memory:/m\n1:cpu,cpuacct:/job\n0::/\n",
		"sys/fs/cgroup/cpu/job/cpu.cfs_quota_us":       "50000\n",
		"sys/fs/cgroup/cpu/job/cpu.cfs_period_us":      "100000\n",
		"sys/fs/cgroup/cpu/cpu.cfs_quota_us":           "-1\n",
		"sys/fs/cgroup/memory/m/memory.limit_in_bytes": "1048576\n",
	})
	var r reading
	tree(root).readMemoryLimit(&r)
	if quota := tree(root).cpuQuota(); quota != 0.5 || r.memoryLimit != 1<<20 {
		t.Errorf("quota %v, memory limit %d; want 0.5, %d", quota, r.memoryLimit, 1<<20)
	}
}

func TestEmptyTreeTellsNothing(t *testing.T) {
	s := system{root: t.TempDir(), own: func(*reading) {}}
	from, to := s.all(0), s.all(int64(time.Second))
	var h Health
	h.level(&to)
	h.window(&from, &to)
	if members := h.Host.document(); members != nil {
		t.Errorf("of the machine: %v", members)
	}
	if !math.IsNaN(h.StealShare) || !math.IsNaN(h.PressureShare) || h.Descriptors != 0 || h.Sockets != 0 {
		t.Errorf("%+v", h)
	}
	h.LiveHeap = 0 // known after a collection
	for _, m := range (&Report{Inputs: &Inputs{}, Health: &h}).Object() {
		if m.Key == "limits" && len(m.Value.(artifact.Object)) != 1 {
			t.Errorf("limits %v, want the heap alone", m.Value)
		}
	}
}

// machine returns a system whose process uses a given part of two cores and whose files count on.
func machine(t *testing.T, share float64) (system, func(after time.Duration)) {
	root := files(t, nil)
	write := func(name, text string) {
		path := filepath.Join(root, name)
		_ = os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	write("proc/self/cgroup", "0::/\n")
	write("sys/fs/cgroup/cpu.max", "1 1\n") // a core, whatever GOMAXPROCS is
	start := time.Now()
	s := system{root: root, own: func(r *reading) {
		r.cpuNS = int64(share * float64(time.Since(start)))
		r.descriptors, r.descriptorLimit = 5, 1000
	}}
	return s, func(after time.Duration) {
		ms := after.Milliseconds()
		write("proc/stat", "cpu 0 0 0 "+itoa(10_000+9*ms/10)+" 0 0 0 "+itoa(ms/10)+"\n")
		write("proc/pressure/cpu", "some avg10=0 total="+itoa(ms*250)+"\n")
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func TestWatchMeasuresTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, at := machine(t, 0.4)
		at(0)
		w := start(clock.New(), s)
		time.Sleep(3 * time.Second)
		at(3 * time.Second)
		w.Restart()
		time.Sleep(10 * time.Second)
		at(13 * time.Second)
		h := w.Stop()
		if h.Duration != 10*time.Second || h.Probe.Count < 39 || h.Probe.Count > 41 || h.Probe.Max != 0 {
			t.Errorf("window %v, probe %+v", h.Duration, h.Probe)
		}
		for _, f := range []struct {
			name      string
			got, want float64
		}{
			{"quota", h.CPUQuota, 1}, {"CPU", h.CPUShare, 0.4}, {"peak", h.CPUPeak, 0.4},
			{"steal", h.StealShare, 0.1}, {"pressure", h.PressureShare, 0.25},
		} {
			if math.Abs(f.got-f.want) > 1e-3 {
				t.Errorf("%s: %v, want %v", f.name, f.got, f.want)
			}
		}
		if h.DescriptorLimit != 1000 || h.Heap == 0 {
			t.Errorf("%+v", h)
		}
		if again := w.Stop(); again.Duration != h.Duration {
			t.Error("a second Stop tells something else")
		}
		w.Restart() // of no effect any more
	})
}

func TestWatchNotesLateTimers(t *testing.T) {
	s, at := machine(t, 0)
	at(0)
	w := start(clock.New(), s)
	w.probe(w.clock.NowNS(), int64(700*time.Millisecond))
	w.probe(w.clock.NowNS(), -5)
	if h := w.Stop(); h.Probe.Max < 700 || h.Probe.Count < 2 {
		t.Errorf("%+v", h.Probe)
	}
}

func TestThisMachine(t *testing.T) {
	w := Start(clock.New())
	h := w.Stop()
	if math.IsNaN(h.CPUShare) || h.CPUQuota <= 0 || h.Heap == 0 {
		t.Errorf("%+v", h)
	}
	_ = Preflight(Asked{Requests: 1})
}

func TestRuntimeHistograms(t *testing.T) {
	bounds := []float64{math.Inf(-1), 0, 0.001, 0.002, math.Inf(1)}
	from := classes{[]uint64{0, 5, 1, 0}, bounds}
	to := classes{[]uint64{0, 95, 10, 1}, bounds}
	got := to.since(&from).lags()
	want := Lags{Count: 100, Avg: (90*0.5 + 9*1.5 + 2) / 100, P50: 1, P90: 1, P99: 2, Max: 2}
	if math.Abs(got.Avg-want.Avg) > 1e-4 {
		t.Errorf("average %v, want %v", got.Avg, want.Avg)
	}
	if got.Avg = want.Avg; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if empty := to.since(&to).lags(); empty != (Lags{}) {
		t.Errorf("%+v", empty)
	}
}

// times returns a distribution of milliseconds.
func times(ms ...float64) *stats.Histogram {
	h := new(stats.Histogram)
	for _, v := range ms {
		h.Add(v * 1e6)
	}
	return h
}

func calm() (*Health, *Inputs) {
	return &Health{CPUQuota: 2, CPUShare: 0.2, StealShare: math.NaN(), PressureShare: math.NaN(),
			Probe: Lags{Count: 40, P50: 0.1, P99: 1, Max: 1}, DescriptorLimit: 20000, PortRange: 28232},
		&Inputs{
			TimestampSource: SourceKernel, StampError: 20 * time.Microsecond,
			Requests: 100, Duration: 10 * time.Second, OutputLength: 101,
			ToolLag: times(0.5), SendTime: times(0.02), ReadLag: times(2), FirstReadLag: times(1),
			Metrics: []Metric{{TTFT, 40, 40, 41.2}, {ITL, 10, 10, 11}, {Latency, 1000, 1000, 1100},
				{Throughput, 10, 10, 10}},
		}
}

func TestBounds(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Health, *Inputs)
		// in the order of the metrics: TTFT, ITL, latency, throughput
		want [4]float64
	}{
		{"kernel", nil, [4]float64{0.04, 0.0004, 0.04, 10 * (2.5/1002.5 + 0.04/10000)}},
		{"kernel, events joined", func(_ *Health, in *Inputs) { in.CoalescedShare = 0.005 },
			[4]float64{0.54, 0.0104, 1.04, 10 * (2.5/1002.5 + 1.04/10000)}},
		{"kernel, many joined", func(_ *Health, in *Inputs) { in.CoalescedShare = 0.5 },
			[4]float64{1.04, 0.0204, 2.04, 10 * (2.5/1002.5 + 2.04/10000)}},
		{"user", func(_ *Health, in *Inputs) { in.TimestampSource = SourceUser },
			[4]float64{1.02, 0.02, 2.02, 10 * (2.5/1002.5 + 2.02/10000)}},
		{"user, lag not known", func(_ *Health, in *Inputs) {
			in.TimestampSource, in.ReadLag, in.FirstReadLag = SourceUser, nil, nil
		}, [4]float64{1.02, 0.01, 1.02, 10 * (0.5/1000.5 + 1.02/10000)}},
		{"mixed", func(_ *Health, in *Inputs) { in.TimestampSource = SourceMixed },
			[4]float64{1.04, 0.0204, 2.04, 10 * (2.5/1002.5 + 2.04/10000)}},
		{"open loop", func(_ *Health, in *Inputs) { in.TargetRate = 10 },
			[4]float64{0.04, 0.0004, 0.04, 10 * 0.04 / 10000}},
		{"open loop, arrivals dropped", func(_ *Health, in *Inputs) { in.TargetRate, in.DroppedByCatchup = 10, 25 },
			[4]float64{0.04, 0.0004, 0.04, 10 * (0.2 + 0.04/10000)}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h, in := calm()
			if test.change != nil {
				test.change(h, in)
			}
			r := Judge(h, in)
			for i, b := range r.Bounds {
				if math.Abs(b.Value-test.want[i]) > 1e-3*test.want[i] {
					t.Errorf("%s: %v, want %v", b.Tag, b.Value, test.want[i])
				}
			}
			if len(r.Bounds) != 4 {
				t.Errorf("%d bounds, want 4", len(r.Bounds))
			}
		})
	}
}

// The first finding is the only one on the terminal: it says what may be the cause.
func TestLatenessNamesBusyPrograms(t *testing.T) {
	const others = ", while other programs used 97 % of this machine's 2 processors"
	for _, busy := range []bool{true, false} {
		h, in := calm()
		in.ToolLag, in.TargetRate, in.DeliveredRate, in.DroppedByCatchup = times(8), 100, 98, 2
		if busy {
			h.Host = &Host{OthersShare: 0.97, Processors: 2}
		}
		for _, f := range Judge(h, in).Reasons[:2] {
			if strings.HasSuffix(f.Message, others) != busy {
				t.Errorf("others busy %v: %s", busy, f.Message)
			}
		}
	}
}

func TestVerdicts(t *testing.T) {
	tests := []struct {
		name      string
		change    func(*Health, *Inputs)
		verdict   Verdict
		saturated bool
		codes     string
	}{
		{"calm", func(*Health, *Inputs) {}, Valid, false, ""},
		{"wait for connections at the limit",
			func(_ *Health, in *Inputs) { in.ConnectionWait, in.Metrics[0].P50 = times(5), 100 }, Valid, false, ""},
		{"longer wait for connections",
			func(_ *Health, in *Inputs) { in.ConnectionWait, in.Metrics[0].P50 = times(5.1), 100 }, ClientLimited,
			false, "connection_wait"},
		{"tool lag at the limit", func(_ *Health, in *Inputs) { in.ToolLag = times(5) }, Valid, false, ""},
		{"tool lag over 5 ms", func(_ *Health, in *Inputs) { in.ToolLag = times(5.1) }, ClientLimited, true,
			"tool_lag"},
		{"5 % of a long TTFT", func(_ *Health, in *Inputs) { in.ToolLag, in.Metrics[0].P50 = times(9), 200 }, Valid,
			false, ""},
		{"more than that", func(_ *Health, in *Inputs) { in.ToolLag, in.Metrics[0].P50 = times(10.1), 200 },
			ClientLimited, true, "tool_lag"},
		{"no TTFT: of the latency", func(_ *Health, in *Inputs) { in.ToolLag, in.Metrics = times(45), in.Metrics[2:] },
			Valid, false, ""},
		{"CPU", func(h *Health, _ *Inputs) { h.CPUShare = 0.86 }, ClientLimited, true, "cpu"},
		{"CPU at the limit", func(h *Health, _ *Inputs) { h.CPUShare = 0.85 }, Valid, false, ""},
		{"rate missed by drops", func(_ *Health, in *Inputs) {
			in.TargetRate, in.DeliveredRate,
				in.DroppedByCatchup = 100, 98, 2
		}, ClientLimited, false, "rate_missed"},
		{"rate missed by lateness", func(_ *Health, in *Inputs) {
			in.TargetRate, in.DeliveredRate, in.ScheduleLag = 100, 98, times(0, 150)
		}, ClientLimited, false, "rate_missed"},
		{"few arrivals by chance", func(_ *Health, in *Inputs) {
			in.TargetRate, in.DeliveredRate, in.ScheduleLag = 100,
				90, times(1)
		}, Valid, false, ""},
		{"held back by the cap", func(_ *Health, in *Inputs) {
			in.TargetRate, in.DeliveredRate, in.ConcurrencyLimited, in.SkippedArrivals = 100, 50, true, 500
		}, Valid, false, "skipped_arrivals"},
		{"ports", func(_ *Health, in *Inputs) { in.FailedForPorts = 3 }, ClientLimited, false, "out_of_ports"},
		{"descriptors", func(_ *Health, in *Inputs) { in.FailedForDescriptors = 3 }, ClientLimited, false,
			"out_of_descriptors"},
		{"nothing came back", func(_ *Health, in *Inputs) { in.Requests = 0 }, Inconclusive, false, "no_requests"},
		{"stopped for a second", func(h *Health, _ *Inputs) { h.Probe.Max = 900 }, Inconclusive, false,
			"standstill late_timers"},
		{"late timers, kernel stamps", func(h *Health, _ *Inputs) { h.Probe.P99, h.Probe.Max = 30, 40 }, Valid, false,
			"late_timers"},
		{"late timers, user stamps", func(h *Health, in *Inputs) {
			h.Probe.P99, h.Probe.Max, in.TimestampSource = 30,
				40, SourceUser
		}, Inconclusive, false, "scheduler_delay"},
		{"stolen time", func(h *Health, _ *Inputs) { h.StealShare = 0.2 }, Inconclusive, false, "steal"},
		{"large read lag in user stamps",
			func(_ *Health, in *Inputs) { in.TimestampSource, in.FirstReadLag = SourceUser, times(6) }, Inconclusive,
			false, "error_bound"},
		{"the same with kernel stamps", func(_ *Health, in *Inputs) { in.FirstReadLag = times(6) }, Valid, false, ""},
		{"a small time may be bent by a small time",
			func(_ *Health, in *Inputs) { in.Metrics[0].P50, in.SendTime = 0.5, times(0.9) }, Valid, false, ""},
		{"limited outweighs inconclusive", func(h *Health, _ *Inputs) { h.StealShare, h.CPUShare = 0.2, 0.99 },
			ClientLimited, true, "cpu steal"},
		{"long pause", func(h *Health, _ *Inputs) { h.GC.PauseMax = 20 * time.Millisecond }, Valid, false, "gc_pause"},
		{"memory", func(h *Health, _ *Inputs) { h.RSS, h.MemoryLimit = 99, 100 }, Valid, false, "memory"},
		{"fall-back", func(_ *Health, in *Inputs) { in.TimestampSource, in.TimestampNote = SourceUser, "not here" },
			Valid, false, "timestamp_source"},
		{"pressure", func(h *Health, _ *Inputs) { h.PressureShare = 0.6 }, Valid, false, "pressure"},
		{"link at the limit", func(h *Health, _ *Inputs) {
			h.Host = &Host{Links: []Link{{Name: "eth0", Speed: 1e9, AverageShare: 0.9}}}
		}, Valid, false, ""},
		{"full link", func(h *Health, _ *Inputs) {
			h.Host = &Host{Links: []Link{{Name: "lo", AverageShare: math.NaN()},
				{Name: "eth0", Speed: 1e9, AverageShare: 0.91}}}
		}, ClientLimited, false, "link_full"},
		{"pressure on memory", func(h *Health, _ *Inputs) { h.Host = &Host{MemorySome: 0.11} }, Inconclusive, false,
			"memory_pressure"},
		{"other programs", func(h *Health, _ *Inputs) { h.Host = &Host{OthersShare: 0.3} }, Valid, false,
			"others_busy"},
		{"lost packets", func(h *Health, _ *Inputs) {
			h.Host = &Host{Links: []Link{{Name: "lo", Lost: 90, LostShare: 0.5},
				{Name: "eth0", Lost: 101, LostShare: 0.002}}}
		}, Valid, false, "packets_lost"},
		{"segments sent again", func(h *Health, _ *Inputs) { h.Host = &Host{RetransmitShare: 0.02} }, Valid, false,
			"retransmits"},
		{"nothing told of the machine", func(h *Health, _ *Inputs) {
			h.Host = &Host{OthersShare: math.NaN(), MemorySome: math.NaN(), RetransmitShare: math.NaN()}
		}, Valid, false, ""},
		{"joined", func(_ *Health, in *Inputs) { in.CoalescedShare = 0.06 }, Valid, false, "coalesced"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h, in := calm()
			test.change(h, in)
			r := Judge(h, in)
			var codes []string
			for _, reason := range r.Reasons {
				codes = append(codes, reason.Code)
				if reason.Message == "" || reason.Advice == "" {
					t.Errorf("%s says nothing", reason.Code)
				}
			}
			if got := strings.Join(codes, " "); r.Verdict != test.verdict || r.Saturated != test.saturated ||
				got != test.codes {
				t.Errorf("%s, saturated %v, %q; want %s, %v, %q", r.Verdict, r.Saturated, got, test.verdict,
					test.saturated, test.codes)
			}
		})
	}
}

func TestMembersKeepTheirOrder(t *testing.T) {
	h, in := calm()
	in.TargetRate, in.DeliveredRate, in.ScheduleLag = 10, 10, times(1)
	h.CPUShare = 0.9
	r := Judge(h, in)
	var keys []string
	for _, m := range r.Object() {
		keys = append(keys, m.Key)
	}
	want := "verdict client_saturated reasons timestamp_source target_rate delivered_rate skipped_arrivals " +
		"dropped_by_catchup resent_requests " +
		"schedule_lag tool_lag send_time read_lag coalesced_share error_bound scheduler_delay cpu gc limits"
	if got := strings.Join(keys, " "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	bound := r.Object()[slices.Index(keys, "error_bound")].Value.(artifact.Object)
	if bound[0].Key != TTFT || bound[0].Value.(artifact.Object)[1].Value != "ms" {
		t.Errorf("%v", bound)
	}
}

func TestLines(t *testing.T) {
	h, in := calm()
	in.StampError = 30 * time.Microsecond
	in.Metrics = in.Metrics[:1]
	got := Judge(h, in).Lines()
	want := [2]string{"Client: valid — TTFT p99 41.2 ms, client share ≤ 0.05 ms",
		"  time stamps: kernel, send lag p99 0.50 ms, read lag p99 2.00 ms, timer delay p99 1.00 ms, CPU 20 % of " +
			"2.00 cores"}
	if got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
	h.CPUShare = 0.97
	r := Judge(h, in)
	if got := r.Lines(); !strings.HasPrefix(got[0], "Client: client limited — TTFT") ||
		!strings.Contains(got[1], "97 %") || !strings.Contains(got[1], "machines") {
		t.Errorf("%q", got)
	}
	if w := r.Warnings(); len(w) != 1 {
		t.Errorf("%q", w)
	}
}

func TestPreflightAdvice(t *testing.T) {
	linux := limits{system: "linux", soft: 1024, hard: 20000, portFirst: 32768, portLast: 60999, inUse: 100,
		memory: 1 << 30}
	mac := limits{system: "darwin", soft: 256, hard: 10000}
	tests := []struct {
		name   string
		limits limits
		asked  Asked
		want   []string // code: command
	}{
		{"enough", linux, Asked{Requests: 900}, nil},
		{"soft limit", linux, Asked{Requests: 1000}, []string{"descriptors: ulimit -n 1064"}},
		{"as many as the hard limit has", linux, Asked{Requests: 19936}, []string{"descriptors: ulimit -n 20000"}},
		{"hard limit", linux, Asked{Requests: 19937},
			[]string{"descriptors: sudo prlimit --pid $$ --nofile=20001:20001"}},
		{"more than the system allows", limits{system: "linux", soft: 1024, hard: 20000, most: 1 << 20},
			Asked{Requests: 1<<20 + 1},
			[]string{"descriptors: sudo sysctl -w fs.nr_open=1048641 && sudo prlimit --pid $$ " +
				"--nofile=1048641:1048641"}},
		{"hard limit of a Mac", mac, Asked{Requests: 10000},
			[]string{"descriptors: sudo launchctl limit maxfiles 10064 10064 && ulimit -n 10064"}},
		{"fewer connections than requests", linux, Asked{Requests: 5000, Connections: 100}, nil},
		{"ports", limits{portFirst: 32768, portLast: 60999, inUse: 1}, Asked{Requests: 28232},
			[]string{`ports: sudo sysctl -w net.ipv4.ip_local_port_range="1024 65535"`}},
		{"just enough ports", limits{portFirst: 32768, portLast: 60999}, Asked{Requests: 28232}, nil},
		{"no range is wide enough", limits{portFirst: 32768, portLast: 60999}, Asked{Requests: 70000},
			[]string{"ports: "}},
		{"several sources", limits{portFirst: 32768, portLast: 60999}, Asked{Requests: 60000, Sources: 3}, nil},
		{"several servers", limits{portFirst: 32768, portLast: 60999}, Asked{Requests: 60000, Servers: 3}, nil},
		{"too few sources", limits{portFirst: 1024, portLast: 65535}, Asked{Requests: 200000, Sources: 2},
			[]string{"ports: "}},
		{"memory", limits{memory: 1 << 30}, Asked{Requests: 40000, Connections: 10}, []string{"memory: "}},
		{"nothing known", limits{}, Asked{Requests: 1 << 20}, nil},
	}
	for _, test := range tests {
		var got []string
		for _, a := range test.limits.advise(test.asked) {
			got = append(got, a.Code+": "+a.Command)
			if a.Message == "" {
				t.Errorf("%s: no message", test.name)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestPreflightOfConnectionsThatAreClosed(t *testing.T) {
	linux := limits{portFirst: 32768, portLast: 60999} // 28,232 ports
	const command = "sudo sysctl -w net.ipv4.tcp_tw_reuse=1"
	for _, test := range []struct {
		name      string
		limits    limits
		perSecond float64
		total     int64
		reuse     string
		want      string // the command, "none" for nothing to say
	}{
		{"slow", linux, 470, 0, "2", "none"},
		{"too fast", linux, 471, 0, "2", command},
		{"too fast, but few", linux, 5000, 28232, "0", "none"},
		{"reused already", linux, 28232, 0, "1", "none"},
		{"too fast for reuse too", linux, 28233, 0, "1", ""},
		{"reuse would not do", linux, 28233, 0, "2", ""},
		{"closed loop", linux, 0, 0, "2", "none"},
		{"nothing known", limits{}, 1e6, 0, "", "none"},
	} {
		a, found := test.limits.closed(test.perSecond, test.total, test.reuse)
		got := a.Command
		if !found {
			got = "none"
		}
		if got != test.want || found && !strings.Contains(a.Message, "--connection-reuse-strategy never") {
			t.Errorf("%s: %+v, want %q", test.name, a, test.want)
		}
	}
}

func TestAdviceOnPortsNamesTheFlagAndTheNumber(t *testing.T) {
	l := limits{portFirst: 32768, portLast: 60999, inUse: 10}
	for _, test := range []struct {
		asked Asked
		want  string
	}{
		{Asked{Requests: 30000}, "30000 connections to one address need a port each, of 28232 there are 10 in use; " +
			"send from several addresses with --source-address, or widen the range"},
		{Asked{Requests: 150000, Sources: 2},
			"150000 connections (source addresses: 2, servers: 1) need a port each, of 56464 there are 10 in use: " +
				"send from at least 6 addresses with --source-address, or to several servers"},
	} {
		if got := l.advise(test.asked); len(got) != 1 || got[0].Message != test.want {
			t.Errorf("%+v: %q", test.asked, got)
		}
	}
}
