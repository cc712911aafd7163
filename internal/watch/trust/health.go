package trust

import (
	"math"
	"time"

	"aiperf/internal/measure/stats"
)

// Health is what a [Watch] observed. Shares are 0 to 1; NaN and a limit of 0 stand for what the system does not tell.
type Health struct {
	Duration time.Duration
	// Probe is by how much a timer of 250 ms fired late.
	Probe Lags
	// Runnable is how long goroutines were ready before they ran, from the runtime's histogram.
	Runnable Lags
	// CPUQuota is the number of cores that the process may use: the least of the affinity, the control
	// group's quota and GOMAXPROCS. CPUShare is the part of it that was used, CPUPeak the largest in a probe
	// interval, StealShare the part of the machine's time that the hypervisor gave to others.
	CPUQuota, CPUShare, CPUPeak, StealShare float64
	// PressureShare is the part of the time in which some task of the machine waited for a processor.
	PressureShare float64
	GC            GC
	// Descriptors are the most that were open, Sockets the most TCP sockets of this network namespace,
	// those that wait out their end included, PortRange the number of ports for outgoing connections.
	Descriptors, DescriptorLimit int64
	Sockets, PortRange           int64
	// RSS and Heap are the largest in bytes, LiveHeap what a collection found in use; MemoryLimit is the control
	// group's, or what the machine has.
	RSS, Heap, LiveHeap, MemoryLimit int64
	// Host is the whole machine; nil before the end of a window.
	Host *Host

	availableMin int64 // -1 = not known
	peaks        peaks
}

// Unobserved returns what is known of a process that was not observed: nothing, and so no finding comes from it.
func Unobserved(d time.Duration) Health {
	no := math.NaN()
	return Health{Duration: d, CPUQuota: no, CPUShare: no, CPUPeak: no, StealShare: no, PressureShare: no,
		GC: GC{AssistShare: no}, availableMin: -1}
}

// GC is the garbage collector's part.
type GC struct {
	Cycles int64
	// Pauses are the stops of the world: their number, sum and the longest (upper end of its class).
	Pauses     int64
	PauseTotal time.Duration
	PauseMax   time.Duration
	// AssistShare is the part of the available processor time in which goroutines had to help.
	AssistShare float64
}

// level raises the marks of what is a level.
func (h *Health) level(r *reading) {
	h.Descriptors = max(h.Descriptors, r.descriptors)
	h.Sockets = max(h.Sockets, r.sockets)
	h.RSS = max(h.RSS, r.rss)
	h.Heap = max(h.Heap, r.heap)
	h.LiveHeap = max(h.LiveHeap, r.live)
	h.DescriptorLimit = r.descriptorLimit
	if a := r.host.available; a >= 0 && (h.availableMin < 0 || a < h.availableMin) {
		h.availableMin = a
	}
}

// peak notes the load of one probe interval.
func (h *Health) peak(from, to *reading) {
	if share := cpuShare(from, to); share > h.CPUPeak {
		h.CPUPeak = share
	}
	h.peaks.note(from, to)
}

func cpuShare(from, to *reading) float64 {
	return ratio(to.cpuNS-from.cpuNS, float64(to.atNS-from.atNS)*to.quota)
}

// ratio returns NaN where there is nothing to compare with, or nothing to compare.
func ratio(part int64, whole float64) float64 {
	if whole <= 0 || part < 0 {
		return math.NaN()
	}
	return float64(part) / whole
}

// window computes what has grown from the first to the last reading.
func (h *Health) window(from, to *reading) {
	elapsed := to.atNS - from.atNS
	h.Duration = time.Duration(elapsed)
	h.PortRange, h.MemoryLimit = to.portRange, to.memoryLimit
	h.CPUQuota, h.CPUShare = to.quota, cpuShare(from, to)
	h.CPUPeak = max(h.CPUPeak, orZero(h.CPUShare))
	h.StealShare, h.PressureShare = math.NaN(), math.NaN()
	if from.hasSteal && to.hasSteal {
		h.StealShare = ratio(to.steal-from.steal, float64(to.jiffies-from.jiffies))
	}
	if from.hasPressure && to.hasPressure {
		h.PressureShare = ratio((to.pressureUS-from.pressureUS)*1000, float64(elapsed))
	}
	h.Host = hostOf(from, to, h.availableMin, h.peaks)
	h.Runnable = to.runnable.since(&from.runnable).lags()
	pauses := to.pauses.since(&from.pauses)
	h.GC = GC{
		Cycles: to.cycles - from.cycles, Pauses: pauses.count(),
		PauseTotal: pauses.total(), PauseMax: pauses.largest(),
		AssistShare: math.NaN(),
	}
	if elapsed > 0 {
		h.GC.AssistShare = (to.assistSeconds - from.assistSeconds) * 1e9 / (float64(elapsed) * float64(to.procs))
	}
}

func orZero(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// Lags describe a distribution of times in milliseconds. Count 0 = not measured.
type Lags struct {
	Count                   int64
	Avg, P50, P90, P99, Max float64
}

var lagRanks = []float64{50, 90, 99}

// lagsOf describes a distribution of nanoseconds; nil has none.
func lagsOf(h *stats.Histogram) Lags {
	if h == nil || h.Count() == 0 {
		return Lags{}
	}
	s := h.Summary(lagRanks)
	return Lags{Count: s.Count, Avg: s.Avg / 1e6, P50: s.Percentiles[0] / 1e6, P90: s.Percentiles[1] / 1e6,
		P99: s.Percentiles[2] / 1e6, Max: s.Max / 1e6}
}
