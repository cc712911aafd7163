package deployed_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/cluster/kube/deployed"
)

const (
	jobKind   = "aiperf.nvidia.com/v1alpha1/aiperfjobs"
	sweepKind = "aiperf.nvidia.com/v1alpha1/aiperfsweeps"
	jobs      = "/apis/aiperf.nvidia.com/v1alpha1/namespaces/bench/aiperfjobs/"
	sweeps    = "/apis/aiperf.nvidia.com/v1alpha1/namespaces/bench/aiperfsweeps/"
	pods      = "/api/v1/namespaces/bench/pods/"
)

// cluster is a server with our kinds, and a client of it.
func cluster(t *testing.T, kinds ...string) (*server, *client.Client) {
	t.Helper()
	if kinds == nil {
		kinds = []string{jobKind, sweepKind}
	}
	s := newServer(t, kinds...)
	c, err := client.Connect(client.Options{Kubeconfig: s.Kubeconfig(t, "bench")})
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

func resource(kind, phase string) object {
	return object{"apiVersion": crd.APIVersion, "kind": kind, "spec": object{"benchmark": object{"model": "m"}},
		"status": object{"phase": phase}}
}

func controllerPod(job string) object {
	labels := crd.JobLabels(job)
	labels[crd.LabelRole] = crd.RoleController
	return object{"metadata": object{"labels": labels}, "status": object{"phase": "Running"},
		"spec": object{"containers": []any{object{"name": "control-plane"}, object{"name": "results-sidecar"}}}}
}

func find(t *testing.T, c *client.Client, name string) *deployed.Benchmark {
	t.Helper()
	b, err := deployed.Find(context.Background(), c, "bench", name, "", -1, -1)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTrapCancelOfATerminalJobChangesNothing(t *testing.T) {
	s, c := cluster(t)
	for _, phase := range []string{crd.Completed, crd.Failed, crd.Cancelled} {
		s.Put(jobs+"done", resource(crd.JobKind, phase))
		asked, err := find(t, c, "done").Cancel(context.Background(), c)
		if err != nil || asked {
			t.Errorf("%s: %v, %v", phase, asked, err)
		}
	}
	if calls := s.Calls(); len(calls) > 0 {
		t.Errorf("the cluster was changed: %q", calls)
	}
	s.Put(jobs+"live", resource(crd.JobKind, crd.Running))
	if asked, err := find(t, c, "live").Cancel(context.Background(), c); err != nil || !asked {
		t.Errorf("a running one: %v, %v", asked, err)
	}
	if spec := s.Object(jobs + "live")["spec"].(object); spec["cancel"] != true {
		t.Errorf("spec %v", spec)
	}
}

func TestBenchmarksAreFoundByNameAndKind(t *testing.T) {
	s, c := cluster(t)
	s.Put(jobs+"both", resource(crd.JobKind, crd.Running))
	s.Put(sweeps+"both", resource(crd.SweepKind, crd.Running))
	s.Put(jobs+"grid-v03", resource(crd.JobKind, crd.Running))
	s.Put(jobs+"trials-v03-t1", resource(crd.JobKind, crd.Running))
	for _, c2 := range []struct {
		name, kind       string
		variation, trial int
		want             string
	}{
		{"both", "", -1, -1, "give --kind"}, {"both", crd.SweepKind, -1, -1, ""}, {"none", "", -1, -1, "there is no benchmark"},
		{"grid", "", 3, -1, ""}, {"trials", "", 3, 1, ""}, {"trials", "", 3, -1, "there is no benchmark trials-v03"},
	} {
		b, err := deployed.Find(context.Background(), c, "bench", c2.name, c2.kind, c2.variation, c2.trial)
		if c2.want == "" && err != nil || c2.want != "" && (err == nil || !strings.Contains(err.Error(), c2.want)) {
			t.Errorf("%+v: %v, %v", c2, b, err)
		}
	}
}

func TestUnknownPhasesReadAsPending(t *testing.T) {
	s, c := cluster(t)
	s.Put(jobs+"odd", resource(crd.JobKind, "Marvellous"))
	if got := find(t, c, "odd").Phase(); got != crd.Pending {
		t.Errorf("phase %s", got)
	}
}

func TestListOfAllKinds(t *testing.T) {
	s, c := cluster(t, jobKind, sweepKind, "jobset.x-k8s.io/v1alpha2/jobsets")
	o := resource(crd.JobKind, crd.Running)
	o["status"] = object{"phase": "Running", "currentPhase": "profiling", "workers": object{"ready": 1, "total": 2},
		"phases":      object{"profiling": object{"requestsProgressPercent": 41.6}},
		"liveMetrics": object{"metrics": object{"request_throughput": object{"avg": 12.5}, "request_latency": object{"p99": 99.0}}}}
	s.Put(jobs+"one", o)
	s.Put(sweeps+"grid", object{"spec": object{}, "status": object{"phase": crd.Running, "completedRuns": 2,
		"failedRuns": 1, "maxTotalRuns": 8}})
	direct := object{"metadata": object{"labels": crd.JobLabels("plain")}, "status": object{"active": 1}}
	s.Put("/apis/batch/v1/namespaces/bench/jobs/aiperf-plain-controller-0", direct)
	s.Put("/apis/batch/v1/namespaces/bench/jobs/aiperf-plain-workers-0",
		object{"metadata": object{"labels": crd.JobLabels("plain")}})
	list, err := deployed.List(context.Background(), c, "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range list {
		got = append(got, strings.Join(b.Row(time.Date(2026, 11, 24, 10, 5, 0, 0, time.UTC), false), " | "))
	}
	want := []string{"grid | bench | sweep | Running | - | 3/8 | - | - | 5m",
		"one | bench | - | Running | 1/2 | 42% | 12.50 req/s | 99.00 ms | 5m",
		"plain | bench | direct | Running | - | - | - | - | 5m"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestObjectsAreTiedToTheirEngineAndDeletedTogether(t *testing.T) {
	s, c := cluster(t)
	job := &crd.Job{Metadata: crd.Metadata{Name: "plain", Namespace: "bench"}, Spec: crd.Spec{
		Deployment: crd.Deployment{Image: "img:1"}, Benchmark: object{"model": "m",
			"endpoint": object{"url": "http://x:1"}, "dataset": object{"type": "synthetic"},
			"phases": object{"type": "concurrency", "concurrency": 2, "requests": 4}}}}
	objects, err := crd.Build(job, crd.BuildOptions{Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if err := deployed.Create(context.Background(), c, objects); err != nil {
		t.Fatal(err)
	}
	for _, path := range s.Paths() {
		owners, _ := s.Object(path)["metadata"].(object)["ownerReferences"].([]any)
		if engine := strings.HasSuffix(path, "-controller-0"); engine == (len(owners) == 1) {
			t.Errorf("%s has the owners %v", path, owners)
		}
	}
	if len(s.Paths()) != 8 {
		t.Errorf("objects %q", s.Paths())
	}
	if err := find(t, c, "plain").Delete(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	if left := s.Paths(); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// files serves files as the results servers do.
func files(list string, content map[string]string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {})
	for _, base := range []string{"/api/results/list", "/api/v1/results/bench/one"} {
		mux.HandleFunc("GET "+base, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, list) })
	}
	for _, base := range []string{"/api/results/files/", "/api/v1/results/bench/one/"} {
		mux.HandleFunc("GET "+base, func(w http.ResponseWriter, r *http.Request) {
			text, ok := content[strings.TrimPrefix(r.URL.Path, base)]
			if !ok {
				http.NotFound(w, r)
				return
			}
			fmt.Fprint(w, text)
		})
	}
	return mux
}

func TestResultsComeFromTheOperatorOrFromThePod(t *testing.T) {
	s, c := cluster(t)
	s.Put(jobs+"one", resource(crd.JobKind, crd.Completed))
	s.Put(pods+"one-pod", controllerPod("one"))
	operator := object{"metadata": object{"labels": object{crd.LabelApp: crd.OperatorName}},
		"status": object{"phase": "Running"}}
	s.Put("/api/v1/namespaces/aiperf-system/pods/op", operator)
	content := map[string]string{"profile_export_aiperf.json": "{}", "logs/aiperf.log": "lines"}
	list := `{"files": [{"name": "profile_export_aiperf.json", "size": 2}, {"name": "logs/aiperf.log", "size": 5}]}`
	s.Ports["op:8081"] = files(list, content)
	s.Ports["one-pod:9091"] = files(`{"files": ["profile_export_aiperf.json", "../../escape", "gone.csv"]}`, content)
	dir := t.TempDir()
	got, err := find(t, c, "one").Fetch(context.Background(), c, deployed.FetchOptions{Dir: dir})
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "logs", "aiperf.log")); err != nil || string(text) != "lines" {
		t.Errorf("%q, %v", text, err)
	}
	summary := t.TempDir()
	if got, err := find(t, c, "one").Fetch(context.Background(), c, deployed.FetchOptions{Dir: summary,
		SummaryOnly: true}); err != nil || len(got) != 1 {
		t.Errorf("summary only: %v, %v", got, err)
	}
	// A file that cannot be had is an error, and one that leads out of the folder is not written.
	part := t.TempDir()
	got, err = find(t, c, "one").Fetch(context.Background(), c, deployed.FetchOptions{Dir: part, FromPods: true})
	if err == nil || !strings.Contains(err.Error(), "2 of 3 files") || len(got) != 1 {
		t.Errorf("from the pod: %v, %v", got, err)
	}
}

// Where no folder is named, the one that holds the same run is found by its summary.
func TestTheFolderOfTheSameRunIsFound(t *testing.T) {
	const summary, first = "profile_export_aiperf.json", `{"benchmark_id": "one", "start_time": "2026-11-30T10:00:00"}`
	for name, c := range map[string]struct {
		here, stored string
		want         bool
	}{
		"the same run":         {first, first, true},
		"repeated by its name": {first, `{"benchmark_id": "one", "start_time": "2026-11-30T11:00:00"}`, false},
		"another run":          {`{"benchmark_id": "two", "start_time": "2026-11-30T10:00:00"}`, first, false},
		"no results here":      {"", first, false},
		"nothing to go by":     {"{}", "{}", false},
	} {
		s, cl := cluster(t)
		s.Put(jobs+"one", resource(crd.JobKind, crd.Completed))
		s.Put("/api/v1/namespaces/aiperf-system/pods/op", object{"metadata": object{
			"labels": object{crd.LabelApp: crd.OperatorName}}, "status": object{"phase": "Running"}})
		s.Ports["op:8081"] = files(`{"files": ["logs/aiperf.log", "profile_export_aiperf.json.zst"]}`,
			map[string]string{summary: c.stored, "logs/aiperf.log": "lines"})
		dir := t.TempDir()
		if c.here != "" {
			if err := os.WriteFile(filepath.Join(dir, summary), []byte(c.here), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		asked := 0
		o := deployed.FetchOptions{Folder: func(same func(string) bool) (string, error) {
			if asked++; same(dir) != c.want {
				t.Errorf("%s: it is the same run: %t", name, !c.want)
			}
			return dir, nil
		}}
		if got, err := find(t, cl, "one").Fetch(t.Context(), cl, o); err != nil || len(got) != 2 || asked != 1 {
			t.Errorf("%s: %v, %v, asked %d times", name, got, err, asked)
		}
		if text, err := os.ReadFile(filepath.Join(dir, summary)); err != nil || string(text) != c.stored {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

func TestTheTokenOfTheOperatorIsSent(t *testing.T) {
	s, c := cluster(t)
	s.Put(jobs+"one", resource(crd.JobKind, crd.Completed))
	s.Put("/api/v1/namespaces/aiperf-system/pods/op", object{"metadata": object{
		"labels": object{crd.LabelApp: crd.OperatorName}}, "status": object{"phase": "Running"}})
	served := files(`{"files": ["a.csv"]}`, map[string]string{"a.csv": "1"})
	s.Ports["op:8081"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" && r.Header.Get(deployed.TokenHeader) != "secret" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		served.ServeHTTP(w, r)
	})
	o := deployed.FetchOptions{Dir: t.TempDir()}
	if _, err := find(t, c, "one").Fetch(t.Context(), c, o); err == nil || !strings.Contains(err.Error(), crd.ResultsSecret) {
		t.Errorf("without the right to read the secret: %v", err)
	}
	s.Put("/api/v1/namespaces/aiperf-system/secrets/"+crd.ResultsSecret, object{"data": object{"token": "c2VjcmV0"}})
	if got, err := find(t, c, "one").Fetch(t.Context(), c, o); err != nil || len(got) != 1 {
		t.Errorf("with it: %v, %v", got, err)
	}
}

func TestTrapShutdownOnlyAfterASuccessfulRetrieval(t *testing.T) {
	s, c := cluster(t)
	s.Put(jobs+"one", resource(crd.JobKind, crd.Completed))
	s.Put(pods+"one-pod", controllerPod("one"))
	asked := 0
	mux := http.NewServeMux()
	mux.Handle("/", files(`{"files": ["a", "gone"]}`, map[string]string{"a": "1"}))
	mux.HandleFunc("POST /api/shutdown", func(http.ResponseWriter, *http.Request) { asked++ })
	s.Ports["one-pod:9091"] = mux
	o := deployed.FetchOptions{Dir: t.TempDir(), FromPods: true, Shutdown: true}
	if _, err := find(t, c, "one").Fetch(context.Background(), c, o); err == nil || asked != 0 {
		t.Errorf("with a missing file: %v, %d requests to shut down", err, asked)
	}
	complete := http.NewServeMux()
	complete.Handle("/", files(`{"files": ["a"]}`, map[string]string{"a": "1"}))
	complete.HandleFunc("POST /api/shutdown", func(http.ResponseWriter, *http.Request) { asked++ })
	s.Ports["one-pod:9091"] = complete
	if _, err := find(t, c, "one").Fetch(context.Background(), c, o); err != nil || asked != 1 {
		t.Errorf("with all files: %v, %d requests to shut down", err, asked)
	}
}

// Until the operator has stored the results of a benchmark its controller has the only ones: it must not be ended, and
// what the operator has is not given out as the results.
func TestNothingIsFetchedOrEndedBeforeTheOperatorIsDone(t *testing.T) {
	s, c := cluster(t)
	s.Put(jobs+"one", resource(crd.JobKind, crd.Running))
	s.Put(pods+"one-pod", controllerPod("one"))
	s.Put("/api/v1/namespaces/aiperf-system/pods/op", object{"status": object{"phase": "Running"},
		"metadata": object{"labels": object{crd.LabelApp: crd.OperatorName}}})
	asked := 0
	mux := http.NewServeMux()
	mux.Handle("/", files(`{"files": ["a"]}`, map[string]string{"a": "1"}))
	mux.HandleFunc("POST /api/shutdown", func(http.ResponseWriter, *http.Request) { asked++ })
	s.Ports["one-pod:9091"], s.Ports["op:8081"] = mux, mux
	var early *deployed.UnstoredError
	b := find(t, c, "one")
	if _, err := b.Shutdown(context.Background(), c, 0); !errors.As(err, &early) || asked != 0 {
		t.Errorf("%v, %d requests to shut down", err, asked)
	}
	o := deployed.FetchOptions{Dir: t.TempDir()}
	if files, err := b.Fetch(context.Background(), c, o); !errors.As(err, &early) {
		t.Errorf("%v, %v", files, err)
	}
	o.FromPods = true
	if files, err := b.Fetch(context.Background(), c, o); err != nil || len(files) != 1 {
		t.Errorf("from the pod: %v, %v", files, err)
	}
	sweep := resource(crd.SweepKind, crd.Succeeded)
	sweep["status"] = object{"phase": crd.Succeeded, "runEpoch": "7", "runtimeRef": object{"jobSetName": "aiperf-two"}}
	s.Put(sweeps+"two", sweep)
	o.FromPods = false
	if files, err := find(t, c, "two").Fetch(context.Background(), c, o); !errors.As(err, &early) {
		t.Errorf("of a sweep: %v, %v", files, err)
	}
	s.Put(jobs+"one", resource(crd.JobKind, crd.Completed))
	b = find(t, c, "one")
	if files, err := b.Fetch(context.Background(), c, o); err != nil || len(files) != 1 {
		t.Errorf("once it is done: %v, %v", files, err)
	}
	if done, err := b.Shutdown(context.Background(), c, 0); err != nil || !done || asked != 1 {
		t.Errorf("once it is done: %t, %v, %d requests to shut down", done, err, asked)
	}
	gone := controllerPod("one")
	gone["status"] = object{"phase": "Succeeded"}
	s.Put(pods+"one-pod", gone)
	if done, err := b.Shutdown(context.Background(), c, 0); err != nil || done || asked != 1 {
		t.Errorf("once more: %t, %v, %d requests to shut down", done, err, asked)
	}
}

func TestLogsOfAllContainers(t *testing.T) {
	s, c := cluster(t)
	s.Put(jobs+"one", resource(crd.JobKind, crd.Running))
	s.Put(pods+"one-pod", controllerPod("one"))
	s.Logs["one-pod/control-plane"] = "first\nsecond"
	s.Logs["one-pod/results-sidecar"] = "waiting\n"
	var out bytes.Buffer
	o := deployed.LogsOptions{Out: &out}
	o.Tail = -1
	if _, err := find(t, c, "one").Logs(context.Background(), c, o); err != nil {
		t.Fatal(err)
	}
	const want = "[one-pod/control-plane] first\n[one-pod/control-plane] second\n[one-pod/results-sidecar] waiting\n"
	if out.String() != want {
		t.Errorf("%q", out.String())
	}
	o.Dir = t.TempDir()
	names, err := find(t, c, "one").Logs(context.Background(), c, o)
	if err != nil || len(names) != 2 {
		t.Errorf("%q, %v", names, err)
	}
	o.Container = "other"
	if _, err := find(t, c, "one").Logs(context.Background(), c, o); err == nil {
		t.Error("a container that does not exist")
	}
}

func TestControllerIsFollowedByItsWebSocket(t *testing.T) {
	s, c := cluster(t)
	s.Put(jobs+"one", resource(crd.JobKind, crd.Running))
	s.Put(pods+"one-pod", controllerPod("one"))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /ws", func(w http.ResponseWriter, r *http.Request) {
		socket, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer socket.CloseNow()
		if _, data, err := socket.Read(r.Context()); err != nil || !bytes.Contains(data, []byte("benchmark_complete")) {
			return
		}
		for _, text := range []string{`{"type": "subscribed"}`,
			`{"message_type": "realtime_metrics", "metrics": [{"tag": "request_throughput", "avg": 7.5}]}`,
			`{"message_type": "credit_phase_progress", "stats": {"phase_name": "profiling", "requests_completed": 3, "total_expected_requests": 9}}`,
			`{"message_type": "benchmark_complete", "was_cancelled": false}`} {
			if socket.Write(r.Context(), websocket.MessageText, []byte(text)) != nil {
				return
			}
		}
		_, _, _ = socket.Read(r.Context()) // until the client has gone
	})
	s.Ports["one-pod:9090"] = mux
	var lines []string
	err := find(t, c, "one").Stream(context.Background(), c, "one-pod", 0, func(e deployed.Event) {
		lines = append(lines, fmt.Sprint(e.Text, " ", e.Done))
	})
	want := []string{"profiling  3/9 requests  throughput 7.50 req/s false", "Completed true"}
	if err != nil || !slices.Equal(lines, want) {
		t.Errorf("%q, %v", lines, err)
	}
}

func TestLastBenchmarkIsRemembered(t *testing.T) {
	home := t.TempDir()
	env := func(name string) (string, bool) { return home, name == "HOME" }
	if _, err := deployed.ReadLast(env); err == nil || !strings.Contains(err.Error(), "no benchmark was started") {
		t.Errorf("none: %v", err)
	}
	if err := (&deployed.Last{JobID: "a", Namespace: "n", Kind: crd.JobKind}).Write(env); err != nil {
		t.Fatal(err)
	}
	if l, err := deployed.ReadLast(env); err != nil || l.JobID != "a" || l.Kind != crd.JobKind {
		t.Errorf("%+v, %v", l, err)
	}
	path := filepath.Join(home, ".aiperf", "last_kube_benchmark.json")
	if err := os.WriteFile(path, []byte(`{"job_id": "old", "namespace": "n"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if l, err := deployed.ReadLast(env); err != nil || l.JobID != "old" || l.Kind != "" {
		t.Errorf("an old file: %+v, %v", l, err)
	}
}

func TestRetentionNeedsBothClauses(t *testing.T) {
	now := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	old, young := "2026-10-01T00:00:00Z", "2026-11-23T00:00:00Z"
	for _, c := range []struct {
		r    deployed.Retention
		at   int
		run  deployed.Run
		want bool
	}{
		{deployed.Retention{KeepRuns: 2}, 1, deployed.Run{Timestamp: old}, false},
		{deployed.Retention{KeepRuns: 2}, 2, deployed.Run{Timestamp: young}, true},
		{deployed.Retention{KeepRuns: 2, KeepDays: 7}, 2, deployed.Run{Timestamp: young}, false},
		{deployed.Retention{KeepRuns: 2, KeepDays: 7}, 2, deployed.Run{Timestamp: old}, true},
		{deployed.Retention{KeepRuns: 2, KeepDays: 7}, 2, deployed.Run{Timestamp: old, Latest: true}, false},
	} {
		if got := c.r.Removes(c.at, 5, c.run, now); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestDiagnosisNamesWhatIsWrong(t *testing.T) {
	s, c := cluster(t)
	pod := controllerPod("one")
	pod["status"] = object{"phase": "Pending", "containerStatuses": []any{object{"name": "control-plane",
		"restartCount": 2, "state": object{"waiting": object{"reason": "ImagePullBackOff", "message": "no such image"}}}}}
	s.Put(pods+"one-pod", pod)
	s.Put("/api/v1/namespaces/bench/events/e", object{"type": "Warning", "reason": "Failed", "message": "pull",
		"count": 3, "involvedObject": object{"kind": "Pod", "name": "one-pod"}})
	s.Logs["one-pod/results-sidecar"] = "fine\nError: boom\n│ (Success + Error) │ 1 │ N/A │\n40 requests in 1 s · 0 failed\n"
	d, err := deployed.Diagnose(context.Background(), c, "bench", crd.JobSelector("one"), false)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint(d.Tables())
	for _, want := range []string{"one-pod Pending 2 - control-plane: ImagePullBackOff (no such image)",
		"Warning Failed Pod/one-pod pull 3", "one-pod results-sidecar Error: boom"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %q", text, want)
		}
	}
	for _, fine := range []string{"fine", "Success", "0 failed"} {
		if strings.Contains(text, fine) {
			t.Errorf("a line without an error is shown: %s", fine)
		}
	}
}
