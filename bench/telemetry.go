//go:build unix

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
)

// telemetryGPUs are read every 333 ms.
const telemetryGPUs = 8

// watchers starts GPUs and a collector, and hands over the arguments that have them watched.
func (b *bench) watchers() (url string, gpus, otlp []string, stop func(), err error) {
	server, err := b.server("--fast", "--dcgm-num-gpus", strconv.Itoa(telemetryGPUs), "--dcgm-load", "0.5")
	if err != nil {
		return "", nil, nil, nil, err
	}
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_,
			_ = io.Copy(io.Discard, r.Body)
	}))
	stop = func() { server.stop(); collector.Close() }
	return server.url, []string{"--gpu-telemetry", server.url + "/dcgm1/metrics"},
		[]string{"--otel-url", collector.URL}, stop, nil
}

// telemetry: what reading GPUs and pushing OpenTelemetry metrics cost the machine.
func (b *bench) telemetry() error {
	url, gpus, otlp, stop, err := b.watchers()
	if err != nil {
		return err
	}
	defer stop()
	for _, c := range []struct {
		name string
		args []string
	}{
		{"GPUs", gpus},
		{"OTLP", slices.Concat([]string{"--no-gpu-telemetry"}, otlp)},
		{"both", slices.Concat(gpus, otlp)},
	} {
		cores, err := b.telemetryCores(url, c.args)
		if err != nil {
			return err
		}
		row(fmt.Sprintf("%d GPUs, %d requests/s: cores for %s", telemetryGPUs, sendRate, c.name), 2, cores, 0, 0,
			"%.4f")
	}
	return nil
}

// telemetryCores: CPU time of the whole process with telemetry minus that without, the middle of three pairs. What is
// done once costs the same in a run of half the time.
func (b *bench) telemetryCores(url string, args []string) (float64, error) {
	half := max(b.seconds/2, 1)
	cost := func(seconds int) (float64, error) {
		load := []string{"--no-server-metrics", "--request-rate", strconv.Itoa(sendRate), "--arrival-pattern",
			"constant", "--streaming",
			"--isl", "32", "--osl", "32", "--extra-inputs", "ignore_eos:true", "--benchmark-duration",
			strconv.Itoa(seconds)}
		without, err := b.measured(2, url, append([]string{"--no-gpu-telemetry"}, load...)...)
		if err != nil {
			return 0, err
		}
		with, err := b.measured(2, url, slices.Concat(load, args)...)
		if err != nil {
			return 0, err
		}
		return with.cpu.Seconds() - without.cpu.Seconds(), nil
	}
	var all []float64
	for range 3 {
		short, err := cost(half)
		if err != nil {
			return 0, err
		}
		long, err := cost(2 * half)
		if err != nil {
			return 0, err
		}
		all = append(all, (long-short)/float64(half))
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}

// telemetryLag: how late requests arrive with and without telemetry; the best of three rounds.
func (b *bench) telemetryLag() error {
	_, gpus, otlp, stop, err := b.watchers()
	if err != nil {
		return err
	}
	defer stop()
	args := slices.Concat(gpus, otlp)
	var with, without struct{ p50, p99 float64 }
	for range 3 {
		for _, c := range []struct {
			args []string
			to   *struct{ p50, p99 float64 }
		}{{[]string{"--no-server-metrics", "--no-gpu-telemetry"}, &without},
			{append([]string{"--no-server-metrics"}, args...), &with}} {
			lags, err := b.lags(c.args...)
			if err != nil {
				return err
			}
			c.to.p50, c.to.p99 = best(c.to.p50, percentile(lags, 50)), best(c.to.p99, percentile(lags, 99))
		}
	}
	row("send lag µs p50, GPUs and OTLP / neither", 2, with.p50, without.p50, 0, "%.0f")
	row("send lag µs p99, GPUs and OTLP / neither", 2, with.p99, without.p99, 0, "%.0f")
	return nil
}
