package selftest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/config/resolve"
	"aiperf/internal/config/settings"
	"aiperf/internal/measure/recordfile"
	"aiperf/internal/mockserver"
	"aiperf/internal/run"
	"aiperf/internal/view/runlog"
)

// common are the flags of every run.
var common = []string{
	"--model", "mock-model", "--tokenizer", "builtin", "--endpoint-type", "chat", "--random-seed", "7",
	"--ui", "none", "--no-server-metrics", "--no-gpu-telemetry",
}

// server is a mock server with its record.
type server struct {
	*mockserver.Process
	record string
}

// startServer starts a mock server that records what it receives. The user's MOCK_SERVER_ variables have no effect.
func (t *tester) startServer(name string, args ...string) (*server, error) {
	s := &server{record: filepath.Join(t.dir, name+".requests.jsonl")}
	var env []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "MOCK_SERVER_") {
			env = append(env, entry)
		}
	}
	var err error
	s.Process, err = mockserver.StartProcess(mockserver.ProcessOptions{Env: env,
		Args: append([]string{"--record-requests", s.record, "--random-seed", "7"}, args...)})
	return s, t.cause(err)
}

// signalDelay is how long a signal that has ended the server may take to arrive here.
const signalDelay = 200 * time.Millisecond

// cause returns errStopped for an error that comes with the request to stop: a signal to the process group also
// reaches a server that is about to start.
func (t *tester) cause(err error) error {
	if err == nil {
		return nil
	}
	select {
	case <-t.options.Stop:
		return errStopped
	case <-time.After(signalDelay):
		return err
	}
}

// finish stops the server and reads its record.
func (s *server) finish() ([]serverLine, error) {
	if err := s.Stop(); err != nil {
		return nil, err
	}
	return readLines[serverLine](s.record)
}

// outcome is a run and its files.
type outcome struct {
	*run.Outcome
	artifacts *config.Artifacts
}

// profile runs a benchmark as "aiperf profile" with these flags would. The user's AIPERF_ variables have no effect.
func (t *tester) profile(name, url string, args ...string) (*outcome, error) {
	if t.stopped() {
		return nil, errStopped
	}
	all := append(overridden(common, args), "--url", url, "--artifact-dir", filepath.Join(t.dir, name))
	parsed, err := settings.Parse(all, func(string) (string, bool) { return "", false })
	if err != nil {
		return nil, err
	}
	cfg, _, err := resolve.Resolve(parsed, run.Catalog{})
	if err != nil {
		return nil, err
	}
	log := runlog.New(runlog.Options{Level: slog.LevelError, Console: io.Discard})
	defer log.Close()
	ctx, cancel := context.WithTimeout(t.ctx, stepTimeout)
	defer cancel()
	out, err := run.Execute(ctx, cfg, run.Options{Version: t.options.Version, Log: log, Stop: t.options.Stop})
	switch {
	case t.stopped():
		return nil, errStopped
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("the run did not end within %s, or the test within %s", stepTimeout, testTimeout)
	case err != nil:
		return nil, t.cause(err)
	case out.Problem != nil:
		return nil, t.cause(out.Problem)
	}
	return &outcome{out, &cfg.Artifacts}, nil
}

// overridden returns base without the flags that given names too, followed by given. Each flag has one value.
func overridden(base, given []string) []string {
	named := map[string]bool{}
	for _, arg := range given {
		named[arg] = true
	}
	var args []string
	keep := true
	for _, arg := range base {
		if strings.HasPrefix(arg, "--") {
			keep = !named[arg]
		}
		if keep {
			args = append(args, arg)
		}
	}
	return append(args, given...)
}

// exchange runs one benchmark against a server of its own; it returns the run and the server's record.
func (t *tester) exchange(name string, serverArgs, args []string) (*outcome, []serverLine, error) {
	s, err := t.startServer(name, serverArgs...)
	if err != nil {
		return nil, nil, err
	}
	out, runErr := t.profile(name, s.URL, args...)
	lines, err := s.finish()
	switch {
	case t.stopped():
		return nil, nil, errStopped
	case runErr != nil:
		return nil, nil, runErr
	}
	return out, lines, t.cause(err)
}

func (o *outcome) records() (list []*recordfile.Request, err error) {
	err = recordfile.ReadRequests(o.artifacts.Path(config.RecordsJSONL), func(r *recordfile.Request) {
		list = append(list, r)
	})
	return list, err
}

func (o *outcome) raw() ([]rawLine, error) {
	return readLines[rawLine](o.artifacts.Path(config.RawJSONL))
}

func (o *outcome) summary() (summaryFile, error) {
	return readSummary(o.artifacts.Path(config.SummaryJSON))
}
