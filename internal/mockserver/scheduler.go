package mockserver

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/mockserver/httpd"
	"aiperf/internal/mockserver/page"
)

// SchedulerOptions describe a server that works in steps, as engines with continuous batching do, and that
// can be saturated.
type SchedulerOptions struct {
	Enabled bool
	Step    time.Duration
	// MaxBatch is how many replies advance by a token in one step.
	MaxBatch int
	// PrefillChunk is how many prompt tokens are one piece of work; a step does PrefillChunks of them.
	PrefillChunk, PrefillChunks int
	// Collapse lets a long queue make the batch smaller: by slope for each batch of waiting replies beyond
	// the threshold, down to the floor, a share of MaxBatch.
	Collapse                bool
	Threshold, Slope, Floor float64
}

// effectiveBatch returns the size of the batch while queue replies wait for a place in it.
func (o *SchedulerOptions) effectiveBatch(queue int) int {
	if !o.Collapse {
		return o.MaxBatch
	}
	overload := max(0, float64(queue)/float64(o.MaxBatch)-o.Threshold)
	shrink := min(1-o.Floor, overload*o.Slope)
	return max(1, int(float64(o.MaxBatch)*(1-shrink)))
}

// scheduler advances all replies in common steps. It runs only while there are any.
type scheduler struct {
	opts  SchedulerOptions
	clock *clock.Clock

	mu      sync.Mutex
	running bool
	prefill []*job // in order of arrival
	decode  []*job // in order of arrival; the first ones are the batch
}

// job is a reply in the scheduler.
type job struct {
	conn    *httpd.Conn
	account *page.Account
	chunks  int // of the prompt, still to be worked on
	tokens  int // of the reply, still to be made
	granted atomic.Int64
	// placed: the reply has its place; it is one of the oldest, as many as the batch holds. The account knows at the
	// same moment.
	placed bool
}

// add enters a reply of some tokens, at least one, to a prompt.
func (s *scheduler) add(c *httpd.Conn, a *page.Account, promptTokens, tokens int) *job {
	j := &job{conn: c, account: a, chunks: max(1, (promptTokens+s.opts.PrefillChunk-1)/s.opts.PrefillChunk),
		tokens: tokens}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prefill = append(s.prefill, j)
	a.Queue(s.clock.NowNS())
	s.place()
	if !s.running {
		s.running = true
		go s.run()
	}
	return j
}

// remove takes a reply out whose client may have left.
func (s *scheduler) remove(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gone := func(other *job) bool { return other == j }
	s.prefill = slices.DeleteFunc(s.prefill, gone)
	s.decode = slices.DeleteFunc(s.decode, gone)
	s.place()
}

// place gives the oldest replies their place, and takes it from the others: the batch may have become smaller.
// Replies in decode are older than those in prefill.
func (s *scheduler) place() {
	batch, now := s.opts.effectiveBatch(max(0, len(s.decode)-s.opts.MaxBatch)), s.clock.NowNS()
	for _, list := range [...][]*job{s.decode, s.prefill} {
		for _, j := range list {
			batch--
			switch {
			case j.placed && batch < 0:
				j.account.Preempt(now)
			case !j.placed && batch >= 0:
				j.account.Place(now)
			}
			j.placed = batch >= 0
		}
	}
}

// run takes steps at fixed instants until nothing is left to do.
func (s *scheduler) run() {
	for due := s.clock.NowNS(); ; {
		due += int64(s.opts.Step)
		time.Sleep(time.Duration(due - s.clock.NowNS()))
		if !s.step() {
			return
		}
	}
}

// step advances the batch, then the prompts, so that a prompt's first token comes a step after its last
// piece. It reports whether anything is left.
func (s *scheduler) step() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.decode {
		if !j.placed {
			break
		}
		j.tokens--
		j.granted.Add(1)
		j.conn.Wake()
	}
	s.decode = slices.DeleteFunc(s.decode, func(j *job) bool { return j.tokens == 0 })
	for budget := s.opts.PrefillChunks; budget > 0 && len(s.prefill) > 0; {
		j := s.prefill[0]
		done := min(budget, j.chunks)
		budget -= done
		if j.chunks -= done; j.chunks == 0 {
			s.prefill = slices.Delete(s.prefill, 0, 1)
			s.decode = append(s.decode, j)
		}
	}
	s.place()
	s.running = len(s.prefill)+len(s.decode) > 0
	return s.running
}

// await lets the time pass until token k is due, for as long as the client stays.
func (h *handler) await(due *schedule, k int) error {
	if due.job == nil {
		return h.conn.Wait(due.at(k))
	}
	made := func() bool { return due.job.granted.Load() > int64(k) }
	for !made() {
		if err := h.conn.Listen(time.Minute, made); err != nil {
			return err
		}
	}
	return nil
}
