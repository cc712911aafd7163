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
	"log/slog"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/workqueue"

	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/cluster/kube/deployed"
	"aiperf/internal/cluster/kube/manifest"
)

// Options configures an operator.
type Options struct {
	Client dynamic.Interface
	Pods   Pods
	Store  *Store
	Prober Prober
	// Engine is what runs the pods of new jobs.
	Engine manifest.Engine
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
	// resync is the pause between two full lists, which catch what a watch has missed.
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
	o     Options
	queue workqueue.TypedRateLimitingInterface[key]

	mu sync.Mutex
	// beats are the heartbeats of controllers as they were first seen, by the UID of the job.
	beats map[string]beat
	// claims are the namespaces whose claim was looked at lately.
	claims   map[string]claimSeen
	ready    bool
	counters counters
}

// New returns an operator that has not started.
func New(o Options) *Operator {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[key](time.Second, apiRetry)
	return &Operator{
		o: o, queue: workqueue.NewTypedRateLimitingQueue[key](limiter), beats: map[string]beat{},
		claims: map[string]claimSeen{}, counters: newCounters(),
	}
}

// Ready reports whether this operator leads and has seen all resources once.
func (o *Operator) Ready() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ready
}

// Run leads whenever it holds the lease, until ctx ends.
func (o *Operator) Run(ctx context.Context) error {
	defer o.queue.ShutDown()
	return o.elect(ctx, o.lead)
}

// lead watches and works until ctx ends.
func (o *Operator) lead(ctx context.Context) {
	var running sync.WaitGroup
	for _, w := range []struct {
		kind     string
		resource client.Kind
	}{{crd.JobKind, jobsResource}, {crd.SweepKind, sweepsResource}} {
		running.Go(func() { o.watch(ctx, w.kind, w.resource) })
	}
	running.Go(func() { o.cleanup(ctx) })
	running.Go(func() { o.keepClaims(ctx) })
	work := make(chan key)
	go func() { // Get cannot be interrupted but by the end of the queue
		defer close(work)
		for {
			k, ended := o.queue.Get()
			if ended {
				return
			}
			select {
			case work <- k:
			case <-ctx.Done():
				o.queue.Done(k)
				o.queue.Add(k) // for the next time that this operator leads
				return
			}
		}
	}()
	for range workers {
		running.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case k, ok := <-work:
					if !ok {
						return
					}
					o.step(ctx, k)
				}
			}
		})
	}
	running.Wait()
	o.mu.Lock()
	o.ready = false
	o.mu.Unlock()
}

// step brings one resource a step further and says when to look again.
func (o *Operator) step(ctx context.Context, k key) {
	defer o.queue.Done(k)
	after, err := o.reconcile(ctx, k)
	o.looked(k, err)
	var r retry
	switch {
	case ctx.Err() != nil:
		o.queue.Add(k)
	case errors.As(err, &r):
		o.o.Log.Warn(k.String()+": "+err.Error(), "again in", r.after)
		o.queue.Forget(k)
		o.queue.AddAfter(k, r.after)
	case err != nil:
		o.o.Log.Warn(k.String() + ": " + err.Error())
		o.queue.AddRateLimited(k)
	default:
		o.queue.Forget(k)
		if after > 0 {
			o.queue.AddAfter(k, after)
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

// watch enqueues every resource that exists or changes, until ctx ends.
func (o *Operator) watch(ctx context.Context, kind string, resource client.Kind) {
	resources := o.o.Client.Resource(resource).Namespace(o.o.Watch)
	pause := time.Second
	for ctx.Err() == nil {
		err := o.watchOnce(ctx, kind, resources)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			o.o.Log.Warn("watching "+kind+": "+err.Error(), "again in", pause)
			wait(ctx, pause)
			pause = min(2*pause, apiRetry)
			continue
		}
		pause = time.Second
	}
}

func (o *Operator) watchOnce(ctx context.Context, kind string, resources dynamic.ResourceInterface) error {
	list, err := resources.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	add := func(u *unstructured.Unstructured) { o.queue.Add(key{kind, u.GetNamespace(), u.GetName()}) }
	for i := range list.Items {
		add(&list.Items[i])
	}
	o.mu.Lock()
	o.ready = true
	o.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, resync)
	defer cancel()
	w, err := resources.Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		return err
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case event, ok := <-w.ResultChan():
			if !ok {
				return errors.New("the watch has ended")
			}
			if u, isObject := event.Object.(*unstructured.Unstructured); isObject {
				add(u)
				continue
			}
			return apierrors.FromObject(event.Object)
		}
	}
}

// wait waits for a time, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// cleanup removes results that are older than they need to be.
func (o *Operator) cleanup(ctx context.Context) {
	wait(ctx, firstCleanup)
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
		wait(ctx, o.o.CleanupInterval)
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
