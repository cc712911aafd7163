package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"aiperf/internal/load"
)

// deaf joins a fleet as an agent that answers no command, and returns what sends its reports.
func deaf(t *testing.T, f *Fleet, name string) func(report) {
	t.Helper()
	c, err := connect(t.Context(), f.Address(), name, &f.options.Security)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, err := c.Subscribe(f.prefix+commandSubject+name, func(*nats.Msg) {}); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(joinRequest{ID: name, Name: name, Version: "test", Protocol: protocol, Layout: layout()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Request(f.prefix+joinSubject, text, time.Minute); err != nil {
		t.Fatal(err)
	}
	return func(r report) {
		text, err := codec.Append(nil, &r)
		if err == nil {
			err = c.Publish(f.prefix+reportSubject+name, text)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// ours returns the stacks of goroutines that are in a function of a fleet or were started by one.
func ours() (list []string) {
	all := make([]byte, 16<<20)
	for _, stack := range strings.Split(string(all[:runtime.Stack(all, true)]), "\n\n") {
		for _, of := range []string{"fleet.(*Fleet).", "fleet.(*running).", "fleet.(*goroutines)."} {
			if strings.Contains(stack, of) && !strings.Contains(stack, "testing.tRunner(") {
				list = append(list, stack)
				break
			}
		}
	}
	return list
}

// TestNothingOfAFleetOutlivesClose: agents that answer nothing are being told many things when the fleet is closed. It
// runs beside no other test.
func TestNothingOfAFleetOutlivesClose(t *testing.T) {
	x := assemble(t, 0, func(o *Options) { o.Agents = 3 })
	reports := []func(report){deaf(t, x.Fleet, "a"), deaf(t, x.Fleet, "b"), deaf(t, x.Fleet, "c")}
	r := &x.Remote().fleetRun
	x.Fleet.mu.Lock()
	r.id, r.shares, r.sink, r.plan = "run", x.members, &keeper{}, load.Plan{Phases: make([]load.Phase, 3)}
	r.done, r.end = context.WithCancel(x.alongside.ctx)
	x.running = r
	x.Fleet.mu.Unlock()
	x.markLost(r.shares[0], errors.New("pulled out"))
	reports[0](report{Number: 1, Run: "run"})            // it is told that it is lost
	reports[1](report{Number: 1, Run: "run", Joined: 1}) // both are told what all have used
	reports[2](report{Number: 1, Run: "run", Joined: 1})
	reports[1](report{Number: 2, Run: "run", Joined: 1, Ended: &ended{Error: "early"}, Batches: 7}) // its records are waited for
	r.EndPhase(1, 0)
	r.Stop(nil)
	const busy = 8 // the two loops, three members that are told something, one that is waited for, the two commands
	for until, n := time.Now().Add(time.Minute), 0; n < busy; time.Sleep(time.Millisecond) {
		x.alongside.mu.Lock()
		n = x.alongside.count
		x.alongside.mu.Unlock()
		if time.Now().After(until) {
			t.Fatalf("%d goroutines alongside", n)
		}
	}
	began := time.Now()
	x.Fleet.Close()
	if left := ours(); left != nil {
		t.Errorf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
	}
	if took := time.Since(began); took > commandDeadline/2 {
		t.Errorf("Close took %s", took)
	}
	r.EndPhase(1, 0)
	r.Stop(nil)
	if left := ours(); left != nil {
		t.Errorf("something begins after the end:\n%s", strings.Join(left, "\n\n"))
	}
}

// TestNothingOfAnAgentOutlivesIt, however it ends: in the middle of a share, or without having found a coordinator.
func TestNothingOfAnAgentOutlivesIt(t *testing.T) {
	s := startMock(t, fast())
	x := assemble(t, 1, nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _, _ = x.execute(configOf(t, t.TempDir(), s.url, "--concurrency", "2", "--benchmark-duration", "60"), nil)
	}()
	x.begun(t)
	x.agents[0].end()
	<-x.agents[0].done
	none := x.join("none", func(o *AgentOptions) { o.Fleet, o.Wait = "other", time.Millisecond })
	<-none.done
	all := make([]byte, 16<<20)
	for _, stack := range strings.Split(string(all[:runtime.Stack(all, true)]), "\n\n") {
		for _, of := range []string{"fleet.(*agent).", "fleet.(*share).", "fleet.(*courier)."} {
			if strings.Contains(stack, of) {
				t.Errorf("left:\n%s", stack)
			}
		}
	}
	x.Fleet.mu.Lock()
	m := x.members[0]
	x.Fleet.mu.Unlock()
	x.markLost(m, errors.New("ended"))
	<-ended
}
