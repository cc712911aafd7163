package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"aiperf/internal/base/artifact"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/config"
	"aiperf/internal/experiment/series"
)

// cell makes the job of a cell, or finds it, and returns its result. made is false where the sweep was cancelled and the
// job does not exist.
func (c *controller) cell(ctx context.Context, step *series.Step) (r series.Run, made bool, err error) {
	info := &step.Info
	name := crd.ChildName(c.o.Name, info.VariationIndex, info.Trial, c.suffix)
	wanted, err := c.childOf(name, step)
	if err != nil {
		return r, false, err
	}
	u, err := c.find(ctx, wanted)
	if err != nil {
		return r, false, err
	}
	if u == nil {
		if err := c.lookForCancel(ctx, true); err != nil {
			return r, false, err
		}
		if c.cancelled {
			return r, false, nil
		}
		if u, err = c.create(ctx, wanted); err != nil {
			return r, false, err
		}
	}
	label := artifact.RedactURLs(info.VariationLabel)
	c.publish(ctx, crd.Object{"runStates": c.states(1),
		"currentCell": crd.Object{"variationIndex": info.VariationIndex, "label": label, "trial": info.Trial,
			"converged": false},
		"currentChildRef": crd.Object{"name": name, "index": len(c.children), "label": info.RunLabel}})
	phase, epoch, reason, err := c.await(ctx, u)
	if err != nil {
		return r, false, err
	}
	r = series.Run{Info: *info, Artifacts: step.Config.Artifacts}
	child := Child{Namespace: c.o.Namespace, Name: name, VariationIndex: info.VariationIndex, VariationLabel: label,
		VariationValues: plainValue(artifact.HideSensitive(info.VariationValues)), TrialIndex: info.Trial,
		ChildRunEpoch: epoch, Label: info.RunLabel}
	switch phase {
	case crd.Completed:
		child.Status = "Succeeded"
		if r, err = c.summary(ctx, r, name, epoch); err != nil {
			r.Err = err.Error()
		}
		if r.Err != "" {
			child.Status = "Failed"
		}
	case crd.Cancelled:
		child.Status, r.Err, r.Cancelled = "Cancelled", series.CancelledRun, true
	default:
		child.Status, r.Err = "Failed", reason
		if r.Err == "" {
			r.Err = "the job has failed"
		}
	}
	if child.Status != "Succeeded" {
		r.Err = artifact.RedactURLs(r.Err)
		child.Error = r.Err
	}
	c.children = append(c.children, child)
	c.publish(ctx, crd.Object{"completedRuns": c.count("Succeeded"), "failedRuns": c.count("Failed"),
		"runStates": c.states(0)})
	return r, true, nil
}

// labelText is what a label may hold of a text.
var labelText = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

func labelOf(text string) string {
	text = labelText.ReplaceAllString(text, "_")
	const most = 63
	return strings.Trim(text[:min(most, len(text))], "._-")
}

// childOf is the job of a cell.
func (c *controller) childOf(name string, step *series.Step) (*unstructured.Unstructured, error) {
	spec, err := c.source.child(&c.spec, step)
	if err != nil {
		return nil, err
	}
	identity, err := crd.Identity(spec)
	if err != nil {
		return nil, err
	}
	values, err := crd.ValuesAnnotation(plainValue(artifact.HideSensitive(step.Info.VariationValues)))
	if err != nil {
		return nil, err
	}
	labels, annotations := map[string]any{}, map[string]any{}
	if m := c.spec.ChildMetadata; m != nil {
		for k, v := range m.Labels {
			labels[k] = v
		}
		for k, v := range m.Annotations {
			annotations[k] = v
		}
	}
	maps.Copy(labels, map[string]any{crd.LabelApp: crd.AppName, crd.LabelSweep: c.o.Name, crd.LabelSweepUID: c.o.UID,
		crd.LabelSweepRunEpoch: c.o.Epoch, crd.LabelVariationIndex: strconv.Itoa(step.Info.VariationIndex),
		crd.LabelVariationLabel: labelOf(artifact.RedactURLs(step.Info.VariationLabel)),
		crd.LabelTrialIndex:     strconv.Itoa(step.Info.Trial)})
	maps.Copy(annotations, map[string]any{crd.AnnotationValues: values, crd.AnnotationIdentity: identity})
	return &unstructured.Unstructured{Object: crd.Object{
		"apiVersion": crd.APIVersion, "kind": crd.JobKind,
		"metadata": crd.Object{"name": name, "namespace": c.o.Namespace, "labels": labels, "annotations": annotations,
			"ownerReferences": []any{crd.Object{"apiVersion": crd.APIVersion, "kind": crd.SweepKind, "name": c.o.Name,
				"uid": c.o.UID, "controller": true, "blockOwnerDeletion": true}}},
		"spec": spec,
	}}, nil
}

// find returns the child where it exists already and is the same; nil where there is none. One that is being deleted is
// awaited, never adopted.
func (c *controller) find(ctx context.Context, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	jobs := c.o.Client.Resource(jobsResource).Namespace(c.o.Namespace)
	var deadline time.Time
	for {
		u, err := jobs.Get(ctx, wanted.GetName(), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil, nil
		case err != nil:
			c.o.Log.Warn("reading " + wanted.GetName() + ": " + err.Error())
		case u.GetDeletionTimestamp() == nil:
			return u, same(u, wanted)
		case deadline.IsZero():
			deadline = time.Now().Add(c.o.StaleDeletion)
		case time.Now().After(deadline):
			return nil, fmt.Errorf("the earlier job %s is still being deleted after %v", wanted.GetName(), c.o.StaleDeletion)
		}
		if c.wait(ctx, time.Second); ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// same returns an error unless a job is the wanted child of this sweep.
func same(u, wanted *unstructured.Unstructured) error {
	conflict := func(what string) error {
		return fmt.Errorf("the job %s exists already and %s; delete it or give the sweep another name", u.GetName(), what)
	}
	owned := false
	for _, owner := range u.GetOwnerReferences() {
		owned = owned || owner.UID == wanted.GetOwnerReferences()[0].UID
	}
	if !owned {
		return conflict("belongs to something else")
	}
	for _, label := range []string{crd.LabelSweepUID, crd.LabelVariationIndex, crd.LabelTrialIndex} {
		if u.GetLabels()[label] != wanted.GetLabels()[label] {
			return conflict("is another cell")
		}
	}
	if u.GetAnnotations()[crd.AnnotationIdentity] != wanted.GetAnnotations()[crd.AnnotationIdentity] {
		return conflict("has another specification")
	}
	return nil
}

// create creates a child, however long the API does not answer.
func (c *controller) create(ctx context.Context, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	for pause := time.Second; ; pause = min(2*pause, 30*time.Second) {
		u, err := c.o.Client.Resource(jobsResource).Namespace(c.o.Namespace).Create(ctx, wanted, metav1.CreateOptions{})
		switch {
		case err == nil:
			return u, nil
		case apierrors.IsAlreadyExists(err):
			if u, err = c.find(ctx, wanted); err != nil || u != nil {
				return u, err
			}
		case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsForbidden(err):
			return nil, fmt.Errorf("the job %s is refused: %w", wanted.GetName(), err)
		default:
			c.o.Log.Warn("creating " + wanted.GetName() + ": " + err.Error())
		}
		if c.wait(ctx, pause); ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// await waits until a child is terminal. A child that has vanished has failed after a time; when the sweep is cancelled
// the child is, too.
func (c *controller) await(ctx context.Context, u *unstructured.Unstructured) (phase, epoch, reason string, err error) {
	jobs := c.o.Client.Resource(jobsResource).Namespace(c.o.Namespace)
	uid := u.GetUID()
	var missing, told time.Time
	for {
		now, err := jobs.Get(ctx, u.GetName(), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err) || err == nil && now.GetUID() != uid:
			if missing.IsZero() {
				missing = time.Now()
			}
			if time.Since(missing) >= c.o.ChildMissing {
				return crd.Failed, epoch, fmt.Sprintf("the job has been gone for %v", c.o.ChildMissing), nil
			}
		case err == nil:
			missing = time.Time{}
			phase, _, _ = unstructured.NestedString(now.Object, "status", "phase")
			epoch, _, _ = unstructured.NestedString(now.Object, "status", "runEpoch")
			reason, _, _ = unstructured.NestedString(now.Object, "status", "error")
			if crd.Terminal(phase) {
				return phase, epoch, reason, nil
			}
		}
		if err := c.lookForCancel(ctx, false); err != nil {
			return "", "", "", err
		}
		switch {
		case c.cancelled && told.IsZero():
			_, err := jobs.Patch(ctx, u.GetName(), types.MergePatchType, []byte(`{"spec":{"cancel":true}}`), metav1.PatchOptions{})
			if err == nil || apierrors.IsNotFound(err) {
				told = time.Now()
			}
		case c.cancelled && time.Since(told) > c.o.CancelGrace:
			return crd.Cancelled, epoch, "", nil
		}
		if c.wait(ctx, c.o.ChildPoll); ctx.Err() != nil {
			return "", "", "", ctx.Err()
		}
	}
}

// summary reads the summary of a completed child, which may come a little later than its phase.
func (c *controller) summary(ctx context.Context, r series.Run, name, epoch string) (series.Run, error) {
	err := errors.New("the summary was not asked for")
	for try := range c.o.SummaryRetries {
		if try > 0 {
			c.wait(ctx, c.o.SummaryRetryDelay)
		}
		var data []byte
		if data, err = c.o.Results.Summary(ctx, c.o.Namespace, name, epoch); err != nil {
			continue
		}
		// Percentiles over all trials, and the files about cells, are computed from it.
		path := r.Artifacts.Path(config.SummaryJSON)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return r, err
		}
		if err := artifact.WriteFile(path, data); err != nil {
			return r, err
		}
		return series.Recorded(r, data)
	}
	return r, fmt.Errorf("the summary of the completed job %s cannot be read: %w", name, err)
}

// asJSON is a value as JSON decodes it, with whole numbers as the API takes them.
func asJSON(v any) (crd.Object, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	wrapped := append(append([]byte(`{"apiVersion":"v1","kind":"X","spec":`), data...), '}')
	if err := u.UnmarshalJSON(wrapped); err != nil {
		return nil, err
	}
	spec, _ := u.Object["spec"].(crd.Object)
	return spec, nil
}
