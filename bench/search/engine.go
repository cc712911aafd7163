package main

import (
	"math"
	"math/rand/v2"

	"aiperf/internal/experiment/search"
)

// Server is a server and the question put to it. Times are in seconds.
type Server struct {
	Name string
	// Rate reports that the load is an arrival rate (Poisson) in requests/s; otherwise it is a concurrency.
	Rate bool
	// Lo and Hi are the range of the search.
	Lo, Hi  float64
	Filters []search.Filter

	// Batch is how many requests have a place at the same time; Queue how many may wait for one, more are refused with an
	// error (0: any number).
	Batch, Queue int
	// A step, in which each reply of the batch gets a token, takes Step + Each × replies + Beyond × replies above Knee.
	Step, Each, Beyond float64
	Knee               int
	// Cliff is the number of replies from which on the engine has CliffSpeed of its speed; 0: none.
	Cliff      int
	CliffSpeed float64
	// From Bump to BumpEnd replies the engine has BumpSpeed of its speed.
	Bump, BumpEnd int
	BumpSpeed     float64
	// Prefill is the mean time of a prompt, PrefillCV its spread, Stall the share of the speed of replies that it takes.
	Prefill, PrefillCV, Stall float64
	// Tokens is the mean length of a reply, TokensCV its spread.
	Tokens, TokensCV float64
	// Jitter is the spread of what the network adds to the time to first token, Network its mean.
	Network, Jitter float64
	// Noise is the spread of the speed from one second to the next, with Memory from 0 to 1 of the second before.
	Noise, Memory float64
	// Wave is the amplitude of a periodic change of the speed with the given Period.
	Wave, Period float64
	// Drift is what share of its speed the server loses in half an hour.
	Drift float64
	// Cached is the share of the work on a prompt that is saved if its prompt was sent before. Prompts are the same in
	// each probe unless it has fresh ones.
	Cached float64
	// ErrorRate is the share of requests that fail at once.
	ErrorRate float64
	// Client is the number of requests in flight above which the client itself adds to latencies; 0: any number.
	Client int
}

// Record is one request of a probe. Times are in seconds of the session's clock, latencies in milliseconds.
type Record struct {
	Start, End     float64
	TTFT, ITL, E2E float64
	Tokens         int
	Failed         bool
	// Waiting and Running are the state of the engine when the record was made.
	Waiting, Running int
	// Draining marks a record that ended after the last request was sent, under a load that falls.
	Draining bool
}

// Probe is one load for a while.
type Probe struct {
	Load float64
	// Requests that start during Warmup do not count. Afterwards they are sent for Seconds, or until their number is
	// Requests (0: any number); those in flight then end within the grace period.
	Warmup, Seconds float64
	Requests        int
	// Steady counts the requests that end between the warm-up and the end of Seconds, also those that began in the
	// warm-up, and ends the probe there: in a steady state they are a fair sample of all requests.
	Steady bool
	// Fresh has prompts that were never sent before.
	Fresh bool
}

// Session is a server during one search.
type Session struct {
	Server
	// Now is the time in the session.
	Now   float64
	Seed  uint64
	probe uint64
	speed float64 // logarithm of the noise
	epoch float64
	sent  int // prompts of the common set that were sent
	noise *rand.Rand
}

// Session returns the server as it is after its start.
func (s *Server) Session(seed uint64) *Session {
	return &Session{Server: *s, Seed: seed, noise: rand.New(rand.NewPCG(seed, 0))}
}

// reply is a request that has its first token, or the place of one that waits for it.
type reply struct {
	due    float64 // tokens of the engine's clock at which it ends
	start  float64
	first  float64
	ttft   float64
	work   float64
	tokens int
}

type engine struct {
	*Session
	probe   *Probe
	random  *rand.Rand
	now     float64
	tokens  float64 // clock of the batch: tokens that a reply got which was always there
	batch   []reply // heap by due
	waiting []reply // first in, first out
	head    int
	working bool // on a prompt: that of current
	current reply
	left    float64 // work of it that is left
	factor  float64 // speed of the engine now
	arrival float64 // next arrival; infinite where the load is a concurrency
	failing []float64
	number  int
	counted int // requests that were sent after the warm-up
	flight  int
	yield   func(Record) bool
	warm    float64 // when the warm-up ends
	last    float64 // when the last request may be sent
	stopped bool
}

// grace is the longest time that requests get after the last one was sent.
const grace = 30

// Probe runs a load and calls yield with each record that counts; yield returns false to end the probe.
// It returns the seconds that the probe took, warm-up included. The server is idle afterwards.
func (s *Session) Probe(p Probe, yield func(Record) bool) float64 {
	s.probe++
	e := &engine{Session: s, probe: &p, now: s.Now, yield: yield, arrival: math.Inf(1),
		random: rand.New(rand.NewPCG(s.Seed, s.probe))}
	begin := s.Now
	e.warm = begin + p.Warmup
	e.last = e.warm + p.Seconds
	e.setSpeed()
	if s.Rate {
		e.arrival = e.now + e.random.ExpFloat64()/p.Load
	} else {
		for range int(math.Round(p.Load)) {
			e.arrive()
		}
	}
	for !e.stopped && e.now < e.last+grace && (e.now < e.last || e.flight > 0 && !p.Steady) {
		if e.now < e.last {
			e.step(e.last)
		} else {
			e.step(e.last + grace)
		}
	}
	s.Now = e.now
	return e.now - begin
}

// step goes to the next event.
func (e *engine) step(end float64) {
	const (
		finish = iota
		prompt
		arrive
		fail
		second
		over
	)
	next, what := end, over
	consider := func(at float64, event int) {
		if at < next {
			next, what = at, event
		}
	}
	rate := e.rate()
	if len(e.batch) > 0 {
		consider(e.now+max(0, e.batch[0].due-e.tokens)/rate, finish)
	}
	if e.working {
		consider(e.now+e.left/e.factor, prompt)
	}
	consider(e.arrival, arrive)
	if len(e.failing) > 0 {
		consider(e.failing[0], fail)
	}
	consider(e.epoch, second)
	if len(e.batch) > 0 {
		e.tokens += (next - e.now) * rate
	}
	if e.working {
		e.left -= (next - e.now) * e.factor
	}
	e.now = next
	switch what {
	case finish:
		r := e.pop()
		e.finished(r)
	case prompt:
		r := e.current
		e.working = false
		r.first, r.due = e.now, e.tokens+float64(r.tokens-1)
		r.ttft = (e.now-r.start)*1000 + e.network()
		e.push(r)
	case arrive:
		e.arrival = e.now + e.random.ExpFloat64()/e.probe.Load
		e.arrive()
	case fail:
		e.failing = e.failing[1:]
		e.record(Record{Start: e.now - refusal, End: e.now, Failed: true})
	case second:
		e.setSpeed()
	}
	e.admit()
}

// refusal is the time of a request that fails.
const refusal = 0.25

// arrive sends a request, unless the last one was sent.
func (e *engine) arrive() {
	if e.now >= e.last {
		e.arrival = math.Inf(1)
		return
	}
	e.flight++
	if e.now >= e.warm {
		if e.counted++; e.counted == e.probe.Requests {
			e.last = e.now
		}
	}
	places := e.Batch - len(e.batch)
	if e.working {
		places--
	}
	if e.ErrorRate > 0 && e.random.Float64() < e.ErrorRate || e.Queue > 0 && len(e.waiting)-e.head-places >= e.Queue {
		e.failing = append(e.failing, e.now+refusal)
		return
	}
	e.number++
	work := e.Prefill * e.lognormal(e.PrefillCV)
	if e.Cached > 0 && !e.probe.Fresh {
		if e.number <= e.sent {
			work *= 1 - e.Cached
		} else {
			e.sent = e.number
		}
	}
	e.waiting = append(e.waiting, reply{start: e.now, work: work,
		tokens: max(2, int(math.Round(e.Tokens*e.lognormal(e.TokensCV))))})
	e.admit()
}

// admit begins the work on the oldest prompt if there is a place for its reply.
func (e *engine) admit() {
	if e.working || e.head == len(e.waiting) || len(e.batch) >= e.Batch {
		return
	}
	e.current = e.waiting[e.head]
	e.head++
	if e.head > 1024 && e.head*2 > len(e.waiting) {
		e.waiting = append(e.waiting[:0], e.waiting[e.head:]...)
		e.head = 0
	}
	e.left, e.working = e.current.work, true
}

func (e *engine) finished(r reply) {
	itl := (e.now - r.first) * 1000 / float64(r.tokens-1)
	if e.Client > 0 && !e.Rate && e.probe.Load > float64(e.Client) {
		itl *= e.probe.Load / float64(e.Client)
	}
	e.record(Record{Start: r.start, End: e.now, TTFT: r.ttft, ITL: itl, E2E: (e.now-r.first)*1000 + r.ttft,
		Tokens: r.tokens})
}

// record reports the end of a request; where the load is a concurrency, the next one follows.
func (e *engine) record(r Record) {
	e.flight--
	r.Waiting, r.Running, r.Draining = len(e.waiting)-e.head, len(e.batch), e.now > e.last
	if (r.Start >= e.warm || e.probe.Steady && r.End >= e.warm) && !e.yield(r) {
		e.stopped = true
	}
	if !e.Rate {
		e.arrive()
	}
}

// rate returns the tokens per second of each reply of the batch.
func (e *engine) rate() float64 {
	n := len(e.batch)
	took := e.Step + e.Each*float64(n) + e.Beyond*float64(max(0, n-e.Knee))
	f := e.factor
	if e.working {
		f *= 1 - e.Stall
	}
	if e.Cliff > 0 && n >= e.Cliff {
		f *= e.CliffSpeed
	}
	if e.Bump > 0 && n >= e.Bump && n < e.BumpEnd {
		f *= e.BumpSpeed
	}
	return f / took
}

// setSpeed takes the speed of the next second.
func (e *engine) setSpeed() {
	if e.now >= e.epoch {
		e.speed = e.Memory*e.speed + math.Sqrt(1-e.Memory*e.Memory)*e.Noise*e.noise.NormFloat64()
		e.epoch = math.Floor(e.now) + 1
	}
	e.factor = math.Exp(e.speed)
	if e.Wave > 0 {
		e.factor *= 1 + e.Wave*math.Sin(2*math.Pi*e.now/e.Period)
	}
	if e.Drift > 0 {
		e.factor *= 1 - e.Drift*min(e.now/1800, 1)
	}
}

// lognormal returns a draw of mean 1.
func (e *engine) lognormal(cv float64) float64 {
	if cv == 0 {
		return 1
	}
	v := math.Log1p(cv * cv)
	return math.Exp(math.Sqrt(v)*e.random.NormFloat64() - v/2)
}

func (e *engine) network() float64 {
	if e.Network == 0 {
		return 0
	}
	return 1000 * e.Network * e.lognormal(e.Jitter)
}

func (e *engine) push(r reply) {
	e.batch = append(e.batch, r)
	for i := len(e.batch) - 1; i > 0; {
		up := (i - 1) / 2
		if e.batch[up].due <= e.batch[i].due {
			return
		}
		e.batch[up], e.batch[i] = e.batch[i], e.batch[up]
		i = up
	}
}

func (e *engine) pop() reply {
	top, last := e.batch[0], len(e.batch)-1
	e.batch[0] = e.batch[last]
	e.batch = e.batch[:last]
	for i := 0; ; {
		c := 2*i + 1
		if c >= last {
			return top
		}
		if c+1 < last && e.batch[c+1].due < e.batch[c].due {
			c++
		}
		if e.batch[i].due <= e.batch[c].due {
			return top
		}
		e.batch[i], e.batch[c] = e.batch[c], e.batch[i]
		i = c
	}
}
