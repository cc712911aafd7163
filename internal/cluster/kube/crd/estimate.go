package crd

import (
	"fmt"
	"strings"

	"aiperf/internal/config"
)

// Estimate is how much memory the pods of a job take, in mebibytes, roughly: the program, and what requests and
// conversations add.
type Estimate struct {
	Topology
	// Requests is 0 where the number is not known; Concurrency where it is not bounded.
	Requests      int64
	Concurrency   int
	Conversations int
	Duration      string
	Controller    []Component
	Worker        []Component
	// ControllerLimit and WorkerLimit are the memory that the pods ask for.
	ControllerLimit, WorkerLimit int
	Warnings                     []string
}

// Component is a part of a pod.
type Component struct {
	Name         string
	Steady, Peak int
}

// Rough sizes in mebibytes and bytes, above what was seen: the program without a run, a record in the columns of the engine, a
// conversation of the data set for each token, a request in flight.
const (
	programMiB       = 48
	recordBytes      = 120
	tokenBytes       = 6
	inFlightBytes    = 96 << 10
	hubMiB           = 40
	sidecarMiB       = 24
	operatorMiB      = 64
	assumedRecords   = 100_000
	nearlyFull       = 0.75
	defaultTokens    = 700
	mebibyte         = 1 << 20
	headroomDecimals = 1
)

// EstimateOf estimates the memory of a job.
func EstimateOf(spec *Spec, r *config.Run) (*Estimate, error) {
	t, err := TopologyOf(spec, r)
	if err != nil {
		return nil, err
	}
	if _, err := SharesOf(t); err != nil {
		return nil, err
	}
	e := &Estimate{Topology: t, Concurrency: r.InFlight(), ControllerLimit: controllerMemory + sidecarMemory,
		WorkerLimit: workerMemory, Conversations: conversations(r), Duration: "until the requests are done"}
	for _, p := range r.Phases {
		if p.Requests != nil {
			e.Requests += *p.Requests
		}
		if p.Duration != nil {
			e.Duration = p.Duration.String()
		}
	}
	records := e.Requests
	if records == 0 {
		records = assumedRecords
		e.Warnings = append(e.Warnings, fmt.Sprintf("The number of requests is not known; %d are assumed.",
			assumedRecords))
	}
	data := mib(int64(e.Conversations) * defaultTokens * tokenBytes)
	facts := mib(records * recordBytes)
	e.Controller = []Component{{"Coordinator", programMiB + hubMiB, programMiB + hubMiB},
		{"Data set", data, 2 * data}, {"Records", facts, 2 * facts}, {"Results Sidecar", sidecarMiB, sidecarMiB}}
	flight := mib(int64(max(1, e.Concurrency/t.Pods)) * inFlightBytes)
	e.Worker = []Component{{"Agent", programMiB + hubMiB, programMiB + hubMiB}, {"Data set", data, data},
		{fmt.Sprintf("Requests in flight (%d workers)", t.PerPod), flight, 2 * flight}}
	for _, pod := range []struct {
		name  string
		parts []Component
		limit int
	}{{"controller", e.Controller, e.ControllerLimit}, {"worker", e.Worker, e.WorkerLimit}} {
		if _, peak := sum(pod.parts); float64(peak) > nearlyFull*float64(pod.limit) {
			e.Warnings = append(e.Warnings, fmt.Sprintf("The %s pod takes %d of the %d MiB that it asks for; raise it with "+
				"podTemplate or ask for fewer conversations or workers.", pod.name, peak, pod.limit))
		}
	}
	return e, nil
}

func conversations(r *config.Run) int {
	return r.Dataset.Entries
}

func mib(bytes int64) int { return int((bytes + mebibyte - 1) / mebibyte) }

func sum(parts []Component) (steady, peak int) {
	for _, c := range parts {
		steady += c.Steady
		peak += c.Peak
	}
	return steady, peak
}

// Lines are the estimate as a text.
func (e *Estimate) Lines() []string {
	const width = 68
	rule := strings.Repeat("-", width)
	lines := []string{"Memory Estimation for AIPerf Kubernetes Deployment", strings.Repeat("=", width), "",
		fmt.Sprintf("Topology: 1 controller + %d worker pod(s) (%d workers/pod)", e.Pods, e.PerPod),
		fmt.Sprintf("Total requests: %s | Max concurrency: %s | Duration: %s", estimated(e.Requests),
			estimated(int64(e.Concurrency)), e.Duration), ""}
	pod := func(title string, parts []Component, limit int) {
		lines = append(lines, title, fmt.Sprintf("  %-42s %7s %7s", "Component", "Steady", "Peak"), rule)
		for _, c := range parts {
			lines = append(lines, fmt.Sprintf("  %-42s %7d %7d", c.Name, c.Steady, c.Peak))
		}
		steady, peak := sum(parts)
		lines = append(lines, rule, fmt.Sprintf("  %-42s %7d %7d  (limit: %d)", "TOTAL", steady, peak, limit),
			fmt.Sprintf("  %-42s %14.*f%%", "Headroom", headroomDecimals, 100*(1-float64(peak)/float64(limit))), "")
	}
	pod("Controller Pod", e.Controller, e.ControllerLimit)
	pod(fmt.Sprintf("Worker Pod (x%d)", e.Pods), e.Worker, e.WorkerLimit)
	_, controller := sum(e.Controller)
	_, worker := sum(e.Worker)
	total := controller + worker*e.Pods + operatorMiB
	lines = append(lines, "Cluster Total", rule, fmt.Sprintf("  %-42s %7d MiB", "Controller", controller),
		fmt.Sprintf("  %-42s %7d MiB", fmt.Sprintf("Workers (%d pods)", e.Pods), worker*e.Pods),
		fmt.Sprintf("  %-42s %7d MiB", "Operator", operatorMiB), rule, fmt.Sprintf("  %-42s %7d MiB", "TOTAL", total))
	if len(e.Warnings) > 0 {
		lines = append(lines, "", "Warnings:")
		for _, w := range e.Warnings {
			lines = append(lines, "  [!] "+w)
		}
	}
	return lines
}

func estimated(n int64) string {
	if n == 0 {
		return "not known"
	}
	return fmt.Sprintf("~%d", n)
}
