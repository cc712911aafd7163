package metrics

import "time"

// RunFacts is what results depend on besides the records. It is known when the run is over.
type RunFacts struct {
	// WindowStartNS and WindowEndNS are when the phase began and ended, wall epoch ns: the window of
	// the timeline metrics, which is stretched to hold all requests. 0 = from the first send to the end
	// of the last request.
	WindowStartNS int64 `json:"window_start_ns,omitempty"`
	WindowEndNS   int64 `json:"window_end_ns,omitempty"`
	// NetworkRTT is the mean round trip time of the network; nil = not calibrated.
	NetworkRTT *time.Duration `json:"network_rtt_ns,omitempty"`
	// GPUs is the number of GPUs that serve; 0 = not known.
	GPUs int `json:"num_gpus,omitempty"`
	// ServerStart is the time from the start of the server, which was started for the run, to its readiness; nil = the
	// server was there already.
	ServerStart *time.Duration `json:"server_start_ns,omitempty"`
}

// OfAllPhases returns the facts that hold for all phases.
func (f RunFacts) OfAllPhases() RunFacts { return RunFacts{NetworkRTT: f.NetworkRTT, GPUs: f.GPUs} }

// SetRunFacts sets the facts of the engine's run.
func (e *Engine) SetRunFacts(f RunFacts) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.facts = f
}

func (f *RunFacts) window() span { return span{f.WindowStartNS, max(f.WindowStartNS, f.WindowEndNS)} }

// merge stretches the window over that of o. A calibration stays, and the larger number of GPUs.
func (f *RunFacts) merge(o *RunFacts) {
	window := f.window()
	window.merge(o.window())
	f.WindowStartNS, f.WindowEndNS = window.start, window.end
	if f.NetworkRTT == nil {
		f.NetworkRTT = o.NetworkRTT
	}
	f.GPUs = max(f.GPUs, o.GPUs)
	if f.ServerStart == nil {
		f.ServerStart = o.ServerStart
	}
}
