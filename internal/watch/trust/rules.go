package trust

import (
	"fmt"
	"strings"
	"time"
)

// The thresholds.
const (
	// toolLagFloor and toolLagPart bound the tool lag: milliseconds, and part of the median TTFT.
	toolLagFloor, toolLagPart = 5.0, 0.05
	cpuFull                   = 0.85
	// rateReached is the part of the target rate that counts as delivered.
	rateReached = 0.99
	// nearLimit is the part of a limit from which it is said to be near.
	nearLimit = 0.95
	// lateProbe is the delay of a timer, in milliseconds, from which the scheduler is said to be late, and
	// standstill that from which the process is said to have stood still.
	lateProbe, standstill = 25.0, 500.0
	stolen                = 0.10
	pressed               = 0.50
	longPause             = 10 * time.Millisecond
	manyCoalesced         = 0.05
	// othersBusy is the part of the machine's processors that other programs may use untold, linkFull that of an
	// interface's speed, stalledForMemory that of the time.
	othersBusy, linkFull, stalledForMemory = 0.25, 0.90, 0.10
	// fewLost packets and segments that were sent again are nothing to tell.
	fewLost, lostShare, resent = 100, 0.001, 0.01
	// largeBound is the part of a metric's median from which the client's share makes it doubtful.
	largeBound = 0.10
	// smallBound is the share, in milliseconds, that makes no time doubtful.
	smallBound = 1.0
)

// A rule finds one thing.
type rule struct {
	code      string
	leads     Verdict
	saturates bool
	find      func(r *Report) (message string, found bool)
	advice    string
}

const spread = "lower the rate or the concurrency, give the process more cores, or share the load among several " +
	"machines"

// rules in order of weight: the first finding is the one that is shown.
var rules = [...]rule{
	{"no_requests", Inconclusive, false, noRequests,
		"see the errors: no request of the measured phase completed"},
	{"out_of_descriptors", ClientLimited, false, outOfDescriptors,
		"raise the limit before the run: ulimit -n 65536"},
	{"out_of_ports", ClientLimited, false, outOfPorts,
		`widen the range: sudo sysctl -w net.ipv4.ip_local_port_range="1024 65535", or send from several addresses ` +
			"with --source-address"},
	{"tool_lag", ClientLimited, true, toolLag, spread},
	{"connection_wait", ClientLimited, false, connectionWait,
		"allow more connections with --workers-max or AIPERF_HTTP_CONNECTION_LIMIT, or increase the load gradually " +
			"with " +
			"--concurrency-ramp-duration or --request-rate-ramp-duration"},
	{"cpu", ClientLimited, true, cpu, spread},
	{"link_full", ClientLimited, false, fullLink,
		"use a faster link, or share the load among several machines"},
	{"rate_missed", ClientLimited, false, rateMissed, spread},
	{"standstill", Inconclusive, false, standstillFound,
		"repeat the run; do not suspend the process or its machine meanwhile"},
	{"scheduler_delay", Inconclusive, false, schedulerDelay,
		"stop what else runs on this machine, or give the process cores of its own"},
	{"steal", Inconclusive, false, steal,
		"use a machine whose processors are not shared with others"},
	{"memory_pressure", Inconclusive, false, memoryPressure,
		"lower the concurrency, or stop what else uses memory on this machine"},
	{"error_bound", Inconclusive, false, largeBounds,
		"stop what else runs on this machine; keep --timestamp-source at auto"},
	{"late_timers", Valid, false, lateTimers,
		"stop what else runs on this machine, or give the process cores of its own"},
	{"pressure", Valid, false, pressure,
		"stop what else runs on this machine, or give the process cores of its own"},
	{"others_busy", Valid, false, busyOthers,
		"stop what else runs on this machine, or give the process cores of its own"},
	{"packets_lost", Valid, false, lostPackets,
		"check the link and the receive queues of its interface: ip -s link"},
	{"retransmits", Valid, false, retransmits,
		"check the network between this machine and the server: what is sent again arrives late"},
	{"gc_pause", Valid, false, gcPause,
		"give the process more memory: GOMEMLIMIT and GOGC set how often it collects"},
	{"memory", Valid, false, memory,
		"lower the concurrency, or raise the memory limit of the container"},
	{"coalesced", Valid, false, coalesced,
		"gaps of zero are the server's doing if it sends several events at a time; else use fewer streams for each " +
			"core"},
	{"skipped_arrivals", Valid, false, skipped,
		"raise --concurrency if the rate is to be reached"},
	{"timestamp_source", Valid, false, timestampSource,
		"times include the client's own read lag; on Linux, with plain TCP connections, the kernel's stamps do not"},
}

func noRequests(r *Report) (string, bool) {
	return "no request completed", r.Inputs.Requests == 0
}

func outOfDescriptors(r *Report) (string, bool) {
	return fmt.Sprintf("%d requests failed because the process had no more file descriptors (limit %d)",
		r.Inputs.FailedForDescriptors, r.Health.DescriptorLimit), r.Inputs.FailedForDescriptors > 0
}

func outOfPorts(r *Report) (string, bool) {
	return fmt.Sprintf("%d requests failed because the machine had no more ports for outgoing connections (%d in all)",
		r.Inputs.FailedForPorts, r.Health.PortRange), r.Inputs.FailedForPorts > 0
}

func toolLag(r *Report) (string, bool) {
	limit := r.lagLimit()
	return fmt.Sprintf("requests left the client late: tool lag p99 %s ms, the limit is %s ms%s", short(r.ToolLag.P99),
			short(limit), r.meanwhile()),
		r.ToolLag.P99 > limit
}

// lagLimit returns what the client may add to the times of a request, in milliseconds.
func (r *Report) lagLimit() float64 {
	for _, tag := range []string{TTFT, Latency} {
		if m, ok := r.Inputs.metric(tag); ok {
			return max(toolLagFloor, toolLagPart*m.P50)
		}
	}
	return toolLagFloor
}

func connectionWait(r *Report) (string, bool) {
	limit := r.lagLimit()
	return fmt.Sprintf("requests waited in the client for a connection: p99 %s ms, the limit is %s ms; their latency "+
		"includes the wait",
		short(r.ConnectionWait.P99), short(limit)), r.ConnectionWait.P99 > limit
}

func cpu(r *Report) (string, bool) {
	return fmt.Sprintf("the client used %.0f %% of its %s cores", 100*r.Health.CPUShare, short(r.Health.CPUQuota)),
		r.Health.CPUShare > cpuFull
}

func rateMissed(r *Report) (string, bool) {
	in := r.Inputs
	missed := in.TargetRate > 0 && !in.ConcurrencyLimited && in.DeliveredRate < rateReached*in.TargetRate
	cause := "it sent late"
	if in.DroppedByCatchup > 0 {
		cause = fmt.Sprintf("it was delayed and dropped %d arrivals", in.DroppedByCatchup)
	}
	late := in.Duration > 0 && r.ScheduleLag.Max > (1-rateReached)*float64(in.Duration.Milliseconds())
	missed = missed && (late || in.DroppedByCatchup > 0) // chance arrivals may be few by themselves
	return fmt.Sprintf("the client delivered %s of %s requests/sec: %s%s", short(in.DeliveredRate), short(in.TargetRate),
		cause, r.meanwhile()), missed
}

func standstillFound(r *Report) (string, bool) {
	return fmt.Sprintf("the process did not run for %s ms", short(r.Health.Probe.Max)), r.Health.Probe.Max > standstill
}

// schedulerDelay makes instants doubtful that are taken when a goroutine gets to run.
func schedulerDelay(r *Report) (string, bool) {
	return fmt.Sprintf("timers fired late: p99 %s ms", short(r.Health.Probe.P99)),
		r.Health.Probe.P99 > lateProbe && r.Inputs.TimestampSource != SourceKernel
}

func lateTimers(r *Report) (string, bool) {
	_, told := schedulerDelay(r)
	return fmt.Sprintf("timers fired up to %s ms late", short(r.Health.Probe.Max)), r.Health.Probe.Max > lateProbe &&
		!told
}

func steal(r *Report) (string, bool) {
	return fmt.Sprintf("the hypervisor gave %.0f %% of this machine's processor time to others",
			100*r.Health.StealShare),
		r.Health.StealShare > stolen
}

func largeBounds(r *Report) (string, bool) {
	var found []string
	for i := range r.Bounds {
		if b := &r.Bounds[i]; b.part() > largeBound && (b.Unit != "ms" || b.Value > smallBound) {
			found = append(found, fmt.Sprintf("%s by up to %s %s (%.0f %%)", b.Label, short(b.Value), b.Unit,
				100*b.part()))
		}
	}
	return "the client may have distorted " + strings.Join(found, ", "), len(found) > 0
}

func pressure(r *Report) (string, bool) {
	return fmt.Sprintf("some task waited for a processor in %.0f %% of the time", 100*r.Health.PressureShare),
		r.Health.PressureShare > pressed
}

// busiest returns the interface that was used most by its speed; nil if no speed is known.
func (h *Host) busiest() *Link {
	var most *Link
	for i := range h.Links {
		if l := &h.Links[i]; l.Speed > 0 && (most == nil || l.AverageShare > most.AverageShare) {
			most = l
		}
	}
	return most
}

func fullLink(r *Report) (string, bool) {
	if r.Health.Host == nil {
		return "", false
	}
	l := r.Health.Host.busiest()
	if l == nil || !(l.AverageShare > linkFull) {
		return "", false
	}
	return fmt.Sprintf("the network interface %s carried %.0f %% of its %s Gbit/s throughout", l.Name,
		100*l.AverageShare, short(l.Speed*8/1e9)), true
}

func memoryPressure(r *Report) (string, bool) {
	h := r.Health.Host
	if h == nil || !(h.MemorySome > stalledForMemory) {
		return "", false
	}
	return fmt.Sprintf("some task was stalled for lack of memory in %.0f %% of the time", 100*h.MemorySome), true
}

func busyOthers(r *Report) (string, bool) {
	h := r.Health.Host
	if h == nil || !(h.OthersShare > othersBusy) {
		return "", false
	}
	return fmt.Sprintf("other programs used %.0f %% of this machine's %d processors", 100*h.OthersShare, h.Processors),
		true
}

// meanwhile returns what other programs used, as the end of a finding that they may be the cause of; "" for little.
func (r *Report) meanwhile() string {
	if others, busy := busyOthers(r); busy {
		return ", while " + others
	}
	return ""
}

func lostPackets(r *Report) (string, bool) {
	if r.Health.Host == nil {
		return "", false
	}
	for _, l := range r.Health.Host.Links {
		if l.Lost > fewLost && l.LostShare > lostShare {
			return fmt.Sprintf("the network interface %s lost %d packets (%.1f %%)", l.Name, l.Lost, 100*l.LostShare),
				true
		}
	}
	return "", false
}

func retransmits(r *Report) (string, bool) {
	h := r.Health.Host
	if h == nil || !(h.RetransmitShare > resent) {
		return "", false
	}
	return fmt.Sprintf("%.1f %% of this machine's TCP segments had to be sent again", 100*h.RetransmitShare), true
}

func gcPause(r *Report) (string, bool) {
	return fmt.Sprintf("garbage collection stopped the client for up to %s ms",
			short(float64(r.Health.GC.PauseMax)/1e6)),
		r.Health.GC.PauseMax > longPause
}

func memory(r *Report) (string, bool) {
	h := r.Health
	return fmt.Sprintf("the client took %d of %d MiB of memory", h.RSS>>20, h.MemoryLimit>>20),
		h.MemoryLimit > 0 && float64(h.RSS) > nearLimit*float64(h.MemoryLimit)
}

func coalesced(r *Report) (string, bool) {
	return fmt.Sprintf("%.0f %% of the responses share their instant with another", 100*r.Inputs.CoalescedShare),
		r.Inputs.CoalescedShare > manyCoalesced
}

func skipped(r *Report) (string, bool) {
	return fmt.Sprintf("%d arrivals found no free slot and were skipped", r.Inputs.SkippedArrivals),
		r.Inputs.SkippedArrivals > 0
}

func timestampSource(r *Report) (string, bool) {
	in := r.Inputs
	return fmt.Sprintf("instants are from the %s source: %s", in.TimestampSource, in.TimestampNote),
		in.TimestampNote != ""
}
