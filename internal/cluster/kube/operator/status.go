package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"aiperf/internal/base/clock"
	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
)

// read fills into, a resource of [crd], from the object of the cluster.
func read(u *unstructured.Unstructured, into any) error {
	data, err := json.Marshal(u.Object)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// head is a resource without its specification, which users may write in either spelling.
type head[Status any] struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Metadata   crd.Metadata `json:"metadata"`
	Spec       struct {
		Cancel bool `json:"cancel"`
	} `json:"spec"`
	Status Status `json:"status"`
}

type jobHead = head[crd.JobStatus]
type sweepHead = head[crd.SweepStatus]

// attempts bounds how often a change of a status is made again because somebody else has changed the resource.
const attempts = 10

// update changes the status of a resource: change gets its newest state and reports whether it wants to write. What it
// removes is removed. The state after the change is returned.
func update[Status any](ctx context.Context, o *Operator, kind client.Kind, k key, uid string,
	change func(*head[Status]) bool) (*head[Status], error) {
	resources := o.o.Client.Resource(kind).Namespace(k.namespace)
	for range attempts {
		u, err := resources.Get(ctx, k.name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		if string(u.GetUID()) != uid {
			return nil, apierrors.NewNotFound(kind.GroupResource(), k.name)
		}
		var h head[Status]
		if err := read(u, &h); err != nil {
			return nil, err
		}
		before, err := crd.ToObject(&h.Status)
		if err != nil {
			return nil, err
		}
		if !change(&h) {
			return &h, nil
		}
		after, err := crd.ToObject(&h.Status)
		if err != nil {
			return nil, err
		}
		if reflect.DeepEqual(before, after) {
			return &h, nil
		}
		patch, err := json.Marshal(crd.Object{
			"metadata": crd.Object{"resourceVersion": u.GetResourceVersion()},
			"status":   difference(before, after),
		})
		if err != nil {
			return nil, err
		}
		_, err = resources.Patch(ctx, k.name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		if apierrors.IsConflict(err) {
			continue
		}
		if err != nil {
			return nil, retry{stateRetry, fmt.Errorf("the status: %w", err)}
		}
		return &h, nil
	}
	return nil, retry{stateRetry, fmt.Errorf("the status changes all the time")}
}

// difference is the merge patch from one status to another.
func difference(before, after crd.Object) crd.Object {
	patch := crd.Object{}
	for name, value := range after {
		old, was := before[name]
		switch inner, isObject := value.(crd.Object); {
		case was && reflect.DeepEqual(old, value):
		case isObject:
			oldInner, _ := old.(crd.Object)
			patch[name] = difference(oldInner, inner)
		default:
			patch[name] = value
		}
	}
	for name := range before {
		if _, still := after[name]; !still {
			patch[name] = nil
		}
	}
	return patch
}

// updateJob changes the status of a job that is not terminal.
func (o *Operator) updateJob(ctx context.Context, k key, uid string, change func(*jobHead)) (*jobHead, error) {
	return update(ctx, o, jobsResource, k, uid, func(h *jobHead) bool {
		if crd.Terminal(h.Status.Phase) {
			return false
		}
		change(h)
		return true
	})
}

// condition sets a condition of a job.
func condition(s *crd.JobStatus, kind string, status bool, reason, message string) {
	value := "False"
	if status {
		value = "True"
	}
	s.Conditions = crd.SetCondition(s.Conditions,
		crd.Condition{Type: kind, Status: value, Reason: reason, Message: message}, time.Now())
}

// Types of conditions.
const (
	configValid       = "ConfigValid"
	endpointReachable = "EndpointReachable"
	preflightPassed   = "PreflightPassed"
	preflightWarnings = "PreflightHasWarnings"
	resourcesCreated  = "ResourcesCreated"
	workersReady      = "WorkersReady"
	benchmarkRunning  = "BenchmarkRunning"
	resultsAvailable  = "ResultsAvailable"
	indexUpdated      = "IndexUpdated"
	complete          = "Complete"
	failed            = "Failed"
)

// end makes a job terminal. What its conditions said while it ran no longer holds.
func end(s *crd.JobStatus, phase, message string) {
	now := time.Now().UTC().Truncate(time.Second)
	s.Phase, s.CompletionTime, s.Error, s.StartupIssue, s.SubPhase = phase, &now, message, nil, ""
	switch phase {
	case crd.Completed:
		condition(s, complete, true, "ResultsStored", "")
		condition(s, failed, false, "JobCompleted", "")
	case crd.Failed:
		condition(s, complete, false, "JobFailed", message)
		condition(s, failed, true, "JobFailed", message)
	case crd.Cancelled:
		condition(s, complete, false, "JobCancelled", message)
		condition(s, failed, false, "JobCancelled", message)
	}
	for _, c := range s.Conditions {
		if c.Type == benchmarkRunning && c.Status == "True" {
			condition(s, benchmarkRunning, false, "Benchmark"+phase, "")
		}
	}
}

// event records an event about a resource, once for each name.
func (o *Operator) event(ctx context.Context, k key, uid, name, kind, reason, message string) {
	now := time.Now().UTC().Format(time.RFC3339)
	u := &unstructured.Unstructured{Object: crd.Object{
		"apiVersion": "v1", "kind": "Event",
		"metadata": crd.Object{"name": k.name + "." + name, "namespace": k.namespace},
		"involvedObject": crd.Object{"apiVersion": crd.APIVersion, "kind": k.kind, "namespace": k.namespace,
			"name": k.name, "uid": uid},
		"type": kind, "reason": reason, "message": message, "source": crd.Object{"component": crd.OperatorName},
		"reportingComponent": crd.OperatorName, "firstTimestamp": now, "lastTimestamp": now, "count": int64(1),
	}}
	for range 3 {
		_, err := o.o.Client.Resource(client.Events).Namespace(k.namespace).Create(ctx, u, metav1.CreateOptions{})
		if err == nil || apierrors.IsAlreadyExists(err) || ctx.Err() != nil {
			return
		}
		clock.Wait(ctx, time.Second)
	}
	o.o.Log.Warn("an event could not be recorded: " + message)
}
