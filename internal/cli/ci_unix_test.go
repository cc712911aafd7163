//go:build unix

package cli_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shellOf are the commands of a code block of a page: those under "run: |", and those of the shell.
func shellOf(t *testing.T, page, heading string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n"+heading+"\n")
	if !found {
		t.Fatalf("%s has no %s", page, heading)
	}
	block, _, _ := strings.Cut(rest, "\n#")
	var out []string
	for _, line := range regexp.MustCompile(`\\\n\s*`).Split(block, -1) {
		if len(out) > 0 {
			line = out[len(out)-1] + line
			out = out[:len(out)-1]
		}
		out = append(out, strings.Split(line, "\n")...)
	}
	return slices.DeleteFunc(out, func(line string) bool { return !strings.Contains(line, "   aiperf ") })
}

// TestExamplesForCIRun: the commands of the page are those of the program, and their exit codes those that it names. A
// machine that is busy may fail a threshold; it must not be told that it was called wrongly.
func TestExamplesForCIRun(t *testing.T) {
	if testing.Short() {
		t.Skip("runs several whole benchmarks, which -short leaves out")
	}
	t.Parallel()
	dir := t.TempDir()
	url := mock(t)
	for _, name := range []string{"baseline", "artifacts/run"} {
		cmd := exec.Command("aiperf", "profile", "--model", "m", "--url", url, "--streaming", "--concurrency", "16",
			"--request-count", "1000", "--random-seed", "1",
			"--tokenizer", "builtin", "--no-server-metrics", "--isl", "8", "--osl", "2", "--ui", "none",
			"--artifact-dir", name)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	summary := filepath.Join(dir, "summary.md")
	lines := shellOf(t, "ci.md", "## GitHub Actions")
	if len(lines) < 2 {
		t.Fatalf("%d commands: %q", len(lines), lines)
	}
	for _, line := range lines {
		line = strings.ReplaceAll(line, `--url "$SERVER"`,
			`--url "$SERVER" --tokenizer builtin --no-server-metrics --isl 8 --osl 2 --ui none`)
		cmd := exec.Command("/bin/sh", "-c", strings.TrimSpace(line))
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "SERVER="+url, "MODEL=m", "GITHUB_STEP_SUMMARY="+summary)
		out, err := cmd.CombinedOutput()
		code := 0
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			code = exit.ExitCode()
		}
		if !slices.Contains([]int{0, 3, 4}, code) {
			t.Errorf("%s: exit code %d\n%s", line, code, out)
		}
	}
	text, err := os.ReadFile(summary)
	if err != nil || !strings.Contains(string(text), "| Request Latency (ms) | p99 |") {
		t.Errorf("%v: the summary of the step is\n%s", err, text)
	}
}
