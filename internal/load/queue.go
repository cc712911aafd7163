package load

import "math"

// turn is one request of a session that is still to be sent.
type turn struct {
	session uint64
	// index is 0-based, count the turns of the session.
	index, count int
	// intendedNS is the arrival that the turn has taken, 0 before and in closed loops.
	intendedNS int64
	// url is chosen when the session begins.
	url int
	// user is the session's user, node its place in a tree; each if it has one.
	user uint64
	node *node
	// place is that of a user's first turn, in a share of users.
	place userPlace
	// partial: earlier turns of the session count as sent.
	partial bool
	// credit is the number of the turn's own credit, once it has one.
	credit int64
	origin Origin
}

// next returns what the turns wait for that this one has let go on: its return, or where it sent nothing what it waited
// for itself.
func (t *turn) next() Origin {
	if t.node != nil && t.node.silent(t.index) {
		return t.origin
	}
	return Origin{After: t.credit + 1}
}

// fifo is a queue of turns.
type fifo struct {
	items []turn
	head  int
}

func (q *fifo) len() int { return len(q.items) - q.head }

func (q *fifo) push(t turn) { q.items = append(q.items, t) }

// peek returns the oldest; there must be one.
func (q *fifo) peek() turn { return q.items[q.head] }

func (q *fifo) pop() turn {
	t := q.items[q.head]
	q.head++
	// What was popped is removed once it is half of the queue, so that memory follows its length.
	if q.head*2 >= len(q.items) {
		q.items = q.items[:copy(q.items, q.items[q.head:])]
		q.head = 0
	}
	return t
}

// delays holds the turns that wait for their delay, earliest first, equal ones in the order they came.
// It is a binary heap.
type delays struct {
	items []delayed
	seq   uint64
}

type delayed struct {
	dueNS int64
	seq   uint64
	turn  turn
	// sinceNS is when the delay began.
	sinceNS int64
}

func (d delayed) before(o delayed) bool {
	return d.dueNS < o.dueNS || d.dueNS == o.dueNS && d.seq < o.seq
}

func (h *delays) len() int { return len(h.items) }

// dueNS returns the instant of the earliest; there must be one.
func (h *delays) dueNS() int64 { return h.items[0].dueNS }

func (h *delays) push(dueNS int64, t turn) { h.pushSince(dueNS, dueNS, t) }

// pushSince adds a turn whose delay is added to its origin when it is popped.
func (h *delays) pushSince(sinceNS, dueNS int64, t turn) {
	h.items = append(h.items, delayed{dueNS: dueNS, seq: h.seq, turn: t, sinceNS: sinceNS})
	h.seq++
	for i := len(h.items) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h.items[i].before(h.items[parent]) {
			break
		}
		h.items[i], h.items[parent] = h.items[parent], h.items[i]
		i = parent
	}
}

func (h *delays) pop() turn {
	t := h.items[0].turn
	t.origin.DelayNS += max(0, h.items[0].dueNS-h.items[0].sinceNS)
	last := len(h.items) - 1
	h.items[0] = h.items[last]
	h.items = h.items[:last]
	h.sink(0)
	return t
}

// slots counts what is in use against a limit that may change meanwhile: a raised one opens slots at once,
// a lowered one withholds them as they are given back.
type slots struct{ limit, used int }

// unlimited is the limit of slots that have none.
const unlimited = math.MaxInt

// slotLimit returns the limit of slots that a phase bounds by n, where 0 means no bound.
func slotLimit(n int) int {
	if n == 0 {
		return unlimited
	}
	return n
}

func (s *slots) free() bool { return s.used < s.limit }

func (s *slots) acquire() bool {
	if !s.free() {
		return false
	}
	s.used++
	return true
}

func (s *slots) release() { s.used-- }
