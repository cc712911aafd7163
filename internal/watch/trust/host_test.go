package trust

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/clock"
)

// hostFiles returns those of a Linux machine with two processors at one of two instants, ten seconds apart.
func hostFiles(late bool) map[string]string {
	pick := func(a, b string) string {
		if late {
			return b
		}
		return a
	}
	return map[string]string{
		// Of 2000 jiffies 1000 are idle, 200 waiting, 100 stolen: 700 busy.
		"proc/stat": pick("cpu  100 0 100 1000 50 0 0 0 0 0\ncpu0 1\ncpu1 1\nintr 5\n",
			"cpu  600 100 150 2000 250 20 30 100 9 9\ncpu0 1\ncpu1 1\nintr 5\n"),
		"proc/meminfo": pick("MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 600 kB\n",
			"MemTotal: 1000 kB\nMemAvailable: 500 kB\n"),
		"proc/vmstat": pick("pswpin 3\npswpout 5\n", "pswpin 4\npswpout 5\n"),
		"proc/net/snmp": "Ip: Forwarding\nIp: 1\nTcp: RtoAlgorithm OutSegs RetransSegs\nTcp: 1 " +
			pick("1000 10\n", "3000 40\n"),
		"proc/net/dev": "Inter-|   Receive  |  Transmit\n face |bytes packets\n" +
			pick("    lo: 10 1 0 0 0 0 0 0 10 1 0 0 0 0 0 0\n  eth0:1000 10 0 0 0 0 0 0 2000 10 0 0 0 0 0 0\nidle0: "+
				"5 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
				"    lo: 20 2 0 0 0 0 0 0 20 2 0 0 0 0 0 0\n  eth0:11000 60 1 2 0 0 0 0 52000 50 3 4 0 0 0 0\nidle0: "+
					"5 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"),
		"sys/class/net/eth0/speed": "1000\n", "sys/class/net/eth0/device/vendor": "0x8086\n",
		"sys/class/net/lo/speed": "-1\n",
		"proc/pressure/cpu":      "some avg10=0 avg60=0 avg300=0 total=" + pick("0", "5000000") + "\n",
		"proc/pressure/memory": "some avg10=0 total=" + pick("0", "2000000") + "\nfull avg10=0 total=" +
			pick("0", "1000000") + "\n",
		"proc/pressure/io": "some avg10=0 total=" + pick("5", "100005") + "\nfull avg10=0 total=" + pick("7", "7") +
			"\n",
	}
}

func TestTheMachineIsTold(t *testing.T) {
	read := func(late bool, atNS int64) reading {
		s := system{root: files(t, hostFiles(late)), own: func(r *reading) { r.cpuNS = atNS / 5 }} // a fifth of a core
		return s.all(atNS)
	}
	from, to := read(false, 0), read(true, 10e9)
	got := hostOf(&from, &to, 450<<10, peaks{"eth0": {2000, 0}})
	near := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	near("busy", got.BusyShare, 0.35)
	near("waiting", got.WaitShare, 0.1)
	near("others", got.OthersShare, 0.25)
	near("memory", float64(got.Memory), 1000<<10)
	near("available", float64(got.AvailableMin), 450<<10)
	near("swapped in", float64(got.SwappedIn), float64(os.Getpagesize()))
	near("swapped out", float64(got.SwappedOut), 0)
	near("sent again", got.RetransmitShare, 0.015)
	near("CPU pressure", got.CPUSome, 0.5)
	near("memory pressure", got.MemorySome, 0.2)
	near("full memory pressure", got.MemoryFull, 0.1)
	near("pressure on storage", got.IOSome, 0.01)
	near("full pressure on storage", got.IOFull, 0)
	if len(got.Links) != 2 || got.Links[0].Name != "eth0" || got.Links[1].Name != "lo" {
		t.Fatalf("interfaces %+v", got.Links)
	}
	eth := got.Links[0]
	near("received", eth.ReceivedRate, 1000)
	near("received at most", eth.ReceivedPeak, 2000)
	near("sent", eth.SentRate, 5000)
	near("sent at most", eth.SentPeak, 5000)
	near("lost", float64(eth.Lost), 10)
	near("lost share", eth.LostShare, 0.1)
	near("speed", eth.Speed, 125e6)
	near("share", eth.AverageShare, 5000/125e6)
	if lo := got.Links[1]; lo.Speed != 0 || !math.IsNaN(lo.PeakShare) {
		t.Errorf("loopback: %+v", lo)
	}
}

// Tunnels and pairs of virtual interfaces tell a speed that means nothing: that of a tunnel is 10 Mbit/s.
func TestOnlyHardwareHasASpeed(t *testing.T) {
	root := tree(files(t, map[string]string{
		"sys/class/net/tun0/speed": "10\n", "sys/class/net/eth0/speed": "10000\n",
		"sys/class/net/eth0/device/vendor": "x\n", "sys/class/net/wlan0/device/vendor": "x\n",
	}))
	for name, want := range map[string]float64{"tun0": 0, "eth0": 1.25e9, "wlan0": 0, "gone": 0} {
		if got := root.linkSpeed(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// A counter that began anew, an interface that came or went, tell nothing.
func TestInterfacesThatComeAndGo(t *testing.T) {
	from := reading{host: hostReading{links: []counters{{name: "gone", received: 5, packets: 1},
		{name: "reset", received: 50, packets: 50}}}}
	to := reading{atNS: 1e9, host: hostReading{links: []counters{{name: "new", received: 5, packets: 1},
		{name: "reset", received: 5, packets: 60}}}}
	most := peaks{}
	most.note(&from, &to)
	if got := linksOf(&from.host, &to.host, 1, most); len(got) != 0 || len(most) != 0 {
		t.Errorf("%+v, %v", got, most)
	}
	// Drivers may forget what they lost.
	from.host.links = []counters{{name: "fewer", received: 5, packets: 5, lost: 9}}
	to.host.links = []counters{{name: "fewer", received: 50, packets: 50, lost: 2}}
	if got := linksOf(&from.host, &to.host, 1, most); len(got) != 1 || got[0].Lost != 0 || got[0].LostShare != 0 {
		t.Errorf("%+v", got)
	}
}

// The largest rate is seen between two looks, the least memory at any.
func TestPeaksOfTheMachine(t *testing.T) {
	look := func(atNS, received, available int64) reading {
		return reading{atNS: atNS, host: hostReading{available: available,
			links: []counters{{name: "eth0", received: received, packets: received}}}}
	}
	h := Health{availableMin: -1, peaks: peaks{}}
	var before reading
	for i, r := range []reading{look(0, 0, 900), look(1e9, 100, 300), look(2e9, 1100, 700), look(3e9, 1200, 800)} {
		h.level(&r)
		if i > 0 {
			h.peak(&before, &r)
		}
		before = r
	}
	if h.peaks["eth0"] != [2]float64{1000, 0} || h.availableMin != 300 {
		t.Errorf("peaks %v, available %d", h.peaks, h.availableMin)
	}
}

func TestMembersOfTheMachine(t *testing.T) {
	h := Host{
		Processors: 2, BusyShare: 0.5, OthersShare: 0.25, WaitShare: math.NaN(), Memory: 100, AvailableMin: 0,
		SwappedIn: -1, SwappedOut: 5, RetransmitShare: math.NaN(),
		CPUSome: 0.5, MemorySome: math.NaN(), MemoryFull: math.NaN(), IOSome: 0, IOFull: math.NaN(),
		Links: []Link{{Name: "lo", ReceivedRate: 1, PeakShare: math.NaN()},
			{Name: "eth0", SentRate: 2, Speed: 10, PeakShare: 0.2}},
	}
	got, err := artifact.AppendJSON(nil, artifact.ObjectOf(h.document()))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"cpu":{"processors":2,"busy_share":0.5,"others_share":0.25},` +
		`"memory":{"total_bytes":100,"available_min_bytes":0,"swapped_out_bytes":5},` +
		`"network":{"interfaces":[{"name":"lo","received_bytes_per_sec":1.0,"sent_bytes_per_sec":0.0,` +
		`"received_peak_bytes_per_sec":0.0,"sent_peak_bytes_per_sec":0.0,"lost_packets":0},` +
		`{"name":"eth0","received_bytes_per_sec":0.0,"sent_bytes_per_sec":2.0,` +
		`"received_peak_bytes_per_sec":0.0,"sent_peak_bytes_per_sec":0.0,"lost_packets":0,` +
		`"speed_bytes_per_sec":10.0,"peak_share":0.2}]},` +
		`"pressure":{"cpu_some":0.5,"io_some":0.0}}`
	if string(got) != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// This machine reports its processors and its memory, whatever the system.
func TestThisMachineIsTold(t *testing.T) {
	if _, err := os.Stat(filepath.Join("/proc", "stat")); runtime.GOOS == "linux" && err != nil {
		t.Skip("there is no /proc here")
	}
	s := thisSystem()
	r := s.all(int64(time.Second))
	if m := &r.host; m.processors < 1 || m.memory < 1<<20 {
		t.Errorf("%d processors, %d bytes", m.processors, m.memory)
	}
}

// A phase that begins while the machine is being read makes no window that ends before it began.
func TestARestartDuringALook(t *testing.T) {
	var w *Watch
	during := false
	w = start(clock.New(), system{root: t.TempDir(), own: func(*reading) {
		if during {
			during = false
			time.Sleep(time.Millisecond)
			runtime.GC()
			w.Restart()
		}
	}})
	defer w.Stop()
	during = true
	if h := w.SoFar(); h.Duration < 0 || h.GC.Cycles < 0 {
		t.Errorf("%v, %d cycles", h.Duration, h.GC.Cycles)
	}
}
