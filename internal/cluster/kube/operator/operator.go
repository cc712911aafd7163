// Package operator brings AIPerfJobs and AIPerfSweeps about in a cluster: it makes the objects of each, follows their
// pods, reports in the status, stores the results, and removes what is no longer needed.
//
// Vocabulary: the engine of a job is what runs its pods, indexed Jobs or a JobSet; the controller is the pod of the
// coordinator, whose sidecar serves the results; a run is one execution, named by its epoch; a claim is the right of one
// operator to store the results of a run.
//
// Invariants: every step can be made again after a crash at any point, since what is known of a job is in the cluster;
// a terminal job never changes; one operator at a time leads; nothing is deleted that belongs to another resource. The
// package must never know how a benchmark runs.
//
// It also makes the runs of an AIPerfSweep, one AIPerfJob after the other, in a pod of its own.
//
// Vocabulary: a cell is a variation with a trial, a child the job of a cell. The order of the cells, convergence and
// searches are those of package experiment/series; a child stands for a run there. What the runs amount to is written
// into a folder, from which the operator takes it.
//
// Invariants: after a crash the same children are found again, by owner, labels and the hash of their specification; a
// child of anything else is never touched; the sweep's status is written by this package alone while it runs.
//
// It also keeps the results of benchmarks on the operator's volume, and an index over them.
//
// A Run is one execution of a job or a sweep, in a directory of its own: NAMESPACE/JOB/EPOCH, or
// NAMESPACE/sweeps/SWEEP/EPOCH. Beside the runs of a job latest.txt names the newest that is complete. Files are stored
// as they are or compressed with zstd, with ".zst" after their names; readers ask for the name without it.
//
// Invariants: no name leads out of the volume; a file appears as a whole or not at all; the current run of a job is
// never removed; the index can always be made again from the directories. The package must never know a cluster.
package operator

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"aiperf/internal/base/clock"
	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/cluster/kube/deployed"
)

// Options configures an operator.
type Options struct {
	Client dynamic.Interface
	Pods   Pods
	Store  *Store
	Prober Prober
	// Engine is what runs the pods of new jobs.
	Engine crd.Engine
	// Identity names this process among the operators: the name of its pod.
	Identity string
	// Namespace is the operator's own, which holds the lease of the leader. Watch is the namespace that is watched, ""
	// for all.
	Namespace, Watch string
	// ID claims the namespaces in which jobs are for this operator alone; "" leaves claimed ones to their operators.
	ID string
	// ResultsToken is what the results server asks for; "" if it is open.
	ResultsToken string
	// Preflight checks whether the cluster can run a job; nil checks nothing beside the service account.
	Preflight func(context.Context, deployed.PreflightOptions) *deployed.PreflightResults
	Log       *slog.Logger
	Settings
}

// Settings are the limits and intervals.
type Settings struct {
	// JobTimeout bounds jobs that set no limit themselves; 0 is none.
	JobTimeout time.Duration
	// RestartThreshold is the number of restarts of a container from which on each is reported.
	RestartThreshold int
	// EndpointTimeout bounds the question to the server before a job starts, PreflightTimeout the checks of the cluster.
	EndpointTimeout, PreflightTimeout time.Duration
	// ClaimTrust is how long a claim is respected whose operator is silent.
	ClaimTrust time.Duration
	// Lease is the validity of the claim of a namespace, and of the leader's.
	NamespaceLease, LeaderLease time.Duration
	// MonitorInterval is the pause between two looks at a job, InitialDelay that before the first.
	MonitorInterval, InitialDelay time.Duration
	// ResultsRetries is how often the download of results is tried, first after ResultsRetryDelay.
	ResultsRetries                     int
	ResultsRetryDelay, DownloadTimeout time.Duration
	DownloadConcurrency                int
	// CleanupInterval is the pause between two looks for results older than ResultsTTLDays.
	CleanupInterval time.Duration
	ResultsTTLDays  int
	// BaseURL is where the results server is reached within the cluster.
	BaseURL string
}

// Defaults are the documented settings.
func Defaults() Settings {
	return Settings{
		RestartThreshold: 3, EndpointTimeout: 10 * time.Second, PreflightTimeout: 30 * time.Second,
		ClaimTrust: 900 * time.Second, NamespaceLease: 300 * time.Second, LeaderLease: 15 * time.Second,
		MonitorInterval: 10 * time.Second, InitialDelay: 5 * time.Second, ResultsRetries: 5,
		ResultsRetryDelay: 2 * time.Second, DownloadTimeout: 300 * time.Second, DownloadConcurrency: 5,
		CleanupInterval: 86400 * time.Second, ResultsTTLDays: 30,
		BaseURL: "http://aiperf-operator.aiperf-system:8081",
	}
}

// Delays before another try, by what failed.
const (
	apiRetry         = 30 * time.Second
	stateRetry       = 15 * time.Second
	persistenceRetry = 10 * time.Second
	// firstCleanup is when results are first looked at for their age.
	firstCleanup = 3600 * time.Second
	// resync is how often all resources are looked at, whatever has changed.
	resync = 5 * time.Minute
	// workers is the number of resources that are looked at at a time.
	workers = 4
	// lingering is how long the engine of a terminal job may go on before it is removed.
	lingering = 60 * time.Second
)

// The resources that are used beside those of [client].
var (
	jobsResource     = client.Kind{Group: crd.Group, Version: crd.Version, Resource: crd.Jobs}
	sweepsResource   = client.Kind{Group: crd.Group, Version: crd.Version, Resource: crd.Sweeps}
	accountsResource = client.Kind{Version: "v1", Resource: "serviceaccounts"}
	leasesResource   = client.Kind{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
)

// key names a job or a sweep.
type key struct {
	kind, namespace, name string
}

func (k key) String() string { return k.kind + " " + k.namespace + "/" + k.name }

// Operator is a running operator.
type Operator struct {
	o Options

	mu sync.Mutex
	// queue holds what is to be looked at. Each time that this operator leads has its own.
	queue workqueue.TypedRateLimitingInterface[key]
	// beats are the heartbeats of controllers as they were first seen, by the UID of the job.
	beats map[string]beat
	// claims are the namespaces whose claim was looked at lately.
	claims   map[string]claimSeen
	ready    bool
	counters counters
}

// New returns an operator that has not started.
func New(o Options) *Operator {
	return &Operator{o: o, beats: map[string]beat{}, claims: map[string]claimSeen{}, counters: newCounters()}
}

// Ready reports whether this operator leads and has seen all resources once.
func (o *Operator) Ready() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ready
}

// Run leads whenever it holds the lease, until ctx ends.
func (o *Operator) Run(ctx context.Context) error {
	return o.elect(ctx, o.lead)
}

// lead watches and works until ctx ends, and returns when all that it has begun has ended.
func (o *Operator) lead(ctx context.Context) {
	queue := newQueue()
	o.mu.Lock()
	o.queue = queue
	o.mu.Unlock()
	var running sync.WaitGroup
	synced := []cache.InformerSynced{}
	for _, w := range []struct {
		kind     string
		resource client.Kind
	}{{crd.JobKind, jobsResource}, {crd.SweepKind, sweepsResource}} {
		informer := o.informer(w.kind, w.resource, queue)
		synced = append(synced, informer.HasSynced)
		running.Go(func() { informer.RunWithContext(ctx) })
	}
	running.Go(func() { o.cleanup(ctx) })
	running.Go(func() { o.keepClaims(ctx) })
	for range workers {
		running.Go(func() {
			for {
				k, ended := queue.Get()
				if ended {
					return
				}
				o.step(ctx, queue, k)
			}
		})
	}
	if cache.WaitForCacheSync(ctx.Done(), synced...) {
		o.setReady(true)
	}
	<-ctx.Done()
	queue.ShutDown()
	running.Wait()
	o.setReady(false)
}

// newQueue returns a queue in which what fails waits for longer each time.
func newQueue() workqueue.TypedRateLimitingInterface[key] {
	return workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[key](time.Second, apiRetry))
}

func (o *Operator) setReady(ready bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ready = ready
}

// step brings one resource a step further and says when to look again. What is not done when ctx ends is found anew by
// whoever leads next.
func (o *Operator) step(ctx context.Context, queue workqueue.TypedRateLimitingInterface[key], k key) {
	defer queue.Done(k)
	if ctx.Err() != nil {
		return
	}
	after, err := o.reconcile(ctx, k)
	o.looked(k, err)
	var r retry
	switch {
	case ctx.Err() != nil:
	case errors.As(err, &r):
		o.o.Log.Warn(k.String()+": "+err.Error(), "again in", r.after)
		queue.Forget(k)
		queue.AddAfter(k, r.after)
	case err != nil:
		o.o.Log.Warn(k.String() + ": " + err.Error())
		queue.AddRateLimited(k)
	default:
		queue.Forget(k)
		if after > 0 {
			queue.AddAfter(k, after)
		}
	}
}

func (o *Operator) reconcile(ctx context.Context, k key) (time.Duration, error) {
	mine, err := o.mine(ctx, k.namespace)
	if err != nil {
		return 0, err
	}
	if !mine {
		return o.o.NamespaceLease / 3, nil
	}
	if k.kind == crd.SweepKind {
		return o.reconcileSweep(ctx, k)
	}
	return o.reconcileJob(ctx, k)
}

// retry is an error after which the same step is tried again.
type retry struct {
	after time.Duration
	err   error
}

func (r retry) Error() string { return r.err.Error() }
func (r retry) Unwrap() error { return r.err }

// permanent is an error that no further try can change: the job has failed.
type permanent struct{ err error }

func (p permanent) Error() string { return p.err.Error() }
func (p permanent) Unwrap() error { return p.err }

// informer enqueues every resource of a kind that exists, changes or goes, and all of them again after each resync. It
// keeps no more than their names: a step reads the resource itself, as it is then.
func (o *Operator) informer(kind string, resource client.Kind, queue workqueue.TypedInterface[key]) cache.SharedIndexInformer {
	resources := o.o.Client.Resource(resource).Namespace(o.o.Watch)
	source := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return resources.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return resources.Watch(ctx, options)
		},
	}, o.o.Client)
	informer := cache.NewSharedIndexInformerWithOptions(source, &unstructured.Unstructured{},
		cache.SharedIndexInformerOptions{ResyncPeriod: resync, ObjectDescription: resource.String()})
	// None of these can fail on an informer that has not started.
	_ = informer.SetTransform(nameOnly)
	_ = informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		if !errors.Is(err, io.EOF) && !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) { // else it is time to list anew
			o.o.Log.Warn("watching " + kind + ": " + err.Error())
		}
	})
	add := func(x any) {
		if name, err := cache.DeletionHandlingObjectToName(x); err == nil {
			queue.Add(key{kind, name.Namespace, name.Name})
		}
	}
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: add, UpdateFunc: func(_, x any) { add(x) }, DeleteFunc: add,
	})
	return informer
}

// nameOnly leaves of a resource what tells it from others and from its earlier states.
func nameOnly(x any) (any, error) {
	u, ok := x.(*unstructured.Unstructured)
	if !ok {
		return x, nil
	}
	short := &unstructured.Unstructured{Object: crd.Object{}}
	short.SetGroupVersionKind(u.GroupVersionKind())
	short.SetNamespace(u.GetNamespace())
	short.SetName(u.GetName())
	short.SetUID(u.GetUID())
	short.SetResourceVersion(u.GetResourceVersion())
	return short, nil
}

// cleanup removes results that are older than they need to be.
func (o *Operator) cleanup(ctx context.Context) {
	clock.Wait(ctx, firstCleanup)
	for ctx.Err() == nil {
		days := func(r ArchivedRun) int {
			if e, ok := o.o.Store.Entry(r); ok && e.ResultsTTLDays > 0 {
				return e.ResultsTTLDays
			}
			return o.o.ResultsTTLDays
		}
		live := o.liveRuns(ctx)
		if live != nil {
			removed, err := o.o.Store.Expire(days, func(r ArchivedRun) bool { return live[r] })
			if err != nil {
				o.o.Log.Warn("removing old results: " + err.Error())
			}
			if len(removed) > 0 {
				o.o.Log.Info("removed old results", "runs", len(removed))
			}
		}
		clock.Wait(ctx, o.o.CleanupInterval)
	}
}

// liveRuns are the runs of jobs and sweeps that are not terminal; nil where they cannot be listed.
func (o *Operator) liveRuns(ctx context.Context) map[ArchivedRun]bool {
	live := map[ArchivedRun]bool{}
	for _, resource := range []client.Kind{jobsResource, sweepsResource} {
		list, err := o.o.Client.Resource(resource).Namespace(o.o.Watch).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil
		}
		for i := range list.Items {
			u := &list.Items[i]
			phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
			epoch, _, _ := unstructured.NestedString(u.Object, "status", "runEpoch")
			if !crd.Terminal(phase) && epoch != "" {
				live[ArchivedRun{Namespace: u.GetNamespace(), Name: u.GetName(), Epoch: epoch,
					Sweep: resource == sweepsResource}] = true
			}
		}
	}
	return live
}
