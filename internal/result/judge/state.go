package judge

// State is what is to be known of a run first.
type State struct {
	Code  string `json:"code"`
	Level Level  `json:"level"`
	// Title says it in a few words: "30 % failed".
	Title string `json:"title"`
}

// Wrong reports whether a state is one to know before figures are read.
func (s State) Wrong() bool { return s.Level == Bad || s.Level == Warn }

// The codes of states, the worst first.
const (
	StateRunning    = "running"
	StateIncomplete = "incomplete"
	StateStopped    = "stopped"
	StateAllFailed  = "all_failed"
	StateFailed     = "failed"
	StateMissed     = "objectives_missed"
	StateClient     = "client_limited"
	StateSomeFailed = "some_failed"
	StateDoubtful   = "inconclusive"
	StateLimited    = "limited"
	StateWarm       = "warm_cache"
	StateComplete   = "complete"
)

// stateOf are the states that a finding makes.
var stateOf = map[string]State{
	CodeAllFailed:  {StateAllFailed, Bad, "All requests failed"},
	CodeManyErrors: {Code: StateFailed},
	CodeObjectives: {StateMissed, Bad, "Objectives missed"},
	CodeClient:     {StateClient, Bad, "Client limited"},
	CodeErrors:     {Code: StateFailed},
	CodeDoubtful:   {StateDoubtful, Warn, "Client inconclusive"},
	CodeWarmCache:  {StateWarm, Warn, "Warm cache"},
}

// state returns the state of a run with the findings so far.
func (f *view) state() State {
	switch {
	case f.Running:
		return State{StateRunning, Plain, "Running"}
	case f.Incomplete != "":
		return State{StateIncomplete, Bad, "Incomplete"}
	case f.Cancelled:
		return State{StateStopped, Warn, "Stopped early"}
	}
	for i := range f.found {
		of := &f.found[i]
		if s, known := stateOf[of.Code]; known {
			if s.Code == StateFailed {
				return failedState(f.failedShare())
			}
			return s
		}
		if of.Kind == Cause && (of.Level == Warn || of.Level == Bad) {
			return State{StateLimited, of.Level, of.Title}
		}
	}
	return State{StateComplete, Good, "Complete"}
}

// failedState is that of a run of which a part of the requests failed.
func failedState(share float64) State {
	s := State{StateFailed, FailedLevel(share), percent(share) + " failed"}
	if s.Level == Warn {
		s.Code = StateSomeFailed
	}
	return s
}
