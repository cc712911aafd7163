package web

import (
	"errors"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/pattern"
	"aiperf/internal/base/webserver"
)

// route is a row of the table of routes: requests, the OpenAPI document and the page of documentation come from it.
type route struct {
	Method, Path string
	// Summary is a sentence, Media the type of a successful reply; "" for none.
	Summary, Media string
	// Errors are the statuses of refusals.
	Errors []int
	answer func(v *View, w http.ResponseWriter, r *http.Request)
}

// pattern is how the route is registered.
func (r *route) pattern() string { return r.Method + " " + r.place() }

// place is the path of the route as a pattern: a parameter that is a path takes all that follows.
func (r *route) place() string {
	if strings.HasSuffix(r.Path, "/") {
		return r.Path + "{$}"
	}
	return strings.Replace(r.Path, "{path}", "{path...}", 1)
}

// allow names the methods of the route.
func (r *route) allow() string {
	if r.Method == http.MethodGet {
		return "GET, HEAD"
	}
	return r.Method
}

const (
	jsonMedia  = "application/json"
	textMedia  = "text/plain; charset=utf-8"
	pageMedia  = "text/html; charset=utf-8"
	bytesMedia = "application/octet-stream"
)

// table are all routes.
var table []route

func init() {
	table = []route{
		{Method: "GET", Path: "/", Summary: "The live page.", Media: pageMedia, answer: (*View).livePage},
		{Method: "GET", Path: "/dashboard", Summary: "The live page.", Media: pageMedia, answer: (*View).livePage},
		{Method: "GET", Path: "/dashboard-v2/", Summary: "The live page.", Media: pageMedia, answer: (*View).livePage},
		{Method: "GET", Path: "/live", Summary: "What the live page shows, as server-sent events.",
			Media: "text/event-stream", Errors: []int{503}, answer: (*View).stream},
		{Method: "GET", Path: "/report/{run}/{name}",
			Summary: "The HTML report of a run that has ended, by the number of the run.",
			Media:   pageMedia, Errors: []int{404}, answer: (*View).report},
		{Method: "GET", Path: "/api/config", Summary: "The configuration of the run: what was set, without keys.",
			Media: jsonMedia, answer: document((*View).configDocument)},
		{Method: "GET", Path: "/api/run", Summary: "The run: its id, its place in its series, its command.",
			Media: jsonMedia, answer: document((*View).runDocument)},
		{Method: "GET", Path: "/api/progress", Summary: "Where each phase stands, and the run as a whole.",
			Media: jsonMedia, answer: document((*View).progressDocument)},
		{Method: "GET", Path: "/api/workers", Summary: "The workers: this process is one.", Media: jsonMedia,
			answer: document((*View).workersDocument)},
		{Method: "GET", Path: "/api/metrics", Summary: "The figures of the profiling phases so far.", Media: jsonMedia,
			answer: document((*View).metricsDocument)},
		{Method: "GET", Path: "/metrics", Summary: "The same for Prometheus.", Media: textMedia,
			answer: (*View).prometheus},
		{Method: "GET", Path: "/api/server-metrics", Summary: "The newest figures of the servers.", Media: jsonMedia,
			answer: document((*View).serversDocument)},
		{Method: "GET", Path: "/api/results",
			Summary: "How the run ended, and its results: status running, complete, cancelled or incomplete.",
			Media:   jsonMedia, answer: document((*View).resultsDocument)},
		{Method: "GET", Path: "/api/results/list", Summary: "The files in the folder of the run, top level only.",
			Media: jsonMedia, answer: document((*View).listDocument)},
		{Method: "GET", Path: "/api/results/files/{path}",
			Summary: "A file of the run, as a download; ranges are served.",
			Media:   bytesMedia, Errors: []int{400, 404}, answer: (*View).resultFile},
		{Method: "POST", Path: "/api/results/upload/{name}",
			Summary: "Takes a file of a worker pod. A run without a cluster has none, so that it refuses all.",
			Media:   jsonMedia, Errors: []int{400, 409}, answer: (*View).upload},
		{Method: "GET", Path: "/api/dataset/data", Summary: "The data set for worker pods; not without a cluster.",
			Media: bytesMedia, Errors: []int{503}, answer: noCluster},
		{Method: "GET", Path: "/api/dataset/index", Summary: "Its index; not without a cluster.",
			Media: bytesMedia, Errors: []int{503}, answer: noCluster},
		{Method: "GET", Path: "/api/dataset/state", Summary: "Whether the data set can be handed out.",
			Media:  jsonMedia,
			answer: document((*View).datasetDocument)},
		{Method: "GET", Path: "/api/tokenizer/{name}/bundle",
			Summary: "The files of a tokenizer for worker pods; not without a cluster.",
			Media:   "application/zstd", Errors: []int{404}, answer: (*View).tokenizerBundle},
		{Method: "GET", Path: "/api/debug/pod-states", Summary: "The worker pods: none.", Media: jsonMedia,
			answer: document((*View).podsDocument)},
		{Method: "GET", Path: "/api/debug/worker-startup-states", Summary: "How far each worker is.", Media: jsonMedia,
			answer: document((*View).startupDocument)},
		{Method: "POST", Path: "/api/shutdown", Summary: "Ends the time for which the API stays after the run.",
			Media: jsonMedia, Errors: []int{409}, answer: (*View).endSoon},
		{Method: "GET", Path: "/healthz", Summary: "ok as long as the program works.", Media: textMedia,
			answer: (*View).health},
		{Method: "GET", Path: "/readyz", Summary: "ok from the start of the first run to the end of the last.",
			Media: textMedia, Errors: []int{503}, answer: (*View).ready},
		{Method: "GET", Path: "/ws", Summary: "WebSocket: messages of the types that are subscribed to.",
			Errors: []int{426, 503}, answer: (*View).socket},
		{Method: "GET", Path: "/openapi.json", Summary: "This table as an OpenAPI document.", Media: jsonMedia,
			answer: func(v *View, w http.ResponseWriter, _ *http.Request) {
				reply(w, http.StatusOK, openAPI(v.o.Version))
			}},
		{Method: "GET", Path: "/docs", Summary: "This table as a page.", Media: pageMedia, answer: (*View).docs},
	}
}

// Route is a route of the HTTP API as lists of it show it.
type Route struct{ Method, Path, Summary, Media string }

// Routes returns all routes, in the order of the documentation.
func Routes() []Route {
	list := make([]Route, len(table))
	for i, r := range table {
		list[i] = Route{r.Method, r.Path, r.Summary, r.Media}
	}
	return list
}

// document makes a handler of a function that makes a JSON object while the view is locked.
func document(of func(*View) artifact.Object) func(*View, http.ResponseWriter, *http.Request) {
	return func(v *View, w http.ResponseWriter, _ *http.Request) {
		v.mu.Lock()
		o := of(v)
		v.mu.Unlock()
		reply(w, http.StatusOK, o)
	}
}

// reply sends a JSON object.
func reply(w http.ResponseWriter, status int, o artifact.Object) {
	text, err := artifact.AppendJSON(nil, o)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"detail":"the reply cannot be written as JSON"}`)
	}
	w.Header().Set("Content-Type", jsonMedia)
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// refuse answers with a reason.
func refuse(w http.ResponseWriter, status int, why string) {
	reply(w, status, artifact.Object{member("detail", why)})
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", textMedia)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

func (v *View) livePage(w http.ResponseWriter, _ *http.Request) {
	head := w.Header()
	head.Set("Content-Type", pageMedia)
	head.Set("Content-Security-Policy", v.policy)
	_, _ = w.Write(v.page)
}

// report shows the HTML report of a run, which is the only file that is shown rather than downloaded.
func (v *View) report(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	list := slices.Clone(v.reports)
	v.mu.Unlock()
	for _, f := range list {
		if strconv.Itoa(f.number) == r.PathValue("run") && f.name == r.PathValue("name") {
			webserver.ServeFile(w, r, f.dir, f.name, webserver.Presentation{Report: true, Refuse: refuse})
			return
		}
	}
	refuse(w, http.StatusNotFound, "there is no such report")
}

// resultFile sends a file of the newest run.
func (v *View) resultFile(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	run := v.run
	v.mu.Unlock()
	if run == nil {
		refuse(w, http.StatusNotFound, "no run has begun")
		return
	}
	if strings.HasSuffix("/"+r.PathValue("path"), "/"+artifact.LockName) {
		refuse(w, http.StatusNotFound, "there is no such file")
		return
	}
	webserver.ServeFile(w, r, run.Dir, r.PathValue("path"), webserver.Presentation{Refuse: refuse})
}

// uploadName reports whether a name is one of a file that worker pods send.
func uploadName(name string) bool {
	return strings.HasPrefix(name, "raw_records_") && strings.HasSuffix(name, ".jsonl") &&
		!strings.ContainsAny(name, `/\`) && !strings.Contains(name, "..")
}

// uploadPeek is how much of a form is read to see whether it is one.
const uploadPeek = 64 << 10

func (v *View) upload(w http.ResponseWriter, r *http.Request) {
	if !uploadName(r.PathValue("name")) {
		refuse(w, http.StatusBadRequest, "only raw_records_*.jsonl of worker pods is taken")
		return
	}
	// Nothing is taken, so that little is read: what is longer is refused by its size.
	r.Body = http.MaxBytesReader(w, r.Body, uploadPeek)
	_, _, err := r.FormFile("file")
	if errors.Is(err, http.ErrNotMultipart) || errors.Is(err, http.ErrMissingFile) ||
		errors.Is(err, multipart.ErrMessageTooLarge) {
		refuse(w, http.StatusBadRequest, "the form has no field file")
		return
	}
	refuse(w, http.StatusConflict, "this run has no worker pods: its records are written by the process itself")
}

func noCluster(_ *View, w http.ResponseWriter, _ *http.Request) {
	refuse(w, http.StatusServiceUnavailable, "this run has no worker pods, so that its data set is not handed out")
}

func (v *View) tokenizerBundle(w http.ResponseWriter, _ *http.Request) {
	refuse(w, http.StatusNotFound, "this run has no worker pods, so that its tokenizers are not handed out")
}

func (v *View) endSoon(w http.ResponseWriter, _ *http.Request) {
	v.mu.Lock()
	over := v.finished
	v.mu.Unlock()
	if !over {
		refuse(w, http.StatusConflict, "the benchmark is still running: wait for its end, or interrupt aiperf")
		return
	}
	reply(w, http.StatusOK, artifact.Object{member("status", "shutting_down")})
	time.AfterFunc(v.o.ShutdownDelay, v.askShutdown)
}

func (v *View) health(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok") }

func (v *View) ready(w http.ResponseWriter, _ *http.Request) {
	v.mu.Lock()
	ready := v.run != nil && !v.finished
	v.mu.Unlock()
	if !ready {
		plain(w, http.StatusServiceUnavailable, "not ready")
		return
	}
	plain(w, http.StatusOK, "ok")
}

// listDocument lists the files of the newest run.
func (v *View) listDocument() artifact.Object {
	files := []any{}
	if v.run != nil {
		entries, err := os.ReadDir(v.run.Dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			entries = nil
		}
		for _, e := range entries { // sorted by name
			if strings.HasPrefix(e.Name(), ".") {
				continue // the lock of a run under way
			}
			if info, err := os.Stat(filepath.Join(v.run.Dir, e.Name())); err == nil && info.Mode().IsRegular() {
				files = append(files, artifact.Object{member("name", e.Name()), member("size", info.Size())})
			}
		}
	}
	ready := v.ending != nil
	processing := v.system == systemProcessing
	return artifact.Object{member("files", files), member("ready", ready), member("processing", processing),
		member("partial", ready && (v.ending.Cancelled || v.ending.Failed)), member("failed_exporters", []any{})}
}

var parameter = pattern.New(`\{(\w+)\}`)

// openAPI is the table as an OpenAPI document.
func openAPI(version string) artifact.Object {
	paths := artifact.Object{}
	for _, r := range table {
		replies := artifact.Object{}
		switch {
		case r.Path == "/ws":
			replies = append(replies, member("101", artifact.Object{member("description", "WebSocket")}))
		default:
			kind, _, _ := strings.Cut(r.Media, ";")
			schema := artifact.Object{member("type", "string")}
			if kind == jsonMedia {
				schema = artifact.Object{member("type", "object")}
			}
			replies = append(replies, member("200", artifact.Object{member("description", "Success"),
				member("content", artifact.Object{member(kind, artifact.Object{member("schema", schema)})})}))
		}
		for _, status := range r.Errors {
			replies = append(replies, member(strconv.Itoa(status),
				artifact.Object{member("description", http.StatusText(status))}))
		}
		operation := artifact.Object{member("summary", r.Summary), member("responses", replies)}
		if names := parameter.FindAllStringSubmatch(r.Path, -1); names != nil {
			list := make([]any, len(names))
			for i, n := range names {
				list[i] = artifact.Object{member("name", n[1]), member("in", "path"), member("required", true),
					member("schema", artifact.Object{member("type", "string")})}
			}
			operation = append(operation, member("parameters", list))
		}
		paths = append(paths, member(r.Path, artifact.Object{member(strings.ToLower(r.Method), operation)}))
	}
	return artifact.Object{member("openapi", "3.1.0"),
		member("info", artifact.Object{member("title", "aiperf"), member("version", version)}), member("paths", paths)}
}
