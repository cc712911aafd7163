package deployed_test

import (
	"context"
	"testing"

	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/deployed"
)

// checks runs the checks against a server and returns the outcomes by name.
func checks(t *testing.T, s *server, o deployed.PreflightOptions) (map[string]deployed.PreflightStatus, *deployed.PreflightResults) {
	t.Helper()
	c, err := client.Connect(client.Options{Kubeconfig: s.Kubeconfig(t, "bench")})
	if err != nil {
		t.Fatal(err)
	}
	if o.Workers == 0 {
		o.Workers = 1
	}
	o.Namespace = "bench"
	r := deployed.Preflight(context.Background(), c, o)
	out := map[string]deployed.PreflightStatus{}
	for _, x := range r.Checks {
		out[x.Name] = x.Status
	}
	return out, r
}

func node(cpu, memory string) object {
	return object{"metadata": object{"labels": object{"zone": "a"}}, "spec": object{},
		"status": object{"allocatable": object{"cpu": cpu, "memory": memory}}}
}

const preflightJobs = "aiperf.nvidia.com/v1alpha1/aiperfjobs"

func TestOutcomesOfTheChecks(t *testing.T) {
	for _, c := range []struct {
		name  string
		make  func(s *server)
		o     deployed.PreflightOptions
		check string
		want  deployed.PreflightStatus
	}{
		{"an old cluster", func(s *server) { s.Minor = "23" }, deployed.PreflightOptions{}, "Kubernetes Version", deployed.Fail},
		{"the oldest cluster", func(s *server) { s.Minor = "24+" }, deployed.PreflightOptions{}, "Kubernetes Version", deployed.Pass},
		{"no namespace", nil, deployed.PreflightOptions{}, "Namespace", deployed.Fail},
		{"a namespace", func(s *server) { s.Put("/api/v1/namespaces/bench", object{}) }, deployed.PreflightOptions{},
			"Namespace", deployed.Pass},
		{"a permission is missing", func(s *server) { s.Denied = []string{"create aiperfjobs"} },
			deployed.PreflightOptions{}, "RBAC Permissions", deployed.Fail},
		{"another mode needs other permissions", func(s *server) { s.Denied = []string{"create aiperfjobs"} },
			deployed.PreflightOptions{Direct: true}, "RBAC Permissions", deployed.Pass},
		{"no operator", nil, deployed.PreflightOptions{}, "AIPerf Operator", deployed.Warn},
		{"JobSet is missing and not needed", nil, deployed.PreflightOptions{}, "JobSet CRD", deployed.Info},
		{"JobSet is missing and needed", nil, deployed.PreflightOptions{JobSet: true}, "JobSet CRD", deployed.Fail},
		{"a quota that is too small", func(s *server) {
			s.Put("/api/v1/namespaces/bench/resourcequotas/q", object{"status": object{"hard": object{"requests.cpu": "4"},
				"used": object{"requests.cpu": "500m"}}})
		}, deployed.PreflightOptions{}, "Resource Quotas", deployed.Fail},
		{"a quota that is enough", func(s *server) {
			s.Put("/api/v1/namespaces/bench/resourcequotas/q", object{"status": object{"hard": object{"requests.cpu": "4"},
				"used": object{"requests.cpu": "100m"}}})
		}, deployed.PreflightOptions{}, "Resource Quotas", deployed.Info},
		{"no node", nil, deployed.PreflightOptions{}, "Node Resources", deployed.Fail},
		{"a node", func(s *server) { s.Put("/api/v1/nodes/n", node("4", "16Gi")) }, deployed.PreflightOptions{},
			"Node Resources", deployed.Pass},
		{"small nodes", func(s *server) {
			s.Put("/api/v1/nodes/a", node("3", "16Gi"))
			s.Put("/api/v1/nodes/b", node("3", "16Gi"))
		}, deployed.PreflightOptions{}, "Node Resources", deployed.Fail},
		{"a node of another zone", func(s *server) { s.Put("/api/v1/nodes/n", node("4", "16Gi")) },
			deployed.PreflightOptions{NodeSelector: map[string]string{"zone": "b"}}, "Node Resources", deployed.Fail},
		{"a full node", func(s *server) {
			s.Put("/api/v1/nodes/n", node("4", "16Gi"))
			s.Put("/api/v1/namespaces/x/pods/p", object{"spec": object{"nodeName": "n", "containers": []any{
				object{"resources": object{"requests": object{"cpu": "2"}}}}}})
		}, deployed.PreflightOptions{}, "Node Resources", deployed.Warn},
		{"a taint", func(s *server) {
			n := node("4", "16Gi")
			n["spec"] = object{"taints": []any{object{"key": "gpu", "effect": "NoSchedule"}}}
			s.Put("/api/v1/nodes/n", n)
		}, deployed.PreflightOptions{}, "Node Resources", deployed.Fail},
		{"a taint that is tolerated", func(s *server) {
			n := node("4", "16Gi")
			n["spec"] = object{"taints": []any{object{"key": "gpu", "effect": "NoSchedule"}}}
			s.Put("/api/v1/nodes/n", n)
		}, deployed.PreflightOptions{Tolerations: []client.Object{{"key": "gpu", "operator": "Exists"}}}, "Node Resources",
			deployed.Pass},
		{"a missing secret", nil, deployed.PreflightOptions{Secrets: []string{"s"}}, "Secrets", deployed.Fail},
		{"no secrets", nil, deployed.PreflightOptions{}, "Secrets", deployed.Skip},
		{"a public image", nil, deployed.PreflightOptions{Image: "ghcr.io/a/b:1"}, "Image Pull", deployed.Info},
		{"an image of docker.io", nil, deployed.PreflightOptions{Image: "alpine"}, "Image Pull", deployed.Info},
		{"a private image", nil, deployed.PreflightOptions{Image: "registry.example.com/a/b:1"}, "Image Pull", deployed.Warn},
		{"a network policy", func(s *server) {
			s.Put("/apis/networking.k8s.io/v1/namespaces/bench/networkpolicies/deny", object{})
		}, deployed.PreflightOptions{}, "Network Policies", deployed.Warn},
		{"no DNS", nil, deployed.PreflightOptions{}, "DNS Resolution", deployed.Warn},
		{"a service that does not exist", nil, deployed.PreflightOptions{Endpoint: "http://mock:8000"}, "Endpoint Connectivity",
			deployed.Fail},
		{"a service", func(s *server) { s.Put("/api/v1/namespaces/llm/services/mock", object{}) },
			deployed.PreflightOptions{Endpoint: "http://mock.llm.svc.cluster.local:8000"}, "Endpoint Connectivity", deployed.Pass},
		{"an outside server", nil, deployed.PreflightOptions{Endpoint: "https://api.example.com"}, "Endpoint Connectivity",
			deployed.Info},
	} {
		s := newServer(t, preflightJobs)
		if c.make != nil {
			c.make(s)
		}
		if got, _ := checks(t, s, c.o); got[c.check] != c.want {
			t.Errorf("%s: %s is %q, want %q", c.name, c.check, got[c.check], c.want)
		}
	}
}

func TestClusterThatDoesNotAnswerEndsTheChecks(t *testing.T) {
	c, err := client.Connect(client.Options{Kubeconfig: unreachable(t)})
	if err != nil {
		t.Fatal(err)
	}
	r := deployed.Preflight(context.Background(), c, deployed.PreflightOptions{Namespace: "bench"})
	if r.Passed || len(r.Checks) != 1 || r.Checks[0].Status != deployed.Fail {
		t.Errorf("%+v", r)
	}
}

func TestQuickChecks(t *testing.T) {
	got, r := checks(t, newServer(t, preflightJobs), deployed.PreflightOptions{Quick: true, Endpoint: "https://api.example.com"})
	if len(got) != 3 || !r.Passed {
		t.Errorf("%v", got)
	}
}
