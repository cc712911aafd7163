package run

import (
	"aiperf/internal/measure/metrics"
	"aiperf/internal/publish/progress"
	"aiperf/internal/result/judge"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/trust"
)

// judgedMetrics are the metrics by which a run that goes on is judged, beside the headlines.
var judgedMetrics = []string{"good_request_fraction", "good_job_fraction", "effective_concurrency", "effective_prefill_concurrency"}

// judgementSoFar judges a run that goes on: by its figures, the report on its client and what the servers say now.
func (f *followers) judgementSoFar(r *summary.Result, more []metrics.Metric, client *trust.Report) *progress.Judgement {
	if client.Inputs.Requests == 0 {
		return nil
	}
	so := *r
	so.Metrics = append(append([]metrics.Metric{}, r.Metrics...), more...)
	so.ClientHealth, so.InputConfig = client.Object(), f.input
	so.Errors = f.records.profiling.Errors()
	if f.servers != nil {
		live := f.servers.collector.Store().Live(nil)
		so.Servers = live.Load()
	}
	facts := so.Facts()
	facts.Running = true
	j := judge.Judge(&facts)
	return judgementOf(&j)
}

// judgementOf is a judgement as observers see it: what became of the requests, what limits the run, and the client.
func judgementOf(j *judge.Judgement) *progress.Judgement {
	out := &progress.Judgement{State: j.State.Code, Level: string(j.State.Level), Title: j.State.Title}
	for _, l := range j.Findings {
		if l.Kind == judge.Reliance && l.Code != judge.CodeDoubtful || l.Code == judge.CodeComplete {
			continue
		}
		out.Findings = append(out.Findings, progress.Judged{Code: l.Code, Kind: string(l.Kind), Level: string(l.Level),
			Title: l.Title, Text: l.Text, Brief: l.Brief, Advice: l.Advice})
	}
	return out
}
