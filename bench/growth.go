//go:build unix

package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"aiperf/internal/watch/prom"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/servermetrics/export"
)

// grown is what one size of something cost: processor time of a whole process and its largest resident memory.
type grown struct {
	size float64
	usage
}

// growth: time and memory over the size of what a run has, each size in a process of its own. An exponent of 1 is
// linear growth; below it are the costs that every run has.
func (b *bench) growth() error {
	server, err := b.server("--fast")
	if err != nil {
		return err
	}
	defer server.stop()
	profile := func(args ...string) (usage, error) {
		p, err := b.profile(2, server.url, append([]string{"--isl", "32", "--osl", "1", "--concurrency", "16"}, args...)...)
		if err != nil {
			return usage{}, err
		}
		return p.usage, nil
	}
	for _, kind := range []struct {
		name  string
		sizes []int
		cost  func(n int) (usage, error)
	}{
		{"requests", []int{1e4, 1e5, 1e6}, func(n int) (usage, error) {
			return profile("--request-count", strconv.Itoa(n))
		}},
		{"events of streams of 100", []int{1e5, 1e6, 1e7}, func(n int) (usage, error) {
			dir := filepath.Join(b.dir, "grown")
			defer os.RemoveAll(dir)
			_, u, err := b.feed(2, "-records", strconv.Itoa(n/100), "-tokens", "100", "-dir", dir)
			return u, err
		}},
		{"rows of a data set", []int{1e3, 1e4, 1e5, 1e6}, func(n int) (usage, error) {
			path := filepath.Join(b.dir, "rows.jsonl")
			defer os.Remove(path)
			if err := writeRows(path, n); err != nil {
				return usage{}, err
			}
			return profile("--request-count", "20", "--input-file", path, "--custom-dataset-type", "single_turn")
		}},
		{"series of servers, 3 scrapes", []int{1e2, 1e3, 1e4, 1e5, 1e6}, func(n int) (usage, error) {
			cmd := exec.Command(b.self, "series", "-n", strconv.Itoa(n), "-dir", b.dir)
			cmd.Stderr = os.Stderr
			err := cmd.Run()
			return usageOf(cmd.ProcessState), err
		}},
		{"cells of a sweep", []int{10, 100, 1000}, func(n int) (usage, error) {
			rates := make([]string, n)
			for i := range rates {
				rates[i] = strconv.Itoa(1000 + i)
			}
			return b.swept(server.url, "--request-rate", strings.Join(rates, ","), "--request-count", "3", "--isl", "32",
				"--osl", "1")
		}},
	} {
		var list []grown
		for _, n := range kind.sizes {
			u, err := kind.cost(n)
			if err != nil {
				return fmt.Errorf("%s, %d: %w", kind.name, n, err)
			}
			list = append(list, grown{float64(n), u})
			fmt.Printf("%-30s %10d %10.2f s %10.0f MB\n", kind.name, n, u.cpu.Seconds(), u.rssKB/1024)
		}
		last := list[len(list)-2:]
		fmt.Printf("%-30s %10s %10.2f   %10.2f\n", kind.name, "exponent", exponent(last, grown.seconds),
			exponent(last, grown.megabytes))
	}
	return nil
}

func (g grown) seconds() float64   { return g.cpu.Seconds() }
func (g grown) megabytes() float64 { return g.rssKB / 1024 }

// exponent is e of cost ~ size^e between two sizes.
func exponent(list []grown, cost func(grown) float64) float64 {
	return math.Log(cost(list[1])/cost(list[0])) / math.Log(list[1].size/list[0].size)
}

// swept is profile for a sweep, which has no summary of its own.
func (b *bench) swept(url string, args ...string) (usage, error) {
	dir := filepath.Join(b.dir, "swept")
	defer os.RemoveAll(dir)
	cmd := exec.Command(b.aiperf, append([]string{"profile", "--model", "mock-model", "--tokenizer", "builtin", "--url",
		url, "--ui", "none", "--no-server-metrics", "--no-gpu-telemetry", "--artifact-dir", dir}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return usage{}, fmt.Errorf("aiperf profile: %w\n%s", err, out)
	}
	return usageOf(cmd.ProcessState), nil
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
