package trust

import (
	"time"

	"aiperf/internal/measure/stats"
)

// Inputs are what a run knows of its own doing in the measured phases.
type Inputs struct {
	// TimestampSource is where the instants of responses came from: SourceKernel, SourceUser or, if only
	// some of them came from the kernel, SourceMixed. TimestampNote says why not all did.
	TimestampSource string
	TimestampNote   string
	// StampError bounds the error of a kernel stamp's conversion to the run's clock.
	StampError time.Duration

	// Requests and Duration are those of the benchmark: completed requests, first start to last response.
	Requests int64
	Duration time.Duration
	// TargetRate is that of the plan in requests per second, 0 in closed loops; DeliveredRate is what was sent.
	TargetRate, DeliveredRate float64
	// ConcurrencyLimited is true when a cap may hold arrivals back as it was asked to.
	ConcurrencyLimited bool
	// SkippedArrivals found no slot, DroppedByCatchup were missed while the client was held up.
	SkippedArrivals, DroppedByCatchup int64
	// Together requests left at the same instant, as far apart as TogetherSpread; 0 = none were asked to.
	Together       int64
	TogetherSpread time.Duration
	// FailedForDescriptors and FailedForPorts count the requests that failed because the system had no
	// more of them.
	FailedForDescriptors, FailedForPorts int64
	// Resent counts the requests that were sent once more because the connection kept for them had ended. They have
	// no part in ToolLag and ConnectionWait.
	Resent int64

	// The distributions of nanoseconds, nil or empty where nothing was measured:
	// ScheduleLag from the intended arrival to the start of the request, AdmissionWait its part up to the
	// credit, ToolLag the rest; in closed loops ToolLag alone, from the credit.
	ScheduleLag, AdmissionWait, ToolLag *stats.Histogram
	// SendTime is from the start of a request to the end of its writing to the socket. It takes in only
	// requests that found an open connection and whose body is short (32 KiB), so that neither the set-up of
	// connections nor the network is in it.
	SendTime *stats.Histogram
	// ConnectionWait is how long a request waited until it had a connection or might open one: the limit of
	// connections and that of connects at a time hold it up.
	ConnectionWait *stats.Histogram
	// ReadLag has each request's largest, FirstReadLag that of its first response.
	ReadLag, FirstReadLag *stats.Histogram
	// CoalescedShare is the part of the content responses, 0 to 1, that share their instant with another:
	// gaps of zero over all gaps.
	CoalescedShare float64

	// Course is what the run knows of its own course.
	Course Course

	// Metrics are the headline metrics that the run has.
	Metrics []Metric
	// OutputLength is the average number of output tokens, 0 if it is not known.
	OutputLength float64
}

// The timestamp sources.
const (
	SourceKernel = "kernel"
	SourceUser   = "user"
	SourceMixed  = "mixed"
)

// Metric is a headline metric of the run.
type Metric struct {
	// Tag is one of those that have a bound: see the constants.
	Tag string
	// Avg, P50 and P99 are in milliseconds for times; a rate has its one value in all of them.
	Avg, P50, P99 float64
}

// The headline metrics, whose names are those of the metric table.
const (
	TTFT             = "time_to_first_token"
	ITL              = "inter_token_latency"
	Latency          = "request_latency"
	Throughput       = "request_throughput"
	OutputThroughput = "output_token_throughput"
)

func (in *Inputs) metric(tag string) (Metric, bool) {
	for _, m := range in.Metrics {
		if m.Tag == tag {
			return m, true
		}
	}
	return Metric{}, false
}
