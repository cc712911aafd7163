package crd

import (
	"cmp"
	"fmt"
	"slices"

	"aiperf/internal/config"
)

// Topology is how many workers a job has, and in how many pods.
type Topology struct {
	// Workers are logical workers; each of the Pods has PerPod of them.
	Workers, Pods, PerPod int
	// Processors make records, in all pods together.
	Processors int
}

// processorFactor is the number of workers for each goroutine that makes records: in Kubernetes every worker has its
// own; a run on one host has one for four.
const processorFactor = 1

// TopologyOf returns the topology of a job. A number of workers that the specification names is taken as it is; one that
// follows from the concurrency is rounded up to full pods.
func TopologyOf(spec *Spec, r *config.Run) (Topology, error) {
	perPod := WorkersPerPod
	runtime, _ := spec.Benchmark["runtime"].(Object)
	if n, ok := wholeNumber(runtime["workersPerPod"]); ok {
		if n < 1 {
			return Topology{}, fmt.Errorf("runtime.workersPerPod is %d; it must be at least 1", n)
		}
		perPod = n
	}
	connections := DefaultConnections
	if spec.ConnectionsPerWorker != nil {
		connections = *spec.ConnectionsPerWorker
	}
	t := Topology{}
	if r.Workers.Max != nil {
		t.Workers = *r.Workers.Max
		if t.Workers > perPod && t.Workers%perPod != 0 {
			return t, fmt.Errorf("%d workers do not fill pods of %d, and all pods of a job are alike: ask for a multiple "+
				"of %d, such as %d or %d, or set runtime.workersPerPod to a number that divides %d", t.Workers, perPod,
				perPod, t.Workers/perPod*perPod, (t.Workers/perPod+1)*perPod, t.Workers)
		}
	} else {
		t.Workers = max(1, ceil(r.InFlight(), connections))
		if r.Workers.Min != nil {
			t.Workers = max(t.Workers, *r.Workers.Min)
		}
		if t.Workers > perPod {
			t.Workers = ceil(t.Workers, perPod) * perPod
		}
	}
	t.PerPod = min(t.Workers, perPod)
	t.Pods = ceil(t.Workers, perPod)
	t.Processors = t.Pods * max(1, t.PerPod/processorFactor)
	if n := r.Workers.RecordProcessors; n != nil {
		if *n%t.Pods != 0 {
			return t, fmt.Errorf("%d record processors cannot be divided among %d pods: ask for a multiple of %d", *n,
				t.Pods, t.Pods)
		}
		t.Processors = *n
	}
	return t, nil
}

func ceil(n, by int) int { return (n + by - 1) / by }

func wholeNumber(v any) (int, bool) {
	switch n := v.(type) {
	case int:
		return n, true
	case int64:
		return int(n), true
	case float64:
		return int(n), n == float64(int(n))
	}
	return 0, false
}

// Budgets of pods: millicores and mebibytes.
const (
	workerCPU, workerMemory         = 3350, 6144
	controllerCPU, controllerMemory = 425, 1600
	sidecarCPU, sidecarMemory       = 25, 192
	minWorkerMemory                 = 162
)

// Shares is what the parts of a worker pod get of its budget.
type Shares struct {
	// Agent keeps the connection to the coordinator, each of Workers sends, each of Processors makes records.
	Agent      Share
	Workers    []Share
	Processors []Share
}

// Share is millicores and mebibytes.
type Share struct{ CPU, Memory int }

// SharesOf divides the budget of a worker pod among its parts.
func SharesOf(t Topology) (Shares, error) {
	processors := t.Processors / t.Pods
	cpu, memory := []int{100}, []int{128}
	for range t.PerPod {
		cpu, memory = append(cpu, 131), append(memory, 128)
	}
	for range processors {
		cpu, memory = append(cpu, 389), append(memory, 256)
	}
	c, m := Split(workerCPU, cpu), Split(workerMemory, memory)
	var s Shares
	for i := range c {
		share := Share{c[i], m[i]}
		switch {
		case i == 0:
			s.Agent = share
		case i <= t.PerPod:
			if share.Memory < minWorkerMemory {
				return s, fmt.Errorf("%d workers and %d record processors leave each worker %d MiB of the %d MiB of a pod; "+
					"it needs %d: ask for fewer workers per pod", t.PerPod, processors, share.Memory, workerMemory,
					minWorkerMemory)
			}
			s.Workers = append(s.Workers, share)
		default:
			s.Processors = append(s.Processors, share)
		}
	}
	return s, nil
}

// Split divides a total by weights into whole numbers that add up to it: each gets 1, then its share of the rest rounded
// down, and those with the largest remainders one more.
func Split(total int, weights []int) []int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	rest := max(0, total-len(weights))
	out, order, left := make([]int, len(weights)), make([]int, len(weights)), rest
	for i, w := range weights {
		share := rest * w / sum
		out[i], order[i] = 1+share, i
		left -= share
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(rest*weights[b]%sum, rest*weights[a]%sum)
	})
	for _, i := range order[:left] {
		out[i]++
	}
	return out
}
