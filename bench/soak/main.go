//go:build unix

// Command soak keeps aiperf under a mixed load for hours and says whether it stays as it was: streams, unary requests
// and conversations at the same time, each against ten servers that fail in ten ways, with scrapes of their metrics
// pages, a collector that takes OpenTelemetry, and live pages that are read.
//
// Each second it samples resident memory, descriptors, threads and goroutines of each client. At the end it prints the
// slope of each with a 95 % interval, compares the requests with those in the servers' logs, and draws the samples.
//
//	go run ./bench/soak [-for 2h] [-rate 500] [-dir soak]
//
// The folder keeps samples.csv, slopes.txt, soak_*.svg, soak_*.png and the files of the runs.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

func main() {
	s := soak{}
	flag.DurationVar(&s.length, "for", 2*time.Hour, "time under load")
	flag.Float64Var(&s.rate, "rate", 500, "requests/s of all clients together")
	flag.StringVar(&s.dir, "dir", "soak", "folder for the files; what is in it stays")
	flag.StringVar(&s.aiperf, "aiperf", "", "the program, if none is to be built here; goroutines are then not counted")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := s.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

type soak struct {
	length      time.Duration
	rate        float64
	dir, aiperf string
	servers     []*server
	clients     []*client
}

func (s *soak) run(ctx context.Context) error {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	if s.aiperf == "" {
		if err := s.build(); err != nil {
			return err
		}
	}
	defer s.stopAll()
	if err := s.startServers(); err != nil {
		return err
	}
	collector := newCollector()
	defer collector.close()
	if err := s.startClients(collector.url()); err != nil {
		return err
	}
	fmt.Printf("%s at %.0f requests/s, %d clients, %d servers; folder %s\n", s.length, s.rate, len(s.clients),
		len(s.servers), s.dir)
	table, err := s.watch(ctx)
	if err != nil {
		return err
	}
	s.stopAll()
	report, err := os.Create(filepath.Join(s.dir, "slopes.txt"))
	if err != nil {
		return err
	}
	defer report.Close()
	out := io.MultiWriter(os.Stdout, report)
	failed := s.report(out, table, collector)
	if err := table.draw(s.dir); err != nil {
		return err
	}
	return failed
}

//go:embed listener.go.txt
var listener []byte

// build builds aiperf from this directory with a listener in it, by which its goroutines are counted.
func (s *soak) build() error {
	dir, err := filepath.Abs(s.dir)
	if err != nil {
		return err
	}
	s.aiperf = filepath.Join(dir, "aiperf")
	source, overlay := filepath.Join(dir, "listener.go"), filepath.Join(dir, "overlay.json")
	folder, err := filepath.Abs("cmd/aiperf")
	if err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{
		"Replace": map[string]string{filepath.Join(folder, "listener.go"): source}})
	if err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(source, listener, 0o644), os.WriteFile(overlay, text, 0o644)); err != nil {
		return err
	}
	build := exec.Command("go", "build", "-trimpath", "-overlay", overlay, "-o", s.aiperf, "./cmd/aiperf")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building aiperf: %w\n%s", err, out)
	}
	return nil
}

// watch samples the clients each second until all have ended. After an interrupt they get one too, and end early.
func (s *soak) watch(ctx context.Context) (*table, error) {
	pages, stop := context.WithCancel(context.Background())
	var readers sync.WaitGroup
	for _, c := range s.clients {
		readers.Go(func() { c.readPages(pages) })
	}
	defer readers.Wait()
	defer stop()
	t, err := newTable(filepath.Join(s.dir, "samples.csv"), s.clients)
	if err != nil {
		return nil, err
	}
	defer t.close()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			for _, c := range s.clients {
				c.cmd.Process.Signal(os.Interrupt)
			}
			ctx = context.Background()
		case <-tick.C:
			alive, err := t.sample()
			if err != nil || !alive {
				return t, err
			}
		}
	}
}
