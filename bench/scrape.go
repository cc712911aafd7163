//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Scraping at its largest: so many pages, each with so many series besides those of vLLM, every 333 ms.
const (
	scrapedPages  = 20
	scrapedSeries = 5000
	// sendRate is in requests per second.
	sendRate = 500
)

// scrape: what server metrics cost the machine and the load.
func (b *bench) scrape() error {
	ports := strings.TrimSuffix(strings.Repeat("0,", scrapedPages), ",")
	pages, metrics, err := b.serverOf(scrapedPages, "--fast", "--metrics-ports", ports, "--metrics-series",
		strconv.Itoa(scrapedSeries))
	if err != nil {
		return err
	}
	defer pages.stop()
	if err := b.scrapeCores(pages, metrics); err != nil {
		return err
	}
	return b.sendLag(metrics)
}

// scrapeCores: CPU time of the whole process with server metrics minus that without. The first pages, the
// statistics and the files cost the same in a run of half the time.
func (b *bench) scrapeCores(pages *server, metrics []string) error {
	cost := func(seconds int) (float64, error) {
		load := []string{"--request-rate", "20", "--isl", "32", "--osl", "1", "--benchmark-duration",
			strconv.Itoa(seconds)}
		without, err := b.profile(2, pages.url, load...)
		if err != nil {
			return 0, err
		}
		with, err := b.watched(2, pages.url,
			slices.Concat(load, []string{"--server-metrics-formats", "csv", "--server-metrics"}, metrics)...)
		if err != nil {
			return 0, err
		}
		return with.cpu.Seconds() - without.cpu.Seconds(), nil
	}
	half := max(b.seconds/2, 1)
	short, err := cost(half)
	if err != nil {
		return err
	}
	long, err := cost(2 * half)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%d × %d series scraped: ", scrapedPages, scrapedSeries)
	row(name+"cores", 2, (long-short)/float64(half), 0, 0, "%.3f")
	row(name+"with CSV", 2, long/float64(2*half), 0, 0, "%.3f")
	return nil
}

// sendLag: how late requests arrive beside their schedule, with and without scraping; the best of three rounds.
func (b *bench) sendLag(metrics []string) error {
	cases := []struct {
		name     string
		args     []string
		p50, p99 float64
	}{
		{name: "no metrics", args: []string{"--no-gpu-telemetry", "--no-server-metrics"}},
		{name: "1 page", args: []string{"--no-gpu-telemetry", "--server-metrics-formats", "csv"}},
		{name: fmt.Sprintf("%d pages", scrapedPages),
			args: append([]string{"--no-gpu-telemetry", "--server-metrics-formats", "csv", "--server-metrics"},
				metrics...)},
	}
	for range 3 {
		for i := range cases {
			c := &cases[i]
			lags, err := b.lags(c.args...)
			if err != nil {
				return err
			}
			c.p50, c.p99 = best(c.p50, percentile(lags, 50)), best(c.p99, percentile(lags, 99))
		}
	}
	for _, c := range cases[1:] {
		row("send lag µs p50, "+c.name+" / "+cases[0].name, 2, c.p50, cases[0].p50, 0, "%.0f")
		row("send lag µs p99, "+c.name+" / "+cases[0].name, 2, c.p99, cases[0].p99, 0, "%.0f")
	}
	return nil
}

// best is the smaller of two figures, the first of which may not be there yet.
func best(before, now float64) float64 {
	if before == 0 {
		return now
	}
	return min(before, now)
}

// lags runs a constant rate and returns, in ascending order, how many microseconds each request arrived
// after its place in the schedule; the earliest of them is on time. No arrival is dropped, however late it is.
func (b *bench) lags(args ...string) ([]float64, error) {
	lags, _, err := b.lagsAndCPU(args...)
	return lags, err
}

// lagsAndCPU is lags with the CPU time of the program in seconds.
func (b *bench) lagsAndCPU(args ...string) ([]float64, float64, error) {
	return b.lagsOf(append([]string{"--isl", "32", "--osl", "1"}, args...)...)
}

// lagsOf is the same for requests whose content the arguments say.
func (b *bench) lagsOf(args ...string) ([]float64, float64, error) {
	requests := filepath.Join(b.dir, "paced.jsonl")
	server, err := b.server("--fast", "--record-requests", requests)
	if err != nil {
		return nil, 0, err
	}
	b.env = []string{"AIPERF_TIMING_MAX_CATCHUP_SECONDS=10"}
	run, err := b.measured(2, server.url,
		append([]string{"--request-rate", strconv.Itoa(sendRate), "--arrival-pattern", "constant",
			"--request-count", strconv.Itoa(sendRate * b.seconds)}, args...)...)
	b.env = nil
	server.stop()
	if err != nil {
		return nil, 0, err
	}
	arrivals, err := arrivalsIn(requests)
	if err != nil {
		return nil, 0, err
	}
	slices.Sort(arrivals)
	lags := make([]float64, len(arrivals))
	for i, at := range arrivals {
		lags[i] = float64(at-arrivals[0])/1e3 - float64(i)*1e6/sendRate
	}
	earliest := slices.Min(lags)
	for i := range lags {
		lags[i] -= earliest
	}
	slices.Sort(lags)
	return lags, run.cpu.Seconds(), nil
}

// arrivalsIn are the arrival times of the requests that the mock server recorded.
func arrivalsIn(path string) ([]int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var arrivals []int64
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var r struct {
			Arrival int64 `json:"arrival_ns"`
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("request log: %w", err)
		}
		arrivals = append(arrivals, r.Arrival)
	}
	if len(arrivals) == 0 {
		return nil, fmt.Errorf("request log %s is empty", path)
	}
	return arrivals, lines.Err()
}

func percentile(sorted []float64, p int) float64 { return sorted[(len(sorted)-1)*p/100] }
