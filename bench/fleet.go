//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"
)

// fleetRounds are the alternating runs of which medians are taken.
const fleetRounds = 5

// fleet: processor time of a request made by two agents on two cores, coordinator included, over that of one process and
// over that of two processes that know nothing of each other, each with half of the load: what two processes cost more
// than one is no cost of the fleet. What a run of the same length with hardly any requests costs is taken off all.
func (b *bench) fleet() error {
	for _, load := range []struct {
		name         string
		server, args []string
		limit        string // has the value full, or few for hardly any load
		full, few    int
		times        int // as many requests as that
	}{
		{"unary, 1,000/s", []string{"--fast"}, []string{"--osl", "1", "--arrival-pattern", "constant"},
			"--request-rate", 1000, 10, b.seconds},
		{"400 streams of 50/s, 100 tokens", []string{"--ttft", "20", "--itl", "20"},
			[]string{"--streaming", "--osl", "100", "--extra-inputs", "ignore_eos:true"},
			"--concurrency", 400, 2, max(1, b.seconds/2)},
	} {
		server, err := b.server(load.server...)
		if err != nil {
			return err
		}
		ways := []struct {
			processes, procs int
			more             []string
		}{{1, 2, nil}, {2, 1, nil}, {1, 2, []string{"--agents", "2"}}}
		cost, idle := make([][]float64, len(ways)), make([][]float64, len(ways))
		for range fleetRounds {
			for i, way := range ways {
				var cpu [2]time.Duration
				for k, limit := range []int{load.full, load.few} {
					part := limit / way.processes
					args := slices.Concat([]string{"--isl", "32", load.limit, strconv.Itoa(part), "--request-count",
						strconv.Itoa(part * load.times)}, load.args, way.more)
					if cpu[k], err = b.atOnce(way.processes, way.procs, server.url, args); err != nil {
						server.stop()
						return err
					}
				}
				cost[i] = append(cost[i], (cpu[0]-cpu[1]).Seconds()*1e6/float64(load.full*load.times))
				idle[i] = append(idle[i], cpu[1].Seconds()*1e3)
			}
		}
		server.stop()
		for i, other := range []string{"1 process", "2 processes"} {
			row(load.name+": CPU µs/request, 2 agents : "+other, 2, middle(cost[2]), middle(cost[i]), 0, "%.1f")
			row(load.name+": CPU ms of a run without load", 2, middle(idle[2]), middle(idle[i]), 0, "%.0f")
		}
	}
	return nil
}

// atOnce returns the processor time of so many processes that run at the same time.
func (b *bench) atOnce(processes, procs int, url string, args []string) (cpu time.Duration, err error) {
	used, errs := make([]time.Duration, processes), make([]error, processes)
	var all sync.WaitGroup
	for i := range processes {
		all.Go(func() {
			own := *b
			own.dir = filepath.Join(b.dir, fmt.Sprint("process", i))
			p, err := own.profile(procs, url, args...)
			if errs[i] = err; err == nil {
				used[i] = p.cpu
			}
		})
	}
	all.Wait()
	for _, d := range used {
		cpu += d
	}
	return cpu, errors.Join(errs...)
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
