package metrics

import (
	"fmt"
	"strconv"
	"strings"

	"aiperf/internal/measure/stats"
)

// Markdown returns the reference page of all metrics, made from the table.
func Markdown() string {
	var b strings.Builder
	b.WriteString(markdownIntroduction())
	b.WriteString(markdownAliases())
	for _, s := range sections {
		fmt.Fprintf(&b, "\n## %s\n\n", s.title)
		b.WriteString("| Tag and header | Kind | Unit | Order, group | Flags | Meaning | Formula | No value when |\n")
		b.WriteString("|---|---|---|---|---|---|---|---|\n")
		for i := range s.rows {
			b.WriteString(markdownRow(&s.rows[i]))
		}
		if s.title == "Jobs" {
			b.WriteString(markdownJobs)
		}
	}
	b.WriteString(markdownAccuracy())
	b.WriteString(markdownTimes())
	return b.String()
}

// markdownJobs follows the table of jobs.
const markdownJobs = `
A job is a session with all that grow out of it. Planned delays are think and tool times and the gaps of a recording. The
critical path ends with the last reply of the job and goes back from each request to the one whose end it waited for. The
figures follow TensorRT-LLM's job-level metrics (jobs per hour and user, and per GPU, in a steady window) and AgentX (agent
trees with their tool times); [jobs.md](jobs.md) defines the window, users and the path.
`

func markdownAccuracy() string {
	var b strings.Builder
	b.WriteString("\n## Graded answers\n\nWith --accuracy-benchmark ([accuracy.md](accuracy.md)): avg is the share, " +
		"sum the number, count what it is a share of.\n\n| Tag | Meaning | Formula | No value when |\n|---|---|---|---|\n")
	for _, tag := range []string{AccuracyOverall, AccuracyTask + "TASK", AccuracyUnparsed, AccuracyUnparsedTask + "TASK",
		AccuracyVaried, AccuracyFlipped} {
		d, _ := Lookup(tag)
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", tag, d.Doc, d.Formula, d.Absent)
	}
	return b.String()
}

func markdownIntroduction() string {
	needed := func(rank float64) int64 { return stats.SamplesForBounds(rank, BoundsConfidence) }
	ranks := make([]string, len(PercentileRanks))
	for i, q := range PercentileRanks {
		ranks[i] = "p" + strconv.FormatFloat(q, 'f', -1, 64)
	}
	return fmt.Sprintf(`# Metrics

<!-- Generated from the metric table by the tests of internal/measure/metrics with -update. Do not edit. -->

Every metric that a run can report, in the order of results.

- **Kind.** A *record* metric has one value per request and is reported as a distribution; an *aggregate*
  folds one number per request into a scalar; a *job* metric has one value per [job](jobs.md) and is reported as a
  distribution; a *derived* metric is computed from others; a *timeline* is a curve over the window of the run; an
  *adjusted* metric is the distribution of a record metric after a correction.
- **Statistics** of a distribution: avg, min, max, sum, std (population, ddof 0), count and the percentiles
  %s by linear interpolation (others with --percentiles). Scalars have avg
  alone. Timelines have avg, min, max, std, p50, p90, p95 and p99, weighted by time: p90 is the smallest
  value that the curve did not exceed for 90 %% of the time. A missing or infinite value is absent from JSON,
  empty in CSV and N/A on the console.
- **Bounds** of percentiles (percentile_bounds in the JSON summary): the true percentile lies between them
  with a confidence of %.0f %%. They are order statistics and assume only independent values. Chunk gaps of
  one response are not independent: the bounds of inter_chunk_latency are too narrow. A side with too few
  values is left out: p90 has an upper bound from %d values on, p99 from %d, p99.9 from %d.
- **Window** of the timelines: the phase from its start to its end, idle time included. Failed requests
  count in effective_concurrency. Requests without token counts are in no other curve.
- **Exactness.** Statistics are exact up to %d requests and %d chunk gaps. Beyond, percentiles come
  from a histogram with a relative error of at most %.3f %%; all other figures stay exact. Timelines then
  come from averages over at most %d bins of time (effective concurrency, throughput and tokens in flight
  keep an exact avg), and the lag of a replay from at most %d bins of lag.
- **No value** is not zero: a metric without any value is absent from every output. An empty last column means
  that a metric of the formula has no value.
- **Units** are those of every output, in parentheses those of computing.
- **Group** is the console table; *none* is only in the files. Order sorts the rows.
- **Time slices** follow one another from the start of the phase; a request belongs to the slice in which it
  was sent. Rates divide by the length of the slice: request_throughput × length = request_count. The last
  slice ends with the phase and then has `+"`is_complete`"+` false. A timeline of a slice counts every request in
  flight there, wherever it started; beyond the exact limits slices have none. The lag of a replay is that
  of the whole run.
- docs/gpu-telemetry.md has the figures of power and energy.
- Metrics count successful requests, those flagged ERROR_ONLY failed ones. Warm-up requests have results of
  their own.
`, strings.Join(ranks, ", "), 100*BoundsConfidence, needed(90), needed(99), needed(99.9), defaultMaxRecords, defaultMaxGaps, 100*stats.RelativeError, maxTimeBins, maxLagBins)
}

func markdownAliases() string {
	var b strings.Builder
	b.WriteString(`
## Other names

--goodput, --fail-if, --convergence-metric, aiperf gate, compare and report also take these names. Results have
only tags. What other tools call these metrics: [vllm bench](from-vllm-bench.md#metrics),
[GuideLLM](from-guidellm.md#metrics), [k6](from-k6.md#metrics), [GenAI-Perf](from-genai-perf.md#metrics).

| Name | Tag |
|---|---|
`)
	for _, a := range aliases {
		fmt.Fprintf(&b, "| `%s` | `%s` |\n", a.Name, a.Tag)
	}
	return b.String()
}

func markdownRow(d *Definition) string {
	kind := string(d.Kind)
	if d.IsList() {
		kind += ", list"
	}
	display := string(d.Display)
	if d.Display != d.Unit {
		display += " (" + string(d.Unit) + ")"
	}
	place := string(d.Group)
	if d.Order != 0 {
		place = strconv.Itoa(d.Order) + ", " + place
	}
	absent := d.Absent
	switch absent {
	case "either is missing", "any of them is missing", "no request has one":
		absent = "" // the introduction says so
	}
	cells := []string{
		"`" + d.Tag + "`<br>" + d.Header, kind, display, place,
		strings.Join(flagsOf(d.Flags), ", "), d.Doc, d.Formula, absent,
	}
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(cell, "|", "\\|")
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// flagNames are in the order of the bits.
var flagNames = [...]string{
	"STREAMING_ONLY",
	"ERROR_ONLY",
	"PRODUCES_TOKENS_ONLY",
	"TOKENIZES_INPUT_ONLY",
	"SUPPORTS_AUDIO_ONLY",
	"SUPPORTS_IMAGE_ONLY",
	"SUPPORTS_VIDEO_ONLY",
	"PRODUCES_VIDEO_ONLY",
	"SUPPORTS_REASONING",
	"LARGER_IS_BETTER",
	"INTERNAL",
	"EXPERIMENTAL",
	"GOODPUT",
	"NO_INDIVIDUAL_RECORDS",
	"USAGE_DIFF_ONLY",
	"HTTP_TRACE_ONLY",
	"PERCENTILE_INCLUDES_FAILED_REQUESTS",
	"FIXED_SCHEDULE_ONLY",
	"OPEN_LOOP_ONLY",
	"DISABLE_ON_ACCURACY",
	"OR_PRODUCES_MEDIA",
	"PRICED_ONLY",
	"PRODUCES_AUDIO_ONLY",
}

// flagsOf lists the flags by their documented names.
func flagsOf(f Flags) []string {
	var out []string
	for i, name := range flagNames {
		if f&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}
