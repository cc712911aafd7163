package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// watcher reads the servers' pages during a run, independent of the client that is under test.
type watcher struct {
	figures []figure
	pages   []string
	first   map[string]float64
	last    map[string]float64
	most    map[string]float64
	cancel  context.CancelFunc
	done    chan struct{}
}

// watch reads the pages five times a second until stop.
func watch(ctx context.Context, pages []string, figures []figure) *watcher {
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{figures: figures, pages: pages, most: map[string]float64{}, cancel: cancel, done: make(chan struct{})}
	w.first = w.read(ctx)
	go func() {
		defer close(w.done)
		for ctx.Err() == nil {
			if now := w.read(ctx); len(now) > 0 {
				w.last = now
				for name, value := range now {
					w.most[name] = max(w.most[name], value)
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond):
			}
		}
	}()
	return w
}

// read returns the sums over all series of each name.
func (w *watcher) read(ctx context.Context) map[string]float64 {
	sums := map[string]float64{}
	for _, page := range w.pages {
		for _, path := range w.paths() {
			w.add(ctx, page+path, sums)
		}
	}
	return sums
}

// paths are those of the pages that have the figures.
func (w *watcher) paths() []string {
	paths := []string{"/metrics"}
	for _, f := range w.figures {
		if strings.HasPrefix(f.name, "DCGM") {
			return append(paths, "/dcgm1/metrics")
		}
	}
	return paths
}

func (w *watcher) add(ctx context.Context, url string, sums map[string]float64) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		if at < 0 {
			continue
		}
		if value, err := strconv.ParseFloat(line[at+1:], 64); err == nil {
			name, _, _ := strings.Cut(line[:at], "{")
			sums[name] += value
		}
	}
}

// stop reads a last time and returns the figures in words.
func (w *watcher) stop() string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	last := w.read(ctx)
	w.cancel()
	<-w.done
	if len(last) == 0 {
		last = w.last
	}
	var b strings.Builder
	for _, f := range w.figures {
		value := 0.0
		switch f.of {
		case largest:
			value = w.most[f.name]
		case grown:
			value = last[f.name] - w.first[f.name]
		case mean:
			if n := last[f.name+"_count"] - w.first[f.name+"_count"]; n > 0 {
				value = 1000 * (last[f.name+"_sum"] - w.first[f.name+"_sum"]) / n
			}
		}
		fmt.Fprintf(&b, ", %s %.4g", f.label, value)
	}
	return b.String()
}

// figures returns those of the client.
func (v *verdict) figures() string {
	ttft, itl := v.client["time_to_first_token"], v.client["inter_token_latency"]
	gaps := v.client["inter_chunk_latency"]
	return fmt.Sprintf("%.0f requests, %.0f failed, %.1f/s, TTFT p50 %.0f p99 %.0f ms, ITL p50 %.1f p99 %.1f ms, "+
		"gaps p50 %.1f p99 %.1f ms",
		v.client["request_count"].Avg, v.client["error_request_count"].Avg, v.client["request_throughput"].Avg,
		ttft.P50, ttft.P99, itl.P50, itl.P99, gaps.P50, gaps.P99)
}
