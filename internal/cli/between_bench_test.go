package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkBetweenCells reports how long a sweep takes from the last reply of a cell to the first request of the next,
// without a cooldown: reports, files, aggregates and the start of the next run. The mark is 100 ms.
func BenchmarkBetweenCells(b *testing.B) {
	dir := b.TempDir()
	server, err := startMock(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(server.stop)
	const cells = 20
	var values []string
	for i := range cells {
		values = append(values, strconv.Itoa(i+1))
	}
	var idle time.Duration
	gaps := 0
	for b.Loop() {
		cmd := exec.Command("aiperf", "profile", "--model", "m", "--url", server.url, "--streaming", "--isl", "64",
			"--osl", "16", "--tokenizer", "builtin", "--concurrency", strings.Join(values, ","),
			"--request-count", "100", "--ui", "none", "--no-server-metrics", "--artifact-dir", "out")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, tail(string(out), 3000))
		}
		var last int64
		for _, value := range values {
			first, end := requestTimes(b, filepath.Join(dir, "out", "concurrency_"+value, "profile_export.jsonl"))
			if last != 0 {
				idle, gaps = idle+time.Duration(first-last), gaps+1
			}
			last = end
		}
	}
	b.ReportMetric(float64(idle.Microseconds())/1000/float64(gaps), "ms/cell")
}

// requestTimes returns when the first request of a run was sent and the last reply ended, in nanoseconds.
func requestTimes(b *testing.B, path string) (first, last int64) {
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var record struct {
			Metadata struct {
				Start int64 `json:"request_start_ns"`
				End   int64 `json:"request_end_ns"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			b.Fatal(err)
		}
		if first == 0 || record.Metadata.Start < first {
			first = record.Metadata.Start
		}
		last = max(last, record.Metadata.End)
	}
	return first, last
}
