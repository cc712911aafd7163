package load

import "time"

// State is how far a phase has come. Being cancelled is a separate flag.
type State uint8

// The states, in order.
const (
	Created State = iota
	Started
	SendingComplete
	Complete
)

// String names the state.
func (s State) String() string {
	return [...]string{"created", "started", "sending_complete", "complete"}[s]
}

// Stats are the numbers of one phase. Instants are monotonic nanoseconds of the run's clock, 0 = not yet;
// expectations of 0 are not set.
type Stats struct {
	Index int
	Name  string
	Kind  Kind
	State State

	StartNS, SentEndNS, RequestsEndNS int64
	// GraceEndNS is when requests in flight will be cut off, 0 = never.
	GraceEndNS int64

	ExpectedRequests, ExpectedSessions int64
	ExpectedDuration                   time.Duration
	// ExpectedGrace may be Infinite; it has a meaning only with a duration.
	ExpectedGrace time.Duration

	// RequestsCompleted are those that returned and were not cut off, failures included; RequestsCancelled
	// those cut off. Sent less these two are in flight.
	RequestsSent, RequestsCompleted, RequestsCancelled, RequestErrors int64
	SentSessions, CompletedSessions, CancelledSessions                int64
	// TotalSessionTurns are all turns of the sessions that were started.
	TotalSessionTurns int64

	// FinalSent is nil until sending is complete, FinalReturned until the phase is.
	FinalSent     *SentTotals
	FinalReturned *ReturnedTotals

	TimeoutTriggered, GracePeriodTimeoutTriggered, WasCancelled bool
	// EndedEarly reports that [Engine.EndPhase] ended the sending.
	EndedEarly bool

	// TargetRate is the rate of the plan in requests per second, 0 in closed loops and recordings. Where the rate
	// changes it is, from the end of sending on, the mean over the time in which was sent.
	TargetRate float64
	// SkippedArrivals found no free slot, DroppedByCatchup were missed while the loop was held up.
	SkippedArrivals, DroppedByCatchup int64
	// RequestsPerURL counts the requests sent to each base URL.
	RequestsPerURL []int64
	// OldestCutOff is the age of the oldest request at the moment the requests in flight were cut off.
	OldestCutOff time.Duration
	// ForcedReturns of RequestsCancelled never returned and were given up.
	ForcedReturns int64
	// FirstDueNS is when the first session of a recording is due, from the start of the phase.
	FirstDueNS int64
	Branches   Branches
	Barrier    Barrier
}

// Branches count what became of child sessions. A child whose turns could not all be sent is truncated.
type Branches struct {
	ChildrenSpawned, ChildrenCompleted, ChildrenErrored int64
	ChildrenTruncated, ChildrenDelayed                  int64
	// ParentsSuspended waited for children; those that went on are ParentsResumed, the joins of the others were
	// suppressed because no request may be sent any more.
	ParentsSuspended, ParentsResumed, JoinsSuppressed int64
	// ParentsFailed ended with a plan that fails fast.
	ParentsFailed int64
}

// Barrier reports how close together the requests of a barrier left: when their exchanges started if the sender lets
// them go together, otherwise when they were issued.
type Barrier struct {
	// Size is how many were meant to leave together, Released how many did.
	Size, Released  int
	FirstNS, LastNS int64
}

// Spread returns the time from the first to the last.
func (b Barrier) Spread() time.Duration { return time.Duration(b.LastNS - b.FirstNS) }

// SentTotals are the counts that are final when sending is complete.
type SentTotals struct{ Requests, Sessions int64 }

// ReturnedTotals are the counts that are final when the phase is complete.
type ReturnedTotals struct {
	RequestsCompleted, RequestsCancelled, RequestErrors int64
	CompletedSessions, CancelledSessions                int64
}

func newStats(index int, p Phase, urls int) Stats {
	s := Stats{
		Index: index, Name: p.Name, Kind: p.Kind,
		ExpectedRequests: p.Requests, ExpectedSessions: p.Sessions,
		ExpectedDuration: p.Duration, ExpectedGrace: p.Grace,
		RequestsPerURL: make([]int64, max(1, urls)),
	}
	switch p.mode() {
	case byUsers:
		s.TargetRate = p.Users.Rate
	case atRate:
		s.TargetRate = p.Arrivals.Rate
	}
	return s
}

func (s *Stats) tally() tally { return tally{sent: s.RequestsSent, inFlight: s.requestsInFlight()} }

// requestsInFlight returns the number of requests that were sent and have not returned.
func (s *Stats) requestsInFlight() int64 {
	return s.RequestsSent - s.RequestsCompleted - s.RequestsCancelled
}

// Elapsed returns the age of the phase, at its end if it has ended.
func (s *Stats) Elapsed(nowNS int64) time.Duration {
	switch s.State {
	case Created:
		return 0
	case Complete:
		nowNS = s.RequestsEndNS
	}
	return time.Duration(nowNS - s.StartNS)
}

// DeliveredRate returns the number of requests sent per second, up to the end of sending.
func (s *Stats) DeliveredRate(nowNS int64) float64 {
	return perSecond(s.RequestsSent, s.SendingTime(nowNS))
}

// SendingTime returns the time from the start to the end of sending.
func (s *Stats) SendingTime(nowNS int64) time.Duration {
	if s.SentEndNS != 0 {
		nowNS = s.SentEndNS
	}
	return time.Duration(nowNS - s.StartNS)
}

// CompletedRate returns the number of requests completed per second.
func (s *Stats) CompletedRate(nowNS int64) float64 {
	return perSecond(s.RequestsCompleted, s.Elapsed(nowNS))
}

func perSecond(n int64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// Progress returns how much of the phase is done in percent, by the stop condition that is closest.
// It is not known before the start.
func (s *Stats) Progress(nowNS int64) (percent float64, known bool) {
	switch s.State {
	case Created:
		return 0, false
	case Complete:
		return 100, true
	}
	for _, c := range []struct{ done, expected int64 }{
		{s.RequestsCompleted, s.ExpectedRequests},
		{s.CompletedSessions, s.ExpectedSessions},
		{int64(s.Elapsed(nowNS)), int64(s.ExpectedDuration)},
	} {
		if c.expected > 0 {
			known = true
			percent = max(percent, 100*float64(c.done)/float64(c.expected))
		}
	}
	return min(percent, 100), known
}

// Remaining estimates the time to the end of the phase from its progress so far.
func (s *Stats) Remaining(nowNS int64) (d time.Duration, known bool) {
	percent, known := s.Progress(nowNS)
	if !known || percent <= 0 {
		return 0, false
	}
	return time.Duration((100 - percent) / percent * float64(s.Elapsed(nowNS))), true
}

// PhaseEvent reports that a phase has reached a state.
type PhaseEvent struct {
	State State
	Stats Stats
}
