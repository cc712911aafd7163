package operator

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/clock"
	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/cluster/kube/deployed"
	"aiperf/internal/config"
)

// configWait bounds the wait until a configuration that was created can be read.
const configWait = 10 * time.Second

// maxWarning bounds the text of the condition with the warnings of the checks, in bytes.
const maxWarning = 512

// create makes the objects of a job, step by step; each step finds what an earlier try has made.
func (o *Operator) create(ctx context.Context, k key, u *unstructured.Unstructured) error {
	parsed, err := crd.Parse(u.Object)
	if err == nil {
		err = parsed.Refuse()
	}
	var job *crd.Job
	var run *config.Run
	if err == nil {
		job = parsed.Job()
		run, _, err = job.Spec.Resolve("spec", nil)
	}
	uid := string(u.GetUID())
	if err != nil {
		if _, updateErr := o.updateJob(ctx, k, uid, func(h *jobHead) {
			condition(&h.Status, configValid, false, "SpecInvalid", err.Error())
		}); updateErr != nil {
			return updateErr
		}
		return permanent{fmt.Errorf("the specification is invalid: %w", err)}
	}
	found := endpoint{}
	if !job.Spec.SkipEndpointCheck {
		found = o.probe(ctx, run.Endpoint.URLs)
	}
	topology, err := crd.TopologyOf(&job.Spec, run)
	if err != nil {
		return permanent{err}
	}
	checks := o.preflight(ctx, job, topology.Pods)
	var again retry
	if errors.As(checks.err, &again) {
		return again
	}
	if _, err := o.updateJob(ctx, k, uid, func(h *jobHead) {
		s := &h.Status
		identify(h)
		s.Phase = crd.Pending
		condition(s, configValid, true, "SpecValid", "")
		switch {
		case job.Spec.SkipEndpointCheck:
		case found.unknown != nil:
			condition(s, endpointReachable, false, "EndpointDNSResolutionFailed", found.unknown.Error())
		case found.unreachable != nil:
			condition(s, endpointReachable, false, "EndpointUnreachable", found.unreachable.Error())
		default:
			condition(s, endpointReachable, true, "EndpointReachable", "")
		}
		checks.report(s)
	}); err != nil {
		return err
	}
	switch {
	case found.unknown != nil:
		return permanent{fmt.Errorf("the endpoint's host name cannot be resolved: %w; correct endpoint.urls, or set "+
			"spec.skipEndpointCheck if only the pods can resolve it", found.unknown)}
	case checks.err != nil:
		return permanent{fmt.Errorf("the cluster cannot run the job: %w", checks.err)}
	case found.unreachable != nil:
		o.event(ctx, k, uid, "endpoint-unreachable", "Warning", "EndpointUnreachable",
			"The server did not answer; the job starts all the same: "+found.unreachable.Error())
	}
	objects, err := crd.Build(job, crd.BuildOptions{
		Engine: o.o.Engine, Token: rand.Text(), Operator: true, Run: run, OperatorNamespace: o.o.Namespace,
		Owner: &crd.Owner{APIVersion: crd.APIVersion, Kind: crd.JobKind, Name: k.name, UID: uid,
			Controller: true, BlockOwnerDeletion: true},
	})
	if err != nil {
		return permanent{err}
	}
	if err := o.makeAll(ctx, k, uid, objects, func() error { return o.place(k, u, job, run) }); err != nil {
		return err
	}
	total := workersOf(objects)
	_, err = o.updateJob(ctx, k, uid, func(h *jobHead) {
		now := time.Now().UTC().Truncate(time.Second)
		s := &h.Status
		s.JobSetName = crd.EngineName(k.name)
		s.StartTime = &now
		s.Workers = &crd.Workers{Total: total}
		days := o.o.ResultsTTLDays
		if job.Spec.ResultsTTLDays != nil {
			days = *job.Spec.ResultsTTLDays
		}
		s.ResultsTTLDays = &days
		condition(s, resourcesCreated, true, "ResourcesCreated", "")
	})
	return err
}

// makeAll creates the objects in their order. Before the engine, place makes room on the volume. A job that was
// cancelled meanwhile is not started, and what runs already is removed.
func (o *Operator) makeAll(ctx context.Context, k key, uid string, objects []crd.Object, place func() error) error {
	placed := false
	for _, object := range objects {
		normalized(object)
		if cancelled, err := o.cancelled(ctx, k, uid); err != nil || cancelled {
			return o.stopped(ctx, k, uid, err)
		}
		kind, _ := object["kind"].(string)
		if (kind == "Job" || kind == "JobSet") && !placed {
			if err := place(); err != nil {
				return retry{persistenceRetry, fmt.Errorf("the results volume: %w", err)}
			}
			placed = true
		}
		if err := o.ensure(ctx, object, uid); err != nil {
			return err
		}
		if kind == "ConfigMap" {
			if err := o.readable(ctx, object); err != nil {
				return err
			}
		}
	}
	if cancelled, err := o.cancelled(ctx, k, uid); err != nil || cancelled {
		return o.stopped(ctx, k, uid, err)
	}
	return nil
}

// stopped removes the engine of a resource that was cancelled or deleted while it was made.
func (o *Operator) stopped(ctx context.Context, k key, uid string, err error) error {
	if err != nil {
		return err
	}
	if err := o.removeEngine(ctx, k, uid); err != nil {
		return err
	}
	return retry{time.Second / 10, fmt.Errorf("it was cancelled while it was made")}
}

// cancelled reports whether a resource was cancelled or deleted meanwhile.
func (o *Operator) cancelled(ctx context.Context, k key, uid string) (bool, error) {
	kind := jobsResource
	if k.kind == crd.SweepKind {
		kind = sweepsResource
	}
	u, err := o.o.Client.Resource(kind).Namespace(k.namespace).Get(ctx, k.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, retry{apiRetry, err}
	}
	asked, _, _ := unstructured.NestedBool(u.Object, "spec", "cancel")
	return asked || string(u.GetUID()) != uid || u.GetDeletionTimestamp() != nil, nil
}

// readable waits until an object that was created can be read.
func (o *Operator) readable(ctx context.Context, object crd.Object) error {
	u := &unstructured.Unstructured{Object: object}
	within, cancel := context.WithTimeout(ctx, configWait)
	defer cancel()
	for {
		_, err := o.o.Client.Resource(client.ConfigMaps).Namespace(u.GetNamespace()).
			Get(within, u.GetName(), metav1.GetOptions{})
		if err == nil {
			return nil
		}
		clock.Wait(within, time.Second)
		if within.Err() != nil {
			return retry{apiRetry, fmt.Errorf("the ConfigMap %s cannot be read: %w", u.GetName(), err)}
		}
	}
}

// workersOf is the number of pods of workers that the objects ask for.
func workersOf(objects []crd.Object) (n int) {
	for _, object := range objects {
		u := &unstructured.Unstructured{Object: object}
		switch {
		case u.GetKind() == "Job" && strings.Contains(u.GetName(), "-workers-"):
			n += number(u, "spec", "completions")
		case u.GetKind() == "JobSet":
			replicated, _, _ := unstructured.NestedSlice(object, "spec", "replicatedJobs")
			for _, item := range replicated {
				if s, _ := item.(crd.Object); s["name"] == "workers" {
					replicas, _ := s["replicas"].(int64)
					n += int(replicas)
				}
			}
		}
	}
	return n
}

// place stores the specification of a job and its row of the index.
func (o *Operator) place(k key, u *unstructured.Unstructured, job *crd.Job, run *config.Run) error {
	var h jobHead
	if err := read(u, &h); err != nil {
		return err
	}
	identify(&h)
	r := runOf(k, &h.Status)
	text, err := safeSpec(u)
	if err != nil {
		return err
	}
	if err := o.o.Store.Begin(r, text); err != nil {
		return err
	}
	e := Entry{
		Namespace: k.namespace, Name: k.name, Epoch: r.Epoch, Phase: crd.Pending, Model: strings.Join(run.Models, ","),
		Endpoint: artifact.RedactURLs(strings.Join(run.Endpoint.URLs, ",")), Started: time.Now().UTC().Truncate(time.Second),
	}
	if job.Spec.ResultsTTLDays != nil {
		e.ResultsTTLDays = *job.Spec.ResultsTTLDays
	}
	return o.o.Store.Note(e)
}

// safeSpec is the resource as it was submitted, without secrets.
func safeSpec(u *unstructured.Unstructured) ([]byte, error) {
	metadata := crd.Object{"name": u.GetName(), "namespace": u.GetNamespace(), "uid": string(u.GetUID())}
	if l := u.GetLabels(); len(l) > 0 {
		metadata["labels"] = l
	}
	spec, err := json.Marshal(u.Object["spec"])
	if err != nil {
		return nil, err
	}
	hidden, err := artifact.Parse(spec)
	if err != nil {
		return nil, err
	}
	return artifact.AppendIndented(nil, artifact.Object{
		{Key: "apiVersion", Value: u.GetAPIVersion()}, {Key: "kind", Value: u.GetKind()},
		{Key: "metadata", Value: crd.Ordered(plain(metadata))}, {Key: "spec", Value: artifact.HideSensitive(hidden)},
	})
}

// plain is a value as JSON decodes it.
func plain(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		return nil
	}
	return out
}

// checks are the results of the checks of the cluster.
type checks struct {
	err      error
	warnings []string
}

func (c checks) report(s *crd.JobStatus) {
	if c.err != nil {
		condition(s, preflightPassed, false, "PreflightFailed", c.err.Error())
		return
	}
	condition(s, preflightPassed, true, "PreflightPassed", "")
	if len(c.warnings) == 0 {
		condition(s, preflightWarnings, false, "NoWarnings", "")
		return
	}
	text := strings.Join(c.warnings, "; ")
	if len(text) > maxWarning {
		text = strings.ToValidUTF8(text[:maxWarning], "")
	}
	condition(s, preflightWarnings, true, "PreflightWarnings", text)
}

// preflight checks what a job needs of the cluster before anything is made. What cannot be read is a warning.
func (o *Operator) preflight(ctx context.Context, job *crd.Job, pods int) (c checks) {
	ctx, cancel := context.WithTimeout(ctx, o.o.PreflightTimeout)
	defer cancel()
	if c.err = o.account(ctx, job.Metadata.Namespace, job.Spec.PodTemplate); c.err != nil || o.o.Preflight == nil {
		return c
	}
	for _, x := range o.o.Preflight(ctx, needsOf(job, o.o.Engine, pods)).Checks {
		text := x.Message
		if len(x.Details) > 0 {
			text += ": " + strings.Join(x.Details, ", ")
		}
		switch x.Status {
		case deployed.Fail:
			c.err = errors.Join(c.err, fmt.Errorf("%s: %s", x.Name, text))
		case deployed.Warn:
			c.warnings = append(c.warnings, x.Name+": "+text)
		}
	}
	return c
}

// account returns an error unless pods of a template may have its service account. Who may create benchmarks need not be
// one who may create pods, with any account of the namespace: an account has a label that lets benchmarks have it.
func (o *Operator) account(ctx context.Context, namespace string, t *crd.PodTemplate) error {
	if t == nil || t.ServiceAccountName == "" || t.ServiceAccountName == crd.DefaultAccount {
		return nil
	}
	name := t.ServiceAccountName
	u, err := o.o.Client.Resource(accountsResource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return permanent{fmt.Errorf("the service account %s does not exist in the namespace %s: create it, or leave "+
			"podTemplate.serviceAccountName out", name, namespace)}
	case err != nil:
		return retry{apiRetry, fmt.Errorf("the service account %s: %w", name, err)}
	case u.GetLabels()[crd.LabelAccount] != "true":
		return permanent{fmt.Errorf("podTemplate.serviceAccountName: the account %s is not for benchmarks; who owns it "+
			"allows it by kubectl label serviceaccount %s -n %s %s=true", name, name, namespace, crd.LabelAccount)}
	}
	return nil
}

// needsOf is what a job with a number of pods of workers needs of the cluster. Secrets are not among it: the operator
// may not read them. The pods say which one is missing.
func needsOf(job *crd.Job, engine crd.Engine, pods int) deployed.PreflightOptions {
	needs := deployed.PreflightOptions{Job: true, Namespace: job.Metadata.Namespace, Image: job.Spec.Image, Workers: pods,
		JobSet: engine == crd.EngineJobSet, NoResources: job.Spec.ResourceMode == crd.ResourcesNone}
	if t := job.Spec.PodTemplate; t != nil {
		needs.NodeSelector, needs.Tolerations = t.NodeSelector, t.Tolerations
	}
	return needs
}
