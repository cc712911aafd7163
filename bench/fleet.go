//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// fleetRounds are the alternating runs of which medians are taken.
const fleetRounds = 5

// fleet: processor time of a request made by two agents on two cores, coordinator included, over that of one process.
// What a run of the same length with hardly any requests costs is taken off both.
func (b *bench) fleet() error {
	rate, streams := 1000, 400
	for _, load := range []struct {
		name     string
		server   []string
		args     []string
		requests int
		idle     []string
	}{
		{"unary, 1,000/s", []string{"--fast"},
			[]string{"--osl", "1", "--request-rate", strconv.Itoa(rate), "--arrival-pattern", "constant"}, rate * b.seconds,
			[]string{"--osl", "1", "--request-rate", "10", "--arrival-pattern", "constant", "--request-count",
				strconv.Itoa(10 * b.seconds)}},
		{"400 streams of 50/s, 100 tokens", []string{"--ttft", "20", "--itl", "20"},
			[]string{"--streaming", "--osl", "100", "--extra-inputs", "ignore_eos:true", "--concurrency",
				strconv.Itoa(streams)}, streams * max(1, b.seconds/2),
			[]string{"--streaming", "--osl", "100", "--extra-inputs", "ignore_eos:true", "--concurrency", "2",
				"--request-count", strconv.Itoa(2 * max(1, b.seconds/2))}},
	} {
		server, err := b.server(load.server...)
		if err != nil {
			return err
		}
		var cost, idle [2][]float64
		for range fleetRounds {
			for i, agents := range [][]string{nil, {"--agents", "2"}} {
				common := append([]string{"--isl", "32"}, agents...)
				full, err := b.profile(2, server.url, slices.Concat(common, load.args,
					[]string{"--request-count", strconv.Itoa(load.requests)})...)
				if err != nil {
					server.stop()
					return err
				}
				few, err := b.profile(2, server.url, append(common, load.idle...)...)
				if err != nil {
					server.stop()
					return err
				}
				cost[i] = append(cost[i], (full.cpu-few.cpu).Seconds()*1e6/float64(load.requests))
				idle[i] = append(idle[i], few.cpu.Seconds()*1e3)
			}
		}
		server.stop()
		row(load.name+": CPU µs/request, 2 agents : 1 process", 2, middle(cost[1]), middle(cost[0]), 0, "%.1f")
		row(load.name+": CPU ms of a run without load", 2, middle(idle[1]), middle(idle[0]), 0, "%.0f")
	}
	return nil
}

var startStamp = regexp.MustCompile(`"request_start_ns":(\d+)`)

// fleetStart: how far apart the first requests of agents that are to begin together arrive at the server, by its log,
// and were sent, by the stamps of the agents on the coordinator's clock; and the time from exec to the first of them.
// One process with as many requests at once stands beside it.
func (b *bench) fleetStart() error {
	requests := filepath.Join(b.dir, "requests.jsonl")
	server, err := b.server("--fast", "--record-requests", requests)
	if err != nil {
		return err
	}
	defer server.stop()
	for _, agents := range []int{2, 4, 8} {
		var arrived, sent, first [2][]float64
		for range fleetRounds {
			for i, more := range [][]string{nil, {"--agents", strconv.Itoa(agents)}} {
				os.Truncate(requests, 0)
				began := time.Now()
				n := strconv.Itoa(agents)
				p, err := b.profile(2, server.url, append(more, "--isl", "32", "--osl", "1", "--concurrency", n,
					"--request-count", n)...)
				if err != nil {
					return err
				}
				time.Sleep(400 * time.Millisecond) // the recorder flushes five times a second
				log, err := os.ReadFile(requests)
				if err != nil {
					return err
				}
				lines, err := os.ReadFile(filepath.Join(p.dir, "profile_export.jsonl"))
				if err != nil {
					return err
				}
				arrivals, starts := stampsIn(log, arrivalStamp), stampsIn(lines, startStamp)
				if len(arrivals) != agents || len(starts) != agents {
					return fmt.Errorf("%d arrivals and %d records of %d requests", len(arrivals), len(starts), agents)
				}
				arrived[i] = append(arrived[i], float64(arrivals[agents-1]-arrivals[0])/1e6)
				sent[i] = append(sent[i], float64(starts[agents-1]-starts[0])/1e6)
				first[i] = append(first[i], float64(arrivals[0]-began.UnixNano())/1e6)
			}
		}
		name := fmt.Sprintf("%d agents : %d at once: ms ", agents, agents)
		row(name+"first to last arrival", 2, middle(arrived[1]), middle(arrived[0]), 0, "%.2f")
		row(name+"first to last send", 2, middle(sent[1]), middle(sent[0]), 0, "%.2f")
		row(name+"from exec to first arrival", 2, middle(first[1]), middle(first[0]), 0, "%.0f")
	}
	return nil
}

var arrivalStamp = regexp.MustCompile(`"arrival_ns":(\d+)`)

// stampsIn returns the instants of a kind in a file, ascending.
func stampsIn(text []byte, kind *regexp.Regexp) (list []int64) {
	for _, m := range kind.FindAllSubmatch(bytes.TrimLeft(text, "\x00"), -1) {
		ns, _ := strconv.ParseInt(string(m[1]), 10, 64)
		list = append(list, ns)
	}
	slices.Sort(list)
	return list
}

// middle is the median.
func middle(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
