// Package session plays conversations: it keeps the history of a running conversation, gives it its ids and prepares
// each of its requests completely, before the instant at which it is sent.
//
// A session is one run of a conversation; a turn is one request of it. The capture of a turn's reply must have returned
// before the next turn is prepared. A request body depends on the replies captured so far only where the conversation's
// context mode says so; all other bodies are encoded once and shared by every session that plays the conversation.
// The package sends nothing and reads no clock, but for the expiry of cookies.
package session

import (
	"errors"
	"fmt"
	"sync"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/dataset"
)

// Options bind a store to a run.
type Options struct {
	Dataset  *dataset.Dataset
	Endpoint endpoint.Endpoint
	// URLs are the whole addresses; a session uses one of them for all its turns.
	URLs    []string
	Headers Headers
	// URLHeaders are further headers of the requests to each of the addresses; nil: there are none. Those of the data
	// replace them.
	URLHeaders [][]dataset.Header
	// Keep says what later requests of a session carry of earlier replies.
	Keep Keep
	// KeepTrace and KeepRaw are set in every request.
	KeepTrace, KeepRaw bool
	// CacheBust is nil where requests are not marked.
	CacheBust *CacheBust
}

// Store holds the running sessions and the encoded bodies that they share. It is safe for concurrent
// use.
type Store struct {
	options Options
	ids     *idSource
	bodies  bodyCache

	mu       sync.Mutex
	sessions map[uint64]*Session

	headersMu sync.RWMutex
	headers   map[headerKind]*headerTemplate
}

type headerKind struct {
	stream      bool
	contentType string
}

// NewStore makes a store without sessions.
func NewStore(o Options) *Store {
	return &Store{
		options:  o,
		ids:      newIDSource(),
		sessions: map[uint64]*Session{},
		headers:  map[headerKind]*headerTemplate{},
	}
}

// Session returns the running session k; at the first call it starts to play the conversation of that
// index.
func (s *Store) Session(k uint64, conversation int) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if running, ok := s.sessions[k]; ok {
		return running
	}
	return s.start(k, conversation)
}

func (s *Store) start(k uint64, conversation int) *Session {
	c := s.options.Dataset.At(conversation)
	started := &Session{
		store:         s,
		index:         conversation,
		conversation:  c,
		seed:          c,
		mode:          s.options.Dataset.Mode(c),
		correlationID: s.ids.next(),
		kept:          newKept(&s.options.Keep),
	}
	if b := s.options.CacheBust; b != nil && b.plays() {
		started.playMark = b.playMark(k, conversation, s.options.Dataset.Len(), c.SessionID)
	}
	s.sessions[k] = started
	return started
}

// Named starts session k under an id of the caller's.
func (s *Store) Named(k uint64, conversation int, correlationID string) *Session {
	session := s.Session(k, conversation)
	session.correlationID = correlationID
	return session
}

// Forget drops session k.
func (s *Store) Forget(k uint64) {
	s.mu.Lock()
	delete(s.sessions, k)
	s.mu.Unlock()
}

// Session is one run of a conversation.
type Session struct {
	store        *Store
	index        int
	conversation *dataset.Conversation
	// seed is the conversation with which the history begins.
	seed          *dataset.Conversation
	mode          dataset.ContextMode
	correlationID string
	// playMark is the mark of this play against caches, empty without one; warm says that requests are
	// those of a warm-up.
	playMark string
	warm     bool
	// replies are the captured replies by turn.
	replies []captured
	// kept is nil where nothing is kept of the heads of replies.
	kept *kept
	// past are the turns that have been sent, as the history of later requests carries them.
	past   []pastTurn
	pastMu sync.Mutex
	ancestry
}

// captured is a reply as later requests carry it; its message is nil where a turn left none.
type captured struct {
	message []byte
	id      string
}

// pastTurn is a turn with its text made, and its encoded form.
type pastTurn struct {
	turn *dataset.Turn
	kept *endpoint.Kept
}

// turnOf is turn i as a part of later requests: neither its text nor its messages are made again.
func (s *Session) turnOf(i int) endpoint.Turn {
	s.pastMu.Lock()
	defer s.pastMu.Unlock()
	for len(s.past) <= i {
		s.past = append(s.past, pastTurn{s.conversation.Turns[len(s.past)].Whole(), new(endpoint.Kept)})
	}
	return endpoint.Turn{Turn: s.past[i].turn, Kept: s.past[i].kept}
}

// Conversation is what the session plays.
func (s *Session) Conversation() *dataset.Conversation { return s.conversation }

// live reports whether requests carry the replies of earlier turns.
func (s *Session) live() bool { return s.mode == dataset.DeltasWithoutResponses }

// Capture keeps the reply of a turn for the requests that follow. It does nothing where no request
// will carry it; a failed turn has no reply and is not captured.
func (s *Session) Capture(turn int, reply *endpoint.Reply) {
	if !s.live() || turn >= len(s.conversation.Turns)-1 && !forks(&s.conversation.Turns[turn]) {
		return
	}
	if s.replies == nil {
		s.replies = make([]captured, len(s.conversation.Turns))
	}
	s.replies[turn] = captured{reply.AppendAssistant(nil), reply.ID}
}

// Prepared is a request that waits for its instant.
type Prepared struct {
	Request client.Request
	// Body is the request's body with its token count; nil when Err is set.
	Body *endpoint.Body
	// Identity lacks what only the credit has: session number and phase.
	Identity record.Identity
	// RequestedTokens is the output limit of the turn, record.Absent without one.
	RequestedTokens int64
	// Images and AudioNS are what the request shows and plays, 0 for none.
	Images, AudioNS int64
	// Prefix counts the blocks of the turn's prompt; nil: they are not known.
	Prefix *dataset.Prefix
	// Model is the model that the turn names; empty for the primary one.
	Model string
	// Err is set if the turn cannot be sent; the request then fails with it.
	Err *record.Error

	session *Session
}

// Prepare makes the request of a turn as it is profiled. Address and cancellation are the credit's and set by Aim.
func (s *Session) Prepare(turn int) *Prepared { return s.PrepareFor(turn, Play{}) }

// PrepareFor makes the request of a turn for a phase.
func (s *Session) PrepareFor(turn int, play Play) *Prepared {
	o := &s.store.options
	p := &Prepared{
		session:         s,
		RequestedTokens: record.Absent,
		Identity: record.Identity{
			RequestID:      s.store.ids.next(),
			CorrelationID:  s.correlationID,
			ConversationID: s.conversation.SessionID,
			TurnIndex:      turn,
			AgentDepth:     s.depth, ParentCorrelationID: s.parentID, RootCorrelationID: s.rootID,
		},
	}
	if mark := s.marker(); mark.Text != "" {
		p.Identity.CacheBustMarker, p.Identity.CacheBustTarget = mark.Part(), o.CacheBust.Target
	}
	if turn < 0 || turn >= len(s.conversation.Turns) {
		p.Err = encodeError(fmt.Errorf("conversation %s has no turn %d", s.conversation.SessionID, turn))
		return p
	}
	if err := s.conversation.Broken; err != nil {
		p.Err = encodeError(err)
		return p
	}
	p.Identity.Archetype = s.conversation.Turns[turn].Archetype
	p.Model, p.Prefix = s.conversation.Turns[turn].Model, s.conversation.Turns[turn].Prefix
	if limit := s.conversation.Turns[turn].MaxTokens; limit != nil {
		p.RequestedTokens = int64(*limit)
	}
	if play.OneToken {
		p.RequestedTokens = 1
	}
	body, err := s.body(turn, play, p.Identity.RequestID)
	if err != nil {
		p.Err = encodeError(err)
		return p
	}
	p.Body = body
	p.Images, p.AudioNS = s.shown(turn, body)
	p.Request = client.Request{
		Method:        "POST",
		Headers:       s.headers(p, 0),
		Body:          body.Bytes,
		Session:       s.correlationID,
		FinalTurn:     turn == len(s.conversation.Turns)-1,
		CancelAfterNS: -1,
		KeepTrace:     o.KeepTrace,
		KeepRaw:       o.KeepRaw,
	}
	if poller, ok := o.Endpoint.(endpoint.Poller); ok {
		p.Request.FollowUp = followUp{poller.NewJob()}
	}
	if s.kept != nil {
		p.Request.Keeper = s.kept
	}
	p.Aim(0, -1)
	return p
}

// Aim sets the address by its index among the run's and the simulated cancellation (negative: none).
func (p *Prepared) Aim(urlIndex int, cancelAfterNS int64) {
	o := &p.session.store.options
	if urls := o.URLs; len(urls) > 0 {
		at := urlIndex % len(urls)
		p.Request.URL = urls[at]
		if o.URLHeaders != nil && p.Err == nil {
			p.Request.Headers = p.session.headers(p, at)
		}
	}
	p.Request.CancelAfterNS = cancelAfterNS
}

// headers makes the headers of a prepared turn to an address: those of all requests, of the address, of the
// conversation and of the turn, of which the later ones win.
func (s *Session) headers(p *Prepared, at int) []record.Header {
	list := s.store.template(p.Body).fill(p.Identity.RequestID, s.correlationID)
	if of := s.store.options.URLHeaders; at < len(of) {
		list = WithHeaders(list, of[at])
	}
	list = WithHeaders(list, s.conversation.Headers)
	return WithHeaders(list, s.conversation.Turns[p.Identity.TurnIndex].Headers)
}

// body encodes a turn, or takes what was encoded for another session.
func (s *Session) body(turn int, play Play, requestID string) (*endpoint.Body, error) {
	e, mark, key := s.store.options.Endpoint, s.marker(), bodyKey{s.index, turn}
	individual, _ := e.(endpoint.Individual)
	shared := mark.Text == "" && !play.OneToken && len(s.inherited) == 0 && !(s.live() && turn > 0) &&
		(individual == nil || !individual.PerRequest())
	if shared {
		if body, ok := s.store.bodies.get(key); ok {
			return body, nil
		}
	}
	c := s.context(turn)
	if mark.Text != "" {
		s.mark(c, mark)
	}
	if last := &c.Turns[len(c.Turns)-1]; play.OneToken && last.Turn != nil {
		short, one := *last.Turn, 1
		short.MaxTokens = &one
		last.Turn = &short
	}
	if !shared {
		c.RequestID, c.CorrelationID = requestID, s.correlationID
	}
	body, err := encode(e, c)
	if err != nil || !shared {
		return body, err
	}
	return s.store.bodies.put(key, body), nil
}

// encode makes a body; a turn that is a whole payload already stays as it is.
func encode(e endpoint.Endpoint, c *endpoint.Context) (*endpoint.Body, error) {
	if current := c.Turns[len(c.Turns)-1].Turn; current != nil && current.RawPayload != nil {
		return endpoint.Recorded(e, current.RawPayload)
	}
	return e.Encode(c)
}

// context collects what the request of a turn carries.
func (s *Session) context(turn int) *endpoint.Context {
	if s.mode == dataset.MessageArrayWithResponses {
		return alone(s.conversation, turn)
	}
	c := &endpoint.Context{
		SystemMessage: s.seed.SystemMessage, UserContext: s.seed.UserContext,
		ConversationID: s.conversation.SessionID, TurnIndex: turn,
	}
	c.Turns = make([]endpoint.Turn, 0, len(s.inherited)+2*turn+1)
	c.Turns = append(c.Turns, s.inherited...)
	for i := 0; i <= turn; i++ {
		current := s.turnOf(i)
		if i == turn {
			current.Kept = nil // it is encoded once as it is, and kept when it is history
		}
		c.Turns = append(c.Turns, current)
		if i < turn && i < len(s.replies) && s.replies[i].message != nil {
			c.Turns = append(c.Turns, endpoint.Turn{Assistant: s.replies[i].message, AssistantID: s.replies[i].id})
		}
	}
	return c
}

// alone is the context of a turn without any history.
func alone(c *dataset.Conversation, turn int) *endpoint.Context {
	return &endpoint.Context{
		Turns:         []endpoint.Turn{{Turn: c.Turns[turn].Whole()}},
		SystemMessage: c.SystemMessage,
		UserContext:   c.UserContext,

		ConversationID: c.SessionID,
		TurnIndex:      turn,
	}
}

// Payload encodes a turn on its own, without earlier turns and replies and without members that are
// null, as inputs.json lists it.
func Payload(e endpoint.Endpoint, c *dataset.Conversation, turn int) ([]byte, error) {
	body, err := encode(e, alone(c, turn))
	if err != nil {
		return nil, fmt.Errorf("conversation %s, turn %d: %w", c.SessionID, turn, err)
	}
	return jsonscan.WithoutNulls(body.JSON()), nil
}

func (s *Store) template(b *endpoint.Body) *headerTemplate {
	kind := headerKind{b.Stream, b.ContentType}
	s.headersMu.RLock()
	t := s.headers[kind]
	s.headersMu.RUnlock()
	if t != nil {
		return t
	}
	s.headersMu.Lock()
	defer s.headersMu.Unlock()
	if t = s.headers[kind]; t == nil {
		t = s.options.Headers.template(kind.stream, kind.contentType)
		s.headers[kind] = t
	}
	return t
}

// encodeError is the error of a request whose body cannot be encoded.
func encodeError(err error) *record.Error {
	e := &record.Error{Type: "ValueError", Message: err.Error()}
	if known, ok := errors.AsType[*endpoint.EncodeError](err); ok {
		e.Type = known.Type
	}
	e.Message = record.Exception(e.Type, e.Message)
	return e
}
