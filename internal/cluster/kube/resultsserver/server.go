// Package resultsserver serves what the operator knows over HTTP: the jobs and sweeps of the cluster, their stored
// results, and figures over many runs.
//
// Reading needs a token unless the server is open. Requests that change something are refused unless they are switched
// on, and then need a bearer token of their own. No path leads out of the volume. Without a cluster the routes about it answer 503. The
// package must never know how a benchmark runs.
//
// It also runs beside the coordinator of a benchmark in its pod: it serves the files of the results, reports to
// the job that the coordinator lives and when the results are complete, and ends once they were fetched.
//
// The results are complete when the run has written that it finished and its folder is no longer locked. Before that
// the files are those of the last checkpoint of the run itself. The package must never know how a benchmark runs.
package resultsserver

import (
	"archive/zip"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/dynamic"

	"aiperf/internal/base/webserver"
	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/operator"
)

// Options configures the server.
type Options struct {
	Store *operator.Store
	// Client and API are the cluster; nil for none. Pods are reached through Pods.
	Client dynamic.Interface
	API    *client.Client
	Pods   operator.Pods
	// Ready reports that the operator works.
	Ready       func() bool
	ClusterName string
	// Mutating switches on what changes the cluster; Token must then be sent.
	Mutating bool
	Token    string
	// ReadToken must be sent to read, but for /healthz; "" lets everybody read who reaches the port.
	ReadToken string
	TTLDays   int
	// Image and PullPolicy are those of submitted benchmarks that name none; "" is none.
	Image, PullPolicy string
	// Controller returns where the API of a job's controller answers, as HOST:PORT. nil asks the cluster for its pod.
	Controller func(ctx context.Context, namespace, name string) string
	Log        *slog.Logger
}

// Server answers requests.
type Server struct{ o Options }

// New returns a server.
func New(o Options) *Server { return &Server{o} }

// maxBody bounds the body of a request, in bytes.
const maxBody = 4 << 20

// Handler answers all routes.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	get := func(path string, h func(http.ResponseWriter, *http.Request) error) {
		mux.Handle("GET "+path, s.answer(func(w http.ResponseWriter, r *http.Request) error {
			if err := s.readable(w, r); err != nil {
				return err
			}
			return h(w, r)
		}))
	}
	post := func(path string, h func(http.ResponseWriter, *http.Request) error) {
		mux.Handle("POST "+path, s.answer(func(w http.ResponseWriter, r *http.Request) error {
			if err := s.authorized(r); err != nil {
				return err
			}
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			return h(w, r)
		}))
	}
	mux.Handle("GET /healthz", s.answer(func(w http.ResponseWriter, _ *http.Request) error {
		return reply(w, object{"status": "ok"})
	}))
	get("/{$}", s.page)
	s.resultRoutes(get)
	s.clusterRoutes(get, post)
	s.analyticsRoutes(get)
	mux.Handle("POST /api/v1/validate", s.answer(func(w http.ResponseWriter, r *http.Request) error {
		if err := s.readable(w, r); err != nil {
			return err
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		return s.validate(w, r)
	}))
	get("/admin/index/stats", s.indexStats)
	get("/admin/index/run/{namespace}/{job}", s.indexRun)
	post("/admin/index/rebuild", func(w http.ResponseWriter, _ *http.Request) error {
		if err := s.o.Store.Rebuild(); err != nil {
			return err
		}
		return reply(w, object{"status": "rebuilt", "runs": len(s.o.Store.Index())})
	})
	return mux
}

type object = map[string]any

// fault is an error with its status.
type fault struct {
	status int
	text   string
}

func (f fault) Error() string { return f.text }

var (
	notFound  = fault{http.StatusNotFound, "not found"}
	noCluster = fault{http.StatusServiceUnavailable, "there is no connection to a cluster"}
)

// answer turns errors into replies.
func (s *Server) answer(h func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := h(w, r)
		if err == nil {
			return
		}
		var f fault
		switch {
		case errors.As(err, &f):
		case errors.Is(err, fs.ErrNotExist), apierrors.IsNotFound(err):
			f = notFound
		case apierrors.IsAlreadyExists(err):
			f = fault{http.StatusConflict, err.Error()}
		case apierrors.IsForbidden(err):
			f = fault{http.StatusForbidden, err.Error()}
		case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
			f = fault{http.StatusUnprocessableEntity, err.Error()}
		default:
			s.o.Log.Warn(r.URL.Path + ": " + err.Error())
			f = fault{http.StatusBadGateway, "the cluster or the volume does not answer"}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(f.status)
		_ = json.NewEncoder(w).Encode(object{"error": f.text})
	})
}

// authorized reports whether a request may change something: 403 where that is off or has no token, 401 for a wrong one.
func (s *Server) authorized(r *http.Request) error {
	switch {
	case !s.o.Mutating:
		return fault{http.StatusForbidden, "changes are switched off: set AIPERF_OPERATOR_MUTATING_ROUTES_ENABLED"}
	case s.o.Token == "":
		return fault{http.StatusForbidden, "changes need a token: set AIPERF_OPERATOR_MUTATING_ROUTES_TOKEN"}
	}
	if !equal(s.o.Token, bearer(r)) {
		return fault{http.StatusUnauthorized, "the bearer token is missing or wrong"}
	}
	return nil
}

func reply(w http.ResponseWriter, v any) error {
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(v)
}

// tagged replies with an ETag, or that the content has not changed.
func tagged(w http.ResponseWriter, r *http.Request, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	w.Header().Set("ETag", tag)
	if strings.Contains(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(data)
	return err
}

// resultRoutes are those of stored results.
func (s *Server) resultRoutes(get func(string, func(http.ResponseWriter, *http.Request) error)) {
	get("/api/v1/results", s.results)
	const prefix = "/api/v1/results/{namespace}/{job}"
	get(prefix, s.resultFiles)
	get(prefix+"/runs", s.runs)
	get(prefix+"/runs/{epoch}", s.resultFiles)
	get(prefix+"/runs/{epoch}/profile_export", s.profileExport)
	get(prefix+"/runs/{epoch}/{file...}", s.resultFile)
	get(prefix+"/{file...}", s.resultFile)
	base := "/api/v1/sweeps/{namespace}/{job}/epochs"
	get(base, s.sweepEpochs)
	get(base+"/{epoch}/artifacts", s.resultFiles)
	get(base+"/{epoch}/artifacts.zip", s.zipped)
	get(base+"/{epoch}/artifacts/profile_export", s.profileExport)
	get(base+"/{epoch}/artifacts/{file...}", s.resultFile)
}

// run is the run of a request: the named one or the newest complete one.
func (s *Server) run(r *http.Request) (operator.ArchivedRun, error) {
	sweep := strings.HasPrefix(r.URL.Path, "/api/v1/sweeps/")
	name := r.PathValue("job")
	epoch := r.PathValue("epoch")
	if epoch == "" {
		return s.latest(r.PathValue("namespace"), name, sweep)
	}
	return operator.ArchivedRun{Namespace: r.PathValue("namespace"), Name: name, Epoch: epoch, Sweep: sweep}, nil
}

// latest is the newest complete run, else the newest at all.
func (s *Server) latest(namespace, name string, sweep bool) (operator.ArchivedRun, error) {
	run, err := s.o.Store.Latest(namespace, name, sweep)
	if err == nil {
		return run, nil
	}
	runs, err := s.o.Store.Runs(namespace, name, sweep)
	if err != nil || len(runs) == 0 {
		return operator.ArchivedRun{}, notFound
	}
	return runs[0], nil
}

func (s *Server) results(w http.ResponseWriter, r *http.Request) error {
	type row struct {
		Namespace string     `json:"namespace"`
		Name      string     `json:"name"`
		Latest    string     `json:"latest"`
		Runs      int        `json:"runs"`
		Model     string     `json:"model,omitempty"`
		Phase     string     `json:"phase,omitempty"`
		Started   time.Time  `json:"started"`
		Completed *time.Time `json:"completed,omitempty"`
	}
	rows := []*row{}
	byName := map[[2]string]*row{}
	for _, e := range s.o.Store.Index() {
		if e.Sweep {
			continue
		}
		key := [2]string{e.Namespace, e.Name}
		if byName[key] == nil {
			byName[key] = &row{e.Namespace, e.Name, e.Epoch, 0, e.Model, e.Phase, e.Started, e.Completed}
			rows = append(rows, byName[key])
		}
		byName[key].Runs++
	}
	return tagged(w, r, object{"results": rows})
}

func (s *Server) resultFiles(w http.ResponseWriter, r *http.Request) error {
	if name, ok := strings.CutSuffix(r.PathValue("job"), ".zip"); ok && r.PathValue("epoch") == "" {
		r.SetPathValue("job", name)
		return s.zipped(w, r)
	}
	if epoch, ok := strings.CutSuffix(r.PathValue("epoch"), ".zip"); ok {
		r.SetPathValue("epoch", epoch)
		return s.zipped(w, r)
	}
	run, err := s.run(r)
	if err != nil {
		return err
	}
	files, err := s.o.Store.Files(run)
	if err != nil {
		return err
	}
	return tagged(w, r, object{"namespace": run.Namespace, "name": run.Name, "epoch": run.Epoch, "files": files})
}

// runs lists the runs of a job with what retention would do to them.
func (s *Server) runs(w http.ResponseWriter, r *http.Request) error {
	runs, err := s.o.Store.Runs(r.PathValue("namespace"), r.PathValue("job"), false)
	if err != nil || len(runs) == 0 {
		return notFound
	}
	rows, err := s.runRows(r, runs)
	if err != nil {
		return err
	}
	return tagged(w, r, object{"runs": rows})
}

// runRows says of the runs of a job, or of a sweep, what is stored and what retention would do to it.
func (s *Server) runRows(r *http.Request, runs []operator.ArchivedRun) ([]object, error) {
	rows := []object{}
	if len(runs) == 0 {
		return rows, nil
	}
	latest, _ := s.o.Store.Latest(r.PathValue("namespace"), r.PathValue("job"), runs[0].Sweep)
	keep, days := s.o.Store.Retention()
	gone := operator.ArchiveOptions{RetainRuns: keep, RetainDays: days}.Expendable(runs, latest, time.Now())
	for _, run := range runs {
		files, err := s.o.Store.Files(run)
		if err != nil {
			return nil, err
		}
		size := int64(0)
		for _, f := range files {
			size += f.Size
		}
		rows = append(rows, object{"epoch": run.Epoch, "timestamp": run.Time().UTC().Format(time.RFC3339),
			"files": len(files), "size": size, "latest": run == latest, "would_delete": slices.Contains(gone, run)})
	}
	return rows, nil
}

func (s *Server) sweepEpochs(w http.ResponseWriter, r *http.Request) error {
	runs, err := s.o.Store.Runs(r.PathValue("namespace"), r.PathValue("job"), true)
	if err != nil {
		return err
	}
	epochs := []string{}
	for _, run := range runs {
		epochs = append(epochs, run.Epoch)
	}
	rows, err := s.runRows(r, runs)
	if err != nil {
		return err
	}
	return reply(w, object{"epochs": epochs, "runs": rows})
}

// profileExport answers the summary of a run.
func (s *Server) profileExport(w http.ResponseWriter, r *http.Request) error {
	r.SetPathValue("file", "profile_export_aiperf.json")
	return s.resultFile(w, r)
}

// resultFile answers a stored file: as it is stored where the client reads zstd, else unpacked.
func (s *Server) resultFile(w http.ResponseWriter, r *http.Request) error {
	run, err := s.run(r)
	if err != nil {
		return err
	}
	name := r.PathValue("file")
	if name == "profile_export" && r.PathValue("epoch") == "" {
		name = "profile_export_aiperf.json"
	}
	file, err := s.o.Store.OpenFile(run, name)
	if err != nil {
		return notFound
	}
	defer func() { _ = file.Close() }()
	h := w.Header()
	h.Set("Content-Type", webserver.MediaType(name))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Disposition", "attachment; filename="+strconv.Quote(path.Base(name)))
	h.Set("Vary", "Accept-Encoding")
	h.Set("Last-Modified", file.Time.UTC().Format(http.TimeFormat))
	var content io.ReadCloser = file
	if file.Zstd {
		if accepts(r, "zstd") {
			h.Set("Content-Encoding", "zstd")
		} else if content, err = file.Content(); err != nil {
			return err
		}
	} else {
		h.Set("Content-Length", strconv.FormatInt(file.Size, 10))
	}
	extend(w)
	_, err = io.Copy(w, content)
	if err != nil {
		s.o.Log.Warn("sending " + name + ": " + err.Error())
	}
	return nil
}

// accepts reports whether a client reads an encoding.
func accepts(r *http.Request, encoding string) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(name), encoding) && strings.ReplaceAll(quality, " ", "") != "q=0" {
			return true
		}
	}
	return false
}

// download bounds the time of a reply that carries files.
const download = 10 * time.Minute

func extend(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(download)) // else the server's own holds
}

// zipped answers all files of a run as one.
func (s *Server) zipped(w http.ResponseWriter, r *http.Request) error {
	run, err := s.run(r)
	if err != nil {
		return err
	}
	files, err := s.o.Store.Files(run)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("Content-Disposition", "attachment; filename="+strconv.Quote(run.Name+"-"+run.Epoch+".zip"))
	extend(w)
	archived := zip.NewWriter(w)
	for _, f := range files {
		if err := s.zipFile(archived, run, f.Name); err != nil {
			s.o.Log.Warn("packing " + f.Name + ": " + err.Error())
			return nil // the broken archive says so to the client
		}
	}
	return archived.Close()
}

func (s *Server) zipFile(archived *zip.Writer, run operator.ArchivedRun, name string) error {
	file, err := s.o.Store.OpenFile(run, name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	content, err := file.Content()
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	part, err := archived.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: file.Time})
	if err != nil {
		return err
	}
	_, err = io.Copy(part, content)
	return err
}

func (s *Server) indexStats(w http.ResponseWriter, _ *http.Request) error {
	jobs, sweeps := 0, 0
	for _, e := range s.o.Store.Index() {
		if e.Sweep {
			sweeps++
		} else {
			jobs++
		}
	}
	return reply(w, object{"schema": 1, "runs": jobs, "sweep_runs": sweeps})
}

func (s *Server) indexRun(w http.ResponseWriter, r *http.Request) error {
	entry, err := s.entry(r.PathValue("namespace"), r.PathValue("job"), "")
	if err != nil {
		return err
	}
	return reply(w, entry)
}

// entry is the row of a run, the newest one where no epoch is named.
func (s *Server) entry(namespace, job, epoch string) (operator.Entry, error) {
	for _, e := range s.o.Store.Index() {
		if e.Namespace == namespace && e.Name == job && !e.Sweep && (epoch == "" || e.Epoch == epoch) {
			return e, nil
		}
	}
	return operator.Entry{}, notFound
}

// analyticsRoutes are figures over many runs.
func (s *Server) analyticsRoutes(get func(string, func(http.ResponseWriter, *http.Request) error)) {
	get("/api/v1/index", func(w http.ResponseWriter, r *http.Request) error {
		return tagged(w, r, object{"runs": s.o.Store.Index()})
	})
	get("/api/v1/analytics/leaderboard", s.leaderboard)
	get("/api/v1/analytics/history", s.history)
	get("/api/v1/analytics/compare", s.compare)
	get("/api/v1/analytics/scatter", s.scatter)
	get("/api/v1/analytics/summary/{namespace}/{job}", func(w http.ResponseWriter, r *http.Request) error {
		e, err := s.entry(r.PathValue("namespace"), r.PathValue("job"), r.URL.Query().Get("epoch"))
		if err != nil {
			return err
		}
		return reply(w, e)
	})
	get("/api/v1/config/retention", func(w http.ResponseWriter, _ *http.Request) error {
		runs, days := s.o.Store.Retention()
		return reply(w, object{"retain_runs": runs, "retain_days": days, "ttl_days": s.o.TTLDays})
	})
	get("/api/v1/config/features", func(w http.ResponseWriter, _ *http.Request) error {
		return reply(w, object{"cluster": s.o.Client != nil, "mutating_routes": s.o.Mutating && s.o.Token != "",
			"index": true})
	})
	get("/api/v1/config/{namespace}/{job}", s.config)
}

// config answers the specification of a job: that of its stored run, else that of the cluster.
func (s *Server) config(w http.ResponseWriter, r *http.Request) error {
	namespace, name := r.PathValue("namespace"), r.PathValue("job")
	if run, err := s.latest(namespace, name, false); err == nil {
		if data, err := s.o.Store.ReadFile(run, operator.SpecFile, maxBody); err == nil {
			return reply(w, object{"source": "file", "config": json.RawMessage(data)})
		}
	}
	u, err := s.resource(r, jobsResource, name)
	if err != nil {
		return err
	}
	return reply(w, object{"source": "cr", "config": safe(u)})
}

// value is a statistic of a metric of a run.
func value(e operator.Entry, metric, stat string) (float64, string, bool) {
	m, ok := e.Metrics[metric]
	if !ok {
		return 0, "", false
	}
	v, ok := m.Stats[stat]
	return v, m.Unit, ok
}

type point struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	Epoch     string    `json:"epoch"`
	Model     string    `json:"model,omitempty"`
	Started   time.Time `json:"started"`
	Value     float64   `json:"value"`
	Unit      string    `json:"unit"`
}

// points are the values of all runs of jobs that have one.
func (s *Server) points(r *http.Request) (list []point, limit int, err error) {
	q := r.URL.Query()
	metric, stat := cmp.Or(q.Get("metric"), "request_throughput"), cmp.Or(q.Get("stat"), "avg")
	for _, e := range s.o.Store.Index() {
		v, unit, ok := value(e, metric, stat)
		if !ok || e.Sweep || q.Get("namespace") != "" && e.Namespace != q.Get("namespace") ||
			q.Get("job") != "" && e.Name != q.Get("job") || q.Get("model") != "" && e.Model != q.Get("model") {
			continue
		}
		list = append(list, point{e.Namespace, e.Name, e.Epoch, e.Model, e.Started, v, unit})
	}
	if text := q.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 {
			return nil, 0, fault{http.StatusUnprocessableEntity, "limit must be a whole number from 1"}
		}
	}
	return list, limit, nil
}

func (s *Server) leaderboard(w http.ResponseWriter, r *http.Request) error {
	list, limit, err := s.points(r)
	if err != nil {
		return err
	}
	order := cmp.Or(r.URL.Query().Get("order"), "desc")
	if order != "asc" && order != "desc" {
		return fault{http.StatusUnprocessableEntity, "order must be asc or desc"}
	}
	slices.SortStableFunc(list, func(a, b point) int {
		if order == "asc" {
			return cmp.Compare(a.Value, b.Value)
		}
		return cmp.Compare(b.Value, a.Value)
	})
	return reply(w, object{"entries": first(list, cmp.Or(limit, 20))})
}

func (s *Server) history(w http.ResponseWriter, r *http.Request) error {
	list, limit, err := s.points(r)
	if err != nil {
		return err
	}
	list = first(list, cmp.Or(limit, 100))
	slices.Reverse(list)
	return reply(w, object{"points": list})
}

func first(list []point, n int) []point {
	if list == nil {
		return []point{}
	}
	return list[:min(n, len(list))]
}

// compare answers metrics of several jobs: "jobs" lists NAMESPACE/NAME, "metrics" tags.
func (s *Server) compare(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	jobs, tags := commas(q.Get("jobs")), commas(q.Get("metrics"))
	if len(jobs) == 0 {
		return fault{http.StatusUnprocessableEntity, "jobs must list NAMESPACE/NAME, separated by commas"}
	}
	if len(tags) == 0 {
		tags = []string{"request_throughput", "request_latency", "time_to_first_token", "inter_token_latency"}
	}
	rows := []object{}
	for _, job := range jobs {
		namespace, name, ok := strings.Cut(job, "/")
		if !ok {
			return fault{http.StatusUnprocessableEntity, strconv.Quote(job) + " is not NAMESPACE/NAME"}
		}
		e, err := s.entry(namespace, name, "")
		if err != nil {
			return err
		}
		metrics := object{}
		for _, tag := range tags {
			stats := object{}
			for _, stat := range []string{"avg", "p50", "p99"} {
				if v, unit, ok := value(e, tag, stat); ok {
					stats[stat], stats["unit"] = v, unit
				}
			}
			if len(stats) > 0 {
				metrics[tag] = stats
			}
		}
		rows = append(rows, object{"namespace": namespace, "name": name, "epoch": e.Epoch, "metrics": metrics})
	}
	return reply(w, object{"jobs": rows})
}

func commas(text string) (list []string) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// scatter answers two metrics of every run against each other.
func (s *Server) scatter(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	x, y := cmp.Or(q.Get("x"), "request_throughput"), cmp.Or(q.Get("y"), "request_latency")
	xStat, yStat := cmp.Or(q.Get("x_stat"), "avg"), cmp.Or(q.Get("y_stat"), "p50")
	points := []object{}
	for _, e := range s.o.Store.Index() {
		vx, ux, okX := value(e, x, xStat)
		vy, uy, okY := value(e, y, yStat)
		if okX && okY && !e.Sweep {
			points = append(points, object{"namespace": e.Namespace, "name": e.Name, "epoch": e.Epoch, "model": e.Model,
				"x": vx, "y": vy, "x_unit": ux, "y_unit": uy})
		}
	}
	return reply(w, object{"points": points})
}
