package run

import (
	"sync"

	"aiperf/internal/measure/record"
	"aiperf/internal/measure/timeline"
	"aiperf/internal/result/report/html"
	"aiperf/internal/watch/servermetrics"
)

// pageData collects the requests for the HTML report during the run, so that no file has to be read again.
type pageData struct {
	passive
	startNS  func() int64
	once     sync.Once
	requests *timeline.Recorder
}

// record adds a request of the profiling phases.
func (p *pageData) record(r *record.Record) {
	if r.Phase == record.PhaseWarmup || r.ContextOverflowSkip {
		return
	}
	p.once.Do(func() { p.requests = timeline.New(p.startNS()) })
	p.requests.Add(r)
}

// run returns the collected data of the page.
func (p *pageData) run(servers *serverWatch, gpus *gpuWatch) *html.Run {
	run := &html.Run{Requests: p.requests}
	if servers != nil {
		run.Servers = servermetrics.Curves(servers.collector.Store())
	}
	if gpus != nil {
		gpus.mu.Lock()
		defer gpus.mu.Unlock()
		run.GPUs = gpus.store.Curves()
	}
	return run
}
