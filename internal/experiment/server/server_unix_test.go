//go:build unix

package server_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/experiment/server"
)

// patience bounds every wait; only a hang reaches it.
const patience = 2 * time.Minute

// await polls until done; only a hang fails.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited in vain: " + what)
		}
	}
}

// alive reports whether a process runs; one that has ended and was not waited for does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return runtime.GOOS != "linux"
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// bench is a folder with a supervisor of scripts.
type bench struct {
	*testing.T
	dir string
	s   *server.Supervisor
}

func newBench(t *testing.T, o server.Options) *bench {
	b := &bench{T: t, dir: t.TempDir()}
	if o.Timeout == 0 {
		o.Timeout = patience
	}
	o.Command = strings.ReplaceAll(o.Command, "DIR", b.dir)
	o.Reset = strings.ReplaceAll(o.Reset, "DIR", b.dir)
	b.s = server.New(o)
	t.Cleanup(func() { b.s.Close() })
	return b
}

// written waits until the script has written a file, and returns the file's words.
func (b *bench) written(name string) (words []string) {
	b.Helper()
	await(b.T, name, func() bool {
		text, _ := os.ReadFile(filepath.Join(b.dir, name))
		words = strings.Fields(string(text))
		return strings.HasSuffix(string(text), "\n")
	})
	return words
}

func (b *bench) pid(name string) int {
	b.Helper()
	pid, err := strconv.Atoi(b.written(name)[0])
	if err != nil {
		b.Fatal(err)
	}
	return pid
}

func (b *bench) log(cell string) string {
	text, err := os.ReadFile(filepath.Join(b.dir, cell, server.LogName))
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

// cell is one that is ready when the script has written its process id.
func (b *bench) cell(name string, params ...artifact.Member) server.Cell {
	return server.Cell{Params: params, LogPath: filepath.Join(b.dir, name, server.LogName),
		Ready: func(ctx context.Context) error {
			for {
				if text, _ := os.ReadFile(filepath.Join(b.dir, "pid")); strings.HasSuffix(string(text), "\n") {
					return nil
				}
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(2 * time.Millisecond):
				}
			}
		}}
}

func (b *bench) ensure(c server.Cell) time.Duration {
	b.Helper()
	took, err := b.s.Ensure(context.Background(), c)
	if err != nil {
		b.Fatal(err)
	}
	return took
}

const sleeper = `echo $$ >DIR/pid; echo starts >>DIR/starts; echo up; while :; do sleep 0.01; done`

// TestRestartedOnlyWhenParametersChange: a cell with the same parameters gets the same server and a reset, and its own
// part of the log.
func TestRestartedOnlyWhenParametersChange(t *testing.T) {
	b := newBench(t, server.Options{Command: sleeper + " # {n}", Reset: "echo reset {n} >>DIR/resets; echo resetting"})
	one, two := artifact.Member{Key: "n", Value: int64(1)}, artifact.Member{Key: "n", Value: int64(2)}
	first := b.ensure(b.cell("a", one))
	pid := b.pid("pid")
	if again := b.ensure(b.cell("b", one)); again != first || first <= 0 {
		t.Errorf("the start took %v, then %v", first, again)
	}
	if got := b.pid("pid"); got != pid {
		t.Error("the server was restarted")
	}
	os.Remove(filepath.Join(b.dir, "pid"))
	b.ensure(b.cell("c", two))
	if alive(pid) {
		t.Error("the first server still runs")
	}
	if n := len(b.written("starts")); n != 2 {
		t.Errorf("%d starts", n)
	}
	if got := strings.Join(b.written("resets"), " "); got != "reset 1" {
		t.Errorf("resets: %s", got)
	}
	if log := b.log("b"); !strings.Contains(log, "resetting") || !strings.Contains(log, "a/server.log") {
		t.Errorf("the log of the second cell: %s", log)
	}
	if log := b.log("c"); !strings.Contains(log, "# 2\n") || !strings.Contains(log, "up") {
		t.Errorf("the log of the third cell: %s", log)
	}
	last := b.pid("pid")
	if err := b.s.Close(); err != nil || alive(last) {
		t.Errorf("after the end: %v, alive %v", err, alive(last))
	}
}

// TestGrandchildrenEnd: what the server has started ends with it, in its group or, where the system can find it,
// outside.
func TestGrandchildrenEnd(t *testing.T) {
	command := `sh -c 'echo $$ >DIR/child; while :; do sleep 0.01; done' & `
	escapes := runtime.GOOS == "linux"
	if _, err := exec.LookPath("setsid"); err != nil {
		escapes = false
	}
	if escapes {
		command += `(setsid sh -c 'echo $$ >DIR/escaped; while :; do sleep 0.01; done' &) ; `
	}
	b := newBench(t, server.Options{Command: command + sleeper})
	b.ensure(b.cell("a"))
	pids := []int{b.pid("pid"), b.pid("child")}
	if escapes {
		pids = append(pids, b.pid("escaped"))
	}
	for _, pid := range pids {
		if !alive(pid) {
			t.Fatal("a process has not started")
		}
	}
	if err := b.s.Close(); err != nil {
		t.Fatal(err)
	}
	for i, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d still runs", i)
		}
	}
}

// TestServerThatIgnoresSIGTERM is killed after its grace.
func TestServerThatIgnoresSIGTERM(t *testing.T) {
	b := newBench(t, server.Options{Command: `trap "echo no" TERM; ` + sleeper, Grace: 100 * time.Millisecond})
	b.ensure(b.cell("a"))
	pid := b.pid("pid")
	if err := b.s.Close(); err != nil || alive(pid) {
		t.Errorf("%v, alive %v", err, alive(pid))
	}
	if !strings.Contains(b.log("a"), "no") {
		t.Error("it was not asked to end first")
	}
}

// TestServerThatEndsInOrder gets the time to.
func TestServerThatEndsInOrder(t *testing.T) {
	b := newBench(t, server.Options{Command: `trap "sleep 0.05; echo saved; exit 0" TERM; ` + sleeper})
	b.ensure(b.cell("a"))
	if err := b.s.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.log("a"), "saved") {
		t.Errorf("the log: %s", b.log("a"))
	}
}

// TestServerDiesInTheMiddle: the cell learns it at once, with the end of the log; the next cell gets a new one.
func TestServerDiesInTheMiddle(t *testing.T) {
	b := newBench(t, server.Options{Command: `echo $$ >DIR/pid; echo CUDA out of memory; until test -e DIR/die; do sleep 0.01; done; rm DIR/die; exit 7`})
	b.ensure(b.cell("a"))
	ctx, release := b.s.Watch(context.Background())
	defer release()
	if b.s.Failure() != nil {
		t.Fatal("it failed before it died")
	}
	if err := os.WriteFile(filepath.Join(b.dir, "die"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	<-b.s.Died()
	<-ctx.Done()
	var died *server.DiedError
	if !errors.As(context.Cause(ctx), &died) || died.How != "exit status 7" || died.Starting {
		t.Fatalf("the cause is %v", context.Cause(ctx))
	}
	if text := b.s.Failure().Error(); !strings.Contains(text, "CUDA out of memory") ||
		!strings.Contains(text, server.LogName) {
		t.Errorf("the failure: %s", text)
	}
	before := b.pid("pid")
	os.Remove(filepath.Join(b.dir, "pid"))
	b.ensure(b.cell("a"))
	if b.pid("pid") == before || b.s.Failure() != nil {
		t.Error("there is no new server")
	}
	if n := strings.Count(b.log("a"), "\nCUDA"); n != 2 {
		t.Errorf("the log has %d of 2 servers of its cell", n)
	}
}

func TestServersThatDoNotStart(t *testing.T) {
	never := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for name, c := range map[string]struct {
		options server.Options
		want    []string
	}{
		"dies": {server.Options{Command: "echo no model; exit 2"},
			[]string{"ended before it was ready: exit status 2", "no model"}},
		"not found": {server.Options{Command: "no-such-server --port 1"},
			[]string{"exit status 127", "no-such-server"}},
		"leaves the foreground": {server.Options{Command: "sleep 1000 & echo started"},
			[]string{"exit status 0", "must stay in the foreground"}},
		"never ready": {server.Options{Command: "echo $$ >DIR/pid; echo loading; while :; do sleep 0.01; done",
			Timeout: 300 * time.Millisecond}, []string{"was not ready within 300ms", "--serve-timeout"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, c.options)
			cell := b.cell("a")
			cell.Ready = never
			_, err := b.s.Ensure(context.Background(), cell)
			if err == nil {
				t.Fatal("there is no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error lacks %q: %v", want, err)
				}
			}
			if b.s.Died() != nil {
				t.Error("the server was not given up")
			}
			if name == "never ready" && alive(b.pid("pid")) {
				t.Error("it still runs")
			}
		})
	}
}

// TestCancelledStart: the end of the context ends the server that is not ready.
func TestCancelledStart(t *testing.T) {
	b := newBench(t, server.Options{Command: sleeper})
	ctx, cancel := context.WithCancel(context.Background())
	cell := b.cell("a")
	cell.Ready = func(ctx context.Context) error {
		b.written("pid")
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	if _, err := b.s.Ensure(ctx, cell); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if alive(b.pid("pid")) {
		t.Error("the server still runs")
	}
}

// TestTrapServerOfSomebodyElse: what listens at the address already would be measured in place of the new server.
func TestTrapServerOfSomebodyElse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b := newBench(t, server.Options{Command: sleeper})
	cell := b.cell("a")
	cell.Addresses = []string{l.Addr().String()}
	if _, err := b.s.Ensure(context.Background(), cell); err == nil || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("the error is %v", err)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "starts")); err == nil {
		t.Error("the server was started")
	}
}

func TestResetThatFails(t *testing.T) {
	for name, c := range map[string]struct{ reset, want string }{
		"fails": {"echo no cache; exit 4", "--reset-cmd ended with exit status 4"},
		"hangs": {"echo $$ >DIR/reset; while :; do sleep 0.01; done", "--reset-cmd did not end within"},
	} {
		t.Run(name, func(t *testing.T) {
			o := server.Options{Command: sleeper, Reset: c.reset}
			if name == "hangs" {
				o.Timeout = 300 * time.Millisecond
			}
			b := newBench(t, o)
			first := b.cell("a")
			first.Ready = func(context.Context) error { // however long that takes
				b.written("pid")
				return nil
			}
			b.ensure(first)
			_, err := b.s.Ensure(context.Background(), b.cell("b"))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v", err)
			}
			if name == "hangs" && alive(b.pid("reset")) {
				t.Error("the reset still runs")
			}
		})
	}
}

// TestResetOfAServerThatIsNotOurs is run between two cells, not before the first.
func TestResetOfAServerThatIsNotOurs(t *testing.T) {
	b := newBench(t, server.Options{Reset: "echo reset >>DIR/resets"})
	for _, cell := range []string{"a", "b", "c"} {
		c := b.cell(cell)
		c.Ready = nil
		if took := b.ensure(c); took != 0 {
			t.Errorf("a start of %v", took)
		}
	}
	if n := len(b.written("resets")); n != 2 {
		t.Errorf("%d resets", n)
	}
}

// TestTrapQuotedValues: values reach the server as they are, whatever they mean to a shell.
func TestTrapQuotedValues(t *testing.T) {
	value := "a b; touch DIR/hacked $(touch DIR/hacked) 'q' \"d\" \\ * `x` \nline"
	b := newBench(t, server.Options{Command: `f() { printf '%s|' "$@" >DIR/args; }; g() { f "$@"; ` +
		sleeper + `; }; g {plain}`})
	value = strings.ReplaceAll(value, "DIR", b.dir)
	b.ensure(b.cell("a", artifact.Member{Key: "plain", Value: value}, artifact.Member{Key: "option", Value: value}))
	got, err := os.ReadFile(filepath.Join(b.dir, "args"))
	if want := value + "|--option|" + value + "|"; err != nil || string(got) != want {
		t.Errorf("the arguments are %q (%v), want %q", got, err, want)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "hacked")); err == nil {
		t.Error("the value was run")
	}
}

// TestTrapKilledGuard: the server ends though its guard cannot end it any more, and counts as dead.
func TestTrapKilledGuard(t *testing.T) {
	b := newBench(t, server.Options{Command: `echo $PPID >DIR/guard; sh -c 'echo $$ >DIR/child; while :; do sleep 0.01; done' & ` +
		sleeper})
	b.ensure(b.cell("a"))
	pid, child := b.pid("pid"), b.pid("child")
	if err := syscall.Kill(b.pid("guard"), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-b.s.Died()
	if err := b.s.Failure(); err == nil || !strings.Contains(err.Error(), "guard") {
		t.Errorf("the failure is %v", err)
	}
	await(t, "the end of the server", func() bool { return !alive(pid) && !alive(child) })
}
