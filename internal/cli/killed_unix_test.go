//go:build unix

package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestTrapKilledRunLeavesItsResults: what a killed run had written is a result that says that it is not whole.
func TestTrapKilledRunLeavesItsResults(t *testing.T) {
	t.Setenv("AIPERF_METRICS_EXPORT_FLUSH_INTERVAL", "0.05")
	p := startProfile(t, mock(t), "--osl", "2", "--request-rate", "200", "--benchmark-duration", "60")
	records := filepath.Join(p.dir, "profile_export.jsonl")
	p.writesRecords(5)
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
	if got := p.show("run_state.json", "status", "was_cancelled", "counts.target_rate"); !strings.HasPrefix(got,
		"running false") {
		t.Errorf("the state says %q", got)
	}
}

// TestTrapKilledRunLosesOneSecondAtMost: what was answered earlier than that is in the files, and what the lines do not
// tell is in the state. Four more seconds are left for a machine that is busy.
func TestTrapKilledRunLosesOneSecondAtMost(t *testing.T) {
	t.Parallel()
	const bearable = 5 * time.Second
	var mu sync.Mutex
	answered := map[string]time.Time{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"yes"}}]}`)
		mu.Lock()
		defer mu.Unlock()
		answered[r.Header.Get("X-Request-ID")] = time.Now()
	}))
	t.Cleanup(s.Close)
	p := startProfile(t, s.URL, "--osl", "2", "--request-rate", "50", "--benchmark-duration", "60",
		"--warmup-request-count", "3",
		"--gpu-telemetry", mock(t, "--dcgm-load", "0.5")+"/dcgm1/metrics")
	records := filepath.Join(p.dir, "profile_export.jsonl")
	p.writesRecords(300) // some 6 s
	killed := time.Now()
	p.signal(syscall.SIGKILL)
	p.ends(-1)
	data, err := os.ReadFile(records)
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	lost, early := 0, 0
	for id, at := range answered {
		if killed.Sub(at) < bearable {
			continue
		}
		if early++; !strings.Contains(string(data), `"x_request_id":"`+id+`"`) {
			lost++
		}
	}
	if lost != 3 || early < 10 { // the requests of the warm-up are not lines
		t.Errorf("%d of %d requests that were answered more than %v before the end are no records, want those 3 of "+
			"the warm-up", lost, early, bearable)
	}
	updated, err := strconv.ParseInt(p.show("run_state.json", "updated_ns"), 10, 64)
	if err != nil || killed.Sub(time.Unix(0, updated)) > bearable {
		t.Errorf("the state is %v old: %v", killed.Sub(time.Unix(0, updated)), err)
	}
	if out, err := exec.Command("aiperf", "report", p.dir, "--percentiles", "99.9").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got, want := p.show("report/profile_export_aiperf.json", "is_complete", "warmup_metrics.request_count.avg",
		"client_health.verdict", "client_health.reasons.0.code"),
		"false 3.0 inconclusive run_not_ended"; got != want {
		t.Errorf("the report says %q, want %q", got, want)
	}
	if got := p.show("report/profile_export_aiperf.json", "warmup_metrics.request_latency.keys",
		"client_health.tool_lag.keys"); !strings.Contains(got, "p99.9") || !strings.Contains(got, "p50") {
		t.Errorf("the warm-up has %s", got)
	}
	if got := p.show("report/profile_export_aiperf.json", "telemetry_data.endpoints"); !strings.Contains(got,
		`"gpu_power_usage"`) {
		t.Errorf("the GPUs are %s", got)
	}
}

// A killed run keeps the answers that it had graded: whole lines, which the report counts.
func TestKilledRunKeepsItsGradedAnswers(t *testing.T) {
	t.Setenv("AIPERF_METRICS_EXPORT_FLUSH_INTERVAL", "0.05")
	data := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(data, []byte(`{"question":"q","answer":"#### 1"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startProfile(t, mock(t), "--accuracy-benchmark", "gsm8k", "--accuracy-data", data, "--request-rate", "200",
		"--benchmark-duration", "60", "--osl", "5")
	p.writesRecords(20)
	p.signal(syscall.SIGKILL)
	p.ends(-1)
	text, err := os.ReadFile(filepath.Join(p.dir, "accuracy_export.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n == 0 || !strings.HasSuffix(string(text), "}\n") {
		t.Fatalf("%d lines, the last of them %q", n, text[max(0, len(text)-40):])
	}
	if out, err := exec.Command("aiperf", "report", p.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	} else {
		p.says(string(out), "The run is incomplete: the run was killed")
		p.says(string(out), "Accuracy Benchmark Results")
	}
	want := strconv.Itoa(strings.Count(string(text), "\n")) + " gsm8k"
	if got := p.show("report/profile_export_aiperf.json", "accuracy.overall.total", "accuracy.benchmark"); got != want {
		t.Errorf("the report says %q, want %q", got, want)
	}
}
