package dispatch_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/random"
	"aiperf/internal/load"
	"aiperf/internal/measure/record"
	"aiperf/internal/run/dispatch"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/intake"
	"aiperf/internal/wire/session"
	"aiperf/internal/workload/compose"
	"aiperf/internal/workload/dataset"
)

// server is a transport whose exchanges end when the test says so, or when they are cut off.
type server struct {
	clock *clock.Clock
	// replies has a channel for each exchange under way.
	replies chan chan struct{}
}

func (s *server) SendInto(ctx context.Context, _ *client.Request, _ client.Sink, out *client.Exchange) {
	reply := make(chan struct{})
	now := s.clock.NowNS()
	*out = client.Exchange{StartNS: now, SentNS: now, EndNS: now, Status: 200}
	s.replies <- reply
	select {
	case <-reply:
	case <-ctx.Done():
		out.CutOff = true
	}
}

// returns are the credits that came back, each with its outcome.
type returns chan load.Outcome

func (returns) FirstContent(load.Credit)   {}
func (returns) Started(load.Credit, int64) {}
func (r returns) Returned(_ load.Credit, o load.Outcome) {
	r <- o
}

// tally counts nothing.
type tally struct{}

func (tally) Add(int)  {}
func (tally) Warm(int) {}

// bench is a dispatcher with its server, the credits that return to it, and its records.
type bench struct {
	*dispatch.Dispatcher
	server  *server
	returns returns
	records chan record.Record
}

// newBench makes a dispatcher of conversations, with so many workers and two profiling phases that replay a schedule.
func newBench(t *testing.T, content string, workers int) *bench {
	t.Helper()
	data, c := datasetOf(t, content), clock.New()
	chat, err := endpoint.New("chat", endpoint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{server: &server{clock: c, replies: make(chan chan struct{}, 16)}, returns: make(returns, 16),
		records: make(chan record.Record, 16)}
	pool := intake.NewPool(intake.New(intake.Options{WallNS: c.WallNS}), 1, 16,
		func(r *record.Record) { b.records <- *r })
	b.Dispatcher = dispatch.New(dispatch.Options{
		Phases: []dispatch.Phase{{PhaseID: servermetrics.PhaseID{Name: "first"}, Scheduled: true},
			{PhaseID: servermetrics.PhaseID{Index: 1, Profiling: 1, Name: "second"}, Scheduled: true}},
		Data: data,
		Sessions: session.NewStore(session.Options{Dataset: data, Endpoint: chat,
			URLs: []string{"http://127.0.0.1:1/v1/chat/completions"}}),
		Client: b.server, Endpoint: chat, Clock: c, Pool: pool, Workers: workers, Prompts: tally{},
		Finished: func(*load.Credit, *intake.Job) {},
	})
	b.ReportTo(b.returns)
	t.Cleanup(func() {
		b.Close()
		if err := pool.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return b
}

// send has a turn leave and returns once its exchange is under way; closing the channel ends it.
func (b *bench) send(c load.Credit) (reply chan struct{}) {
	c.CancelAfterNS = -1
	b.Send(c)
	return <-b.server.replies
}

// worker answers an exchange and returns the name of the worker that its record has.
func (b *bench) worker(reply chan struct{}) string {
	close(reply)
	<-b.returns
	r := <-b.records
	return r.Identity.WorkerID
}

// twoTurns are conversations with recorded times.
const twoTurns = `{"session_id":"a","turns":[{"text":"A","timestamp":1000},{"text":"B","timestamp":1300}]}
{"session_id":"b","turns":[{"text":"C","timestamp":1000},{"text":"D","timestamp":1300}]}
{"session_id":"c","turns":[{"text":"E","timestamp":1000},{"text":"F","timestamp":1300}]}
{"session_id":"d","turns":[{"text":"G","timestamp":1000},{"text":"H","timestamp":1300}]}
`

func datasetOf(t *testing.T, content string) *dataset.Dataset {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tree.jsonl")
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	data, _, err := compose.Build(context.Background(), compose.Options{Kind: compose.File, Path: path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if data.Sampler, err = dataset.NewSampler(dataset.Sequential, data.RootCount(), random.Root(1)); err != nil {
		t.Fatal(err)
	}
	return data
}

func TestFirstTurnGoesToTheLeastLoadedWorker(t *testing.T) {
	t.Parallel()
	b := newBench(t, twoTurns, 3)
	var first [3]chan struct{}
	for k := range first {
		first[k] = b.send(load.Credit{Session: uint64(k)})
	}
	second := b.worker(first[1])
	if got := b.worker(b.send(load.Credit{Session: 3})); got != second {
		t.Errorf("the idle worker is %s, %s was chosen", second, got)
	}
	names := map[string]bool{second: true, b.worker(first[0]): true, b.worker(first[2]): true}
	if len(names) != 3 {
		t.Fatalf("three requests went to the workers %v", names)
	}
	if got := b.worker(b.send(load.Credit{Session: 1, Turn: 1, Final: true})); got != second {
		t.Errorf("a later turn moved from %s to %s", second, got)
	}
}

// A run that ends before its barrier opens leaves nobody behind it.
func TestGatheredRequestsThatAreNotSentEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, twoTurns, 1)
		ready := make(chan struct{})
		b.Gather(0, []uint64{0, 1}, func() { close(ready) })
		<-ready
		start := time.Now()
		b.Close()
		if took := time.Since(start); took > 0 {
			t.Errorf("Close gave up on goroutines after %v", took)
		}
		if len(b.server.replies) > 0 {
			t.Error("a request was sent")
		}
	})
}

func TestCuttingOnePhaseOffSparesTheOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t, twoTurns, 1)
	b.send(load.Credit{Phase: 0, Session: 0})
	second := b.send(load.Credit{Phase: 1, Session: 1})
	b.CutOffPhase(0)
	if got := <-b.returns; got != load.CutOff {
		t.Errorf("the exchange of phase 0 is %v", got)
	}
	if len(b.returns) > 0 {
		t.Error("phase 1 has ended, too")
	}
	close(second)
	if got := <-b.returns; got == load.CutOff {
		t.Error("the exchange of phase 1 was cut off")
	}
	b.send(load.Credit{Phase: 1, Session: 2})
	b.CutOff()
	if got := <-b.returns; got != load.CutOff {
		t.Errorf("after the end of all, the exchange is %v", got)
	}
}

// A lag is relative to the earliest send. The time between two replays is none.
func TestTimesOfALaterReplayAreMovedToTheClockOfTheFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t, twoTurns, 1)
	const second = int64(time.Second)
	for _, c := range []struct {
		phase          int
		session        uint64
		turn           int
		intended, want int64
	}{
		{0, 0, 0, 5 * second, second}, {0, 0, 1, 5*second + 3e8, second + 3e8}, // starts at 4 s
		{1, 1, 0, 9 * second, 5 * second}, {1, 1, 1, 9*second + 3e8, 5*second + 3e8}, // starts at 8 s
	} {
		close(b.send(load.Credit{Phase: c.phase, Session: c.session, Turn: c.turn, IntendedNS: c.intended}))
		<-b.returns
		r := <-b.records
		if got, scheduled := r.Get(record.Scheduled); !scheduled || got != c.want {
			t.Errorf("turn %d of session %d: %d, want %d", c.turn, c.session, got, c.want)
		}
	}
}
