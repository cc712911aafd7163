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
)

// TestTrapKilledRunLeavesItsResults: what a killed run had written is a result that says that it is not whole.
func TestTrapKilledRunLeavesItsResults(t *testing.T) {
	t.Setenv("AIPERF_METRICS_EXPORT_FLUSH_INTERVAL", "0.05")
	p := startProfile(t, mock(t), "--osl", "2", "--request-rate", "200", "--benchmark-duration", "60")
	records := filepath.Join(p.dir, "profile_export.jsonl")
	deadline := time.Now().Add(patience)
	for {
		if data, err := os.ReadFile(records); err == nil && strings.Count(string(data), "\n") >= 5 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no records reach the disk")
		}
		time.Sleep(20 * time.Millisecond)
	}
	p.signal(syscall.SIGKILL)
	p.ends(-1)
	if _, err := os.Stat(filepath.Join(p.dir, "profile_export_aiperf.json")); err == nil {
		t.Fatal("the run had ended already")
	}
	if out, err := exec.Command("aiperf", "report", p.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	} else {
		p.says(string(out), "The run is incomplete: the run was killed")
	}
	data, err := os.ReadFile(records)
	if err != nil {
		t.Fatal(err)
	}
	want := "false " + strconv.Itoa(strings.Count(string(data), "\n")) + ".0"
	if got := p.show("report/profile_export_aiperf.json", "is_complete", "completed_request_count.avg"); got != want {
		t.Errorf("the report says %q, want %q", got, want)
	}
	if got := p.show("run_state.json", "status", "was_cancelled", "counts.target_rate"); !strings.HasPrefix(got, "running false") {
		t.Errorf("the state says %q", got)
	}
}
