package mockserver

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
	"sync/atomic"

	"aiperf/internal/mockserver/api"
	"aiperf/internal/mockserver/httpd"
	"aiperf/internal/mockserver/page"
)

// handler answers the requests of one connection.
type handler struct {
	srv     *Server
	conn    *httpd.Conn
	account page.Account
	fields  fields
	reply   api.Reply // to the current inference request
	x       exchange
	session session     // with Options.Sessions
	text    []byte      // for building a body
	granted atomic.Bool // has its place in the batch
}

// handler returns the handler of a new connection.
func (s *Server) handler(c *httpd.Conn) httpd.Handler {
	return &handler{srv: s, conn: c, account: s.exporter.Tally().Account()}
}

// fields are the header fields that steer the server.
type fields struct {
	credential, fault, requestID, contentType []byte
	hasFault, openMetrics                     bool // openMetrics: among what the client accepts
}

// read notes the fields of a head. authHeader is the lower-case name of the one that carries the API key.
func (f *fields) read(h *httpd.Head, authHeader string) {
	*f = fields{}
	for i := range h.Fields {
		field := &h.Fields[i]
		if field.Is(authHeader) {
			f.credential = field.Value
		}
		switch len(field.Name) {
		case len("accept"):
			if field.Is("accept") {
				f.openMetrics = f.openMetrics || bytes.Contains(field.Value, []byte(page.OpenMetricsType))
			}
		case len("x-api-key"):
			if f.credential == nil && field.Is("x-api-key") {
				f.credential = field.Value // where the messages API has it
			}
		case len("x-mock-fault"): // as long as "x-request-id" and "content-type"
			switch {
			case field.Is("x-mock-fault"):
				f.fault, f.hasFault = field.Value, true
			case field.Is("x-request-id"):
				f.requestID = field.Value
			case field.Is("content-type"):
				f.contentType = field.Value
			}
		}
	}
}

// exchange is one request and its reply, as the record shows it. Instants are those of the clock.
type exchange struct {
	inference bool
	first     int64  // before the first write of the reply
	last      int64  // after its last write
	inFlight  int64  // inference requests at the arrival, this one included
	outcome   string // see infer
	fault     httpd.ReplyFault
	parsed    bool // the body could be read
	output    int  // tokens built into the reply
	unstamped int  // events built into the reply and not yet written
	eventNS   []int64
}

func (x *exchange) begin() { *x = exchange{fault: httpd.NoReplyFault(), eventNS: x.eventNS[:0]} }

// Writing notes the time, and enters in the account what is about to be written.
func (h *handler) Writing(now int64, n int, ends bool) {
	x := &h.x
	if x.first == 0 {
		x.first = now
	}
	if h.srv.opts.RecordEvents {
		for range x.unstamped {
			x.eventNS = append(x.eventNS, now)
		}
	}
	x.unstamped = 0
	switch {
	case !x.inference:
	case ends:
		end := h.ending(n, true)
		h.account.Write(now, x.output, &end)
	default:
		h.account.Write(now, x.output, nil)
	}
}

// ending returns how the reply ends; more is what is still to be written, whole says that all of it was or is.
func (h *handler) ending(more int, whole bool) page.Ending {
	x, c := &h.x, h.conn
	return page.Ending{
		Bytes: c.Sent + more, Status: c.Status, Output: x.output, Parsed: x.parsed, Gone: x.outcome == clientGone,
		Whole: whole && x.parsed && c.Status >= 200 && c.Status < 300 && !httpd.Bodiless(c.Status) &&
			x.output == h.reply.Plan.Tokens() && !x.fault.Error200 && !x.fault.MalformedJSON,
	}
}

// Trim implements httpd.Handler.
func (h *handler) Trim(keep int) {
	if cap(h.text) > keep {
		h.text = nil
	}
	h.reply.Trim(keep)
}

// Refuse implements httpd.Handler.
func (h *handler) Refuse(e *httpd.Error) error {
	h.x.begin()
	return h.refuse(e)
}

// refuse sends an error in the shape of the OpenAI API.
func (h *handler) refuse(e *httpd.Error) error {
	h.text = api.AppendError(h.text[:0], e.Status, e.Message)
	return h.send(e.Status, api.JSONType, h.text)
}

// send writes a whole reply, with the fault of the request.
func (h *handler) send(status int, contentType string, body []byte) error {
	if h.x.fault.MalformedJSON && len(body) > 0 {
		body = body[:len(body)-1]
	}
	if status == http.StatusMethodNotAllowed {
		h.conn.Allow = h.allowedMethod()
	}
	return h.conn.Send(status, contentType, body, h.x.fault.CutMidEvent)
}

// The outcomes of inference requests.
const (
	complete   = "complete"
	refused    = "refused"
	cutOff     = "cut"
	clientGone = "client_gone"
)

// infer answers an inference request. A non-nil error ends the connection.
func (h *handler) infer(a api.API, body []byte) error {
	s, x := h.srv, &h.x
	x.inference = true
	h.reply.Begin(s.generator, a, s.sequence.Add(1), s.clock.NowNS())
	h.account.Begin(&h.reply)
	if s.opts.Sessions {
		h.session.begin(h)
	}
	x.inFlight = s.inFlight.Add(1)
	h.reply.InFlight = x.inFlight
	err := h.answer(body)
	s.inFlight.Add(-1)
	var refusal *httpd.Error
	switch {
	case errors.As(err, &refusal):
		if err = h.refuse(refusal); err == nil {
			x.outcome = refused
			break
		}
		fallthrough
	case err != nil:
		x.outcome = cutOff
		if errors.Is(err, httpd.ErrGone) {
			x.outcome = clientGone
		}
	default:
		x.outcome = complete
	}
	x.last = s.clock.NowNS()
	end := h.ending(0, x.outcome == complete)
	h.account.Settle(x.last, &end)
	if s.rec != nil {
		s.rec.add(h, body)
	}
	if s.opts.AccessLogs {
		s.log.Info("access", "method", string(h.conn.Head.Method), "path", string(h.conn.Head.Path),
			"status", h.conn.Status, "prompt_tokens", h.reply.Plan.PromptTokens, "output_tokens", x.output,
			"ms", float64(x.last-h.reply.Arrival)/1e6, "outcome", x.outcome)
	}
	return err
}

// answer takes the steps from a request to its reply. An [httpd.Error] is for the caller to send.
func (h *handler) answer(body []byte) error {
	s, x, c, r := h.srv, &h.x, h.conn, &h.reply
	if err := s.admit(h); err != nil {
		return err
	}
	invalid := h.read(body)
	if err := h.chooseFault(); err != nil {
		return err
	}
	if invalid == nil {
		h.account.Admit(len(body))
		h.lookUp()
	}
	start := r.Arrival + int64(x.fault.Delay)
	if s.frontend.each > 0 {
		begun, done := s.frontend.take(start)
		h.account.Frontend(begun-start, done-start)
		start = done
	}
	if err := c.Wait(start); err != nil {
		return err
	}
	if x.fault.Never {
		return c.Hang()
	}
	if x.fault.Status >= 300 {
		return injected(x.fault.Status)
	}
	if s.opts.ErrorRate > 0 {
		draw := s.errors.At(r.Sequence)
		if draw.Float64()*100 < s.opts.ErrorRate {
			return h.send(http.StatusInternalServerError, api.JSONType, []byte(`{"detail":"Simulated error"}`))
		}
	}
	if invalid != nil {
		return invalid
	}
	if s.batch.limit > 0 {
		h.account.Queue(s.clock.NowNS())
		if err := s.batch.join(h); err != nil {
			return err
		}
		defer s.batch.leave()
		start = max(start, s.clock.NowNS())
	}
	if !h.scheduled() {
		h.account.Place(start)
	}
	start = s.cold.over(start)
	due := s.latency.schedule(start, size{r.Plan.PromptTokens - r.Plan.Cached, r.Plan.Tokens(), int(x.inFlight)},
		s.speed(start), r.Sequence)
	if work := s.opts.work(r); work >= 0 {
		due = s.latency.fixed(start, work)
	} else if h.scheduled() {
		if err := c.Wait(start); err != nil {
			return err
		}
		due.job = newJob(h)
		s.scheduler.add(due.job)
		defer s.scheduler.remove(due.job)
	}
	if httpd.Bodiless(x.fault.Status) {
		return h.send(x.fault.Status, api.JSONType, nil)
	}
	if r.Request.Stream {
		return h.stream(due)
	}
	return h.whole(due)
}

// scheduled reports whether the scheduler makes the tokens of the reply.
func (h *handler) scheduled() bool {
	s := h.srv
	return s.scheduler.opts.Enabled && h.reply.Plan.Tokens() > 0 && s.opts.work(&h.reply) < 0
}

// lookUp asks the prefix cache for the prompt, and adds it.
func (h *handler) lookUp() {
	if h.srv.prefixes != nil {
		h.reply.Plan.Cached = h.srv.prefixes.look(h.reply.Prompt(), h.reply.Plan.PromptTokens)
	}
}

// read parses the body and plans the reply, so that the record knows both whatever happens next.
func (h *handler) read(body []byte) error {
	err := h.reply.Read(h.conn.Head.Path, string(h.fields.contentType), body)
	switch {
	case errors.Is(err, api.ErrMediaType):
		return &httpd.Error{Status: http.StatusUnsupportedMediaType, Message: err.Error()}
	case err != nil:
		return httpd.BadRequest(err.Error())
	}
	h.x.parsed = true
	return nil
}

// chooseFault sets the fault of the header, else that of the server, at its rate.
func (h *handler) chooseFault() error {
	f := h.srv.fault
	if h.fields.hasFault {
		var err error
		if f, err = httpd.ParseReplyFault(string(h.fields.fault)); err != nil {
			return httpd.BadRequest("X-Mock-Fault: " + err.Error())
		}
	}
	if f.Spec == "" {
		return nil
	}
	if f.Rate < 1 {
		draw := h.srv.faults.At(h.reply.Sequence)
		if draw.Float64() >= f.Rate {
			return nil
		}
	}
	h.x.fault = f
	h.conn.Distort(f.Distortion)
	return nil
}

// injected returns the error of a fault.
func injected(status int) *httpd.Error {
	return &httpd.Error{Status: status, Message: "injected fault: status " + strconv.Itoa(status)}
}

// whole answers a request that does not stream: at the instant after its last token.
func (h *handler) whole(due schedule) error {
	x, tokens := &h.x, h.reply.Plan.Tokens()
	if !due.floods() && tokens > 0 && !x.fault.Error200 {
		if err := h.await(&due, 0); err != nil {
			return err
		}
		h.account.Generated(h.srv.clock.NowNS())
	}
	last := tokens
	if due.job != nil {
		last-- // there is no gap after the last token
	}
	if err := h.await(&due, last); err != nil {
		return err
	}
	body, contentType := h.reply.AppendWhole(h.text[:0])
	x.output = tokens
	if x.fault.Error200 {
		body, contentType = append(body[:0], api.ErrorInside...), api.JSONType
		x.output = 0
	}
	h.text = body
	return h.send(h.status(), contentType, body)
}

// status returns the status of a reply that succeeds.
func (h *handler) status() int {
	if status := h.x.fault.Status; status != 0 {
		return status
	}
	return http.StatusOK
}
