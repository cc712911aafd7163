package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/cluster/kube/deployed"
)

// coordinator is the state of a controller pod by that of its coordinator.
func coordinator(state crd.Object) crd.Object {
	return crd.Object{"phase": "Running", "podIP": "10.0.0.1", "containerStatuses": []any{
		crd.Object{"name": crd.ContainerController, "state": state}}}
}

// A coordinator whose results are complete stays for the clients of its API: it is asked to end, and then its exit code
// decides.
func TestTheExitCodeOfACoordinatorDecides(t *testing.T) {
	const said = "tables\n✓ --fail-if request_latency:avg>5s  (1 s)\n✗ --fail-if request_latency:p99>2ms  (5.2 ms)\nend\n"
	for _, x := range []struct {
		code        int64
		message     string
		phase, want string
	}{
		{0, "", crd.Completed, ""},
		{3, said, crd.Failed, "request_latency:p99>2ms  (5.2 ms)"},
		{1, "all requests failed\n", crd.Failed, "exit code 1: all requests failed"},
		{2, "│ cut off, │\n╰──╯\n╭─ Error ─╮\n│ the results lack a part of the   │\n│ load: 1 of 2 agents were lost │\n╰──╯\n" +
			"07:09:49.783 INFO     The live page stays\n", crd.Failed,
			"exit code 2: the results lack a part of the load: 1 of 2 agents were lost"},
		{4, "│ of the load │\n╰──╯\n╭─ Notes ─╮\n│ none │\n╰──╯\n", crd.Failed, "exit code 4: of the load"},
		{5, "boom\n07:09:49.783 WARNING  The API is open\n\n", crd.Failed, "exit code 5: boom"},
	} {
		t.Run(fmt.Sprint(x.code), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, job(nil))
				c.steps(time.Second)
				c.pod("c", crd.RoleController, coordinator(crd.Object{"running": crd.Object{}}))
				c.complete()
				c.patch(jobsResource, "j", `{"metadata":{"annotations":{"`+crd.AnnotationComplete+`":"`+
					time.Now().Format(time.RFC3339Nano)+`"}}}`)
				if after, err := c.step(); err != nil || after > time.Second {
					t.Fatal(after, err)
				}
				if h := c.head(); crd.Terminal(h.Status.Phase) || h.Status.Phases["profiling"].RequestsCompleted != 4 {
					t.Errorf("before its end the status is %+v", h.Status)
				}
				if !slices.Contains(c.pods.asked, "POST /api/shutdown") {
					t.Errorf("it was asked %v", c.pods.asked)
				}
				c.pod("c", crd.RoleController, coordinator(crd.Object{"terminated": crd.Object{"exitCode": x.code,
					"message": x.message}}))
				if _, err := c.step(); err != nil {
					t.Fatal(err)
				}
				h := c.head()
				if h.Status.Phase != x.phase || !strings.HasSuffix(h.Status.Error, x.want) ||
					c.condition(resultsAvailable).Reason != "ResultsStored" || c.condition(failed).Message != h.Status.Error {
					t.Errorf("the status is %+v", h.Status)
				}
				if e, ok := c.store.Entry(runOf(jobKey, &h.Status)); !ok || e.Phase != x.phase {
					t.Errorf("the index has %+v", e)
				}
			})
		})
	}
}

func TestACoordinatorThatDoesNotEndIsNotWaitedForForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, job(nil))
		c.steps(time.Second)
		c.pod("c", crd.RoleController, coordinator(crd.Object{"running": crd.Object{}}))
		c.complete()
		c.patch(jobsResource, "j", `{"metadata":{"annotations":{"`+crd.AnnotationComplete+`":"`+
			time.Now().Format(time.RFC3339Nano)+`"}}}`)
		c.steps(closingTime - time.Second)
		if got := c.head().Status.Phase; crd.Terminal(got) {
			t.Fatalf("within its time the job became %s", got)
		}
		c.steps(10 * time.Second)
		if got := c.head().Status.Phase; got != crd.Completed {
			t.Errorf("after it the job is %s", got)
		}
	})
}

func TestServerMetricsOfAStatusAreBounded(t *testing.T) {
	export := func(series, labels, length int) []byte {
		all := map[string]any{}
		for i := range labels {
			all[fmt.Sprintf("l%03d", i)] = strings.Repeat("x", length)
		}
		var list []any
		for i := range series {
			list = append(list, map[string]any{"endpoint_url": "http://s/metrics", "labels": all, "avg": float64(i)})
		}
		text, err := json.Marshal(map[string]any{"summary": map[string]any{"endpoints_successful": []string{"http://s/metrics"}},
			"metrics": map[string]any{"m": map[string]any{"type": "gauge", "description": "d", "series": list}}})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	shown := serverMetrics(export(300, 20, 1))
	family := shown["metrics"].(crd.Object)["m"].(crd.Object)
	series := family["series"].([]any)
	labels := series[0].(crd.Object)["labels"].(crd.Object)
	if len(series) != 256 || len(labels) != 16 || labels["l015"] == nil || labels["l016"] != nil {
		t.Errorf("%d series, %d labels", len(series), len(labels))
	}
	if got := serverMetrics(export(256, 16, 80)); got != nil {
		t.Error("what exceeds the limit of bytes is shown")
	}
	for _, text := range []string{"", "{}", "no JSON"} {
		if got := serverMetrics([]byte(text)); got != nil {
			t.Errorf("%q is shown as %v", text, got)
		}
	}
}

func TestChecksBeforeAJob(t *testing.T) {
	template := crd.Object{"podTemplate": crd.Object{
		"nodeSelector": crd.Object{"disk": "fast"}, "imagePullSecrets": []any{"pull", crd.Object{"name": "other"}},
		"env": []any{crd.Object{"name": "A", "valueFrom": crd.Object{"secretKeyRef": crd.Object{"name": "needed", "key": "k"}}},
			crd.Object{"name": "B", "valueFrom": crd.Object{"secretKeyRef": crd.Object{"name": "may", "key": "k",
				"optional": true}}}},
		"volumes": []any{crd.Object{"name": "v", "secret": crd.Object{"secretName": "mounted"}}}}}
	for _, x := range []struct {
		name          string
		found         deployed.PreflightCheck
		phase, reason string
		warned        bool
	}{
		{"a failure", deployed.PreflightCheck{Name: "Resource Quotas", Status: deployed.Fail, Message: "none is left"},
			crd.Failed, "PreflightFailed", false},
		{"a warning", deployed.PreflightCheck{Name: "Node Resources", Status: deployed.Warn, Message: "no room"}, crd.Pending,
			"PreflightPassed", true},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, job(template))
				var asked deployed.PreflightOptions
				c.op.o.Preflight = func(_ context.Context, o deployed.PreflightOptions) *deployed.PreflightResults {
					asked = o
					return &deployed.PreflightResults{Checks: []deployed.PreflightCheck{x.found}}
				}
				c.steps(time.Second)
				h := c.head()
				if h.Status.Phase != x.phase || c.condition(preflightPassed).Reason != x.reason ||
					(c.condition(preflightWarnings).Status == "True") != x.warned {
					t.Errorf("the status is %+v", h.Status)
				}
				if !asked.Job || asked.Workers != 1 || !asked.NoResources || asked.NodeSelector["disk"] != "fast" ||
					asked.Secrets != nil || asked.PullSecrets != nil { // it may not read secrets
					t.Errorf("asked for %+v", asked)
				}
			})
		})
	}
}

func TestThePageForPrometheus(t *testing.T) {
	c := newCluster(t, job(crd.Object{"cancel": true}))
	queue := newQueue()
	defer queue.ShutDown()
	c.op.step(t.Context(), queue, jobKey)
	c.op.step(t.Context(), queue, jobKey)
	w := httptest.NewRecorder()
	c.op.Metrics("1.2").ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{`aiperf_operator_info{version="1.2"} 1`, "aiperf_operator_leader 0",
		`aiperf_operator_resources{kind="AIPerfJob",phase="Cancelled"} 1`, `aiperf_operator_looks_total{kind="AIPerfJob"} 2`,
		`aiperf_operator_jobs_ended_total{phase="Cancelled"} 1`} {
		if !strings.Contains(w.Body.String(), want+"\n") {
			t.Errorf("%s\nlacks %s", w.Body, want)
		}
	}
}
