package fleet

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"aiperf/internal/mockserver"
	"aiperf/internal/run/remote"
)

// begun waits until the agents have sent something.
func (x *together) begun(t *testing.T) {
	t.Helper()
	if err := x.await(t.Context(), func() bool {
		sent := int64(0)
		for _, m := range x.members {
			for i := range m.report.Phases {
				sent += m.report.Phases[i].RequestsSent
			}
		}
		return sent > 10
	}); err != nil {
		t.Fatal(err)
	}
}

func TestWorkerLossIsCountedUnderItsName(t *testing.T) {
	t.Parallel()
	s := startMock(t, mockserver.Options{TTFT: 5 * time.Millisecond})
	x := assemble(t, 3, nil)
	go func() {
		x.begun(t)
		x.Fleet.mu.Lock()
		m := x.members[1]
		x.Fleet.mu.Unlock()
		x.markLost(m, errors.New("pulled out"))
	}()
	out, accounts, err := x.execute(configOf(t, t.TempDir(), s.url, "--concurrency", "3", "--benchmark-duration", "1"), nil)
	if err != nil {
		t.Fatal(err)
	}
	a := accounts[1]
	if a.Lost != "pulled out" || accounts[0].Lost != "" || a.Sent != a.Recorded+a.CutOff+a.Gone {
		t.Errorf("accounts %+v", accounts)
	}
	if out.Result.Incomplete == "" || !strings.Contains(Lost(accounts).Error(), "a1 (pulled out)") {
		t.Errorf("incomplete %q, lost %v", out.Result.Incomplete, Lost(accounts))
	}
	<-x.agents[1].done
	var gone *GoneError
	if !errors.As(x.agents[1].err, &gone) {
		t.Errorf("the lost agent ended with %v", x.agents[1].err)
	}
}

// hurried gives Close less time than a lost agent is waited for.
type hurried struct{ *RemoteRun }

func (h hurried) Close(ctx context.Context) []remote.Part {
	short, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	return h.RemoteRun.Close(short)
}

// The others hear that their shares are over, although a lost agent was waited for longer than closing may take.
func TestAgentsAreDoneWhenALostOneWasWaitedFor(t *testing.T) {
	t.Parallel()
	s := startMock(t, mockserver.Options{TTFT: 5 * time.Millisecond})
	x := assemble(t, 3, func(o *Options) { o.Return = time.Second })
	go func() {
		x.begun(t)
		x.Fleet.mu.Lock()
		m := x.members[1]
		x.Fleet.mu.Unlock()
		x.agents[1].end()
		<-x.agents[1].done
		x.markLost(m, errors.New("pulled out"))
	}()
	r := x.Remote()
	if _, err := x.executeWith(configOf(t, t.TempDir(), s.url, "--concurrency", "3", "--benchmark-duration", "1"), nil,
		hurried{r}); err != nil {
		t.Fatal(err)
	}
	if accounts := r.Accounts(); accounts[1].Lost == "" || accounts[0].Lost != "" || accounts[2].Lost != "" {
		t.Errorf("accounts %+v", accounts)
	}
	x.Fleet.Close()
	for _, i := range []int{0, 2} {
		if <-x.agents[i].done; x.agents[i].err != nil {
			t.Errorf("the agent %d ended with %v", i, x.agents[i].err)
		}
	}
}

func TestTooFewAgentsEndTheRun(t *testing.T) {
	t.Parallel()
	s := startMock(t, mockserver.Options{TTFT: 5 * time.Millisecond})
	x := assemble(t, 2, func(o *Options) { o.MinAlive = 0.8 })
	go func() {
		x.begun(t)
		x.Fleet.mu.Lock()
		m := x.members[0]
		x.Fleet.mu.Unlock()
		x.markLost(m, errors.New("pulled out"))
	}()
	out, _, err := x.execute(configOf(t, t.TempDir(), s.url, "--concurrency", "2", "--benchmark-duration", "60"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if out.Aborted == nil || !strings.Contains(out.Aborted.Error(), "AIPERF_WORKER_MIN_ALIVE_FRACTION") {
		t.Errorf("the run ended with %v", out.Aborted)
	}
}

func TestAnInterruptEndsAllSharesInOrder(t *testing.T) {
	t.Parallel()
	s := startMock(t, mockserver.Options{TTFT: 5 * time.Millisecond})
	x := assemble(t, 2, nil)
	stop := make(chan struct{})
	go func() {
		x.begun(t)
		close(stop)
	}()
	out, accounts, err := x.execute(configOf(t, t.TempDir(), s.url, "--concurrency", "4", "--benchmark-duration", "60"), stop)
	if err != nil {
		t.Fatal(err)
	}
	sent := int64(0)
	for _, a := range accounts {
		sent += a.Sent
		if a.Lost != "" || a.Gone != 0 {
			t.Errorf("%+v", a)
		}
	}
	if n := int64(s.requests(t)); !out.Result.WasCancelled || n > sent || out.Result.Counts.Sent != sent {
		t.Errorf("cancelled %v, %d sent, %d on the server", out.Result.WasCancelled, sent, n)
	}
}

// TestASignalDrainsAnAgent: one of two agents, and the only one, whose end is that of the run.
func TestASignalDrainsAnAgent(t *testing.T) {
	t.Parallel()
	s := startMock(t, mockserver.Options{TTFT: 5 * time.Millisecond})
	for _, agents := range []int{2, 1} {
		x := assemble(t, agents, nil)
		last := x.agents[agents-1]
		go func() {
			x.begun(t)
			close(last.stop)
		}()
		out, accounts, err := x.execute(configOf(t, t.TempDir(), s.url, "--request-rate", "50", "--request-count", "60"),
			nil)
		if err != nil {
			t.Fatal(err)
		}
		<-last.done
		a := accounts[agents-1]
		if !IsDrained(last.err) || a.Lost == "" || a.Gone != 0 || a.Sent != a.Recorded ||
			out.Result.Incomplete == "" && out.Aborted == nil {
			t.Errorf("of %d agents the last ended with %v, its account is %+v, incomplete %q", agents, last.err, a,
				out.Result.Incomplete)
		}
	}
}

func TestAgentsOfAnotherKindAreRefused(t *testing.T) {
	t.Parallel()
	x := assemble(t, 1, nil)
	for want, change := range map[string]func(*AgentOptions){
		"its version is other":     func(o *AgentOptions) { o.Version = "other" },
		"it is one too many":       func(*AgentOptions) {},
		"refuses the token":        func(o *AgentOptions) { o.Security.Token, o.Wait = "wrong", time.Millisecond },
		"no coordinator was found": func(o *AgentOptions) { o.Fleet, o.Wait = "other", time.Millisecond },
	} {
		a := x.join("late", change)
		<-a.done
		if a.err == nil || !strings.Contains(a.err.Error(), want) {
			t.Errorf("the agent ended with %v, want %q", a.err, want)
		}
	}
	if log := x.log.String(); !strings.Contains(log, "is refused: its version") {
		t.Errorf("the coordinator says nothing of the refusal: %s", log)
	}
}

func TestAnNkeyInPlaceOfAToken(t *testing.T) {
	t.Parallel()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "seed")
	if err := os.WriteFile(path, seed, 0o600); err != nil {
		t.Fatal(err)
	}
	s := startMock(t, fast())
	x := assemble(t, 1, func(o *Options) { o.Security = Security{NKeyFile: path} })
	if _, accounts, err := x.execute(configOf(t, t.TempDir(), s.url, "--request-count", "5"), nil); err != nil ||
		accounts[0].Recorded != 5 {
		t.Errorf("%+v, %v", accounts, err)
	}
	a := x.join("stranger", func(o *AgentOptions) { o.Security, o.Wait = Security{}, time.Millisecond })
	<-a.done
	if a.err == nil || !strings.Contains(a.err.Error(), "refuses") {
		t.Errorf("an agent without a key ended with %v", a.err)
	}
}

func TestACoordinatorThatStartsAgainEndsTheOldAgents(t *testing.T) {
	t.Parallel()
	x := assemble(t, 1, nil)
	if err := x.await(t.Context(), func() bool { return x.members[0].report.Number > 0 }); err != nil { // it knows ours
		t.Fatal(err)
	}
	_ = x.link.Publish(x.prefix+heartbeatSubject, []byte("another coordinator"))
	<-x.agents[0].done
	var gone *GoneError
	if !errors.As(x.agents[0].err, &gone) {
		t.Errorf("the agent ended with %v", x.agents[0].err)
	}
}

func TestSeveralRunsUseTheSameAgents(t *testing.T) {
	t.Parallel()
	s := startMock(t, fast())
	x := assemble(t, 2, nil)
	for range 3 {
		out, accounts, err := x.execute(configOf(t, t.TempDir(), s.url, "--request-count", "20", "--concurrency", "2",
			"--warmup-request-count", "4"), nil)
		if err != nil || out.Result.Counts.Successes != 20 || accounts[0].Recorded+accounts[1].Recorded != 24 {
			t.Fatalf("%v, %+v", err, accounts)
		}
	}
}
