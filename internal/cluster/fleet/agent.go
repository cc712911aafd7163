package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/clock"
)

// AgentOptions configure an agent.
type AgentOptions struct {
	Version string
	// Join is the NATS server, Fleet the name of the fleet there.
	Join, Fleet string
	Security    Security
	// ClearText lets the agent connect to another machine without encryption.
	ClearText bool
	// Name is how reports call the agent; empty for the host and the process.
	Name string
	// Local agents were started by their coordinator.
	Local bool
	// Wait is how long a coordinator is waited for.
	Wait time.Duration
	// Dir is the folder of journals and of files that stay; empty for one that is removed.
	Dir string
	// CacheDir is the folder of data sets; empty for that of the user.
	CacheDir string
	// Programs allows runs whose endpoint is a program, which is then started here. Paths are the files, and the
	// folders with their files, that a run may name here: a Unix socket, certificates and keys. A local agent allows
	// everything.
	Programs bool
	Paths    []string
	// KeepJournals leaves the journals of runs that ended in order.
	KeepJournals bool
	// Clock is that of the agent, Wall what the machine's clock says; nil for those of this process and its machine.
	Clock *clock.Clock
	Wall  func() time.Time
	// Say prints a line for the user.
	Say func(line string)
	// Stop asks the agent to end: the first signal.
	Stop <-chan struct{}
	// Log makes the log of a run.
	Log func(secrets []string) runLog
}

const (
	// coordinatorTimeout is how long an agent goes on without a message of its coordinator: long enough for a restart
	// of the NATS server, short enough that a server under test is not loaded for nobody. joinRetryInterval is the time
	// between two attempts to join, joinTimeout that for a reply.
	coordinatorTimeout = 60 * time.Second
	joinRetryInterval  = 200 * time.Millisecond
	joinTimeout        = 2 * time.Second
)

// RefusedError reports that the coordinator does not take the agent.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return "the coordinator refuses this agent: " + e.Reason }

// GoneError reports that the coordinator was not heard of for too long, or is another one.
type GoneError struct{ What string }

func (e *GoneError) Error() string { return e.What }

// abandonedError reports that the coordinator goes on without the agent, but is there to take its records.
type abandonedError struct{ GoneError }

// Unwrap returns the [GoneError].
func (e *abandonedError) Unwrap() error { return &e.GoneError }

// agent is a process that makes shares of runs.
type agent struct {
	options AgentOptions
	joinRequest
	prefix    string
	link      *nats.Conn
	clock     *clock.Clock
	heartbeat time.Duration
	dir       string
	// alongside owns the goroutines, deliveries are those of the connection, which call the functions below.
	alongside  *goroutines
	deliveries sync.WaitGroup

	mu          sync.Mutex
	coordinator string
	lastHeard   time.Time
	number      uint64
	share       *share
	// last is the report of the share that is over, for as long as there is no other one.
	last report
	// left is closed when there will be no further run, gone when there is no coordinator any more.
	left chan struct{}
	gone chan error
	step stepWatch
}

// Agent makes shares of runs for a coordinator until that has it leave. The error says why it ended otherwise.
func Agent(ctx context.Context, o AgentOptions) error {
	o.Fleet, o.Wait = cmp.Or(o.Fleet, DefaultName), cmp.Or(o.Wait, 5*time.Minute)
	if err := CheckURL(o.Join); err != nil {
		return fmt.Errorf("--join: %w", err)
	}
	if !o.Local && !o.ClearText && !o.Security.encrypts(o.Join) { // the coordinator of a local one was asked already
		return fmt.Errorf("--join %s: the token and the work would be sent in clear text; join with tls://, and --ca-file if "+
			"the server's certificate is your own, or allow this with --allow-clear-text", hostOf(o.Join))
	}
	a := &agent{options: o, prefix: subjects(o.Fleet), clock: cmp.Or(o.Clock, clock.New()), left: make(chan struct{}),
		gone: make(chan error, 1)}
	host, _ := os.Hostname()
	name := cmp.Or(o.Name, fmt.Sprintf("%s:%d", host, os.Getpid()))
	a.joinRequest = joinRequest{ID: NewToken(), Name: name, Local: o.Local,
		Version: o.Version, Protocol: protocol, Layout: layout(), Cores: runtime.GOMAXPROCS(0)}
	if a.step.wall = o.Wall; a.step.wall == nil {
		a.step.wall = time.Now
	}
	a.step.begin(a.clock)
	if a.dir = o.Dir; a.dir == "" {
		temporary, err := artifact.NewTemporary("agent")
		if err != nil {
			return err
		}
		a.dir = temporary.Dir
		defer temporary.Leave() // journals that are needed stay
	} else if o.Local {
		// The folder is the coordinator's, which may be killed before the agents.
		lock := artifact.HoldTemporary(a.dir, o.Name)
		defer os.Remove(a.dir)
		defer lock.Release()
	}
	return a.run(ctx)
}

// run does what the coordinator asks for. Nothing of the agent is left when it returns.
func (a *agent) run(ctx context.Context) error {
	a.alongside = newGoroutines(ctx)
	defer a.close()
	ctx = a.alongside.ctx
	a.alongside.start(func(ctx context.Context) {
		select {
		case <-a.options.Stop:
			if s := a.current(); s != nil {
				s.drain()
			} else {
				a.alongside.cancel()
			}
		case <-ctx.Done():
		}
	})
	if err := a.join(ctx); err != nil {
		return err
	}
	ticks := time.NewTicker(min(time.Second, a.heartbeat/2))
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-a.left:
			if a.current() != nil {
				a.endShare(errLeftEarly)
				return errLeftEarly
			}
			_ = a.link.FlushTimeout(time.Second)
			return nil
		case err := <-a.gone:
			a.endShare(err)
			return err
		case <-ticks.C:
			a.checkCoordinator()
			a.report()
		}
		if s := a.current(); s != nil && s.drained() {
			a.endShare(nil)
			return errDrained
		}
	}
}

// close ends what is left: nothing but after an error, or where a share began while the agent was leaving. The
// connection goes first, so that no command starts anything more.
func (a *agent) close() {
	if a.link != nil {
		a.link.Close()
		a.deliveries.Wait()
	}
	left := a.alongside.end(shutdownTimeout)
	if s := a.current(); s != nil {
		a.releaseShare(s, false)
	}
	if left > 0 {
		a.options.Say("Something of this agent does not end")
	}
}

// errLeftEarly means that the coordinator ended without the share.
var errLeftEarly = &GoneError{"the coordinator ended before this share was over: what it did is not in the results, or " +
	"not all of it"}

// errDrained means that a signal ended the agent, which ended its share in order before.
var errDrained = errors.New("ended by a signal; the share was ended in order")

// IsDrained reports whether an agent ended because a signal asked it to.
func IsDrained(err error) bool { return errors.Is(err, errDrained) || errors.Is(err, context.Canceled) }

// join connects to the server and joins the fleet; server and coordinator are waited for.
func (a *agent) join(ctx context.Context) error {
	deadline, told := time.Now().Add(a.options.Wait), false
	for {
		err := a.tryJoin(ctx)
		var refused *RefusedError
		switch {
		case err == nil:
			a.options.Say(fmt.Sprintf("Joined the fleet at %s as %s", hostOf(a.options.Join), a.Name))
			return nil
		case errors.As(err, &refused) || ctx.Err() != nil:
			return err
		case time.Now().After(deadline):
			return fmt.Errorf("no coordinator was found within %s: %w", a.options.Wait, err)
		case !told:
			told = true
			a.options.Say(fmt.Sprintf("Waiting for a coordinator at %s (%v)", hostOf(a.options.Join), err))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(joinRetryInterval):
		}
	}
}

// errNoCoordinator means that there is a server, but no coordinator answers there.
var errNoCoordinator = errors.New("the NATS server has no coordinator yet")

// tryJoin connects, subscribes and asks to join, in this order: a command may follow the reply at once.
func (a *agent) tryJoin(ctx context.Context) (err error) {
	if a.link == nil {
		if a.link, err = connect(ctx, a.options.Join, "aiperf agent "+a.Name, &a.options.Security); err != nil {
			return err
		}
		for subject, take := range map[string]func(*nats.Msg){
			commandSubject + a.ID: a.onCommand, commandSubject + a.ID + ackSuffix: a.onAcknowledgement,
			heartbeatSubject: a.onHeartbeat,
		} {
			if _, err := subscribe(a.link, a.prefix+subject, take, &a.deliveries); err != nil {
				return err
			}
		}
	}
	text, err := json.Marshal(a.joinRequest)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	reply, err := a.link.RequestWithContext(ctx, a.prefix+joinSubject, text)
	if errors.Is(err, nats.ErrNoResponders) || errors.Is(err, context.DeadlineExceeded) {
		return errNoCoordinator
	}
	if err != nil {
		return explained(err)
	}
	var w joinReply
	if err := json.Unmarshal(reply.Data, &w); err != nil {
		return errNoCoordinator
	}
	if w.Refusal != "" {
		return &RefusedError{w.Refusal}
	}
	a.mu.Lock()
	a.coordinator, a.heartbeat, a.lastHeard = w.Coordinator, max(time.Millisecond, w.Heartbeat), time.Now()
	a.mu.Unlock()
	a.report()
	return nil
}

func (a *agent) current() *share {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.share
}

// onHeartbeat takes a heartbeat of the coordinator. Another coordinator means that ours was started again: it knows
// nothing of the share, so that the agent ends.
func (a *agent) onHeartbeat(m *nats.Msg) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch string(m.Data) {
	case a.coordinator:
		a.lastHeard = time.Now()
	case "":
	default:
		if a.coordinator != "" {
			a.fail(&GoneError{"the coordinator is another process now: the run of the one before is over"})
		}
	}
}

// fail ends the agent for a reason, the first one that is given; the agent is locked.
func (a *agent) fail(err error) {
	select {
	case a.gone <- err:
	default:
	}
}

// checkCoordinator ends an agent that has missed the heartbeats of its coordinator for too long, and notices steps of
// the clock.
func (a *agent) checkCoordinator() {
	if by := a.step.step(a.clock); by != 0 {
		note := fmt.Sprintf("its wall clock was set by %s; the times of its requests do not depend on it",
			by.Round(time.Millisecond))
		a.options.Say("The wall clock of this machine was set by " + by.Round(time.Millisecond).String())
		if s := a.current(); s != nil {
			s.note(note)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if since := time.Since(a.lastHeard); since > coordinatorTimeout {
		a.fail(&GoneError{fmt.Sprintf("the coordinator was not heard of for %s", since.Round(time.Second))})
	}
}

// report sends the state of the agent.
func (a *agent) report() {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.last
	if a.share != nil {
		r = a.share.report()
	}
	a.number++
	r.Number = a.number
	if text, err := codec.Append(nil, &r); err == nil {
		_ = a.link.Publish(a.prefix+reportSubject+a.ID, text)
	}
}

// onAcknowledgement lets the courier drop the batches that have come.
func (a *agent) onAcknowledgement(m *nats.Msg) {
	var c acknowledgement
	if codec.Decode(m.Data, &c) != nil {
		return
	}
	if s := a.current(); s != nil && s.work.ID == c.Run {
		s.courier.acknowledge(c.Number)
	}
}

// onCommand carries out what the coordinator asks for, and answers.
func (a *agent) onCommand(m *nats.Msg) {
	now := a.clock.NowNS() // first: a comparison of clocks wants the time of arrival
	out := commandReply{ClockNS: a.clock.WallNS(now)}
	var c command
	if err := codec.Decode(m.Data, &c); err != nil {
		out.Error = "the command is not understood: " + err.Error()
	} else if err := a.handle(&c); err != nil {
		out.Error = err.Error()
	}
	text, _ := codec.Append(nil, &out)
	_ = m.Respond(text)
}

// handle carries out a command without waiting for anything. A second time it changes nothing.
func (a *agent) handle(c *command) error {
	a.mu.Lock()
	a.lastHeard = time.Now()
	s := a.share
	a.mu.Unlock()
	switch c.Kind {
	case readClock:
		return nil
	case leaveFleet:
		select {
		case <-a.left:
		default:
			close(a.left)
		}
		return nil
	case startShare:
		return a.startShare(c)
	}
	if s == nil || s.work.ID != c.Run {
		return nil // it is over
	}
	switch c.Kind {
	case beginPhase:
		s.beginPhase(c.Phase, c.AtNS)
	case joinPhase:
		s.join(c.Phase, c.Used)
	case endPhase:
		s.endPhase(c.Phase, c.Grace)
	case stopShare:
		s.stop()
	case finishShare:
		a.releaseShare(s, true)
	case abandonShare:
		a.mu.Lock()
		a.fail(&abandonedError{GoneError{"the coordinator counted this agent as lost: " + c.Reason}})
		a.mu.Unlock()
	default:
		return fmt.Errorf("there is no command %d", c.Kind)
	}
	return nil
}

// startShare starts a share.
func (a *agent) startShare(c *command) error {
	if c.Work == nil {
		return errors.New("a share without its work")
	}
	if err := a.options.allows(c.Work); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.share != nil {
		if a.share.work.ID == c.Run {
			return nil
		}
		return errors.New("it still makes a share of another run")
	}
	s := newShare(a, c.Work)
	if !a.alongside.start(s.execute) {
		s.close(true)
		return errLeftEarly
	}
	a.share = s
	return nil
}

// releaseShare takes leave of a share that is over: all that it reported has come.
func (a *agent) releaseShare(s *share, confirmed bool) {
	a.mu.Lock()
	if a.share != s {
		a.mu.Unlock()
		return
	}
	a.share, a.last = nil, s.report()
	a.mu.Unlock()
	s.close(confirmed && !a.options.KeepJournals)
	a.options.Say(s.account(!confirmed))
}

// endShare ends the share that is under way, if there is one: in order, then by the context. Where the coordinator may
// still take records, they are waited for before the journal is dropped.
func (a *agent) endShare(why error) {
	s := a.current()
	if s == nil {
		return
	}
	s.stop()
	if !s.waitOver(shutdownTimeout) {
		a.alongside.cancel()
		s.waitOver(shutdownTimeout)
	}
	var abandoned *abandonedError
	if why == nil || errors.As(why, &abandoned) {
		a.report()
		s.waitAcknowledged(shutdownTimeout)
	}
	a.report()
	_, _, unconfirmed := s.courier.counts()
	a.releaseShare(s, unconfirmed == 0 && (why == nil || abandoned != nil))
}

// shutdownTimeout bounds each wait while a share or a fleet ends.
const shutdownTimeout = 10 * time.Second

// stepWatch notices that the wall clock was set, by its distance from the monotonic one, which nobody sets.
type stepWatch struct {
	wall       func() time.Time
	difference time.Duration
}

// minClockStep is the least step that is noticed: slewing by NTP between two calls stays below it.
const minClockStep = 50 * time.Millisecond

func (w *stepWatch) offset(c *clock.Clock) time.Duration {
	return time.Duration(w.wall().UnixNano() - c.WallNS(c.NowNS()))
}

func (w *stepWatch) begin(c *clock.Clock) { w.difference = w.offset(c) }

// step returns by how much the clock was set since the last call; 0 if it was not.
func (w *stepWatch) step(c *clock.Clock) time.Duration {
	now := w.offset(c)
	by := now - w.difference
	w.difference = now
	if by.Abs() < minClockStep {
		return 0
	}
	return by
}
