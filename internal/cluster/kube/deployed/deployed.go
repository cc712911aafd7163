// Package deployed is the benchmarks of a cluster as people name and see them: finding, listing, creating, cancelling
// and deleting them, their pods and logs, their results.
//
// A benchmark is an AIPerfJob, an AIPerfSweep, or, without the operator, the objects of [crd.Build]. The package
// must never know a terminal.
//
// It also checks before a benchmark whether a cluster can run it: each check passes, warns, fails, is skipped
// where this account may not look, or informs.
package deployed

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
)

// The kinds of our resources.
var (
	JobKind   = client.Kind{Group: crd.Group, Version: crd.Version, Resource: crd.Jobs}
	SweepKind = client.Kind{Group: crd.Group, Version: crd.Version, Resource: crd.Sweeps}
)

// Benchmark is one of a cluster.
type Benchmark struct {
	Name, Namespace string
	// Kind is crd.JobKind or crd.SweepKind; "" without the operator.
	Kind string
	// Object is the resource, without the operator the engine: a JobSet or the Job of the controller.
	Object client.Object
	// ended is the phase that the coordinator of a benchmark without the operator has reached while its pod stays.
	ended string
}

// Direct reports whether the benchmark runs without the operator.
func (b *Benchmark) Direct() bool { return b.Kind == "" }

// kind is the API's kind of the benchmark's resource.
func (b *Benchmark) kind() client.Kind {
	if b.Kind == crd.SweepKind {
		return SweepKind
	}
	return JobKind
}

// NotFoundError is a benchmark that does not exist.
type NotFoundError struct{ Name, Namespace string }

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("there is no benchmark %s in the namespace %s; aiperf kube list shows those that exist", e.Name,
		e.Namespace)
}

// AmbiguousError is a name that a job and a sweep share.
type AmbiguousError struct{ Name string }

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%s is the name of an AIPerfJob and of an AIPerfSweep: give --kind job or --kind sweep", e.Name)
}

// Find finds a benchmark by name; kind is "" for any. With a variation, from 0, the name is that of a sweep, and its
// job is found; a trial below 0 is none.
func Find(ctx context.Context, c *client.Client, namespace, name, kind string, variation, trial int) (*Benchmark,
	error) {
	if variation >= 0 {
		return findCell(ctx, c, namespace, name, variation, trial)
	}
	var found []*Benchmark
	for _, k := range []string{crd.JobKind, crd.SweepKind} {
		if kind != "" && kind != k {
			continue
		}
		b := &Benchmark{Name: name, Namespace: namespace, Kind: k}
		var err error
		b.Object, err = c.Get(ctx, b.kind(), namespace, name)
		switch {
		case err == nil:
			found = append(found, b)
		case !client.IsNotFound(err):
			return nil, err
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, &AmbiguousError{name}
	case kind == crd.SweepKind:
		return nil, &NotFoundError{name, namespace}
	}
	return findDirect(ctx, c, namespace, name)
}

// findCell finds the job of a variation: with the number of the trial, or the only one without.
func findCell(ctx context.Context, c *client.Client, namespace, sweep string, variation, trial int) (*Benchmark, error) {
	names := []string{crd.ChildName(sweep, variation, max(trial, 0), true)}
	if trial < 0 {
		names = append([]string{crd.ChildName(sweep, variation, 0, false)}, names...)
	}
	for _, name := range names {
		o, err := c.Get(ctx, JobKind, namespace, name)
		if err == nil {
			return &Benchmark{Name: name, Namespace: namespace, Kind: crd.JobKind, Object: o}, nil
		}
		if !client.IsNotFound(err) {
			return nil, err
		}
	}
	return nil, &NotFoundError{names[0], namespace}
}

// findDirect finds the engine of a benchmark without the operator.
func findDirect(ctx context.Context, c *client.Client, namespace, name string) (*Benchmark, error) {
	for _, e := range []struct {
		kind client.Kind
		name string
	}{{client.JobSets, crd.EngineName(name)}, {client.Jobs, crd.ControllerJob(name)}} {
		o, err := c.Get(ctx, e.kind, namespace, e.name)
		if err == nil && text(o, "metadata", "labels", crd.LabelApp) == crd.AppName {
			b := &Benchmark{Name: name, Namespace: namespace, Object: o}
			return b, b.look(ctx, c)
		}
		if err != nil && !client.IsNotFound(err) {
			return nil, err
		}
	}
	return nil, &NotFoundError{name, namespace}
}

// Phase is the phase of the benchmark; an unknown one is Pending.
func (b *Benchmark) Phase() string {
	if b.Direct() {
		return cmp.Or(b.ended, enginePhase(b.Object))
	}
	phase := text(b.Object, "status", "phase")
	if known := append(crd.JobPhases(), crd.SweepPhases()...); !slices.Contains(known, phase) {
		return crd.Pending
	}
	return phase
}

// enginePhase is the phase that the state of an engine amounts to.
func enginePhase(o client.Object) string {
	if kind, _ := o["kind"].(string); kind == "JobSet" {
		switch text(o, "status", "terminalState") {
		case "Completed":
			return crd.Completed
		case "Failed":
			return crd.Failed
		}
	}
	for _, x := range items(o, "status", "conditions") {
		if x["status"] != "True" {
			continue
		}
		switch x["type"] {
		case "Complete", "Completed":
			return crd.Completed
		case "Failed":
			return crd.Failed
		}
	}
	spec, _ := o["spec"].(client.Object)
	if suspended, _ := spec["suspend"].(bool); suspended {
		return crd.Queued
	}
	if n, ok := integer(o, "status", "active"); ok && n > 0 {
		return crd.Running
	}
	for _, r := range items(o, "status", "replicatedJobsStatus") {
		if n, _ := integer(r, "active"); n > 0 {
			return crd.Running
		}
	}
	return crd.Pending
}

// Reason is why a benchmark failed; "" if it did not, or nobody says.
func (b *Benchmark) Reason() string {
	if e := text(b.Object, "status", "error"); e != "" {
		return e
	}
	for _, x := range items(b.Object, "status", "conditions") {
		if x["type"] == "Failed" && x["status"] == "True" {
			message, _ := x["message"].(string)
			return message
		}
	}
	return ""
}

// Create creates the objects of a benchmark in their order; those of the manifest get the engine as their owner, so
// that they go with it. Objects of the same name that nobody uses any more are replaced.
func Create(ctx context.Context, c *client.Client, objects []client.Object) error {
	var made []client.Object
	for _, o := range objects {
		k, err := client.KindOf(o)
		if err != nil {
			return err
		}
		namespace, name := text(o, "metadata", "namespace"), text(o, "metadata", "name")
		out, err := c.Create(ctx, k, namespace, o)
		if client.IsExists(err) && k != client.Jobs && k != client.JobSets && k != JobKind && k != SweepKind {
			if err = c.Delete(ctx, k, namespace, name); err == nil || client.IsNotFound(err) {
				out, err = c.Create(ctx, k, namespace, o)
			}
		}
		if err != nil {
			return fmt.Errorf("%s %s cannot be created: %w", o["kind"], name, err)
		}
		made = append(made, out)
	}
	return adopt(ctx, c, made)
}

// adopt makes the engine the owner of the other objects.
func adopt(ctx context.Context, c *client.Client, made []client.Object) error {
	at := slices.IndexFunc(made, func(o client.Object) bool { return o["kind"] == "JobSet" || o["kind"] == "Job" })
	if at < 0 || len(made) < 2 {
		return nil
	}
	engine := made[at]
	owner := crd.OwnerReference(crd.Owner{APIVersion: engine["apiVersion"].(string), Kind: engine["kind"].(string),
		Name: text(engine, "metadata", "name"), UID: text(engine, "metadata", "uid")})
	for i, o := range made {
		if i == at {
			continue
		}
		k, err := client.KindOf(o)
		if err != nil {
			return err
		}
		_, err = c.Merge(ctx, k, text(o, "metadata", "namespace"), text(o, "metadata", "name"),
			client.Object{"metadata": client.Object{"ownerReferences": []any{owner}}})
		if err != nil {
			return fmt.Errorf("%s %s cannot be tied to its benchmark: %w", o["kind"], text(o, "metadata", "name"), err)
		}
	}
	return nil
}

// Cancel asks for the end of a benchmark; done is false where it has ended already, which nothing changes.
func (b *Benchmark) Cancel(ctx context.Context, c *client.Client) (done bool, err error) {
	if crd.Terminal(b.Phase()) {
		return false, nil
	}
	if b.Direct() {
		return true, b.Delete(ctx, c)
	}
	_, err = c.Merge(ctx, b.kind(), b.Namespace, b.Name, client.Object{"spec": client.Object{"cancel": true}})
	return err == nil, err
}

// Delete deletes a benchmark; the operator's objects go with their resource.
func (b *Benchmark) Delete(ctx context.Context, c *client.Client) error {
	if !b.Direct() {
		return c.Delete(ctx, b.kind(), b.Namespace, b.Name)
	}
	var failed []error
	for _, k := range []client.Kind{client.JobSets, client.Jobs, client.Services, client.NetworkPolicies,
		client.Secrets, client.ConfigMaps, client.RoleBindings, client.Roles} {
		list, err := c.List(ctx, k, b.Namespace, crd.JobSelector(b.Name))
		if err != nil {
			if !client.IsNotFound(err) {
				failed = append(failed, err)
			}
			continue
		}
		for _, o := range list {
			err := c.Delete(ctx, k, b.Namespace, text(o, "metadata", "name"))
			if err != nil && !client.IsNotFound(err) {
				failed = append(failed, err)
			}
		}
	}
	return errors.Join(failed...)
}

// Last is the benchmark that was started last from here.
type Last struct {
	JobID     string `json:"job_id"`
	Namespace string `json:"namespace"`
	Name      string `json:"name,omitempty"`
	// Kind is "" without the operator, and in old files.
	Kind string `json:"kind,omitempty"`
}

// lastPath is the file that remembers it.
func lastPath(env func(string) (string, bool)) (string, error) {
	home, ok := env("HOME")
	if !ok || home == "" {
		var err error
		if home, err = os.UserHomeDir(); err != nil {
			return "", fmt.Errorf("the home directory is not known: %w", err)
		}
	}
	return filepath.Join(home, ".aiperf", "last_kube_benchmark.json"), nil
}

// ReadLast reads which benchmark was started last.
func ReadLast(env func(string) (string, bool)) (*Last, error) {
	path, err := lastPath(env)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no benchmark was started from here: name one, as aiperf kube list shows it")
	}
	if err != nil {
		return nil, err
	}
	var l Last
	if err := json.Unmarshal(data, &l); err != nil || l.JobID == "" {
		return nil, fmt.Errorf("%s does not name a benchmark: name one, or remove the file", path)
	}
	return &l, nil
}

// Write remembers the benchmark.
func (l *Last) Write(env func(string) (string, bool)) error {
	path, err := lastPath(env)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	data, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	return artifact.WriteFile(path, append(data, '\n'))
}

// Created is when a resource was made.
func Created(o client.Object) time.Time {
	t, _ := time.Parse(time.RFC3339, text(o, "metadata", "creationTimestamp"))
	return t
}
