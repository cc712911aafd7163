package collect

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// apiServer is a cluster's API server that knows some pods and wants the token of its service account.
type apiServer struct {
	*httptest.Server
	account string
	pods    []map[string]any
	status  int // instead of an answer
	perPage int
	asked   []*url.URL
}

func newAPIServer(t *testing.T, pods ...map[string]any) *apiServer {
	t.Helper()
	a := &apiServer{account: t.TempDir(), pods: pods, perPage: podsPerPage}
	a.Server = httptest.NewUnstartedServer(http.HandlerFunc(a.serve))
	a.Config.ErrorLog = log.New(io.Discard, "", 0) // of refused handshakes
	a.StartTLS()
	t.Cleanup(a.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Certificate().Raw})
	for name, text := range map[string]string{"token": "tk\n", "ca.crt": string(ca), "namespace": "own\n"} {
		if err := os.WriteFile(filepath.Join(a.account, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func (a *apiServer) serve(w http.ResponseWriter, r *http.Request) {
	a.asked = append(a.asked, r.URL)
	if r.Header.Get("Authorization") != "Bearer tk" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
		_, _ = w.Write([]byte("{"))
		return
	}
	from := 0
	_, _ = fmt.Sscanf(r.URL.Query().Get("continue"), "at %d", &from)
	to := min(from+a.perPage, len(a.pods))
	token := ""
	if to < len(a.pods) {
		token = fmt.Sprintf("at %d", to)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "PodList", "metadata": map[string]any{"continue": token}, "items": a.pods[from:to],
	})
}

// env returns the environment of a program inside the cluster.
func (a *apiServer) env(more map[string]string) func(string) (string, bool) {
	u, _ := url.Parse(a.URL)
	vars := map[string]string{"KUBERNETES_SERVICE_HOST": u.Hostname(), "KUBERNETES_SERVICE_PORT": u.Port()}
	return func(name string) (string, bool) {
		if v, ok := more[name]; ok {
			return v, true
		}
		v, ok := vars[name]
		return v, ok
	}
}

func (a *apiServer) discovery(d Discovery) Discovery {
	d.ServiceAccountDir = a.account
	return d
}

// podOf makes a pod with one port from its address, image and pairs of annotations.
func podOf(ip, image string, annotations ...string) map[string]any {
	notes := map[string]string{}
	for i := 0; i+1 < len(annotations); i += 2 {
		notes[annotations[i]] = annotations[i+1]
	}
	return map[string]any{
		"metadata": map[string]any{"annotations": notes},
		"spec": map[string]any{"containers": []any{map[string]any{"image": image,
			"ports": []any{map[string]any{"containerPort": 8000}}}}},
		"status": map[string]any{"podIP": ip},
	}
}

func TestDiscoveryReplacesInferenceURLs(t *testing.T) {
	a := newAPIServer(t, podOf("10.0.0.2", "nginx"), podOf("10.0.0.3", "vllm/vllm-openai:v1"),
		podOf("10.0.0.1", "repo/SGLang:1"))
	a.perPage = 1
	r := newRig(t, Options{
		URLs: []string{"balancer:80"}, Extra: []string{"h:9100", "10.0.0.3:8000"},
		Discovery: a.discovery(Discovery{}), Env: a.env(nil),
	}, nil)
	r.Discover(context.Background())
	want := []string{"http://h:9100/metrics", "http://10.0.0.3:8000/metrics", "http://10.0.0.1:8000/metrics"}
	if got := r.Configured(); !slices.Equal(got, want) {
		t.Errorf("endpoints %v", got)
	}
	if got := r.log.with("INFO Server Metrics: Auto-discovery added 1 endpoint(s)"); len(got) != 1 ||
		len(r.log.lines) != 1 {
		t.Errorf("log %q", r.log.lines)
	}
	if len(a.asked) != 3 {
		t.Fatalf("asked for %v", a.asked)
	}
	q := a.asked[0].Query()
	if a.asked[0].Path != "/api/v1/namespaces/own/pods" || q.Get("fieldSelector") != "status.phase=Running" ||
		q.Has("labelSelector") {
		t.Errorf("asked for %v", a.asked[0])
	}
}

func TestDiscoveryFallsBackToInferenceURLs(t *testing.T) {
	for name, c := range map[string]struct {
		status   int
		warnings []string
	}{
		"no eligible pod": {0, nil},
		"forbidden":       {http.StatusForbidden, []string{"namespace 'own'", "403", "verb list on pods"}},
		"server error":    {http.StatusInternalServerError, []string{"500"}},
		"unreadable":      {http.StatusOK, []string{"cannot be read"}},
		"redirect":        {http.StatusFound, []string{"302"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAPIServer(t, podOf("10.0.0.2", "nginx", "prometheus.io/scrape", "true"))
			a.status = c.status
			r := newRig(t, Options{URLs: []string{"balancer:80"}, Discovery: a.discovery(Discovery{Mode: Kubernetes}),
				Env: a.env(nil)}, nil)
			r.Discover(context.Background())
			if got := r.Configured(); !slices.Equal(got, []string{"http://balancer:80/metrics"}) {
				t.Errorf("endpoints %v", got)
			}
			warnings := strings.Join(r.log.warnings(), "\n")
			if len(r.log.lines) != 1 || (warnings != "") != (c.warnings != nil) {
				t.Fatalf("log %q", r.log.lines)
			}
			for _, part := range c.warnings {
				if !strings.Contains(warnings, part) {
					t.Errorf("%q lacks %q", warnings, part)
				}
			}
		})
	}
}

func TestDiscoveryOutsideACluster(t *testing.T) {
	for mode, want := range map[string]int{Auto: 0, Kubernetes: 1, Disabled: 0} {
		r := newRig(t, Options{URLs: []string{"h"}, Discovery: Discovery{Mode: mode}}, nil)
		r.Discover(context.Background())
		if len(r.log.lines) != want || len(r.log.warnings()) != want || len(r.Configured()) != 1 {
			t.Errorf("%s: log %q", mode, r.log.lines)
		}
	}
}

func TestDiscoveryWithoutCredentials(t *testing.T) {
	for _, missing := range []string{"token", "ca.crt"} {
		a := newAPIServer(t)
		_ = os.Remove(filepath.Join(a.account, missing))
		r := newRig(t, Options{URLs: []string{"h"}, Discovery: a.discovery(Discovery{}), Env: a.env(nil)}, nil)
		r.Discover(context.Background())
		if got := r.log.warnings(); len(got) != 1 || !strings.Contains(got[0], missing) || len(a.asked) != 0 {
			t.Errorf("%s: warnings %q", missing, got)
		}
	}
}

func TestDiscoveryTrustsTheClusterOnly(t *testing.T) {
	a := newAPIServer(t, podOf("10.0.0.1", "vllm"))
	other := newAPIServer(t)
	r := newRig(t, Options{Discovery: Discovery{ServiceAccountDir: a.account}, Env: func(name string) (string, bool) {
		if name == "KUBERNETES_SERVICE_HOST" {
			return "localhost", true // not in the certificate
		}
		return other.env(nil)(name)
	}}, nil)
	r.Discover(context.Background())
	if got := r.log.warnings(); len(got) != 1 || len(other.asked) != 0 {
		t.Errorf("warnings %q", got)
	}
}

func TestNamespace(t *testing.T) {
	a := newAPIServer(t)
	bare := t.TempDir()
	service := []string{"http://llm.prod.svc.cluster.local:8000"}
	for _, c := range []struct {
		name    string
		d       Discovery
		env     map[string]string
		urls    []string
		want    string
		account string
	}{
		{"explicit", Discovery{Namespace: "a"}, map[string]string{"AIPERF_NAMESPACE": "b"}, service, "a", a.account},
		{"environment", Discovery{}, map[string]string{"AIPERF_NAMESPACE": "b"}, service, "b", a.account},
		{"service account", Discovery{}, nil, service, "own", a.account},
		{"host of a service", Discovery{}, nil, service, "prod", bare},
		{"host, only if automatic", Discovery{Mode: Kubernetes}, nil, service, "", bare},
		{"other hosts", Discovery{}, nil, []string{"http://a.b.c:80", "svc:80"}, "", bare},
	} {
		c.d.ServiceAccountDir = c.account
		r := newRig(t, Options{URLs: c.urls, Discovery: c.d, Env: a.env(c.env)}, nil)
		got, err := r.namespace()
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: got %q, %v", c.name, got, err)
		}
	}
}

func TestSelectorAndAllNamespaces(t *testing.T) {
	a := newAPIServer(t, podOf("10.0.0.1", "anything"))
	r := newRig(t, Options{Discovery: a.discovery(Discovery{LabelSelector: "app in (x, y)", Namespace: "*"}),
		Env: a.env(nil)}, nil)
	r.Discover(context.Background())
	if got := a.asked[0]; got.Path != "/api/v1/pods" || got.Query().Get("labelSelector") != "app in (x, y)" {
		t.Errorf("asked for %v", got)
	}
	if got := r.Configured(); !slices.Equal(got, []string{"http://10.0.0.1:8000/metrics"}) {
		t.Errorf("selected pods are eligible: %v", got)
	}
}

func TestEligiblePods(t *testing.T) {
	for text, want := range map[string]bool{
		`{"metadata":{"labels":{"nvidia.com/metrics-enabled":"True"}}}`:                                true,
		`{"metadata":{"labels":{"nvidia.com/metrics-enabled":"no"}}}`:                                  false,
		`{"metadata":{"annotations":{"aiperf.nvidia.com/metrics-paths":""}}}`:                          true,
		`{"metadata":{"annotations":{"prometheus.io/scrape":"true"}}}`:                                 false,
		`{"spec":{"containers":[{"image":"side"},{"image":"nvcr.io/nvidia/TritonServer:24.01-py3"}]}}`: true,
		`{"spec":{"containers":[{"image":"x/tensorrt-llm/release:1"}]}}`:                               true,
		`{"spec":{"containers":[{"image":"ai-dynamo/runtime"}]}}`:                                      true,
		`{"spec":{"initContainers":[{"image":"vllm"}],"containers":[{"image":"nginx"}]}}`:              false,
	} {
		var p pod
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		if got := p.eligible(); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestURLsOfPods(t *testing.T) {
	ports := `"containers":[{"ports":[{"name":"http","containerPort":8000},{"containerPort":8001}]},{"ports":[{"name":"metrics","containerPort":9400}]}]`
	plain := `"containers":[{"ports":[{"name":"http","containerPort":8000},{"containerPort":8001}]}]`
	for _, c := range []struct {
		annotations, spec, ip string
		want                  []string
	}{
		{``, plain, "10.0.0.1", []string{"http://10.0.0.1:8000/metrics"}},
		{``, ports, "10.0.0.1", []string{"http://10.0.0.1:9400/metrics"}},
		{`"prometheus.io/port":"9000","prometheus.io/scheme":"https"`, ports, "10.0.0.1",
			[]string{"https://10.0.0.1:9000/metrics"}},
		{`"prometheus.io/port":"web"`, plain, "10.0.0.1", []string{"http://10.0.0.1:8000/metrics"}},
		{`"prometheus.io/path":"a,b"`, plain, "10.0.0.1", []string{"http://10.0.0.1:8000/a,b"}},
		{`"prometheus.io/path":"x","aiperf.nvidia.com/metrics-paths":"/m, engine/metrics,"`, plain, "fd00::1",
			[]string{"http://[fd00::1]:8000/m", "http://[fd00::1]:8000/engine/metrics"}},
		{`"prometheus.io/path":"x","aiperf.nvidia.com/metrics-paths":" "`, plain, "10.0.0.1",
			[]string{"http://10.0.0.1:8000/x"}},
		{`"prometheus.io/scheme":"file"`, plain, "10.0.0.1", nil},
		{``, plain, "", nil},
		{``, `"containers":[{}]`, "10.0.0.1", nil},
	} {
		var p pod
		text := fmt.Sprintf(`{"metadata":{"annotations":{%s}},"spec":{%s},"status":{"podIP":%q}}`, c.annotations,
			c.spec, c.ip)
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		if got := p.urls(); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", text, got, c.want)
		}
	}
	twice := pod{}
	twice.Status.PodIP = "10.0.0.1"
	twice.Metadata.Annotations = map[string]string{portAnnotation: "1", pathsAnnotation: "b,a"}
	if got := metricsURLs([]pod{twice, twice}, false); !slices.Equal(got,
		[]string{"http://10.0.0.1:1/a", "http://10.0.0.1:1/b"}) {
		t.Errorf("got %v", got)
	}
}
