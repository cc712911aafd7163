package dispatch

import (
	"strconv"
	"sync"

	"aiperf/internal/load"
	"aiperf/internal/wire/session"
)

// requests stores the sessions that are under way, each with its next request, which is made ahead of need.
type requests struct {
	schedule schedule
	sessions *session.Store
	// phases are the plan's phases as records name them.
	phases []Phase

	preparing chan *turnState
	preparers sync.WaitGroup

	mu   sync.Mutex
	live map[uint64]*turnState
}

// preparers make requests ahead of need; more than a few would only take the cores from the senders.
const preparers = 2

func newRequests(s schedule, sessions *session.Store, phases []Phase) *requests {
	r := &requests{
		schedule: s, sessions: sessions, phases: phases,
		preparing: make(chan *turnState, 1024), live: map[uint64]*turnState{},
	}
	for range preparers {
		r.preparers.Go(func() {
			for t := range r.preparing {
				t.mu.Lock()
				t.make(t.turn)
				t.mu.Unlock()
			}
		})
	}
	return r
}

// turnState is the next request of a session.
type turnState struct {
	mu      sync.Mutex
	session *session.Session
	// root is the conversation of the root of the session's tree: its own unless it is a child.
	root     int
	worker   int
	turn     int
	play     session.Play
	prepared *session.Prepared
}

// ready returns the request of a turn, for a phase that may be another one than it was made for.
func (t *turnState) ready(warmup bool, turn int) *session.Prepared {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.session.Warm(warmup) {
		t.prepared = nil
	}
	return t.make(turn)
}

// make makes the request; the state is locked.
func (t *turnState) make(turn int) *session.Prepared {
	if t.prepared == nil || t.turn != turn {
		t.turn, t.prepared = turn, t.session.PrepareFor(turn, t.play)
	}
	return t.prepared
}

// prepareFirst makes the first request of a session now.
func (r *requests) prepareFirst(k uint64) {
	t := r.state(k)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.make(0)
}

// Prepare implements load.Sender. When the preparers are busy the sending goroutine does the work.
func (r *requests) Prepare(phase int, k uint64, turn int) {
	t := r.state(k)
	t.mu.Lock()
	play := r.phases[phase].Play
	if t.session.Warm(r.phases[phase].Profiling < 0) || t.turn != turn || t.play != play {
		t.turn, t.play, t.prepared = turn, play, nil
	}
	t.mu.Unlock()
	select {
	case r.preparing <- t:
	default:
	}
}

// state returns the next request of a session that may have none yet.
func (r *requests) state(k uint64) *turnState {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t, ok := r.live[k]; ok {
		return t
	}
	at := r.schedule.at(k)
	t := &turnState{session: r.sessions.Session(k, at), root: at, worker: -1}
	r.live[k] = t
	return t
}

// Open implements load.Opener: a simulated user's session goes by the user's number, that of a schedule or of a
// lane plays the conversation of its entry, and a child has parents.
func (r *requests) Open(o load.Opening) {
	k := o.Session
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &turnState{worker: -1}
	switch {
	case o.Root != k:
		parent := r.live[o.Parent]
		t.root = parent.root
		if o.Fork {
			t.worker = parent.worker // which the history may be warm for
		}
		t.session = r.sessions.Child(k, r.schedule.forest.shape(t.root).conversations[o.Node], session.Lineage{
			Parent: o.Parent, ParentTurn: o.ParentTurn, Fork: o.Fork, Depth: o.Depth,
		})
	case o.User > 0:
		t.root = r.schedule.at(k)
		t.session = r.sessions.Named(k, t.root, strconv.FormatInt(int64(o.User), 10))
	default:
		t.root = r.schedule.at(k)
		if o.Conversation >= 0 {
			t.root = r.schedule.at(uint64(o.Conversation))
		}
		t.session = r.sessions.Session(k, t.root)
	}
	r.live[k] = t
}

// Forget implements load.Sender.
func (r *requests) Forget(k uint64) {
	r.mu.Lock()
	delete(r.live, k)
	r.mu.Unlock()
	r.sessions.Forget(k)
}
