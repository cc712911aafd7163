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
	// PrefillTime is added to a step for each prompt token that it works on, DecodeTime for each reply that it advances,
	// DraftTime where it advances any.
	PrefillTime, DecodeTime, DraftTime time.Duration
	// KVBlocks is the size of the KV cache; 0 = it is never full. A reply has a place only with room for its tokens, and
	// its prompt is worked on only then; of those with a place the youngest loses it where the cache is full.
	KVBlocks int
}

// costly reports whether steps take longer the more they do.
func (o *SchedulerOptions) costly() bool {
	return o.PrefillTime > 0 || o.DecodeTime > 0 || o.DraftTime > 0
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
	// speed is what the device does now, of what it can; nil = 1.
	speed func(now int64) float64

	mu      sync.Mutex
	running bool
	prefill []*job // in order of arrival; those that lost their place before those that never had one
	decode  []*job // in order of arrival; the first ones are the batch
	blocks  int    // of the KV cache that are in use
}

// job is a reply in the scheduler.
type job struct {
	conn     *httpd.Conn
	account  *page.Account
	prompt   int     // tokens of the prompt
	left     int     // of them, and of the reply so far if it lost its place: still to be worked on
	made     int     // tokens of the reply
	tokens   int     // of the reply, still to be made
	advances []uint8 // tokens that each step makes; past the end one
	blocks   int     // of the KV cache
	granted  atomic.Int64
	// placed: the reply has its place; it is one of the oldest, as many as the batch holds. The account knows at the
	// same moment.
	placed bool
	// planned: takes part in the current step.
	planned bool
}

// newJob returns the job of a reply of at least one token.
func newJob(h *handler) *job {
	p := &h.reply.Plan
	return &job{conn: h.conn, account: &h.account, prompt: p.PromptTokens, left: max(1, p.PromptTokens-p.Cached),
		tokens: p.Tokens(), advances: h.reply.Spec.Advances}
}

// add enters a reply.
func (s *scheduler) add(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prefill = append(s.prefill, j)
	j.account.Queue(s.clock.NowNS())
	s.place()
	if !s.running {
		s.running = true
		go s.run()
	}
}

// remove takes a reply out whose client may have left.
func (s *scheduler) remove(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takeOut(j)
	s.place()
}

func (s *scheduler) takeOut(j *job) {
	gone := func(other *job) bool { return other == j }
	s.prefill = slices.DeleteFunc(s.prefill, gone)
	s.decode = slices.DeleteFunc(s.decode, gone)
	s.hold(j, 0)
}

// all yields the replies, the oldest first: those in decode are older than those in prefill.
func (s *scheduler) all() []*job { return slices.Concat(s.decode, s.prefill) }

// place gives the oldest replies their place, and takes it from the youngest if the batch has become smaller.
func (s *scheduler) place() {
	batch, now := s.opts.effectiveBatch(max(0, len(s.decode)-s.opts.MaxBatch)), s.clock.NowNS()
	placed := 0
	for _, j := range s.all() {
		if j.placed {
			if placed++; placed > batch {
				s.preempt(j)
				placed--
			}
		}
	}
	for _, j := range s.all() {
		switch {
		case j.placed:
		case placed >= batch || placed > 0 && !s.fits(j, 1):
			return
		default:
			j.placed = true
			s.hold(j, blocksOf(j.prompt+j.made+1))
			j.account.Place(now)
			placed++
		}
	}
}

// run takes steps until nothing is left to do.
func (s *scheduler) run() {
	for due := s.clock.NowNS(); ; {
		due += int64(s.plan(due))
		time.Sleep(time.Duration(due - s.clock.NowNS()))
		if !s.step() {
			return
		}
	}
}

// plan returns how long the step takes that begins at an instant. If that depends on what it does, only those take part
// that are there now.
func (s *scheduler) plan(at int64) time.Duration {
	took := s.opts.Step
	if s.opts.costly() {
		s.mu.Lock()
		replies := 0
		for _, j := range s.all() {
			j.planned = true
		}
		for _, j := range s.decode {
			if j.placed {
				replies++
			}
		}
		if replies > 0 {
			took += s.opts.DraftTime + time.Duration(replies)*s.opts.DecodeTime
		}
		s.pieces(func(_ *job, tokens int) { took += time.Duration(tokens) * s.opts.PrefillTime })
		s.mu.Unlock()
	}
	if s.speed != nil {
		took = time.Duration(float64(took) / s.speed(at))
	}
	return took
}

// partakes reports whether a reply takes part in the step.
func (s *scheduler) partakes(j *job) bool { return j.planned || !s.opts.costly() }

// pieces calls do with the prompts that the step works on, and how many tokens of each.
func (s *scheduler) pieces(do func(j *job, tokens int)) {
	budget, size := s.opts.PrefillChunks, s.opts.PrefillChunk
	for _, j := range s.prefill {
		if budget == 0 {
			return
		}
		if !s.partakes(j) || s.opts.KVBlocks > 0 && !j.placed {
			continue
		}
		done := min(budget, (j.left+size-1)/size)
		budget -= done
		do(j, min(done*size, j.left))
	}
}

// step advances the batch, then the prompts, so that a prompt's first token comes a step after its last
// piece. It reports whether anything is left.
func (s *scheduler) step() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range slices.Clone(s.decode) {
		if j.placed && s.partakes(j) {
			s.advance(j)
		}
	}
	s.decode = slices.DeleteFunc(s.decode, func(j *job) bool { return j.tokens == 0 })
	var ready []*job
	s.pieces(func(j *job, tokens int) {
		if j.left -= tokens; j.left == 0 {
			ready = append(ready, j)
		}
	})
	s.prefill = slices.DeleteFunc(s.prefill, func(j *job) bool { return j.left == 0 })
	s.decode = append(s.decode, ready...)
	s.place()
	s.running = len(s.prefill)+len(s.decode) > 0
	return s.running
}

// advance makes the tokens that a step makes of a reply, if the KV cache has room for them.
func (s *scheduler) advance(j *job) {
	n := 1
	if len(j.advances) > 0 {
		n = min(int(j.advances[0]), j.tokens)
		j.advances = j.advances[1:]
	}
	for !s.fits(j, n) {
		youngest := s.youngest()
		if youngest == j && s.blocks == j.blocks {
			break // alone it has all there is
		}
		s.preempt(youngest)
		if youngest == j {
			return
		}
	}
	s.hold(j, blocksOf(j.prompt+j.made+n))
	j.made += n
	j.tokens -= n
	if j.tokens == 0 {
		s.hold(j, 0)
	}
	j.granted.Add(int64(n))
	j.conn.Wake()
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
