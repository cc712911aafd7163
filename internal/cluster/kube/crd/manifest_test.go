package crd_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/config/env"
	"aiperf/internal/config/file"
)

// list is a list of a manifest, as in JSON.
type list = []any

func demo(change func(*crd.Spec)) *crd.Job {
	j := &crd.Job{Metadata: crd.Metadata{Name: "demo", Namespace: "bench"}, Spec: crd.Spec{
		Deployment: crd.Deployment{Image: "img:1"}, Benchmark: crd.Object{"model": "m",
			"endpoint": crd.Object{"urls": list{"http://x:1"}}, "dataset": crd.Object{"type": "synthetic"},
			"phases": crd.Object{"type": "concurrency", "concurrency": 8, "requests": 40}}}}
	if change != nil {
		change(&j.Spec)
	}
	return j
}

func build(t *testing.T, j *crd.Job, o crd.BuildOptions) map[string]crd.Object {
	t.Helper()
	objects, err := crd.Build(j, o)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]crd.Object{}
	for _, x := range objects {
		out[x["kind"].(string)+" "+x["metadata"].(crd.Object)["name"].(string)] = x
	}
	return out
}

// dig is the value at a path; numbers are indices of lists.
func dig(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(crd.Object)
			v = m[p]
		case int:
			v = v.(list)[p]
		}
	}
	return v
}

// A URL with headers of its own is shown without them.
func TestHeadersOfURLsAreInNoAnnotation(t *testing.T) {
	objects := build(t, demo(func(s *crd.Spec) {
		s.Benchmark["endpoint"] = crd.Object{"urls": list{"http://x:1", crd.Object{"url": "http://y:1",
			"headers": crd.Object{"Authorization": "Bearer hunter2"}}}}
	}), crd.BuildOptions{})
	shown := 0
	for name, o := range objects {
		if url := dig(o, "metadata", "annotations", crd.AnnotationEndpoint); url != nil {
			if shown++; url != "http://x:1,http://y:1" {
				t.Errorf("%s names the endpoint %v", name, url)
			}
		}
	}
	if shown == 0 {
		t.Error("no object names its endpoint")
	}
}

func TestObjectsOfAJob(t *testing.T) {
	for engine, want := range map[crd.Engine][]string{
		crd.EngineJobs: {"Role aiperf-demo-role", "RoleBinding aiperf-demo-binding", "ConfigMap aiperf-demo-config",
			"Secret aiperf-demo-token", "NetworkPolicy aiperf-demo", "Service aiperf-demo",
			"Job aiperf-demo-controller-0", "Job aiperf-demo-workers-0"},
		crd.EngineJobSet: {"Role aiperf-demo-role", "RoleBinding aiperf-demo-binding", "ConfigMap aiperf-demo-config",
			"Secret aiperf-demo-token", "NetworkPolicy aiperf-demo", "JobSet aiperf-demo"},
	} {
		objects, err := crd.Build(demo(nil), crd.BuildOptions{Engine: engine, Token: "t"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, x := range objects {
			got = append(got, x["kind"].(string)+" "+x["metadata"].(crd.Object)["name"].(string))
			if dig(x, "metadata", "labels", crd.LabelJob) != "demo" || dig(x, "metadata", "labels", "app") != "aiperf" {
				t.Errorf("%s has the labels %v", x["kind"], dig(x, "metadata", "labels"))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q", engine, got)
		}
	}
}

func TestBothEnginesGiveTheControllerOneHostName(t *testing.T) {
	const host = "aiperf-demo-controller-0-0.aiperf-demo.bench.svc.cluster.local"
	if got := crd.ControllerHost("demo", "bench"); got != host {
		t.Errorf("host %s", got)
	}
	jobs := build(t, demo(nil), crd.BuildOptions{})
	pod := dig(jobs["Job aiperf-demo-controller-0"], "spec", "template", "spec")
	if dig(pod, "subdomain") != "aiperf-demo" { // its host name is that of the Job and its index
		t.Errorf("subdomain %v", dig(pod, "subdomain"))
	}
	args := fmt.Sprint(dig(jobs["Job aiperf-demo-workers-0"], "spec", "template", "spec", "containers", 0, "args"))
	if !strings.Contains(args, "nats://"+host+":4222") || !strings.Contains(args, " --allow-clear-text ") {
		t.Errorf("args %s", args)
	}
	if args := crd.ControllerArgs(2); !slices.Contains(args, "--nats-allow-clear-text") {
		t.Errorf("the controller listens for pods of the cluster with %q", args)
	}
	set := build(t, demo(nil), crd.BuildOptions{Engine: crd.EngineJobSet})["JobSet aiperf-demo"]
	if dig(set, "spec", "network", "enableDNSHostnames") != true ||
		dig(set, "spec", "replicatedJobs", 0, "name") != "controller" {
		t.Errorf("%v", dig(set, "spec"))
	}
}

func TestConfigurationIsReadBackAsTheRun(t *testing.T) {
	j := demo(func(s *crd.Spec) { s.RandomSeed = int64(7); s.Variables = crd.Object{"a": 1.0} })
	text := dig(build(t, j, crd.BuildOptions{})["ConfigMap aiperf-demo-config"], "data", crd.ConfigKey).(string)
	source, err := file.Open(crd.ConfigKey, []byte(text),
		env.Lookup(func(string) (string, bool) { return "", false }))
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := crd.ResolveSource(source)
	if err != nil {
		t.Fatal(err)
	}
	if *r.Phases[0].Requests != 40 || r.InFlight() != 8 || *r.Workers.Max != 1 ||
		r.Artifacts.Dir != crd.ResultsDir {
		t.Errorf("%+v", r)
	}
	var o crd.Object
	if err := json.Unmarshal([]byte(text), &o); err != nil || o["benchmark_id"] != "demo" ||
		o["artifact_dir"] != "/results" || o["random_seed"] != 7.0 {
		t.Errorf("%v %v", o, err)
	}
}

func TestTrapKeepFailedPodsRemovesTheTTL(t *testing.T) {
	ten := 10
	for _, c := range []struct {
		keep     bool
		ttl      *int
		operator bool
		want     any
	}{
		{false, nil, false, crd.DirectTTLSeconds}, {false, nil, true, crd.DefaultTTLSeconds}, {false, &ten, true, 10},
		{true, &ten, true, nil}, {true, nil, false, nil},
	} {
		j := demo(func(s *crd.Spec) { s.KeepFailedPods, s.TTLSecondsAfterFinished = c.keep, c.ttl })
		jobs := build(t, j, crd.BuildOptions{Operator: c.operator})
		for _, name := range []string{"Job aiperf-demo-controller-0", "Job aiperf-demo-workers-0"} {
			if got := dig(jobs[name], "spec", "ttlSecondsAfterFinished"); got != c.want {
				t.Errorf("%+v: %s has %v", c, name, got)
			}
		}
		set := build(t, j, crd.BuildOptions{Operator: c.operator, Engine: crd.EngineJobSet})["JobSet aiperf-demo"]
		inner := dig(set, "spec", "replicatedJobs", 1, "template", "spec", "ttlSecondsAfterFinished")
		if dig(set, "spec", "ttlSecondsAfterFinished") != c.want || c.keep != (inner == nil) {
			t.Errorf("%+v: JobSet %v, workers %v", c, dig(set, "spec", "ttlSecondsAfterFinished"), inner)
		}
	}
}

func TestTrapUsersCannotOverrideTheToolsOwn(t *testing.T) {
	j := demo(func(s *crd.Spec) {
		s.PodTemplate = &crd.PodTemplate{Env: []crd.Object{{"name": "AIPERF_JOB_ID", "value": "mine"},
			{"name": "AIPERF_K8S_CONTROLLER_HOST", "value": "mine"}, {"name": "OTHER", "value": "kept"}},
			Labels:      map[string]string{crd.LabelJob: "mine", "app": "mine", crd.LabelRole: "mine", "team": "a"},
			Annotations: map[string]string{"prometheus.io/port": "1", "note": "b"}}
	})
	for _, x := range build(t, j, crd.BuildOptions{}) {
		if x["kind"] != "Job" {
			continue
		}
		pod := dig(x, "spec", "template")
		labels := dig(pod, "metadata", "labels").(crd.Object)
		if labels[crd.LabelJob] != "demo" || labels["app"] != "aiperf" || labels[crd.LabelRole] == "mine" ||
			labels["team"] != "a" {
			t.Errorf("labels %v", labels)
		}
		for _, c := range dig(pod, "spec", "containers").(list) {
			text := fmt.Sprint(dig(c, "env"))
			if strings.Contains(text, "mine") || !strings.Contains(text, "kept") {
				t.Errorf("env %s", text)
			}
		}
	}
	controller := build(t, j, crd.BuildOptions{})["Job aiperf-demo-controller-0"]
	notes := dig(controller, "spec", "template", "metadata", "annotations").(crd.Object)
	if notes["prometheus.io/port"] != "9090" || notes["note"] != "b" {
		t.Errorf("annotations %v", notes)
	}
}

func TestTrapAQueueSuspendsTheEngine(t *testing.T) {
	j := demo(func(s *crd.Spec) { s.Scheduling = &crd.Scheduling{QueueName: "q", PriorityClass: "high"} })
	for name, x := range map[string]crd.Object{
		"JobSet": build(t, j, crd.BuildOptions{Engine: crd.EngineJobSet})["JobSet aiperf-demo"],
		"Job":    build(t, j, crd.BuildOptions{})["Job aiperf-demo-controller-0"],
	} {
		if dig(x, "spec", "suspend") != true || dig(x, "metadata", "labels", crd.LabelQueue) != "q" ||
			dig(x, "metadata", "labels", crd.LabelPriority) != "high" {
			t.Errorf("%s: %v", name, x["metadata"])
		}
	}
	if x := build(t, demo(nil), crd.BuildOptions{})["Job aiperf-demo-controller-0"]; dig(x, "spec", "suspend") != nil {
		t.Error("suspended without a queue")
	}
}

func TestResourcesByMode(t *testing.T) {
	for mode, want := range map[string]string{"": "map[requests:map[cpu:3350m memory:6144Mi]]",
		crd.ResourcesGuaranteed: "map[limits:map[cpu:3350m memory:6144Mi] requests:map[cpu:3350m memory:6144Mi]]",
		crd.ResourcesNone:       "<nil>"} {
		j := demo(func(s *crd.Spec) { s.ResourceMode = mode })
		got := fmt.Sprint(dig(build(t, j, crd.BuildOptions{})["Job aiperf-demo-workers-0"], "spec", "template", "spec",
			"containers", 0, "resources"))
		if got != want {
			t.Errorf("%q: %s", mode, got)
		}
	}
}

// TestPodsKeepThePolicyRestricted checks what the pod security standard of that name asks for.
func TestPodsKeepThePolicyRestricted(t *testing.T) {
	for _, x := range build(t, demo(nil), crd.BuildOptions{}) {
		if x["kind"] != "Job" {
			continue
		}
		pod := dig(x, "spec", "template", "spec")
		if dig(pod, "securityContext", "runAsNonRoot") != true ||
			dig(pod, "securityContext", "seccompProfile", "type") != "RuntimeDefault" {
			t.Errorf("pod %v", dig(pod, "securityContext"))
		}
		for _, c := range dig(pod, "containers").(list) {
			s := dig(c, "securityContext")
			if dig(s, "allowPrivilegeEscalation") != false || dig(s, "readOnlyRootFilesystem") != true ||
				fmt.Sprint(dig(s, "capabilities", "drop")) != "[ALL]" {
				t.Errorf("container %v", s)
			}
		}
		for _, v := range dig(pod, "volumes").(list) {
			for kind := range v.(crd.Object) {
				if !slices.Contains([]string{"name", "configMap", "secret", "emptyDir"}, kind) {
					t.Errorf("volume %v", v)
				}
			}
		}
	}
}

func TestBuildRefusesWhatCannotRun(t *testing.T) {
	for want, change := range map[string]func(*crd.Spec){
		"spec.image is missing": func(s *crd.Spec) { s.Image = " " },
		"such as 20 or 30":      func(s *crd.Spec) { s.Benchmark["runtime"] = crd.Object{"workers": 25} },
		"is missing":            func(s *crd.Spec) { delete(s.Benchmark, "endpoint") },
	} {
		if _, err := crd.Build(demo(change), crd.BuildOptions{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

func TestEstimateCountsWhatPodsHold(t *testing.T) {
	j := demo(nil)
	r, _, err := j.Spec.Resolve("spec", nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := crd.EstimateOf(&j.Spec, r)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(e.Lines(), "\n")
	for _, want := range []string{"Memory Estimation for AIPerf Kubernetes Deployment",
		"Topology: 1 controller + 1 worker pod(s) (1 workers/pod)", "Total requests: ~40", "(limit: 6144)", "Cluster Total"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %q", text, want)
		}
	}
}

// TestHardeningWins has a template that changes what it may, next to what it would take away.
func TestHardeningWins(t *testing.T) {
	j := demo(func(s *crd.Spec) {
		s.PodTemplate = &crd.PodTemplate{
			ContainerSecurityContext: crd.Object{"runAsUser": 2000, "readOnlyRootFilesystem": false,
				"runAsNonRoot": nil, "allowPrivilegeEscalation": nil, "seccompProfile": nil,
				"capabilities": crd.Object{"add": list{"NET_BIND_SERVICE"}, "drop": list{}}},
			PodSecurityContext: crd.Object{"fsGroup": 7, "runAsNonRoot": nil, "seccompProfile": nil},
			InitContainers: []crd.Object{{"name": "bare", "image": "i"},
				{"name": "own", "image": "i", "securityContext": crd.Object{"runAsUser": 5, "capabilities": nil}}},
			ExtraPodSpec: crd.Object{"enableServiceLinks": false},
		}
	})
	for name, x := range build(t, j, crd.BuildOptions{}) {
		if !strings.HasPrefix(name, "Job ") {
			continue
		}
		pod := dig(x, "spec", "template", "spec")
		if got := fmt.Sprint(dig(pod, "securityContext")); got != "map[fsGroup:7 runAsGroup:1000 runAsNonRoot:true "+
			"runAsUser:1000 seccompProfile:map[type:RuntimeDefault]]" {
			t.Errorf("%s: pod %s", name, got)
		}
		if dig(pod, "enableServiceLinks") != false {
			t.Errorf("%s: the extra field is missing", name)
		}
		for _, c := range slices.Concat(dig(pod, "containers").(list), dig(pod, "initContainers").(list)) {
			s := dig(c, "securityContext")
			if dig(s, "allowPrivilegeEscalation") != false || dig(s, "runAsNonRoot") != true ||
				fmt.Sprint(dig(s, "capabilities", "drop")) != "[ALL]" || dig(s, "seccompProfile", "type") != "RuntimeDefault" {
				t.Errorf("%s: container %v", name, s)
			}
		}
		first := dig(pod, "containers", 0, "securityContext")
		if dig(first, "runAsUser") != 2000 || fmt.Sprint(dig(first, "capabilities", "add")) != "[NET_BIND_SERVICE]" ||
			dig(first, "readOnlyRootFilesystem") != false || dig(pod, "initContainers", 1, "securityContext", "runAsUser") != 5 {
			t.Errorf("%s: what is allowed is missing: %v", name, first)
		}
	}
}

func TestNoPodIsMadeOfAForbiddenTemplate(t *testing.T) {
	forbidden := &crd.PodTemplate{Volumes: []crd.Object{{"name": "v", "hostPath": crd.Object{"path": "/"}}}}
	j := demo(func(s *crd.Spec) { s.PodTemplate = forbidden })
	if _, err := crd.Build(j, crd.BuildOptions{}); err == nil || !strings.Contains(err.Error(), "volumes[0].hostPath") {
		t.Errorf("a job: %v", err)
	}
	sweep := &crd.Sweep{Metadata: j.Metadata, Spec: j.Spec}
	if _, err := crd.BuildSweep(sweep, crd.SweepOptions{}); err == nil ||
		!strings.Contains(err.Error(), "volumes[0].hostPath") {
		t.Errorf("a sweep: %v", err)
	}
}

// TestEachPortIsOpenToThoseWhoNeedIt reads the policies: port, then who may connect.
func TestEachPortIsOpenToThoseWhoNeedIt(t *testing.T) {
	const agents = "map[podSelector:map[matchLabels:map[aiperf.nvidia.com/job-id:demo aiperf.nvidia.com/role:worker app:aiperf]]]"
	const namespace = "map[podSelector:map[]]"
	const operator = "map[namespaceSelector:map[matchLabels:map[kubernetes.io/metadata.name:ops]] " +
		"podSelector:map[matchLabels:map[app.kubernetes.io/component:operator app.kubernetes.io/name:aiperf]]]"
	rules := func(x crd.Object) map[string]string {
		out := map[string]string{}
		for _, r := range dig(x, "spec", "ingress").(list) {
			var from []string
			for _, peer := range dig(r, "from").(list) {
				from = append(from, fmt.Sprint(peer))
			}
			out[fmt.Sprint(dig(r, "ports", 0, "port"))] = strings.Join(from, " ")
		}
		return out
	}
	with := build(t, demo(nil), crd.BuildOptions{Operator: true, OperatorNamespace: "ops"})["NetworkPolicy aiperf-demo"]
	if got, want := fmt.Sprint(rules(with)), fmt.Sprint(map[string]string{"4222": agents, "9090": namespace + " " + operator,
		"9091": operator}); got != want {
		t.Errorf("with the operator:\n%s\nnot\n%s", got, want)
	}
	without := build(t, demo(nil), crd.BuildOptions{})["NetworkPolicy aiperf-demo"]
	if got, want := fmt.Sprint(rules(without)), fmt.Sprint(map[string]string{"4222": agents, "9090": namespace}); got != want {
		t.Errorf("without the operator:\n%s\nnot\n%s", got, want)
	}
}

func TestSecretsOfTheOperatorAreNamedByTheirOwner(t *testing.T) {
	owner := &crd.Owner{Kind: crd.JobKind, Name: "demo", UID: "0a1b"}
	objects := build(t, demo(nil), crd.BuildOptions{Operator: true, Owner: owner})
	if objects["Secret aiperf-demo-token-0a1b"] == nil {
		t.Fatal("the secret has another name")
	}
	for _, name := range []string{"Job aiperf-demo-controller-0", "Job aiperf-demo-workers-0"} {
		mounted := ""
		for _, v := range dig(objects[name], "spec", "template", "spec", "volumes").(list) {
			if dig(v, "name") == "token" {
				mounted, _ = dig(v, "secret", "secretName").(string)
			}
		}
		if mounted != "aiperf-demo-token-0a1b" {
			t.Errorf("%s mounts %q", name, mounted)
		}
	}
	j := demo(nil)
	made, err := crd.BuildSweep(&crd.Sweep{Metadata: j.Metadata, Spec: j.Spec},
		crd.SweepOptions{Owner: owner, ResultsToken: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range made {
		switch x["kind"] {
		case "Secret":
			if dig(x, "metadata", "name") != "aiperf-demo-results-0a1b" || dig(x, "stringData", crd.TokenKey) != "secret" {
				t.Errorf("the secret of a sweep: %v", x)
			}
		default:
			if strings.Contains(crd.ObjectJSON(x), `"secret"`+"\n") {
				t.Errorf("the token is in %s", x["kind"])
			}
		}
	}
}
