package mlflow

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/publish/upload"
)

// apiPath begins the paths of the API.
const apiPath = "/api/2.0/mlflow/"

// liveTimeout bounds a request while the load runs.
const liveTimeout = 10 * time.Second

// server makes requests to the tracking server.
type server struct {
	upload.Client
	// base is its address without secrets and without a slash at the end.
	base string
}

func newServer(u *url.URL, e *Environment, version string, redact func(string) string) *server {
	own := artifact.NewRedactor(e.secrets(u)...).Text
	s := &server{base: address(u)}
	s.Client = upload.Client{
		HTTP:        &http.Client{Transport: e.transport(), CheckRedirect: upload.NoRedirects},
		Header:      http.Header{"User-Agent": {"aiperf/" + version}},
		Timeout:     liveTimeout,
		Explain:     explain,
		Credentials: "check " + variableUser + " and " + variablePassword + ", or " + variableToken,
		Trust: "set " + variableTrust + " to the file of its certificate authority, or " +
			variableInsecure + " to true",
		Redact: func(text string) string { return own(redact(text)) },
	}
	if a := e.authorization(u); a != "" {
		s.Header.Set("Authorization", a)
	}
	return s
}

// address returns the address of the server without user information.
func address(u *url.URL) string {
	clean := *u
	clean.User = nil
	return strings.TrimRight(clean.String(), "/")
}

// explain returns the code and the message in the body of an error.
func explain(body []byte) (code, message string) {
	var e struct {
		Code    string `json:"error_code"`
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &e) != nil {
		return "", ""
	}
	if e.Message == "" {
		return e.Code, e.Code
	}
	return e.Code, e.Message
}

// Codes of errors.
const (
	codeMissing = "RESOURCE_DOES_NOT_EXIST"
	codeExists  = "RESOURCE_ALREADY_EXISTS"
)

// get and post make a request of the API.
func (s *server) get(ctx context.Context, method string, query url.Values, out any) *upload.Problem {
	return s.Do(ctx, upload.Request{Method: http.MethodGet, URL: s.base + apiPath + method + "?" + query.Encode()}, out)
}

func (s *server) post(ctx context.Context, method string, body, out any) *upload.Problem {
	return s.Do(ctx, upload.Request{Method: http.MethodPost, URL: s.base + apiPath + method, JSON: body,
		Once: strings.HasSuffix(method, "/create")}, out)
}

const active = "active"

// experiment finds an experiment by its name, or creates it.
func (s *server) experiment(ctx context.Context, name string) (id string, p *upload.Problem) {
	var created struct {
		ID string `json:"experiment_id"`
	}
	for try := 0; ; try++ {
		var found struct {
			Experiment struct {
				ID    string `json:"experiment_id"`
				Stage string `json:"lifecycle_stage"`
			}
		}
		p = s.get(ctx, "experiments/get-by-name", url.Values{"experiment_name": {name}}, &found)
		if p == nil && found.Experiment.Stage != "" && found.Experiment.Stage != active {
			return "", &upload.Problem{Kind: upload.Refused,
				Text: "has deleted the experiment " + name + "; restore it or use another --mlflow-experiment"}
		}
		if p == nil && found.Experiment.ID == "" {
			return "", &upload.Problem{Kind: upload.Refused,
				Text: "answered without an experiment; is this an MLflow server?"}
		}
		if p == nil || p.Code != codeMissing {
			return found.Experiment.ID, p
		}
		p = s.post(ctx, "experiments/create", map[string]any{"name": name}, &created)
		if p == nil || p.Code != codeExists || try > 0 { // another client may have created it meanwhile
			return created.ID, p
		}
	}
}

// runInfo describes a run on the server.
type runInfo struct {
	ID       string `json:"run_id"`
	Name     string `json:"run_name"`
	Artifact string `json:"artifact_uri"`
	Stage    string `json:"lifecycle_stage"`
}

type runAnswer struct {
	Run struct {
		Info runInfo `json:"info"`
	} `json:"run"`
}

func (s *server) run(ctx context.Context, id string) (runInfo, *upload.Problem) {
	var a runAnswer
	p := s.get(ctx, "runs/get", url.Values{"run_id": {id}}, &a)
	return a.Run.Info, p
}

func (s *server) createRun(
	ctx context.Context, experiment, user, name string, start time.Time, tags []Entry,
) (runInfo, *upload.Problem) {
	var a runAnswer
	p := s.post(ctx, "runs/create", map[string]any{
		"experiment_id": experiment, "user_id": user, "run_name": name, "start_time": start.UnixMilli(), "tags": tags,
	}, &a)
	if p == nil && a.Run.Info.ID == "" {
		p = &upload.Problem{Kind: upload.Refused, Text: "answered without a run; is this an MLflow server?"}
	}
	return a.Run.Info, p
}

func (s *server) endRun(ctx context.Context, id, status string, end time.Time) *upload.Problem {
	return s.post(ctx, "runs/update", map[string]any{"run_id": id, "status": status, "end_time": end.UnixMilli()}, nil)
}

// point is one value of a metric.
type point struct {
	Key       string  `json:"key"`
	Value     float64 `json:"value"`
	Timestamp int64   `json:"timestamp"`
	Step      int64   `json:"step"`
}

// The limits of one batch, and of the lengths of keys and values.
const (
	maxEntities   = 1000
	maxParams     = 100
	maxTags       = 100
	maxKey        = 250
	maxParamValue = 6000
	maxTagValue   = 5000
)

// logBatch adds points, parameters and tags to a run, in as few batches as the limits allow.
func (s *server) logBatch(ctx context.Context, id string, points []point, params, tags []Entry) *upload.Problem {
	for {
		p, g := min(len(params), maxParams), min(len(tags), maxTags)
		m := min(len(points), maxEntities-p-g)
		body := map[string]any{"run_id": id, "metrics": orEmpty(points[:m]), "params": orEmpty(params[:p]),
			"tags": orEmpty(tags[:g])}
		if problem := s.post(ctx, "runs/log-batch", body, nil); problem != nil {
			return problem
		}
		points, params, tags = points[m:], params[p:], tags[g:]
		if len(points)+len(params)+len(tags) == 0 {
			return nil
		}
	}
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// artifactRoot returns the address for the files of a run; "" where only MLflow's own client can store them.
func (s *server) artifactRoot(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	const proxied = "/api/2.0/mlflow-artifacts/artifacts"
	switch {
	case u.Scheme == "mlflow-artifacts" && u.Host == "":
		return s.base + proxied + escaped(strings.TrimRight(u.Path, "/"))
	case u.Scheme == "mlflow-artifacts":
		own, err := url.Parse(s.base)
		if err != nil {
			return ""
		}
		return own.Scheme + "://" + u.Host + proxied + escaped(strings.TrimRight(u.Path, "/"))
	case (u.Scheme == "http" || u.Scheme == "https") && strings.Contains(u.Path, proxied+"/"):
		u.User = nil
		return strings.TrimRight(u.String(), "/")
	}
	return ""
}

// escaped returns a path with its elements escaped.
func escaped(path string) string {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}

// putFile uploads a file of dir to a place below root.
func (s *server) putFile(ctx context.Context, root, place, dir, name string) *upload.Problem {
	size, err := upload.Size(dir, name)
	if err != nil {
		return &upload.Problem{Kind: upload.Refused, Text: err.Error()}
	}
	unbounded := s.Client
	unbounded.Timeout = 0 // only the upload as a whole is bounded
	if !strings.HasPrefix(root, s.base+"/") {
		unbounded.Header = unbounded.Header.Clone()
		unbounded.Header.Del("Authorization") // not for another host
	}
	return unbounded.Do(ctx, upload.Request{
		Method: http.MethodPut, URL: root + "/" + escaped(place), Size: size, ContentType: upload.MediaType(name),
		Open: func() (io.ReadCloser, error) {
			return upload.Open(dir, name, size)
		},
	}, nil)
}
