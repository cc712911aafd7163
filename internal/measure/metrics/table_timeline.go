package metrics

// timelineRow is a curve and how it is called.
type timelineRow struct {
	tag, header, short string
	unit               Unit
	order              int
	group              Group
	flags              Flags
	curve, during      curve
	what, formula      string
}

const (
	prefillFlags = StreamingTokensOnly | TokenizesInputOnly | LargerIsBetter
	decodeFlags  = StreamingTokensOnly | LargerIsBetter
	imageFlags   = SupportsImageOnly | LargerIsBetter
)

var timelineRows = []timelineRow{
	{"effective_concurrency", "Effective Concurrency", "Eff Concurrency", Requests, 3000, GroupEffective, 0,
		concurrencyCurve, nil, "Requests in flight, failed ones included.", "1 in [start, end)"},
	{"effective_decode_throughput", "Effective Decode Throughput", "Eff Decode TPS", TokensPerSecond, 3001,
		GroupEffective, decodeFlags,
		decodeRateCurve, nil, "Output tokens per second of all requests that are being decoded.",
		"(output_sequence_length − 1) / (end − first content) in [first content, end)"},
	{"effective_prefill_throughput", "Effective Prefill Throughput", "Eff Prefill TPS", TokensPerSecond, 3002,
		GroupEffective, prefillFlags,
		prefillRateCurve, nil, "Input tokens per second of all requests that wait for their first content response.",
		"input_sequence_length / (first content − start) in [start, first content)"},
	{"effective_decode_concurrency", "Effective Decode Concurrency", "Eff Decode Conc", Requests, 3003,
		GroupEffective, StreamingTokensOnly,
		decodeCurve, nil, "Successful requests between their first content response and their end.",
		"1 in [first content, end)"},
	{"effective_prefill_concurrency", "Effective Prefill Concurrency", "Eff Prefill Conc", Requests, 3004,
		GroupEffective, StreamingTokensOnly,
		prefillCurve, nil, "Successful requests that wait for their first content response.",
		"1 in [start, first content)"},
	{"effective_total_throughput", "Effective Total Throughput", "Eff Total TPS", TokensPerSecond, 3005,
		GroupEffective, prefillFlags,
		totalRateCurve, nil, "Input and output tokens per second.",
		"effective_prefill_throughput + effective_decode_throughput"},
	{"effective_decode_throughput_per_user", "Effective Decode Throughput Per User", "Eff Decode TPS/User",
		TokensPerSecondPerUser, 3006,
		GroupEffective, decodeFlags, decodePerUserCurve, nil,
		"Output tokens per second of one request that is being decoded.",
		"effective_decode_throughput / effective_decode_concurrency at each instant, 0 where there is none"},
	{"effective_prefill_throughput_per_user", "Effective Prefill Throughput Per User", "Eff Prefill TPS/User",
		TokensPerSecondPerUser, 3007,
		GroupEffective, prefillFlags, prefillPerUserCurve, nil,
		"Input tokens per second of one request that waits for its first content response.",
		"effective_prefill_throughput / effective_prefill_concurrency at each instant, 0 where there is none"},
	{"tokens_in_flight", "Tokens In Flight", "Tokens In Flight", Tokens, 3008, GroupEffective,
		StreamingTokensOnly | TokenizesInputOnly,
		tokensCurve, nil, "Tokens that the server holds for the successful requests in flight.",
		"input_sequence_length in [start, end), and in [first content, end) 1 growing evenly to " +
			"output_sequence_length"},
	{"active_decode_throughput", "Active Decode Throughput", "Act Decode TPS", TokensPerSecond, 3100, GroupActive,
		decodeFlags,
		decodeRateCurve, decodeCurve, "Effective decode throughput while any request is being decoded.",
		"effective_decode_throughput where effective_decode_concurrency > 0"},
	{"active_prefill_throughput", "Active Prefill Throughput", "Act Prefill TPS", TokensPerSecond, 3101,
		GroupActive, prefillFlags,
		prefillRateCurve, prefillCurve,
		"Effective prefill throughput while any request waits for its first content response.",
		"effective_prefill_throughput where effective_prefill_concurrency > 0"},
	{"active_decode_throughput_per_user", "Active Decode Throughput Per User", "Act Decode TPS/User",
		TokensPerSecondPerUser, 3102,
		GroupActive, decodeFlags, decodePerUserCurve, decodeCurve,
		"Effective decode throughput per user while any request is being decoded.",
		"effective_decode_throughput_per_user where effective_decode_concurrency > 0"},
	{"active_prefill_throughput_per_user", "Active Prefill Throughput Per User", "Act Prefill TPS/User",
		TokensPerSecondPerUser, 3103,
		GroupActive, prefillFlags, prefillPerUserCurve, prefillCurve,
		"Effective prefill throughput per user while any request waits for its first content response.",
		"effective_prefill_throughput_per_user where effective_prefill_concurrency > 0"},
	{"active_total_throughput", "Active Total Throughput", "Act Total TPS", TokensPerSecond, 3104, GroupActive,
		prefillFlags,
		totalRateCurve, concurrencyCurve, "Effective total throughput while any request is in flight.",
		"effective_total_throughput where effective_concurrency > 0"},
	{"effective_image_samples_per_second", "Effective Image Samples Per Second", "Eff Images/sec", ImagesPerSecond,
		0, GroupEffective, imageFlags,
		imageRateCurve, nil, "Images per second of all successful requests in flight.",
		"num_images / (end − start) in [start, end)"},
	{"effective_image_samples_per_second_per_user", "Effective Image Samples Per Second Per User",
		"Eff Images/sec/User", ImagesPerSecondPerUser, 0,
		GroupEffective, imageFlags, imagePerUserCurve, nil, "Images per second of one request in flight.",
		"effective_image_samples_per_second / effective_concurrency at each instant, 0 where there is none"},
	{"active_image_samples_per_second", "Active Image Samples Per Second", "Act Images/sec", ImagesPerSecond, 0,
		GroupActive, imageFlags,
		imageRateCurve, concurrencyCurve, "Effective image samples per second while any request is in flight.",
		"effective_image_samples_per_second where effective_concurrency > 0"},
}

// timelineTable holds the curves over the run's window.
func timelineTable() []Definition {
	out := make([]Definition, len(timelineRows))
	for i, r := range timelineRows {
		absent := "no request, or an empty window"
		if r.during != nil {
			absent = "no such time"
		}
		if r.flags.Has(SupportsImageOnly) {
			absent = "no request had images"
		}
		out[i] = Definition{
			Tag: r.tag, Header: r.header, Short: r.short, ShortHidesUnit: r.unit != Requests &&
				r.unit != Tokens,
			Kind: KindTimeline, Unit: r.unit, Display: r.unit, Order: r.order, Group: r.group, Flags: r.flags,
			Doc: r.what, Formula: r.formula, Absent: absent,
			curve: r.curve, during: r.during,
		}
	}
	return out
}
