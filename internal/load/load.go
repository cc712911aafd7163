// Package load decides when requests are sent. It never sends one, and it does not know what a request contains or how
// it is sent: its caller brings a [Source], which knows the sessions and their turns, and a [Sender].
//
// A phase issues credits: permissions to send exactly one request. One goroutine, the loop, owns all state; it waits
// only on its timer, on events and on its context. Invariants: a credit is returned exactly once, and the random draws
// of arrival k are a function of the seed and k alone.
//
// A phase is a closed loop, where a request is sent when another one has returned, or an open loop, where arrivals do
// not wait for the service: the mode of the phase (mode.go) is the one place that knows which.
//
// Vocabulary: a session is one run of a conversation; a turn is one request of it; a continuation is any turn after the
// first, due when its think time after the return of the one before is over; a session slot is held from a session's
// first credit to the return of its last, a prefill slot from a credit to the first content of its response. A session
// may branch into child sessions; together they are a tree, which holds one session slot until all of it is done. An
// arrival is the instant at which the plan wants a request, or a session, to begin; the time between two is their
// inter-arrival time. When a phase has sent its last credit it drains: what is in flight returns or, after the grace, is
// cut off.
package load

// Credit is the permission to send one request. Instants are monotonic nanoseconds of the run's clock.
type Credit struct {
	// Phase indexes the plan's phases; ID counts the credits of the phase from 0 in order of issue.
	Phase int
	ID    int64
	// Session is the number of the session in the run, from 0, warm-up included; children have numbers from
	// FirstChild on. Turn is 0-based.
	Session uint64
	Turn    int
	// Final marks the last turn of the session.
	Final bool
	// URLIndex chooses among several base URLs; it advances once per session.
	URLIndex int
	// User is the number of the simulated user, from 1, whose decimal text is the correlation id; 0 = none.
	User uint64
	// Depth is how far below the root of its tree the session is.
	Depth int
	// Job is the session whose requests, with those of its descendants, the request belongs to: the root of its tree, or
	// Session itself.
	Job uint64
	// JobRequests is how many requests the job has. It is negative where the phase sends only some of them: of a tree
	// that an earlier phase began, and of a session that is under way when its user arrives.
	JobRequests int
	// Begins marks the first request of its session.
	Begins bool
	// Origin is what the request waited for.
	Origin Origin
	// IntendedNS is the arrival time by the plan, 0 in closed loops; IssuedNS is after all waits for slots.
	IntendedNS, IssuedNS int64
	// CancelAfterNS is the simulated client cancellation, negative = none.
	CancelAfterNS int64
}

// Origin is what a request of a job waited for: another request of the job, and then a delay.
type Origin struct {
	// After is 1 more than the ID of the credit whose return let the request go on; 0 where it waited for none.
	After int64
	// DelayNS is the delay by the plan since that return, or since the start of the job: think and tool times, after all
	// limits on idle time. Waits for slots and arrivals are not in it.
	DelayNS int64
}

// Outcome is how a credit came back.
type Outcome uint8

// The outcomes. A simulated cancellation is a failure.
const (
	Success Outcome = iota
	Failure
	CutOff
)

// Sender sends what the loop decides. Its methods are called from the loop and must not block.
type Sender interface {
	// Prepare announces that a turn will probably be sent next: history, encoding and headers are made now. For a
	// continuation it is called after the previous turn returned.
	Prepare(phase int, session uint64, turn int)
	// Send starts the exchange. The sender answers with one Events.Returned and, where the response has content,
	// one Events.FirstContent before it.
	Send(Credit)
	// Forget tells the sender that a session will have no further turn: prepared or kept state may be dropped. A
	// session that was prepared but did not begin keeps its number: a later phase prepares it again.
	Forget(session uint64)
	// CutOff ends all exchanges in flight; each still returns, with outcome CutOff.
	CutOff()
}

// Events is what a [Sender] reports to the loop, from any goroutine.
type Events interface {
	FirstContent(Credit)
	Returned(Credit, Outcome)
	// Started reports when the exchange of a credit really began; wanted only of those that left in a SendAll.
	Started(c Credit, startNS int64)
}
