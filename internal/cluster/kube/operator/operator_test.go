package operator

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/fake"
	k8stesting "k8s.io/client-go/testing"

	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
)

// cluster is a cluster in memory with an operator that does one step at a time.
type cluster struct {
	t      *testing.T
	client *fake.FakeDynamicClient
	pods   *podServer
	probe  *prober
	store  *Store
	op     *Operator
}

type prober struct{ resolve, reach error }

func (p *prober) Resolve(context.Context, string) error { return p.resolve }
func (p *prober) Reach(context.Context, string) error   { return p.reach }

// podServer answers for the pods, by path; paths that it does not have cannot be reached.
type podServer struct {
	mu    sync.Mutex
	paths map[string]string
	asked []string
}

func (p *podServer) Do(_ context.Context, method string, _ PodRef, _ int, path string) (*http.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, method+" "+path)
	body, ok := p.paths[path]
	if !ok {
		return nil, errors.New("connection refused")
	}
	return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Body: io.NopCloser(strings.NewReader(body))}, nil
}

var lists = map[client.Kind]string{
	jobsResource: "AIPerfJobList", sweepsResource: "AIPerfSweepList", client.Pods: "PodList", client.Nodes: "NodeList",
	client.Events: "EventList", client.Jobs: "JobList", client.JobSets: "JobSetList", leasesResource: "LeaseList",
	client.Services: "ServiceList", client.Secrets: "SecretList", client.ConfigMaps: "ConfigMapList",
	client.Roles: "RoleList", client.RoleBindings: "RoleBindingList", client.NetworkPolicies: "NetworkPolicyList",
	accountsResource: "ServiceAccountList",
}

func newCluster(t *testing.T, objects ...runtime.Object) *cluster {
	t.Helper()
	store, err := OpenArchive(t.TempDir(), ArchiveOptions{RetainRuns: 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	c := &cluster{t: t, pods: &podServer{paths: map[string]string{}}, probe: &prober{}, store: store,
		client: fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists, objects...)}
	c.op = c.operator("one")
	return c
}

func (c *cluster) operator(identity string) *Operator {
	return New(Options{Client: c.client, Pods: c.pods, Store: c.store, Prober: c.probe, Engine: crd.EngineJobs,
		Identity: identity, Namespace: "system", Log: slog.New(slog.DiscardHandler), Settings: Defaults()})
}

var jobKey = key{crd.JobKind, "ns", "j"}

func job(extra crd.Object) *unstructured.Unstructured {
	spec := crd.Object{"image": "i", "resourceMode": "none", "benchmark": crd.Object{
		"models": []any{"m"}, "endpoint": crd.Object{"urls": []any{"http://server:8000"}},
		"datasets": []any{crd.Object{"name": "main", "type": "synthetic", "entries": int64(5),
			"prompts": crd.Object{"isl": int64(5), "osl": int64(5)}}},
		"tokenizer": crd.Object{"name": "builtin"},
		"phases": []any{crd.Object{"name": "profiling", "type": "concurrency", "concurrency": int64(2),
			"requests": int64(4)}},
	}}
	for name, value := range extra {
		spec[name] = value
	}
	return &unstructured.Unstructured{Object: crd.Object{"apiVersion": crd.APIVersion, "kind": crd.JobKind,
		"metadata": crd.Object{"name": "j", "namespace": "ns", "uid": "u-1", "creationTimestamp": "2026-11-24T12:00:00Z"},
		"spec":     spec}}
}

// step looks at the job once.
func (c *cluster) step() (time.Duration, error) {
	c.t.Helper()
	return c.op.reconcile(c.t.Context(), jobKey)
}

// steps looks at the job as often as the operator asks, for a time.
func (c *cluster) steps(d time.Duration) {
	c.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		after, err := c.step()
		var r retry
		switch {
		case errors.As(err, &r):
			after = r.after
		case err != nil:
			c.t.Fatal(err)
		case after == 0:
			return
		}
		time.Sleep(after)
	}
}

func (c *cluster) head() *jobHead {
	c.t.Helper()
	u, err := c.client.Resource(jobsResource).Namespace("ns").Get(c.t.Context(), "j", metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	var h jobHead
	if err := read(u, &h); err != nil {
		c.t.Fatal(err)
	}
	return &h
}

func (c *cluster) condition(kind string) crd.Condition {
	for _, x := range c.head().Status.Conditions {
		if x.Type == kind {
			return x
		}
	}
	return crd.Condition{}
}

func (c *cluster) patch(kind client.Kind, name, patch string) {
	c.t.Helper()
	if _, err := c.client.Resource(kind).Namespace("ns").Patch(c.t.Context(), name, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

// job returns a Job of Kubernetes.
func (c *cluster) job(name string) *unstructured.Unstructured {
	c.t.Helper()
	u, err := c.client.Resource(client.Jobs).Namespace("ns").Get(c.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return u
}

func (c *cluster) exists(kind client.Kind, name string) bool {
	_, err := c.client.Resource(kind).Namespace("ns").Get(c.t.Context(), name, metav1.GetOptions{})
	return err == nil
}

// pod adds or replaces a pod of the job.
func (c *cluster) pod(name, role string, status crd.Object) {
	c.t.Helper()
	u := &unstructured.Unstructured{Object: crd.Object{"apiVersion": "v1", "kind": "Pod",
		"metadata": crd.Object{"name": name, "namespace": "ns", "uid": name, "labels": crd.Object{
			crd.LabelApp: crd.AppName, crd.LabelJob: "j", crd.LabelRole: role}}, "status": status}}
	pods := c.client.Resource(client.Pods).Namespace("ns")
	_ = pods.Delete(c.t.Context(), name, metav1.DeleteOptions{})
	if _, err := pods.Create(c.t.Context(), u, metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

func waiting(reason string) crd.Object {
	return crd.Object{"phase": "Pending", "containerStatuses": []any{crd.Object{"name": "agent", "restartCount": int64(0),
		"state": crd.Object{"waiting": crd.Object{"reason": reason, "message": "why"}}}}}
}

func unschedulable(message string) crd.Object {
	return crd.Object{"phase": "Pending", "conditions": []any{crd.Object{"type": "PodScheduled", "status": "False",
		"reason": "Unschedulable", "message": message}}}
}

var up = crd.Object{"phase": "Running", "podIP": "10.0.0.1", "conditions": []any{crd.Object{"type": "Ready", "status": "True"}}}

func (c *cluster) warnings() (reasons []string) {
	list, err := c.client.Resource(client.Events).Namespace("ns").List(c.t.Context(), metav1.ListOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, e := range list.Items {
		reasons = append(reasons, e.Object["reason"].(string))
	}
	return reasons
}

func TestAJobIsMadeInItsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, job(nil))
		if _, err := c.step(); err != nil {
			t.Fatal(err)
		}
		var made []string
		for _, a := range c.client.Actions() {
			if a.GetVerb() == "create" && a.GetResource() != leasesResource {
				made = append(made, a.GetResource().Resource)
			}
		}
		want := []string{"roles", "rolebindings", "configmaps", "secrets", "networkpolicies", "services", "jobs", "jobs"}
		if !slices.Equal(made, want) {
			t.Errorf("made %v, not %v", made, want)
		}
		h := c.head()
		if h.Status.Phase != crd.Pending || h.Status.JobID != "j" || h.Status.JobSetName != "aiperf-j" ||
			h.Status.Workers.Total != 1 || !created(&h.Status) {
			t.Errorf("the status is %+v", h.Status)
		}
		if _, ok := c.store.Entry(runOf(jobKey, &h.Status)); !ok {
			t.Error("the index has no row")
		}
		// A crash after any step is made good: nothing is made twice, and nothing is an error.
		c.patch(jobsResource, "j", `{"status":null}`)
		if _, err := c.step(); err != nil {
			t.Error(err)
		}
	})
}

func TestAnObjectOfAnotherResourceIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other := &unstructured.Unstructured{Object: crd.Object{"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": crd.Object{"name": "aiperf-j-config", "namespace": "ns"}}}
		c := newCluster(t, job(nil), other)
		if _, err := c.step(); err != nil {
			t.Fatal(err)
		}
		if h := c.head(); h.Status.Phase != crd.Failed || !strings.Contains(h.Status.Error, "aiperf-j-config") {
			t.Errorf("the status is %+v", h.Status)
		}
	})
}

func TestTrap1AnUnreachableServerWarnsAnUnknownNameFails(t *testing.T) {
	for _, c := range []struct {
		name           string
		prober         prober
		phase, reason  string
		createsObjects bool
		took           time.Duration
	}{
		{"unreachable", prober{reach: errors.New("connection refused")}, crd.Pending, "EndpointUnreachable", true, 0},
		{"unknown", prober{resolve: &net.DNSError{Err: "no such host", IsNotFound: true}}, crd.Failed,
			"EndpointDNSResolutionFailed", false, 10 * time.Second},
		{"name server down", prober{resolve: &net.DNSError{Err: "timeout", IsTimeout: true}}, crd.Pending,
			"EndpointReachable", true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newCluster(t, job(nil))
				*k.probe = c.prober
				began := time.Now()
				if _, err := k.step(); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took != c.took {
					t.Errorf("it took %v, not %v", took, c.took)
				}
				if got := k.condition(endpointReachable).Reason; got != c.reason || k.head().Status.Phase != c.phase {
					t.Errorf("%s and %s", got, k.head().Status.Phase)
				}
				if k.exists(client.Jobs, "aiperf-j-workers-0") != c.createsObjects {
					t.Error("the pods are not as they should be")
				}
			})
		})
	}
}

func TestTrap7CancelChangesNothingOfATerminalJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, job(nil))
		c.steps(time.Second)
		c.patch(jobsResource, "j", `{"spec":{"cancel":true},"status":{"liveMetrics":{"metrics":{},"total_requests":4}}}`)
		if _, err := c.step(); err != nil {
			t.Fatal(err)
		}
		h := c.head()
		if h.Status.Phase != crd.Cancelled || c.exists(client.Jobs, "aiperf-j-workers-0") {
			t.Fatalf("a cancelled job is %s", h.Status.Phase)
		}
		if got := c.condition(resultsAvailable).Reason; got != "PartialLiveMetricsRecovered" || h.Status.ResultsPath == "" {
			t.Errorf("of its results %q are kept in %q", got, h.Status.ResultsPath)
		}
		for _, phase := range []string{crd.Completed, crd.Failed, crd.Cancelled} {
			c.patch(jobsResource, "j", `{"spec":{"cancel":true},"status":{"phase":"`+phase+`"}}`)
			before := c.head().Status
			time.Sleep(time.Hour)
			if _, err := c.step(); err != nil {
				t.Fatal(err)
			}
			after := c.head().Status
			if after.Phase != phase || !after.CompletionTime.Equal(*before.CompletionTime) {
				t.Errorf("%s at %v became %s at %v", phase, before.CompletionTime, after.Phase, after.CompletionTime)
			}
		}
	})
}

func TestTrap9InsufficientCPUNeverFailsAWrongImageDoes(t *testing.T) {
	for _, x := range []struct {
		name, want, reason string
		status             crd.Object
	}{
		{"insufficient CPU", crd.Pending, "SchedulingDelayed", unschedulable("0/2 nodes are available: 2 Insufficient cpu.")},
		{"one node does not suit, one is full", crd.Pending, "SchedulingDelayed",
			unschedulable("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector.")},
		{"wrong image", crd.Failed, "PodStartupFailed", waiting("ImagePullBackOff")},
		{"no node suits", crd.Failed, "PodStartupFailed",
			unschedulable("0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.")},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, job(nil))
				c.steps(time.Second)
				c.pod("w", crd.RoleWorker, x.status)
				c.steps(85 * time.Second)
				if got := c.head().Status.Phase; got != crd.Pending {
					t.Fatalf("before 90 seconds the job is %s", got)
				}
				c.steps(20 * time.Second)
				if got := c.head().Status; got.Phase != x.want || c.condition(workersReady).Reason != x.reason {
					t.Errorf("after 90 seconds the job is %s, %s: %s", got.Phase, c.condition(workersReady).Reason, got.Error)
				}
				if blocked := slices.Contains(c.warnings(), "PodStartupBlocked"); blocked != (x.want == crd.Failed) {
					t.Errorf("the events are %v", c.warnings())
				}
				if x.want == crd.Failed && c.exists(client.Jobs, "aiperf-j-workers-0") {
					t.Error("the pods of the failed job stay")
				}
			})
		})
	}
}

func TestTheClockOfABlockerStartsAgainWithAnotherReason(t *testing.T) {
	s := &crd.JobStatus{}
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	image := &blocker{"image", "p", "c", "ErrImagePull", ""}
	at := func(b *blocker, seconds int) (warn, fail bool) {
		return observe(s, b, now.Add(time.Duration(seconds)*time.Second))
	}
	at(image, 0)
	if warn, fail := at(&blocker{"image", "p", "c", "ImagePullBackOff", ""}, 30); !warn || fail {
		t.Error("the same category is the same blocker: a warning is due at 30 seconds")
	}
	if warn, _ := at(image, 31); warn {
		t.Error("a second warning")
	}
	if _, fail := at(&blocker{"config", "p", "c", "CreateContainerConfigError", ""}, 100); fail {
		t.Error("another reason must start the clock again")
	}
	if _, fail := at(&blocker{"config", "p", "c", "CreateContainerConfigError", ""}, 189); fail {
		t.Error("89 seconds are too few")
	}
	if _, fail := at(&blocker{"config", "p", "c", "CreateContainerConfigError", ""}, 190); !fail {
		t.Error("90 seconds are enough")
	}
	at(nil, 200)
	if s.StartupIssue != nil {
		t.Error("the issue stays without a blocker")
	}
}

func TestTrap12NumbersAreRoundedAndInfiniteOnesVanish(t *testing.T) {
	phases := map[string]crd.PhaseProgress{"profiling": {PhaseKind: "profiling", RequestsCompleted: 3, RequestsErrors: 1}}
	got := liveMetrics(map[string]crd.Object{
		"request_latency":     {"unit": "ms", "avg": 12.34567, "p99": 99.999},
		"time_to_first_token": {"unit": "ms", "avg": math.Inf(1), "p99": 1.0},
		"inter_token_latency": {"unit": "ms", "avg": math.NaN()},
		"not_shown":           {"avg": 1.0},
		"http_req_waiting":    {"avg": 1.006},
	}, phases)
	text, err := json.Marshal(got)
	want := `{"error_rate":0.333333333,"metrics":{"http_req_waiting":{"avg":1.01},` +
		`"request_latency":{"avg":12.35,"p99":100,"unit":"ms"}},"total_requests":3}`
	if err != nil || string(text) != want {
		t.Errorf("the metrics are %s, %v, not %s", text, err, want)
	}
}

func TestTrap16AJobWithASweepIsRefused(t *testing.T) {
	for name, extra := range map[string]crd.Object{
		"sweep":       {"sweep": crd.Object{"type": "grid", "parameters": crd.Object{}}},
		"several":     {"multiRun": crd.Object{"numRuns": int64(2)}},
		"convergence": {"multiRun": crd.Object{"convergence": crd.Object{"metric": "request_latency"}}},
		"unknown key": {"nonsense": true},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, job(extra))
			if _, err := c.step(); err != nil {
				t.Fatal(err)
			}
			if c.head().Status.Phase != crd.Failed || c.condition(configValid).Reason != "SpecInvalid" {
				t.Errorf("%s: %+v", name, c.head().Status)
			}
			if c.exists(client.Roles, "aiperf-j-role") {
				t.Errorf("%s: objects were made", name)
			}
		})
	}
}

func TestTrap17AMissingJobSetIsReadAgain(t *testing.T) {
	claimed := func(age time.Duration) string {
		text, _ := json.Marshal(claim{"another", time.Now().Add(-age)})
		quoted, _ := json.Marshal(string(text))
		return `{"metadata":{"annotations":{"` + crd.AnnotationClaimed + `":` + string(quoted) + `}}}`
	}
	remove := func(c *cluster) {
		_ = c.client.Resource(client.Jobs).Namespace("ns").Delete(c.t.Context(), "aiperf-j-controller-0", metav1.DeleteOptions{})
	}
	for _, x := range []struct {
		name  string
		claim time.Duration // its age; negative for none
		back  bool
		want  string
	}{
		{"gone for good", -1, false, crd.Failed}, {"there again", -1, true, crd.Pending},
		{"its results are being stored", 899 * time.Second, false, crd.Pending},
		{"an old claim", 901 * time.Second, false, crd.Failed},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, job(nil))
				c.steps(time.Second)
				u, err := c.client.Resource(client.Jobs).Namespace("ns").Get(t.Context(), "aiperf-j-controller-0", metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if x.claim >= 0 {
					c.patch(jobsResource, "j", claimed(x.claim-2*time.Second))
				}
				remove(c)
				began := time.Now()
				if x.back {
					time.AfterFunc(time.Second, func() {
						_, _ = c.client.Resource(client.Jobs).Namespace("ns").Create(context.WithoutCancel(t.Context()), u, metav1.CreateOptions{})
					})
				}
				if _, err := c.step(); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took != rereadAfter {
					t.Errorf("the job was judged after %v", took)
				}
				if got := c.head().Status.Phase; got != x.want {
					t.Errorf("the job is %s", got)
				}
			})
		})
	}
}

func TestTrap18ConditionsKeepTheTimeOfTheirLastChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, job(nil))
		c.steps(time.Second)
		c.pod("w", crd.RoleWorker, crd.Object{"phase": "Pending"})
		c.steps(20 * time.Second)
		first := c.condition(workersReady)
		c.pod("w", crd.RoleWorker, unschedulable("1 Insufficient cpu"))
		c.steps(60 * time.Second)
		second := c.condition(workersReady)
		if second.Reason == first.Reason || !second.LastTransitionTime.Equal(*first.LastTransitionTime) {
			t.Errorf("another reason of the same status: %+v became %+v", first, second)
		}
		c.pod("w", crd.RoleWorker, up)
		c.steps(20 * time.Second)
		if third := c.condition(workersReady); third.Status != "True" || third.LastTransitionTime.Equal(*first.LastTransitionTime) {
			t.Errorf("another status keeps the time: %+v", third)
		}
	})
}

func TestTrap21AQueuedJobIsSuspended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, job(crd.Object{"scheduling": crd.Object{"queueName": "q"}}))
		c.steps(time.Second)
		c.steps(15 * time.Second)
		if got := c.head().Status.Phase; got != crd.Queued {
			t.Fatalf("a suspended job is %s", got)
		}
		if labels := c.job("aiperf-j-controller-0").GetLabels(); labels[crd.LabelQueue] != "" {
			t.Errorf("the controller stands in a queue of its own: %v", labels)
		}
		c.patch(client.Jobs, "aiperf-j-workers-0", `{"spec":{"suspend":false}}`) // as Kueue does
		c.steps(15 * time.Second)
		if got := c.head().Status.Phase; got != crd.Pending {
			t.Errorf("a job that was admitted is %s", got)
		}
		spec, _ := c.job("aiperf-j-controller-0").Object["spec"].(crd.Object)
		if spec["suspend"] != false {
			t.Errorf("the controller of an admitted job: %v", spec["suspend"])
		}
	})
}

const progressReply = `{"phases":{"profiling":{"requests_sent":4,"requests_completed":4,"total_expected_requests":4}},"system_state":"profiling"}`

// complete answers like a controller whose run is over.
func (c *cluster) complete() {
	c.pods.mu.Lock()
	c.pods.paths = map[string]string{
		"/api/progress": progressReply, "/api/metrics": `{"metrics":{}}`, "/api/shutdown": "{}",
		"/api/results/list":             `{"ready":true,"partial":false,"files":[{"name":"logs/a.log","size":3}]}`,
		"/api/results/files/logs/a.log": "log",
	}
	c.pods.mu.Unlock()
	c.patch(jobsResource, "j", `{"metadata":{"annotations":{"`+crd.AnnotationComplete+`":"now"}}}`)
}

func TestResultsAreStoredOnceAndThenThePodsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, job(nil))
		c.steps(time.Second)
		c.pod("c", crd.RoleController, up)
		c.complete()
		if _, err := c.step(); err != nil {
			t.Fatal(err)
		}
		h := c.head()
		if h.Status.Phase != crd.Completed || c.condition(resultsAvailable).Reason != "ResultsStored" ||
			c.condition(complete).Status != "True" || c.condition(failed).Status != "False" {
			t.Errorf("the status is %+v", h.Status)
		}
		r := runOf(jobKey, &h.Status)
		if text, err := c.store.ReadFile(r, "logs/a.log", 10); err != nil || string(text) != "log" {
			t.Errorf("stored is %q, %v", text, err)
		}
		if latest, err := c.store.Latest("ns", "j", false); err != nil || latest != r {
			t.Errorf("latest is %v, %v", latest, err)
		}
		if c.pods.asked[len(c.pods.asked)-1] != "POST /api/shutdown" {
			t.Errorf("the pod was asked %v", c.pods.asked)
		}
	})
}

func TestAnotherOperatorsClaimIsRespected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, job(nil))
		c.steps(time.Second)
		c.pod("c", crd.RoleController, up)
		c.complete()
		if mine, err := c.operator("two").claim(t.Context(), jobKey, "u-1"); !mine || err != nil {
			t.Fatal(mine, err)
		}
		c.steps(800 * time.Second)
		if got := c.head().Status.Phase; crd.Terminal(got) {
			t.Fatalf("within the window of trust the job became %s", got)
		}
		c.steps(200 * time.Second)
		if got := c.head().Status.Phase; got != crd.Completed {
			t.Errorf("after it the job is %s", got)
		}
	})
}

func TestADownloadIsTriedFiveTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, job(nil))
		c.steps(time.Second)
		c.pod("c", crd.RoleController, up)
		c.complete()
		c.pods.paths["/api/results/files/logs/a.log"] = "lo" // torn off
		began := time.Now()
		if _, err := c.step(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != (2+4+8+16)*time.Second {
			t.Errorf("five tries took %v", took)
		}
		if c.head().Status.Phase != crd.Failed || c.condition(resultsAvailable).Reason != "ResultsFetchFailed" {
			t.Errorf("the status is %+v", c.head().Status)
		}
	})
}

func TestAFailedControllerLeavesWhatCanBeHad(t *testing.T) {
	dead := crd.Object{"phase": "Running", "podIP": "10.0.0.1", "containerStatuses": []any{
		crd.Object{"name": crd.ContainerController, "state": crd.Object{"terminated": crd.Object{"exitCode": int64(137)}}}}}
	for _, x := range []struct {
		name, want string
		prepare    func(c *cluster)
	}{
		{"its sidecar lives", "PartialCheckpointRecovered", func(c *cluster) {
			c.pods.paths["/api/results/list"] = `{"ready":true,"partial":true,"files":[{"name":"run_state.json","size":2}]}`
			c.pods.paths["/api/results/files/run_state.json"] = "{}"
		}},
		{"its metrics are known", "PartialLiveMetricsRecovered", func(c *cluster) {
			c.patch(jobsResource, "j", `{"status":{"liveMetrics":{"metrics":{},"total_requests":4}}}`)
		}},
		{"nothing is left", "ControllerTerminated", func(*cluster) {}},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, job(nil))
				c.steps(time.Second)
				c.pod("c", crd.RoleController, dead)
				x.prepare(c)
				if _, err := c.step(); err != nil {
					t.Fatal(err)
				}
				h := c.head()
				if h.Status.Phase != crd.Failed || c.condition(resultsAvailable).Reason != x.want ||
					!strings.Contains(h.Status.ControllerFailure, "137") {
					t.Errorf("the status is %+v", h.Status)
				}
			})
		})
	}
}

func TestASilentControllerIsDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, job(nil))
		c.steps(time.Second)
		c.pod("c", crd.RoleController, up)
		beat := func(value string) {
			c.patch(jobsResource, "j", `{"metadata":{"annotations":{"`+crd.AnnotationHeartbeat+`":"`+value+`"}}}`)
		}
		beat("1")
		c.steps(20 * time.Second)
		beat("2")
		c.steps(30 * time.Second)
		if got := c.head().Status.Phase; crd.Terminal(got) {
			t.Fatalf("the job is %s although its controller was heard", got)
		}
		// It is not heard any more, but it answers: its marks do not reach the API.
		c.pods.paths["/api/progress"] = progressReply
		c.steps(60 * time.Second)
		if got := c.head().Status.Phase; got != crd.Running {
			t.Fatalf("the job is %s although its controller answers", got)
		}
		delete(c.pods.paths, "/api/progress")
		c.steps(50 * time.Second)
		if h := c.head(); h.Status.Phase != crd.Failed || !strings.Contains(h.Status.Error, "silent") {
			t.Errorf("the status is %+v", h.Status)
		}
	})
}

func TestATimeoutEndsAJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, job(crd.Object{"timeoutSeconds": int64(60)}))
		c.steps(time.Second)
		c.steps(55 * time.Second)
		if got := c.head().Status.Phase; crd.Terminal(got) {
			t.Fatalf("before its time the job is %s", got)
		}
		c.steps(20 * time.Second)
		if h := c.head(); h.Status.Phase != crd.Failed || c.exists(client.Jobs, "aiperf-j-controller-0") {
			t.Errorf("after its time the job is %s", h.Status.Phase)
		}
	})
}

func TestRestartsAreReportedOnceEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, job(nil))
		c.steps(time.Second)
		restarted := func(n int64) crd.Object {
			return crd.Object{"phase": "Running", "containerStatuses": []any{crd.Object{"name": "agent", "restartCount": n,
				"state": crd.Object{"running": crd.Object{}}}}}
		}
		for _, n := range []int64{2, 3, 3, 4} {
			c.pod("w", crd.RoleWorker, restarted(n))
			c.steps(20 * time.Second)
		}
		if got := c.warnings(); !slices.Equal(got, []string{"ContainerRestarts", "ContainerRestarts"}) {
			t.Errorf("the events are %v", got)
		}
	})
}

func TestADeletedJobIsLetGoWithoutItsPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, job(nil))
		c.steps(time.Second)
		if !slices.Contains(c.head().Metadata.Finalizers, crd.FinalizerResources) {
			t.Fatal("the job has no finalizer")
		}
		c.patch(jobsResource, "j", `{"metadata":{"deletionTimestamp":"2026-11-24T13:00:00Z"}}`)
		if _, err := c.step(); err != nil {
			t.Fatal(err)
		}
		if c.exists(client.Jobs, "aiperf-j-controller-0") {
			t.Error("the pods stay")
		}
		u, err := c.client.Resource(jobsResource).Namespace("ns").Get(t.Context(), "j", metav1.GetOptions{})
		if err == nil && len(u.GetFinalizers()) > 0 || err != nil && !apierrors.IsNotFound(err) {
			t.Errorf("the finalizer stays: %v, %v", u, err)
		}
	})
}

func TestOneOperatorLeadsAndAnotherTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, job(nil))
		two := c.operator("two")
		ctxOne, endOne := context.WithCancel(t.Context())
		ctxTwo, endTwo := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = c.op.Run(ctxOne) })
		time.Sleep(time.Second)
		running.Go(func() { _ = two.Run(ctxTwo) })
		time.Sleep(time.Minute)
		if !c.op.Ready() || two.Ready() {
			t.Errorf("ready are %v and %v", c.op.Ready(), two.Ready())
		}
		if got := c.head().Status.Phase; got != crd.Pending {
			t.Errorf("the job is %s", got)
		}
		endOne()
		time.Sleep(time.Minute)
		if c.op.Ready() || !two.Ready() {
			t.Errorf("after the end of the first ready are %v and %v", c.op.Ready(), two.Ready())
		}
		endTwo()
		running.Wait()
	})
}

// run has the operator work until the test, or the returned function, ends it.
func (c *cluster) run() (end func()) {
	ctx, cancel := context.WithCancel(c.t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = c.op.Run(ctx) })
	return func() { cancel(); running.Wait() }
}

func TestWhatIsMadeAndChangedIsLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		end := c.run()
		defer end()
		time.Sleep(time.Second)
		if _, err := c.client.Resource(jobsResource).Namespace("ns").Create(t.Context(), job(nil), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if got := c.head().Status.Phase; got != crd.Pending {
			t.Errorf("a second after it was made the job is %q", got)
		}
		c.patch(jobsResource, "j", `{"spec":{"cancel":true}}`)
		time.Sleep(time.Second)
		if got := c.head().Status.Phase; got != crd.Cancelled {
			t.Errorf("a second after it was cancelled the job is %q", got)
		}
	})
}

func TestAnOperatorIsReadyOnceItHasSeenAllResources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, job(nil))
		var refused atomic.Bool
		refused.Store(true)
		c.client.PrependReactor("list", "aiperfsweeps", func(k8stesting.Action) (bool, runtime.Object, error) {
			if refused.Load() {
				return true, nil, errors.New("no")
			}
			return false, nil, nil
		})
		end := c.run()
		time.Sleep(2 * time.Minute)
		if c.op.Ready() {
			t.Error("it is ready though sweeps cannot be listed")
		}
		if got := c.head().Status.Phase; got != crd.Pending {
			t.Errorf("the job waits for the list of sweeps: %q", got)
		}
		refused.Store(false)
		time.Sleep(2 * time.Minute)
		if !c.op.Ready() {
			t.Error("it is not ready")
		}
		end()
		if c.op.Ready() {
			t.Error("it is ready after its end")
		}
	})
}

func TestAllResourcesAreLookedAtAgainAfterATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, job(nil))
		c.patch(jobsResource, "j", `{"status":{"phase":"Completed"}}`) // nothing asks for another look
		end := c.run()
		defer end()
		looks := func() int {
			c.op.mu.Lock()
			defer c.op.mu.Unlock()
			return c.op.counters.looks[crd.JobKind]
		}
		time.Sleep(time.Minute)
		if got := looks(); got != 1 {
			t.Errorf("%d looks at first", got)
		}
		time.Sleep(3 * resync)
		if got := looks(); got < 3 || got > 5 {
			t.Errorf("%d looks after three resyncs", got)
		}
	})
}

func TestAnInformerKeepsNamesOnly(t *testing.T) {
	short, err := nameOnly(job(nil))
	if u, ok := short.(*unstructured.Unstructured); err != nil || !ok || u.GetName() != "j" || u.GetNamespace() != "ns" ||
		u.GetUID() != "u-1" || u.GetKind() != crd.JobKind || u.Object["spec"] != nil {
		t.Errorf("%v, %v", short, err)
	}
}

func TestAnOperatorWithAnIDClaimsNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, job(nil))
		team := c.operator("t")
		team.o.ID = "team"
		if mine, err := team.mine(t.Context(), "ns"); !mine || err != nil {
			t.Fatal(mine, err)
		}
		if _, err := c.step(); err != nil {
			t.Fatal(err)
		}
		if got := c.head().Status.Phase; got != "" {
			t.Errorf("the global operator has touched a claimed namespace: %s", got)
		}
		rival := c.operator("r")
		rival.o.ID = "rival"
		if mine, err := rival.mine(t.Context(), "ns"); mine || err != nil {
			t.Error("two operators claim a namespace", err)
		}
		time.Sleep(301 * time.Second) // nobody renews
		if _, err := c.step(); err != nil {
			t.Fatal(err)
		}
		if got := c.head().Status.Phase; got != crd.Pending {
			t.Errorf("after the claim has run out the job is %q", got)
		}
	})
}
