package intake

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"aiperf/internal/measure/record"
)

// Pool makes records on a fixed number of goroutines behind a bounded queue. When the queue is full
// the submitter does the work itself: nothing is dropped and memory stays bounded.
type Pool struct {
	intake  *Intake
	deliver func(*record.Record)
	jobs    chan *Job
	workers sync.WaitGroup
	// submitted and done count exchanges.
	submitted, done atomic.Int64

	// mu keeps the queue from being closed while a job enters it.
	mu     sync.RWMutex
	closed bool
}

// NewPool starts the workers. deliver takes each record, from several goroutines at once.
func NewPool(in *Intake, workers, queue int, deliver func(*record.Record)) *Pool {
	p := &Pool{intake: in, deliver: deliver, jobs: make(chan *Job, queue)}
	for range max(workers, 1) {
		p.workers.Go(func() {
			for j := range p.jobs {
				p.do(j)
			}
		})
	}
	return p
}

// Submit hands a finished exchange over. After Close the submitter does all the work.
func (p *Pool) Submit(j *Job) {
	p.submitted.Add(1)
	if !p.enqueue(j) {
		p.do(j)
	}
}

func (p *Pool) enqueue(j *Job) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed {
		return false
	}
	select {
	case p.jobs <- j:
		return true
	default:
		return false
	}
}

func (p *Pool) do(j *Job) {
	r := p.intake.Record(j)
	j.release()
	if r != nil {
		p.deliver(r)
	}
	p.done.Add(1)
}

// Progress returns how many exchanges are not done with, and how many are.
func (p *Pool) Progress() (waiting, done int64) {
	done = p.done.Load()
	return p.submitted.Load() - done, done
}

// Close lets the workers empty the queue and waits for them until ctx is done. Its error reports how
// many exchanges had no record then.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.jobs)
	}
	p.mu.Unlock()
	done := make(chan struct{})
	go func() {
		p.workers.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		waiting, _ := p.Progress()
		return fmt.Errorf("%d finished requests were not turned into records in time: %w", waiting, ctx.Err())
	}
}
