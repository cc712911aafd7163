package resultsserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/coder/websocket"
	"github.com/klauspost/compress/zstd"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic/fake"

	"aiperf/internal/base/testkit"
	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/cluster/kube/deployed"
	"aiperf/internal/cluster/kube/operator"
	"aiperf/internal/cluster/kube/resultsserver"
)

const epoch = "1795521600000001"

// server serves a volume with one run.
func server(t *testing.T, o resultsserver.Options, objects ...runtime.Object) *httptest.Server {
	t.Helper()
	store, err := operator.OpenArchive(t.TempDir(), operator.ArchiveOptions{Compress: true, RetainRuns: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	for i, e := range []string{"1795521500000001", epoch} {
		r := operator.ArchivedRun{Namespace: "ns", Name: "j", Epoch: e}
		summary := `{"schema_version":"1.0","request_throughput":{"unit":"requests/sec","avg":1` + strings.Repeat("0", i) + `.5}}`
		for _, err := range []error{
			store.Begin(r, []byte(`{"spec":{"image":"i"}}`)), store.Put(r, "profile_export_aiperf.json", strings.NewReader(summary)),
			store.Note(operator.Entry{Namespace: "ns", Name: "j", Epoch: e, Phase: crd.Completed, Model: "m"}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	sweep := operator.ArchivedRun{Namespace: "ns", Name: "s", Epoch: epoch, Sweep: true}
	if err := store.Begin(sweep, []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	o.Store, o.Log = store, slog.New(slog.DiscardHandler)
	if objects != nil {
		o.Client = fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[client.Kind]string{
			{Group: crd.Group, Version: crd.Version, Resource: crd.Jobs}:   "AIPerfJobList",
			{Group: crd.Group, Version: crd.Version, Resource: crd.Sweeps}: "AIPerfSweepList", client.Pods: "PodList",
			client.Nodes: "NodeList", client.Events: "EventList"}, objects...)
	}
	s := httptest.NewServer(resultsserver.New(o).Handler())
	t.Cleanup(s.Close)
	return s
}

func job(name, engine string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: crd.Object{"apiVersion": crd.APIVersion, "kind": crd.JobKind,
		"metadata": crd.Object{"name": name, "namespace": "ns", "uid": "u"},
		"spec":     crd.Object{"image": "i", "benchmark": crd.Object{"endpoint": crd.Object{"apiKey": "geheim"}}}}}
	if engine != "" {
		u.Object["status"] = crd.Object{"jobSetName": engine, "phase": "Running"}
	}
	return u
}

func ask(t *testing.T, s *httptest.Server, method, path string, header http.Header, body string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	if header.Get("Accept-Encoding") == "" {
		request.Header.Set("Accept-Encoding", "identity")
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reply.Body.Close() }()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply, string(text)
}

func TestRoutesAndTheirStatus(t *testing.T) {
	s := server(t, resultsserver.Options{}, job("j", ""))
	for path, want := range map[string]int{
		"/healthz": 200, "/api/v1/results": 200, "/api/v1/results/ns/j": 200, "/api/v1/results/ns/j.zip": 200,
		"/api/v1/results/ns/j/runs": 200, "/api/v1/results/ns/j/runs/" + epoch: 200,
		"/api/v1/results/ns/j/runs/" + epoch + ".zip":                     200,
		"/api/v1/results/ns/j/runs/" + epoch + "/profile_export":          200,
		"/api/v1/results/ns/j/profile_export_aiperf.json":                 200,
		"/api/v1/results/ns/j/nothing":                                    404,
		"/api/v1/results/ns/nobody":                                       404,
		"/api/v1/results/ns/j/..%2f..%2findex.json":                       404,
		"/api/v1/results/ns/j/runs/..%2f" + epoch:                         404,
		"/api/v1/results/..%2f..%2fetc/j":                                 404,
		"/api/v1/index":                                                   200,
		"/api/v1/analytics/leaderboard?metric=request_throughput&limit=1": 200,
		"/api/v1/analytics/leaderboard?limit=0":                           422,
		"/api/v1/analytics/history":                                       200,
		"/api/v1/analytics/compare?jobs=ns/j":                             200,
		"/api/v1/analytics/compare":                                       422,
		"/api/v1/analytics/scatter?y=request_throughput&y_stat=avg":       200,
		"/api/v1/analytics/summary/ns/j":                                  200,
		"/api/v1/config/ns/j":                                             200,
		"/api/v1/config/retention":                                        200,
		"/api/v1/config/features":                                         200,
		"/admin/index/stats":                                              200,
		"/admin/index/run/ns/j":                                           200,
		"/api/v1/jobs":                                                    200,
		"/api/v1/jobs/ns/j":                                               200,
		"/api/v1/jobs/ns/nobody":                                          404,
		"/api/v1/jobs/ns/j/epochs":                                        200,
		"/api/v1/jobs/ns/j/events":                                        200,
		"/api/v1/sweeps":                                                  200,
		"/api/v1/sweeps/ns/nobody":                                        404,
		"/api/v1/cluster":                                                 200,
	} {
		if reply, text := ask(t, s, http.MethodGet, path, nil, ""); reply.StatusCode != want {
			t.Errorf("%s answers %d: %s", path, reply.StatusCode, text)
		}
	}
	if _, text := ask(t, s, http.MethodGet, "/api/v1/jobs/ns/j", nil, ""); strings.Contains(text, "geheim") {
		t.Error("a secret is shown")
	}
	if _, text := ask(t, s, http.MethodGet, "/api/v1/results/ns/j/runs", nil, ""); !strings.Contains(text, `"would_delete":true`) {
		t.Errorf("no run would be deleted: %s", text)
	}
	if _, text := ask(t, s, http.MethodGet, "/api/v1/sweeps/ns/s/epochs", nil, ""); !strings.Contains(text, `"epochs":["`+epoch) ||
		!strings.Contains(text, `"files":1`) {
		t.Errorf("the runs of a sweep: %s", text)
	}
	if _, text := ask(t, s, http.MethodGet, "/api/v1/analytics/leaderboard", nil, ""); !strings.Contains(text, `"value":10.5`) ||
		strings.Index(text, "10.5") > strings.Index(text, "1.5,") && strings.Contains(text, "1.5,") {
		t.Errorf("the leaderboard is %s", text)
	}
}

func TestWithoutAClusterItsRoutesAnswer503(t *testing.T) {
	s := server(t, resultsserver.Options{})
	for _, path := range []string{"/api/v1/jobs", "/api/v1/sweeps", "/api/v1/cluster", "/api/v1/jobs/ns/nobody"} {
		if reply, _ := ask(t, s, http.MethodGet, path, nil, ""); reply.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%s answers %d", path, reply.StatusCode)
		}
	}
}

func TestChangesNeedATokenThatIsSwitchedOn(t *testing.T) {
	bearer := func(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }
	for _, x := range []struct {
		name   string
		o      resultsserver.Options
		header http.Header
		want   int
	}{
		{"off", resultsserver.Options{}, bearer("t"), 403},
		{"no token configured", resultsserver.Options{Mutating: true}, bearer(""), 403},
		{"none sent", resultsserver.Options{Mutating: true, Token: "t"}, nil, 401},
		{"wrong", resultsserver.Options{Mutating: true, Token: "t"}, bearer("x"), 401},
		{"right", resultsserver.Options{Mutating: true, Token: "t"}, bearer("t"), 200},
	} {
		s := server(t, x.o, job("j", ""))
		for _, path := range []string{"/api/v1/jobs/ns/j/cancel", "/admin/index/rebuild"} {
			if reply, text := ask(t, s, http.MethodPost, path, x.header, ""); reply.StatusCode != x.want {
				t.Errorf("%s: %s answers %d: %s", x.name, path, reply.StatusCode, text)
			}
		}
	}
	s := server(t, resultsserver.Options{Mutating: true, Token: "t"}, job("j", ""))
	reply, text := ask(t, s, http.MethodPost, "/api/v1/jobs", bearer("t"), `{"manifest": {"kind": "AIPerfJob", "spec": {}}}`)
	if reply.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a wrong manifest answers %d: %s", reply.StatusCode, text)
	}
	if _, text := ask(t, s, http.MethodPost, "/api/v1/validate", nil, "kind: AIPerfJob\n"); !strings.Contains(text, `"valid":false`) {
		t.Errorf("a wrong manifest is %s", text)
	}
}

func TestFilesAreSentAsTheClientReadsThem(t *testing.T) {
	s := server(t, resultsserver.Options{})
	const path = "/api/v1/results/ns/j/runs/" + epoch + "/profile_export"
	plain, text := ask(t, s, http.MethodGet, path, nil, "")
	if plain.Header.Get("Content-Encoding") != "" || !json.Valid([]byte(text)) {
		t.Errorf("unpacked it is %q", text)
	}
	packed, body := ask(t, s, http.MethodGet, path, http.Header{"Accept-Encoding": {"gzip, zstd"}}, "")
	z, err := zstd.NewReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var out bytes.Buffer
	if _, err := io.Copy(&out, z); err != nil || packed.Header.Get("Content-Encoding") != "zstd" || out.String() != text {
		t.Errorf("packed it is %q, %v", out.String(), err)
	}
	first, _ := ask(t, s, http.MethodGet, "/api/v1/results/ns/j", nil, "")
	again, _ := ask(t, s, http.MethodGet, "/api/v1/results/ns/j", http.Header{"If-None-Match": {first.Header.Get("ETag")}}, "")
	if again.StatusCode != http.StatusNotModified {
		t.Errorf("the same list answers %d", again.StatusCode)
	}
}

func TestTrap22TheCodesOfAClosedWebSocket(t *testing.T) {
	for _, x := range []struct {
		name, job string
		ready     bool
		objects   []runtime.Object
		want      websocket.StatusCode
	}{
		{"the operator is not ready", "j", false, []runtime.Object{job("j", "aiperf-j")}, 4503},
		{"no cluster", "j", true, nil, 4503}, {"no job", "x", true, []runtime.Object{job("j", "aiperf-j")}, 4404},
		{"no JobSet yet", "j", true, []runtime.Object{job("j", "")}, 4404},
		{"an invalid reference", "j", true, []runtime.Object{job("j", "../x")}, 4422},
		{"no controller", "j", true, []runtime.Object{job("j", "aiperf-j")}, 4502},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := server(t, resultsserver.Options{Ready: func() bool { return x.ready }}, x.objects...)
			c, _, err := websocket.Dial(t.Context(), strings.Replace(s.URL, "http", "ws", 1)+"/api/v1/jobs/ns/"+x.job+"/ws", nil)
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = c.Read(t.Context())
			if got := websocket.CloseStatus(err); got != x.want {
				t.Errorf("closed with %d: %v", got, err)
			}
		})
	}
	long := resultsserver.CloseReason(strings.Repeat("ä", 100))
	if len(long) > 123 || !utf8.ValidString(long) || len(long) < 120 {
		t.Errorf("a long reason has %d bytes", len(long))
	}
}

func TestAWebSocketThatEndsNormally(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		_, data, err := c.Read(r.Context())
		if err == nil {
			err = c.Write(r.Context(), websocket.MessageText, append([]byte("echo "), data...))
		}
		if err == nil {
			_ = c.Close(websocket.StatusNormalClosure, "")
		}
	}))
	defer up.Close()
	down := server(t, resultsserver.Options{Controller: func(_ context.Context, namespace, name string) string {
		if namespace != "ns" || name != "j" {
			t.Errorf("asked for the controller of %s/%s", namespace, name)
		}
		return strings.TrimPrefix(up.URL, "http://")
	}}, job("j", "aiperf-j"))
	c, _, err := websocket.Dial(context.Background(),
		strings.Replace(down.URL, "http", "ws", 1)+"/api/v1/jobs/ns/j/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Write(t.Context(), websocket.MessageText, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	_, data, err := c.Read(t.Context())
	if err != nil || string(data) != "echo hello" {
		t.Errorf("read %q, %v", data, err)
	}
	if _, _, err := c.Read(t.Context()); websocket.CloseStatus(err) != 1000 {
		t.Errorf("closed with %v", err)
	}
}

func TestThePageOfAllBenchmarks(t *testing.T) {
	s := server(t, resultsserver.Options{ClusterName: "lab"}, job("<b>", "aiperf-j"))
	reply, text := ask(t, s, "GET", "/", nil, "")
	if reply.StatusCode != 200 || !strings.HasPrefix(reply.Header.Get("Content-Type"), "text/html") {
		t.Fatalf("%d %s", reply.StatusCode, text)
	}
	testkit.Page(t, "the page", text, reply.Header.Get("Content-Security-Policy"))
	for _, want := range []string{"lab", "ns/&lt;b&gt;", "Running", "10.50 requests/sec",
		`href="/api/v1/results/ns/j/runs/` + epoch + `.zip"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(text, "geheim") {
		t.Error("the page has a secret")
	}
	if reply, _ := ask(t, s, "GET", "/nothing", nil, ""); reply.StatusCode != 404 {
		t.Errorf("/nothing answers %d", reply.StatusCode)
	}
	if reply, text := ask(t, server(t, resultsserver.Options{}), "GET", "/", nil, ""); reply.StatusCode != 200 ||
		!strings.Contains(text, "there is no connection to a cluster") {
		t.Errorf("without a cluster: %d", reply.StatusCode)
	}
}

func TestSubmittedBenchmarksGetTheDefaultImage(t *testing.T) {
	s := server(t, resultsserver.Options{Image: "registry/aiperf:1", PullPolicy: "Always", Mutating: true, Token: "t"},
		job("j", ""))
	for i, x := range []struct{ given, image, policy string }{
		{`{"benchmark": {}}`, "registry/aiperf:1", "Always"}, {`{"benchmark": {}, "image": "own"}`, "own", ""},
		{`{"benchmark": {}, "imagePullPolicy": "Never"}`, "registry/aiperf:1", "Never"},
	} {
		name := fmt.Sprint("given-", i)
		reply, text := ask(t, s, http.MethodPost, "/api/v1/jobs", http.Header{"Authorization": {"Bearer t"}},
			fmt.Sprintf(
				`{"manifest": {"apiVersion": %q, "kind": %q, "metadata": {"name": %q, "namespace": "ns"}, "spec": %s}}`,
				crd.APIVersion, crd.JobKind, name, x.given))
		if reply.StatusCode != http.StatusCreated {
			t.Fatalf("%s answers %d: %s", x.given, reply.StatusCode, text)
		}
		_, text = ask(t, s, http.MethodGet, "/api/v1/config/ns/"+name, nil, "")
		var made struct{ Config crd.Object }
		if err := json.Unmarshal([]byte(text), &made); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		spec := made.Config
		if policy, _ := spec["imagePullPolicy"].(string); spec["image"] != x.image || policy != x.policy {
			t.Errorf("%s became %v", x.given, spec)
		}
	}
}

func TestReadingNeedsTheToken(t *testing.T) {
	s := server(t, resultsserver.Options{ReadToken: "r", Mutating: true, Token: "w"}, job("j", ""))
	const stored, all = "/api/v1/results/ns/j", "/api/v1/results"
	bearer := func(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }
	for _, x := range []struct {
		name, path string
		header     http.Header
		want       int
	}{
		{"no token", stored, nil, 401}, {"no token for the page", "/", nil, 401},
		{"no token for a file", stored + "/profile_export_aiperf.json", nil, 401}, {"a wrong one", stored, bearer("x"), 401},
		{"an empty one", stored, bearer(""), 401}, {"no token for the pods' logs", "/api/v1/jobs/ns/j/logs", nil, 401},
		{"no token for the index", "/admin/index/stats", nil, 401},
		{"a probe", "/healthz", nil, 200}, {"the token", stored, bearer("r"), 200}, {"the token for all", all, bearer("r"), 200},
		{"that of changes", stored, bearer("w"), 200},
		{"by the API server's proxy", stored, http.Header{deployed.TokenHeader: {"r"}}, 200},
		{"that of the namespace", stored, bearer(operator.NamespaceToken("r", "ns")), 200},
		{"that of another one", stored, bearer(operator.NamespaceToken("r", "other")), 401},
		{"that of the namespace for all", all, bearer(operator.NamespaceToken("r", "ns")), 401},
		{"that of no namespace", all, bearer(operator.NamespaceToken("r", "")), 401},
		{"a cookie", stored, http.Header{"Cookie": {"aiperf_token=r"}}, 200},
	} {
		if reply, text := ask(t, s, http.MethodGet, x.path, x.header, ""); reply.StatusCode != x.want {
			t.Errorf("%s: %s answers %d: %s", x.name, x.path, reply.StatusCode, text)
		}
	}
	page, _ := ask(t, s, http.MethodGet, "/?token=r", nil, "")
	if cookies := page.Cookies(); page.StatusCode != 200 || len(cookies) != 1 || cookies[0].Value != "r" || !cookies[0].HttpOnly ||
		cookies[0].SameSite != http.SameSiteStrictMode || page.Header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("a browser with the token gets %d, %v", page.StatusCode, cookies)
	}
	if reply, _ := ask(t, s, http.MethodPost, "/api/v1/jobs/ns/j/cancel", bearer("r"), ""); reply.StatusCode != 401 {
		t.Errorf("a change with the token for reading answers %d", reply.StatusCode)
	}
	if reply, _ := ask(t, s, http.MethodPost, "/api/v1/validate", nil, "kind: AIPerfJob\n"); reply.StatusCode != 401 {
		t.Errorf("validating without a token answers %d", reply.StatusCode)
	}
	if _, err := resultsserver.NewReader(s.URL, operator.NamespaceToken("r", "ns")).Summary(t.Context(), "ns", "j", epoch); err != nil {
		t.Errorf("the controller of a sweep: %v", err)
	}
	if _, err := resultsserver.NewReader(s.URL, "").Summary(t.Context(), "ns", "j", epoch); err == nil {
		t.Error("a summary without a token")
	}
}
