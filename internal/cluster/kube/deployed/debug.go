package deployed

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/pattern"
	"aiperf/internal/cluster/kube/client"
)

// Diagnosis is what is known about the pods of benchmarks.
type Diagnosis struct {
	pods, events, nodes [][]string
	lines               [][]string
}

// Table is a part of a diagnosis; its first row are the columns.
type Table struct {
	Title, Empty string
	Rows         [][]string
}

// Tables are the parts of the diagnosis.
func (d *Diagnosis) Tables() []Table {
	return []Table{{"Pods", "there are none", d.pods}, {"Events", "there are none", d.events},
		{"Nodes", "none can be read", d.nodes}, {"Logs", "no errors", d.lines}}
}

// maxEvents and maxLogLines bound a diagnosis.
const (
	maxEvents   = 50
	maxLogLines = 30
)

var (
	errorLine = pattern.New(`(?i)\b(error|fatal|panic|failed|refused|denied)\b`)
	// harmless are words that are in every report of a run.
	harmless = pattern.New(`\b0 failed\b`)
)

// looksWrong reports whether a line of a log looks like an error. Rows of tables, with figures in several columns, do not.
func looksWrong(line string) bool {
	return strings.Count(line, "│") <= 2 && errorLine.MatchString(harmless.ReplaceAllString(line, ""))
}

// Diagnose looks at the pods that a selector selects in a namespace, "" is all. With verbose it keeps the last lines of
// all logs, not those with errors alone.
func Diagnose(ctx context.Context, c *client.Client, namespace, selector string, verbose bool) (*Diagnosis, error) {
	d := &Diagnosis{pods: [][]string{{"POD", "STATUS", "RESTARTS", "NODE", "ISSUES"}},
		events: [][]string{{"TYPE", "REASON", "OBJECT", "MESSAGE", "COUNT"}},
		nodes:  [][]string{{"NODE", "READY", "CPU", "MEMORY", "GPU", "PRESSURE"}},
		lines:  [][]string{{"POD", "CONTAINER", "LINE"}}}
	pods, err := c.List(ctx, client.Pods, namespace, selector)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range pods {
		names = append(names, text(p, "metadata", "name"))
		d.pods = append(d.pods, podRow(p))
		d.logs(ctx, c, p, verbose)
	}
	if events, err := c.List(ctx, client.Events, namespace, ""); err == nil {
		d.addEvents(events, names)
	}
	if nodes, err := c.List(ctx, client.Nodes, "", ""); err == nil {
		for _, n := range nodes {
			d.nodes = append(d.nodes, nodeRow(n))
		}
	}
	return d, nil
}

func podRow(p client.Object) []string {
	restarts := 0
	var issues []string
	for _, s := range slices.Concat(items(p, "status", "initContainerStatuses"), items(p, "status", "containerStatuses")) {
		n, _ := integer(s, "restartCount")
		restarts += n
		name, _ := s["name"].(string)
		for _, state := range []string{"waiting", "terminated"} {
			reason := text(s, "state", state, "reason")
			if reason == "" || reason == "Completed" || reason == "ContainerCreating" || reason == "PodInitializing" {
				continue
			}
			issue := name + ": " + reason
			if m := text(s, "state", state, "message"); m != "" {
				issue += " (" + m + ")"
			} else if code, ok := integer(s, "state", state, "exitCode"); ok {
				issue += fmt.Sprintf(" (exit code %d)", code)
			}
			issues = append(issues, issue)
		}
	}
	for _, x := range items(p, "status", "conditions") {
		if x["type"] == "PodScheduled" && x["status"] == "False" {
			message, _ := x["message"].(string)
			issues = append(issues, "not scheduled: "+message)
		}
	}
	return []string{text(p, "metadata", "name"), cmp.Or(text(p, "status", "phase"), none), strconv.Itoa(restarts),
		cmp.Or(text(p, "spec", "nodeName"), none), cmp.Or(strings.Join(issues, "; "), none)}
}

func nodeRow(n client.Object) []string {
	ready, pressure := none, []string{}
	for _, x := range items(n, "status", "conditions") {
		kind, _ := x["type"].(string)
		status, _ := x["status"].(string)
		switch {
		case kind == "Ready":
			ready = status
		case strings.HasSuffix(kind, "Pressure") && status == "True":
			pressure = append(pressure, kind)
		}
	}
	return []string{text(n, "metadata", "name"), ready, cmp.Or(text(n, "status", "allocatable", "cpu"), none),
		cmp.Or(text(n, "status", "allocatable", "memory"), none),
		cmp.Or(text(n, "status", "allocatable", "nvidia.com/gpu"), none),
		cmp.Or(strings.Join(pressure, ", "), none)}
}

// addEvents adds the events about pods, the newest first.
func (d *Diagnosis) addEvents(events []client.Object, pods []string) {
	slices.SortFunc(events, func(a, b client.Object) int {
		return cmp.Compare(text(b, "lastTimestamp"), text(a, "lastTimestamp"))
	})
	for _, e := range events {
		name := text(e, "involvedObject", "name")
		if !slices.ContainsFunc(pods, func(p string) bool { return p == name || strings.HasPrefix(p, name+"-") }) {
			continue
		}
		if len(d.events) > maxEvents {
			return
		}
		count, _ := integer(e, "count")
		d.events = append(d.events, []string{text(e, "type"), text(e, "reason"),
			text(e, "involvedObject", "kind") + "/" + name, strings.Join(strings.Fields(text(e, "message")), " "),
			strconv.Itoa(max(1, count))})
	}
}

// logs adds the last lines of the logs of a pod that look like errors.
func (d *Diagnosis) logs(ctx context.Context, c *client.Client, p client.Object, verbose bool) {
	for _, container := range containerNames(p, "") {
		in, err := c.Logs(ctx, text(p, "metadata", "namespace"), text(p, "metadata", "name"),
			client.LogOptions{Container: container, Tail: 200})
		if err != nil {
			continue // it has not started
		}
		data, _ := io.ReadAll(io.LimitReader(in, 1<<20))
		in.Close()
		var lines []string
		for line := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n") {
			if line != "" && (verbose || looksWrong(line)) {
				lines = append(lines, line)
			}
		}
		for _, line := range lines[max(0, len(lines)-maxLogLines):] {
			d.lines = append(d.lines, []string{text(p, "metadata", "name"), container, line})
		}
	}
}
