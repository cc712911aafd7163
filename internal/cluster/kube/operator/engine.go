package operator

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
)

// engine is the state of what runs the pods of a job.
type engine struct {
	// kind and names are the objects that exist: the Jobs of the controller and of the workers, or the JobSet.
	kind  client.Kind
	names []string
	// missing reports that the controller's Job, or the JobSet, does not exist.
	missing, suspended bool
	// admitted reports that a controller's Job is suspended while that of the workers is not: Kueue has made room.
	admitted bool
	// controllerFailed says why the controller's Job has failed, "" if it has not.
	controllerFailed     string
	controllerDone       bool
	controllerActive     bool
	workersActive        bool
	workersReady, wanted int
}

// engine reads the state of a job's engine.
func (o *Operator) engine(ctx context.Context, k key, uid string) (engine, error) {
	if k.kind == crd.JobKind && o.o.Engine == crd.EngineJobSet {
		return o.jobSet(ctx, k, uid)
	}
	e := engine{kind: client.Jobs, missing: true}
	jobs := o.o.Client.Resource(client.Jobs).Namespace(k.namespace)
	workersMayRun := false
	for _, role := range rolesOf(k) {
		u, err := jobs.Get(ctx, role.name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return e, err
		}
		if !ownedBy(u, uid) || u.GetDeletionTimestamp() != nil {
			continue
		}
		e.names = append(e.names, u.GetName())
		active := number(u, "status", "active") > 0 || number(u, "status", "terminating") > 0
		suspended, _, _ := unstructured.NestedBool(u.Object, "spec", "suspend")
		if !role.controller {
			workersMayRun = !suspended
			e.workersActive = active || !finished(u)
			e.workersReady, e.wanted = number(u, "status", "ready"), number(u, "spec", "completions")
			continue
		}
		e.missing = false
		e.suspended = suspended
		e.controllerActive = active || !finished(u)
		if c, ok := trueCondition(u, "Failed"); ok {
			e.controllerFailed = reasonOf(c)
		}
		_, e.controllerDone = trueCondition(u, "Complete")
	}
	e.admitted = e.suspended && workersMayRun
	return e, nil
}

// release lets the controller of a job begin whose workers were admitted. It is in no queue of its own: admitted one by
// one, the controllers of several jobs could take the room that the workers of each of them wait for.
func (o *Operator) release(ctx context.Context, k key) error {
	_, err := o.o.Client.Resource(client.Jobs).Namespace(k.namespace).Patch(ctx, crd.ControllerJob(k.name),
		types.MergePatchType, []byte(`{"spec":{"suspend":false}}`), metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return retry{apiRetry, fmt.Errorf("the Job of the controller: %w", err)}
	}
	return nil
}

type role struct {
	name       string
	controller bool
}

// rolesOf are the Jobs of a job or a sweep.
func rolesOf(k key) []role {
	if k.kind == crd.SweepKind {
		return []role{{crd.EngineName(k.name), true}}
	}
	return []role{{crd.ControllerJob(k.name), true}, {crd.WorkersJob(k.name), false}}
}

// jobSet reads the state of a JobSet.
func (o *Operator) jobSet(ctx context.Context, k key, uid string) (engine, error) {
	e := engine{kind: client.JobSets}
	u, err := o.o.Client.Resource(client.JobSets).Namespace(k.namespace).Get(ctx, crd.EngineName(k.name), metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && (!ownedBy(u, uid) || u.GetDeletionTimestamp() != nil) {
		e.missing = true
		return e, nil
	}
	if err != nil {
		return e, err
	}
	e.names = []string{u.GetName()}
	e.suspended, _, _ = unstructured.NestedBool(u.Object, "spec", "suspend")
	_, e.controllerDone = trueCondition(u, "Completed")
	over := e.controllerDone
	statuses, _, _ := unstructured.NestedSlice(u.Object, "status", "replicatedJobsStatus")
	for _, item := range statuses {
		s, _ := item.(crd.Object)
		count := func(name string) int {
			n, _ := s[name].(int64)
			return int(n)
		}
		switch s["name"] {
		case "controller":
			if count("failed") > 0 {
				e.controllerFailed = "the controller's Job has failed"
			}
		case "workers":
			e.workersReady = count("ready") + count("succeeded")
		}
	}
	if c, ok := trueCondition(u, "Failed"); ok {
		over = true
		if e.controllerFailed == "" && len(statuses) == 0 {
			e.controllerFailed = reasonOf(c)
		}
	}
	replicated, _, _ := unstructured.NestedSlice(u.Object, "spec", "replicatedJobs")
	for _, item := range replicated {
		if s, _ := item.(crd.Object); s["name"] == "workers" {
			n, _ := s["replicas"].(int64)
			e.wanted = int(n)
		}
	}
	e.controllerActive, e.workersActive = !over, !over
	return e, nil
}

func finished(u *unstructured.Unstructured) bool {
	_, done := trueCondition(u, "Complete")
	_, failed := trueCondition(u, "Failed")
	return done || failed
}

func trueCondition(u *unstructured.Unstructured, kind string) (crd.Object, bool) {
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, item := range list {
		if c, _ := item.(crd.Object); c["type"] == kind && c["status"] == "True" {
			return c, true
		}
	}
	return nil, false
}

func reasonOf(c crd.Object) string {
	reason, _ := c["reason"].(string)
	message, _ := c["message"].(string)
	return fmt.Sprintf("%s: %s", reason, message)
}

func number(u *unstructured.Unstructured, fields ...string) int {
	n, _, _ := unstructured.NestedInt64(u.Object, fields...)
	return int(n)
}

func ownedBy(u *unstructured.Unstructured, uid string) bool {
	for _, owner := range u.GetOwnerReferences() {
		if string(owner.UID) == uid {
			return true
		}
	}
	return false
}

// removeEngine deletes what runs the pods of a job, and the pods with it.
func (o *Operator) removeEngine(ctx context.Context, k key, uid string) error {
	e, err := o.engine(ctx, k, uid)
	if err != nil {
		return err
	}
	background := metav1.DeletePropagationBackground
	for _, name := range e.names {
		err := o.o.Client.Resource(e.kind).Namespace(k.namespace).
			Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &background})
		if err != nil && !apierrors.IsNotFound(err) {
			return retry{apiRetry, fmt.Errorf("deleting %s: %w", name, err)}
		}
	}
	return nil
}

// ensure creates an object, or adopts it where it exists and belongs to the same resource.
func (o *Operator) ensure(ctx context.Context, object crd.Object, uid string) error {
	kind, err := client.KindOf(object)
	if err != nil {
		return permanent{err}
	}
	u := &unstructured.Unstructured{Object: object}
	resources := o.o.Client.Resource(kind).Namespace(u.GetNamespace())
	_, err = resources.Create(ctx, u, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return apiError(u, err)
	}
	if kind == client.Secrets { // which cannot be read: its name, with the UID, says whose it is
		return nil
	}
	existing, err := resources.Get(ctx, u.GetName(), metav1.GetOptions{})
	switch {
	case err != nil:
		return apiError(u, err)
	case existing.GetDeletionTimestamp() != nil:
		return retry{2 * time.Second, fmt.Errorf("%s %s of an earlier job is being deleted", u.GetKind(), u.GetName())}
	case !ownedBy(existing, uid):
		return permanent{fmt.Errorf("%s %s exists already and belongs to something else; delete it or give the job "+
			"another name", u.GetKind(), u.GetName())}
	}
	return nil
}

// apiError says which of the API's errors no further try can change.
func apiError(u *unstructured.Unstructured, err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsForbidden(err) && quota(err):
		return permanent{fmt.Errorf("%s %s is refused: %w", u.GetKind(), u.GetName(), err)}
	}
	return retry{apiRetry, fmt.Errorf("creating %s %s: %w", u.GetKind(), u.GetName(), err)}
}

// quota reports whether a refusal is for the namespace's limits or policies and not for the operator's own rights.
func quota(err error) bool {
	status, ok := err.(apierrors.APIStatus) //nolint:errorlint // only the API's own answer counts
	return ok && status.Status().Details != nil && len(status.Status().Details.Causes) > 0
}

// normalized makes the numbers of an object those that an unstructured object may hold.
func normalized(v any) any {
	switch v := v.(type) {
	case crd.Object:
		for name, value := range v {
			v[name] = normalized(value)
		}
		return v
	case []any:
		for i, value := range v {
			v[i] = normalized(value)
		}
		return v
	case int:
		return int64(v)
	}
	return v
}
