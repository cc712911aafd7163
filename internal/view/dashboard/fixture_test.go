package dashboard

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/publish/progress"
)

// text returns the canvas as lines without styles.
func (c *canvas) text() string {
	var b strings.Builder
	for y := range c.height {
		var row strings.Builder
		for _, one := range c.cells[y*c.width : (y+1)*c.width] {
			switch one.text {
			case "":
				row.WriteByte(' ')
			case secondHalf:
			default:
				row.WriteString(one.text)
			}
		}
		b.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
	return b.String()
}

// noon is when all of the tests' frames are drawn.
var noon = time.Date(2026, time.November, 24, 12, 0, 0, 0, time.UTC)

// sizes are those of the terminals that the tests draw for.
var sizes = [...][2]int{{80, 24}, {100, 30}, {140, 40}, {200, 60}}

// begun returns a dashboard of a run that has begun.
func begun(t testing.TB, o Options) *Dashboard {
	t.Helper()
	set, err := metrics.NewSet(metrics.Config{Streaming: true, ProducesTokens: true, TokenizesInput: true})
	if err != nil {
		t.Fatal(err)
	}
	if o.Title == "" {
		o.Title = "AIPerf"
	}
	d := New(o)
	d.Begin(&progress.Run{Models: []string{"mock-model"}, Streaming: true, Metrics: set,
		Phases: []progress.Plan{{Name: "profiling", Kind: progress.ProfilingKind}}})
	return d
}

// wave is a course of n points between low and high.
func wave(n int, low, high float64) (c course) {
	for i := range n {
		c.add(low + (high-low)*(0.5+0.5*math.Sin(float64(i)/4)))
	}
	return c
}

// running returns a dashboard in the middle of a run, with GPUs, servers and errors.
func running(t testing.TB, o Options) *Dashboard {
	t.Helper()
	if o.Every == 0 {
		o.Every = time.Second
	}
	d := begun(t, o)
	var figures progress.Figures
	for i, row := range d.state.rows {
		r := metrics.Metric{Tag: row.Tag, Unit: string(row.Display), Distribution: i < 12}
		base := float64(1+i) * 123.456
		r.Stats = metrics.Stats{Avg: base, Min: base / 3, Max: 20 * base, Std: base / 7}
		for k := range r.Stats.Percentiles {
			r.Stats.Percentiles[k] = base * float64(k+1) / 4
		}
		figures.Metrics = append(figures.Metrics, r)
	}
	figures.Servers = []progress.Figure{{Name: "server_requests_running", Value: 16},
		{Name: "server_requests_waiting", Value: 3}, {Name: "server_kv_cache_usage_percent", Value: 61.5},
		{Name: "server_prefix_cache_hit_percent", Value: 30}, {Name: "server_output_tokens_per_second", Value: 12345}}
	snap := &progress.Snapshot{Stage: progress.Profiling, Elapsed: 42 * time.Second, Figures: &figures,
		Records: progress.Records{Successes: 1190, Errors: 9},
		Phases: []progress.Phase{{Kind: progress.ProfilingKind, Name: "profiling", State: progress.PhaseStarted,
			Elapsed: 42 * time.Second, Progress: 0.6, Remaining: 28 * time.Second, ExpectedRequests: 2000,
			RequestsSent: 1216, RequestsCompleted: 1200, RequestErrors: 9, CompletedRate: 28.6}},
		Errors: []progress.ErrorKind{{Code: 500, Type: "Internal Server Error", Message: `{"detail":"no memory left"}`,
			Count: 7}, {Code: 429, Type: "Too Many Requests", Message: "slow down", Count: 2}},
		Client: &progress.Client{Verdict: "valid", Figures: []progress.Figure{{Name: "client_cpu_ratio", Value: 0.12},
			{Name: "client_timer_delay_p99_seconds", Value: 0.0004}, {Name: "client_error_bound_seconds", Value: 0.0012},
			{Name: "client_resident_memory_peak_bytes", Value: 64 << 20}, {Name: "host_cpu_busy_ratio", Value: 0.4}}},
	}
	d.Show(snap)
	d.state.trends = trends{requests: wave(90, 20, 30), tokens: wave(90, 1000, 1800), inFlight: wave(90, 16, 16),
		ttft: wave(90, 60, 95), itl: wave(90, 7, 9), latency: wave(90, 500, 620)}
	for i := range 20 {
		_, _ = fmt.Fprintf(d.LogWriter(io.Discard, true), "12:00:%02d.000 INFO     line %d of the log, with some words more\n", i, i)
	}
	return d
}

// withGPUs gives a dashboard's run so many GPUs.
func withGPUs(d *Dashboard, n int) *Dashboard {
	var list []progress.GPU
	for i := range n {
		g := progress.GPU{Source: "localhost:9400", Model: "NVIDIA H200", Index: i}
		for k, f := range [...][3]string{{"gpu_power_usage", "GPU Power Usage", "W"},
			{"gpu_utilization", "GPU Utilization", "%"}, {"gpu_memory_used", "GPU Memory Used", "GB"},
			{"gpu_temperature", "GPU Temperature", "°C"}} {
			v := 100 - float64(10*k+i%10)
			g.Values = append(g.Values, progress.GPUValue{Tag: f[0], Header: f[1], Unit: f[2], Now: v, Avg: v - 1, Min: v / 2,
				Max: v + 1, P50: v, P90: v, P99: v, Std: 2})
		}
		list = append(list, g)
	}
	own := *d.state.snap
	own.GPUs = list
	d.state.snap = &own
	return d
}

// drawn returns the screen of a dashboard in a size after some keys.
func drawn(d *Dashboard, width, height int, keys ...string) string {
	return modelOf(d, width, height, keys...).screen.canvas.text()
}

// modelOf returns the program of a dashboard as it has drawn its frame after some keys.
func modelOf(d *Dashboard, width, height int, keys ...string) *model {
	d.state.moving = d.state.moving || d.state.snap != nil
	m := newModel(d)
	m.screen.resize(width, height)
	draw := func() {
		m.screen.draw(d.frame(0, m.notice, noon))
	}
	draw()
	for _, k := range keys {
		m.key(k)
		draw()
	}
	return m
}
