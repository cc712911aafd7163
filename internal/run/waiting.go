package run

import (
	"os"
	"sync"

	"aiperf/internal/accuracy/task"
	"aiperf/internal/measure/record"
)

// answer is an answer that waits to be graded.
type answer struct {
	record.Identity
	atNS              int64
	problem           *task.Problem
	content, thinking string
	// stored says where the texts lie in the file of the queue, if their lengths are not 0.
	stored struct {
		at                int64
		content, thinking int
	}
}

// waitingMemory bounds the texts of waiting answers that are kept in memory.
const waitingMemory = 64 << 20

// queue holds the answers that no judge has taken yet. Whoever brings one never waits for a judge: texts beyond
// waitingMemory go to a temporary file.
type queue struct {
	limit  int // of bytes in memory
	mu     sync.Mutex
	more   sync.Cond
	list   []answer
	bytes  int
	file   *os.File
	end    int64
	closed bool
}

func newQueue(limit int) *queue {
	q := &queue{limit: limit}
	q.more.L = &q.mu
	return q
}

func (q *queue) put(one answer) {
	q.mu.Lock()
	if size := len(one.content) + len(one.thinking); q.bytes+size <= q.limit || !q.store(&one) {
		q.bytes += size
	}
	q.list = append(q.list, one)
	q.mu.Unlock()
	q.more.Signal()
}

// store puts the texts into the file; false if that is not possible.
func (q *queue) store(one *answer) bool {
	if q.file == nil {
		file, err := os.CreateTemp("", "aiperf-answers-")
		if err != nil {
			return false
		}
		q.file = file
	}
	if _, err := q.file.WriteAt([]byte(one.content+one.thinking), q.end); err != nil {
		return false
	}
	one.stored.at, one.stored.content, one.stored.thinking = q.end, len(one.content), len(one.thinking)
	q.end += int64(len(one.content) + len(one.thinking))
	one.content, one.thinking = "", ""
	return true
}

// load gets the texts back from the file.
func (q *queue) load(one *answer) error {
	n := one.stored.content + one.stored.thinking
	if n == 0 {
		return nil
	}
	text := make([]byte, n)
	if _, err := q.file.ReadAt(text, one.stored.at); err != nil {
		return err
	}
	one.content, one.thinking = string(text[:one.stored.content]), string(text[one.stored.content:])
	return nil
}

// next waits for an answer; false once the queue is closed and empty. Its error says that the texts are lost.
func (q *queue) next() (one answer, ok bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.list) == 0 && !q.closed {
		q.more.Wait()
	}
	if len(q.list) == 0 {
		return one, false, nil
	}
	one = q.list[0]
	q.list[0] = answer{}
	q.list = q.list[1:]
	q.bytes -= len(one.content) + len(one.thinking)
	err = q.load(&one)
	if len(q.list) == 0 {
		q.list, q.end = nil, 0
	}
	return one, true, err
}

// close has next return false once all answers are taken.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.more.Broadcast()
}

// drop closes the queue, leaves out the answers that wait, and returns their number.
func (q *queue) drop() int64 {
	q.mu.Lock()
	n := int64(len(q.list))
	q.list, q.bytes, q.end, q.closed = nil, 0, 0, true
	q.mu.Unlock()
	q.more.Broadcast()
	return n
}

// remove deletes the file. No answer is waited for any more.
func (q *queue) remove() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.file != nil {
		q.file.Close()
		os.Remove(q.file.Name())
		q.file = nil
	}
}
