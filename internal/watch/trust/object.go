package trust

import "aiperf/internal/base/artifact"

// Object returns the report as summary files have it, client_health. Times are milliseconds unless the key says
// otherwise, shares 0 to 1. What was not measured is left out.
func (r *Report) Object() artifact.Object {
	in, h := r.Inputs, r.Health
	reasons := make([]any, 0, len(r.Reasons))
	for _, reason := range r.Reasons {
		reasons = append(reasons, artifact.Object{
			{Key: "code", Value: reason.Code}, {Key: "leads_to", Value: string(reason.Leads)},
			{Key: "message", Value: reason.Message}, {Key: "advice", Value: reason.Advice},
		})
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
		o.add("simultaneous_start", artifact.Object{
			{Key: "requests", Value: in.Together}, {Key: "spread", Value: float64(in.TogetherSpread) / 1e6},
		})
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
	replies := &in.Course.Replies
	if n, of := replies.pieces(); n > 0 {
		pieces := artifact.Object{{Key: "replies", Value: n}, {Key: "of", Value: of}}
		if replies.Unstreamed > 0 {
			pieces = append(pieces, artifact.Member{Key: "not_streamed", Value: replies.Unstreamed})
		}
		o.add("replies_in_one_piece", pieces)
	}
	for _, count := range []struct {
		key string
		n   int64
	}{{"replies_closed_early", replies.Unfinished}, {"replies_cumulative", replies.Cumulative}} {
		if count.n > 0 {
			o.add(count.key, count.n)
		}
	}
	if len(replies.Unread) > 0 {
		o.add("unread_output", artifact.Counts(replies.Unread))
	}
	o.add("error_bound", r.boundObject())
	o.lags("scheduler_delay", h.Probe)
	o.lags("runnable_wait", h.Runnable)
	o.add("cpu", h.cpuObject())
	o.add("gc", h.gcObject())
	o.add("limits", h.limitObject())
	o.part("host", h.Host.object())
	return artifact.Object(o)
}

func (r *Report) boundObject() artifact.Object {
	var o object
	for _, b := range r.Bounds {
		o.add(b.Tag, artifact.Object{{Key: "value", Value: b.Value}, {Key: "unit", Value: b.Unit}})
	}
	return artifact.Object(o)
}

func (h *Health) cpuObject() artifact.Object {
	var o object
	o.number("quota_cores", h.CPUQuota)
	o.number("share", h.CPUShare)
	o.number("peak_share", h.CPUPeak)
	o.number("steal_share", h.StealShare)
	o.number("pressure_share", h.PressureShare)
	return artifact.Object(o)
}

func (h *Health) gcObject() artifact.Object {
	var o object
	o.add("cycles", h.GC.Cycles)
	o.add("pauses", h.GC.Pauses)
	o.number("pause_total", float64(h.GC.PauseTotal)/1e6)
	o.number("pause_max", float64(h.GC.PauseMax)/1e6)
	o.number("assist_share", h.GC.AssistShare)
	return artifact.Object(o)
}

func (h *Health) limitObject() artifact.Object {
	var o object
	o.known("descriptors", h.Descriptors)
	o.known("descriptor_limit", h.DescriptorLimit)
	o.known("tcp_sockets", h.Sockets)
	o.known("ephemeral_ports", h.PortRange)
	o.known("rss_bytes", h.RSS)
	o.known("heap_bytes", h.Heap)
	o.known("heap_live_bytes", h.LiveHeap)
	o.known("memory_limit_bytes", h.MemoryLimit)
	return artifact.Object(o)
}

// object collects members.
type object artifact.Object

func (o *object) add(key string, value any) { *o = append(*o, artifact.Member{Key: key, Value: value}) }

// part leaves out what has no members.
func (o *object) part(key string, members object) {
	if len(members) > 0 {
		o.add(key, artifact.Object(members))
	}
}

// number leaves out what is not a number.
func (o *object) number(key string, v float64) {
	if artifact.Finite(v) {
		o.add(key, v)
	}
}

// known leaves out what the system does not tell.
func (o *object) known(key string, n int64) {
	if n > 0 {
		o.add(key, n)
	}
}

// addKnown adds a number; one below 0 stands for what the system does not report and is left out.
func (o *object) addKnown(key string, n int64) {
	if n >= 0 {
		o.add(key, n)
	}
}

func (o *object) lags(key string, l Lags) {
	if l.Count > 0 {
		o.add(key, artifact.Object{{Key: "avg", Value: l.Avg}, {Key: "p50", Value: l.P50}, {Key: "p90", Value: l.P90},
			{Key: "p99", Value: l.P99}, {Key: "max", Value: l.Max}})
	}
}
