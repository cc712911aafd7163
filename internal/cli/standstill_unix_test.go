//go:build unix

package cli_test

import (
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestStandstillIsSeenAndAccountedFor: the process is stopped for a second in the midst of a constant rate. What it
// missed is counted, nothing else is lost, and the report says that the process stood still.
func TestStandstillIsSeenAndAccountedFor(t *testing.T) {
	t.Parallel()
	p := startProfile(t, mock(t, "--ttft", "1", "--itl", "0"), "--osl", "1", "--request-rate", "50",
		"--arrival-pattern", "constant",
		"--benchmark-duration", "6", "--log-level", "trace")
	p.waitFor("Request finished")
	p.signal(syscall.SIGSTOP)
	time.Sleep(time.Second)
	p.signal(syscall.SIGCONT)
	p.ends(0)

	number := func(path string) float64 {
		text := p.show("profile_export_aiperf.json", path)
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatalf("%s is %q", path, text)
		}
		return v
	}
	if late := number("client_health.scheduler_delay.max"); late < 500 {
		t.Errorf("the scheduler was late by %v ms at most", late)
	}
	if got := p.show("profile_export_aiperf.json", "client_health.reasons"); !strings.Contains(got, `"standstill"`) {
		t.Errorf("no word of the standstill: %s", got)
	}
	if got := p.show("profile_export_aiperf.json", "client_health.verdict"); got == "valid" {
		t.Error("the run is said to be valid")
	}
	dropped, done := number("client_health.dropped_by_catchup"), number("request_count.avg")
	const arrivals = 300 // 6 s of them
	if dropped < 30 || dropped > arrivals-5 {
		t.Errorf("%v arrivals were dropped, want about 50", dropped)
	}
	// Each was sent or dropped, but for those around the standstill, and for those that a busy machine had not sent
	// when the time was over.
	if all := dropped + done; all < arrivals*3/4 || all > arrivals {
		t.Errorf("%v sent and %v dropped, want %v in all", done, dropped, arrivals)
	}
	if lines := strings.Count(p.show("profile_export.jsonl", "metadata.session_num"),
		"\n") + 1; float64(lines) != done {
		t.Errorf("%d records, %v requests", lines, done)
	}
}
