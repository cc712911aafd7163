package page

import "aiperf/internal/mockserver/api"

// stallNS is the delay above which a frontend counts as stalled, as Dynamo's does.
const stallNS = 5_000_000

// Account enters the moments of one inference request in the tally. What the client can know is entered before the
// client can know it: a whole reply counts before its last bytes are written.
type Account struct {
	tally *Tally
	shard *shard
	reply *api.Reply

	admitted, settled     bool
	waiting               bool  // for a place in the batch, since waitsNS
	running               bool  // has its place in the batch
	worked                bool  // had it before
	even                  bool  // tokens are spread evenly over the time since the first
	waitsNS, queued       int64 // queued: nanoseconds in the queue
	frontend              int64 // nanoseconds before the engine had it
	counted               int   // tokens
	firstToken, lastToken int64
}

// Account returns an account for the requests of a new connection, one after the other.
func (t *Tally) Account() Account { return Account{tally: t, shard: &t.shards[t.next.Add(1)%shards]} }

// Begin starts the account of a request.
func (a *Account) Begin(r *api.Reply) { *a = Account{tally: a.tally, shard: a.shard, reply: r} }

// Admit enters a request that will be worked on. It neither waits nor runs before [Account.Queue] or [Account.Place].
func (a *Account) Admit(bodyBytes int) {
	s := a.shard
	s.mu.Lock()
	defer s.mu.Unlock()
	a.admitted = true
	s.count[cStarted]++
	s.count[cBytesIn] += int64(bodyBytes)
	if a.reply.Request.Stream {
		s.count[cStreaming]++
	}
	s.level[lActive]++
	s.level[lFresh]++
	s.addModel(a.reply.Request.Model)
}

// Frontend enters the time before the engine has the request: how late the frontend begins with it, and all of it.
func (a *Account) Frontend(delay, all int64) {
	a.shard.mu.Lock()
	defer a.shard.mu.Unlock()
	a.frontend = all
	a.shard.hist[qLoop].observe(delay, 1)
	a.shard.hist[qPreprocess].observe(all-delay, 1)
	if delay > stallNS {
		a.shard.count[cStalled]++
	}
}

// Queue enters that the request waits for a place in the batch from now on. It may be called from any goroutine.
func (a *Account) Queue(now int64) {
	a.shard.mu.Lock()
	defer a.shard.mu.Unlock()
	if a.admitted && !a.settled && !a.waiting && !a.running {
		a.waiting, a.waitsNS = true, now
		a.shard.level[lWaiting]++
	}
}

// Place enters that the request has its place in the batch from now on. It may be called from any goroutine.
func (a *Account) Place(now int64) {
	a.shard.mu.Lock()
	defer a.shard.mu.Unlock()
	if !a.admitted || a.settled || a.running {
		return
	}
	a.unqueue(now)
	a.running, a.worked = true, true
	s := a.shard
	s.level[lRunning]++
	if a.firstToken == 0 {
		s.level[lPrefill]++
	}
	s.level[lHeld] += int64(a.reply.Plan.PromptTokens + a.counted)
}

// Preempt enters that the request lost its place and waits for another. It may be called from any goroutine.
func (a *Account) Preempt(now int64) {
	a.shard.mu.Lock()
	defer a.shard.mu.Unlock()
	if a.settled || !a.running {
		return
	}
	a.unplace()
	a.shard.count[cPreempted]++
	a.waiting, a.waitsNS = true, now
	a.shard.level[lWaiting]++
}

// unqueue ends a wait. The shard is locked.
func (a *Account) unqueue(now int64) {
	if a.waiting {
		a.waiting = false
		a.queued += now - a.waitsNS
		a.shard.level[lWaiting]--
	}
}

// unplace ends the work on the request. The shard is locked.
func (a *Account) unplace() {
	if !a.running {
		return
	}
	a.running = false
	s := a.shard
	s.level[lRunning]--
	if a.firstToken == 0 {
		s.level[lPrefill]--
	}
	s.level[lHeld] -= int64(a.reply.Plan.PromptTokens + a.counted)
}

// Generated enters the first token of a reply that is written later, as a whole.
func (a *Account) Generated(now int64) {
	a.shard.mu.Lock()
	a.tokens(now, 1)
	a.shard.mu.Unlock()
	a.even = true
}

// Write enters what is about to be written: the tokens since the last time, of output in all, and the end of the reply
// if end is not nil.
func (a *Account) Write(now int64, output int, end *Ending) {
	fresh := output - a.counted
	if fresh == 0 && end == nil {
		return
	}
	a.shard.mu.Lock()
	if fresh > 0 && a.worked {
		a.tokens(now, fresh)
	}
	if end != nil {
		a.settle(now, end)
	}
	a.shard.mu.Unlock()
}

// tokens enters tokens that are written together. The shard is locked.
func (a *Account) tokens(now int64, fresh int) {
	s, r := a.shard, a.reply
	n := int64(fresh)
	s.count[cGenerated] += n
	if r.Request.Stream {
		s.count[cStreamed] += n
	}
	if a.running {
		s.level[lHeld] += n
	}
	a.counted += fresh
	if a.firstToken == 0 {
		a.firstToken, a.lastToken = now, now
		prompt := int64(r.Plan.PromptTokens)
		s.level[lFresh]--
		if a.running {
			s.level[lPrefill]--
		}
		s.count[cPrompt] += prompt
		s.count[cCached] += int64(r.Plan.Cached)
		s.hist[qTTFT].observe(now-r.Arrival-a.frontend, 1)
		s.hist[qFrontTTFT].observe(now-r.Arrival, 1)
		s.hist[qStep].observe(prompt+1, 1)
		if n--; n == 0 {
			return
		}
	}
	s.hist[qStep].observe(1, n)
	gap := now - a.lastToken
	if a.even {
		// A plain reply leaves one gap after its last token.
		gap /= n + 1
		s.hist[qITL].observe(gap, n)
		a.lastToken += gap * n
		return
	}
	s.hist[qITL].observe(gap, 1)
	if n > 1 {
		s.hist[qITL].observe(0, n-1)
	}
	a.lastToken = now
}

// Ending is how a reply ends.
type Ending struct {
	Bytes  int // of the reply
	Status int // 0 = no head was sent
	Output int // tokens
	Parsed bool
	Gone   bool // the client left
	Whole  bool // and as the client wants it
}

// Settle closes the account of a request whose reply was not written to its end.
func (a *Account) Settle(now int64, end *Ending) {
	if a.settled {
		return
	}
	a.shard.mu.Lock()
	a.settle(now, end)
	a.shard.mu.Unlock()
}

// settle closes the account. The shard is locked.
func (a *Account) settle(now int64, end *Ending) {
	s := a.shard
	a.unqueue(now)
	a.unplace()
	a.settled = true
	s.count[cBytesOut] += int64(end.Bytes)
	if a.admitted {
		s.level[lActive]--
		if a.firstToken == 0 {
			s.level[lFresh]--
		}
	}
	if end.Whole {
		a.success(now, end.Output)
		return
	}
	f := failure{api: a.reply.API, stream: end.Parsed && a.reply.Request.Stream, gone: end.Gone}
	if !end.Gone && end.Status >= 300 {
		f.status = end.Status
	}
	switch {
	case end.Gone:
		s.count[cGone]++
		if a.admitted {
			s.count[cAbort]++
		}
	case a.admitted && f.status == 0:
		s.count[cError]++
	}
	a.tally.fail(f)
}

// success counts a request that was answered to its end, with the histograms that real servers keep: now is its end in
// ns, output the number of its tokens. The time per output token is over the intervals between tokens, one fewer than
// tokens.
func (a *Account) success(now int64, output int) {
	s, r := a.shard, a.reply
	finish := cStop
	if r.Plan.Finish == "length" {
		finish = cLength
	}
	s.count[finish]++
	s.count[cDoneOf(r.API, r.Request.Stream)]++
	a.speculation()
	s.hist[qFrontE2E].observe(now-r.Arrival, 1)
	s.hist[qE2E].observe(now-r.Arrival-a.frontend, 1)
	s.hist[qQueue].observe(a.queued, 1)
	s.hist[qInference].observe(now-r.Arrival-a.frontend-a.queued, 1)
	s.hist[qPrompt].observe(int64(r.Plan.PromptTokens), 1)
	s.hist[qOutput].observe(int64(output), 1)
	if limit := r.Request.Limit(); limit > 0 {
		s.hist[qLimit].observe(int64(limit), 1)
	}
	if output == 0 {
		// The prompt was not entered with a first token.
		s.count[cPrompt] += int64(r.Plan.PromptTokens)
		return
	}
	decode := a.lastToken - a.firstToken
	s.hist[qPrefill].observe(max(a.firstToken-r.Arrival-a.frontend-a.queued, 0), 1)
	s.hist[qDecode].observe(decode, 1)
	if output > 1 {
		s.hist[qTPOT].observe(decode/int64(output-1), 1)
	}
}

// speculation enters the speculative decoding of the reply.
func (a *Account) speculation() {
	s, x := a.shard, &a.reply.Spec
	if x.Steps == 0 {
		return
	}
	s.count[cDrafts] += int64(x.Steps)
	s.count[cDrafted] += int64(x.Drafted)
	s.count[cAccepted] += int64(x.Accepted)
	// Position i was accepted in each step that accepted more than i.
	beyond := int64(0)
	for i := api.MaxSpecTokens; i > 0; i-- {
		beyond += int64(x.Buckets[i])
		s.count[cAcceptedAt+counter(i-1)] += beyond
	}
}
