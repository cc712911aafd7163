package metrics

import "time"

// RunFacts is what results depend on beside the records. It is known when the run is over.
type RunFacts struct {
	// WindowStartNS and WindowEndNS are when the phase began and ended, wall epoch ns: the window of
	// the timeline metrics, which is stretched to hold all requests. 0 = from the first send to the end
	// of the last request.
	WindowStartNS, WindowEndNS int64
	// NetworkRTT is the mean round trip time of the network; nil = not calibrated.
	NetworkRTT *time.Duration
}

// SetNetworkRTT sets the round trip in ns; nil is none.
func (f *RunFacts) SetNetworkRTT(ns *int64) {
	f.NetworkRTT = nil
	if ns != nil {
		rtt := time.Duration(*ns)
		f.NetworkRTT = &rtt
	}
}

// SetRunFacts tells the engine the facts of its run.
func (e *Engine) SetRunFacts(f RunFacts) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.facts = f
}

func (f *RunFacts) window() span { return span{f.WindowStartNS, max(f.WindowStartNS, f.WindowEndNS)} }

// merge stretches the window over that of o. A calibration stays.
func (f *RunFacts) merge(o *RunFacts) {
	window := f.window()
	window.merge(o.window())
	f.WindowStartNS, f.WindowEndNS = window.start, window.end
	if f.NetworkRTT == nil {
		f.NetworkRTT = o.NetworkRTT
	}
}
