package run

import (
	"sync"

	"aiperf/internal/measure/record"
	"aiperf/internal/measure/timeline"
	"aiperf/internal/result/compare"
	"aiperf/internal/result/report/html"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/servermetrics"
)

// pageData gathers what the HTML report shows while the run goes on, so that nothing has to be read again. A nil one
// does nothing.
type pageData struct {
	startNS  func() int64
	once     sync.Once
	requests *timeline.Recorder
}

// add takes a profiling record, from several goroutines at once.
func (p *pageData) add(r *record.Record) {
	if p == nil {
		return
	}
	p.once.Do(p.begin)
	p.requests.Add(r)
}

func (p *pageData) begin() { p.requests = timeline.New(p.startNS()) }

// run is everything that the page shows beside the result.
func (p *pageData) run(o *outcome, state *summary.State) html.Run {
	figures := summary.FiguresOf(&o.Result)
	run := html.Run{
		Phases: state.Phases, Requests: p.requests, Looks: state.Looks, ServerFigures: state.Console.ServerMetrics,
		Thresholds: compare.Judge(state.FailIf, state.Config.Percentiles, &figures),
	}
	if s := o.servers; s != nil {
		run.Servers = servermetrics.Curves(s.collector.Store())
	}
	if g := o.gpus; g != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		run.GPUs = g.store.Curves()
	}
	return run
}
