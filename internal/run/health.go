package run

import (
	"maps"
	"sync"
	"time"

	"aiperf/internal/base/neterr"
	"aiperf/internal/load"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
	"aiperf/internal/result/summary"
	"aiperf/internal/run/plan"
	"aiperf/internal/run/remote"
	"aiperf/internal/watch/trust"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/intake"
)

// shortBody is the length of a body up to which a write to the socket does not wait for the network.
const shortBody = 32 << 10

// boundedMetrics are the metrics for which the client's share has a bound, headlines those that the verdict on the client
// depends on.
var (
	boundedMetrics = []string{trust.TTFT, trust.ITL, trust.Latency, trust.Throughput, trust.OutputThroughput}
	headlines      = append([]string{"benchmark_duration", "output_sequence_length"}, boundedMetrics...)
)

// clientHealth collects what this program itself may have distorted: how late requests were sent and responses were
// read. Its methods take profiling exchanges, from any goroutine.
type clientHealth struct {
	passive
	*base
	// stamps says where the instants of responses come from, as far as that is known by then.
	stamps func() client.StampSource
	// remote is the load where it is made elsewhere, nil where it is made here.
	remote *remote.Load
	watch  *trust.Watch
	// course returns what the run observed of its own course, given its result.
	course func(*summary.Result) trust.Course

	mu                                    sync.Mutex
	schedule, admission, tool, wait, send stats.Histogram
	read, firstRead                       stats.Histogram
	kernelStamped, userStamped            int64
	withoutDescriptor, withoutPort        int64
	resent                                int64
	gaps, sharedInstants                  int64
	replies                               trust.Replies
	first                                 []firstRequest // by number
}

// firstRequests is the number of requests at the start of the load whose times are kept.
const firstRequests = 256

// firstRequest has the times of a request in milliseconds; a negative one is unknown.
type firstRequest struct{ ttft, latency float64 }

// exchange adds a finished exchange.
func (h *clientHealth) exchange(c *load.Credit, j *intake.Job) {
	ex := &j.Exchange
	h.mu.Lock()
	defer h.mu.Unlock()
	if c.IntendedNS != 0 {
		h.schedule.Add(float64(ex.StartNS - c.IntendedNS))
		h.admission.Add(float64(c.IssuedNS - c.IntendedNS))
	}
	h.resent += ex.Resends
	if ex.Resends == 0 { // else the server held it up
		h.tool.Add(float64(ex.StartNS - c.IssuedNS))
		h.wait.Add(float64(max(0, ex.Timing.Blocked)))
	}
	if ex.Timing.Reused == 1 && ex.Timing.Blocked == 0 && ex.SentNS != 0 && j.Body != nil &&
		len(j.Body.Bytes) <= shortBody {
		h.send.Add(float64(ex.SentNS - ex.StartNS))
	}
	if ex.StampedReads > 0 {
		h.read.Add(float64(ex.ReadLagNS))
		h.firstRead.Add(float64(ex.FirstReadLagNS))
	}
	switch {
	case ex.Reads == 0:
	case ex.KernelStamps:
		h.kernelStamped++
	default:
		h.userStamped++
	}
	switch ex.Shortage {
	case neterr.Descriptors:
		h.withoutDescriptor++
	case neterr.Ports:
		h.withoutPort++
	}
}

// fact adds what the record of a profiling request says of an exchange that was made elsewhere.
func (h *clientHealth) fact(r *record.Record) {
	issued, _ := r.Get(record.CreditIssued)
	intended, planned := r.Get(record.IntendedSend)
	blocked, _ := r.Get(record.Blocked)
	lag, stamped := r.Get(record.ReadLag)
	_, answered := r.Get(record.LastResponse)
	h.mu.Lock()
	defer h.mu.Unlock()
	if planned {
		h.schedule.Add(float64(-intended))
		h.admission.Add(float64(issued - intended))
	}
	h.tool.Add(float64(-issued))
	h.wait.Add(float64(max(0, blocked)))
	switch {
	case stamped:
		h.read.Add(float64(lag))
		h.kernelStamped++
	case answered:
		h.userStamped++
	}
}

// record adds a record of the profiling phases.
func (h *clientHealth) record(r *record.Record) {
	if r.Phase == record.PhaseWarmup {
		return
	}
	shared := int64(0)
	for _, gap := range r.GapsNS {
		if gap == 0 {
			shared++
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gaps += int64(len(r.GapsNS))
	h.sharedInstants += shared
	h.replies.Count(&r.Facts, !client.AcknowledgesAtOnce)
	h.replies.Come(&r.Reply, &r.Facts)
	if n := r.SessionNum; r.ProfilingIndex == 0 && n < firstRequests && !r.IsError() {
		for int64(len(h.first)) <= n {
			h.first = append(h.first, firstRequest{-1, -1})
		}
		h.first[n] = firstRequest{milliseconds(r, record.FirstContent), milliseconds(r, record.LastContent)}
	}
}

// milliseconds returns a fact of a record that is a time; negative if it has none.
func milliseconds(r *record.Record, f record.Field) float64 {
	if ns, ok := r.Get(f); ok {
		return float64(ns) / 1e6
	}
	return -1
}

// firstRequests returns the times of the first requests: to the first token with streaming, else to the end.
func (h *clientHealth) firstRequests(streaming bool) trust.FirstRequests {
	h.mu.Lock()
	defer h.mu.Unlock()
	first := trust.FirstRequests{Tag: trust.Latency}
	if streaming {
		first.Tag = trust.TTFT
	}
	for _, f := range h.first {
		value := f.latency
		if streaming {
			value = f.ttft
		}
		first.Values = append(first.Values, value)
	}
	return first
}

// endings returns how many replies ended for each reason so far.
func (h *clientHealth) endings() map[string]int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.replies.Endings)
}

// requestsResent returns how many requests were sent again on another connection.
func (h *clientHealth) requestsResent() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.resent
}

// inputs returns what is known without the results; the lock is held.
func (h *clientHealth) inputs(counts *summary.Counts, barrier load.Barrier) *trust.Inputs {
	in := &trust.Inputs{
		TimestampSource: h.source(), TimestampNote: h.stamps().Reason, StampError: record.InstantError,
		Requests:   counts.Completed(),
		TargetRate: counts.TargetRate, DeliveredRate: counts.DeliveredRate,
		SkippedArrivals: counts.SkippedArrivals, DroppedByCatchup: counts.DroppedByCatchup,
		Together: int64(barrier.Released), TogetherSpread: barrier.Spread(),
		FailedForDescriptors: h.withoutDescriptor, FailedForPorts: h.withoutPort, Resent: h.resent,
		ScheduleLag: &h.schedule, AdmissionWait: &h.admission, ToolLag: &h.tool, ConnectionWait: &h.wait,
		SendTime: &h.send,
		ReadLag:  &h.read, FirstReadLag: &h.firstRead,
	}
	if h.gaps > 0 {
		in.CoalescedShare = float64(h.sharedInstants) / float64(h.gaps)
	}
	return in
}

// soFar returns the report during the run: there is no verdict without results.
func (h *clientHealth) soFar(r *summary.Run, barrier load.Barrier) *trust.Report {
	seen := h.watch.SoFar()
	h.mu.Lock()
	defer h.mu.Unlock()
	return trust.Unjudged(&seen, h.inputs(&r.Counts, barrier))
}

// judge returns the report on the client, given the results of a run, or those so far.
func (h *clientHealth) judge(
	seen trust.Health, r *summary.Result, barrier load.Barrier, course trust.Course,
) *trust.Report {
	if h.remote != nil {
		seen = trust.Unobserved(seen.Duration)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	in := h.inputs(&r.Counts, barrier)
	in.ConcurrencyLimited, in.Course = plan.Limited(h.cfg), course
	in.Course.Replies = h.replies
	if m, ok := r.Find("benchmark_duration"); ok {
		in.Duration = time.Duration(m.Stats.Avg * float64(time.Second))
	}
	if m, ok := r.Find("output_sequence_length"); ok {
		in.OutputLength = m.Stats.Avg
	}
	for _, tag := range boundedMetrics {
		m, ok := r.Find(tag)
		if !ok {
			continue
		}
		metric := trust.Metric{Tag: tag, Avg: m.Stats.Avg, P50: m.Stats.Avg, P99: m.Stats.Avg}
		if m.Distribution {
			metric.P50, metric.P99 = m.Stats.Percentiles.At(50), m.Stats.Percentiles.At(99)
		}
		in.Metrics = append(in.Metrics, metric)
	}
	return trust.Judge(&seen, in)
}

func (h *clientHealth) source() string {
	switch {
	case h.kernelStamped == 0:
		return trust.SourceUser
	case h.userStamped == 0:
		return trust.SourceKernel
	}
	return trust.SourceMixed
}

// begin discards the observations before the first profiling phase.
func (h *clientHealth) begin() { h.watch.Restart() }

func (h *clientHealth) close() { h.watch.Stop() }

// finish adds the report on the client to the result.
func (h *clientHealth) finish(out *ended) error {
	report := h.judge(h.watch.Stop(), &out.Result, together(out.Phases), h.course(&out.Result))
	for _, p := range h.remote.Judged() {
		report.Include(p.Name, p.Reasons, p.Bounds)
	}
	if !h.options.isShare() { // the run that it belongs to says it
		for _, w := range report.Warnings() {
			h.log.Warn(w)
		}
	}
	out.Result.ClientHealth = report.Object()
	lines := report.Lines()
	out.shown.Notes = append(lines[:], report.Notes()...)
	if r := out.Result.Reconciliation; r != nil && len(r.Causes) == 0 {
		out.shown.Notes = append(out.shown.Notes, r.Line())
	}
	out.Verdict, out.Client = report.Verdict, report
	return nil
}
