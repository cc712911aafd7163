package metrics

import (
	"aiperf/internal/measure/record"
)

// waitingTable holds what latencies from the send leave out: the time that a request waited before it.
func waitingTable() []Definition {
	return []Definition{
		{
			Tag: "effective_latency", Header: "Effective Latency (CO-aware)", Short: "Eff Latency",
			Kind: KindRecord, Unit: Nanoseconds, Display: Milliseconds, Order: 3009, Group: GroupEffective,
			Flags:   PercentileIncludesFailedRequests | NoIndividualRecords,
			Doc:     "Time from admitting the request to its last response of any kind.",
			Formula: "request_end_ns − credit_issued_ns, at least 0",
			Absent:  "no time of admission",
			reads:   []record.Field{record.CreditIssued, record.LastResponse, record.End}, integer: effectiveLatency,
		},
		{
			Tag: "credit_to_start_latency", Header: "Credit-to-Start Latency", Short: "Credit to Start",
			Kind: KindRecord, Unit: Nanoseconds, Display: Milliseconds, Group: GroupNone,
			Flags:   NoIndividualRecords,
			Doc:     "Time inside this program from admitting the request to sending it.",
			Formula: "request_start_ns − credit_issued_ns, at least 0",
			Absent:  "no time of admission",
			reads:   []record.Field{record.CreditIssued}, integer: creditToStart,
		},
		{
			Tag: "schedule_lag", Header: "Schedule Lag", Short: "Sched Lag",
			Kind: KindRecord, Unit: Nanoseconds, Display: Milliseconds, Group: GroupNone,
			Doc: "How much later than planned the request was sent: the wait for a slot and the delay inside " +
				"this program.",
			Formula: "request_start_ns − intended_send_ns; negative when it was early",
			Absent:  "no planned time",
			reads:   []record.Field{record.IntendedSend}, integer: scheduleLag,
		},
		{
			Tag: "read_lag", Header: "Read Lag", Short: "Read Lag",
			Kind: KindRecord, Unit: Nanoseconds, Display: Milliseconds, Group: GroupNone,
			Doc:     "Longest time that received bytes waited in the kernel until this program had read them.",
			Formula: "max (read − kernel receive stamp) over the reads of the response",
			Absent:  "the kernel gave no receive stamps",
			reads:   []record.Field{record.ReadLag}, integer: fact(record.ReadLag),
		},
		{
			Tag: "request_latency_intended", Header: "Request Latency from Intended Send", Short: "Req Latency (int)",
			Kind: KindRecord, Unit: Nanoseconds, Display: Milliseconds, Group: GroupNone,
			Flags:   OpenLoopOnly,
			Doc:     "Request latency from the planned send.",
			Formula: "last content − intended_send_ns",
			Absent:  "no content response, no planned time, or a closed loop",
			reads:   []record.Field{record.IntendedSend, record.LastContent},
			integer: between(record.IntendedSend, record.LastContent),
		},
		{
			Tag: "ttft_intended", Header: "Time to First Token from Intended Send", Short: "TTFT (int)",
			Kind: KindRecord, Unit: Nanoseconds, Display: Milliseconds, Group: GroupNone,
			Flags:   StreamingTokensOnly | OpenLoopOnly,
			Doc:     "Time to first token from the planned send.",
			Formula: "first content − intended_send_ns",
			Absent:  "no content response, no planned time, or a closed loop",
			reads:   []record.Field{record.IntendedSend, record.FirstContent},
			integer: between(record.IntendedSend, record.FirstContent),
		},
	}
}

func effectiveLatency(f *record.Facts) (int64, bool) {
	issued, ok := f.Get(record.CreditIssued)
	end, _ := f.First(record.LastResponse, record.End)
	return max(0, end-issued), ok
}

func creditToStart(f *record.Facts) (int64, bool) {
	issued, ok := f.Get(record.CreditIssued)
	return max(0, -issued), ok
}

func scheduleLag(f *record.Facts) (int64, bool) {
	intended, ok := f.Get(record.IntendedSend)
	return -intended, ok
}

// errorLatency has no value where a request failed before it was sent.
func errorLatency(f *record.Facts) (int64, bool) {
	end, _ := f.First(record.End, record.LastResponse)
	return end, end > 0
}
