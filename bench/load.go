//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// health is what a run says of its own client.
type health struct {
	ScheduleLag, SendTime struct{ P50, P99, Max float64 }
	DroppedByCatchup      int64 `json:"dropped_by_catchup"`
	Verdict               string
	Limits                struct {
		RSS  float64 `json:"rss_bytes"`
		Heap float64 `json:"heap_live_bytes"`
	}
}

func (p *profiled) health() (h health, err error) {
	// The members of lags have plain names, those of the object around them have not.
	var o struct {
		ScheduleLag json.RawMessage `json:"schedule_lag"`
	}
	raw := p.summary["client_health"]
	if err = json.Unmarshal(raw, &h); err == nil {
		err = json.Unmarshal(raw, &o)
	}
	if err == nil && o.ScheduleLag != nil {
		err = json.Unmarshal(o.ScheduleLag, &h.ScheduleLag)
	}
	return h, err
}

// pacing: how late requests leave at two rates, how many of them, and what that costs.
func (b *bench) pacing() error {
	server, err := b.server("--fast")
	if err != nil {
		return err
	}
	defer server.stop()
	for _, rate := range []int{1000, 10000} {
		ours, err := b.profile(2, server.url, "--request-rate", strconv.Itoa(rate), "--arrival-pattern", "constant",
			"--benchmark-duration", strconv.Itoa(b.seconds), "--isl", "32", "--osl", "1")
		if err != nil {
			return err
		}
		h, err := ours.health()
		if err != nil {
			return err
		}
		name := fmt.Sprintf("%d requests/s: ", rate)
		row(name+"send lag p50, µs", 2, h.ScheduleLag.P50*1000, 0, 0, "%.0f")
		row(name+"send lag p99, µs", 2, h.ScheduleLag.P99*1000, 0, 0, "%.0f")
		row(name+"delivered / asked", 2, ours.value("request_count")/float64(rate*b.seconds), 0, 0, "%.4f")
		row(name+"client cores", 2, ours.cpu.Seconds()/float64(b.seconds), 0, 0, "%.2f")
	}
	return nil
}

// stamps: what the client says of the instants of 500 streams, against the server's own stamp right before each write.
func (b *bench) stamps() error {
	file := filepath.Join(b.dir, "selftest.json")
	if out, err := exec.Command(b.aiperf, "selftest", "--quick", "--streams", "500", "--json",
		file).CombinedOutput(); err != nil {
		return fmt.Errorf("selftest: %w\n%s", err, out)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var report struct {
		Sections []struct {
			Lines []struct {
				ID, Title string
				Figures   struct {
					P50 float64 `json:"p50_ms"`
					P95 float64 `json:"p95_ms"`
					P99 float64 `json:"p99_ms"`
				}
			}
		}
	}
	if err := json.Unmarshal(data, &report); err != nil {
		return err
	}
	for _, s := range report.Sections {
		for _, l := range s.Lines {
			if l.Figures.P99 == 0 || !strings.HasPrefix(l.ID, "kernel_") && !strings.HasPrefix(l.ID, "user_") {
				continue
			}
			fmt.Printf("500 streams, error in µs, %-40s p50 %8.0f   p95 %8.0f   p99 %8.0f\n", l.Title,
				1000*l.Figures.P50, 1000*l.Figures.P95, 1000*l.Figures.P99)
		}
	}
	return nil
}

// streams: 10,000 open streams of 128 tokens each, and what one of them takes.
func (b *bench) streams() error {
	server, err := b.server("--ttft", "8000", "--itl", "100")
	if err != nil {
		return err
	}
	defer server.stop()
	run := func(streams string) (*profiled, health, error) {
		p, err := b.profile(2, server.url, "--streaming", "--concurrency", streams, "--request-count", streams,
			"--isl", "32", "--osl", "128", "--extra-inputs", "ignore_eos:true")
		if err != nil {
			return nil, health{}, err
		}
		h, err := p.health()
		return p, h, err
	}
	few, fewHealth, err := run("10")
	if err != nil {
		return err
	}
	many, manyHealth, err := run("10000")
	if err != nil {
		return err
	}
	row("10,000 streams: replies in full", 2, many.value("total_osl")/1280000, 0, 0, "%.4f")
	row("10,000 streams: KB resident for each", 2, (many.rssKB-few.rssKB)/9990, 0, 0, "%.1f")
	row("10,000 streams: KB of live heap for each", 2, (manyHealth.Limits.Heap-fewHealth.Limits.Heap)/1024/9990, 0, 0,
		"%.1f")
	return nil
}
