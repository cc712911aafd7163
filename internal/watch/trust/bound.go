package trust

// Bound is how far the client itself may have distorted a headline metric, at the 99th percentile: at most by
// Value, in the metric's unit.
type Bound struct {
	Tag, Label, Unit string
	// Metric is what was measured.
	Metric Metric
	Value  float64
}

// part returns the bound as a share of the value it belongs to: the median of times, the value of a rate.
func (b *Bound) part() float64 {
	if b.Metric.P50 <= 0 {
		return 0
	}
	return b.Value / b.Metric.P50
}

// late returns an upper limit in milliseconds, at the 99th percentile, of how much later a response is stamped
// than it arrived, and exact the error to both sides.
//
//	kernel:  late = min(1, c/1 %) · L, exact = ε
//	user:    late = L,                 exact = 0
//
// L is the 99th percentile of the read lag; where none was measured, that of the lateness of timers,
// which is made by the same scheduler. ε is the error of the conversion between the clocks. A response
// that shares its instant with others, of which there is the part c, may have waited for the read as
// long as a read lags; if these are fewer than one in a hundred, they move the 99th percentile by a
// part only. Where sources are mixed, the user's bound holds.
func (in *Inputs) late(lag Lags, h *Health) (late, exact float64) {
	if lag.Count == 0 {
		lag = h.Probe
	}
	if in.TimestampSource == SourceKernel {
		return min(1, max(0, in.CoalescedShare)/0.01) * lag.P99, in.StampError.Seconds() * 1e3
	}
	return lag.P99, in.StampError.Seconds() * 1e3 * boolean(in.TimestampSource == SourceMixed)
}

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// bounds returns those of the metrics that the run has.
//
// With s the sum of the 99th percentiles of the send time and of the wait for a connection, l and ε of late and exact
// as above (l₁ for the first response), n the average output length, in milliseconds:
//
//	time_to_first_token      s + l₁ + ε             it starts before the send and ends with a stamp
//	request_latency          s + l + ε
//	                         + 45 ms · h              h = 1 if 1 % of the replies were held back by acknowledgements
//	inter_token_latency      (l + 2ε) / max(1, n−1)  both ends are stamps, over n−1 gaps
//
// and for the rates, as a part of the value:
//
//	open loop      dropped / (requests + dropped) + (s + l + ε) / duration
//	closed loop    z / (latency + z) + (s + l + ε) / duration
//
// dropped are the arrivals that the client missed, z is the average of tool lag, wait for a connection
// and read lag, which in a closed loop lengthen each request's turn.
func bounds(h *Health, in *Inputs, report *Report) []Bound {
	late, exact := in.late(report.ReadLag, h)
	first, _ := in.late(report.firstReadLag, h)
	first += in.heldBack()
	send := report.SendTime.P99 + report.ConnectionWait.P99
	gaps := max(1, in.OutputLength-1)
	rate := in.rateError(report, send+late+exact)
	var out []Bound
	for _, b := range []struct {
		tag, label, unit string
		value            func(m Metric) float64
	}{
		{TTFT, "TTFT", "ms", func(Metric) float64 { return send + first + exact }},
		{ITL, "ITL", "ms", func(Metric) float64 { return (late + 2*exact) / gaps }},
		{Latency, "latency", "ms", func(Metric) float64 { return send + late + exact }},
		{Throughput, "throughput", "requests/sec", func(m Metric) float64 { return m.Avg * rate }},
		{OutputThroughput, "output throughput", "tokens/sec", func(m Metric) float64 { return m.Avg * rate }},
	} {
		if m, ok := in.metric(b.tag); ok {
			out = append(out, Bound{Tag: b.tag, Label: b.label, Unit: b.unit, Metric: m, Value: b.value(m)})
		}
	}
	return out
}

// heldBack returns how much later the first token came, in milliseconds, because this system delayed acknowledgements.
func (in *Inputs) heldBack() float64 {
	if r := &in.Course.Replies; r.HeldBack > 0 && many(r.HeldBack, r.Streamed) {
		return longestDelay.Seconds() * 1e3
	}
	return 0
}

// rateError returns the part by which the client may have distorted the rates; ends is what it may have added to the
// duration, in milliseconds.
func (in *Inputs) rateError(report *Report, ends float64) float64 {
	var part float64
	if in.TargetRate > 0 {
		if all := in.Requests + in.DroppedByCatchup; all > 0 {
			part = float64(in.DroppedByCatchup) / float64(all)
		}
	} else if latency, ok := in.metric(Latency); ok {
		if z := report.ToolLag.Avg + report.ConnectionWait.Avg + report.ReadLag.Avg; z > 0 {
			part = z / (latency.Avg + z)
		}
	}
	if in.Duration > 0 {
		part += ends / (in.Duration.Seconds() * 1e3)
	}
	return min(1, part)
}
