package collect_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"aiperf/internal/watch/collect"
	"aiperf/internal/watch/gpu"
)

// helperMode makes the test program behave like aiperf-gpu.
const helperMode = "AIPERF_TEST_GPU_HELPER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(helperMode); mode != "" {
		fakeHelper(mode)
	}
	goleak.VerifyTestMain(m)
}

// fakeHelper has two GPUs; after two rounds it does what its mode says.
func fakeHelper(mode string) {
	switch mode {
	case "none":
		fmt.Println(`{"ready":{"gpus":0}}`)
	case "failed":
		fmt.Println(`{"failed":"the library is missing"}`)
		os.Exit(1)
	case "silent":
		time.Sleep(time.Minute) // select {} would be found to be a deadlock
	default:
		fmt.Println("a library prints what it likes")
		fmt.Println(`{"warning":"GPU 2 is left out: lost"}`)
		fmt.Println(`{"ready":{"gpus":2,"gpm":1}}`)
	}
	rounds := 0
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		number, ok := strings.CutPrefix(in.Text(), "read ")
		if !ok {
			continue
		}
		if rounds++; rounds > 2 {
			switch mode {
			case "crash":
				fmt.Fprintln(os.Stderr, "driver bug")
				os.Exit(139)
			case "hang":
				time.Sleep(time.Minute) // select {} would be found to be a deadlock
			}
		}
		for i := range 2 {
			fmt.Printf("{\"gpu\":{\"index\":%d,\"uuid\":\"GPU-%d\",\"model\":\"M\"},"+
				"\"values\":{\"gpu_power_usage\":%d,\"bogus\":1}}\n", i, i, 100*(i+1))
		}
		fmt.Printf("{\"round\":%s}\n", number)
	}
	os.Exit(0)
}

// heard is what a collector delivered and logged.
type heard struct {
	mu       sync.Mutex
	readings []gpu.Reading
	log      strings.Builder
}

func (h *heard) Read(r []gpu.Reading) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.readings = append(h.readings, r...)
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.log.Write(b)
}

func (h *heard) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.log.String()
}

func (h *heard) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.readings)
}

// newLocalTest returns a collector whose helper is this program in a mode; there is nothing else.
func newLocalTest(t *testing.T, mode string) (collect.GPUCollector, *heard) {
	t.Helper()
	return newTimedTest(t, mode, 5*time.Second)
}

// newTimedTest is newLocalTest with a bound of the helper's start.
func newTimedTest(t *testing.T, mode string, start time.Duration) (collect.GPUCollector, *heard) {
	t.Helper()
	t.Setenv(helperMode, mode)
	h := &heard{}
	c := collect.NewLocalGPUs(collect.LocalGPUOptions{
		Vendor: "pynvml", Interval: time.Hour, OpenTimeout: start, CloseTimeout: 5 * time.Second,
		Catalog: gpu.NewCatalog(nil, false), Sink: h, WallNS: time.Time.UnixNano,
		Log: slog.New(slog.NewTextHandler(h, nil)),
		LookPath: func(name string) (string, error) {
			if name == "aiperf-gpu" {
				return os.Executable()
			}
			return "", errors.New("not here")
		},
	})
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c, h
}

func TestTheHelperReadsWhenItIsTold(t *testing.T) {
	c, h := newLocalTest(t, "good")
	ctx := context.Background()
	if ok, err := c.Probe(ctx); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if h.count() != 0 {
		t.Error("it read before it was told")
	}
	c.Baseline(ctx)
	c.Boundary(ctx)
	c.Finish(ctx)
	c.Finish(ctx)
	c.Boundary(ctx)
	if h.count() != 6 {
		t.Fatalf("%d readings, want 2 for each of 3 steps", h.count())
	}
	r := h.readings[1]
	want := gpu.Device{Source: "pynvml://localhost", Platform: gpu.NVIDIA, Index: 1, UUID: "GPU-1", Model: "M",
		Hostname: "localhost"}
	if r.Device != want || r.Values[0] != 200 || r.TimestampNS == 0 {
		t.Errorf("got %+v", r)
	}
	for _, want := range []string{"PyNVML initialized with 2 GPU(s) (1 with GPM support)", "GPU 2 is left out"} {
		if !strings.Contains(h.text(), want) {
			t.Errorf("the log lacks %q", want)
		}
	}
	if s := c.Successful(); len(s) != 1 || s[0] != "pynvml://localhost" || len(c.Errors()) != 0 {
		t.Errorf("successful %v, errors %v", s, c.Errors())
	}
}

func TestTheScheduleReadsAtOnce(t *testing.T) {
	c, h := newLocalTest(t, "good")
	if ok, err := c.Probe(context.Background()); !ok || err != nil {
		t.Fatal(ok, err)
	}
	c.Start()
	for deadline := time.Now().Add(time.Minute); h.count() < 2 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if h.count() < 2 {
		t.Errorf("%d readings", h.count())
	}
}

func TestAHelperThatCrashesIsStartedAgain(t *testing.T) {
	c, h := newLocalTest(t, "crash")
	ctx := context.Background()
	if ok, err := c.Probe(ctx); !ok || err != nil {
		t.Fatal(ok, err)
	}
	for range 3 {
		c.Baseline(ctx)
	}
	if h.count() != 4 || len(c.Errors()) != 1 || !strings.Contains(c.Errors()[0].Message, "driver bug") {
		t.Errorf("%d readings, errors %v", h.count(), c.Errors())
	}
	c.Baseline(ctx)
	if h.count() != 6 {
		t.Errorf("%d readings after the restart", h.count())
	}
}

func TestAHelperThatHangsIsKilled(t *testing.T) {
	c, h := newLocalTest(t, "hang")
	ctx := context.Background()
	if ok, err := c.Probe(ctx); !ok || err != nil {
		t.Fatal(ok, err)
	}
	c.Baseline(ctx)
	c.Baseline(ctx)
	began := time.Now()
	c.Boundary(ctx)
	if took := time.Since(began); took > time.Minute {
		t.Errorf("the step took %s", took)
	}
	if h.count() != 4 || len(c.Errors()) != 1 || !strings.Contains(c.Errors()[0].Message, "no reading within") {
		t.Errorf("%d readings, errors %v", h.count(), c.Errors())
	}
}

func TestADriverWithoutGPUsIsNoError(t *testing.T) {
	c, h := newLocalTest(t, "none")
	if ok, err := c.Probe(context.Background()); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	if !strings.Contains(h.text(), "GPU telemetry disabled - pynvml not available or no GPUs found") {
		t.Error(h.text())
	}
	c.Baseline(context.Background())
	c.Start()
	c.Finish(context.Background())
	if c.Successful() != nil {
		t.Error("it has a source")
	}
}

func TestAMissingDriverIsAnErrorOfTheConfiguration(t *testing.T) {
	c, _ := newLocalTest(t, "failed")
	_, err := c.Probe(context.Background())
	for _, want := range []string{"--gpu-telemetry pynvml", "the library is missing",
		"nvidia-smi: it is not installed"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}

func TestAHelperThatNeverStartsIsLeft(t *testing.T) {
	c, _ := newTimedTest(t, "silent", 100*time.Millisecond)
	if _, err := c.Probe(context.Background()); err == nil || !strings.Contains(err.Error(), "did not start in time") {
		t.Errorf("got %v", err)
	}
}
