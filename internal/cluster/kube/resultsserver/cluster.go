package resultsserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"aiperf/internal/base/artifact"
	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/cluster/kube/operator"
	"aiperf/internal/config/document"
)

var (
	jobsResource   = client.Kind{Group: crd.Group, Version: crd.Version, Resource: crd.Jobs}
	sweepsResource = client.Kind{Group: crd.Group, Version: crd.Version, Resource: crd.Sweeps}
)

// maxEvents bounds the events that are answered.
const maxEvents = 200

// clusterRoutes are those of the resources of the cluster.
func (s *Server) clusterRoutes(get, post func(string, func(http.ResponseWriter, *http.Request) error)) {
	for _, x := range []struct {
		path string
		kind client.Kind
		name string
	}{{"/api/v1/jobs", jobsResource, "job"}, {"/api/v1/sweeps", sweepsResource, "sweep"}} {
		one := x.path + "/{namespace}/{job}"
		get(x.path, func(w http.ResponseWriter, r *http.Request) error { return s.list(w, r, x.kind, x.name) })
		post(x.path, func(w http.ResponseWriter, r *http.Request) error { return s.create(w, r, x.kind) })
		get(one, func(w http.ResponseWriter, r *http.Request) error { return s.detail(w, r, x.kind) })
		get(one+"/events", func(w http.ResponseWriter, r *http.Request) error { return s.events(w, r, x.kind) })
		get(one+"/logs", func(w http.ResponseWriter, r *http.Request) error { return s.logs(w, r, x.kind) })
		post(one+"/cancel", func(w http.ResponseWriter, r *http.Request) error { return s.cancel(w, r, x.kind) })
	}
	get("/api/v1/jobs/{namespace}/{job}/epochs", s.jobEpochs)
	get("/api/v1/jobs/{namespace}/{job}/ws", s.socket)
	get("/api/v1/sweeps/{namespace}/{job}/children", s.children)
	get("/api/v1/sweeps/{namespace}/{job}/cells", s.children)
	get("/api/v1/sweeps/{namespace}/{job}/config", func(w http.ResponseWriter, r *http.Request) error {
		u, err := s.resource(r, sweepsResource, r.PathValue("job"))
		if err != nil {
			return err
		}
		return reply(w, object{"source": "cr", "config": safe(u)})
	})
	get("/api/v1/cluster", s.cluster)
}

// resource reads the resource of a request.
func (s *Server) resource(r *http.Request, kind client.Kind, name string) (*unstructured.Unstructured, error) {
	if s.o.Client == nil {
		return nil, noCluster
	}
	return s.o.Client.Resource(kind).Namespace(r.PathValue("namespace")).Get(r.Context(), name, metav1.GetOptions{})
}

// safe is the specification of a resource without secrets.
func safe(u *unstructured.Unstructured) any {
	data, err := json.Marshal(u.Object["spec"])
	if err != nil {
		return nil
	}
	parsed, err := artifact.Parse(data)
	if err != nil {
		return nil
	}
	hidden, err := artifact.AppendIndented(nil, artifact.HideSensitive(parsed))
	if err != nil {
		return nil
	}
	return json.RawMessage(hidden)
}

// shown is what is answered of a resource.
func shown(u *unstructured.Unstructured) object {
	return object{"namespace": u.GetNamespace(), "name": u.GetName(), "uid": string(u.GetUID()),
		"created": u.GetCreationTimestamp().UTC().Format(time.RFC3339), "labels": u.GetLabels(), "spec": safe(u),
		"status": u.Object["status"], "source": "live"}
}

func (s *Server) list(w http.ResponseWriter, r *http.Request, kind client.Kind, name string) error {
	if s.o.Client == nil {
		return noCluster
	}
	list, err := s.o.Client.Resource(kind).Namespace(r.URL.Query().Get("namespace")).List(r.Context(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	rows := []object{}
	for i := range list.Items {
		u := &list.Items[i]
		phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
		rows = append(rows, object{"namespace": u.GetNamespace(), "name": u.GetName(), "phase": phase,
			"created": u.GetCreationTimestamp().UTC().Format(time.RFC3339), "status": u.Object["status"]})
	}
	return tagged(w, r, object{name + "s": rows})
}

// detail answers a resource, or what the volume has of one that was deleted.
func (s *Server) detail(w http.ResponseWriter, r *http.Request, kind client.Kind) error {
	sweep := kind == sweepsResource
	u, err := s.resource(r, kind, r.PathValue("job"))
	run, stored := s.latest(r.PathValue("namespace"), r.PathValue("job"), sweep)
	if err != nil {
		if stored != nil {
			return err
		}
		answer := object{"namespace": run.Namespace, "name": run.Name, "epoch": run.Epoch, "source": "archived"}
		if e, ok := s.o.Store.Entry(run); ok {
			answer["phase"], answer["completed"] = e.Phase, e.Completed
		}
		return tagged(w, r, answer)
	}
	answer := shown(u)
	if stored == nil {
		answer["source"], answer["epoch"] = "both", run.Epoch
	}
	if sweep {
		if summary := s.searchSummary(run, stored); summary != nil {
			answer["search_summary"] = summary
		}
	}
	return tagged(w, r, answer)
}

// maxHistory bounds the history of a search that is read, in bytes.
const maxHistory = 64 << 20

// searchSummary is what the history of a search amounts to; nil where there is none.
func (s *Server) searchSummary(run operator.ArchivedRun, stored error) object {
	if stored != nil {
		return nil
	}
	data, err := s.o.Store.ReadFile(run, "search_history.json", maxHistory)
	if err != nil {
		return nil
	}
	var history object
	if json.Unmarshal(data, &history) != nil {
		return nil
	}
	iterations, _ := history["iterations"].([]any)
	feasible := 0
	for _, item := range iterations {
		if i, _ := item.(object); i["feasible"] == true {
			feasible++
		}
	}
	reason, _ := history["convergence_reason"].(string)
	stop := "incomplete"
	switch {
	case strings.Contains(reason, "max_iterations"), strings.Contains(reason, "budget"):
		stop = "budget_exhausted"
	case reason != "":
		stop = "converged"
	}
	summary := object{"convergence_reason": history["convergence_reason"], "stop_kind": stop,
		"iteration_count": len(iterations), "feasible_iteration_count": feasible}
	for _, name := range []string{"objectives", "boundary_summary", "recipe"} {
		if v, ok := history[name]; ok {
			summary[name] = v
		}
	}
	const most = 20
	if best, ok := history["best_trials"].([]any); ok {
		summary["best_trials"], summary["best_trials_truncated"] = best[:min(most, len(best))], len(best) > most
	}
	if filters, ok := history["sla_filters"].([]any); ok {
		summary["sla_filter_count"] = len(filters)
	}
	return summary
}

func (s *Server) jobEpochs(w http.ResponseWriter, r *http.Request) error {
	runs, err := s.o.Store.Runs(r.PathValue("namespace"), r.PathValue("job"), false)
	if err != nil {
		return err
	}
	epochs := []string{}
	for _, run := range runs {
		epochs = append(epochs, run.Epoch)
	}
	return reply(w, object{"epochs": epochs})
}

// events answers the events of a resource and its pods, the newest first.
func (s *Server) events(w http.ResponseWriter, r *http.Request, kind client.Kind) error {
	name := r.PathValue("job")
	if _, err := s.resource(r, kind, name); err != nil {
		return err
	}
	list, err := s.o.Client.Resource(client.Events).Namespace(r.PathValue("namespace")).List(r.Context(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	rows := []object{}
	for i := range list.Items {
		e := list.Items[i].Object
		about, _ := e["involvedObject"].(object)
		target, _ := about["name"].(string)
		if target != name && target != crd.EngineName(name) && !strings.HasPrefix(target, crd.EngineName(name)+"-") {
			continue
		}
		rows = append(rows, object{"type": e["type"], "reason": e["reason"], "message": e["message"],
			"object": fmt.Sprint(about["kind"], "/", target), "count": e["count"], "time": e["lastTimestamp"]})
	}
	slices.SortStableFunc(rows, func(a, b object) int {
		return strings.Compare(fmt.Sprint(b["time"]), fmt.Sprint(a["time"]))
	})
	return reply(w, object{"events": rows[:min(maxEvents, len(rows))]})
}

// logs answers the last lines of the containers of a resource.
func (s *Server) logs(w http.ResponseWriter, r *http.Request, kind client.Kind) error {
	name, namespace := r.PathValue("job"), r.PathValue("namespace")
	if _, err := s.resource(r, kind, name); err != nil {
		return err
	}
	if s.o.API == nil {
		return noCluster
	}
	tail := 200
	if text := r.URL.Query().Get("tail"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 10000 {
			return fault{http.StatusUnprocessableEntity, "tail must be from 1 to 10000"}
		}
		tail = n
	}
	selector := crd.JobSelector(name)
	if kind == sweepsResource {
		selector = crd.LabelSweep + "=" + name + "," + crd.LabelRole + "=" + crd.RoleSweepController
	}
	pods, err := s.o.API.List(r.Context(), client.Pods, namespace, selector)
	if err != nil {
		return err
	}
	rows := []object{}
	for _, p := range pods {
		u := unstructured.Unstructured{Object: p}
		containers, _, _ := unstructured.NestedSlice(p, "spec", "containers")
		for _, item := range containers {
			c, _ := item.(object)
			container, _ := c["name"].(string)
			text := s.log(r.Context(), namespace, u.GetName(), container, tail)
			rows = append(rows, object{"pod": u.GetName(), "container": container, "log": text})
		}
	}
	return reply(w, object{"logs": rows})
}

func (s *Server) log(ctx context.Context, namespace, pod, container string, tail int) string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	stream, err := s.o.API.Logs(ctx, namespace, pod, client.LogOptions{Container: container, Tail: tail})
	if err != nil {
		return ""
	}
	defer func() { _ = stream.Close() }()
	text, _ := io.ReadAll(io.LimitReader(stream, 1<<20)) // what came is shown
	return string(text)
}

// create submits a manifest.
func (s *Server) create(w http.ResponseWriter, r *http.Request, kind client.Kind) error {
	if s.o.Client == nil {
		return noCluster
	}
	var body struct {
		Manifest json.RawMessage `json:"manifest"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return fault{http.StatusUnprocessableEntity, "the body is not {\"manifest\": …}"}
	}
	o, err := manifestOf(body.Manifest)
	if err != nil {
		return fault{http.StatusUnprocessableEntity, err.Error()}
	}
	s.defaults(o)
	parsed, err := crd.Parse(o)
	if err == nil {
		err = parsed.Refuse()
	}
	if err == nil && (parsed.Kind == crd.JobKind) != (kind == jobsResource) {
		err = fmt.Errorf("the kind %s is for another route", parsed.Kind)
	}
	if err == nil && parsed.Metadata.Namespace == "" {
		err = errors.New("metadata.namespace is missing")
	}
	if err != nil {
		return fault{http.StatusUnprocessableEntity, err.Error()}
	}
	delete(o, "status")
	made, err := s.o.Client.Resource(kind).Namespace(parsed.Metadata.Namespace).
		Create(r.Context(), &unstructured.Unstructured{Object: o}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	return json.NewEncoder(w).Encode(object{"namespace": made.GetNamespace(), "name": made.GetName(), "uid": made.GetUID()})
}

// defaults names the image of a manifest that names none.
func (s *Server) defaults(manifest crd.Object) {
	spec, _ := manifest["spec"].(crd.Object)
	if spec == nil || spec["image"] != nil || s.o.Image == "" {
		return
	}
	spec["image"] = s.o.Image
	if spec["imagePullPolicy"] == nil && spec["image_pull_policy"] == nil && s.o.PullPolicy != "" {
		spec["imagePullPolicy"] = s.o.PullPolicy
	}
}

// manifestOf reads a manifest that is a mapping, or a text in JSON or YAML.
func manifestOf(raw json.RawMessage) (crd.Object, error) {
	text := []byte(raw)
	var inner string
	if json.Unmarshal(raw, &inner) == nil {
		text = []byte(inner)
	}
	file, err := document.Read("manifest", text)
	if err != nil {
		return nil, err
	}
	data, err := artifact.AppendIndented(nil, file.Root.Any())
	if err != nil {
		return nil, err
	}
	var o crd.Object
	decoder := json.NewDecoder(bytes.NewReader(data))
	if err := decoder.Decode(&o); err != nil {
		return nil, errors.New("the manifest is not a mapping")
	}
	return o, nil
}

// validate checks the text of a manifest.
func (s *Server) validate(w http.ResponseWriter, r *http.Request) error {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return fault{http.StatusRequestEntityTooLarge, "the manifest is too long"}
	}
	quoted, err := json.Marshal(string(text))
	if err != nil {
		return err
	}
	o, err := manifestOf(quoted)
	var parsed *crd.Parsed
	if err == nil {
		parsed, err = crd.Parse(o)
	}
	if err == nil {
		err = parsed.Refuse()
	}
	if err == nil && parsed.Kind == crd.JobKind {
		_, _, err = parsed.Spec.Resolve("manifest", nil)
	}
	if err != nil {
		return reply(w, object{"valid": false, "errors": strings.Split(err.Error(), "\n")})
	}
	return reply(w, object{"valid": true, "errors": []string{}})
}

func (s *Server) cancel(w http.ResponseWriter, r *http.Request, kind client.Kind) error {
	if s.o.Client == nil {
		return noCluster
	}
	_, err := s.o.Client.Resource(kind).Namespace(r.PathValue("namespace")).Patch(r.Context(), r.PathValue("job"),
		types.MergePatchType, []byte(`{"spec":{"cancel":true}}`), metav1.PatchOptions{})
	if err != nil {
		return err
	}
	return reply(w, object{"status": "cancelling"})
}

// children answers the jobs of a sweep.
func (s *Server) children(w http.ResponseWriter, r *http.Request) error {
	if s.o.Client == nil {
		return noCluster
	}
	list, err := s.o.Client.Resource(jobsResource).Namespace(r.PathValue("namespace")).
		List(r.Context(), metav1.ListOptions{LabelSelector: crd.LabelSweep + "=" + r.PathValue("job")})
	if err != nil {
		return fault{http.StatusNotFound, "not found"}
	}
	rows := []object{}
	for i := range list.Items {
		u := &list.Items[i]
		labels := u.GetLabels()
		phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
		rows = append(rows, object{"name": u.GetName(), "phase": phase, "variation_index": labels[crd.LabelVariationIndex],
			"label": labels[crd.LabelVariationLabel], "trial_index": labels[crd.LabelTrialIndex],
			"values": u.GetAnnotations()[crd.AnnotationValues]})
	}
	slices.SortFunc(rows, func(a, b object) int { return strings.Compare(fmt.Sprint(a["name"]), fmt.Sprint(b["name"])) })
	return reply(w, object{"children": rows})
}

// cluster answers what the nodes have.
func (s *Server) cluster(w http.ResponseWriter, r *http.Request) error {
	if s.o.Client == nil {
		return noCluster
	}
	nodes, err := s.o.Client.Resource(client.Nodes).List(r.Context(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	pods, err := s.o.Client.Resource(client.Pods).List(r.Context(), metav1.ListOptions{})
	used := map[string]int{}
	if err == nil { // without the right to list pods nothing counts as used
		for i := range pods.Items {
			addGPUs(used, pods.Items[i].Object)
		}
	}
	total, busy, withGPU, free, partial, full := 0, 0, 0, 0, 0, 0
	for i := range nodes.Items {
		text, _, _ := unstructured.NestedString(nodes.Items[i].Object, "status", "allocatable", "nvidia.com/gpu")
		n, _ := strconv.Atoi(text)
		if n == 0 {
			continue
		}
		u := min(used[nodes.Items[i].GetName()], n)
		withGPU, total, busy = withGPU+1, total+n, busy+u
		switch u {
		case 0:
			free++
		case n:
			full++
		default:
			partial++
		}
	}
	utilization := 0.0
	if total > 0 {
		utilization = 100 * float64(busy) / float64(total)
	}
	answer := object{"nodes": len(nodes.Items), "gpus": total, "gpus_used": busy, "gpus_free": total - busy,
		"utilization_percent": utilization, "gpu_nodes": withGPU, "nodes_free": free, "nodes_partial": partial,
		"nodes_full": full, "cluster_name": s.o.ClusterName}
	if s.o.API != nil {
		if version, _, _, err := s.o.API.Version(r.Context()); err == nil {
			answer["kubernetes_version"] = version
		}
	}
	return reply(w, answer)
}

// addGPUs counts the GPUs that a pod occupies on its node.
func addGPUs(used map[string]int, pod object) {
	node, _, _ := unstructured.NestedString(pod, "spec", "nodeName")
	phase, _, _ := unstructured.NestedString(pod, "status", "phase")
	if node == "" || phase == "Succeeded" || phase == "Failed" {
		return
	}
	containers, _, _ := unstructured.NestedSlice(pod, "spec", "containers")
	for _, item := range containers {
		c, _ := item.(object)
		text, _, _ := unstructured.NestedString(c, "resources", "limits", "nvidia.com/gpu")
		n, _ := strconv.Atoi(text)
		used[node] += n
	}
}

// Codes with which the WebSocket to a controller ends.
const (
	closeNotReady = 4503 // the operator has no client of the cluster yet
	closeNoEngine = 4404 // the job has no JobSet yet
	closeBadName  = 4422 // the job's reference to its JobSet is invalid
	closeUpstream = 4502 // the controller cannot be reached, or has broken off
	maxReason     = 123
)

// CloseReason returns the start of a text that fits the reason of a closed WebSocket: at most 123 bytes of whole
// characters.
func CloseReason(text string) string {
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "")
	}
	return text
}

// socket connects a browser with the WebSocket of a job's controller.
func (s *Server) socket(w http.ResponseWriter, r *http.Request) error {
	down, err := websocket.Accept(w, r, nil)
	if err != nil {
		return nil //nolint:nilerr // the library has answered
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	code, reason := s.bridge(r.Context(), down, r.PathValue("namespace"), r.PathValue("job"))
	_ = down.Close(code, CloseReason(reason))
	return nil
}

// bridge carries messages until one side ends, and returns how to close the browser's.
func (s *Server) bridge(ctx context.Context, down *websocket.Conn, namespace, name string) (websocket.StatusCode, string) {
	if s.o.Client == nil || s.o.Ready != nil && !s.o.Ready() {
		return closeNotReady, "the operator is not ready"
	}
	u, err := s.o.Client.Resource(jobsResource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return closeNoEngine, "there is no such job"
	}
	engine, found, _ := unstructured.NestedString(u.Object, "status", "jobSetName")
	switch {
	case !found || engine == "":
		return closeNoEngine, "the job has no JobSet yet"
	case engine != crd.EngineName(name):
		return closeBadName, "the job's reference to its JobSet is invalid"
	}
	address := s.controllerAddress
	if s.o.Controller != nil {
		address = s.o.Controller
	}
	return s.join(ctx, down, address(ctx, namespace, name))
}

// join connects the browser's WebSocket with that of a controller.
func (s *Server) join(ctx context.Context, down *websocket.Conn, host string) (websocket.StatusCode, string) {
	up, _, err := websocket.Dial(ctx, "ws://"+host+"/ws", nil)
	if err != nil {
		return closeUpstream, "the controller cannot be reached"
	}
	defer func() { _ = up.CloseNow() }()
	const message = 16 << 20
	up.SetReadLimit(message)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type end struct {
		fromUp bool
		err    error
	}
	ended := make(chan end, 2)
	carry := func(from, to *websocket.Conn, fromUp bool) {
		for {
			kind, data, err := from.Read(ctx)
			if err == nil {
				err = to.Write(ctx, kind, data)
			}
			if err != nil {
				ended <- end{fromUp, err}
				return
			}
		}
	}
	go carry(up, down, true)
	go carry(down, up, false)
	e := <-ended
	status := websocket.CloseStatus(e.err)
	if !e.fromUp || status == websocket.StatusNormalClosure || status == websocket.StatusGoingAway {
		return websocket.StatusNormalClosure, ""
	}
	return closeUpstream, "the connection to the controller has broken off"
}

// controllerAddress is where the API of a job's controller answers.
func (s *Server) controllerAddress(ctx context.Context, namespace, name string) string {
	port := strconv.Itoa(crd.PortAPI)
	list, err := s.o.Client.Resource(client.Pods).Namespace(namespace).List(ctx, metav1.ListOptions{
		LabelSelector: crd.JobSelector(name) + "," + crd.LabelRole + "=" + crd.RoleController,
	})
	if err == nil {
		for i := range list.Items {
			if ip, _, _ := unstructured.NestedString(list.Items[i].Object, "status", "podIP"); ip != "" {
				return ip + ":" + port
			}
		}
	}
	return crd.ControllerHost(name, namespace) + ":" + port
}
