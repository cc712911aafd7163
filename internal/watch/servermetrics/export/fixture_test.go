package export_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/watch/prom"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/servermetrics/export"
)

const (
	second = int64(time.Second)
	// start is 2025-12-10T16:07:13.596361 in UTC.
	start = 1765382833596361000
	url   = "http://localhost:8000/metrics"
)

// collection is a run in which pages go through the parser into the store and, if there is one, the recorder.
type collection struct {
	t        *testing.T
	store    *servermetrics.Store
	recorder *export.Recorder
	parsers  map[string]*prom.Parser
	bodies   map[string]string
	info     export.Info
}

func newCollection(t *testing.T) *collection {
	return &collection{
		t: t, store: servermetrics.NewStore(servermetrics.Options{}),
		parsers: map[string]*prom.Parser{}, bodies: map[string]string{},
		info: export.Info{
			AIPerfVersion: "1.0.0", BenchmarkID: "2900a136-3c1a-4520-adaa-5719822b729b",
			CLICommand: "aiperf profile --model m",
			Configured: []string{url}, Successful: []string{url},
			Window: servermetrics.Window{StartNS: start, EndNS: start + 10*second},
			InputConfig: artifact.Object{
				{Key: "models", Value: []string{"Qwen/Qwen3-0.6B"}},
				{Key: "phases", Value: []any{artifact.Object{{Key: "name", Value: "profiling"},
					{Key: "concurrency", Value: 4}}}},
			},
			Models: []string{"Qwen/Qwen3-0.6B"}, ExportTime: time.Unix(0, start+12*second), Hostname: "loadgen",
			Location: time.UTC, RuntimeVersion: "go1.26", ParquetVersion: "parquet-go",
		},
	}
}

// page is what an endpoint said at a time after the start of the phase.
func (c *collection) page(url string, after time.Duration, body string) {
	c.t.Helper()
	p := c.parsers[url]
	if p == nil {
		p = prom.NewParser(prom.Options{Summaries: true})
		c.parsers[url] = p
	}
	samples, err := p.Parse([]byte(body), false)
	if err != nil {
		c.t.Fatal(err)
	}
	at := start + int64(after)
	s := servermetrics.Scrape{
		TimestampNS: at, LatencyNS: 2_500_000, RequestSentNS: at - 1_000_000, FirstByteNS: at,
		Duplicate: c.bodies[url] == body, Samples: samples, Summaries: p.Summaries(),
	}
	c.bodies[url] = body
	c.store.Endpoint(url).Add(s)
	if c.recorder != nil {
		c.recorder.Scraped(url, s)
	}
}

func (c *collection) run() *export.Collection {
	return export.NewRun(c.store, c.info)
}

func (c *collection) json() string {
	c.t.Helper()
	var out bytes.Buffer
	if err := (export.JSON{Run: c.run()}).Write(context.Background(), &out); err != nil {
		c.t.Fatal(err)
	}
	return out.String()
}

func (c *collection) csv() string {
	c.t.Helper()
	var out bytes.Buffer
	if err := (export.CSV{Run: c.run()}).Write(context.Background(), &out); err != nil {
		c.t.Fatal(err)
	}
	return out.String()
}

// vllm is a small page with a family of each kind.
const vllmBefore = `# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 1
# HELP vllm:request_success_total Count of successfully processed requests.
# TYPE vllm:request_success_total counter
vllm:request_success_total{engine="0",finished_reason="length",model_name="m"} 5
vllm:request_success_total{engine="0",finished_reason="stop",model_name="m"} 0
# HELP vllm:e2e_request_latency_seconds lat
# TYPE vllm:e2e_request_latency_seconds histogram
vllm:e2e_request_latency_seconds_bucket{engine="0",le="0.1",model_name="m"} 0
vllm:e2e_request_latency_seconds_bucket{engine="0",le="1.0",model_name="m"} 0
vllm:e2e_request_latency_seconds_bucket{engine="0",le="+Inf",model_name="m"} 0
vllm:e2e_request_latency_seconds_sum{engine="0",model_name="m"} 0
vllm:e2e_request_latency_seconds_count{engine="0",model_name="m"} 0
# HELP rpc_seconds Time of a call, of which only the legacy schema tells.
# TYPE rpc_seconds summary
rpc_seconds{method="get",quantile="0.5"} NaN
rpc_seconds{method="get",quantile="0.99"} NaN
rpc_seconds_sum{method="get"} 1.5
rpc_seconds_count{method="get"} 2
# HELP vllm:cache_config_info Information of the LLMEngine CacheConfig
# TYPE vllm:cache_config_info gauge
vllm:cache_config_info{block_size="16",enable_prefix_caching="True",engine="0"} 1
queue_depth 7
x_created 1
process_uptime_seconds 3
process_start_time_seconds 1700000000
`

const vllmAfter = `# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 3
# HELP vllm:request_success_total Count of successfully processed requests.
# TYPE vllm:request_success_total counter
vllm:request_success_total{engine="0",finished_reason="length",model_name="m"} 9
vllm:request_success_total{engine="0",finished_reason="stop",model_name="m"} 0
# HELP vllm:e2e_request_latency_seconds lat
# TYPE vllm:e2e_request_latency_seconds histogram
vllm:e2e_request_latency_seconds_bucket{engine="0",le="0.1",model_name="m"} 2
vllm:e2e_request_latency_seconds_bucket{engine="0",le="1.0",model_name="m"} 3
vllm:e2e_request_latency_seconds_bucket{engine="0",le="+Inf",model_name="m"} 4
vllm:e2e_request_latency_seconds_sum{engine="0",model_name="m"} 3
vllm:e2e_request_latency_seconds_count{engine="0",model_name="m"} 4
# HELP rpc_seconds Time of a call, of which only the legacy schema tells.
# TYPE rpc_seconds summary
rpc_seconds{method="get",quantile="0.5"} 0.25
rpc_seconds{method="get",quantile="0.99"} NaN
rpc_seconds_sum{method="get"} 3.5
rpc_seconds_count{method="get"} 10
# HELP vllm:cache_config_info Information of the LLMEngine CacheConfig
# TYPE vllm:cache_config_info gauge
vllm:cache_config_info{block_size="16",enable_prefix_caching="True",engine="0"} 1
queue_depth 8
x_created 1
process_uptime_seconds 4
process_start_time_seconds 1700000000
`

// vllm returns that page just before the phase, one second into it, again four seconds into it and after its end.
func vllm(t *testing.T) *collection {
	c := newCollection(t)
	c.pages()
	return c
}

func (c *collection) pages() {
	c.t.Helper()
	c.page(url, -time.Millisecond, vllmBefore)
	c.page(url, time.Second-time.Millisecond, vllmAfter)
	c.page(url, 4*time.Second, vllmAfter)
	c.page(url, 10*time.Second+time.Millisecond, vllmAfter)
}
