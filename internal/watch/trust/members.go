package trust

import "math"

// Member is a key of a JSON object and its value: a string, bool, int64, float64, []Member for an object
// or [][]Member for a list of objects.
type Member struct {
	Key   string
	Value any
}

// Members are the report as the ordered JSON object client_health. Times are milliseconds unless the key
// says otherwise, shares 0 to 1. What was not measured is left out.
func (r *Report) Members() []Member {
	in, h := r.Inputs, r.Health
	reasons := make([][]Member, 0, len(r.Reasons))
	for _, reason := range r.Reasons {
		reasons = append(reasons, []Member{{"code", reason.Code}, {"leads_to", string(reason.Leads)},
			{"message", reason.Message}, {"advice", reason.Advice}})
	}
	var o object
	o.add("verdict", string(r.Verdict))
	o.add("client_saturated", r.Saturated)
	o.add("reasons", reasons)
	o.add("timestamp_source", in.TimestampSource)
	if in.TimestampNote != "" {
		o.add("timestamp_note", in.TimestampNote)
	}
	if in.TargetRate > 0 {
		o.number("target_rate", in.TargetRate)
	}
	o.number("delivered_rate", in.DeliveredRate)
	o.add("skipped_arrivals", in.SkippedArrivals)
	o.add("dropped_by_catchup", in.DroppedByCatchup)
	o.add("resent_requests", in.Resent)
	if in.Together > 0 {
		o.add("simultaneous_start", []Member{{"requests", in.Together}, {"spread", float64(in.TogetherSpread) / 1e6}})
	}
	o.lags("schedule_lag", r.ScheduleLag)
	o.lags("admission_wait", r.AdmissionWait)
	o.lags("tool_lag", r.ToolLag)
	if r.ConnectionWait.Max > 0 {
		o.lags("connection_wait", r.ConnectionWait)
	}
	o.lags("send_time", r.SendTime)
	o.lags("read_lag", r.ReadLag)
	o.number("coalesced_share", in.CoalescedShare)
	o.add("error_bound", r.boundMembers())
	o.lags("scheduler_delay", h.Probe)
	o.lags("runnable_wait", h.Runnable)
	for _, m := range []struct {
		key   string
		value any
	}{{"cpu", h.cpuMembers()}, {"gc", h.gcMembers()}, {"limits", h.limitMembers()}} {
		o.add(m.key, m.value)
	}
	if host := h.Host.members(); len(host) > 0 {
		o.add("host", host)
	}
	return o
}

func (r *Report) boundMembers() []Member {
	var o object
	for _, b := range r.Bounds {
		o.add(b.Tag, []Member{{"value", b.Value}, {"unit", b.Unit}})
	}
	return o
}

func (h *Health) cpuMembers() []Member {
	var o object
	o.number("quota_cores", h.CPUQuota)
	o.number("share", h.CPUShare)
	o.number("peak_share", h.CPUPeak)
	o.number("steal_share", h.StealShare)
	o.number("pressure_share", h.PressureShare)
	return o
}

func (h *Health) gcMembers() []Member {
	var o object
	o.add("cycles", h.GC.Cycles)
	o.add("pauses", h.GC.Pauses)
	o.number("pause_total", float64(h.GC.PauseTotal)/1e6)
	o.number("pause_max", float64(h.GC.PauseMax)/1e6)
	o.number("assist_share", h.GC.AssistShare)
	return o
}

func (h *Health) limitMembers() []Member {
	var o object
	o.known("descriptors", h.Descriptors)
	o.known("descriptor_limit", h.DescriptorLimit)
	o.known("tcp_sockets", h.Sockets)
	o.known("ephemeral_ports", h.PortRange)
	o.known("rss_bytes", h.RSS)
	o.known("heap_bytes", h.Heap)
	o.known("heap_live_bytes", h.LiveHeap)
	o.known("memory_limit_bytes", h.MemoryLimit)
	return o
}

// object collects members.
type object []Member

func (o *object) add(key string, value any) { *o = append(*o, Member{key, value}) }

// number leaves out what is no number.
func (o *object) number(key string, v float64) {
	if !math.IsNaN(v) && !math.IsInf(v, 0) {
		o.add(key, v)
	}
}

// known leaves out what the system does not tell.
func (o *object) known(key string, n int64) {
	if n > 0 {
		o.add(key, n)
	}
}

// told leaves out what is below 0, which stands for what the system does not tell.
func (o *object) told(key string, n int64) {
	if n >= 0 {
		o.add(key, n)
	}
}

func (o *object) lags(key string, l Lags) {
	if l.Count > 0 {
		o.add(key, []Member{{"avg", l.Avg}, {"p50", l.P50}, {"p90", l.P90}, {"p99", l.P99}, {"max", l.Max}})
	}
}
