package deployed_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// object is an object as the API carries it.
type object = map[string]any

// server is a small API server of Kubernetes: it keeps objects, answers lists by labels and merge patches, and serves
// logs and ports of pods. It has no schemas, no controllers and no watches.
type server struct {
	// Version is what /version answers, as 1.34.
	Major, Minor string
	// Denied are verbs with resources, such as "create jobs", that access reviews refuse.
	Denied []string
	// Logs are the logs of containers by POD/CONTAINER.
	Logs map[string]string
	// Ports are handlers behind the ports of pods, by POD:PORT.
	Ports map[string]http.Handler

	http    *httptest.Server
	mu      sync.Mutex
	objects map[string]object
	kinds   []string
	calls   []string
	uid     int
}

// newServer starts a server that ends with the test. It has the kinds of Kubernetes itself, and those of the groups
// that are named, as GROUP/VERSION/RESOURCE.
func newServer(t *testing.T, kinds ...string) *server {
	t.Helper()
	s := &server{Major: "1", Minor: "34", Logs: map[string]string{}, Ports: map[string]http.Handler{},
		objects: map[string]object{}, kinds: kinds}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.http.Close)
	return s
}

// URL is the address of the server.
func (s *server) URL() string { return s.http.URL }

// Kubeconfig writes a kubeconfig file for the server with a context of the namespace.
func (s *server) Kubeconfig(t *testing.T, namespace string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: test
clusters: [{name: test, cluster: {server: %q}}]
users: [{name: test, user: {token: secret-token}}]
contexts: [{name: test, context: {cluster: test, user: test, namespace: %q}}]
`, s.URL(), namespace)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Put adds an object at a path of the API, such as /api/v1/namespaces/NS/pods/NAME.
func (s *server) Put(path string, o object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(path, o)
}

func (s *server) put(path string, o object) {
	meta, _ := o["metadata"].(object)
	if meta == nil {
		meta = object{}
		o["metadata"] = meta
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	meta["name"] = parts[len(parts)-1]
	if at := slices.Index(parts, "namespaces"); at >= 0 && at+3 < len(parts) {
		meta["namespace"] = parts[at+1]
	}
	if meta["uid"] == nil {
		s.uid++
		meta["uid"] = fmt.Sprintf("uid-%d", s.uid)
	}
	if meta["creationTimestamp"] == nil {
		meta["creationTimestamp"] = "2026-11-24T10:00:00Z"
	}
	if o["kind"] == nil { // as single objects have one
		o["apiVersion"], o["kind"] = "v1", "Object"
	}
	s.objects[path] = o
}

// Object is the object at a path; nil if there is none.
func (s *server) Object(path string) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[path]
}

// Paths are the paths of all objects, in order.
func (s *server) Paths() (paths []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.objects {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths
}

// Calls are the requests so far that changed something, as METHOD PATH.
func (s *server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

func fail(w http.ResponseWriter, code int, reason, format string, args ...any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
		"reason": reason, "message": fmt.Sprintf(format, args...)})
}

func answer(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if at := slices.Index(parts, "pods"); at >= 0 && at+2 < len(parts) {
		s.pod(w, r, parts[at+1], parts[at+2:])
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method != http.MethodGet {
		s.calls = append(s.calls, r.Method+" "+r.URL.Path)
	}
	switch {
	case r.URL.Path == "/version":
		answer(w, 200, object{"major": s.Major, "minor": s.Minor, "gitVersion": "v" + s.Major + "." + s.Minor + ".0"})
	case parts[0] == "apis" && len(parts) == 3:
		s.group(w, parts[1]+"/"+parts[2])
	case strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews"):
		s.review(w, r)
	default:
		s.resource(w, r, parts)
	}
}

// group lists the kinds of a group.
func (s *server) group(w http.ResponseWriter, group string) {
	list := []any{}
	for _, k := range s.kinds {
		if name, ok := strings.CutPrefix(k, group+"/"); ok {
			list = append(list, object{"name": name})
		}
	}
	if len(list) == 0 {
		fail(w, 404, "NotFound", "the server could not find the requested resource")
		return
	}
	answer(w, 200, object{"kind": "APIResourceList", "resources": list})
}

func (s *server) review(w http.ResponseWriter, r *http.Request) {
	var o struct {
		Spec struct {
			ResourceAttributes struct{ Verb, Resource, Subresource string }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
		fail(w, 400, "BadRequest", "%v", err)
		return
	}
	a := o.Spec.ResourceAttributes
	answer(w, 201, object{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
		"status": object{"allowed": !slices.Contains(s.Denied, a.Verb+" "+a.Resource)}})
}

// resource answers for objects and their lists.
func (s *server) resource(w http.ResponseWriter, r *http.Request, parts []string) {
	kind, name, collection := split(parts)
	if parts[0] == "apis" && strings.Contains(parts[1], ".x-k8s.io") || parts[0] == "apis" && strings.HasSuffix(parts[1],
		"nvidia.com") {
		if !slices.Contains(s.kinds, parts[1]+"/"+parts[2]+"/"+kind) {
			fail(w, 404, "NotFound", "the server could not find the requested resource")
			return
		}
	}
	if name == "" {
		s.collection(w, r, kind, collection)
		return
	}
	path := "/" + strings.Join(parts, "/")
	o := s.objects[path]
	if o == nil {
		fail(w, 404, "NotFound", "%s %q not found", kind, name)
		return
	}
	switch r.Method {
	case http.MethodGet:
		answer(w, 200, o)
	case http.MethodDelete:
		delete(s.objects, path)
		answer(w, 200, object{"kind": "Status", "apiVersion": "v1", "status": "Success"})
	case http.MethodPatch:
		var patch object
		if err := json.NewDecoder(r.Body).Decode(&patch); err != nil {
			fail(w, 400, "BadRequest", "%v", err)
			return
		}
		merge(o, patch)
		answer(w, 200, o)
	default:
		fail(w, 405, "MethodNotAllowed", "%s", r.Method)
	}
}

// split finds the kind and the name in a path, and the path of the list.
func split(parts []string) (kind, name, collection string) {
	at := 2 // /api/v1
	if parts[0] == "apis" {
		at = 3
	}
	if at+2 < len(parts) && parts[at] == "namespaces" {
		at += 2
	}
	kind = parts[at]
	if at+1 < len(parts) {
		name = parts[at+1]
	}
	return kind, name, "/" + strings.Join(parts[:at+1], "/")
}

func (s *server) collection(w http.ResponseWriter, r *http.Request, kind, path string) {
	if r.Method == http.MethodPost {
		var o object
		if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
			fail(w, 400, "BadRequest", "%v", err)
			return
		}
		name, _ := o["metadata"].(object)["name"].(string)
		if s.objects[path+"/"+name] != nil {
			fail(w, 409, "AlreadyExists", "%s %q already exists", kind, name)
			return
		}
		s.put(path+"/"+name, o)
		answer(w, 201, o)
		return
	}
	items := []any{}
	for _, p := range s.sorted() {
		o := s.objects[p]
		k, _, in := split(strings.Split(strings.Trim(p, "/"), "/"))
		all := !strings.Contains(path, "/namespaces/")
		prefix := strings.TrimSuffix(path, "/"+kind)
		if k == kind && (in == path || all && strings.HasPrefix(p, prefix+"/")) && selected(o,
			r.URL.Query().Get("labelSelector")) {
			items = append(items, o)
		}
	}
	answer(w, 200, object{"kind": "List", "apiVersion": "v1", "metadata": object{}, "items": items})
}

func (s *server) sorted() []string {
	paths := make([]string, 0, len(s.objects))
	for p := range s.objects {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths
}

// selected reports whether an object has the labels of a selector.
func selected(o object, selector string) bool {
	meta, _ := o["metadata"].(object)
	labels, _ := meta["labels"].(object)
	for part := range strings.SplitSeq(selector, ",") {
		key, value, ok := strings.Cut(part, "=")
		if ok && labels[key] != value {
			return false
		}
	}
	return true
}

// merge is a merge patch.
func merge(o, patch object) {
	for k, v := range patch {
		inner, isMap := v.(object)
		before, wasMap := o[k].(object)
		switch {
		case v == nil:
			delete(o, k)
		case isMap && wasMap:
			merge(before, inner)
		default:
			o[k] = v
		}
	}
}

// pod answers for logs and ports.
func (s *server) pod(w http.ResponseWriter, r *http.Request, pod string, rest []string) {
	switch {
	case rest[0] == "log":
		s.mu.Lock()
		text, ok := s.Logs[pod+"/"+r.URL.Query().Get("container")]
		s.mu.Unlock()
		if !ok {
			fail(w, 400, "BadRequest", "container %q in pod %q is waiting to start", r.URL.Query().Get("container"), pod)
			return
		}
		fmt.Fprint(w, text)
	default:
		name, port, _ := strings.Cut(pod, ":")
		s.mu.Lock()
		h := s.Ports[name+":"+port]
		s.mu.Unlock()
		if rest[0] != "proxy" || h == nil {
			fail(w, 404, "NotFound", "no port")
			return
		}
		http.StripPrefix(r.URL.Path[:strings.Index(r.URL.Path, "/proxy")+len("/proxy")], h).ServeHTTP(w, r)
	}
}

// unreachable writes a kubeconfig file of a cluster that does not answer.
func unreachable(t *testing.T) string {
	t.Helper()
	s := &server{http: httptest.NewServer(http.NotFoundHandler())}
	path := s.Kubeconfig(t, "bench")
	s.http.Close()
	return path
}
