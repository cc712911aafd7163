package web

import (
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/publish/progress"
)

// The states of the program, as the API says them.
const (
	systemInitializing = "initializing"
	systemConfiguring  = "configuring"
	systemReady        = "ready"
	systemProfiling    = "profiling"
	systemProcessing   = "processing"
	systemStopping     = "stopping"
	systemShutdown     = "shutdown"
)

func systemOf(stage progress.Stage) string {
	switch stage {
	case progress.Starting:
		return systemReady
	case progress.Exporting:
		return systemProcessing
	case progress.Done:
		return systemStopping
	}
	return systemProfiling
}

func (v *View) configDocument() artifact.Object {
	if v.run == nil || v.run.Config == nil {
		return artifact.Object{}
	}
	return v.run.Config
}

func (v *View) runDocument() artifact.Object {
	if v.run == nil || v.run.Info == nil {
		return artifact.Object{}
	}
	return v.run.Info
}

// known returns a number, or nil for 0.
func known(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

// percent returns how much of a whole is done; nil where that is not known.
func percent(part, whole int64) any {
	if whole == 0 {
		return nil
	}
	return 100 * float64(part) / float64(whole)
}

// phaseStats is a phase in the terms of the API. Members without a value are null.
func (v *View) phaseStats(p *progress.Phase) artifact.Object {
	at := v.starts[p.Index]
	if at == nil {
		at = &phaseStart{}
	}
	var kindIndex any
	plan := progress.Plan{}
	if p.Index < len(v.run.Phases) {
		plan = v.run.Phases[p.Index]
		if p.Kind == progress.ProfilingKind {
			n := 0
			for _, before := range v.run.Phases[:p.Index] {
				if before.Kind == p.Kind {
					n++
				}
			}
			kindIndex = n
		}
	}
	finished := p.RequestsCompleted + p.RequestsCancelled
	final := func(n int64, over bool) any {
		if !over {
			return nil
		}
		return n
	}
	sent := p.State == progress.PhaseSendingComplete || p.State == progress.PhaseComplete
	over := p.State == progress.PhaseComplete
	seconds := any(nil)
	if p.ExpectedDuration > 0 {
		seconds = p.ExpectedDuration.Seconds()
	}
	grace := any(nil)
	if plan.Grace != nil {
		grace = plan.Grace.Seconds()
	}
	// The records are counted for all profiling phases together.
	ok, failed := p.RequestsCompleted-p.RequestErrors, p.RequestErrors
	if p.Kind == progress.ProfilingKind && len(v.run.Profiling()) == 1 {
		ok, failed = v.snapshot.Records.Successes, v.snapshot.Records.Errors
	}
	var progressPercent any
	if p.Progress >= 0 {
		progressPercent = 100 * p.Progress
	}
	expectedRecords := p.ExpectedRequests
	if over {
		expectedRecords = p.RequestsCompleted
	}
	recordsEnd := any(nil)
	if over && ok+failed >= p.RequestsCompleted {
		recordsEnd = known(at.endNS)
	}
	return artifact.Object{
		member("phase", p.Kind), member("phase_index", p.Index), member("profiling_index", kindIndex),
		member("phase_name", p.Name), member("phase_kind", p.Kind),
		member("start_ns", known(at.startNS)), member("sent_end_ns", known(at.sentEndNS)),
		member("requests_end_ns", known(at.endNS)), member("baseline_start_ns", nil), member("baseline_end_ns", nil),
		member("total_expected_requests", known(p.ExpectedRequests)), member("expected_duration_sec", seconds),
		member("expected_num_sessions", known(p.ExpectedSessions)), member("expected_grace_period_sec", grace),
		member("final_requests_sent", final(p.RequestsSent, sent)),
		member("final_requests_completed", final(p.RequestsCompleted, over)),
		member("final_requests_cancelled", final(p.RequestsCancelled, over)),
		member("final_request_errors", final(p.RequestErrors, over)),
		member("final_sent_sessions", final(p.SentSessions, sent)),
		member("final_completed_sessions", final(p.CompletedSessions, over)),
		member("final_cancelled_sessions", final(p.CancelledSessions, over)),
		member("timeout_triggered", p.TimeoutTriggered),
		member("grace_period_timeout_triggered", p.GracePeriodTimeoutTriggered),
		member("was_cancelled", p.WasCancelled),
		member("requests_sent", p.RequestsSent), member("requests_completed", p.RequestsCompleted),
		member("requests_cancelled", p.RequestsCancelled), member("request_errors", p.RequestErrors),
		member("sent_sessions", p.SentSessions), member("completed_sessions", p.CompletedSessions),
		member("cancelled_sessions", p.CancelledSessions), member("total_session_turns", p.TotalSessionTurns),
		member("in_flight_requests", p.RequestsInFlight()), member("in_flight_sessions", p.SessionsInFlight()),
		member("requests_elapsed_time", p.Elapsed.Seconds()), member("requests_progress_percent", progressPercent),
		member("requests_error_percent", percent(p.RequestErrors, p.RequestsCompleted)),
		member("records_end_ns", recordsEnd), member("success_records", ok), member("error_records", failed),
		member("total_records", ok+failed), member("records_elapsed_time", p.Elapsed.Seconds()),
		member("records_progress_percent", percent(ok+failed, expectedRecords)),
		member("records_error_percent", percent(failed, ok+failed)),
		member("requests_per_second", rate(finished, p.Elapsed)),
		member("records_per_second", rate(ok+failed, p.Elapsed)),
		member("requests_eta_sec", eta(progressPercent, p.Elapsed, over)),
		member("records_eta_sec", eta(percent(ok+failed, expectedRecords), p.Elapsed, over)),
		member("last_update_ns", v.snapshot.At.UnixNano()),
	}
}

// rate returns what is finished per second; nil until something is.
func rate(n int64, elapsed time.Duration) any {
	if n == 0 || elapsed <= 0 {
		return nil
	}
	return float64(n) / elapsed.Seconds()
}

// eta returns the time that is left at the pace so far; nil until there is progress.
func eta(percent any, elapsed time.Duration, over bool) any {
	if over {
		return 0.0
	}
	done, _ := percent.(float64)
	if done <= 0 || elapsed <= 0 {
		return nil
	}
	return max(0, 100-done) / (done / elapsed.Seconds())
}

func (v *View) progressDocument() artifact.Object {
	phases := artifact.Object{}
	if v.snapshot != nil {
		for i := range v.snapshot.Phases {
			if p := &v.snapshot.Phases[i]; p.State != progress.PhaseCreated {
				phases = append(phases, member(p.Name, v.phaseStats(p)))
			}
		}
	}
	ready := 0
	if v.run != nil {
		ready = 1
	}
	return artifact.Object{member("phases", phases), member("workers", artifact.Object{
		member("ready", ready), member("total", 1), member("dispatchable", ready), member("router_connected", ready),
		member("ready_record_processors", ready), member("declared_record_processors", 1), member("ready_pods", 0),
		member("total_pods", 0), member("degraded_pods", 0)}),
		member("results_exported", v.ending != nil), member("system_state", v.system)}
}

// workerID is the name of this process among the workers.
var workerID = "worker_" + strconv.Itoa(os.Getpid())

// workerStatus is healthy, or error when a tenth of the requests fail, as in the original.
func (v *View) workerStatus() string {
	switch total, failed := v.requests(); {
	case v.run == nil || total == 0:
		return "idle"
	case failed*10 > total:
		return "error"
	case v.snapshot.Client != nil && v.snapshot.Client.Verdict == "client_limited":
		return "high_load"
	}
	return "healthy"
}

// requests counts the requests of all phases that completed, and those that failed.
func (v *View) requests() (total, failed int64) {
	if v.snapshot == nil {
		return 0, 0
	}
	for i := range v.snapshot.Phases {
		total += v.snapshot.Phases[i].RequestsCompleted
		failed += v.snapshot.Phases[i].RequestErrors
	}
	return total, failed
}

// clientFigure returns a figure of the client, NaN if it is not known.
func (v *View) clientFigure(name string) float64 {
	if v.snapshot != nil && v.snapshot.Client != nil {
		for _, f := range v.snapshot.Client.Figures {
			if f.Name == name {
				return f.Value
			}
		}
	}
	return math.NaN()
}

// health is the process in the terms of the API; what the system does not tell is left out.
func (v *View) healthObject() artifact.Object {
	cpu, memory := v.clientFigure("client_cpu_ratio"), v.clientFigure("client_resident_memory_peak_bytes")
	cores := v.clientFigure("client_cpu_quota_cores")
	return artifact.Object{member("pid", os.Getpid()),
		member("create_time", float64(v.started.UnixMilli())/1e3), member("uptime", time.Since(v.started).Seconds()),
		member("cpu_usage", 100*cpu*cores), member("memory_usage", memory)}
}

func (v *View) taskObject() artifact.Object {
	var sent, inFlight int64
	if v.snapshot != nil {
		for i := range v.snapshot.Phases {
			sent += v.snapshot.Phases[i].RequestsSent
			inFlight += v.snapshot.Phases[i].RequestsInFlight()
		}
	}
	total, failed := v.requests()
	return artifact.Object{member("total", sent), member("failed", failed), member("completed", total-failed),
		member("in_progress", inFlight)}
}

func (v *View) processingObject() artifact.Object {
	var r progress.Records
	if v.snapshot != nil {
		r = v.snapshot.Records
	}
	return artifact.Object{member("success_records", r.Successes), member("error_records", r.Errors),
		member("total_records", r.Requests()), member("processed", r.Requests()), member("errors", r.Errors)}
}

func (v *View) startupState() string {
	switch {
	case v.finished:
		return "shutting_down"
	case v.run == nil:
		return "starting"
	}
	return "ready"
}

// groupID is the name of the only group of workers.
const groupID = "local"

func (v *View) workerObjects() artifact.Object {
	worker := artifact.Object{member("worker_id", workerID), member("task_stats", v.taskObject()),
		member("processing_stats", v.processingObject()), member("health", v.healthObject()),
		member("status", v.workerStatus()), member("startup_state", v.startupState()),
		member("startup_state_updated_ns", nil), member("last_update_ns", v.updatedNS())}
	return artifact.Object{member(workerID, worker)}
}

// updatedNS is when the newest snapshot was taken; nil before the first.
func (v *View) updatedNS() any {
	if v.snapshot == nil {
		return nil
	}
	return v.snapshot.At.UnixNano()
}

func (v *View) groupObject() artifact.Object {
	return artifact.Object{member("group_id", groupID), member("status", v.workerStatus()),
		member("startup_state", v.startupState()), member("declared_workers", 1), member("ready_workers", 1),
		member("health", nil), member("task_stats", v.taskObject()), member("workers", v.workerObjects()),
		member("last_update_ns", v.updatedNS())}
}

func (v *View) workersDocument() artifact.Object {
	return artifact.Object{member("workers", v.workerObjects()),
		member("worker_groups", artifact.Object{member(groupID, v.groupObject())})}
}

// results are the newest figures: the final ones after the end.
func (v *View) results() []metrics.Metric {
	switch {
	case v.ending != nil && v.ending.HasResults:
		return v.ending.Metrics
	case v.snapshot != nil && v.snapshot.Figures != nil:
		return v.snapshot.Figures.Metrics
	}
	return nil
}

// statistics are the figures of a metric, by their keys in files.
func statistics(r *metrics.Metric) artifact.Object {
	o := artifact.Object{}
	for _, f := range r.Figures() {
		switch {
		case !artifact.Finite(f.Value):
		case f.Integer:
			o = append(o, member(f.Key, int64(f.Value)))
		default:
			o = append(o, member(f.Key, f.Value))
		}
	}
	return o
}

// public reports whether a metric leaves the program.
func public(r *metrics.Metric) bool {
	return !r.Flags.Has(metrics.Internal) && !r.Flags.Has(metrics.Experimental)
}

// common returns the value that all profiling phases have; "" where there is none.
func common(run *progress.Run, of func(*progress.Plan) string) string {
	var list []string
	for _, p := range run.Profiling() {
		list = append(list, of(&p))
	}
	if all := slices.Compact(list); len(all) == 1 {
		return all[0]
	}
	return ""
}

func concurrencyOf(run *progress.Run) string {
	return common(run, func(p *progress.Plan) string {
		if p.Concurrency == nil {
			return ""
		}
		return strconv.Itoa(*p.Concurrency)
	})
}

func rateOf(run *progress.Run) string {
	return common(run, func(p *progress.Plan) string {
		if p.Rate <= 0 {
			return ""
		}
		return strconv.FormatFloat(p.Rate, 'g', -1, 64)
	})
}

func modelsOf(run *progress.Run) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(run.Models))), ",")
}

func (v *View) metricsDocument() artifact.Object {
	list := artifact.Object{}
	results := v.results()
	for i := range results {
		if r := &results[i]; public(r) {
			list = append(list, member(r.Tag, append(artifact.Object{member("header", r.Header),
				member("unit", r.Unit)},
				statistics(r)...)))
		}
	}
	o := artifact.Object{member("aiperf_version", v.o.Version)}
	if v.run == nil {
		return append(o, member("metrics", list))
	}
	number := func(text string) any {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return n
		}
		return nil
	}
	return append(o, member("benchmark_id", v.run.BenchmarkID), member("model", modelsOf(v.run)),
		member("endpoint_type", v.run.EndpointType), member("streaming", v.run.Streaming),
		member("concurrency", number(concurrencyOf(v.run))), member("request_rate", number(rateOf(v.run))),
		member("metrics", list))
}

// serversDocument has the newest figures of all servers together.
func (v *View) serversDocument() artifact.Object {
	figures := artifact.Object{}
	if v.snapshot != nil && v.snapshot.Figures != nil {
		for _, f := range v.snapshot.Figures.Servers {
			figures = append(figures, member(f.Name, f.Value))
		}
	}
	o := artifact.Object{member("endpoint_summaries", artifact.Object{})}
	if len(figures) == 0 {
		return append(o, member("message", "There are no figures of the servers so far."))
	}
	return append(o, member("snapshot", figures))
}

// status is how the runs stand or ended.
func (v *View) status() string {
	switch {
	case v.ending == nil:
		return "running"
	case v.ending.Cancelled:
		return "cancelled"
	case v.ending.Failed || !v.ending.HasResults:
		return "incomplete"
	}
	return "complete"
}

func (v *View) resultsDocument() artifact.Object {
	o := artifact.Object{member("status", v.status())}
	if v.ending == nil || !v.ending.HasResults {
		return append(o, member("results", nil))
	}
	return append(o, member("results", v.resultsObject()))
}

// resultsObject are the results of the run that has ended.
func (v *View) resultsObject() artifact.Object {
	records := []any{}
	for i := range v.ending.Metrics {
		if r := &v.ending.Metrics[i]; public(r) {
			records = append(records, append(append(artifact.Object{member("unit", r.Unit)}, statistics(r)...),
				member("tag", r.Tag), member("header", r.Header)))
		}
	}
	errors := []any{}
	for _, e := range v.snapshot.Errors {
		errors = append(errors, artifact.Object{member("error_details", artifact.Object{member("code", e.Code),
			member("type", e.Type), member("message", e.Message)}), member("count", e.Count)})
	}
	var start, end any
	for i := range v.snapshot.Phases {
		p := &v.snapshot.Phases[i]
		if at := v.starts[p.Index]; at != nil && p.Kind == progress.ProfilingKind {
			if start == nil {
				start = known(at.startNS)
			}
			end = known(at.endNS)
		}
	}
	r := v.snapshot.Records
	return artifact.Object{member("records", records), member("completed", v.ending.Completed),
		member("start_ns", start), member("end_ns", end), member("was_cancelled", v.ending.Cancelled),
		member("is_complete", !v.ending.Cancelled && !v.ending.Failed),
		member("successful_request_count", r.Successes), member("error_request_count", r.Errors),
		member("error_summary", errors), member("context_overflow_count", r.Skipped)}
}

func (v *View) datasetDocument() artifact.Object {
	id, conversations := "", 0
	if v.run != nil {
		id, conversations = v.run.BenchmarkID, v.run.Conversations
	}
	return artifact.Object{member("ready", false), member("benchmark_generation", id),
		member("dataset_generation", nil), member("conversation_count", conversations), member("total_size_bytes", 0),
		member("data_url", "/api/dataset/data"),
		member("index_url", "/api/dataset/index")}
}

func (v *View) podsDocument() artifact.Object {
	return artifact.Object{member("pod_count", 0), member("pods", artifact.Object{}),
		member("snapshot_time_ns", time.Now().UnixNano()), member("source", "controller")}
}

func (v *View) startupDocument() artifact.Object {
	ready := 0
	if v.startupState() == "ready" {
		ready = 1
	}
	return artifact.Object{member("worker_count", 1),
		member("workers", artifact.Object{member(workerID, v.startupState())}),
		member("ready_count", ready), member("snapshot_time_ns", time.Now().UnixNano()), member("source", "controller")}
}
