//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// gradedProblems is how many problems the data of the benchmark have.
const gradedProblems = 500

// accuracy: how late requests arrive while their answers are graded, and with the same requests from a file, the best of
// three rounds; and what grading costs, the middle of the rounds. The grader is that of LaTeX.
func (b *bench) accuracy() error {
	problems, prompts := filepath.Join(b.dir, "problems.jsonl"), filepath.Join(b.dir, "prompts.jsonl")
	var asked, sent bytes.Buffer
	for i := range gradedProblems {
		text := fmt.Sprintf("Problem %d: what is the sum of all whole numbers from 1 to %d?", i, i)
		for out, line := range map[*bytes.Buffer]map[string]string{
			&asked: {"problem": text, "solution": fmt.Sprintf(`It is $\frac{%d}{2} = \boxed{%d}$.`, i*(i+1), i*(i+1)/2), "subject": "Sums"},
			&sent:  {"text": text},
		} {
			if err := json.NewEncoder(out).Encode(line); err != nil {
				return err
			}
		}
	}
	if err := os.WriteFile(problems, asked.Bytes(), 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(prompts, sent.Bytes(), 0o600); err != nil {
		return err
	}
	var with, without struct{ p50, p99 float64 }
	var cores []float64
	for range 3 {
		var cpu [2]float64
		for i, c := range []struct {
			load []string
			to   *struct{ p50, p99 float64 }
		}{
			{[]string{"--input-file", prompts, "--custom-dataset-type", "single_turn"}, &without},
			{[]string{"--accuracy-benchmark", "math_500", "--accuracy-data", problems}, &with},
		} {
			lags, used, err := b.lagsOf(append(c.load, "--osl", "100", "--no-server-metrics", "--no-gpu-telemetry")...)
			if err != nil {
				return err
			}
			c.to.p50, c.to.p99 = best(c.to.p50, percentile(lags, 50)), best(c.to.p99, percentile(lags, 99))
			cpu[i] = used
		}
		cores = append(cores, (cpu[1]-cpu[0])/float64(b.seconds))
	}
	slices.Sort(cores)
	row("send lag µs p50, graded / not", 2, with.p50, without.p50, 0, "%.0f")
	row("send lag µs p99, graded / not", 2, with.p99, without.p99, 0, "%.0f")
	row(fmt.Sprintf("cores for grading, %d requests/s", sendRate), 2, cores[len(cores)/2], 0, 0, "%.4f")
	return nil
}
