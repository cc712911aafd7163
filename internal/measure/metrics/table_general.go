package metrics

import (
	"aiperf/internal/measure/record"
)

// generalTable holds what every run has.
func generalTable() []Definition {
	return []Definition{
		{
			Tag: "request_latency", Header: "Request Latency", Short: "Req Latency",
			Kind: KindRecord, Unit: Nanoseconds, Display: Milliseconds, Order: 300, Group: GroupDefault,
			Flags:   PercentileIncludesFailedRequests,
			Doc:     "Time from sending the request, connection set-up included, to its last content response.",
			Formula: "last content − start",
			Absent:  "no content response",
			reads:   []record.Field{record.LastContent}, integer: requestLatency,
		},
		{
			Tag: "request_throughput", Header: "Request Throughput", Short: "Req/sec", ShortHidesUnit: true,
			Kind: KindDerived, Unit: RequestsPerSecond, Display: RequestsPerSecond,
			Order: 900, Group: GroupDefault, Flags: LargerIsBetter,
			Doc:      "Successful requests per second of the benchmark.",
			Formula:  "request_count / benchmark_duration in seconds",
			Absent:   "either is missing",
			Requires: []string{"request_count", "benchmark_duration"},
			derive:   ratePerSecond("request_count"),
		},
		{
			Tag: "request_count", Header: "Request Count", Short: "Requests", ShortHidesUnit: true,
			Kind: KindAggregate, Unit: Requests, Display: Requests, Order: 1100, Group: GroupDefault,
			Flags:     LargerIsBetter | NoIndividualRecords,
			Doc:       "Successful requests.",
			Formula:   "Σ 1 over valid records",
			Absent:    "no request succeeded",
			increment: one,
		},
		{
			Tag: "error_request_count", Header: "Error Request Count", Short: "Error Count", ShortHidesUnit: true,
			Kind: KindAggregate, Unit: Requests, Display: Requests, Group: GroupNone,
			Flags:     ErrorOnly | NoIndividualRecords,
			Doc:       "Failed requests.",
			Formula:   "Σ 1 over error records",
			Absent:    "no request failed",
			increment: one,
		},
		{
			Tag: "min_request_timestamp", Header: "Minimum Request Timestamp", Short: "Min Req", ShortHidesUnit: true,
			Kind: KindAggregate, Unit: Nanoseconds, Display: Nanoseconds, Group: GroupNone,
			Flags:   NoIndividualRecords | Internal,
			Doc:     "Wall time of the first send of a successful request.",
			Formula: "min start over valid records, epoch nanoseconds",
			Absent:  "no request succeeded",
			fold:    foldMin,
			increment: func(o *occurrence) (int64, bool) {
				return o.Get(record.StartWall)
			},
		},
		{
			Tag: "max_response_timestamp", Header: "Maximum Response Timestamp", Short: "Max Resp",
			ShortHidesUnit: true,
			Kind:           KindAggregate, Unit: Nanoseconds, Display: Nanoseconds, Group: GroupNone,
			Flags:    NoIndividualRecords | Internal,
			Doc:      "Wall time of the last content response of any successful request.",
			Formula:  "max (start + request_latency) over valid records, epoch nanoseconds",
			Absent:   "no request succeeded",
			Requires: []string{"request_latency"},
			fold:     foldMax,
			increment: func(o *occurrence) (int64, bool) {
				latency, ok := requestLatency(o.Facts)
				start, started := o.Get(record.StartWall)
				return start + latency, ok && started
			},
		},
		{
			Tag: "benchmark_duration", Header: "Benchmark Duration", Short: "Duration", ShortHidesUnit: true,
			Kind: KindDerived, Unit: Nanoseconds, Display: Seconds, Group: GroupNone,
			Doc:      "Time from sending the first successful request to the last content response.",
			Formula:  "max_response_timestamp − min_request_timestamp",
			Absent:   "the difference is not positive",
			Requires: []string{"min_request_timestamp", "max_response_timestamp"},
			derive: func(s *scalars) (float64, bool) {
				first, started := s.exact("min_request_timestamp")
				last, ended := s.exact("max_response_timestamp")
				return float64(last - first), started && ended && last > first
			},
		},
		{
			Tag: "credit_drop_latency", Header: "Credit Drop Latency", Short: "Credit Latency",
			Kind: KindRecord, Unit: Nanoseconds, Display: Milliseconds, Group: GroupNone,
			Flags:   Internal,
			Doc:     "Time inside this program from picking up the credit to sending, first turns only.",
			Formula: "start − credit received",
			Absent:  "not the first turn of a conversation, or 0",
			reads:   []record.Field{record.CreditDrop}, integer: creditDropLatency,
		},
		{
			Tag: "completed_request_count", Header: "Completed Requests (Success + Error)", Short: "Completed",
			ShortHidesUnit: true,
			Kind:           KindDerived, Unit: Requests, Display: Requests, Order: 1075, Group: GroupDefault,
			Flags:   LargerIsBetter,
			Doc:     "Requests that ended, successful or not.",
			Formula: "request_count + error_request_count, a missing one counting as 0",
			Absent:  "no request ended",
			Uses:    []string{"request_count", "error_request_count"},
			derive: func(s *scalars) (float64, bool) {
				n := s.orZero("request_count") + s.orZero("error_request_count")
				return n, n > 0
			},
		},
		{
			Tag: "request_error_rate", Header: "Request Error Rate", Short: "Error Rate", ShortHidesUnit: true,
			Kind: KindDerived, Unit: Percent, Display: Percent, Order: 1080, Group: GroupDefault,
			Doc:      "Share of the completed requests that failed.",
			Formula:  "error_request_count / completed_request_count × 100",
			Absent:   "no request ended",
			Requires: []string{"completed_request_count"},
			Uses:     []string{"error_request_count"},
			derive: func(s *scalars) (float64, bool) {
				completed, ok := s.get("completed_request_count")
				return 100 * s.orZero("error_request_count") / completed, ok
			},
		},
		{
			Tag: "server_start_time", Header: "Server Start Time", Short: "Server Start",
			Kind: KindDerived, Unit: Nanoseconds, Display: Seconds, Group: GroupNone,
			Doc: "Time from the start of the server, where --serve-cmd started it, to its readiness. Runs that share a " +
				"server have the same.",
			Formula: "ready − started",
			Absent:  "the server was not started for the run",
			derive: func(s *scalars) (float64, bool) {
				if s.serverStart == nil {
					return 0, false
				}
				return float64(*s.serverStart), true
			},
		},
		{
			Tag: "context_overflow_count", Header: "Context Overflow Count", Short: "Context Overflows",
			ShortHidesUnit: true,
			Kind:           KindAggregate, Unit: Requests, Display: Requests, Group: GroupNone,
			Flags: ErrorOnly | NoIndividualRecords,
			Doc: "Failed requests whose error message says that the context was too long " +
				"(AIPERF_AGENTX_CONTEXT_OVERFLOW_SUBSTRINGS), and skipped ones.",
			Formula: "Σ 1 over such error records",
			Absent:  "none",
			increment: func(o *occurrence) (int64, bool) {
				return 1, o.set.isContextOverflow(o.err)
			},
			ofSkipped: true,
		},
		{
			Tag: "skipped_context_overflow_count", Header: "Skipped Context Overflow Count", Short: "Skipped Overflows",
			ShortHidesUnit: true,
			Kind:           KindAggregate, Unit: Requests, Display: Requests, Group: GroupNone,
			Flags: ErrorOnly | NoIndividualRecords,
			Doc: "Requests of an agentic replay whose context was too long. They are skipped: they count neither as " +
				"successful nor as failed, " +
				"and no other metric but context_overflow_count has them.",
			Formula: "Σ 1 over such records",
			Absent:  "none, or not an agentic replay",
			increment: func(o *occurrence) (int64, bool) {
				return 1, o.set.cfg.SkipContextOverflow && o.set.isContextOverflow(o.err)
			},
			ofSkipped: true,
		},
	}
}

// errorTable holds what failed requests tell.
func errorTable() []Definition {
	return []Definition{
		{
			Tag: "error_isl", Header: "Error Input Sequence Length", Short: "Error ISL",
			Kind: KindRecord, Unit: Tokens, Display: Tokens, Group: GroupNone,
			Flags:   TokenizesInputOnly | LargerIsBetter | ErrorOnly,
			Doc:     "Input tokens of a failed request.",
			Formula: "input tokens",
			Absent:  "the request succeeded or holds no text",
			reads:   []record.Field{record.InputTokens}, integer: inputLength,
		},
		{
			Tag: "error_latency", Header: "Error Latency", Short: "Error Latency",
			Kind: KindRecord, Unit: Nanoseconds, Display: Milliseconds, Group: GroupNone,
			Flags: ErrorOnly | NoIndividualRecords,
			Doc: "Time from sending a request that failed to its failure; request_latency has the successful " +
				"ones only.",
			Formula: "end − start",
			Absent:  "no request failed",
			reads:   []record.Field{record.End, record.LastResponse}, integer: errorLatency,
		},
		total("total_error_isl", "Total Error Input Sequence Length", "Total Error ISL", "error_isl",
			TokenizesInputOnly|LargerIsBetter|ErrorOnly),
	}
}

// goodputTable holds what service level objectives decide.
func goodputTable() []Definition {
	return []Definition{
		{
			Tag: "good_request_count", Header: "Good Request Count", Short: "Good Requests", ShortHidesUnit: true,
			Kind: KindAggregate, Unit: Requests, Display: Requests, Group: GroupNone,
			Flags:   GoodputOnly,
			Doc:     "Successful requests that met every service level objective.",
			Formula: "Σ [every objective has a value and passes, limits included]",
			Absent:  "no request succeeded, or no --goodput",
			increment: func(o *occurrence) (int64, bool) {
				return count(o.set.isGood(o.Facts)), true
			},
		},
		{
			Tag: "good_request_fraction", Header: "Good Request Fraction", Short: "Good Fraction",
			Kind: KindDerived, Unit: Ratio, Display: Ratio, Group: GroupNone,
			Flags:   GoodputOnly | LargerIsBetter,
			Doc:     "Share of all attempted requests, failed ones included, that were good.",
			Formula: "good_request_count / (request_count + error_request_count), 0 when nothing was attempted",
			Absent:  "no --goodput",
			Uses:    []string{"good_request_count", "request_count", "error_request_count"},
			derive: func(s *scalars) (float64, bool) {
				attempted := s.orZero("request_count") + s.orZero("error_request_count")
				if attempted == 0 {
					return 0, true
				}
				return s.orZero("good_request_count") / attempted, true
			},
		},
		{
			Tag: "goodput", Header: "Goodput", Short: "Goodput", ShortHidesUnit: true,
			Kind: KindDerived, Unit: RequestsPerSecond, Display: RequestsPerSecond,
			Order: 1000, Group: GroupDefault, Flags: GoodputOnly,
			Doc:      "Good requests per second of the benchmark.",
			Formula:  "good_request_count / benchmark_duration in seconds",
			Absent:   "no --goodput, or either is missing",
			Requires: []string{"good_request_count", "benchmark_duration"},
			derive:   ratePerSecond("good_request_count"),
		},
	}
}

func one(*occurrence) (int64, bool) { return 1, true }
