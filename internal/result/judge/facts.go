package judge

import (
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/timesplit"
	"aiperf/internal/measure/twin"
	"aiperf/internal/watch/gpu"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/trust"
)

// Facts are what is known of a run. What is not known is the zero value.
type Facts struct {
	// Running reports that the run goes on.
	Running bool
	// FileOnly reports that no more is known of the run than a summary that was written without a judgement.
	FileOnly bool
	// Incomplete is the reason why the figures cover only a part; Cancelled reports that the run was stopped early, Early
	// says why it ended before its stop condition was met.
	Incomplete string
	Cancelled  bool
	Early      string
	// The requests that ended, by outcome.
	Successes, Failed, Skipped int64
	// SkippedArrivals found no free slot. The rates are those of a plan of arrivals in requests per second, 0 without one.
	SkippedArrivals           int64
	TargetRate, DeliveredRate float64
	// Failures are the kinds of errors.
	Failures []Failure
	// Concurrency and PrefillConcurrency are what was asked for, 0 if there is no limit, or several.
	Concurrency, PrefillConcurrency float64
	// Streamed reports that replies were asked for as streams, SeveralPhases that there is more than one profiling phase.
	Streamed, SeveralPhases bool
	// Metrics are the figures of the profiling phase.
	Metrics []metrics.Metric
	// Trend is how the load changed while requests were sent.
	Trend *metrics.Trend
	// Client is the report on the client itself; its verdict is "" where nobody observed it.
	Client trust.Document
	// Servers is how busy the servers were.
	Servers *servermetrics.Load
	// Times is where the time of requests went.
	Times *timesplit.Times
	// Devices are what may have slowed GPUs down.
	Devices []gpu.Condition
	// MeanRepeats is how often each prompt was sent; 0 = not known.
	MeanRepeats float64
	// Cached is how much of the prompts came from the server's prefix cache.
	Cached *servermetrics.Cached
	// Twin compares a recording that was played with its replay.
	Twin []twin.Row
}

// Failure is a kind of errors.
type Failure struct {
	// Name is the code of the server, if there is one, and the type.
	Name  string
	Code  int
	Count int64
	// Message is that of the first of them.
	Message string
}

// Ended returns the number of requests that ended.
func (f *Facts) Ended() int64 { return f.Successes + f.Failed + f.Skipped }

// Value returns the average of a metric, which for a scalar metric is its value; false without a value.
func (f *Facts) Value(tag string) (float64, bool) {
	return metrics.Average(f.Metrics, tag)
}
