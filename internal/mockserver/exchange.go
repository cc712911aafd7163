package mockserver

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
)

// exchange is one request and its reply, as the record tells it. Instants are those of the clock.
type exchange struct {
	api       api
	sequence  uint64 // arrival number of inference requests, from 1
	arrival   int64  // the request is complete
	first     int64  // before the first write of the reply
	last      int64  // after its last write
	inFlight  int64  // inference requests at the arrival, this one included
	status    int    // 0 = no head was sent
	outcome   string // see infer
	fault     fault
	parsed    bool // the body could be read
	plan      plan
	spec      speculation
	output    int // tokens built into the reply
	sent      int // bytes
	events    int // events built into the reply
	unstamped int // of those, not yet written
	eventNS   []int64
	encoding  string // of the body
	books
}

func (x *exchange) begin() { *x = exchange{fault: noFault(), eventNS: x.eventNS[:0]} }

// stamp notes that what was built goes to the socket now.
func (x *exchange) stamp(now int64, events bool) {
	if x.first == 0 {
		x.first = now
	}
	if events {
		for range x.unstamped {
			x.eventNS = append(x.eventNS, now)
		}
	}
	x.unstamped = 0
}

// infer answers an inference request. A non-nil error ends the connection.
func (c *conn) infer(a api, body []byte) error {
	s, x := c.srv, &c.x
	x.api, x.inference = a, true
	x.arrival = s.clock.NowNS()
	x.sequence = s.sequence.Add(1)
	x.inFlight = s.inFlight.Add(1)
	err := c.answer(body)
	s.inFlight.Add(-1)
	var refusal *httpError
	switch {
	case errors.As(err, &refusal):
		if err = c.refuse(refusal); err == nil {
			x.outcome = "refused"
			break
		}
		fallthrough
	case err != nil:
		x.outcome = "cut"
		if errors.Is(err, errGone) {
			x.outcome = "client_gone"
		}
	default:
		x.outcome = "complete"
	}
	x.last = s.clock.NowNS()
	c.settleRest(x.last)
	if s.rec != nil {
		s.rec.add(c, body)
	}
	if s.opts.AccessLogs {
		s.log.Info("access", "method", string(c.head.method), "path", string(c.head.path), "status", x.status,
			"prompt_tokens", x.plan.promptTokens, "output_tokens", x.output,
			"ms", float64(x.last-x.arrival)/1e6, "outcome", x.outcome)
	}
	return err
}

// answer takes the steps from a request to its reply. An *httpError is for the caller to send.
func (c *conn) answer(body []byte) error {
	s, x := c.srv, &c.x
	if err := s.admit(c); err != nil {
		return err
	}
	invalid := c.read(body)
	if err := c.chooseFault(); err != nil {
		return err
	}
	if invalid == nil {
		c.admit(len(body))
	}
	start := x.arrival + int64(x.fault.delay)
	if err := c.wait(start); err != nil {
		return err
	}
	if x.fault.never {
		return c.hang()
	}
	if x.fault.status >= 300 {
		return c.refuseByFault()
	}
	if s.opts.ErrorRate > 0 {
		draw := s.errors.At(x.sequence)
		if draw.Float64()*100 < s.opts.ErrorRate {
			return c.send(http.StatusInternalServerError, jsonType, []byte(`{"detail":"Simulated error"}`))
		}
	}
	if invalid != nil {
		return invalid
	}
	if s.batch.limit > 0 {
		if err := c.join(); err != nil {
			return err
		}
		defer s.batch.leave()
		start = max(start, s.clock.NowNS())
	}
	due := s.latency.schedule(start, x.plan.promptTokens, x.sequence)
	if work := s.opts.work(x.api, &c.req); work >= 0 {
		due = s.latency.fixed(start, work)
	} else if s.scheduler.opts.Enabled && x.plan.tokens() > 0 {
		due.job = s.scheduler.add(c, x.plan.promptTokens, x.plan.tokens())
		defer s.scheduler.remove(due.job)
	}
	if bodiless(x.fault.status) {
		return c.send(x.fault.status, jsonType, nil)
	}
	if c.req.stream {
		return c.stream(due)
	}
	return c.whole(due)
}

// read parses the body and plans the reply, so that the record knows both whatever happens next.
func (c *conn) read(body []byte) *httpError {
	s, x := c.srv, &c.x
	if x.api == apiTGI && bytes.Contains(body, []byte(`"input_ids"`)) {
		x.api = apiSGLang
	}
	c.req.format = string(c.head.contentType)
	var err *httpError
	if x.api == apiInfer {
		x.api, err = c.req.infer(string(c.head.path), body)
	} else {
		err = c.req.parse(x.api, body)
	}
	if err != nil {
		return err
	}
	hash := hashBytes(s.opts.Seed, c.req.text)
	tokens := s.vocabulary.promptTokens(c.req.text, hash) + c.req.ids
	x.plan = newPlan(x.api, &c.req, tokens, s.opts.OutputTokens, hash+uint64(c.req.ids))
	c.speculate()
	x.parsed = true
	return nil
}

// chooseFault takes the fault of the header, else that of the server, at its rate.
func (c *conn) chooseFault() *httpError {
	f := c.srv.fault
	if c.head.hasFault {
		var err error
		if f, err = parseFault(string(c.head.fault)); err != nil {
			return badRequest("X-Mock-Fault: %v", err)
		}
	}
	if f.spec == "" {
		return nil
	}
	if f.rate < 1 {
		draw := c.srv.faults.At(c.x.sequence)
		if draw.Float64() >= f.rate {
			return nil
		}
	}
	c.x.fault = f
	if e, ok := c.nc.(engineEnd); ok && f.closeIdle >= 0 {
		e.leaveAfter(f.closeIdle)
	}
	return nil
}

func (c *conn) refuseByFault() error {
	status := c.x.fault.status
	return &httpError{status, "injected fault: status " + strconv.Itoa(status)}
}
