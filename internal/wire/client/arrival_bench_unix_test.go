//go:build unix

package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
	"aiperf/internal/mockserver"
)

// serverRecord is the environment variable that makes the test binary a mock server, which writes the
// send time of each event there.
const serverRecord = "CLIENT_TEST_SERVER_RECORD"

func serveIfAsked() {
	path := os.Getenv(serverRecord)
	if path == "" {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := mockserver.Run(ctx, mockserver.Options{Host: "127.0.0.1", TTFT: 20 * time.Millisecond,
		ITL:         20 * time.Millisecond,
		NoTokenizer: true, RecordRequests: path, RecordEvents: true}, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// eventTimes are the wall instants of a stream's events: of the kernel or whatever the client's source
// is, and of the sink, a moment after the read returned.
type eventTimes struct {
	clock           *clock.Clock
	stamped, handed []int64
}

func (e *eventTimes) Event(_, _ []byte, at int64) {
	e.handed = append(e.handed, e.clock.WallNS(e.clock.NowNS()))
	e.stamped = append(e.stamped, e.clock.WallNS(at))
}

func (*eventTimes) Body(string, bool, []byte, int64) {}

// BenchmarkArrivalError streams 500 paced streams from a server in another process and compares the
// stamps with the instants that the server took right before its writes.
func BenchmarkArrivalError(b *testing.B) {
	for _, source := range []TimestampSource{"plain", TimestampAuto} {
		b.Run(string(source), func(b *testing.B) { arrivalError(b, source) })
	}
}

func arrivalError(b *testing.B, source TimestampSource) {
	const streams, tokens = 500, 64
	path := filepath.Join(b.TempDir(), "requests.jsonl")
	url, stop := startServer(b, path)
	o := DefaultOptions()
	if source != "plain" {
		o.TimestampSource = source
	}
	c, err := New(o, clock.New())
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	if source == "plain" {
		c.sources.close()
		c.sources.hold, c.sources.kernel = nil, false
	}
	body := fmt.Appendf(nil, `{"model":"m","stream":true,"max_tokens":%d,"ignore_eos":true,"messages":[{"role":"user","content":"x"}]}`, tokens)
	var before, after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	b.ResetTimer()
	seen := make([]eventTimes, 0, streams*b.N)
	var coalesced, events int64
	for range b.N {
		first := len(seen)
		seen = seen[:first+streams]
		var wg sync.WaitGroup
		var mu sync.Mutex
		for i := range streams {
			wg.Go(func() {
				e := &seen[first+i]
				*e = eventTimes{clock: c.clock, stamped: make([]int64, 0, tokens+4), handed: make([]int64, 0, tokens+4)}
				x := c.Send(context.Background(),
					&Request{Method: http.MethodPost, URL: url, Body: body, CancelAfterNS: -1,
						Headers: []record.Header{{Name: "Content-Type", Value: "application/json"},
							{Name: "X-Request-ID", Value: strconv.Itoa(first + i)}}}, e)
				mu.Lock()
				defer mu.Unlock()
				coalesced += x.CoalescedEvents
				events += int64(x.Responses)
				if x.Err != nil {
					b.Error(x.Err)
				}
			})
		}
		wg.Wait()
	}
	b.StopTimer()
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	stop()
	var stamped, handed, apart []int64
	for id, sent := range readEventTimes(b, path) {
		for i := range min(len(sent), len(seen[id].stamped)) {
			e := &seen[id]
			stamped = append(stamped, e.stamped[i]-sent[i])
			handed = append(handed, e.handed[i]-sent[i])
			shared := i > 0 && e.stamped[i] == e.stamped[i-1] || i+1 < len(e.stamped) && e.stamped[i] == e.stamped[i+1]
			if !shared {
				apart = append(apart, e.stamped[i]-sent[i])
			}
		}
	}
	for _, d := range []struct {
		name   string
		values []int64
	}{{"stamp", stamped}, {"stamp-apart", apart}, {"user", handed}} {
		slices.Sort(d.values)
		for _, p := range []int{50, 95, 99} {
			b.ReportMetric(float64(d.values[(len(d.values)-1)*p/100])/1e3, fmt.Sprintf("%s-p%d-µs", d.name, p))
		}
	}
	b.ReportMetric(float64(stamped[0])/1e3, "earliest-µs")
	b.ReportMetric(100*float64(coalesced)/float64(events), "%shared")
	cpu := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
	b.ReportMetric(float64(cpu)/float64(len(stamped))/1e3, "cpu-µs/event")
}

// startServer starts the test binary as a server; stop ends it and waits for its record.
func startServer(b *testing.B, recordPath string) (url string, stop func()) {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverRecord+"="+recordPath)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	b.Cleanup(stop)
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		b.Fatalf("the server says %q (%v)", line, err)
	}
	return address + "/v1/chat/completions", stop
}

func readEventTimes(b *testing.B, path string) map[int][]int64 {
	b.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	out := map[int][]int64{}
	for line := range bytes.Lines(data) {
		var r struct {
			ID      string  `json:"request_id"`
			EventNS []int64 `json:"event_ns"`
		}
		if err := json.Unmarshal(line, &r); err != nil {
			b.Fatal(err)
		}
		id, err := strconv.Atoi(r.ID)
		if err != nil {
			b.Fatal(err)
		}
		out[id] = r.EventNS
	}
	return out
}
