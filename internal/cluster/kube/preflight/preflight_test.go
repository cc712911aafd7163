package preflight_test

import (
	"context"
	"testing"

	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/kubetest"
	"aiperf/internal/cluster/kube/preflight"
)

type object = kubetest.Object

// checks runs the checks against a server and returns the outcomes by name.
func checks(t *testing.T, s *kubetest.Server, o preflight.Options) (map[string]preflight.Status, *preflight.Results) {
	t.Helper()
	c, err := client.Connect(client.Options{Kubeconfig: s.Kubeconfig(t, "bench")})
	if err != nil {
		t.Fatal(err)
	}
	if o.Workers == 0 {
		o.Workers = 1
	}
	o.Namespace = "bench"
	r := preflight.Run(context.Background(), c, o)
	out := map[string]preflight.Status{}
	for _, x := range r.Checks {
		out[x.Name] = x.Status
	}
	return out, r
}

func node(cpu, memory string) object {
	return object{"metadata": object{"labels": object{"zone": "a"}}, "spec": object{},
		"status": object{"allocatable": object{"cpu": cpu, "memory": memory}}}
}

const jobs = "aiperf.nvidia.com/v1alpha1/aiperfjobs"

func TestOutcomesOfTheChecks(t *testing.T) {
	for _, c := range []struct {
		name  string
		make  func(s *kubetest.Server)
		o     preflight.Options
		check string
		want  preflight.Status
	}{
		{"an old cluster", func(s *kubetest.Server) { s.Minor = "23" }, preflight.Options{}, "Kubernetes Version", preflight.Fail},
		{"the oldest cluster", func(s *kubetest.Server) { s.Minor = "24+" }, preflight.Options{}, "Kubernetes Version", preflight.Pass},
		{"no namespace", nil, preflight.Options{}, "Namespace", preflight.Fail},
		{"a namespace", func(s *kubetest.Server) { s.Put("/api/v1/namespaces/bench", object{}) }, preflight.Options{},
			"Namespace", preflight.Pass},
		{"a permission is missing", func(s *kubetest.Server) { s.Denied = []string{"create aiperfjobs"} },
			preflight.Options{}, "RBAC Permissions", preflight.Fail},
		{"another mode needs other permissions", func(s *kubetest.Server) { s.Denied = []string{"create aiperfjobs"} },
			preflight.Options{Direct: true}, "RBAC Permissions", preflight.Pass},
		{"no operator", nil, preflight.Options{}, "AIPerf Operator", preflight.Warn},
		{"JobSet is missing and not needed", nil, preflight.Options{}, "JobSet CRD", preflight.Info},
		{"JobSet is missing and needed", nil, preflight.Options{JobSet: true}, "JobSet CRD", preflight.Fail},
		{"a quota that is too small", func(s *kubetest.Server) {
			s.Put("/api/v1/namespaces/bench/resourcequotas/q", object{"status": object{"hard": object{"requests.cpu": "4"},
				"used": object{"requests.cpu": "500m"}}})
		}, preflight.Options{}, "Resource Quotas", preflight.Fail},
		{"a quota that is enough", func(s *kubetest.Server) {
			s.Put("/api/v1/namespaces/bench/resourcequotas/q", object{"status": object{"hard": object{"requests.cpu": "4"},
				"used": object{"requests.cpu": "100m"}}})
		}, preflight.Options{}, "Resource Quotas", preflight.Info},
		{"no node", nil, preflight.Options{}, "Node Resources", preflight.Fail},
		{"a node", func(s *kubetest.Server) { s.Put("/api/v1/nodes/n", node("4", "16Gi")) }, preflight.Options{},
			"Node Resources", preflight.Pass},
		{"small nodes", func(s *kubetest.Server) {
			s.Put("/api/v1/nodes/a", node("3", "16Gi"))
			s.Put("/api/v1/nodes/b", node("3", "16Gi"))
		}, preflight.Options{}, "Node Resources", preflight.Fail},
		{"a node of another zone", func(s *kubetest.Server) { s.Put("/api/v1/nodes/n", node("4", "16Gi")) },
			preflight.Options{NodeSelector: map[string]string{"zone": "b"}}, "Node Resources", preflight.Fail},
		{"a full node", func(s *kubetest.Server) {
			s.Put("/api/v1/nodes/n", node("4", "16Gi"))
			s.Put("/api/v1/namespaces/x/pods/p", object{"spec": object{"nodeName": "n", "containers": []any{
				object{"resources": object{"requests": object{"cpu": "2"}}}}}})
		}, preflight.Options{}, "Node Resources", preflight.Warn},
		{"a taint", func(s *kubetest.Server) {
			n := node("4", "16Gi")
			n["spec"] = object{"taints": []any{object{"key": "gpu", "effect": "NoSchedule"}}}
			s.Put("/api/v1/nodes/n", n)
		}, preflight.Options{}, "Node Resources", preflight.Fail},
		{"a taint that is tolerated", func(s *kubetest.Server) {
			n := node("4", "16Gi")
			n["spec"] = object{"taints": []any{object{"key": "gpu", "effect": "NoSchedule"}}}
			s.Put("/api/v1/nodes/n", n)
		}, preflight.Options{Tolerations: []client.Object{{"key": "gpu", "operator": "Exists"}}}, "Node Resources",
			preflight.Pass},
		{"a missing secret", nil, preflight.Options{Secrets: []string{"s"}}, "Secrets", preflight.Fail},
		{"no secrets", nil, preflight.Options{}, "Secrets", preflight.Skip},
		{"a public image", nil, preflight.Options{Image: "ghcr.io/a/b:1"}, "Image Pull", preflight.Info},
		{"an image of docker.io", nil, preflight.Options{Image: "alpine"}, "Image Pull", preflight.Info},
		{"a private image", nil, preflight.Options{Image: "registry.example.com/a/b:1"}, "Image Pull", preflight.Warn},
		{"a network policy", func(s *kubetest.Server) {
			s.Put("/apis/networking.k8s.io/v1/namespaces/bench/networkpolicies/deny", object{})
		}, preflight.Options{}, "Network Policies", preflight.Warn},
		{"no DNS", nil, preflight.Options{}, "DNS Resolution", preflight.Warn},
		{"a service that does not exist", nil, preflight.Options{Endpoint: "http://mock:8000"}, "Endpoint Connectivity",
			preflight.Fail},
		{"a service", func(s *kubetest.Server) { s.Put("/api/v1/namespaces/llm/services/mock", object{}) },
			preflight.Options{Endpoint: "http://mock.llm.svc.cluster.local:8000"}, "Endpoint Connectivity", preflight.Pass},
		{"an outside server", nil, preflight.Options{Endpoint: "https://api.example.com"}, "Endpoint Connectivity",
			preflight.Info},
	} {
		s := kubetest.New(t, jobs)
		if c.make != nil {
			c.make(s)
		}
		if got, _ := checks(t, s, c.o); got[c.check] != c.want {
			t.Errorf("%s: %s is %q, want %q", c.name, c.check, got[c.check], c.want)
		}
	}
}

func TestClusterThatDoesNotAnswerEndsTheChecks(t *testing.T) {
	c, err := client.Connect(client.Options{Kubeconfig: kubetest.Unreachable(t)})
	if err != nil {
		t.Fatal(err)
	}
	r := preflight.Run(context.Background(), c, preflight.Options{Namespace: "bench"})
	if r.Passed || len(r.Checks) != 1 || r.Checks[0].Status != preflight.Fail {
		t.Errorf("%+v", r)
	}
}

func TestQuickChecks(t *testing.T) {
	got, r := checks(t, kubetest.New(t, jobs), preflight.Options{Quick: true, Endpoint: "https://api.example.com"})
	if len(got) != 3 || !r.Passed {
		t.Errorf("%v", got)
	}
}
