package mockserver

// This file enters the moments of an inference request in the books. What the client can know was
// entered before it could: a whole reply counts before its last bytes are written.

// books is the part of an exchange that the books need.
type books struct {
	inference, admitted, settled bool
	serving                      bool  // has its place in the batch
	closing                      bool  // the next write ends the reply
	even                         bool  // tokens are spread evenly over the time since the first
	queued                       int64 // nanoseconds in the queue
	accounted                    int   // tokens
	firstToken, lastToken        int64
}

// admit enters a request that will be worked on.
func (c *conn) admit(bodyBytes int) {
	s, x := c.shard, &c.x
	x.admitted = true
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count[cStarted]++
	s.count[cBytesIn] += int64(bodyBytes)
	if c.req.stream {
		s.count[cStreaming]++
	}
	s.level[lActive]++
	s.level[lFresh]++
	s.addModel(c.req.model)
	if c.srv.batch.limit == 0 {
		c.place(s)
	}
}

// place gives the request its place in the batch. The shard is locked.
func (c *conn) place(s *shard) {
	c.x.serving = true
	s.level[lHeld] += int64(c.x.plan.promptTokens)
}

// join waits for a place in the batch and enters the wait.
func (c *conn) join() error {
	s, x := c.shard, &c.x
	s.mu.Lock()
	s.level[lWaiting]++
	s.mu.Unlock()
	from := c.srv.clock.NowNS()
	err := c.srv.batch.join(c)
	x.queued = c.srv.clock.NowNS() - from
	s.mu.Lock()
	defer s.mu.Unlock()
	s.level[lWaiting]--
	if err == nil {
		c.place(s)
	}
	return err
}

// account enters what is about to be written: n bytes, the tokens that were built since the last
// time, and the end of the reply if this is it.
func (c *conn) account(now int64, n int, ends bool) {
	x := &c.x
	fresh := x.output - x.accounted
	if fresh == 0 && !ends {
		return
	}
	s := c.shard
	s.mu.Lock()
	if fresh > 0 && x.serving {
		c.tokens(s, now, fresh)
	}
	if ends {
		c.settle(s, now, n)
	}
	s.mu.Unlock()
}

// generateFirst enters the first token of a reply that is written later, as a whole.
func (c *conn) generateFirst() {
	s := c.shard
	s.mu.Lock()
	c.tokens(s, c.srv.clock.NowNS(), 1)
	s.mu.Unlock()
	c.x.even = true
}

// tokens enters tokens that are written together. The shard is locked.
func (c *conn) tokens(s *shard, now int64, fresh int) {
	x := &c.x
	n := int64(fresh)
	s.count[cGenerated] += n
	if c.req.stream {
		s.count[cStreamed] += n
	}
	s.level[lHeld] += n
	x.accounted += fresh
	if x.firstToken == 0 {
		x.firstToken, x.lastToken = now, now
		prompt := int64(x.plan.promptTokens)
		s.level[lFresh]--
		s.count[cPrompt] += prompt
		s.hist[qTTFT].observe(now-x.arrival, 1)
		s.hist[qStep].observe(prompt+1, 1)
		if n--; n == 0 {
			return
		}
	}
	s.hist[qStep].observe(1, n)
	gap := now - x.lastToken
	if x.even {
		// A plain reply leaves one gap after its last token.
		gap /= n + 1
		s.hist[qITL].observe(gap, n)
		x.lastToken += gap * n
		return
	}
	s.hist[qITL].observe(gap, 1)
	if n > 1 {
		s.hist[qITL].observe(0, n-1)
	}
	x.lastToken = now
}

// settle closes the account of a request. n is what is still to be written. The shard is locked.
func (c *conn) settle(s *shard, now int64, n int) {
	x := &c.x
	x.settled = true
	s.count[cBytesOut] += int64(x.sent + n)
	if x.admitted {
		s.level[lActive]--
		if x.firstToken == 0 {
			s.level[lFresh]--
		}
		if x.serving {
			s.level[lHeld] -= int64(x.plan.promptTokens + x.accounted)
		}
	}
	if c.succeeds() {
		c.success(s, now)
		return
	}
	gone := x.outcome == "client_gone"
	f := failure{api: x.api, stream: x.parsed && c.req.stream, gone: gone}
	if !gone && x.status >= 300 {
		f.status = x.status
	}
	switch {
	case gone:
		s.count[cGone]++
		if x.admitted {
			s.count[cAbort]++
		}
	case x.admitted && f.status == 0:
		s.count[cError]++
	}
	c.srv.tally.fail(f)
}

// succeeds reports whether the reply is whole and as the client wants it.
func (c *conn) succeeds() bool {
	x := &c.x
	return x.closing && x.parsed && x.status >= 200 && x.status < 300 && !bodiless(x.status) &&
		x.output == x.plan.tokens() && !x.fault.error200 && !x.fault.malformedJSON
}

func (c *conn) success(s *shard, now int64) {
	x := &c.x
	finish := cStop
	if x.plan.finish == "length" {
		finish = cLength
	}
	s.count[finish]++
	s.count[cDoneOf(x.api, c.req.stream)]++
	c.countSpeculation(s)
	s.hist[qE2E].observe(now-x.arrival, 1)
	s.hist[qQueue].observe(x.queued, 1)
	s.hist[qInference].observe(now-x.arrival-x.queued, 1)
	s.hist[qPrompt].observe(int64(x.plan.promptTokens), 1)
	s.hist[qOutput].observe(int64(x.output), 1)
	if limit := c.req.limit(); limit > 0 {
		s.hist[qLimit].observe(int64(limit), 1)
	}
	if x.output == 0 {
		// No token brought the prompt to the account.
		s.count[cPrompt] += int64(x.plan.promptTokens)
		return
	}
	decode := x.lastToken - x.firstToken
	s.hist[qPrefill].observe(x.firstToken-x.arrival-x.queued, 1)
	s.hist[qDecode].observe(decode, 1)
	if x.output > 1 {
		s.hist[qTPOT].observe(decode/int64(x.output-1), 1)
	}
}

// settleRest closes the account of a request whose reply was not written to its end.
func (c *conn) settleRest(now int64) {
	if c.x.settled {
		return
	}
	c.x.closing = c.x.closing && c.x.outcome == "complete"
	c.shard.mu.Lock()
	c.settle(c.shard, now, 0)
	c.shard.mu.Unlock()
}
