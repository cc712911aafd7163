package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
)

// reconcileJob brings a job one step further and returns when to look at it again; 0 waits for a change.
func (o *Operator) reconcileJob(ctx context.Context, k key) (time.Duration, error) {
	u, err := o.o.Client.Resource(jobsResource).Namespace(k.namespace).Get(ctx, k.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		o.gone(k)
		return 0, nil
	}
	if err != nil {
		return 0, retry{apiRetry, err}
	}
	var h jobHead
	if err := read(u, &h); err != nil {
		return 0, o.fail(ctx, k, string(u.GetUID()), fmt.Errorf("the resource cannot be read: %w", err))
	}
	uid := h.Metadata.UID
	o.seen(k, h.Status.Phase)
	switch {
	case h.Metadata.DeletionTimestamp != nil:
		return 0, o.finalize(ctx, k, u)
	case crd.Terminal(h.Status.Phase):
		return o.afterwards(ctx, k, &h)
	case h.Spec.Cancel:
		return lingering, o.cancel(ctx, k, &h)
	case !slices.Contains(u.GetFinalizers(), crd.FinalizerResources):
		if err := o.setFinalizers(ctx, jobsResource, u, append(u.GetFinalizers(), crd.FinalizerResources)); err != nil {
			return 0, err
		}
	}
	if !created(&h.Status) {
		err := o.create(ctx, k, u)
		var p permanent
		switch {
		case asPermanent(err, &p):
			return lingering, o.fail(ctx, k, uid, p.err)
		case err != nil:
			return 0, err
		}
		return o.o.InitialDelay, nil
	}
	return o.monitor(ctx, k, &h)
}

func created(s *crd.JobStatus) bool {
	return slices.ContainsFunc(s.Conditions, func(c crd.Condition) bool {
		return c.Type == resourcesCreated && c.Status == "True"
	})
}

func asPermanent(err error, p *permanent) bool {
	for err != nil {
		if found, ok := err.(permanent); ok { //nolint:errorlint // it is unwrapped here
			*p = found
			return true
		}
		wrapped, ok := err.(interface{ Unwrap() error })
		if !ok {
			return false
		}
		err = wrapped.Unwrap()
	}
	return false
}

// setFinalizers replaces the finalizers of a resource, if nobody else has changed it.
func (o *Operator) setFinalizers(ctx context.Context, kind client.Kind, u *unstructured.Unstructured, list []string) error {
	patch, err := json.Marshal(crd.Object{"metadata": crd.Object{
		"finalizers": list, "resourceVersion": u.GetResourceVersion(),
	}})
	if err != nil {
		return err
	}
	_, err = o.o.Client.Resource(kind).Namespace(u.GetNamespace()).
		Patch(ctx, u.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return retry{time.Second, fmt.Errorf("the finalizers: %w", err)}
	}
	return nil
}

// finalize lets a job go: its pods end; what is stored stays.
func (o *Operator) finalize(ctx context.Context, k key, u *unstructured.Unstructured) error {
	if !slices.Contains(u.GetFinalizers(), crd.FinalizerResources) {
		return nil
	}
	if err := o.removeEngine(ctx, k, string(u.GetUID())); err != nil {
		return err
	}
	phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
	epoch, _, _ := unstructured.NestedString(u.Object, "status", "runEpoch")
	r := ArchivedRun{Namespace: k.namespace, Name: k.name, Epoch: epoch, Sweep: k.kind == crd.SweepKind}
	if e, ok := o.o.Store.Entry(r); ok && !crd.Terminal(phase) {
		e.Phase = crd.Cancelled
		if err := o.o.Store.Note(e); err != nil {
			o.o.Log.Warn("the index: " + err.Error())
		}
	}
	o.mu.Lock()
	delete(o.beats, string(u.GetUID()))
	o.mu.Unlock()
	kind := jobsResource
	if k.kind == crd.SweepKind {
		kind = sweepsResource
	}
	return o.setFinalizers(ctx, kind, u, slices.DeleteFunc(u.GetFinalizers(), func(f string) bool {
		return f == crd.FinalizerResources
	}))
}

// cancel ends a job as its specification asks. Of its results the metrics of the last look stay.
func (o *Operator) cancel(ctx context.Context, k key, h *jobHead) error {
	uid := h.Metadata.UID
	if err := o.removeEngine(ctx, k, uid); err != nil {
		return err
	}
	r := runOf(k, &h.Status)
	kept, message := o.keepMetrics(r, &h.Status)
	h, err := o.updateJob(ctx, k, uid, func(h *jobHead) {
		identify(h)
		if kept != "" {
			condition(&h.Status, resultsAvailable, true, kept, message)
			h.Status.ResultsPath = r.Dir()
		}
		end(&h.Status, crd.Cancelled, "")
	})
	if err == nil {
		o.counted(crd.Cancelled)
		o.note(k, h)
	}
	return err
}

// fail ends a job with an error.
func (o *Operator) fail(ctx context.Context, k key, uid string, reason error) error {
	o.o.Log.Info(k.String() + " has failed: " + reason.Error())
	h, err := o.updateJob(ctx, k, uid, func(h *jobHead) {
		identify(h)
		end(&h.Status, crd.Failed, reason.Error())
	})
	if err == nil {
		o.counted(crd.Failed)
		o.note(k, h)
	}
	return err
}

// identify sets what names the run of a job.
func identify(h *jobHead) {
	s := &h.Status
	s.JobID, s.ObservedGeneration = h.Metadata.Name, h.Metadata.Generation
	if s.RunEpoch == "" {
		s.RunEpoch = EpochOf(&h.Metadata)
	}
}

// EpochOf is the epoch of the run of a resource: the second in which it was created, and in the place of microseconds,
// which the API does not keep, digits of its UID, so that two resources of one name and second differ.
func EpochOf(m *crd.Metadata) string {
	seconds := int64(0)
	if m.CreationTimestamp != nil {
		seconds = m.CreationTimestamp.Unix()
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(m.UID))
	return fmt.Sprintf("%d%06d", seconds, h.Sum32()%1_000_000)
}

// run is the run of a job.
func runOf(k key, s *crd.JobStatus) ArchivedRun {
	return ArchivedRun{Namespace: k.namespace, Name: k.name, Epoch: s.RunEpoch}
}

// note brings the index up to date with the phase of a job, as far as the job has a place on the volume.
func (o *Operator) note(k key, h *jobHead) {
	e, ok := o.o.Store.Entry(runOf(k, &h.Status))
	if !ok {
		return
	}
	e.Phase, e.Completed = h.Status.Phase, h.Status.CompletionTime
	if err := o.o.Store.Note(e); err != nil {
		o.o.Log.Warn("the index: " + err.Error())
	}
}

// afterwards removes what still runs of a terminal job: a deletion that was interrupted, or workers without a
// controller. What has finished goes by its own time to live.
func (o *Operator) afterwards(ctx context.Context, k key, h *jobHead) (time.Duration, error) {
	o.mu.Lock()
	delete(o.beats, h.Metadata.UID)
	o.mu.Unlock()
	e, err := o.engine(ctx, k, h.Metadata.UID)
	if err != nil {
		return 0, retry{apiRetry, err}
	}
	if !e.controllerActive && !e.workersActive {
		return 0, nil
	}
	if t := h.Status.CompletionTime; t != nil && h.Status.Phase == crd.Completed {
		if left := lingering - time.Since(*t); left > 0 {
			return left, nil
		}
	}
	return lingering, o.removeEngine(ctx, k, h.Metadata.UID)
}
