package collect_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/watch/collect"
	"aiperf/internal/watch/gpu"
	"aiperf/internal/watch/prom"
)

// page is a metrics server in memory.
type page struct {
	accepted chan net.Conn
	// text is the page at a time since the server began.
	text func(since time.Duration) string

	mu    sync.Mutex
	down  bool
	begun time.Time
}

// Accept, Close and Addr implement net.Listener.
func (p *page) Accept() (net.Conn, error) {
	c, open := <-p.accepted
	if !open {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (p *page) Close() error   { return nil }
func (p *page) Addr() net.Addr { return &net.TCPAddr{} }

func (p *page) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if _, up := p.page(); !up {
		return nil, errors.New("connection refused")
	}
	ours, theirs := net.Pipe()
	select {
	case p.accepted <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// page returns the page as it is now; false while the server is down.
func (p *page) page() (text string, up bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text(time.Since(p.begun)), !p.down
}

// end has the server be down, begin be up again, from nothing.
func (p *page) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = true
}

func (p *page) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down, p.begun = false, time.Now()
}

// inBubble runs a test of a monitor of one page within fake time.
func inBubble(t *testing.T, text func(time.Duration) string, test func(*testing.T, *page, *collect.Monitor)) {
	synctest.Test(t, func(t *testing.T) {
		p := &page{accepted: make(chan net.Conn), begun: time.Now(), text: text}
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			text, up := p.page()
			if !up {
				panic(http.ErrAbortHandler)
			}
			w.Header().Set("Content-Type", "text/plain; version=0.0.4")
			io.WriteString(w, text)
		})}
		served := make(chan struct{})
		go func() {
			defer close(served)
			_ = s.Serve(p)
		}()
		m, err := collect.NewMonitor(collect.MonitorOptions{URLs: []string{"127.0.0.1:8000"},
			Fetch: prom.FetchOptions{Dial: p.dial}})
		if err != nil {
			t.Fatal(err)
		}
		test(t, p, m)
		m.Close()
		close(p.accepted)
		_ = s.Close()
		<-served
	})
}

// vllm is the page of a server that finishes 10 requests of 20 prompt tokens and 30 generated ones a second.
func vllm(since time.Duration) string {
	n := int(10 * since.Seconds())
	return fmt.Sprintf(`# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{model_name="m"} 7
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{model_name="m"} 2
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{model_name="m"} 0.25
# TYPE vllm:request_success counter
vllm:request_success_total{model_name="m",finished_reason="stop"} %d
# TYPE vllm:prompt_tokens counter
vllm:prompt_tokens_total{model_name="m"} %d
# TYPE vllm:generation_tokens counter
vllm:generation_tokens_total{model_name="m"} %d
# TYPE vllm:time_to_first_token_seconds histogram
vllm:time_to_first_token_seconds_bucket{model_name="m",le="0.1"} 0
vllm:time_to_first_token_seconds_bucket{model_name="m",le="0.2"} %d
vllm:time_to_first_token_seconds_bucket{model_name="m",le="+Inf"} %d
vllm:time_to_first_token_seconds_sum{model_name="m"} %g
vllm:time_to_first_token_seconds_count{model_name="m"} %d
`, n, 20*n, 30*n, n, n, 0.15*float64(n), n)
}

func near(t *testing.T, name string, got *float64, want, tolerance float64) {
	t.Helper()
	if got == nil || math.Abs(*got-want) > tolerance {
		value := "unknown"
		if got != nil {
			value = fmt.Sprint(*got)
		}
		t.Errorf("%s is %s, want %g", name, value, want)
	}
}

func TestMonitoredFiguresOfAServer(t *testing.T) {
	inBubble(t, vllm, func(t *testing.T, _ *page, m *collect.Monitor) {
		time.Sleep(20*time.Second + time.Millisecond)
		s := m.Servers()[0]
		if s.Error != "" || s.URL != "http://127.0.0.1:8000/metrics" || s.Now.Kind != "vLLM" {
			t.Fatalf("%+v", s)
		}
		near(t, "running", s.Now.Running, 7, 0)
		near(t, "waiting", s.Now.Waiting, 2, 0)
		near(t, "KV cache", s.Now.KVUsage, 25, 1e-9)
		near(t, "requests", s.Now.RequestRate, 10, 0.01)
		near(t, "input", s.Now.InputRate, 200, 0.1)
		near(t, "output", s.Now.OutputRate, 300, 0.1)
		near(t, "TTFT", s.Now.TTFT.P50, 0.15, 0.05)
		if s.Now.ITL.P50 != nil || s.Now.Latency.P99 != nil {
			t.Error("latencies that the page lacks")
		}
	})
}

// A server that goes away is an error, is looked for, and is watched again with rates of its own.
func TestAServerGoesAndComesBack(t *testing.T) {
	inBubble(t, vllm, func(t *testing.T, p *page, m *collect.Monitor) {
		time.Sleep(5*time.Second + time.Millisecond)
		if s := m.Servers()[0]; s.Error != "" {
			t.Fatalf("%+v", s)
		}
		p.end()
		time.Sleep(time.Minute)
		if s := m.Servers()[0]; s.Error == "" || s.Now.Kind != "" {
			t.Fatalf("while it is away: %+v", s)
		}
		p.begin()
		time.Sleep(time.Minute)
		s := m.Servers()[0]
		if s.Error != "" {
			t.Fatalf("when it is back: %q", s.Error)
		}
		near(t, "requests", s.Now.RequestRate, 10, 0.01)
	})
}

func TestMonitorOfAServerThatIsNotThere(t *testing.T) {
	inBubble(t, vllm, func(t *testing.T, p *page, m *collect.Monitor) {
		p.end()
		time.Sleep(10 * time.Second)
		if s := m.Servers()[0]; !strings.Contains(s.Error, "refused") {
			t.Errorf("%+v", s)
		}
	})
}

// However long it goes on, pages of a few stretches are kept, and rates are known without a gap.
func TestMemoryOfAMonitorIsBounded(t *testing.T) {
	inBubble(t, vllm, func(t *testing.T, _ *page, m *collect.Monitor) {
		time.Sleep(3*time.Second + time.Millisecond)
		const stretch = 10 * time.Second
		const stretches = 6 // are kept before what is older is forgotten
		longest := time.Duration(0)
		for range 3000 {
			time.Sleep(time.Second)
			s := m.Servers()[0]
			if n := len(s.Kept); n == 0 || n > 2 || s.Kept[0] > (stretches+2)*stretch {
				t.Fatalf("pages of %s", s.Kept)
			}
			longest = max(longest, s.Kept[0])
			near(t, "requests", s.Now.RequestRate, 10, 0.01)
		}
		if longest < stretches*stretch {
			t.Errorf("pages of no more than %s", longest)
		}
	})
}

func TestMonitorOfAPageWithoutKnownMetrics(t *testing.T) {
	up := func(time.Duration) string { return "# TYPE up gauge\nup 1\n" }
	inBubble(t, up, func(t *testing.T, _ *page, m *collect.Monitor) {
		time.Sleep(3 * time.Second)
		if s := m.Servers()[0]; s.Error != "" || s.Now.Kind != "" || s.AtNS == 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestMonitorOfABadURL(t *testing.T) {
	if _, err := collect.NewMonitor(collect.MonitorOptions{URLs: []string{"http://"}}); err == nil {
		t.Error("it was taken")
	}
}

// fakeGPUs is a collector of GPUs.
type fakeGPUs struct {
	collect.GPUCollector
	sink    collect.GPUSink
	catalog *gpu.Catalog
	none    bool
	closed  *int
}

func (f *fakeGPUs) Probe(context.Context) (bool, error) { return !f.none, nil }
func (f *fakeGPUs) Baseline(context.Context)            {}
func (f *fakeGPUs) Close() error                        { *f.closed++; return nil }
func (f *fakeGPUs) Start() {
	r := gpu.Reading{Device: gpu.Device{Source: "fake", Model: "H200"}, TimestampNS: time.Now().UnixNano(),
		Values: make([]float64, f.catalog.Len())}
	f.sink.Read([]gpu.Reading{r})
}

// The first collector that finds GPUs is used; without one, it is known that there are none.
func TestMonitorFollowsGPUs(t *testing.T) {
	for _, found := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			catalog, closed := gpu.NewCatalog(nil, false), 0
			open := func(none bool) func(collect.GPUSink) (collect.GPUCollector, error) {
				return func(s collect.GPUSink) (collect.GPUCollector, error) {
					return &fakeGPUs{sink: s, catalog: catalog, none: none, closed: &closed}, nil
				}
			}
			collectors := []func(collect.GPUSink) (collect.GPUCollector, error){open(true), open(!found)}
			m, err := collect.NewMonitor(collect.MonitorOptions{Catalog: catalog, GPUs: collectors})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			list, searched := m.GPUs()
			if !searched || (len(list) == 1) != found {
				t.Errorf("found %v: %d GPUs, searched %v", found, len(list), searched)
			}
			m.Close()
			if closed != 2 {
				t.Errorf("%d collectors were closed", closed)
			}
		})
	}
}
