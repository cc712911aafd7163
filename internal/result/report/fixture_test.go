package report_test

import (
	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/result/summary"
)

func scalar(tag, header, unit string, v float64) metrics.Metric {
	return metrics.Metric{Tag: tag, Header: header, Unit: unit, Stats: metrics.Stats{Avg: v}}
}

func requestLatency() metrics.Metric {
	return metrics.Metric{
		Tag: "request_latency", Header: "Request Latency", Unit: "ms", Distribution: true,
		Stats: metrics.Stats{
			Avg: 276.6666666666667, Min: 200, Max: 330, Sum: 830, Std: 55.577773335110216, Count: 3,
			Percentiles: [9]float64{202, 210, 220, 250, 300, 315, 324, 327, 329.4},
		},
	}
}

func interTokenLatency() metrics.Metric {
	return metrics.Metric{
		Tag: "inter_token_latency", Header: "Inter Token Latency", Unit: "ms", Distribution: true,
		Stats: metrics.Stats{
			Avg: 13.712876963650956, Min: 4.2105263157894735, Max: 22.22222222222222, Sum: 41.13863089095287,
			Std: 7.386692635355425, Count: 3,
			Percentiles: [9]float64{4.420433436532507, 5.260061919504643, 6.309597523219814, 9.458204334365323,
				14.705882352941176, 18.464052287581698, 20.71895424836601, 21.470588235294116, 22.0718954248366},
		},
	}
}

// result is the run of the specification's examples: three requests answered, one failed.
func result() *summary.Result {
	seed := uint64(42)
	return &summary.Result{
		Run: summary.Run{
			AIPerfVersion: "1.0.0",
			BenchmarkID:   "5f0c2f2e-7d1c-4a64-8a53-0d5c7f6d9b11",
			RunInfo: summary.RunInfo{
				RandomSeed: &seed,
				CLICommand: "aiperf profile --model 'm' --api-key '<redacted>'",
			},
			InputConfig: artifact.Object{
				{Key: "models", Value: []string{"m"}},
				{Key: "endpoint", Value: artifact.Object{
					{Key: "type", Value: "chat"},
					{Key: "urls", Value: []string{"http://localhost:8000"}},
					{Key: "streaming", Value: true},
				}},
			},
			StartNS: 1785187466347694123,
			Counts:  summary.Counts{Sent: 5, Successes: 3, Errors: 1, CutOff: 1},
		},
		Metrics: []metrics.Metric{
			scalar("total_token_throughput", "Total Token Throughput", "tokens/sec", 545.2054794520548),
			scalar("benchmark_duration", "Benchmark Duration", "sec", 0.7300000000000001),
			scalar("error_request_count", "Error Request Count", "requests", 1),
			scalar("completed_request_count", "Completed Requests (Success + Error)", "requests", 4),
			interTokenLatency(),
			scalar("output_token_throughput", "Output Token Throughput", "tokens/sec", 65.75342465753425),
			requestLatency(),
			scalar("request_count", "Request Count", "requests", 3),
			scalar("request_throughput", "Request Throughput", "requests/sec", 4.10958904109589),
		},
		Errors: []summary.ErrorCount{{
			Error: record.Error{Code: 500, HasCode: true, Type: "Internal Server Error", Message: "boom"}, Count: 1,
		}},
		EndNS: 1785187467077694123,
	}
}

// exchange is a valid record of the profiling phase.
func exchange() *record.Record {
	r := &record.Record{
		Identity: record.Identity{
			SessionNum: 0, RequestID: "r0", CorrelationID: "c0", ConversationID: "s0",
			WorkerID: "worker_1", ProcessorID: "record_processor_1", Phase: record.PhaseProfiling,
		},
		Facts: record.NewFacts(),
	}
	r.Facts[record.StartWall] = 1700000000001000000
	r.Facts[record.CreditIssued] = -1000000
	r.Facts[record.Ack] = 10000000
	r.Facts[record.LastResponse] = 305000000
	r.Facts[record.End] = 306000000
	return r
}

// failed is a record of a failed request.
func failed() *record.Record {
	r := exchange()
	r.Facts[record.Failed] = 1
	r.Err = &record.Error{Code: 500, HasCode: true, Type: "Internal Server Error", Message: `a|b, "c"`}
	return r
}
