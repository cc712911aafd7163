//go:build unix

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/watch/prom"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/servermetrics/export"
)

// grown is what one size of something cost: processor time of a whole process, its largest resident memory, and the
// time that passed.
type grown struct {
	size float64
	usage
	wall time.Duration
}

func (g grown) seconds() float64   { return g.cpu.Seconds() }
func (g grown) megabytes() float64 { return g.rssKB / 1024 }

// growthRounds is how often a size is measured that takes less than growthShort.
const (
	growthRounds = 3
	growthShort  = 20 * time.Second
)

// growthKind is something that a run can have more of.
type growthKind struct {
	name, about string
	sizes       []int
	// command returns the process whose cost is that of a size. It may prepare what that needs below dir.
	command func(n int, dir string) (*exec.Cmd, error)
}

// growth: time and memory over the size of what a run has, each size in a process of its own. One that takes longer
// than -bound is ended, and larger ones of its kind are left out. The exponents are fitted
// to the sizes from a hundredth of the largest on: 1 is linear growth; below it are the costs that every run has.
func (b *bench) growth() error {
	fast, err := b.server("--fast")
	if err != nil {
		return err
	}
	defer fast.stop()
	paced, err := b.server("--ttft", "6000", "--itl", "500")
	if err != nil {
		return err
	}
	defer paced.stop()
	known := b.growthKinds(fast.url, paced.url)
	for _, name := range strings.Split(b.kinds, ",") {
		i := slices.IndexFunc(known, func(k growthKind) bool { return k.name == name })
		if i < 0 {
			return fmt.Errorf("-kinds: no kind %q", name)
		}
		if err := b.grow(known[i]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (b *bench) growthKinds(fast, paced string) []growthKind {
	profile := func(url, dir string, args ...string) (*exec.Cmd, error) {
		return exec.Command(b.aiperf, append([]string{"profile", "--model", "mock-model", "--tokenizer", "builtin",
			"--random-seed", "1", "--endpoint-type", "chat", "--url", url, "--ui", "none", "--no-server-metrics",
			"--no-gpu-telemetry", "--isl", "32", "--artifact-dir", filepath.Join(dir, "run")}, args...)...), nil
	}
	return []growthKind{
		{"requests", "requests", []int{1e4, 1e5, 1e6, 1e7}, func(n int, dir string) (*exec.Cmd, error) {
			return profile(fast, dir, "--osl", "1", "--concurrency", "16", "--request-count", strconv.Itoa(n))
		}},
		{"streams", "streams open at once, of 16 tokens", []int{100, 1000, 5000, 18000},
			func(n int, dir string) (*exec.Cmd, error) {
				return profile(paced, dir, "--streaming", "--osl", "16", "--extra-inputs", "ignore_eos:true",
					"--concurrency", strconv.Itoa(n), "--request-count", strconv.Itoa(n))
			}},
		{"events", "events of streams of 100", []int{1e5, 1e6, 1e7, 1e8}, func(n int, dir string) (*exec.Cmd, error) {
			return exec.Command(b.self, "feed", "-records", strconv.Itoa(n/100), "-tokens", "100", "-dir",
				filepath.Join(dir, "run")), nil
		}},
		{"rows", "rows of a data set", []int{1e3, 1e4, 1e5, 1e6, 1e7}, func(n int, dir string) (*exec.Cmd, error) {
			path := filepath.Join(dir, "rows.jsonl")
			if err := writeRows(path, n); err != nil {
				return nil, err
			}
			return profile(fast, dir, "--osl", "1", "--concurrency", "16", "--request-count", "20", "--input-file", path,
				"--custom-dataset-type", "single_turn")
		}},
		{"series", "series of servers, 3 scrapes", []int{1e2, 1e3, 1e4, 1e5, 1e6},
			func(n int, dir string) (*exec.Cmd, error) {
				return exec.Command(b.self, "series", "-n", strconv.Itoa(n), "-dir", dir), nil
			}},
		{"cells", "cells of a sweep", []int{10, 100, 1000}, func(n int, dir string) (*exec.Cmd, error) {
			rates := make([]string, n)
			for i := range rates {
				rates[i] = strconv.Itoa(1000 + i)
			}
			return profile(fast, dir, "--osl", "1", "--request-rate", strings.Join(rates, ","), "--request-count", "3")
		}},
	}
}

// grow measures all sizes of a kind and prints a line for each, and one for the exponents.
func (b *bench) grow(kind growthKind) error {
	var list []grown
	for _, n := range kind.sizes {
		g, whole, err := b.size(kind, n)
		if err != nil {
			return err
		}
		if !whole {
			fmt.Printf("%-36s %10d: ended after %.0f s, with %.0f MB\n", kind.about, n, g.wall.Seconds(), g.megabytes())
			break
		}
		list = append(list, g)
		fmt.Printf("%-36s %10d %10.2f s %10.0f MB %10.1f s passed\n", kind.about, n, g.seconds(), g.megabytes(),
			g.wall.Seconds())
	}
	fmt.Printf("%-36s %10s %10.2f   %10.2f\n", kind.about, "exponent", exponent(list, grown.seconds),
		exponent(list, grown.megabytes))
	return nil
}

// size returns the median cost of a size, and false where it was ended.
func (b *bench) size(kind growthKind, n int) (g grown, whole bool, err error) {
	var rounds []grown
	for range growthRounds {
		if g, whole, err = b.sizeOnce(kind, n); err != nil || !whole {
			return g, whole, err
		}
		rounds = append(rounds, g)
		if g.wall >= growthShort {
			break
		}
	}
	slices.SortFunc(rounds, func(a, b grown) int { return cmp.Compare(a.cpu, b.cpu) })
	return rounds[len(rounds)/2], true, nil
}

func (b *bench) sizeOnce(kind growthKind, n int) (g grown, whole bool, err error) {
	dir := filepath.Join(b.dir, "grown")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return g, false, err
	}
	defer os.RemoveAll(dir)
	cmd, err := kind.command(n, dir)
	if err != nil {
		return g, false, err
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return g, false, err
	}
	late := time.AfterFunc(b.bound, func() { cmd.Process.Kill() })
	err = cmd.Wait()
	g = grown{float64(n), usageOf(cmd.ProcessState), time.Since(began)}
	switch {
	case !late.Stop():
		return g, false, nil
	case err != nil:
		return g, false, fmt.Errorf("%d: %w\n%s", n, err, said.Bytes())
	}
	return g, true, nil
}

// exponent is e of cost ~ size^e, fitted by least squares of the logarithms to the sizes from a hundredth of the
// largest on; not a number below two of them.
func exponent(list []grown, cost func(grown) float64) float64 {
	var n, x, y, xx, xy float64
	for _, g := range list {
		if g.size*100 < list[len(list)-1].size {
			continue
		}
		size, c := math.Log(g.size), math.Log(cost(g))
		n, x, y, xx, xy = n+1, x+size, y+c, xx+size*size, xy+size*c
	}
	return (n*xy - x*y) / (n*xx - x*x)
}

func writeRows(path string, n int) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriterSize(file, 1<<20)
	for i := range n {
		fmt.Fprintf(w, `{"text": "Question %d: what is the sum of %d and %d, and who wrote the first book on it?"}`+"\n",
			i, i, i%97)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return file.Close()
}

// series keeps scrapes of so many series of one server, computes their statistics and writes their files.
func series(args []string) {
	fs := flag.NewFlagSet("series", flag.ExitOnError)
	n := fs.Int("n", 1000, "series")
	dir := fs.String("dir", "", "folder for the files")
	profile := fs.String("profile", "", "file for the profile of the processor time")
	fs.Parse(args)
	end, err := startProfile(*profile)
	if err == nil {
		err = recordSeries(*n, *dir)
		end()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func recordSeries(n int, dir string) error {
	const scrapes, perFamily = 3, 10
	samples := make([]prom.Sample, n)
	for i := range samples {
		// As servers with several models have it.
		if i%perFamily == 0 {
			family := &prom.Family{Name: fmt.Sprintf("vllm:family_%d", i/perFamily), Type: prom.Gauge}
			samples[i].Series = &prom.Series{Family: family}
		} else {
			samples[i].Series = &prom.Series{Family: samples[i-i%perFamily].Series.Family}
		}
		samples[i].Series.Labels = []prom.Label{{Name: "engine", Value: strconv.Itoa(i % perFamily)}}
	}
	store := servermetrics.NewStore(servermetrics.Options{})
	e := store.Endpoint("http://localhost:8000/metrics")
	for k := range scrapes {
		for i := range samples {
			samples[i].Value = float64(k*i%1000) / 3
		}
		e.Add(servermetrics.Scrape{TimestampNS: int64(1+k) * 333e6, LatencyNS: 1e6, Samples: samples})
	}
	run := export.NewRun(store, export.Info{Window: servermetrics.Window{StartNS: 1, EndNS: 2e9}})
	return export.All(context.Background(), []export.Exporter{
		export.JSON{Path: filepath.Join(dir, "series.json"), Run: run},
		export.CSV{Path: filepath.Join(dir, "series.csv"), Run: run},
	}, func(export.Exporter) {}, func(string) {})
}
