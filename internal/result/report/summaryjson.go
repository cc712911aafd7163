package report

import (
	"cmp"
	"context"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/recordfile"
	"aiperf/internal/result/judge"
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
	return artifact.ObjectOf(document(r, zone))
}

func document(r *summary.Result, zone *time.Location) *summary.Document {
	judged := r.Judge()
	d := &summary.Document{SchemaVersion: SchemaVersion, AIPerfVersion: r.AIPerfVersion, BenchmarkID: r.BenchmarkID,
		InputConfig: r.InputConfig, RunInfo: runInfo(r), Metadata: metadata(r), Recomputed: r.Recomputed,
		Provenance: r.Provenance, ClientHealth: r.ClientHealth, Dataset: r.Dataset,
		FinishReasons: artifact.LargestFirst(r.FinishReasons), TimeSplit: r.Times(),
		Judgement: &judged, Limits: limits(&judged),
		Bounds: PercentileBounds(r.Metrics), WasCancelled: r.WasCancelled, Incomplete: r.Incomplete,
		EndedEarly: r.EndedEarly, WarmupEndedEarly: r.WarmupEndedEarly, Errors: errorSummary(r.Errors),
		StartTime: instant(r.StartNS, zone), EndTime: instant(r.EndNS, zone),
		Branches: (*summary.BranchesDocument)(r.Branches),
	}
	d.Leading, d.Metrics = splitBlocks(r.Metrics)
	if r.Telemetry != nil {
		d.Telemetry = telemetryDocument(r.Telemetry, zone)
	}
	if r.Accuracy != nil {
		d.Accuracy = accuracyDocument(r.Accuracy)
	}
	if r.Reconciliation != nil {
		d.Reconciliation = reconciliation(r.Reconciliation)
	}
	if r.Cached != nil {
		d.PrefixCache = prefixCache(r.Cached)
	}
	if r.Twin != nil {
		d.Twin = twinDocument(r.Twin, &judged)
	}
	if r.Incomplete != "" {
		d.Complete = new(false)
	}
	if r.Warmup != nil {
		d.Warmup = append(artifact.Object{}, Blocks(r.Warmup)...)
	}
	if r.Acceptance != nil {
		d.Acceptance = recordfile.AcceptanceBuckets(r.Acceptance)
	}
	if s := r.Submission; s != nil {
		d.Reasons = append([]string{}, s.Reasons...)
	}
	return d
}

// limits are the findings on what limited the run.
func limits(j *judge.Judgement) []summary.LimitDocument {
	var out []summary.LimitDocument
	for _, l := range j.Limits() {
		out = append(out, summary.LimitDocument{Code: l.Code, Level: l.Level, Title: l.Title, Text: l.Text, Advice: l.Advice})
	}
	return out
}

// metadata says what was sent and what it counts for; nil where there is nothing to say.
func metadata(r *summary.Result) *summary.MetadataDocument {
	if r.Source == nil && r.Submission == nil {
		return nil
	}
	d := &summary.MetadataDocument{}
	if s := r.Source; s != nil {
		d.Dataset = &summary.SourceDocument{Type: "public_dataset", Loader: s.Loader, HubDataset: s.HubDataset,
			HubSplit: s.HubSplit, HubSubset: s.HubSubset, Entries: max(0, s.Entries)}
	}
	if s := r.Submission; s != nil {
		d.SubmissionDocument = &summary.SubmissionDocument{Scenario: s.Scenario, Valid: len(s.Reasons) == 0,
			Reasons: s.Reasons}
	}
	return d
}

// instant returns a time as the file has it, "" for none.
func instant(ns int64, zone *time.Location) string {
	if ns == 0 {
		return ""
	}
	if zone == nil {
		zone = time.Local
	}
	return time.Unix(0, ns).In(zone).Format(isoMicros)
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

// PercentileBounds are the confidence bounds of percentiles, by tag and percentile.
func PercentileBounds(results []metrics.Metric) (out summary.BoundsDocument) {
	for _, m := range summary.ByTag(results) {
		of := make(artifact.Map[summary.RangeDocument], 0, len(m.Bounds))
		for _, b := range m.Bounds {
			of.Add(metrics.RankKey(b.Rank), summary.RangeDocument{Low: b.Low, High: b.High})
		}
		if len(of) > 0 {
			out.Add(m.Tag, of)
		}
	}
	return out
}

func runInfo(r *summary.Result) summary.RunInfoDocument {
	d := summary.RunInfoDocument{BenchmarkID: r.BenchmarkID, RunInfo: r.RunInfo, StartNS: r.StartNS, EndNS: r.EndNS,
		CountsDocument: counts(&r.Counts)}
	d.VariationLabel = cmp.Or(d.VariationLabel, "base")
	if d.VariationValues == nil {
		d.VariationValues = artifact.Object{}
	}
	return d
}

func counts(c *summary.Counts) summary.CountsDocument {
	d := summary.CountsDocument{Sent: c.Sent, Completed: c.Completed(), Cancelled: c.CutOff, Errors: c.Errors,
		Skipped: max(0, c.Skipped)}
	if !(c.TargetRate <= 0) {
		d.RateDocument = &summary.RateDocument{SkippedArrivals: c.SkippedArrivals, DroppedByCatchup: c.DroppedByCatchup,
			TargetRate: c.TargetRate, DeliveredRate: c.DeliveredRate}
	}
	return d
}

func errorSummary(errors []summary.ErrorCount) []summary.ErrorDocument {
	list := make([]summary.ErrorDocument, len(errors))
	for i := range errors {
		list[i] = summary.ErrorDocument{Details: recordfile.ErrorObject(&errors[i].Error), Count: errors[i].Count}
	}
	return list
}
