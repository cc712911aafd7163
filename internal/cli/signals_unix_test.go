//go:build unix

package cli_test

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// program is an aiperf process whose output is read while it runs.
type program struct {
	t      *testing.T
	cmd    *exec.Cmd
	dir    string // the artifact directory
	lines  chan string
	stdout strings.Builder
	stderr strings.Builder
	read   sync.WaitGroup
}

// hearHangUps catches SIGHUP in this process: under nohup it would be ignored, and the programs that the tests start
// would inherit that. What is caught they start with as usual.
var hearHangUps = sync.OnceFunc(func() { signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) })

// profileCommand is a benchmark of a server that writes to dir.
func profileCommand(url, dir string, flags ...string) *exec.Cmd {
	hearHangUps()
	if !slices.Contains(flags, "--accuracy-benchmark") { // which says what is sent
		flags = append(flags, "--isl", "8")
	}
	return exec.Command("aiperf", append([]string{"profile", "--model", "m", "--url", url, "--tokenizer", "builtin",
		"--no-server-metrics", "--ui", "none", "--artifact-dir", dir}, flags...)...)
}

// startProfile starts a benchmark of a server.
func startProfile(t *testing.T, url string, flags ...string) *program {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	return startCommand(t, dir, profileCommand(url, dir, flags...))
}

// startCommand starts a command that writes into a folder.
func startCommand(t *testing.T, dir string, cmd *exec.Cmd) *program {
	t.Helper()
	p := &program{t: t, cmd: cmd, dir: dir, lines: make(chan string, 1000)}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errors, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var streams sync.WaitGroup
	for from, to := range map[io.Reader]io.Writer{out: &p.stdout, errors: &p.stderr} {
		streams.Go(func() {
			scanner := bufio.NewScanner(io.TeeReader(from, to))
			for scanner.Scan() {
				select {
				case p.lines <- scanner.Text():
				default:
				}
			}
		})
	}
	p.read.Go(func() {
		streams.Wait()
		close(p.lines)
	})
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		p.read.Wait()
		p.cmd.Wait()
	})
	return p
}

// waitFor reads both outputs until a line holds text, and returns it.
func (p *program) waitFor(text string) string {
	p.t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("the program ended without saying %q; it said:\n%s%s", text, p.stdout.String(),
					p.stderr.String())
			}
			if strings.Contains(line, text) {
				return line
			}
		case <-timeout:
			p.t.Fatalf("the program does not say %q", text)
		}
	}
}

func (p *program) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// ends waits for the end and checks that the exit code is one of these.
func (p *program) ends(codes ...int) {
	p.t.Helper()
	hung := time.AfterFunc(patience, func() { p.cmd.Process.Kill() })
	defer hung.Stop()
	p.read.Wait()
	p.cmd.Wait()
	if got := p.cmd.ProcessState.ExitCode(); !slices.Contains(codes, got) {
		p.t.Errorf("exit code %d, want %d (-1: killed, it hung)\n%s%s", got, codes, p.stdout.String(), p.stderr.String())
	}
}

// show picks members from a file of the artifact directory, one line a document.
func (p *program) show(file string, paths ...string) string {
	p.t.Helper()
	content, err := os.ReadFile(filepath.Join(p.dir, file))
	if err != nil {
		p.t.Fatal(err)
	}
	documents, err := readDocuments(string(content))
	if err != nil {
		p.t.Fatalf("%s: %v", file, err)
	}
	var lines []string
	for _, document := range documents {
		var values []string
		for _, path := range paths {
			values = append(values, pick(document, path))
		}
		lines = append(lines, strings.Join(values, " "))
	}
	return strings.Join(lines, "\n")
}

func (p *program) says(stream, text string) {
	p.t.Helper()
	if !strings.Contains(stream, text) {
		p.t.Errorf("no %q in:\n%s", text, stream)
	}
}

func mock(t *testing.T, flags ...string) string {
	t.Helper()
	s, err := startMock(t.TempDir(), flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	return s.url
}

// TestTrapFirstInterruptKeepsWhatIsFinished: of two servers one answers and one keeps silent. Sessions
// alternate between them, so with a concurrency of 1 exactly one request finishes and the second hangs.
func TestTrapFirstInterruptKeepsWhatIsFinished(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		code   int
	}{
		{"Ctrl-C", syscall.SIGINT, 0},
		{"SIGTERM", syscall.SIGTERM, 143},
		{"SIGHUP", syscall.SIGHUP, 129},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := startProfile(t, mock(t)+","+mock(t, "--fault", "never"),
				"--osl", "2", "--concurrency", "1", "--request-count", "10", "--log-level", "trace", "--export-level",
				"raw")
			p.waitFor("Request finished")
			p.signal(c.signal)
			p.ends(c.code)
			got := p.show("profile_export_aiperf.json", "was_cancelled", "request_count.avg", "error_request_count",
				"error_summary")
			if want := "true 1.0 - []"; got != want {
				t.Errorf("the summary has %s, want %s", got, want)
			}
			if got := p.show("profile_export.jsonl", "metadata.session_num", "error"); got != "0 -" {
				t.Errorf("the records are %q, want one", got)
			}
			p.says(p.stderr.String(), "Cancellation in Progress")
			p.says(p.stdout.String(), "(cancelled early)")
			p.says(p.stdout.String(), "LLM Metrics")
			p.says(p.stdout.String(), "profile_export_aiperf.csv")
		})
	}
}

// TestTrapInterruptInTheWarmup: there is nothing to report.
func TestTrapInterruptInTheWarmup(t *testing.T) {
	t.Parallel()
	p := startProfile(t, mock(t, "--fault", "never"), "--warmup-request-count", "2", "--request-count", "2")
	p.waitFor("Phase warmup started")
	p.signal(syscall.SIGINT)
	p.ends(1)
	p.says(p.stderr.String(), "No profile results to export")
	p.says(p.stderr.String(), "aiperf.log")
	for _, file := range []string{"profile_export_aiperf.json", "profile_export_aiperf.csv", "profile_export.jsonl"} {
		if _, err := os.Stat(filepath.Join(p.dir, file)); err == nil {
			t.Errorf("%s was written", file)
		}
	}
}

// TestSecondInterruptEndsAtOnce: after the first one the program hangs in a terminal that takes no
// output, here a full pipe.
func TestSecondInterruptEndsAtOnce(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "stdout")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	stdout, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.Close()
	cmd := profileCommand(mock(t), t.TempDir(), "--benchmark-duration", "600", "--osl", "2", "--log-level", "trace")
	cmd.Stdout = stdout
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hung := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer hung.Stop()
	readUntil(t, reader, "AIPerf System is PROFILING")
	readUntil(t, stderr, "Request finished") // there is something to report, which nobody reads
	fill(t, fifo)
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	readUntil(t, stderr, "Cancellation in Progress")
	again := time.NewTicker(200 * time.Millisecond) // for a while it is the same one
	defer again.Stop()
	go func() {
		for range again.C {
			if cmd.Process.Signal(syscall.SIGINT) != nil {
				return
			}
		}
	}()
	readUntil(t, stderr, "Force Quit")
	io.Copy(io.Discard, stderr)
	cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 130 {
		t.Errorf("exit code %d, want 130", got)
	}
}

// TestASignalThatComesTwiceIsOne: GNU timeout sends each signal to the program and to its group.
func TestASignalThatComesTwiceIsOne(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGTERM, 143}, {syscall.SIGINT, 0}} {
		t.Run(of.signal.String(), func(t *testing.T) {
			t.Parallel()
			p := startProfile(t, mock(t), "--benchmark-duration", "600", "--osl", "2", "--log-level", "trace")
			p.waitFor("Request finished")
			p.signal(of.signal)
			p.signal(of.signal)
			p.waitFor("Cancellation in Progress")
			p.signal(of.signal)
			p.ends(of.code)
			if strings.Contains(p.stderr.String(), "Force Quit") {
				t.Errorf("it ended at once:\n%s", p.stderr.String())
			}
			if _, err := os.Stat(filepath.Join(p.dir, "profile_export_aiperf.json")); err != nil {
				t.Error(err)
			}
		})
	}
}

// readUntil reads up to the line that holds text.
func readUntil(t *testing.T, from io.Reader, text string) {
	t.Helper()
	var line strings.Builder
	for b := make([]byte, 1); ; {
		if _, err := from.Read(b); err != nil {
			t.Fatalf("no %q before the end", text)
		}
		if line.WriteByte(b[0]); b[0] != '\n' {
			continue
		}
		if strings.Contains(line.String(), text) {
			return
		}
		line.Reset()
	}
}

// fill writes to a pipe until it takes nothing more.
func fill(t *testing.T, fifo string) {
	t.Helper()
	fd, err := syscall.Open(fifo, syscall.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	for _, size := range []int{4096, 1} {
		for err = nil; err == nil; {
			_, err = syscall.Write(fd, make([]byte, size))
		}
		if err != syscall.EAGAIN {
			t.Fatal(err)
		}
	}
}

// TestClosedOutputKeepsTheFiles: who pipes the output into head still gets the files.
func TestClosedOutputKeepsTheFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	defer writer.Close()
	cmd := profileCommand(mock(t), dir, "--request-count", "3", "--osl", "2")
	cmd.Stdout = writer
	if err := cmd.Run(); err != nil {
		t.Errorf("the run failed: %v", err)
	}
	for _, file := range []string{"profile_export_aiperf.json", "profile_export_aiperf.csv", "profile_export.jsonl",
		"profile_export_console.txt"} {
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			t.Error(err)
		}
	}
}

// TestDemoLeavesNoServerBehind: a terminal's Ctrl-C reaches the demo and its server alike, a kill only
// the demo; the server ends with it either way.
func TestDemoLeavesNoServerBehind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		kill func(pid int) error
		code int
	}{
		{"Ctrl-C", func(pid int) error { return syscall.Kill(-pid, syscall.SIGINT) }, 0},
		{"kill", func(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("aiperf", "demo", "--ui", "none", "--artifact-dir", t.TempDir(), "--request-count",
				"1000000", "--log-level", "trace")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			var stderr strings.Builder
			pipe, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			out := io.TeeReader(pipe, &stderr)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			hung := time.AfterFunc(patience, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
			defer hung.Stop()
			readUntil(t, out, "Request finished phase=profiling")
			if err := c.kill(cmd.Process.Pid); err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, out)
			cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != c.code {
				t.Errorf("exit code %d, want %d\n%s", got, c.code, stderr.String())
			}
			// After a kill nobody waited for the server; it ends when it sees its standard input closed.
			for deadline := time.Now().Add(patience); listens(t, stderr.String()); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the server still listens")
				}
			}
		})
	}
}

// listens reports whether something listens on the first loopback URL of a text.
func listens(t *testing.T, text string) bool {
	t.Helper()
	address := strings.TrimPrefix(loopbackURL.FindString(text), "http://")
	if address == "" {
		t.Fatalf("no loopback URL in %q", text)
	}
	c, err := net.DialTimeout("tcp", address, patience)
	if err == nil {
		c.Close()
	}
	return err == nil
}

// writesRecords waits until the per-request file has n lines at least, the last one whole.
func (p *program) writesRecords(n int) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if data, err := os.ReadFile(filepath.Join(p.dir, "profile_export.jsonl")); err == nil &&
			strings.Count(string(data), "\n") >= n && strings.HasSuffix(string(data), "\n") {
			return
		}
	}
	p.t.Fatalf("%d records do not reach the disk", n)
}
