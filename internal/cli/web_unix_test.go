//go:build unix

package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"aiperf/internal/base/testkit"
)

// apiPort returns a port that nobody else takes during the test.
func apiPort(t *testing.T) string {
	t.Helper()
	_, port, _ := strings.Cut(testkit.Address(t), ":")
	return port
}

// asks sends a request to the API of a program and returns its status and body.
func asks(t *testing.T, method, url string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := (&http.Client{Timeout: patience}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, string(body)
}

// becomes asks until a member of a document has a value.
func becomes(t *testing.T, url, key, want string) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		_, body := asks(t, "GET", url)
		var o map[string]any
		if err := json.Unmarshal([]byte(body), &o); err != nil {
			t.Fatal(err, body)
		}
		if o[key] == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s of %s is %v, not %s", key, url, o[key], want)
		}
	}
}

// TestTrapTheAPIOutlivesACancelledRun: a request to shut down is refused during the run, which goes on; after Ctrl-C
// the API says that the run was cancelled, and a request ends the wait.
func TestTrapTheAPIOutlivesACancelledRun(t *testing.T) {
	t.Setenv("AIPERF_API_SERVER_POST_COMPLETE_GRACE", "170")
	t.Setenv("AIPERF_API_SERVER_SHUTDOWN_RESPONSE_DELAY_SECONDS", "0")
	port := apiPort(t)
	p := startProfile(t, mock(t), "--osl", "2", "--request-rate", "100", "--benchmark-duration", "600", "--api-port",
		port)
	p.waitFor("HTTP API: http://127.0.0.1:" + port)
	api := "http://127.0.0.1:" + port
	becomes(t, api+"/api/progress", "system_state", "profiling")
	if status, body := asks(t, "POST", api+"/api/shutdown"); status != http.StatusConflict {
		t.Errorf("%d %s", status, body)
	}
	becomes(t, api+"/api/results", "status", "running")
	p.writesRecords(1) // without one there are no results
	p.signal(syscall.SIGINT)
	becomes(t, api+"/api/results", "status", "cancelled")
	becomes(t, api+"/api/progress", "system_state", "shutdown")
	if status, body := asks(t, "GET", api+"/api/results/files/profile_export_aiperf.json"); status != 200 ||
		!strings.Contains(body, `"was_cancelled"`) {
		t.Errorf("%d %.200s", status, body)
	}
	if status, body := asks(t, "POST", api+"/api/shutdown"); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	p.ends(0)
}

// TestCtrlCEndsTheWaitOfTheAPI: once the results are written, a signal has nothing to cancel.
func TestCtrlCEndsTheWaitOfTheAPI(t *testing.T) {
	t.Setenv("AIPERF_API_SERVER_POST_COMPLETE_GRACE", "170")
	p := startProfile(t, mock(t), "--osl", "2", "--request-count", "3", "--api-port", apiPort(t))
	p.waitFor("Ctrl-C skips this")
	p.signal(syscall.SIGINT)
	p.ends(0)
	if text := p.stdout.String() + p.stderr.String(); strings.Contains(text, "Cancellation") ||
		strings.Contains(text, "Force Quit") {
		t.Errorf("it says %s", text)
	}
}
