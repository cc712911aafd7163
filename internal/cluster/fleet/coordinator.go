package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"aiperf/internal/base/clock"
	"aiperf/internal/config/env"
	"aiperf/internal/config/parse"
)

// Options configure the coordinator's side.
type Options struct {
	Version string
	Log     *slog.Logger
	// Name separates fleets that share a NATS server.
	Name string
	// Agents is how many there have to be, Wait how long they are waited for.
	Agents int
	Wait   time.Duration
	// Local has the coordinator start the agents itself, as processes of this program with some further arguments.
	Local bool
	// LocalDir is the folder of the files of local agents that stay; empty for temporary ones.
	LocalDir string
	// Return is how long agents that were lost are waited for at the end of a run, to hear what they sent.
	Return time.Duration
	// URL is a NATS server; empty for one of the coordinator's own, which listens on Listen (HOST:PORT).
	URL, Listen string
	Security    Security
	// Show prints a line for the user: how agents are started.
	Show func(line string)
	// Heartbeat is the longest time between two reports of an agent.
	Heartbeat time.Duration
	// MinAlive is the share of agents below which a run ends; 0 = it goes on with those that are left.
	MinAlive float64
	// RawStays leaves raw exchanges in files of the agents.
	RawStays bool
	// Clock is that of the runs, Clocks how those of agents are compared with it; nil for the usual rules.
	Clock  *clock.Clock
	Clocks *env.WorkerClock
}

// Fleet is the coordinator's side of a fleet: the NATS server, unless it is another one's, and the members. It outlives
// single runs.
type Fleet struct {
	options Options
	id      string
	prefix  string
	server  *embedded
	link    *nats.Conn
	locals  locals
	// localDir is the folder of the local agents.
	localDir string
	// alongside owns the goroutines, deliveries are those of the connection, which call the functions below.
	alongside  *goroutines
	deliveries sync.WaitGroup

	mu      sync.Mutex
	members []*member
	// changed is closed, and replaced, at each change of a member.
	changed chan struct{}
	// running is the run that is under way; nil between runs.
	running *fleetRun
	// downSince is when the connection to the server was lost; zero while it is up.
	downSince time.Time
	// closing: the agents leave, so none of them is lost any more.
	closing bool
}

// member is an agent as the coordinator knows it.
type member struct {
	joinRequest
	// number is its place in the order of arrival.
	number int
	clock  offset
	// lastHeard is when something came from it, clockReadAt when its clock was compared.
	lastHeard, clockReadAt time.Time
	// silentChecks counts the checks in a row that found it silent for too long.
	silentChecks int
	// lost is why it is no longer a member; nil while it is one.
	lost   error
	report report
	// Of the run under way: its share, and the last batch that came with all before it.
	share     int
	lastBatch uint64
	// rows came in these batches, records without those of requests that were cut off.
	rows, records int64
	// batchMu is held while a batch is taken.
	batchMu sync.Mutex
	// abandoning: the command that tells it that it is lost is under way.
	abandoning bool
	// lastReport is when the last report came, journal what its journal says if it was read here.
	lastReport time.Time
	journal    *ledger
}

// Open starts the server, connects to it and starts the agents that are to run here. The context bounds that; the fleet
// itself lasts until it is closed.
func Open(ctx context.Context, o Options) (*Fleet, error) {
	o.Name, o.Heartbeat = cmp.Or(o.Name, DefaultName), cmp.Or(o.Heartbeat, 5*time.Second)
	o.Return, o.Clocks = cmp.Or(o.Return, returnTimeout), cmp.Or(o.Clocks, clockRules())
	f := &Fleet{options: o, id: NewToken(), prefix: subjects(o.Name),
		alongside: newGoroutines(context.WithoutCancel(ctx)), changed: make(chan struct{})}
	if err := f.open(ctx); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// DefaultName is the name of a fleet that has none.
const DefaultName = "default"

// open connects, subscribes and starts what goes on alongside, in this order: a join that comes before the
// subscriptions are at the server would be lost. The buffer of a subscription is large, as records wait there while the
// run is busy.
func (f *Fleet) open(ctx context.Context) (err error) {
	o := &f.options
	if o.URL == "" {
		if f.server, err = startServer(ctx, o.Listen, &o.Security); err != nil {
			return err
		}
	}
	up, down := f.connection()
	where, more := o.URL, []nats.Option{nats.ReconnectHandler(up), nats.DisconnectErrHandler(down)}
	own := o.Security
	if f.server != nil {
		where, more = "", append(more, nats.InProcessServer(f.server))
		own.CAFile, own.CertFile, own.KeyFile = "", "", ""
	}
	if f.link, err = connect(ctx, where, "aiperf coordinator", &own, more...); err != nil {
		return err
	}
	for subject, take := range map[string]func(*nats.Msg){
		joinSubject: f.onJoin, reportSubject + "*": f.onReport, recordSubject + "*": f.onRecords,
	} {
		s, err := subscribe(f.link, f.prefix+subject, take, &f.deliveries)
		if err != nil {
			return err
		}
		_ = s.SetPendingLimits(-1, 512<<20)
	}
	if err := flush(ctx, f.link, connectWait); err != nil {
		return fmt.Errorf("the NATS server: %w", explained(err))
	}
	f.alongside.start(f.sendHeartbeats)
	f.alongside.start(f.checkMembers)
	if o.Local {
		return f.startLocals()
	}
	o.Show("To start an agent: " + f.command())
	return nil
}

// connection notes when the connection to the server is lost and when it is there again: meanwhile nobody is silent.
func (f *Fleet) connection() (up func(*nats.Conn), down func(*nats.Conn, error)) {
	up = func(*nats.Conn) {
		f.mu.Lock()
		f.downSince = time.Time{}
		for _, m := range f.members {
			m.lastHeard, m.silentChecks = time.Now(), 0
		}
		f.mu.Unlock()
		f.options.Log.Info("The NATS server is back")
	}
	down = func(_ *nats.Conn, err error) {
		f.mu.Lock()
		f.downSince = time.Now()
		f.mu.Unlock()
		if err != nil {
			f.options.Log.Warn("The connection to the NATS server is lost; the agents go on meanwhile", "error", err)
		}
	}
	return up, down
}

// Clock is that of the runs of the fleet.
func (f *Fleet) Clock() *clock.Clock { return f.options.Clock }

// Address is where agents find the NATS server.
func (f *Fleet) Address() string {
	if f.server == nil {
		return f.options.URL
	}
	return f.server.address()
}

// command is how an agent is started by hand. An address for all interfaces is of no use to others.
func (f *Fleet) command() string {
	address, s := f.Address(), &f.options.Security
	for _, all := range []string{"0.0.0.0", "[::]"} {
		address = strings.Replace(address, "//"+all+":", "//THIS-HOST:", 1)
	}
	if f.options.URL != "" { // without user information
		address = parse.SchemeOf(address) + "://" + hostOf(address)
	}
	text := "aiperf agent --join " + address
	switch {
	case s.Drawn:
		text = TokenVariable + "=" + s.Token + " " + text
	case s.Token != "":
		text = TokenVariable + "=TOKEN " + text
	}
	if s.NKeyFile != "" {
		text += " --nkey-file " + s.NKeyFile
	}
	if s.CredentialsFile != "" {
		text += " --creds-file " + s.CredentialsFile
	}
	if s.tls() {
		text += " --ca-file CA.pem"
	}
	if !s.encrypts(address) {
		text += " --allow-clear-text"
	}
	if f.options.Name != DefaultName {
		text += " --fleet-name " + f.options.Name
	}
	return text
}

// TokenVariable is the environment variable with the token.
const TokenVariable = "AIPERF_NATS_TOKEN"

// onJoin answers an agent that wants to be a member.
func (f *Fleet) onJoin(m *nats.Msg) {
	var h joinRequest
	var w joinReply
	if err := json.Unmarshal(m.Data, &h); err != nil || h.ID == "" {
		w.Refusal = "the request to join is not understood: its program is another one"
	} else {
		w = f.admit(&h)
	}
	w.Coordinator, w.Heartbeat = f.id, f.options.Heartbeat
	text, _ := json.Marshal(w)
	_ = m.Respond(text)
}

// admit makes an agent a member, or says why not.
func (f *Fleet) admit(h *joinRequest) (w joinReply) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.members {
		if m.ID == h.ID {
			if m.lost != nil {
				w.Refusal = "it was counted as lost: " + m.lost.Error()
			}
			return w
		}
	}
	switch {
	case h.Protocol != protocol || h.Version != f.options.Version:
		w.Refusal = fmt.Sprintf("its version is %s (protocol %d), that of the coordinator %s (protocol %d): use the same "+
			"program everywhere", h.Version, h.Protocol, f.options.Version, protocol)
	case h.Layout != layout():
		w.Refusal = fmt.Sprintf("it is another build of version %s: use the same program everywhere", h.Version)
	case f.running != nil:
		w.Refusal = "it is too late: the run has begun"
	case len(f.liveMembers()) >= f.options.Agents:
		w.Refusal = fmt.Sprintf("it is one too many: there are %d agents already", f.options.Agents)
	case f.options.Local && !h.Local:
		w.Refusal = "the coordinator starts its agents itself (--agents); --wait-for-agents waits for others"
	}
	if w.Refusal != "" {
		f.options.Log.Warn(fmt.Sprintf("The agent %s is refused: %s", h.Name, w.Refusal))
		return w
	}
	m := &member{joinRequest: *h, number: len(f.members), lastHeard: time.Now(), clock: offset{rules: f.options.Clocks}}
	f.members = append(f.members, m)
	f.options.Log.Info(fmt.Sprintf("The agent %s has joined: %d of %d", h.Name, len(f.liveMembers()), f.options.Agents))
	f.notify()
	return w
}

// notify wakes those who wait for a change; the fleet is locked.
func (f *Fleet) notify() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// liveMembers are the members that are not lost; the fleet is locked.
func (f *Fleet) liveMembers() (list []*member) {
	for _, m := range f.members {
		if m.lost == nil {
			list = append(list, m)
		}
	}
	return list
}

// member returns the member with an id, nil if there is none; the fleet is locked.
func (f *Fleet) member(id string) *member {
	i := slices.IndexFunc(f.members, func(m *member) bool { return m.ID == id })
	if i < 0 {
		return nil
	}
	return f.members[i]
}

// onReport takes the state of a member. Older reports than the last one are dropped: a reconnect may bring them late.
// One of a lost member tells that it still works: it is made to end its share, and only what is over is taken of it.
func (f *Fleet) onReport(msg *nats.Msg) {
	id := strings.TrimPrefix(msg.Subject, f.prefix+reportSubject)
	var r report
	if codec.Decode(msg.Data, &r) != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.member(id)
	if m == nil || r.Number <= m.report.Number {
		return
	}
	m.lastHeard, m.silentChecks = time.Now(), 0
	if m.lost != nil {
		if r.Run != "" && !m.abandoning {
			m.abandoning = true
			f.alongside.start(func(ctx context.Context) { f.abandon(ctx, m, r.Run) })
		}
		if f.running == nil || r.Run != f.running.id || m.journal != nil {
			return
		}
	}
	m.report, m.lastReport = r, m.lastHeard
	if f.running != nil && r.Run == f.running.id {
		f.running.report(m)
	}
	f.notify()
}

// abandon has a member that was lost end its share, and hand over what it knows.
func (f *Fleet) abandon(ctx context.Context, m *member, run string) {
	f.mu.Lock()
	c := &command{Kind: abandonShare, Run: run, Reason: m.lost.Error()}
	f.mu.Unlock()
	_ = f.sendCommand(ctx, m, c)
	f.mu.Lock()
	m.abandoning = false
	f.mu.Unlock()
}

// onRecords takes a batch of records of a member, and acknowledges the last one that has come with all before it, even
// where the batch is not the next one: the acknowledgement before may have been lost.
func (f *Fleet) onRecords(msg *nats.Msg) {
	id := strings.TrimPrefix(msg.Subject, f.prefix+recordSubject)
	run, b, ok := readBatch(msg.Data)
	if !ok {
		return
	}
	f.mu.Lock()
	m, on := f.member(id), f.running
	if m == nil || on == nil || on.id != run || m.lost != nil && m.Local {
		f.mu.Unlock() // the records of a local agent that is lost come out of its journal
		return
	}
	m.lastHeard, m.silentChecks = time.Now(), 0
	f.mu.Unlock()
	last, err := on.takeBatch(m, &b)
	if err != nil {
		f.markLost(m, fmt.Errorf("its records are damaged: %w", err))
		return
	}
	text, _ := codec.Append(nil, &acknowledgement{run, last})
	_ = f.link.Publish(f.prefix+commandSubject+id+ackSuffix, text)
}

// acknowledgement says which batch of a run has come with all before it.
type acknowledgement struct {
	Run    string
	Number uint64
}

// sendHeartbeats lets the agents know every second that the coordinator is there, far more often than the time after
// which they give it up.
func (f *Fleet) sendHeartbeats(ctx context.Context) {
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	for {
		_ = f.link.Publish(f.prefix+heartbeatSubject, []byte(f.id))
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

// maxMissedHeartbeats is how many heartbeat intervals an agent may miss. confirmingChecks is how many further checks in
// a row must find it silent: messages that wait in this process are taken first.
const (
	maxMissedHeartbeats = 3
	confirmingChecks    = 2
)

// checkMembers counts members as lost whose reports are missing, and compares clocks again that were compared too long
// ago. Nobody is missed while the connection is down or after this process itself stood still, as on a machine that
// slept.
func (f *Fleet) checkMembers(ctx context.Context) {
	interval := min(time.Second, f.options.Heartbeat/2)
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		f.mu.Lock()
		stalled := time.Since(last) > maxMissedHeartbeats*f.options.Heartbeat // this process stood still itself
		last = time.Now()
		var unprobed []*member
		silent := map[*member]time.Duration{}
		for _, m := range f.liveMembers() {
			again := f.options.Clocks.Remeasure
			if !m.clockReadAt.IsZero() && again > 0 && time.Since(m.clockReadAt) > again {
				m.clockReadAt, unprobed = last, append(unprobed, m)
			}
			switch {
			case stalled || !f.downSince.IsZero():
				m.lastHeard, m.silentChecks = last, 0
			case time.Since(m.lastHeard) > maxMissedHeartbeats*f.options.Heartbeat:
				if m.silentChecks++; m.silentChecks > confirmingChecks {
					silent[m] = time.Since(m.lastHeard)
				}
			}
		}
		f.mu.Unlock()
		if unprobed != nil {
			f.alongside.start(func(ctx context.Context) { _ = f.compareClocks(ctx, unprobed) })
		}
		for m, since := range silent {
			f.markLost(m, fmt.Errorf("nothing was heard of it for %s", since.Round(time.Second)))
		}
	}
}

// markLost counts a member as lost, for good: its share cannot be given to another one, since what it has sent is not
// known.
func (f *Fleet) markLost(m *member, why error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if m.lost != nil || f.closing {
		return
	}
	m.lost = why
	on := f.running
	if on != nil {
		on.memberLost(m, why)
	} else {
		f.options.Log.Warn(fmt.Sprintf("The agent %s is lost: %v", m.Name, why))
	}
	f.notify()
}

// await waits until a condition holds, which is asked with the fleet locked.
func (f *Fleet) await(ctx context.Context, holds func() bool) error {
	for {
		f.mu.Lock()
		ok, changed := holds(), f.changed
		f.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// waitForAgents waits until there are as many members as there have to be.
func (f *Fleet) waitForAgents(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, f.options.Wait)
	defer cancel()
	err := f.await(ctx, func() bool { return len(f.liveMembers()) >= f.options.Agents })
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return fmt.Errorf("only %d of %d agents came within %s; start them with %s, or wait longer with --agents-timeout",
		len(f.liveMembers()), f.options.Agents, f.options.Wait, f.shownCommand())
}

// shownCommand is the command for messages: without the token.
func (f *Fleet) shownCommand() string {
	text := f.command()
	if s := &f.options.Security; s.Drawn {
		text = strings.Replace(text, s.Token, "TOKEN", 1)
	}
	return text
}

const (
	// A command is answered within commandTimeout, or repeated; it is given up after commandPatience.
	commandTimeout  = time.Second
	commandDeadline = time.Minute
)

// errLost means that a member was lost while a command to it was under way.
var errLost = errors.New("the agent is lost")

// request sends a member a command once and returns its answer; the error is [nats.ErrTimeout] if it takes too long.
func (f *Fleet) request(ctx context.Context, m *member, text []byte, most time.Duration) (*nats.Msg, error) {
	once, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	reply, err := f.link.RequestWithContext(once, f.prefix+commandSubject+m.ID, text)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = nats.ErrTimeout
	}
	return reply, err
}

// withFleet returns a context that ends with the fleet, too.
func (f *Fleet) withFleet(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	detach := context.AfterFunc(f.alongside.ctx, cancel)
	return ctx, func() { detach(); cancel() }
}

// sendCommand has a member carry out a command, and repeats it until the member has answered. It ends with the fleet.
func (f *Fleet) sendCommand(ctx context.Context, m *member, c *command) error {
	text, err := codec.Append(nil, c)
	if err != nil {
		return err
	}
	ctx, cancel := f.withFleet(ctx)
	defer cancel()
	deadline := time.Now().Add(commandDeadline)
	for {
		reply, err := f.request(ctx, m, text, commandTimeout)
		if err == nil {
			var a commandReply
			if err := codec.Decode(reply.Data, &a); err != nil {
				return err
			}
			if a.Error != "" {
				return errors.New(a.Error)
			}
			return nil
		}
		f.mu.Lock()
		lost := m.lost != nil && c.Kind != abandonShare && c.Kind != leaveFleet
		f.mu.Unlock()
		if lost {
			return errLost
		}
		if time.Now().After(deadline) || f.link.IsClosed() {
			return fmt.Errorf("the agent %s does not answer: %w", m.Name, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// sendCommands has members carry out a command, each its own, at the same time.
func (f *Fleet) sendCommands(ctx context.Context, list []*member, of func(*member) *command) []error {
	out := make([]error, len(list))
	var all sync.WaitGroup
	for i, m := range list {
		all.Go(func() { out[i] = f.sendCommand(ctx, m, of(m)) })
	}
	all.Wait()
	return out
}

// compareClock compares the clock of a member with that of the coordinator. It ends with the fleet.
func (f *Fleet) compareClock(ctx context.Context, m *member) error {
	text, err := codec.Append(nil, &command{Kind: readClock})
	if err != nil {
		return err
	}
	ctx, cancel := f.withFleet(ctx)
	defer cancel()
	c := f.options.Clock
	var list []sample
	var last error
	rules := f.options.Clocks
	f.mu.Lock()
	before := len(m.clock.samples)
	f.mu.Unlock()
	least, until := min(rules.MinSamples, rules.Window)-before, time.Now().Add(rules.ProbeBudget)
	for n := 0; (n < rules.Probes || len(list) < least) && time.Now().Before(until) && ctx.Err() == nil; n++ {
		asked := c.NowNS()
		reply, err := f.request(ctx, m, text, rules.ProbeTimeout)
		answered := c.NowNS()
		var a commandReply
		if err == nil {
			err = codec.Decode(reply.Data, &a)
		}
		if err != nil {
			last = err
			continue
		}
		s, ok := newSample(c.WallNS(asked), c.WallNS(answered), a.ClockNS, rules.SlowestAnswer)
		if !ok {
			last = fmt.Errorf("its answers take %s, which is too long to compare clocks: %s is the most",
				time.Duration(s.rttNS).Round(time.Millisecond), rules.SlowestAnswer)
			continue
		}
		list = append(list, s)
	}
	if err := ctx.Err(); err != nil && list == nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	m.clock.add(list...)
	m.clockReadAt = time.Now()
	if !m.clock.known() {
		return fmt.Errorf("the clock of the agent %s cannot be compared: %w", m.Name, last)
	}
	if off := time.Duration(m.clock.offsetNS); off.Abs() > rules.LargestOffset {
		return fmt.Errorf("the clock of the agent %s is off by %s, which is more than %s: set it right", m.Name,
			off.Round(time.Second), rules.LargestOffset)
	}
	return nil
}

// compareClocks probes members at the same time.
func (f *Fleet) compareClocks(ctx context.Context, list []*member) error {
	problems := make([]error, len(list))
	var all sync.WaitGroup
	for i, m := range list {
		all.Go(func() { problems[i] = f.compareClock(ctx, m) })
	}
	all.Wait()
	return errors.Join(problems...)
}

// Close lets the agents go and ends everything: no goroutine of the fleet is left. No agent is waited for longer than a
// moment.
func (f *Fleet) Close() {
	f.mu.Lock()
	f.closing = true
	all := slices.Clone(f.members)
	f.mu.Unlock()
	if f.link != nil && f.link.IsConnected() {
		ctx, cancel := context.WithTimeout(f.alongside.ctx, closeTimeout)
		f.sendCommands(ctx, all, func(*member) *command { return &command{Kind: leaveFleet} })
		cancel()
		_ = f.link.FlushTimeout(time.Second)
	}
	left := f.alongside.end(shutdownTimeout)
	f.locals.end(f.localDir)
	if f.link != nil {
		f.link.Close()
		f.deliveries.Wait()
	}
	f.server.close()
	if left > 0 {
		f.options.Log.Warn("Something of the fleet does not end", "goroutines", left)
	}
}

// closeTimeout bounds the wait for the answers of agents that are to leave.
const closeTimeout = 2 * time.Second
