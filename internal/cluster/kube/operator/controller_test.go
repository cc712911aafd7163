package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
)

// summaries are the results server of a test.
type summaries struct{ missing int }

func (s *summaries) Summary(_ context.Context, _, job, _ string) ([]byte, error) {
	if s.missing > 0 {
		s.missing--
		return nil, errors.New("404 Not Found")
	}
	return []byte(`{"schema_version":"1.0","request_throughput":{"unit":"requests/sec","avg":10.0},` +
		`"request_count":{"unit":"requests","avg":40.0},"request_latency":{"unit":"ms","avg":5.0,"p50":5.0,"p99":9.0}}`), nil
}

type world struct {
	t       *testing.T
	client  *fake.FakeDynamicClient
	o       SweepOptions
	results *summaries
	// outcome is the phase that each child gets, Completed without one.
	outcome map[string]string
}

func specOf(extra crd.Object) crd.Object {
	spec := crd.Object{"image": "i", "randomSeed": int64(7), "benchmark": crd.Object{
		"models": []any{"m"}, "endpoint": crd.Object{"urls": []any{"http://server:8000"}},
		"datasets": []any{crd.Object{"name": "main", "type": "synthetic", "entries": int64(5),
			"prompts": crd.Object{"isl": int64(5), "osl": int64(5)}}},
		"tokenizer": crd.Object{"name": "builtin"},
		"phases": []any{crd.Object{"name": "profiling", "type": "concurrency", "concurrency": int64(2),
			"requests": int64(4)}}},
		"sweep": crd.Object{"type": "grid", "parameters": crd.Object{
			"phases.profiling.concurrency": []any{int64(1), int64(2), int64(4)}}}}
	for name, value := range extra {
		spec[name] = value
	}
	return spec
}

func newWorld(t *testing.T, extra crd.Object) *world {
	t.Helper()
	sweep := &unstructured.Unstructured{Object: crd.Object{"apiVersion": crd.APIVersion, "kind": crd.SweepKind,
		"metadata": crd.Object{"name": "s", "namespace": "ns", "uid": "u"}, "spec": specOf(extra)}}
	w := &world{t: t, results: &summaries{}, outcome: map[string]string{},
		client: fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[client.Kind]string{
			jobsResource: "AIPerfJobList", sweepsResource: "AIPerfSweepList"}, sweep)}
	number := 0
	w.client.PrependReactor("create", crd.Jobs, func(a clienttesting.Action) (bool, runtime.Object, error) {
		u := a.(clienttesting.CreateAction).GetObject().(*unstructured.Unstructured)
		if u.GetUID() == "" {
			number++
			u.SetUID(types.UID(fmt.Sprintf("child-%d", number)))
		}
		return false, nil, nil
	})
	w.o = SweepOptions{Client: w.client, Name: "s", Namespace: "ns", UID: "u", Epoch: "1795521600000001", Dir: t.TempDir(),
		Results: w.results, Version: "test", Log: slog.New(slog.DiscardHandler), ChildPoll: 5 * time.Second,
		CancelPoll: 10 * time.Second, CancelGrace: 120 * time.Second, ChildMissing: 300 * time.Second,
		StaleDeletion: 60 * time.Second, SummaryRetries: 15, SummaryRetryDelay: 2 * time.Second}
	return w
}

// operate plays the operator until the test ends: each child ends after a minute with its outcome, or when it is
// cancelled.
func (w *world) operate(ctx context.Context) {
	jobs := w.client.Resource(jobsResource).Namespace("ns")
	born := map[types.UID]time.Time{}
	for ctx.Err() == nil {
		list, _ := jobs.List(ctx, metav1.ListOptions{})
		for i := range list.Items {
			u := &list.Items[i]
			if phase, _, _ := unstructured.NestedString(u.Object, "status", "phase"); crd.Terminal(phase) {
				continue
			}
			if born[u.GetUID()].IsZero() {
				born[u.GetUID()] = time.Now()
			}
			outcome := w.outcome[u.GetName()]
			if outcome == "" {
				outcome = crd.Completed
			}
			if asked, _, _ := unstructured.NestedBool(u.Object, "spec", "cancel"); asked {
				outcome = crd.Cancelled
			} else if time.Since(born[u.GetUID()]) < time.Minute || outcome == "never" {
				continue
			}
			w.patch(jobsResource, u.GetName(), `{"status":{"phase":"`+outcome+`","runEpoch":"1795521600","error":"why"}}`)
		}
		time.Sleep(time.Second / 2)
	}
}

func (w *world) patch(kind client.Kind, name, patch string) {
	if _, err := w.client.Resource(kind).Namespace("ns").Patch(context.Background(), name, types.MergePatchType,
		[]byte(patch), metav1.PatchOptions{}); err != nil {
		w.t.Error(err)
	}
}

// run runs the controller with an operator.
func (w *world) run() {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan struct{})
	go func() { w.operate(ctx); close(ended) }()
	if err := RunSweep(w.t.Context(), w.o); err != nil {
		w.t.Error(err)
	}
	cancel()
	<-ended
}

func (w *world) status() crd.SweepStatus {
	w.t.Helper()
	u, err := w.client.Resource(sweepsResource).Namespace("ns").Get(w.t.Context(), "s", metav1.GetOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	data, err := json.Marshal(u.Object["status"])
	var s crd.SweepStatus
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) children() (names []string) {
	list, err := w.client.Resource(jobsResource).Namespace("ns").List(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, u := range list.Items {
		names = append(names, u.GetName())
	}
	return names
}

func TestASweepMakesItsChildrenAndItsDocuments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.results.missing = 14 // the summary lags
		w.run()
		s := w.status()
		if s.Phase != crd.Succeeded || s.CompletedRuns != 3 || s.Aggregation.Phase != "Complete" || s.CurrentCell != nil {
			t.Errorf("the status is %+v", s)
		}
		if got := strings.Join(w.children(), " "); got != "s-v00 s-v01 s-v02" {
			t.Errorf("the children are %s", got)
		}
		u, err := w.client.Resource(jobsResource).Namespace("ns").Get(t.Context(), "s-v01", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := crd.Parse(u.Object)
		if err != nil {
			t.Fatal(err)
		}
		run, _, err := parsed.Spec.Resolve("child", nil)
		if err != nil || run.RandomSeed == nil || parsed.Spec.Sweep != nil {
			t.Errorf("the child is %+v, %v", parsed.Spec, err)
		}
		text, _ := json.Marshal(parsed.Spec.Benchmark["phases"])
		if !strings.Contains(string(text), `"concurrency":2`) {
			t.Errorf("the phases of the second child are %s", text)
		}
		var document struct {
			SweepRunEpoch string  `json:"sweep_run_epoch"`
			Children      []Child `json:"children"`
		}
		data, err := os.ReadFile(filepath.Join(w.o.Dir, "children.json"))
		if err == nil {
			err = json.Unmarshal(data, &document)
		}
		if err != nil || len(document.Children) != 3 || document.Children[2].Status != "Succeeded" ||
			document.SweepRunEpoch != w.o.Epoch || document.Children[1].ChildRunEpoch != "1795521600" {
			t.Errorf("children.json is %s, %v", data, err)
		}
		for _, name := range []string{"aggregate.json", "sweep_aggregate", Marker} {
			if !exists(filepath.Join(w.o.Dir, name)) {
				t.Errorf("%s is missing", name)
			}
		}
	})
}

func TestTrap4ConvergenceGivesChildrenATrialSuffix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, crd.Object{"multiRun": crd.Object{"numRuns": int64(2)}})
		w.run()
		if got := strings.Join(w.children(), " "); got != "s-v00-t0 s-v00-t1 s-v01-t0 s-v01-t1 s-v02-t0 s-v02-t1" {
			t.Errorf("the children are %s", got)
		}
	})
}

func TestTrap5TooManyVariationsOrTrialsAreRefused(t *testing.T) {
	values := func(n int) (list []any) {
		for i := range n {
			list = append(list, int64(i+1))
		}
		return list
	}
	for name, extra := range map[string]crd.Object{
		"201 variations": {"sweep": crd.Object{"type": "grid", "parameters": crd.Object{"phases.profiling.concurrency": values(201)}}},
		"11 trials":      {"multiRun": crd.Object{"numRuns": int64(11)}},
	} {
		parsed, err := crd.ParseSpec(crd.SweepKind, specOf(extra))
		if err == nil {
			err = Check("s", &parsed.Spec)
		}
		if err == nil {
			t.Errorf("%s are accepted", name)
		}
	}
}

func TestTrap6OldChildrenAreAwaitedAndForeignOnesRefused(t *testing.T) {
	child := func(change func(u *unstructured.Unstructured)) func(w *world) {
		return func(w *world) {
			// The child that an earlier start of the same sweep has made.
			first := newWorld(w.t, nil)
			first.run()
			u, err := first.client.Resource(jobsResource).Namespace("ns").Get(w.t.Context(), "s-v00", metav1.GetOptions{})
			if err != nil {
				w.t.Fatal(err)
			}
			change(u)
			if _, err := w.client.Resource(jobsResource).Namespace("ns").Create(w.t.Context(), u, metav1.CreateOptions{}); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	deleting := func(u *unstructured.Unstructured) {
		now := metav1.Now()
		u.SetDeletionTimestamp(&now)
		u.SetUID("old")
	}
	for _, x := range []struct {
		name, phase string
		prepare     func(w *world)
	}{
		{"the same child goes on", crd.Succeeded, child(func(*unstructured.Unstructured) {})},
		{"another specification", crd.Failed, child(func(u *unstructured.Unstructured) {
			u.SetAnnotations(map[string]string{crd.AnnotationIdentity: "x"})
		})},
		{"another owner", crd.Failed, child(func(u *unstructured.Unstructured) {
			u.SetOwnerReferences([]metav1.OwnerReference{{UID: "other"}})
		})},
		{"being deleted, and gone in time", crd.Succeeded, func(w *world) {
			child(deleting)(w)
			time.AfterFunc(59*time.Second, func() {
				_ = w.client.Resource(jobsResource).Namespace("ns").Delete(context.Background(), "s-v00", metav1.DeleteOptions{})
			})
		}},
		{"being deleted for too long", crd.Failed, child(deleting)},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, nil)
				x.prepare(w)
				w.run()
				if s := w.status(); s.Phase != x.phase {
					t.Errorf("the sweep is %s: %s", s.Phase, s.Error)
				}
			})
		})
	}
}

func TestTrap8TheLastPhase(t *testing.T) {
	limit := func(n int) *crd.FailurePolicy { return &crd.FailurePolicy{MaxFailures: n} }
	abort := &crd.FailurePolicy{OnChildFailure: crd.FailureAbort}
	for _, x := range []struct {
		cancelled                   bool
		completed, failed, stricken int
		policy                      *crd.FailurePolicy
		want                        string
	}{
		{true, 3, 0, 0, nil, crd.Cancelled}, {false, 3, 0, 0, nil, crd.Succeeded}, {false, 0, 0, 3, nil, crd.Cancelled},
		{false, 2, 0, 1, nil, crd.Succeeded}, {false, 5, 2, 0, limit(2), crd.Failed}, {false, 5, 1, 0, limit(2), crd.PartiallyFailed},
		{false, 0, 1, 1, nil, crd.Failed}, {false, 2, 1, 0, abort, crd.Failed}, {false, 2, 1, 0, nil, crd.PartiallyFailed},
	} {
		if got := Outcome(x.cancelled, x.completed, x.failed, x.stricken, x.policy); got != x.want {
			t.Errorf("%+v is %s", x, got)
		}
	}
}

func TestFailuresEndASweepAsItsPolicySays(t *testing.T) {
	for _, x := range []struct {
		name, phase string
		policy      crd.Object
		children    int
	}{
		{"continue", crd.PartiallyFailed, crd.Object{}, 3},
		{"abort", crd.Failed, crd.Object{"onChildFailure": "abort"}, 1},
		{"at most two", crd.PartiallyFailed, crd.Object{"maxFailures": int64(2)}, 3},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, crd.Object{"failurePolicy": x.policy})
				w.outcome["s-v00"] = crd.Failed
				w.run()
				if s := w.status(); s.Phase != x.phase || len(w.children()) != x.children {
					t.Errorf("the sweep is %s with %v", s.Phase, w.children())
				}
			})
		})
	}
}

func TestACancelledSweepKeepsWhatIsComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		time.AfterFunc(90*time.Second, func() { w.patch(sweepsResource, "s", `{"spec":{"cancel":true}}`) })
		w.run()
		s := w.status()
		if s.Phase != crd.Cancelled || s.CompletedRuns != 1 || s.RunStates.Cancelled != 1 || len(w.children()) != 2 {
			t.Errorf("the status is %+v with %v", s, w.children())
		}
	})
}

func TestAChildThatVanishesHasFailedAfterItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, crd.Object{"sweep": crd.Object{"type": "grid", "parameters": crd.Object{
			"phases.profiling.concurrency": []any{int64(1)}}}})
		w.outcome["s-v00"] = "never"
		began := time.Now()
		time.AfterFunc(30*time.Second, func() {
			_ = w.client.Resource(jobsResource).Namespace("ns").Delete(context.Background(), "s-v00", metav1.DeleteOptions{})
		})
		w.run()
		if s := w.status(); s.Phase != crd.Failed || time.Since(began) < 330*time.Second || time.Since(began) > 345*time.Second {
			t.Errorf("after %v the sweep is %s", time.Since(began), s.Phase)
		}
	})
}

func TestACompleteSweepIsPublishedAgainWithoutARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.run()
		w.patch(sweepsResource, "s", `{"status":null}`)
		before := len(w.client.Actions())
		if err := RunSweep(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		if s := w.status(); s.Phase != crd.Succeeded || s.CompletedRuns != 3 {
			t.Errorf("the status is %+v", s)
		}
		for _, a := range w.client.Actions()[before:] {
			if a.GetResource() == jobsResource {
				t.Errorf("a job was touched: %v", a)
			}
		}
		w.o.UID = "another"
		if err := RunSweep(t.Context(), w.o); err != nil {
			t.Errorf("a sweep of another UID: %v", err)
		}
	})
}

func TestTrap13TheInlineCopyIsTrimmedInAFixedOrder(t *testing.T) {
	text := func(n int) string { return strings.Repeat("x", n) }
	whole := crd.Object{"phase": "Succeeded", "sweep_run_epoch": "1", "confidence": text(300), "children": []any{text(300), text(300)}}
	keys := func(o crd.Object) string {
		data, _ := json.Marshal(o)
		names := []string{}
		for _, name := range []string{"phase", "confidence", "children", "childrenTruncated", "aggregateTruncated"} {
			if _, ok := o[name]; ok {
				names = append(names, name)
			}
		}
		return fmt.Sprint(strings.Join(names, " "), len(data) > 0)
	}
	for limit, want := range map[int]string{
		2000: "phase confidence childrentrue", 800: "phase childrentrue", 300: "phase childrenTruncatedtrue", 100: "aggregateTruncatedtrue",
	} {
		if got := keys(Inline(whole, limit)); got != want {
			t.Errorf("with %d bytes it has %s, not %s", limit, got, want)
		}
	}
	if total := Inline(whole, 300)["childrenTruncated"].(crd.Object)["total"]; total != 2 {
		t.Errorf("total is %v", total)
	}
	if len(whole["children"].([]any)) != 2 || whole["confidence"] == nil {
		t.Error("the document itself was trimmed")
	}
}
