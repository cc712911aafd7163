//go:build unix

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"aiperf/internal/base/testkit"
)

// tellsPID waits until a script has written its process id to a file.
func tellsPID(t *testing.T, path string) int {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		text, _ := os.ReadFile(path)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil &&
			strings.HasSuffix(string(text), "\n") {
			return pid
		}
		if time.Now().After(end) {
			t.Fatal("waited in vain for " + path)
		}
	}
}

// ended waits until a process is gone; one that nobody waits for counts as gone.
func ended(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(patience); syscall.Kill(pid, 0) == nil; time.Sleep(5 * time.Millisecond) {
		stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if _, rest, ok := strings.Cut(string(stat), ") "); ok && strings.HasPrefix(rest, "Z") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("process %d still runs", pid)
		}
	}
}

// TestTrapServerEndsHoweverWeEnd: with a Ctrl-C before it is ready or during the run, and when this program is killed,
// the server and what it has started are gone.
func TestTrapServerEndsHoweverWeEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ready bool
		sig   syscall.Signal
	}{
		"interrupted before it is ready": {false, syscall.SIGINT},
		"terminated before it is ready":  {false, syscall.SIGTERM},
		"interrupted in the run":         {true, syscall.SIGINT},
		"killed before it is ready":      {false, syscall.SIGKILL},
		"killed in the run":              {true, syscall.SIGKILL},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, dir := testkit.Address(t), t.TempDir()
			url := "http://" + address
			command := "echo $$ >" + dir + "/server; sh -c 'echo $$ >" + dir +
				"/child; while :; do sleep 0.02; done' & "
			if c.ready {
				command += "aiperf mock-server --fast --port " + address[strings.LastIndexByte(address, ':')+1:]
			} else {
				command += "while :; do sleep 0.02; done"
			}
			p := startProfile(t, url, "--osl", "2", "--concurrency", "1", "--benchmark-duration", "600", "--serve-cmd",
				command)
			pids := []int{tellsPID(t, filepath.Join(dir, "server")), tellsPID(t, filepath.Join(dir, "child"))}
			if c.ready {
				p.writesRecords(1)
			}
			p.signal(c.sig)
			for range p.lines {
			}
			p.cmd.Wait()
			for _, pid := range pids {
				ended(t, pid)
			}
			quick := exec.Command("aiperf", "quick", url)
			quick.Dir = dir
			if out, err := quick.CombinedOutput(); err == nil ||
				!strings.Contains(string(out), "Cannot connect") {
				t.Errorf("something still listens: %s", out)
			}
		})
	}
}
