package report

import (
	"cmp"
	"context"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/recordfile"
	"aiperf/internal/result/summary"
)

// SchemaVersion is the version of the summary's shape. It changes when fields change.
const SchemaVersion = "1.5"

// isoMicros is local time without zone, as the published files have it.
const isoMicros = "2006-01-02T15:04:05.000000"

// SummaryJSON writes profile_export_aiperf.json.
type SummaryJSON struct {
	Path string
	// Location is the zone of start_time and end_time; nil is the local one.
	Location *time.Location
}

// Name implements Exporter.
func (SummaryJSON) Name() string { return "JSON summary" }

// Export implements Exporter.
func (s SummaryJSON) Export(_ context.Context, r *summary.Result) error {
	return artifact.WriteObject(s.Path, SummaryObject(r, s.Location))
}

// SummaryObject is the document of profile_export_aiperf.json; a nil zone is the local one.
func SummaryObject(r *summary.Result, zone *time.Location) artifact.Object {
	leading, rest := splitBlocks(r.Metrics)
	doc := artifact.Object{
		{Key: "schema_version", Value: SchemaVersion},
		{Key: "aiperf_version", Value: r.AIPerfVersion},
		{Key: "benchmark_id", Value: r.BenchmarkID},
	}
	doc = append(doc, leading...)
	if r.Telemetry != nil {
		doc = append(doc, artifact.Member{Key: "telemetry_data", Value: telemetryObject(r.Telemetry, zone)})
	}
	doc = append(doc,
		artifact.Member{Key: "input_config", Value: r.InputConfig},
		artifact.Member{Key: "run_info", Value: runInfo(r)},
	)
	if m := metadata(r); m != nil {
		doc = append(doc, artifact.Member{Key: "metadata", Value: m})
	}
	if r.Recomputed != nil {
		doc = append(doc, artifact.Member{Key: "recomputed", Value: r.Recomputed})
	}
	if r.Provenance != nil {
		doc = append(doc, artifact.Member{Key: "provenance", Value: r.Provenance})
	}
	if r.ClientHealth != nil {
		doc = append(doc, artifact.Member{Key: "client_health", Value: r.ClientHealth})
	}
	if d := r.Dataset; d != nil {
		doc = append(doc, artifact.Member{Key: "dataset", Value: artifact.Object{
			{Key: "conversations", Value: d.Conversations}, {Key: "distinct_prompts", Value: d.DistinctPrompts},
			{Key: "mean_repeats", Value: d.MeanRepeats}, {Key: "max_repeats", Value: d.MaxRepeats},
		}})
	}
	if len(r.FinishReasons) > 0 {
		doc = append(doc, artifact.Member{Key: "finish_reasons", Value: artifact.Counts(r.FinishReasons)})
	}
	if r.Accuracy != nil {
		doc = append(doc, artifact.Member{Key: "accuracy", Value: accuracyObject(r.Accuracy)})
	}
	if r.Reconciliation != nil {
		doc = append(doc, artifact.Member{Key: "reconciliation", Value: reconciliation(r.Reconciliation)})
	}
	if r.Cached != nil {
		doc = append(doc, artifact.Member{Key: "prefix_cache", Value: prefixCache(r.Cached)})
	}
	doc = append(doc, artifact.Member{Key: "limited_by", Value: findings(summary.Explain(r))})
	if bounds := PercentileBounds(r.Metrics); len(bounds) > 0 {
		doc = append(doc, artifact.Member{Key: "percentile_bounds", Value: bounds})
	}
	doc = append(doc, artifact.Member{Key: "was_cancelled", Value: r.WasCancelled})
	if r.Incomplete != "" {
		doc = append(doc, artifact.Member{Key: "is_complete", Value: false},
			artifact.Member{Key: "incomplete_reason", Value: r.Incomplete})
	}
	for _, x := range []struct {
		key   string
		early *summary.EarlyEnd
	}{{"ended_early", r.EndedEarly}, {"warmup_ended_early", r.WarmupEndedEarly}} {
		if x.early != nil {
			doc = append(doc, artifact.Member{Key: x.key, Value: artifact.Object{
				{Key: "reason", Value: x.early.Reason}, {Key: "confidence", Value: x.early.Confidence},
				{Key: "saved_seconds", Value: x.early.SavedSeconds},
			}})
		}
	}
	doc = append(doc, artifact.Member{Key: "error_summary", Value: errorSummary(r.Errors)})
	doc = appendInstant(doc, "start_time", r.StartNS, zone)
	doc = appendInstant(doc, "end_time", r.EndNS, zone)
	if r.Branches != nil {
		doc = append(doc, artifact.Member{Key: "branch_stats", Value: branchStats(r.Branches)})
	}
	if r.Warmup != nil {
		doc = append(doc, artifact.Member{Key: "warmup_metrics", Value: Blocks(r.Warmup)})
	}
	if r.Acceptance != nil {
		pooled := recordfile.AcceptanceBuckets(r.Acceptance)
		doc = append(doc, artifact.Member{Key: "pooled_spec_decode_acceptance_histogram", Value: pooled})
	}
	if s := r.Submission; s != nil {
		doc = append(doc, artifact.Member{Key: "runtime_submission_invalid_reasons",
			Value: append([]string{}, s.Reasons...)})
	}
	return append(doc, rest...)
}

// findings are what limited the run, in words.
func findings(lines []summary.Finding) []any {
	out := make([]any, 0, len(lines))
	for _, l := range lines {
		o := artifact.Object{{Key: "code", Value: l.Code}, {Key: "level", Value: string(l.Level)},
			{Key: "title", Value: l.Title}, {Key: "text", Value: l.Text}}
		if l.Advice != "" {
			o = append(o, artifact.Member{Key: "advice", Value: l.Advice})
		}
		out = append(out, o)
	}
	return out
}

// metadata says what was sent and what it counts for; nil where there is nothing to say.
func metadata(r *summary.Result) artifact.Object {
	var o artifact.Object
	if r.Source != nil {
		o = append(o, artifact.Member{Key: "dataset", Value: sourceObject(r.Source)})
	}
	if s := r.Submission; s != nil {
		o = append(o,
			artifact.Member{Key: "scenario", Value: s.Scenario},
			artifact.Member{Key: "submission_valid", Value: len(s.Reasons) == 0},
			artifact.Member{Key: "submission_invalid_reasons", Value: append([]string{}, s.Reasons...)},
		)
	}
	return o
}

func sourceObject(s *summary.Source) artifact.Object {
	o := artifact.Object{{Key: "source_type", Value: "public_dataset"}, {Key: "loader", Value: s.Loader}}
	for _, m := range []struct{ key, text string }{{"hf_dataset_name", s.HubDataset}, {"hf_split", s.HubSplit},
		{"hf_subset", s.HubSubset}} {
		if m.text != "" {
			o = append(o, artifact.Member{Key: m.key, Value: m.text})
		}
	}
	if s.Entries > 0 {
		o = append(o, artifact.Member{Key: "num_dataset_entries", Value: s.Entries})
	}
	return o
}

func appendInstant(o artifact.Object, key string, ns int64, zone *time.Location) artifact.Object {
	if ns == 0 {
		return o
	}
	if zone == nil {
		zone = time.Local
	}
	return append(o, artifact.Member{Key: key, Value: time.Unix(0, ns).In(zone).Format(isoMicros)})
}

// splitBlocks returns the metric blocks in the summary file's order: the leading ones and the others.
func splitBlocks(results []metrics.Metric) (leading, rest artifact.Object) {
	first, others := summary.OrderedBlocks(results)
	return blocks(first), blocks(others)
}

// Blocks is the object of metric blocks by tag, in the summary file's order.
func Blocks(results []metrics.Metric) artifact.Object {
	first, others := splitBlocks(results)
	return append(first, others...)
}

func blocks(results []metrics.Metric) artifact.Object {
	var out artifact.Object
	for i := range results {
		if m := &results[i]; m.Distribution || artifact.Finite(m.Stats.Avg) {
			out = append(out, artifact.Member{Key: m.Tag, Value: MetricBlock(m)})
		}
	}
	return out
}

// MetricBlock is the JSON object of one metric. A wall instant is an exact integer. Statistics that a
// metric does not have, or that are infinite, are left out; those that are not exact say so in a last
// member.
func MetricBlock(m *metrics.Metric) artifact.Object {
	block := artifact.Object{{Key: "unit", Value: m.Unit}}
	for _, f := range m.Figures() {
		value := any(f.Value)
		if f.Integer {
			value = int64(f.Value)
		}
		block = append(block, artifact.Member{Key: f.Key, Value: value})
	}
	if m.EpochNS != 0 {
		block[1].Value = m.EpochNS
	}
	if m.Method != "" && m.Method != metrics.MethodExact {
		block = append(block, artifact.Member{Key: "method", Value: string(m.Method)})
		if e := m.Method.RelativeError(); e > 0 {
			block = append(block, artifact.Member{Key: "relative_error", Value: e})
		}
	}
	return block
}

// PercentileBounds are the confidence bounds of percentiles, by tag and percentile. A side without a
// bound is left out.
func PercentileBounds(results []metrics.Metric) artifact.Object {
	var out artifact.Object
	for _, m := range summary.ByTag(results) {
		var of artifact.Object
		for _, b := range m.Bounds {
			of = append(of, artifact.Member{Key: metrics.RankKey(b.Rank),
				Value: artifact.Object{{Key: "low", Value: b.Low}, {Key: "high", Value: b.High}}})
		}
		if of != nil {
			out = append(out, artifact.Member{Key: m.Tag, Value: of})
		}
	}
	return out
}

func runInfo(r *summary.Result) artifact.Object {
	i := &r.RunInfo
	o := artifact.Object{
		{Key: "benchmark_id", Value: r.BenchmarkID},
	}
	if i.SweepID != "" {
		o = append(o, artifact.Member{Key: "sweep_id", Value: i.SweepID})
	}
	o = append(o, artifact.Member{Key: "random_seed", Value: i.RandomSeed}, artifact.Member{Key: "trial", Value: i.Trial})
	if i.RunLabel != "" {
		o = append(o, artifact.Member{Key: "run_label", Value: i.RunLabel})
	}
	o = append(o,
		artifact.Member{Key: "variation_label", Value: cmp.Or(i.VariationLabel, "base")},
		artifact.Member{Key: "variation_index", Value: i.VariationIndex},
		artifact.Member{Key: "variation_values", Value: i.VariationValues},
		artifact.Member{Key: "cli_command", Value: i.CLICommand},
	)
	if r.StartNS != 0 {
		o = append(o, artifact.Member{Key: "start_time_ns", Value: r.StartNS})
	}
	if r.EndNS != 0 {
		o = append(o, artifact.Member{Key: "end_time_ns", Value: r.EndNS})
	}
	return append(o, countMembers(&r.Counts)...)
}

// countMembers say what was sent and what was not: sent = completed + cancelled, completed = successes
// + errors + skipped. Arrivals and rates exist only where a rate was asked for.
func countMembers(c *summary.Counts) artifact.Object {
	o := artifact.Object{
		{Key: "requests_sent", Value: c.Sent},
		{Key: "requests_completed", Value: c.Completed()},
		{Key: "requests_cancelled", Value: c.CutOff},
		{Key: "request_errors", Value: c.Errors},
	}
	if c.Skipped > 0 {
		o = append(o, artifact.Member{Key: "requests_skipped", Value: c.Skipped})
	}
	if c.TargetRate <= 0 {
		return o
	}
	return append(o,
		artifact.Member{Key: "skipped_arrivals", Value: c.SkippedArrivals},
		artifact.Member{Key: "dropped_by_catchup", Value: c.DroppedByCatchup},
		artifact.Member{Key: "target_rate", Value: c.TargetRate},
		artifact.Member{Key: "delivered_rate", Value: c.DeliveredRate},
	)
}

func branchStats(b *summary.Branches) artifact.Object {
	return artifact.Object{
		{Key: "children_spawned", Value: b.ChildrenSpawned},
		{Key: "children_completed", Value: b.ChildrenCompleted},
		{Key: "children_errored", Value: b.ChildrenErrored},
		{Key: "children_truncated", Value: b.ChildrenTruncated},
		{Key: "children_delayed", Value: b.ChildrenDelayed},
		{Key: "parents_suspended", Value: b.ParentsSuspended},
		{Key: "parents_resumed", Value: b.ParentsResumed},
		{Key: "parents_failed_due_to_child_error", Value: b.ParentsFailed},
		{Key: "joins_suppressed", Value: b.JoinsSuppressed},
		{Key: "graphs_admitted", Value: b.GraphsAdmitted},
		{Key: "graphs_completed_to_end", Value: b.GraphsCompleted},
	}
}

func errorSummary(errors []summary.ErrorCount) []any {
	list := make([]any, 0, len(errors))
	for i := range errors {
		list = append(list, artifact.Object{
			{Key: "error_details", Value: recordfile.ErrorObject(&errors[i].Error)},
			{Key: "count", Value: errors[i].Count},
		})
	}
	return list
}
