//go:build unix

package cli_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Whichever signal ends the self-test, it says what it has, and leaves neither a process nor a file behind.
func TestInterruptedSelftest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		code   int
	}{
		{"Ctrl-C", syscall.SIGINT, 1},
		{"SIGTERM", syscall.SIGTERM, 143},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			report := filepath.Join(dir, "report.json")
			cmd := exec.Command("aiperf", "selftest", "--json", report)
			cmd.Env = append(os.Environ(), "TMPDIR="+filepath.Join(dir, "tmp"),
				"XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "HOME="+dir)
			if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o755); err != nil {
				t.Fatal(err)
			}
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			var stdout strings.Builder
			cmd.Stdout = &stdout
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			hung := time.AfterFunc(patience, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
			defer hung.Stop()
			lines := bufio.NewReader(stderr)
			for {
				line, err := lines.ReadString('\n')
				if err != nil {
					t.Fatalf("the self-test did not reach its second step: %v", err)
				}
				if strings.Contains(line, "(2 of 5)") {
					break
				}
			}
			if err := syscall.Kill(-cmd.Process.Pid, c.signal); err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, lines)
			cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != c.code {
				t.Errorf("exit code %d, want %d\n%s", got, c.code, stdout.String())
			}
			if !regexp.MustCompile(
				`Result: interrupted — 1\d correctness checks passed`).MatchString(stdout.String()) ||
				strings.Contains(stdout.String(), "capacity was saved") {
				t.Errorf("%s", stdout.String())
			}
			text, err := os.ReadFile(report)
			if err != nil || !strings.Contains(string(text), `"result": "interrupted"`) {
				t.Errorf("%v\n%s", err, text)
			}
			if left, _ := os.ReadDir(filepath.Join(dir, "tmp")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			if err := syscall.Kill(-cmd.Process.Pid, 0); err == nil {
				t.Error("a process of the group still runs")
			}
		})
	}
}
