package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/testkit"
	"aiperf/internal/config"
	resolver "aiperf/internal/config/resolve"
	"aiperf/internal/config/settings"
	"aiperf/internal/mockserver"
	"aiperf/internal/run"
	"aiperf/internal/run/remote"
	"aiperf/internal/view/runlog"
)

// TestMain runs eight tests at a time: nearly all wait. No goroutine of any fleet is left at the end; those of
// connections that were closed have a moment.
func TestMain(m *testing.M) {
	code := testkit.Parallel{M: m, Limit: 8}.Run()
	// The library's own, which it leaves behind now and then when a connection is closed: it reads a channel that is nil.
	library := goleak.IgnoreTopFunction("github.com/nats-io/nats.go/jetstream.(*jetStream).resetPendingAcksOnReconnect")
	var left error
	for until := time.Now().Add(time.Minute); code == 0 && time.Now().Before(until); {
		if left = goleak.Find(library); left == nil {
			break
		}
	}
	if left != nil {
		fmt.Fprintln(os.Stderr, left)
		code = 1
	}
	os.Exit(code)
}

// mock is a mock server with its own record of the requests.
type mock struct {
	url    string
	record string
	stop   func()
}

func startMock(t testing.TB, o mockserver.Options) *mock {
	t.Helper()
	s := &mock{record: filepath.Join(t.TempDir(), "requests.jsonl")}
	o.RecordRequests = s.record
	m, err := mockserver.New(o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Serve(ctx, l) }()
	s.url, s.stop = "http://"+l.Addr().String(), sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.stop)
	return s
}

// requests stops the server and counts the requests of its record.
func (s *mock) requests(t testing.TB) int {
	t.Helper()
	return len(s.ids(t))
}

// ids stops the server and returns the ids of the requests of its record.
func (s *mock) ids(t testing.TB) (list []string) {
	t.Helper()
	s.stop()
	data, err := os.ReadFile(s.record)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var x struct {
			Path string `json:"path"`
			ID   string `json:"request_id"`
		}
		if err := json.Unmarshal(line, &x); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(x.Path, "completions") {
			list = append(list, x.ID)
		}
	}
	return list
}

func fast() mockserver.Options { return mockserver.Options{Fast: true} }

// configOf resolves a configuration.
func configOf(t testing.TB, dir, url string, args ...string) *config.Run {
	t.Helper()
	args = append([]string{"--model", "mock-model", "--url", url, "--ui", "none", "--artifact-dir", dir,
		"--no-server-metrics", "--no-gpu-telemetry", "--random-seed", "7", "--osl", "4", "--isl", "16"}, args...)
	if !slices.Contains(args, "--tokenizer") {
		args = append(args, "--tokenizer", "builtin")
	}
	parsed, err := settings.Parse(args, func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	cfg, _, err := resolver.Resolve(parsed, run.Catalog{})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// lines is a log that tests can read while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// testAgent is an agent in this process.
type testAgent struct {
	name string
	dir  string
	stop chan struct{}
	end  context.CancelFunc
	done chan struct{}
	err  error
	said lines
}

// together is a coordinator with agents, all in this process.
type together struct {
	*Fleet
	t      testing.TB
	log    lines
	agents []*testAgent
}

// assemble opens a fleet and starts its agents.
func assemble(t testing.TB, n int, change func(*Options)) *together {
	t.Helper()
	return assembleWith(t, n, change, nil)
}

// assembleWith changes the options of each agent as well.
func assembleWith(t testing.TB, n int, change func(*Options), agent func(i int, o *AgentOptions)) *together {
	t.Helper()
	x := &together{t: t}
	o := Options{Version: "test", Agents: n, Wait: time.Minute, Listen: "127.0.0.1:0", Clock: clock.New(),
		Security: Security{Token: NewToken()}, Show: func(string) {}, Log: slog.New(slog.NewTextHandler(&x.log, nil))}
	if change != nil {
		change(&o)
	}
	f, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	x.Fleet = f
	t.Cleanup(x.end)
	for i := range n {
		x.join(fmt.Sprintf("a%d", i), func(o *AgentOptions) {
			if agent != nil {
				agent(i, o)
			}
		})
		if err := f.await(t.Context(), func() bool { return len(f.members) == i+1 }); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

// join starts an agent.
func (x *together) join(name string, change func(*AgentOptions)) *testAgent {
	a := &testAgent{name: name, dir: x.t.TempDir(), stop: make(chan struct{}), done: make(chan struct{})}
	var ctx context.Context
	ctx, a.end = context.WithCancel(context.Background())
	o := AgentOptions{Version: "test", Join: x.Address(), Security: x.options.Security, Name: name, Dir: a.dir,
		CacheDir: filepath.Join(x.t.TempDir(), "cache"), Stop: a.stop, Wait: time.Minute,
		Say: func(line string) { fmt.Fprintln(&a.said, line) },
		Log: func([]string) *runlog.Log { return runlog.New(runlog.Options{}) }}
	if change != nil {
		change(&o)
	}
	go func() {
		defer close(a.done)
		a.err = Agent(ctx, o)
	}()
	x.agents = append(x.agents, a)
	return a
}

func (x *together) end() {
	x.Fleet.Close()
	for _, a := range x.agents {
		select {
		case <-a.done:
		case <-time.After(time.Minute):
			x.t.Errorf("the agent %s does not end", a.name)
		}
	}
	if x.t.Failed() {
		x.t.Log(x.log.String())
		for _, a := range x.agents {
			x.t.Log(a.name, a.err, a.said.String())
		}
	}
}

// execute makes a run with the fleet.
func (x *together) execute(cfg *config.Run, stop <-chan struct{}) (*run.Outcome, []Account, error) {
	r := x.Remote()
	out, err := x.executeWith(cfg, stop, r)
	return out, r.Accounts(), err
}

// executeWith makes a run with the fleet, through something that stands before it.
func (x *together) executeWith(cfg *config.Run, stop <-chan struct{}, r remote.Shares) (*run.Outcome, error) {
	x.t.Helper()
	log := runlog.New(runlog.Options{Console: &x.log})
	defer log.Close()
	return run.Execute(context.Background(), cfg, run.Options{Version: "test", Log: log, Stop: stop,
		LogInterval: new(time.Duration), Remote: r, Clock: x.Clock()})
}

func TestAgentsMakeARunTogether(t *testing.T) {
	t.Parallel()
	s := startMock(t, fast())
	x := assemble(t, 3, nil)
	began := time.Now()
	out, accounts, err := x.execute(configOf(t, t.TempDir(), s.url, "--concurrency", "6", "--request-count", "100"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(time.Since(began))
	if c := out.Result.Counts; c.Sent != 100 || c.Successes != 100 || out.Problem != nil || out.Result.Incomplete != "" {
		t.Errorf("counts %+v, problem %v, incomplete %q", c, out.Problem, out.Result.Incomplete)
	}
	for i, a := range accounts {
		if want := []int64{34, 33, 33}[i]; a.Sent != want || a.Recorded != want || a.Lost != "" {
			t.Errorf("share %d: %+v", i, a)
		}
	}
	if n := s.requests(t); n != 100 {
		t.Errorf("the server got %d requests", n)
	}
}
