package crd_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/config/document"
)

// read is a resource written as YAML.
func read(t *testing.T, text string) crd.Object {
	t.Helper()
	f, err := document.Read("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return crd.Plain(f.Root.Any()).(crd.Object)
}

const good = `
apiVersion: aiperf.nvidia.com/v1alpha1
kind: KIND
metadata: {name: demo}
spec:
  image: img:1
  benchmark:
    model: m
    endpoint: {url: "http://x:1"}
    dataset: {type: synthetic, entries: 10, prompts: {isl: 512}}
    phases: {type: concurrency, concurrency: 8, requests: 100}
`

func job(more string) string   { return strings.Replace(good, "KIND", crd.JobKind, 1) + more }
func sweep(more string) string { return strings.Replace(good, "KIND", crd.SweepKind, 1) + more }

func TestResourcesAreChecked(t *testing.T) {
	const grid = "  sweep: {type: grid, parameters: {phases.profiling.concurrency: [1, 2]}}\n"
	for _, c := range []struct{ name, text, want string }{
		{"a job", job(""), ""},
		{"a sweep", sweep(grid), ""},
		{"snake case", job("  connections_per_worker: 5\n"), ""},
		{"both spellings", job("  connections_per_worker: 5\n  connectionsPerWorker: 5\n"), "keep one of them"},
		{"another kind", strings.Replace(good, "KIND", "Pod", 1), `kind: is "Pod"`},
		{"a bad name", strings.Replace(job(""), "name: demo", "name: Bad_Name", 1), "metadata.name"},
		{"a blank image", strings.Replace(job(""), "img:1", `" "`, 1), "spec.image: is blank"},
		{"an unknown mode", job("  resourceMode: foo\n"), "choose burstable, guaranteed, none"},
		{"too many days", job("  resultsTtlDays: 400\n"), "must be at most 365"},
		{"half a connection", job("  connectionsPerWorker: 0.5\n"), "whole number"},
		{"a text for a number", job("  timeoutSeconds: long\n"), "must be a finite number"},
		{"labels that are no texts", job("  podTemplate: {labels: {a: 1}}\n"), "put quotes around it"},
		{"an unknown field of the pods", job("  podTemplate: {foo: 1}\n"), "spec.podTemplate.foo: unknown key"},
		{"an unknown field", job("  connectionPerWorker: 1\n"), "did you mean connectionsPerWorker?"},
		{"an abbreviation of a sweep's field", job("  childMetadata: {}\n"), "spec.childMetadata: unknown key"},
		{"an infinite pause", sweep("  sweep: {type: grid, cooldownSeconds: .inf}\n"), "cooldownSeconds: must be a finite"},
		{"repeated order with convergence", sweep("  sweep: {type: grid, iterationOrder: repeated}\n" +
			"  multiRun: {numRuns: 3, convergence: {metric: ttft}}\n"), "repeated excludes convergence"},
		{"11 trials", sweep(grid + "  multiRun: {numRuns: 11}\n"), "at most 10 trials"},
	} {
		p, err := crd.Parse(read(t, c.text))
		if err == nil {
			err = p.Refuse()
		}
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
}

func TestTrapJobsWithASweepOrSeveralRunsAreRejected(t *testing.T) {
	for more, want := range map[string]string{
		"  sweep: {type: grid}\n":                     "AIPerfSweep",
		"  multiRun: {numRuns: 3}\n":                  "AIPerfSweep",
		"  multi_run: {num_runs: 3}\n":                "AIPerfSweep",
		"  multiRun: {convergence: {metric: ttft}}\n": "AIPerfSweep",
	} {
		if _, err := crd.Parse(read(t, job(more))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", more, err)
		}
	}
	for _, more := range []string{"", "  sweep: null\n", "  multiRun: {numRuns: 1}\n"} {
		if _, err := crd.Parse(read(t, job(more))); err != nil {
			t.Errorf("%q: %v", more, err)
		}
	}
	if _, err := crd.Parse(read(t, sweep(""))); err == nil || !strings.Contains(err.Error(), "needs a sweep") {
		t.Errorf("a sweep without one: %v", err)
	}
}

func TestTrapChildrenHaveATrialSuffixWithConvergence(t *testing.T) {
	for _, c := range []struct {
		multi  string
		suffix bool
	}{
		{"", false}, {"  multiRun: {numRuns: 1}\n", false}, {"  multiRun: {numRuns: 2}\n", true},
		{"  multiRun: {convergence: {metric: ttft}}\n", true},
		{"  multiRun: {numRuns: 1, convergence: {metric: ttft}}\n", true},
	} {
		p, err := crd.Parse(read(t, sweep("  sweep: {type: grid}\n"+c.multi)))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Spec.TrialSuffix(); got != c.suffix {
			t.Errorf("%q: suffix %v", c.multi, got)
		}
	}
	if got := crd.ChildName("s", 7, 3, true); got != "s-v07-t3" {
		t.Errorf("child %q", got)
	}
	if got := crd.ChildName("s", 7, 3, false); got != "s-v07" {
		t.Errorf("child %q", got)
	}
}

func TestTrapNameOfASweepIsBoundedByItsChildren(t *testing.T) {
	name := func(n int) string { return strings.Repeat("a", n) }
	for _, c := range []struct {
		length, variations, trials int
		suffix                     bool
		want                       string
	}{
		{31, 100, 1, false, ""}, {32, 100, 1, false, "shorten it to 31"},
		{30, 101, 1, false, ""}, {31, 101, 1, false, "shorten it to 30"},
		{27, 200, 10, true, ""}, {28, 200, 10, true, "shorten it to 27"},
		{5, 201, 1, false, "201 variations"}, {5, 2, 11, true, "at most 10 trials"},
	} {
		err := crd.CheckSweepSize(name(c.length), c.variations, c.trials, c.suffix)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestTrapConditionsKeepTheirTime(t *testing.T) {
	first := time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC)
	list := crd.SetCondition(nil, crd.Condition{Type: "Complete", Status: "False", Reason: "A"}, first)
	list = crd.SetCondition(list, crd.Condition{Type: "Complete", Status: "False", Reason: "B"}, first.Add(time.Hour))
	if len(list) != 1 || list[0].Reason != "B" || !list[0].LastTransitionTime.Equal(first) {
		t.Errorf("same status: %+v", list[0])
	}
	list = crd.SetCondition(list, crd.Condition{Type: "Complete", Status: "True"}, first.Add(2*time.Hour))
	if !list[0].LastTransitionTime.Equal(first.Add(2 * time.Hour)) {
		t.Errorf("another status: %+v", list[0])
	}
}

func TestTTLIsAbsentWhereFailedPodsAreKept(t *testing.T) {
	five := 5
	for _, c := range []struct {
		d    crd.Deployment
		want int
		ok   bool
	}{
		{crd.Deployment{}, 300, true}, {crd.Deployment{TTLSecondsAfterFinished: &five}, 5, true},
		{crd.Deployment{TTLSecondsAfterFinished: &five, KeepFailedPods: true}, 0, false},
	} {
		if got, ok := c.d.TTL(300); got != c.want || ok != c.ok {
			t.Errorf("%+v: %d, %v", c.d, got, ok)
		}
	}
}

func TestBenchmarkIsResolved(t *testing.T) {
	p, err := crd.Parse(read(t, job("  podTemplate: {env: [{name: MODEL, value: mm}, {name: KEY, valueFrom: {}}]}\n")))
	if err != nil {
		t.Fatal(err)
	}
	p.Spec.Benchmark["model"] = "${MODEL}"
	p.Spec.Benchmark["endpoint"].(crd.Object)["apiKey"] = "${KEY}"
	r, _, err := p.Spec.Resolve("spec", nil)
	if err != nil || r.Models[0] != "mm" || r.InFlight() != 8 {
		t.Errorf("%+v, %v", r, err)
	}
	p.Spec.Benchmark["phases"].(crd.Object)["bogus"] = 1
	if _, _, err := p.Spec.Resolve("spec", nil); err == nil || !strings.Contains(err.Error(), "bogus") {
		t.Errorf("an unknown key of a phase: %v", err)
	}
}

func TestKeysAreRespelledAtAnyDepth(t *testing.T) {
	p, err := crd.Parse(read(t, `
apiVersion: aiperf.nvidia.com/v1alpha1
kind: AIPerfJob
metadata: {name: demo}
spec:
  image: i
  benchmark:
    models: {items: [{name: m}]}
    endpoint: {urls: ["http://x:1"], extra: {max_tokens: 3, user_Id: 1}, wait_for_model_timeout: 3}
    datasets: [{name: main, type: synthetic, prefix_prompts: {pool_size: 1, length: 2}}]
    phases: [{name: profiling, type: concurrency, requests: 1, grace_period: 3}]
`))
	if err != nil {
		t.Fatal(err)
	}
	data, _ := json.Marshal(p.Spec.Benchmark)
	for _, want := range []string{"waitForModelTimeout", "prefixPrompts", "poolSize", "gracePeriod", "max_tokens", "user_Id"} {
		if !strings.Contains(string(data), `"`+want+`"`) {
			t.Errorf("%s lacks %s", data, want)
		}
	}
}

func TestValuesOfAVariationAreBounded(t *testing.T) {
	short, err := crd.ValuesAnnotation(crd.Object{"concurrency": 4})
	if err != nil || short != `{"concurrency":4}` {
		t.Errorf("%s %v", short, err)
	}
	long, err := crd.ValuesAnnotation(crd.Object{"text": strings.Repeat("x", 3000)})
	if err != nil || len(long) > 2048 || !strings.Contains(long, `"truncated":true`) {
		t.Errorf("%s %v", long, err)
	}
}

// TestDefinitionsAreStructural checks the rules of structural schemas: every value has a type, unless it is an integer
// or text or keeps what it holds.
func TestDefinitionsAreStructural(t *testing.T) {
	for _, d := range crd.Definitions() {
		for _, v := range d["spec"].(crd.Object)["versions"].([]any) {
			structural(t, v.(crd.Object)["schema"].(crd.Object)["openAPIV3Schema"].(crd.Object), d["metadata"].(crd.Object)["name"].(string))
		}
		if n := len(crd.YAML(d)); n > 900_000 {
			t.Errorf("%d bytes; the API takes a megabyte", n)
		}
	}
}

func structural(t *testing.T, s crd.Object, path string) {
	t.Helper()
	_, hasType := s["type"]
	if !hasType && s["x-kubernetes-int-or-string"] != true && s["x-kubernetes-preserve-unknown-fields"] != true {
		t.Errorf("%s has no type", path)
	}
	if p, ok := s["properties"].(crd.Object); ok {
		for k, v := range p {
			structural(t, v.(crd.Object), path+"."+k)
		}
	}
	for _, k := range []string{"items", "additionalProperties"} {
		if inner, ok := s[k].(crd.Object); ok {
			structural(t, inner, path+"."+k)
		}
	}
}
