//go:build unix

package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// answersThenHangs answers that many requests and keeps the others waiting.
func answersThenHangs(t *testing.T, answers int64) string {
	t.Helper()
	var seen atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if seen.Add(1) > answers {
			<-r.Context().Done()
			return
		}
		io.WriteString(w,
			`{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"yes"}}]}`)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestTrapInterruptedSeries: the run under way is cut off and reported, no further one begins, what is complete is
// aggregated, and the exit code is not 0. The server answers five requests: the third run of two hangs in its second.
func TestTrapInterruptedSeries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		code   int
	}{
		{"Ctrl-C", syscall.SIGINT, 1},
		{"SIGTERM", syscall.SIGTERM, 143},
		{"SIGHUP", syscall.SIGHUP, 129},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := startProfile(t, answersThenHangs(t, 5), "--osl", "2", "--concurrency", "1", "--request-count", "2",
				"--num-profile-runs", "5", "--log-level", "trace")
			p.waitFor("Run 3 of 5")
			p.waitFor("Request finished")
			p.signal(c.signal)
			p.ends(c.code)
			p.says(p.stderr.String(), "Cancellation in Progress")
			p.says(p.stdout.String(), "All runs complete: 2/3 successful")
			p.says(p.stdout.String(), "Failed: trial_0003 (cancelled before it was complete)")
			if got, want := p.show("aggregate/profile_export_aiperf_aggregate.json", "metadata.num_profile_runs",
				"metadata.run_labels.*", "metadata.failed_runs.0.label"),
				"3 trial_0001,trial_0002 trial_0003"; got != want {
				t.Errorf("the aggregate has %s, want %s", got, want)
			}
			if _, err := os.Stat(filepath.Join(p.dir, "profile_runs", "run_0004")); err == nil {
				t.Error("a fourth run was begun")
			}
		})
	}
}

// TestTrapInterruptedSweep: a signal in a cell cuts it off, what is complete is aggregated, the exit code is not 0, and
// the same command with --resume makes only what is missing. The server hangs from its fourth request on, until the
// sweep has ended.
func TestTrapInterruptedSweep(t *testing.T) {
	t.Parallel()
	var seen atomic.Int64
	var works atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if seen.Add(1) > 3 && !works.Load() {
			<-r.Context().Done()
			return
		}
		io.WriteString(w,
			`{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"yes"}}]}`)
	}))
	t.Cleanup(s.Close)
	flags := []string{"--osl", "2", "--concurrency", "1,2,3", "--request-count", "2", "--log-level", "trace"}
	p := startProfile(t, s.URL, flags...)
	p.waitFor("Run 2 of 3")
	p.waitFor("Request finished")
	p.signal(syscall.SIGINT)
	p.ends(1)
	p.says(p.stdout.String(), "All runs complete: 1/2 successful")
	p.says(p.stdout.String(), "Failed: concurrency_2 (cancelled before it was complete)")
	p.says(p.stdout.String(), "Not in the aggregate: concurrency=3 (no run of it was made)")
	p.says(p.stderr.String(), "cancelled with 1 complete")
	const aggregate = "sweep_aggregate/profile_export_aiperf_sweep.json"
	const cells = "per_combination_metrics.*.parameters.concurrency"
	if got, want := p.show(aggregate, "num_successful_runs", "failed_runs.0.label", cells),
		"1 concurrency_2 1"; got != want {
		t.Errorf("the aggregate has %s, want %s", got, want)
	}
	works.Store(true)
	again := profileCommand(s.URL, p.dir, append(flags, "--resume")...)
	out, err := again.CombinedOutput()
	if err != nil || strings.Contains(string(out), "Run 1 of 3") || !strings.Contains(string(out), "Run 2 of 3") {
		t.Errorf("%v\n%s", err, tail(string(out), 3000))
	}
	if got := p.show(aggregate, "num_successful_runs", cells); got != "3 1,2,3" {
		t.Errorf("the aggregate has %s", got)
	}
	if n := seen.Load(); n > 2+2+4 { // the first cell is not made again
		t.Errorf("%d requests", n)
	}
}

// TestInterruptBetweenRuns: the pause ends at once.
func TestInterruptBetweenRuns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		code   int
	}{
		{"Ctrl-C", syscall.SIGINT, 1},
		{"SIGTERM", syscall.SIGTERM, 143},
		{"SIGHUP", syscall.SIGHUP, 129},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := startProfile(t, mock(t), "--osl", "2", "--request-count", "2", "--num-profile-runs", "3",
				"--profile-run-cooldown-seconds", "3600", "--report", "full")
			p.waitFor("Log File: ")
			p.signal(c.signal)
			p.ends(c.code)
			p.says(p.stdout.String(), "All runs complete: 1/1 successful")
			if got := p.show("profile_runs/run_0001/profile_export_aiperf.json", "was_cancelled"); got != "false" {
				t.Errorf("was_cancelled is %s", got)
			}
			if _, err := os.Stat(filepath.Join(p.dir, "aggregate")); err == nil {
				t.Error("one run was aggregated")
			}
		})
	}
}

// TestSecondInterruptOfASeries ends the program at once, whichever run is under way.
func TestSecondInterruptOfASeries(t *testing.T) {
	t.Parallel()
	p := startProfile(t, mock(t, "--fault", "never"), "--osl", "2", "--request-count", "2", "--num-profile-runs", "2")
	p.waitFor("Phase profiling started")
	p.signal(syscall.SIGINT)
	p.signal(syscall.SIGTERM) // of another kind, so that the system cannot merge the two
	p.ends(130, 1)            // 1 if it had ended before the second one
}

// TestTrapOneSuccessIsNoAggregate: intervals take two; what each run wrote stays, and the exit code tells.
func TestTrapOneSuccessIsNoAggregate(t *testing.T) {
	t.Parallel()
	var seen atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if seen.Add(1) > 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w,
			`{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"yes"}}]}`)
	}))
	t.Cleanup(s.Close)
	p := startProfile(t, s.URL, "--osl", "2", "--concurrency", "1", "--request-count", "2", "--num-profile-runs", "2")
	p.ends(1)
	p.says(p.stdout.String(), "All runs complete: 1/2 successful")
	p.says(p.stderr.String(), "1 of 2 runs succeeded: confidence intervals need at least 2")
	if _, err := os.Stat(filepath.Join(p.dir, "aggregate")); err == nil {
		t.Error("one run was aggregated")
	}
	for _, trial := range []string{"run_0001", "run_0002"} {
		if got := p.show(filepath.Join("profile_runs", trial, "profile_export_aiperf.json"),
			"was_cancelled"); got != "false" {
			t.Errorf("%s has no summary: %s", trial, got)
		}
	}
}
