package fleet

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/load"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/recordfile"
	"aiperf/internal/mockserver"
)

// cable is a TCP proxy that can be cut and mended.
type cable struct {
	net.Listener
	to   string
	mu   sync.Mutex
	cut  bool
	open []net.Conn
}

func newCable(t *testing.T, to string) *cable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{Listener: l, to: to}
	t.Cleanup(func() { l.Close(); c.set(true) })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			c.join(near)
		}
	}()
	return c
}

func (c *cable) join(near net.Conn) {
	far, err := net.Dial("tcp", c.to)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || c.cut {
		near.Close()
		if err == nil {
			far.Close()
		}
		return
	}
	c.open = append(c.open, near, far)
	pass := func(a, b net.Conn) {
		_, _ = io.Copy(a, b)
		a.Close()
		b.Close()
	}
	go pass(near, far)
	go pass(far, near)
}

// set cuts the cable, or mends it.
func (c *cable) set(cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = cut
	for _, x := range c.open {
		x.Close()
	}
	c.open = nil
}

// behindCable assembles a fleet, the second agent of which is behind a cable.
func behindCable(t *testing.T, n int, change func(*Options)) (*together, *cable) {
	t.Helper()
	var c *cable
	x := assembleWith(t, n, func(o *Options) {
		o.Heartbeat = time.Minute // the test says who is lost
		change(o)
	}, func(i int, o *AgentOptions) {
		if i == 1 {
			c = newCable(t, hostOf(o.Join))
			o.Join = "nats://" + c.Addr().String()
		}
	})
	return x, c
}

// loseSecond counts the second member as lost.
func (x *together) loseSecond() {
	x.Fleet.mu.Lock()
	m := x.members[1]
	x.Fleet.mu.Unlock()
	x.markLost(m, errors.New("cut off"))
}

func total(accounts []Account) (sent, recorded, cut, gone int64) {
	for i := range accounts {
		a := &accounts[i]
		sent, recorded, cut, gone = sent+a.Sent, recorded+a.Recorded, cut+a.CutOff, gone+a.Gone
	}
	return sent, recorded, cut, gone
}

// compare compares the ids of the requests that the server got with those of a file of raw exchanges, and counts the
// latter. Only a request that was cut off without an answer may not have left.
func (s *mock) compare(t *testing.T, path string) (n int64) {
	t.Helper()
	got := map[string]bool{}
	for _, id := range s.ids(t) {
		got[id] = true
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var x struct {
			Metadata struct {
				ID     string `json:"x_request_id"`
				CutOff bool   `json:"was_cut_off"`
			}
			Status *int
		}
		if err := json.Unmarshal(line, &x); err != nil {
			t.Fatal(err)
		}
		m := &x.Metadata
		if !got[m.ID] && (!m.CutOff || x.Status != nil) {
			t.Errorf("the server did not get the request %s", line)
		}
		delete(got, m.ID)
		n++
	}
	if len(got) > 0 {
		t.Errorf("the server got the requests %v, which nobody knows", got)
	}
	return n
}

func TestALostAgentThatComesBackSaysWhatItSent(t *testing.T) {
	t.Parallel()
	s := startMock(t, mockserver.Options{TTFT: 5 * time.Millisecond})
	x, c := behindCable(t, 3, func(o *Options) { o.Return = time.Minute })
	go func() {
		x.begun(t)
		c.set(true)
		x.loseSecond()
		c.set(false)
	}()
	dir := t.TempDir()
	out, accounts, err := x.execute(configOf(t, dir, s.url, "--request-rate", "100", "--arrival-pattern", "constant",
		"--benchmark-duration", "2", "--export-level", "raw"), nil)
	if err != nil {
		t.Fatal(err)
	}
	sent, recorded, cut, gone := total(accounts)
	a := accounts[1]
	if a.Lost == "" || a.Source != FromReports || gone != 0 || sent != recorded+cut || len(a.Differences) > 0 {
		t.Errorf("accounts %+v", accounts)
	}
	if n := s.compare(t, filepath.Join(dir, "profile_export_raw.jsonl")); n != sent || out.Result.Counts.Sent != sent {
		t.Errorf("%d requests have ids, %d were sent, the result has %d", n, sent, out.Result.Counts.Sent)
	}
	if out.Result.Incomplete == "" {
		t.Error("the run that lost an agent is not incomplete")
	}
	<-x.agents[1].done
	if err := x.agents[1].err; err == nil || !strings.Contains(err.Error(), "counted this agent as lost") {
		t.Errorf("the agent ended with %v", err)
	}
}

func TestTheCountOfAnAgentThatStaysAwayIsALowerBound(t *testing.T) {
	t.Parallel()
	s := startMock(t, mockserver.Options{TTFT: 5 * time.Millisecond})
	x, c := behindCable(t, 2, func(o *Options) { o.Return = time.Millisecond })
	go func() {
		x.begun(t)
		c.set(true)
		x.loseSecond()
	}()
	_, accounts, err := x.execute(configOf(t, t.TempDir(), s.url, "--request-rate", "100", "--arrival-pattern",
		"constant", "--benchmark-duration", "2"), nil)
	if err != nil {
		t.Fatal(err)
	}
	sent, recorded, cut, gone := total(accounts)
	a := accounts[1]
	if a.Source != FromLastReport || sent != recorded+cut+gone || a.UnreportedAtMost == 0 {
		t.Errorf("accounts %+v", accounts)
	}
	if text := Lost(accounts).Error(); !strings.Contains(text, "is a lower bound: it may have sent up to") {
		t.Errorf("the run says %q", text)
	}
	x.agents[1].end()
	<-x.agents[1].done
	if n := int64(s.requests(t)); n < sent || n > sent+a.UnreportedAtMost {
		t.Errorf("the server got %d requests, %d are known, and %d more at most", n, sent, a.UnreportedAtMost)
	}
	paths, _ := filepath.Glob(filepath.Join(x.agents[1].dir, "*", "records.journal"))
	if len(paths) != 1 {
		t.Fatalf("the agent keeps the journals %q", paths)
	}
	count, err := ReadJournal(paths[0])
	if err != nil || count.Sent < a.Sent || count.Sent > a.Sent+a.UnreportedAtMost {
		t.Errorf("the journal counts %d requests, %v", count.Sent, err)
	}
	file, err := os.OpenFile(paths[0], os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt([]byte{1}, 8*wordTorn); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadJournal(paths[0]); err == nil {
		t.Error("a journal that was given up counts as whole")
	}
}

func TestAJournalThatSaysSomethingElseIsNamed(t *testing.T) {
	t.Parallel()
	s := startMock(t, mockserver.Options{TTFT: 5 * time.Millisecond})
	x := assemble(t, 2, nil)
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		x.begun(t)
		paths, _ := filepath.Glob(filepath.Join(x.agents[1].dir, "*", "records.journal"))
		if len(paths) != 1 {
			t.Errorf("journals %q", paths)
			return
		}
		file, err := os.OpenFile(paths[0], os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer file.Close()
		// A phase that there is not: nobody else writes there.
		if _, err := file.WriteAt(binary.NativeEndian.AppendUint64(nil, 5), 8*(wordSent+7)); err != nil {
			t.Error(err)
		}
	}()
	_, accounts, err := x.execute(configOf(t, t.TempDir(), s.url, "--concurrency", "4", "--benchmark-duration", "60"),
		stop)
	if err != nil {
		t.Fatal(err)
	}
	if a := accounts[0]; len(a.Differences) > 0 || a.Journal == nil || a.Journal.Sent != a.Sent {
		t.Errorf("%+v, journal %+v", a, a.Journal)
	}
	if a := accounts[1]; len(a.Differences) != 1 || a.Journal.Sent != a.Sent+5 {
		t.Errorf("%+v, journal %+v", a, a.Journal)
	}
}

// keeper is a sink that keeps what it gets.
type keeper struct {
	records int
	phases  []load.Stats
	lost    error
}

func (k *keeper) Phase(_ int, s load.Stats)  { k.phases = append(k.phases, s) }
func (k *keeper) Record(int, *record.Record) { k.records++ }
func (k *keeper) Lost(_ int, err error)      { k.lost = err }
func (k *keeper) Abort(error)                {}

// journalOf writes a journal with some requests sent, and batches of two records.
func journalOf(t *testing.T, path string, sent, batches int) {
	t.Helper()
	j := openJournal(path)
	for range sent {
		j.sent(0)
	}
	for i := range batches {
		var w recordfile.BatchWriter
		for range 2 {
			if err := w.Add(facts(1)[0]); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.add(&batch{uint64(i + 1), 2, w.Take()}); err != nil {
			t.Fatal(err)
		}
	}
	if j.broken != nil {
		t.Fatal(j.broken)
	}
	// It is not closed: its process was killed.
}

func TestTheJournalOfALostAgentOfThisMachineIsRead(t *testing.T) {
	t.Parallel()
	x := assemble(t, 0, nil)
	k := &keeper{}
	r := &fleetRun{fleet: x.Fleet, id: "run", sink: k, plan: load.Plan{Phases: []load.Phase{{Name: "profiling"}}}}
	x.localDir = t.TempDir()
	m := &member{joinRequest: joinRequest{Name: "agent-1", Local: true}, lastBatch: 1, rows: 2, records: 2,
		lost:   errors.New("killed"),
		report: report{Run: "run", Phases: []load.Stats{{State: load.Started, RequestsSent: 7, RequestsCompleted: 3}}}}
	journalOf(t, journalPath(x.localDir, "run", 0), 11, 4)
	r.readJournal(m)
	a := r.accountOf(m)
	if a.Source != FromJournal || a.Sent != 11 || a.Recorded != 8 || a.Gone != 3 || len(a.Differences) > 0 {
		t.Errorf("%+v", a)
	}
	if k.records != 6 || len(k.phases) != 1 || k.phases[0].RequestsSent != 11 || k.phases[0].RequestsCompleted != 8 {
		t.Errorf("%d records were passed on, phases %+v", k.records, k.phases)
	}
	if _, err := os.Stat(shareDir(x.localDir, "run", 0)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the journal that was read is still there: %v", err)
	}
	// A report that comes late does not replace what the journal says.
	if !r.known(m) {
		t.Error("what was sent is not known")
	}
}

func TestAJournalThatCouldNotBeWrittenIsNotBelieved(t *testing.T) {
	t.Parallel()
	x := assemble(t, 0, nil)
	r := &fleetRun{fleet: x.Fleet, id: "run", sink: &keeper{}, plan: load.Plan{Phases: []load.Phase{{Name: "profiling"}}}}
	x.localDir = t.TempDir()
	path := journalPath(x.localDir, "run", 0)
	journalOf(t, path, 11, 4)
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt([]byte{1}, 8*wordTorn); err != nil {
		t.Fatal(err)
	}
	m := &member{joinRequest: joinRequest{Local: true}, lost: errors.New("killed"),
		clock: offset{samples: make([]sample, 1)},
		report: report{Run: "run", Phases: []load.Stats{{State: load.Started, StartNS: 1, RequestsSent: 7,
			TargetRate: 5}}},
		lastReport: time.Now().Add(-2 * time.Second)}
	r.readJournal(m)
	if a := r.accountOf(m); a.Source != FromLastReport || a.Sent < 8 || a.UnreportedAtMost < 10 {
		t.Errorf("%+v", a)
	}
}

func TestTheMostThatALostAgentMayHaveSent(t *testing.T) {
	t.Parallel()
	c := clock.NewAt(int64(time.Hour))
	r := &fleetRun{fleet: &Fleet{options: Options{Clock: c}}, id: "run"}
	started := int64(time.Hour - 20*time.Second)
	for name, x := range map[string]struct {
		phase       load.Stats
		silent      time.Duration
		least, most int64
	}{
		"rate": {load.Stats{State: load.Started, StartNS: started, TargetRate: 10}, 10 * time.Second, 100, 145},
		"until a count": {load.Stats{State: load.Started, StartNS: started, TargetRate: 10, RequestsSent: 95,
			ExpectedRequests: 100}, 10 * time.Second, 5, 5},
		"for a duration": {load.Stats{State: load.Started, StartNS: started, TargetRate: 10,
			ExpectedDuration: 15 * time.Second}, 10 * time.Second, 50, 85},
		"closed loop":  {load.Stats{State: load.Started, StartNS: started, RequestsSent: 100}, 10 * time.Second, 100, 145},
		"long silence": {load.Stats{State: load.Started, StartNS: started, TargetRate: 10}, time.Hour, 610, 720},
		"not sending":  {load.Stats{State: load.SendingComplete, StartNS: started, TargetRate: 10}, 10 * time.Second, 0, 0},
	} {
		m := &member{lastReport: time.Now().Add(-x.silent), report: report{Run: "run", Phases: []load.Stats{x.phase}}}
		if _, n := r.unreported(m); n < x.least || n > x.most {
			t.Errorf("%s: %d more, want %d to %d", name, n, x.least, x.most)
		}
	}
}

// BenchmarkCountOfARequest reports what an agent's journal adds to each request.
func BenchmarkCountOfARequest(b *testing.B) {
	j := openJournal(filepath.Join(b.TempDir(), "journal"))
	defer j.close(true)
	for b.Loop() {
		j.sent(0)
	}
}
