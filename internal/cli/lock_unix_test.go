//go:build unix

package cli_test

import (
	"encoding/json"
	"io"
	"math/rand/v2"
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

// TestTwoRunsInOneFolder: the second one is refused with the first one's process, and changes nothing; so are a series
// and a report that would write there. A killed run keeps nobody out.
func TestTwoRunsInOneFolder(t *testing.T) {
	t.Parallel()
	url := answersThenHangs(t, 1)
	first := startProfile(t, url, "--request-count", "2", "--concurrency", "1")
	first.writesRecords(1) // a report takes a record
	for name, flags := range map[string][]string{"a run": nil, "a series": {"--num-profile-runs", "2"}} {
		out, err := profileCommand(url, first.dir, append(flags, "--request-count", "2")...).CombinedOutput()
		if text := strings.Join(strings.Fields(strings.ReplaceAll(string(out), "│", " ")), " "); err == nil ||
			!strings.Contains(text, "is in use: the process "+strconv.Itoa(first.cmd.Process.Pid)+", started at 2") ||
			!strings.Contains(text, "--artifact-dir") {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
	if out, err := exec.Command("aiperf", "report", first.dir, "--output-dir",
		first.dir).CombinedOutput(); err == nil || !strings.Contains(string(out), "in use") {
		t.Errorf("a report: %v: %s", err, out)
	}
	log, err := os.ReadFile(filepath.Join(first.dir, "logs", "aiperf.log"))
	if err != nil || strings.Count(string(log), "Starting the benchmark") != 1 {
		t.Errorf("the log of the first run holds lines of another: %v\n%s", err, log)
	}
	first.signal(syscall.SIGKILL)
	first.ends(-1)
	if _, err := os.Stat(filepath.Join(first.dir, ".aiperf.lock")); err != nil {
		t.Error("the killed run took its lock file along; the test shows nothing")
	}
	if out, err := profileCommand(mock(t), first.dir, "--request-count", "2", "--osl",
		"2").CombinedOutput(); err != nil {
		t.Errorf("after a kill: %v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(first.dir, ".aiperf.lock")); err == nil {
		t.Error("the lock file stays")
	}
}

// kills is how many runs TestKilledAtAnyMoment kills; AIPERF_TEST_KILLS sets another number.
const kills = 3

// TestKilledAtAnyMoment kills runs in one folder at random moments. Whatever the moment, each line that is left is
// whole and of the run that was killed, what was answered more than a second before is there, and the next run can use
// the folder.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	times := kills
	if n, err := strconv.Atoi(os.Getenv("AIPERF_TEST_KILLS")); err == nil {
		times = n
	}
	const bearable = 2 * time.Second // another second for a busy machine
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
	dir := filepath.Join(t.TempDir(), "out")
	early, lines, reports := 0, 0, 0
	for range times {
		mu.Lock()
		clear(answered)
		mu.Unlock()
		cmd := profileCommand(s.URL, dir, "--osl", "2", "--request-rate", "100", "--benchmark-duration", "60")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.Int64N(int64(5 * time.Second))))
		killed := time.Now()
		cmd.Process.Kill()
		cmd.Wait()
		// none when it was killed before the first line
		data, _ := os.ReadFile(filepath.Join(dir, "profile_export.jsonl"))
		mu.Lock()
		sent := len(answered)
		for id, at := range answered {
			if killed.Sub(at) < bearable {
				continue
			}
			if early++; !strings.Contains(string(data), `"x_request_id":"`+id+`"`) {
				t.Errorf("the request %s, answered %v before the end, is no record", id, killed.Sub(at))
			}
		}
		for line := range strings.Lines(string(data)) {
			var record struct {
				Metadata struct {
					ID string `json:"x_request_id"`
				} `json:"metadata"`
			}
			if !strings.HasSuffix(line, "\n") {
				continue // the one that was being written
			}
			lines++
			if err := json.Unmarshal([]byte(line), &record); err != nil {
				t.Errorf("broken line %q", line)
			} else if _, own := answered[record.Metadata.ID]; sent > 0 && !own {
				t.Errorf("the request %s is of another run", record.Metadata.ID)
			}
		}
		mu.Unlock()
		if _, err := os.Stat(filepath.Join(dir, "run_state.json")); err == nil && sent > 0 && len(data) > 0 {
			if out, err := exec.Command("aiperf", "report", dir).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
			reports++
		}
	}
	t.Logf("%d kills: %d records left, %d answers older than %v, %d reports", times, lines, early, bearable, reports)
	if out, err := profileCommand(mock(t), dir, "--request-count", "2", "--osl", "2").CombinedOutput(); err != nil {
		t.Errorf("a run after the last kill: %v: %s", err, out)
	}
	p := &program{t: t, dir: dir}
	if got := p.show("profile_export_aiperf.json", "request_count.avg"); got != "2.0" {
		t.Errorf("it has %s requests", got)
	}
}
