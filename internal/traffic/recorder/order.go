package recorder

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// order has sessions recognized in the order of their turns. A client that has its reply may send the next turn, and have
// that answered, before the goroutine that passed the reply on has submitted it: the next turn would begin a session.
type order struct {
	// ending is the number of exchanges whose reply was read to its end and that are not submitted yet.
	ending atomic.Int64

	taking  sync.Mutex  // guards what follows
	pending []*exchange // taken from the queue, the latest beginning first
	turns   int64

	mu     sync.Mutex
	placed *sync.Cond
	count  int64
}

const (
	// longestEnding bounds the wait for those that end: a client that reads slowly holds one of them up.
	longestEnding = 5 * time.Millisecond
	// mostPending bounds what is put in order at once.
	mostPending = 256
)

// next takes an exchange from the queue and numbers it; nil = the queue is closed. Those that wait together come in the
// order of their beginnings.
func (o *order) next(queue <-chan *exchange) (x *exchange, turn int64) {
	o.taking.Lock()
	defer o.taking.Unlock()
	if len(o.pending) == 0 && !o.fill(queue) {
		return nil, 0
	}
	last := len(o.pending) - 1
	x, o.pending = o.pending[last], o.pending[:last]
	turn = o.turns
	o.turns++
	return x, turn
}

// fill waits for an exchange, then for those that end at this moment.
func (o *order) fill(queue <-chan *exchange) bool {
	x := <-queue
	if x == nil {
		return false
	}
	o.pending = append(o.pending, x)
	for began := time.Now(); o.ending.Load() > 0 && time.Since(began) < longestEnding; {
		time.Sleep(longestEnding / 50)
	}
	for x != nil && len(o.pending) < mostPending {
		select {
		case x = <-queue:
			if x != nil {
				o.pending = append(o.pending, x)
			}
		default:
			x = nil
		}
	}
	slices.SortStableFunc(o.pending, func(a, b *exchange) int { return b.at.Compare(a.at) })
	return true
}

// wait returns when all exchanges before this one have their sessions.
func (o *order) wait(turn int64) {
	o.mu.Lock()
	for o.count != turn {
		o.placed.Wait()
	}
	o.mu.Unlock()
}

// done lets the next one go on.
func (o *order) done() {
	o.mu.Lock()
	o.count++
	o.placed.Broadcast()
	o.mu.Unlock()
}
