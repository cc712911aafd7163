package trust

import (
	"cmp"
	"math"
	"slices"
)

// Host is what the machine did during the watch, this program and all others together. Shares are 0 to 1; NaN and nil
// stand for what the system does not tell, as does 0 for sizes.
type Host struct {
	// Processors is their number, BusyShare the part of their time in which they worked, WaitShare that in which they
	// were idle but waited for storage. OthersShare is the part of BusyShare that was not this program's.
	Processors                        int
	BusyShare, WaitShare, OthersShare float64
	// Memory is what the machine has in bytes, AvailableMin the least that could still be used, SwappedIn and
	// SwappedOut what was moved from and to swap; -1 = not known.
	Memory, AvailableMin  int64
	SwappedIn, SwappedOut int64
	// Links are the network interfaces with traffic, the busiest first, mostLinks at most.
	Links []Link
	// RetransmitShare is the part of the TCP segments sent that were sent again.
	RetransmitShare float64
	// The parts of the time in which tasks stood still for lack of a resource: some of them, or all.
	CPUSome, MemorySome, MemoryFull, IOSome, IOFull float64
}

// Link is a network interface. Rates are bytes per second.
type Link struct {
	Name                     string
	ReceivedRate, SentRate   float64
	ReceivedBytes, SentBytes int64
	ReceivedPeak, SentPeak   float64 // the largest rate between two probes
	Lost                     int64   // packets dropped or broken, both ways
	LostShare                float64 // of all packets
	Speed                    float64 // 0 = not known
	PeakShare, AverageShare  float64 // of the speed, the busier direction; NaN without one
}

// mostLinks bounds the list.
const mostLinks = 8

// counters are what a network interface has counted so far.
type counters struct {
	name                          string
	received, sent, packets, lost int64
}

// hostReading is the state of the whole machine at an instant; -1 = not known.
type hostReading struct {
	processors         int
	idle, waiting      int64 // jiffies
	memory, available  int64
	swapIn, swapOut    int64 // bytes
	links              []counters
	segments, repeated int64
	memorySome         int64 // microseconds, as the next ones
	memoryFull         int64
	ioSome, ioFull     int64
	speed              func(name string) float64
}

func unknownHost() hostReading {
	return hostReading{idle: -1, available: -1, swapIn: -1, swapOut: -1, segments: -1, repeated: -1, memorySome: -1,
		memoryFull: -1, ioSome: -1, ioFull: -1}
}

// peaks are the largest rates that were seen between two probes, by interface.
type peaks map[string][2]float64

// note adds what moved between two probes.
func (p peaks) note(from, to *reading) {
	seconds := float64(to.atNS-from.atNS) / 1e9
	if seconds <= 0 {
		return
	}
	for i := range to.host.links {
		now := &to.host.links[i]
		before := from.host.link(now.name)
		if before == nil || now.received < before.received || now.sent < before.sent {
			continue
		}
		most := p[now.name]
		most[0] = max(most[0], float64(now.received-before.received)/seconds)
		most[1] = max(most[1], float64(now.sent-before.sent)/seconds)
		p[now.name] = most
	}
}

func (m *hostReading) link(name string) *counters {
	for i := range m.links {
		if m.links[i].name == name {
			return &m.links[i]
		}
	}
	return nil
}

// hostOf returns what the machine did between two readings.
func hostOf(from, to *reading, availableMin int64, most peaks) *Host {
	elapsed := float64(to.atNS - from.atNS)
	since := func(a, b int64, whole float64) float64 {
		if a < 0 || b < 0 {
			return math.NaN()
		}
		return ratio(b-a, whole)
	}
	grown := func(a, b int64) int64 {
		if a < 0 || b < a {
			return -1
		}
		return b - a
	}
	f, t := &from.host, &to.host
	h := &Host{
		Processors: t.processors, BusyShare: math.NaN(), WaitShare: math.NaN(), OthersShare: math.NaN(),
		Memory: t.memory, AvailableMin: availableMin, SwappedIn: grown(f.swapIn, t.swapIn),
		SwappedOut:      grown(f.swapOut, t.swapOut),
		RetransmitShare: math.NaN(), CPUSome: math.NaN(),
		MemorySome: since(f.memorySome, t.memorySome, elapsed/1e3),
		MemoryFull: since(f.memoryFull, t.memoryFull, elapsed/1e3),
		IOSome:     since(f.ioSome, t.ioSome, elapsed/1e3), IOFull: since(f.ioFull, t.ioFull, elapsed/1e3),
	}
	if from.hasPressure && to.hasPressure {
		h.CPUSome = ratio((to.pressureUS-from.pressureUS)*1000, elapsed)
	}
	if whole := float64(to.jiffies - from.jiffies); f.idle >= 0 && t.idle >= 0 {
		h.WaitShare = ratio(t.waiting-f.waiting, whole)
		h.BusyShare = ratio(to.jiffies-from.jiffies-(t.idle-f.idle)-(t.waiting-f.waiting)-(to.steal-from.steal), whole)
		if t.processors > 0 {
			own := float64(to.cpuNS-from.cpuNS) / (elapsed * float64(t.processors))
			h.OthersShare = max(0, h.BusyShare-own)
		}
	}
	if f.segments >= 0 && t.segments > f.segments {
		h.RetransmitShare = ratio(t.repeated-f.repeated, float64(t.segments-f.segments))
	}
	h.Links = linksOf(f, t, elapsed/1e9, most)
	return h
}

// linksOf returns what the network interfaces carried between two readings of a host, the busiest first. A peak is at
// least the average: its own readings are rarer than short runs are long. Counters that fell belong to an interface
// that was made anew, and are left out.
func linksOf(f, t *hostReading, seconds float64, most peaks) []Link {
	var list []Link
	for i := range t.links {
		now := &t.links[i]
		before := f.link(now.name)
		if before == nil || seconds <= 0 {
			continue
		}
		l := Link{Name: now.name, ReceivedBytes: now.received - before.received, SentBytes: now.sent - before.sent,
			Lost:      max(0, now.lost-before.lost),
			PeakShare: math.NaN(), AverageShare: math.NaN()}
		packets := now.packets - before.packets
		if l.ReceivedBytes < 0 || l.SentBytes < 0 || packets <= 0 {
			continue
		}
		l.ReceivedRate, l.SentRate = float64(l.ReceivedBytes)/seconds, float64(l.SentBytes)/seconds
		peak := most[now.name]
		l.ReceivedPeak, l.SentPeak = max(peak[0], l.ReceivedRate), max(peak[1], l.SentRate)
		l.LostShare = float64(l.Lost) / float64(packets+l.Lost)
		if t.speed != nil {
			l.Speed = t.speed(now.name)
		}
		if l.Speed > 0 {
			l.PeakShare, l.AverageShare = max(l.ReceivedPeak, l.SentPeak)/l.Speed,
				max(l.ReceivedRate, l.SentRate)/l.Speed
		}
		list = append(list, l)
	}
	slices.SortStableFunc(list, func(a, b Link) int {
		return cmp.Compare(b.ReceivedBytes+b.SentBytes, a.ReceivedBytes+a.SentBytes)
	})
	return list[:min(len(list), mostLinks)]
}
