package trust

import "aiperf/internal/base/artifact"

// Document is client_health of summary files. Times are milliseconds unless the key says otherwise, shares 0 to 1. What
// was not measured is left out.
type Document struct {
	// Verdict is empty where the client was not judged.
	Verdict          Verdict                     `json:"verdict"`
	Saturated        bool                        `json:"client_saturated"`
	Reasons          []ReasonDocument            `json:"reasons"`
	Source           string                      `json:"timestamp_source"`
	SourceNote       string                      `json:"timestamp_note,omitempty"`
	TargetRate       *float64                    `json:"target_rate,omitempty"`
	DeliveredRate    *float64                    `json:"delivered_rate,omitempty"`
	SkippedArrivals  int64                       `json:"skipped_arrivals"`
	DroppedByCatchup int64                       `json:"dropped_by_catchup"`
	Resent           int64                       `json:"resent_requests"`
	Together         *togetherDocument           `json:"simultaneous_start,omitempty"`
	ScheduleLag      *LagDocument                `json:"schedule_lag,omitempty"`
	AdmissionWait    *LagDocument                `json:"admission_wait,omitempty"`
	ToolLag          *LagDocument                `json:"tool_lag,omitempty"`
	ConnectionWait   *LagDocument                `json:"connection_wait,omitempty"`
	SendTime         *LagDocument                `json:"send_time,omitempty"`
	ReadLag          *LagDocument                `json:"read_lag,omitempty"`
	CoalescedShare   *float64                    `json:"coalesced_share,omitempty"`
	InOnePiece       *piecesDocument             `json:"replies_in_one_piece,omitempty"`
	ClosedEarly      int64                       `json:"replies_closed_early,omitempty"`
	Cumulative       int64                       `json:"replies_cumulative,omitempty"`
	Unread           artifact.Map[int64]         `json:"unread_output,omitempty"`
	Bounds           artifact.Map[BoundDocument] `json:"error_bound"`
	SchedulerDelay   *LagDocument                `json:"scheduler_delay,omitempty"`
	RunnableWait     *LagDocument                `json:"runnable_wait,omitempty"`
	CPU              cpuDocument                 `json:"cpu"`
	GC               gcDocument                  `json:"gc"`
	Limits           limitDocument               `json:"limits"`
	Host             *hostDocument               `json:"host,omitempty"`
}

// ReasonDocument is a finding on the client, or on the course of the run.
type ReasonDocument struct {
	Code    string  `json:"code"`
	LeadsTo Verdict `json:"leads_to"`
	Message string  `json:"message"`
	Advice  string  `json:"advice"`
}

// BoundDocument is an upper bound of how much of a metric is the client's own.
type BoundDocument struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// LagDocument is a distribution of times.
type LagDocument struct {
	Avg float64 `json:"avg"`
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

type togetherDocument struct {
	Requests int64   `json:"requests"`
	Spread   float64 `json:"spread"`
}

type piecesDocument struct {
	Replies    int64 `json:"replies"`
	Of         int64 `json:"of"`
	Unstreamed int64 `json:"not_streamed,omitempty"`
}

type cpuDocument struct {
	Quota         *float64 `json:"quota_cores,omitempty"`
	Share         *float64 `json:"share,omitempty"`
	PeakShare     *float64 `json:"peak_share,omitempty"`
	StealShare    *float64 `json:"steal_share,omitempty"`
	PressureShare *float64 `json:"pressure_share,omitempty"`
}

type gcDocument struct {
	Cycles      int64    `json:"cycles"`
	Pauses      int64    `json:"pauses"`
	PauseTotal  float64  `json:"pause_total"`
	PauseMax    float64  `json:"pause_max"`
	AssistShare *float64 `json:"assist_share,omitempty"`
}

// limitDocument leaves out what the system does not tell.
type limitDocument struct {
	Descriptors     int64 `json:"descriptors,omitempty"`
	DescriptorLimit int64 `json:"descriptor_limit,omitempty"`
	Sockets         int64 `json:"tcp_sockets,omitempty"`
	PortRange       int64 `json:"ephemeral_ports,omitempty"`
	RSS             int64 `json:"rss_bytes,omitempty"`
	Heap            int64 `json:"heap_bytes,omitempty"`
	LiveHeap        int64 `json:"heap_live_bytes,omitempty"`
	MemoryLimit     int64 `json:"memory_limit_bytes,omitempty"`
}

// hostDocument is the machine as a whole. Parts of which nothing is known are left out.
type hostDocument struct {
	CPU      hostCPUDocument     `json:"cpu,omitzero"`
	Memory   *hostMemoryDocument `json:"memory,omitempty"`
	Network  networkDocument     `json:"network,omitzero"`
	Pressure pressureDocument    `json:"pressure,omitzero"`
}

type hostCPUDocument struct {
	Processors  int64    `json:"processors,omitempty"`
	BusyShare   *float64 `json:"busy_share,omitempty"`
	OthersShare *float64 `json:"others_share,omitempty"`
	WaitShare   *float64 `json:"wait_share,omitempty"`
}

type hostMemoryDocument struct {
	Total        int64  `json:"total_bytes"`
	AvailableMin *int64 `json:"available_min_bytes,omitempty"`
	SwappedIn    *int64 `json:"swapped_in_bytes,omitempty"`
	SwappedOut   *int64 `json:"swapped_out_bytes,omitempty"`
}

type networkDocument struct {
	RetransmitShare *float64       `json:"tcp_retransmit_share,omitempty"`
	Links           []linkDocument `json:"interfaces,omitempty"`
}

type linkDocument struct {
	Name         string   `json:"name"`
	ReceivedRate float64  `json:"received_bytes_per_sec"`
	SentRate     float64  `json:"sent_bytes_per_sec"`
	ReceivedPeak float64  `json:"received_peak_bytes_per_sec"`
	SentPeak     float64  `json:"sent_peak_bytes_per_sec"`
	Lost         int64    `json:"lost_packets"`
	Speed        float64  `json:"speed_bytes_per_sec,omitempty"`
	PeakShare    *float64 `json:"peak_share,omitempty"`
}

type pressureDocument struct {
	CPUSome    *float64 `json:"cpu_some,omitempty"`
	MemorySome *float64 `json:"memory_some,omitempty"`
	MemoryFull *float64 `json:"memory_full,omitempty"`
	IOSome     *float64 `json:"io_some,omitempty"`
	IOFull     *float64 `json:"io_full,omitempty"`
}

// Object returns the report as summary files have it.
func (r *Report) Object() artifact.Object { return artifact.ObjectOf(r.document()) }

func (r *Report) document() *Document {
	in, h, replies := r.Inputs, r.Health, &r.Inputs.Course.Replies
	d := &Document{
		Verdict: r.Verdict, Saturated: r.Saturated, Source: in.TimestampSource, SourceNote: in.TimestampNote,
		DeliveredRate: artifact.Known(in.DeliveredRate), SkippedArrivals: in.SkippedArrivals,
		DroppedByCatchup: in.DroppedByCatchup, Resent: in.Resent,
		ScheduleLag: r.ScheduleLag.document(), AdmissionWait: r.AdmissionWait.document(), ToolLag: r.ToolLag.document(),
		SendTime: r.SendTime.document(), ReadLag: r.ReadLag.document(),
		CoalescedShare: artifact.Known(in.CoalescedShare),
		ClosedEarly:    max(0, replies.Unfinished), Cumulative: max(0, replies.Cumulative),
		Unread:         artifact.LargestFirst(replies.Unread),
		SchedulerDelay: h.Probe.document(), RunnableWait: h.Runnable.document(),
		CPU: cpuDocument{Quota: artifact.Known(h.CPUQuota), Share: artifact.Known(h.CPUShare),
			PeakShare: artifact.Known(h.CPUPeak), StealShare: artifact.Known(h.StealShare),
			PressureShare: artifact.Known(h.PressureShare)},
		GC: gcDocument{Cycles: h.GC.Cycles, Pauses: h.GC.Pauses, PauseTotal: float64(h.GC.PauseTotal) / 1e6,
			PauseMax: float64(h.GC.PauseMax) / 1e6, AssistShare: artifact.Known(h.GC.AssistShare)},
		Limits: limitDocument{Descriptors: max(0, h.Descriptors), DescriptorLimit: max(0, h.DescriptorLimit),
			Sockets: max(0, h.Sockets), PortRange: max(0, h.PortRange), RSS: max(0, h.RSS), Heap: max(0, h.Heap),
			LiveHeap: max(0, h.LiveHeap), MemoryLimit: max(0, h.MemoryLimit)},
		Host: h.Host.document(),
	}
	for _, reason := range r.Reasons {
		d.Reasons = append(d.Reasons, ReasonDocument{reason.Code, reason.Leads, reason.Message, reason.Advice})
	}
	for _, b := range r.Bounds {
		d.Bounds.Add(b.Tag, BoundDocument{b.Value, b.Unit})
	}
	if in.TargetRate > 0 {
		d.TargetRate = artifact.Known(in.TargetRate)
	}
	if in.Together > 0 {
		d.Together = &togetherDocument{in.Together, float64(in.TogetherSpread) / 1e6}
	}
	if r.ConnectionWait.Max > 0 {
		d.ConnectionWait = r.ConnectionWait.document()
	}
	if n, of := replies.pieces(); n > 0 {
		d.InOnePiece = &piecesDocument{n, of, max(0, replies.Unstreamed)}
	}
	return d
}

// document returns nil where there are no times.
func (l *Lags) document() *LagDocument {
	if l.Count <= 0 {
		return nil
	}
	return &LagDocument{l.Avg, l.P50, l.P90, l.P99, l.Max}
}

// document returns nil where nothing is known.
func (h *Host) document() *hostDocument {
	if h == nil {
		return nil
	}
	d := hostDocument{
		CPU: hostCPUDocument{Processors: max(0, int64(h.Processors)), BusyShare: artifact.Known(h.BusyShare),
			OthersShare: artifact.Known(h.OthersShare), WaitShare: artifact.Known(h.WaitShare)},
		Network: networkDocument{RetransmitShare: artifact.Known(h.RetransmitShare)},
		Pressure: pressureDocument{CPUSome: artifact.Known(h.CPUSome), MemorySome: artifact.Known(h.MemorySome),
			MemoryFull: artifact.Known(h.MemoryFull), IOSome: artifact.Known(h.IOSome), IOFull: artifact.Known(h.IOFull)},
	}
	if h.Memory > 0 {
		d.Memory = &hostMemoryDocument{h.Memory, reported(h.AvailableMin), reported(h.SwappedIn), reported(h.SwappedOut)}
	}
	for i := range h.Links {
		d.Network.Links = append(d.Network.Links, h.Links[i].document())
	}
	if len(artifact.ObjectOf(d)) == 0 {
		return nil
	}
	return &d
}

// reported returns nil for a number below 0, which stands for what the system does not report.
func reported(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}

func (l *Link) document() linkDocument {
	d := linkDocument{Name: l.Name, ReceivedRate: l.ReceivedRate, SentRate: l.SentRate, ReceivedPeak: l.ReceivedPeak,
		SentPeak: l.SentPeak, Lost: l.Lost}
	if l.Speed > 0 {
		d.Speed, d.PeakShare = l.Speed, artifact.Known(l.PeakShare)
	}
	return d
}
