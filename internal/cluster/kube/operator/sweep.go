package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"aiperf/internal/base/clock"
	"aiperf/internal/cluster/kube/crd"
)

// resultsPort is the port of the results server in addresses.
const resultsPort = 8081

// reconcileSweep brings a sweep one step further. Its controller makes the runs and writes the status; the operator
// starts the controller, ends a sweep whose controller cannot go on, and stores the results.
func (o *Operator) reconcileSweep(ctx context.Context, k key) (time.Duration, error) {
	u, err := o.o.Client.Resource(sweepsResource).Namespace(k.namespace).Get(ctx, k.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		o.gone(k)
		return 0, nil
	}
	if err != nil {
		return 0, retry{apiRetry, err}
	}
	var h sweepHead
	if err := read(u, &h); err != nil {
		return 0, o.failSweep(ctx, k, string(u.GetUID()), fmt.Errorf("the resource cannot be read: %w", err))
	}
	stored := h.Status.ResultsAvailable != nil
	o.seen(k, h.Status.Phase)
	switch {
	case h.Metadata.DeletionTimestamp != nil:
		return 0, o.finalize(ctx, k, u)
	case crd.Terminal(h.Status.Phase) && (stored || h.Status.RuntimeRef == nil):
		return 0, nil
	case !slices.Contains(u.GetFinalizers(), crd.FinalizerResources):
		if err := o.setFinalizers(ctx, sweepsResource, u, append(u.GetFinalizers(), crd.FinalizerResources)); err != nil {
			return 0, err
		}
	}
	if h.Status.RuntimeRef == nil {
		if h.Spec.Cancel {
			return 0, o.endSweep(ctx, k, h.Metadata.UID, crd.Cancelled, "")
		}
		err := o.createSweep(ctx, k, u, &h)
		var p permanent
		if asPermanent(err, &p) {
			return 0, o.failSweep(ctx, k, h.Metadata.UID, p.err)
		}
		return o.o.InitialDelay, err
	}
	return o.monitorSweep(ctx, k, &h)
}

func (o *Operator) updateSweep(ctx context.Context, k key, uid string, change func(*crd.SweepStatus)) error {
	_, err := update(ctx, o, sweepsResource, k, uid, func(h *sweepHead) bool {
		change(&h.Status)
		h.Status.ObservedGeneration = h.Metadata.Generation
		return true
	})
	return err
}

// endSweep makes a sweep terminal.
func (o *Operator) endSweep(ctx context.Context, k key, uid, phase, message string) error {
	now := time.Now().UTC().Truncate(time.Second)
	return o.updateSweep(ctx, k, uid, func(s *crd.SweepStatus) {
		if !crd.Terminal(s.Phase) {
			s.Phase, s.Error, s.CompletedAt, s.CompletionTime = phase, message, &now, &now
			s.CurrentCell, s.CurrentChildRef = nil, nil
		}
	})
}

func (o *Operator) failSweep(ctx context.Context, k key, uid string, reason error) error {
	o.o.Log.Info(k.String() + " has failed: " + reason.Error())
	o.event(ctx, k, uid, "failed", "Warning", "SweepFailed", reason.Error())
	return o.endSweep(ctx, k, uid, crd.Failed, reason.Error())
}

func sweepRun(k key, epoch string) ArchivedRun {
	return ArchivedRun{Namespace: k.namespace, Name: k.name, Epoch: epoch, Sweep: true}
}

// createSweep starts the controller of a sweep.
func (o *Operator) createSweep(ctx context.Context, k key, u *unstructured.Unstructured, h *sweepHead) error {
	parsed, err := crd.Parse(u.Object)
	if err == nil {
		err = parsed.Refuse()
	}
	if err == nil {
		err = crd.ValidJobName(k.name)
	}
	if err == nil {
		err = Check(k.name, &parsed.Spec)
	}
	if err != nil {
		return permanent{fmt.Errorf("the specification is invalid: %w", err)}
	}
	if err := o.account(ctx, k.namespace, parsed.Spec.PodTemplate); err != nil {
		return err
	}
	epoch := EpochOf(&h.Metadata)
	objects, err := crd.BuildSweep(parsed.Sweep(), crd.SweepOptions{
		Owner: &crd.Owner{APIVersion: crd.APIVersion, Kind: crd.SweepKind, Name: k.name, UID: h.Metadata.UID,
			Controller: true, BlockOwnerDeletion: true},
		Epoch: epoch, BaseURL: o.o.BaseURL, OperatorNamespace: o.o.Namespace, Marker: Marker,
		ResultsToken: NamespaceToken(o.o.ResultsToken, k.namespace),
	})
	if err != nil {
		return permanent{err}
	}
	r := sweepRun(k, epoch)
	if err := o.makeAll(ctx, k, h.Metadata.UID, objects, func() error {
		text, err := safeSpec(u)
		if err != nil {
			return err
		}
		if err := o.o.Store.Begin(r, text); err != nil {
			return err
		}
		return o.o.Store.Note(Entry{Namespace: k.namespace, Name: k.name, Epoch: epoch, Sweep: true,
			Phase: crd.Pending, Started: time.Now().UTC().Truncate(time.Second)})
	}); err != nil {
		return err
	}
	return o.updateSweep(ctx, k, h.Metadata.UID, func(s *crd.SweepStatus) {
		if s.Phase == "" {
			s.Phase = crd.Pending
		}
		s.RunEpoch = epoch
		s.RuntimeRef = &crd.RuntimeRef{JobSetName: crd.EngineName(k.name),
			SweepControllerHost: crd.SweepHost(k.name, k.namespace)}
		s.APIURL = "http://" + crd.SweepHost(k.name, k.namespace) + ":" + strconv.Itoa(crd.PortResults)
	})
}

// monitorSweep looks at the controller of a sweep.
func (o *Operator) monitorSweep(ctx context.Context, k key, h *sweepHead) (time.Duration, error) {
	uid := h.Metadata.UID
	e, err := o.engine(ctx, k, uid)
	if err != nil {
		return 0, retry{apiRetry, err}
	}
	pods, err := o.pods(ctx, k)
	if err != nil {
		return 0, retry{apiRetry, err}
	}
	controller := controllerOf(pods)
	if crd.Terminal(h.Status.Phase) {
		return o.storeSweep(ctx, k, h, controller, &e)
	}
	switch {
	case e.missing:
		if clock.Wait(ctx, rereadAfter); ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if e, err = o.engine(ctx, k, uid); err != nil {
			return 0, retry{apiRetry, err}
		}
		if e.missing {
			return 0, o.failSweep(ctx, k, uid, errors.New("JobSet not found: the sweep's controller was removed from outside"))
		}
	case e.controllerFailed != "":
		return 0, o.failSweep(ctx, k, uid, fmt.Errorf("the controller of the sweep has failed: %s", e.controllerFailed))
	}
	o.reportRestarts(ctx, k, uid, pods)
	if b, _ := startup(pods); b != nil {
		if blocked, err := o.sweepBlocked(ctx, k, uid, b); err != nil || blocked {
			return 0, err
		}
	}
	return o.o.MonitorInterval, nil
}

// sweepBlocked follows a controller that does not start, by the same clocks as the pods of a job.
func (o *Operator) sweepBlocked(ctx context.Context, k key, uid string, b *blocker) (bool, error) {
	o.mu.Lock()
	seen := o.beats[uid]
	if seen.value != b.fingerprint() {
		seen = beat{b.fingerprint(), time.Now()}
		o.beats[uid] = seen
	}
	o.mu.Unlock()
	age := time.Since(seen.at)
	text := fmt.Sprintf("the pod %s does not start: %s: %s", b.pod, b.reason, b.message)
	if age >= warnAfter {
		o.event(ctx, k, uid, "startup-"+shortHash(b.fingerprint()), "Warning", "PodStartupBlocked", text)
	}
	if age < failAfter {
		return false, nil
	}
	if err := o.failSweep(ctx, k, uid, errors.New(text)); err != nil {
		return false, err
	}
	return true, o.removeEngine(ctx, k, uid)
}

// storeSweep fetches the results of a sweep that has ended, and ends its pod.
func (o *Operator) storeSweep(ctx context.Context, k key, h *sweepHead, controller *podObject, e *engine) (time.Duration, error) {
	uid := h.Metadata.UID
	epoch := h.Status.RunEpoch
	if epoch == "" {
		epoch = EpochOf(&h.Metadata)
	}
	r := sweepRun(k, epoch)
	available := false
	if controller != nil && !e.missing {
		if err := o.download(ctx, controller, r); err != nil {
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
			o.event(ctx, k, uid, "results", "Warning", "ResultsFetchFailed", err.Error())
		} else if err := o.o.Store.Finish(r); err != nil {
			return 0, retry{persistenceRetry, fmt.Errorf("the results volume: %w", err)}
		} else {
			available = true
		}
	}
	entry, _ := o.o.Store.Entry(r)
	entry.Namespace, entry.Name, entry.Epoch, entry.Sweep = k.namespace, k.name, epoch, true
	entry.Phase, entry.Completed = h.Status.Phase, h.Status.CompletionTime
	if err := o.o.Store.Note(entry); err != nil {
		o.o.Log.Warn("the index: " + err.Error())
	}
	path := "/api/v1/sweeps/" + k.namespace + "/" + k.name + "/epochs/" + epoch + "/artifacts"
	base := strings.TrimSuffix(o.o.BaseURL, "/")
	host := strings.TrimPrefix(strings.TrimPrefix(base, "http://"), "https://")
	name, portText, _ := strings.Cut(host, ":")
	port, err := strconv.Atoi(portText)
	if err != nil {
		port = resultsPort
	}
	if err := o.updateSweep(ctx, k, uid, func(s *crd.SweepStatus) {
		s.ResultsAvailable = &available
		if available {
			s.AggregateRef = &crd.AggregateRef{ResultsServerHost: name, Port: port, APIPath: path, URL: base + path}
		}
	}); err != nil {
		return 0, err
	}
	o.shutdown(ctx, controller, crd.PortResults)
	if available {
		return 0, nil
	}
	return 0, o.removeEngine(ctx, k, uid)
}
