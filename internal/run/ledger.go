package run

import (
	"aiperf/internal/load"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/servermetrics"
)

// markBorder remembers what is out when the profiling phase begins.
func (w *serverWatch) markBorder(phase int) {
	if phase != w.firstProfiling {
		return
	}
	n := int64(0)
	phases := w.e.engine.Snapshot()
	for i := range phases {
		n += phases[i].RequestsSent - phases[i].RequestsCompleted - phases[i].RequestsCancelled
	}
	w.borderNS.Store(w.e.clock.WallNS(w.e.clock.NowNS()))
	w.inFlight.Store(n)
}

// ledger is what the server counted over the profiling phase; nil where its counters were not scraped.
func (w *serverWatch) ledger(r *summary.Result, phases []load.Stats) *summary.Ledger {
	window := servermetrics.Window{StartNS: r.StartNS, EndNS: r.EndNS}
	server := servermetrics.Totals(w.collector.Store(), window, w.e.cfg.Models)
	if server == nil {
		return nil
	}
	server.Silent = max(len(w.collector.Configured())-len(w.collector.Successful()), 0)
	l := &summary.Ledger{Server: *server, InFlight: w.inFlight.Load(), Resent: w.e.health.requestsResent()}
	for i := range phases {
		if phases[i].Kind == load.Warmup && server.FromNS != 0 && server.FromNS < w.borderNS.Load() {
			l.WarmUp += phases[i].RequestsSent // all of them: nobody knows how many had ended by then
		}
	}
	return l
}
