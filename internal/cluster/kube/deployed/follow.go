package deployed

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/coder/websocket"

	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
)

// Event is a line about a benchmark that is followed.
type Event struct {
	Text string
	// Done is set at the end of the benchmark, Failed where it was none.
	Done, Failed bool
}

// pollInterval is the time between two looks at a resource.
const pollInterval = 2 * time.Second

// Await waits until a benchmark ends, and tells what changes of its status.
func (b *Benchmark) Await(ctx context.Context, c *client.Client, tell func(Event)) error {
	last := ""
	for {
		now, err := Find(ctx, c, b.Namespace, b.Name, b.Kind, -1, -1)
		if err != nil {
			return err
		}
		b.Object, b.ended = now.Object, now.ended
		phase := b.Phase()
		line := phase
		if sub := text(b.Object, "status", "subPhase"); sub != "" {
			line += " (" + sub + ")"
		}
		for _, part := range []struct{ name, value string }{{"workers", b.workers()}, {"progress", b.progress()},
			{"throughput", b.figure("%.2f req/s", "request_throughput", "avg")},
			{"latency", b.figure("%.2f ms", "request_latency", "p99")}} {
			if part.value != none {
				line += "  " + part.name + " " + part.value
			}
		}
		if b.settled() {
			if r := b.Reason(); r != "" {
				line += ": " + r
			}
			tell(Event{Text: line, Done: true, Failed: phase == crd.Failed || phase == crd.Cancelled ||
				phase == crd.PartiallyFailed})
			return nil
		}
		if crd.Terminal(phase) {
			line += "; the operator stores the results"
		}
		if line != last {
			tell(Event{Text: line})
			last = line
		}
		if err := sleep(ctx, pollInterval); err != nil {
			return err
		}
	}
}

// look finds out whether the coordinator of a benchmark without the operator has ended: its pod stays for a while after
// it, so that results can be fetched.
func (b *Benchmark) look(ctx context.Context, c *client.Client) error {
	if b.ended = ""; b.Phase() != crd.Running {
		return nil
	}
	pods, err := b.Pods(ctx, c)
	if err != nil {
		return err
	}
	for _, p := range pods {
		for _, s := range items(p, "status", "containerStatuses") {
			code, over := integer(s, "state", "terminated", "exitCode")
			if over && s["name"] == crd.ContainerController {
				if b.ended = crd.Completed; code != 0 {
					b.ended = crd.Failed
				}
			}
		}
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// WaitForController waits until the controller pod of a benchmark runs, or the benchmark has ended; pod is "" then.
func (b *Benchmark) WaitForController(ctx context.Context, c *client.Client) (pod string, err error) {
	for {
		if pod, err = b.Controller(ctx, c); err != nil || pod != "" {
			return pod, err
		}
		now, err := Find(ctx, c, b.Namespace, b.Name, b.Kind, -1, -1)
		if err != nil {
			return "", err
		}
		b.Object, b.ended = now.Object, now.ended
		if crd.Terminal(b.Phase()) {
			return "", nil
		}
		if err := sleep(ctx, pollInterval); err != nil {
			return "", err
		}
	}
}

// Stream follows a benchmark by the WebSocket of its controller until it is complete.
func (b *Benchmark) Stream(ctx context.Context, c *client.Client, pod string, port int, tell func(Event)) error {
	f, err := c.Forward(ctx, b.Namespace, pod, crd.PortAPI, port)
	if err != nil {
		return err
	}
	defer f.Close()
	socket, _, err := websocket.Dial(ctx, f.URL("/ws"), nil)
	if err != nil {
		return fmt.Errorf("the controller of %s does not answer: %w", b.Name, err)
	}
	defer socket.CloseNow()
	socket.SetReadLimit(maxDocument)
	types := []string{"credit_phase_progress", "credit_phase_complete", "realtime_metrics", "system_state_changed",
		"benchmark_complete"}
	subscribe, err := json.Marshal(map[string]any{"type": "subscribe", "message_types": types})
	if err != nil {
		return err
	}
	if err := socket.Write(ctx, websocket.MessageText, subscribe); err != nil {
		return err
	}
	figures, last := "", ""
	for {
		_, data, err := socket.Read(ctx)
		if websocket.CloseStatus(err) != -1 {
			return fmt.Errorf("the controller of %s has ended", b.Name)
		}
		if err != nil {
			return fmt.Errorf("the connection to the controller of %s ended: %w", b.Name, err)
		}
		var m struct {
			Type      string `json:"message_type"`
			Stats     client.Object
			State     string
			Cancelled bool `json:"was_cancelled"`
			Metrics   []struct {
				Tag      string
				Avg, P99 *float64
			}
		}
		if json.Unmarshal(data, &m) != nil {
			continue
		}
		line := ""
		switch m.Type {
		case "realtime_metrics":
			figures = ""
			for _, x := range m.Metrics {
				switch {
				case x.Tag == "request_throughput" && x.Avg != nil:
					figures += fmt.Sprintf("  throughput %.2f req/s", *x.Avg)
				case x.Tag == "request_latency" && x.P99 != nil:
					figures += fmt.Sprintf("  latency p99 %.2f ms", *x.P99)
				}
			}
			continue
		case "credit_phase_progress", "credit_phase_complete":
			line = phaseLine(m.Stats) + figures
		case "system_state_changed":
			line = m.State
		case "benchmark_complete":
			if m.Cancelled {
				tell(Event{Text: crd.Cancelled, Done: true, Failed: true})
			} else {
				tell(Event{Text: crd.Completed, Done: true})
			}
			return nil
		}
		if line != "" && line != last {
			tell(Event{Text: line})
			last = line
		}
	}
}

// phaseLine says where a phase of the load stands.
func phaseLine(stats client.Object) string {
	name := text(stats, "phase_name")
	if name == "" {
		name = text(stats, "phase")
	}
	done, _ := integer(stats, "requests_completed")
	line := fmt.Sprintf("%s  %d", name, done)
	for _, key := range []string{"total_expected_requests", "requests_total"} {
		if total, ok := integer(stats, key); ok && total > 0 {
			line += fmt.Sprintf("/%d", total)
			break
		}
	}
	line += " requests"
	if n, ok := integer(stats, "request_errors"); ok && n > 0 {
		line += fmt.Sprintf(" (%d failed)", n)
	}
	return line
}
