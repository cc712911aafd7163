package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"aiperf/internal/accuracy/sandbox"
	"aiperf/internal/base/testkit"
	"aiperf/internal/config"
	resolver "aiperf/internal/config/resolve"
	"aiperf/internal/config/settings"
	"aiperf/internal/mockserver"
	"aiperf/internal/publish/progress"
	"aiperf/internal/view/runlog"
)

// TestMain is also the inside of the sandbox, which is the program that runs.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sandbox.Command {
		os.Exit(sandbox.Child(os.Args[2:]))
	}
	// Nearly all tests wait for a server.
	goleak.VerifyTestMain(testkit.Parallel{M: m, Limit: 8})
}

// serve starts a mock server on a free port.
func serve(t *testing.T, o mockserver.Options) string {
	t.Helper()
	url, _ := serveUntil(t, o)
	return url
}

// serveUntil is serve with a stop before the end of the test: its record is whole then.
func serveUntil(t *testing.T, o mockserver.Options) (url string, stop func()) {
	t.Helper()
	s, err := mockserver.New(o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return "http://" + l.Addr().String(), stop
}

func noEnv(string) (string, bool) { return "", false }

// resolve makes a configuration of command line flags.
func resolve(t *testing.T, dir, url string, args ...string) *config.Run {
	t.Helper()
	return resolveBare(t, dir, url, append([]string{"--tokenizer", "builtin"}, args...)...)
}

// resolveBare leaves the tokenizer to the endpoint type.
func resolveBare(t *testing.T, dir, url string, args ...string) *config.Run {
	t.Helper()
	args = append([]string{"--model", "mock-model", "--url", url, "--ui", "none", "--artifact-dir", dir,
		"--no-server-metrics"}, args...)
	parsed, err := settings.Parse(args, noEnv)
	if err != nil {
		t.Fatal(err)
	}
	cfg, _, err := resolver.Resolve(parsed, Catalog{})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func execute(t *testing.T, cfg *config.Run, o Options) (*Outcome, error) {
	t.Helper()
	o.Version = "test"
	var lines bytes.Buffer
	o.Log = runlog.New(runlog.Options{Console: &lines})
	defer o.Log.Close()
	outcome, err := Execute(context.Background(), cfg, o)
	if t.Failed() {
		t.Log(lines.String())
	}
	return outcome, err
}

func records(t *testing.T, dir string) []map[string]any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "profile_export.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var list []map[string]any
	for line := range bytes.Lines(data) {
		var r map[string]any
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		list = append(list, r)
	}
	return list
}

func TestExecuteManyTimesAtOnce(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{})
	var all sync.WaitGroup
	for i := range 4 {
		dir := t.TempDir()
		cfg := resolve(t, dir, url, "--streaming", "--concurrency", "5", "--request-count", fmt.Sprint(20+i),
			"--warmup-request-count", "3",
			"--isl", "20", "--osl", "6", "--extra-inputs", "ignore_eos:true", "--random-seed", "1")
		all.Go(func() {
			outcome, err := execute(t, cfg, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			if outcome.Problem != nil || outcome.Aborted != nil {
				t.Errorf("problem %v, aborted %v", outcome.Problem, outcome.Aborted)
			}
			c := outcome.Result.Counts
			if want := int64(20 + i); c.Sent != want || c.Successes != want || c.Errors != 0 || c.CutOff != 0 {
				t.Errorf("run %d: counts %+v", i, c)
			}
			osl, _ := outcome.Result.Find("total_osl")
			if want := float64(6 * (20 + i)); osl.Stats.Avg != want {
				t.Errorf("run %d: %v output tokens, want %v", i, osl.Stats.Avg, want)
			}
			if outcome.Result.Warmup == nil {
				t.Errorf("run %d has no warm-up results", i)
			}
			if n := len(records(t, dir)); n != 20+i {
				t.Errorf("run %d: %d lines", i, n)
			}
		})
	}
	all.Wait()
}

func TestSessionsKeepWorkerURLAndCorrelation(t *testing.T) {
	t.Parallel()
	one, two := serve(t, mockserver.Options{}), serve(t, mockserver.Options{})
	dir := t.TempDir()
	cfg := resolve(t, dir, one, "--num-sessions", "6", "--session-turns-mean", "3", "--concurrency", "3", "--isl", "10",
		"--osl", "2", "--export-level", "raw")
	cfg.Endpoint.URLs = []string{one, two}
	outcome, err := execute(t, cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range outcome.Phases {
		if p.RequestsPerURL[0] != 9 || p.RequestsPerURL[1] != 9 {
			t.Errorf("requests per URL %v, want 9 each", p.RequestsPerURL)
		}
	}
	workers, turns := map[string]string{}, map[string]int{}
	for _, r := range records(t, dir) {
		m := r["metadata"].(map[string]any)
		session, worker := m["x_correlation_id"].(string), m["worker_id"].(string)
		if before, ok := workers[session]; ok && before != worker {
			t.Errorf("session %s moved from %s to %s", session, before, worker)
		}
		workers[session] = worker
		if int(m["turn_index"].(float64)) != turns[session] {
			t.Errorf("session %s: turn %v after %d turns", session, m["turn_index"], turns[session])
		}
		turns[session]++
	}
	if len(workers) != 6 {
		t.Errorf("%d sessions, want 6", len(workers))
	}
}

func TestStopKeepsWhatIsFinished(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{TTFT: time.Millisecond})
	dir := t.TempDir()
	cfg := resolve(t, dir, url, "--concurrency", "2", "--request-count", "100000", "--isl", "10", "--osl", "1")
	stop := make(chan struct{})
	var once sync.Once
	outcome, err := execute(t, cfg, Options{Stop: stop, Observers: observed(func(s *progress.Snapshot) {
		if s.Records.Successes > 10 {
			once.Do(func() { close(stop) })
		}
	})})
	if err != nil {
		t.Fatal(err)
	}
	c := outcome.Result.Counts
	if !outcome.Result.WasCancelled || c.Sent != c.Successes+c.Errors+c.CutOff || c.Successes <= 10 {
		t.Errorf("cancelled %t, counts %+v", outcome.Result.WasCancelled, c)
	}
	if n := int64(len(records(t, dir))); n != c.Successes {
		t.Errorf("%d lines, %d successes", n, c.Successes)
	}
	if mark := string(fileOf(t, dir, ".aiperf_results_ready.json")); mark !=
		`{"ready":true,"was_cancelled":true,"partial":false}` {
		t.Errorf("the mark is %s", mark)
	}
}

// A run that has no results takes the mark of the earlier one away with its files.
func TestTheMarkOfCompleteFilesGoesWithThem(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{TTFT: time.Millisecond})
	dir := t.TempDir()
	args := []string{"--concurrency", "2", "--isl", "10", "--osl", "1", "--warmup-duration", "100"}
	mark := filepath.Join(dir, ".aiperf_results_ready.json")
	if _, err := execute(t, resolve(t, dir, url, append(args[:6:6], "--request-count", "4")...), Options{}); err != nil {
		t.Fatal(err)
	}
	if got := string(fileOf(t, dir, filepath.Base(mark))); got != `{"ready":true,"was_cancelled":false,"partial":false}` {
		t.Errorf("the mark is %s", got)
	}
	stop := make(chan struct{})
	var once sync.Once
	_, err := execute(t, resolve(t, dir, url, append(args, "--request-count", "10")...), Options{Stop: stop,
		Observers: observed(func(s *progress.Snapshot) {
			if len(s.Phases) > 0 {
				once.Do(func() { close(stop) })
			}
		})})
	if err == nil {
		t.Fatal("a run that was stopped in its warm-up has results")
	}
	if _, err := os.Stat(mark); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the mark is still there: %v", err)
	}
}

func TestStopDuringWarmupHasNoResults(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{TTFT: time.Millisecond})
	cfg := resolve(t, t.TempDir(), url, "--concurrency", "2", "--request-count", "10", "--warmup-duration", "100",
		"--isl", "10", "--osl", "1")
	stop := make(chan struct{})
	close(stop)
	_, err := execute(t, cfg, Options{Stop: stop})
	var none *NoResultsError
	if !errors.As(err, &none) {
		t.Fatalf("error %v, want a NoResultsError", err)
	}
}

func TestFailedRequestThresholdEndsTheRun(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{ErrorRate: 100})
	dir := t.TempDir()
	cfg := resolve(t, dir, url, "--concurrency", "1", "--request-count", "5000", "--failed-request-threshold", "0.5",
		"--isl", "10", "--osl", "1")
	outcome, err := execute(t, cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if outcome.Aborted == nil || !strings.Contains(outcome.Aborted.Error(), "--failed-request-threshold") {
		t.Errorf("aborted: %v", outcome.Aborted)
	}
	if n := len(records(t, dir)); n < minThresholdRecords || n > 1000 {
		t.Errorf("%d records, want a few more than %d", n, minThresholdRecords)
	}
	if outcome.Result.Incomplete == "" {
		t.Error("the result does not say that it is incomplete")
	}
}

func TestDirectoryThatCannotBeMade(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	cfg := resolve(t, filepath.Join(file, "run"), "http://127.0.0.1:1")
	if _, err := execute(t, cfg, Options{}); err == nil || !strings.Contains(err.Error(), "--artifact-dir") {
		t.Fatalf("error %v", err)
	}
}

func TestUsersKeepTheirNumbersAndTheirPace(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{})
	dir := t.TempDir()
	cfg := resolve(t, dir, url, "--user-centric-rate", "100", "--num-users", "5", "--session-turns-mean", "4",
		"--benchmark-duration", "1.5", "--isl", "10", "--osl", "1")
	if _, err := execute(t, cfg, Options{}); err != nil {
		t.Fatal(err)
	}
	turns := map[string]int{}
	for _, r := range records(t, dir) {
		m := r["metadata"].(map[string]any)
		user := m["x_correlation_id"].(string)
		if _, err := strconv.Atoi(user); err != nil {
			t.Fatalf("correlation id %q is no user's number", user)
		}
		if int(m["turn_index"].(float64)) != turns[user] {
			t.Errorf("user %s: turn %v after %d turns", user, m["turn_index"], turns[user])
		}
		turns[user]++
	}
	if turns["1"] != 0 || turns["2"] == 0 || turns["6"] == 0 {
		t.Errorf("turns by user: %v; the first user has none left, the second and the newcomer have", turns)
	}
}
