//go:build unix

package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// onTerminal returns a command that runs a program on a terminal of 140 columns and 40 rows, by util-linux' script.
func onTerminal(program string, args []string) *exec.Cmd {
	line := "stty cols 140 rows 40; exec"
	for _, word := range append([]string{program}, args...) {
		line += " '" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	cmd := exec.Command("script", "-qec", line, "/dev/null")
	return cmd
}

// dashboard: how late requests arrive with the dashboard and without a view, both on a terminal, the best of three rounds;
// and what the dashboard costs, the middle of the rounds.
func (b *bench) dashboard() error {
	defer func() { b.ui, b.env = "", nil }()
	var with, without struct{ p50, p99 float64 }
	var cores []float64
	for range 3 {
		cpu := map[string]float64{}
		for _, c := range []struct {
			ui string
			to *struct{ p50, p99 float64 }
		}{{"none", &without}, {"dashboard", &with}} {
			b.ui = c.ui
			lags, used, err := b.lagsAndCPU("--no-server-metrics", "--no-gpu-telemetry")
			if err != nil {
				return err
			}
			c.to.p50, c.to.p99 = best(c.to.p50, percentile(lags, 50)), best(c.to.p99, percentile(lags, 99))
			cpu[c.ui] = used
		}
		cores = append(cores, (cpu["dashboard"]-cpu["none"])/float64(b.seconds))
	}
	slices.Sort(cores)
	row("send lag µs p50, dashboard / none", 2, with.p50, without.p50, 0, "%.0f")
	row("send lag µs p99, dashboard / none", 2, with.p99, without.p99, 0, "%.0f")
	row(fmt.Sprintf("cores for the dashboard, %d requests/s", sendRate), 2, cores[len(cores)/2], 0, 0, "%.4f")
	return nil
}
