package mockserver

import (
	"aiperf/internal/mockserver/api"
	"aiperf/internal/mockserver/httpd"
	"crypto/subtle"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// hookPaths are the control hooks of inference servers; here they only count.
var hookPaths = [...]string{"/reset_prefix_cache", "/flush_cache", "/start_profile", "/stop_profile"}

// Answer answers the request that was read. A non-nil error ends the connection.
func (h *handler) Answer(body []byte) error {
	h.x.begin()
	head, path := &h.conn.Head, h.conn.Head.Path
	h.fields.read(head, h.srv.authHeader)
	if h.conn.Port == "" {
		switch string(head.Method) {
		case http.MethodPost:
			if a, ok := api.At(path); ok {
				return h.infer(a, body)
			}
		case http.MethodGet:
			if id, ok := strings.CutPrefix(string(path), api.VideoJobs); ok {
				return h.videoJob(id)
			}
			if known, err := h.health(string(path)); known {
				return err
			}
		}
	}
	method := string(head.Method)
	if allowed := h.allowedMethod(); allowed == "" {
		return h.refuse(notFound("no such route: " + method + " " + string(path)))
	} else if method != allowed && (method != http.MethodHead || allowed != http.MethodGet) {
		return h.refuse(&httpd.Error{Status: http.StatusMethodNotAllowed, Message: string(path) + " takes " + allowed})
	}
	if at, ok := h.srv.exporter.Find(path, h.conn.Port); ok {
		return h.scrape(at)
	}
	if i := slices.Index(hookPaths[:], string(path)); i >= 0 {
		n := h.srv.hooks[i].Add(1)
		return h.sendText(`{"status":"ok","count":` + strconv.FormatInt(n, 10) + `}`)
	}
	switch string(path) {
	case "/v1/models":
		return h.models()
	case "/health":
		return h.sendText(`{"status":"healthy"}`)
	}
	return h.sendText(`{"name":"aiperf mock-server","status":"running"}`)
}

// allowedMethod returns what the route of the request takes, "" for no route.
func (h *handler) allowedMethod() string {
	path := h.conn.Head.Path
	if _, ok := h.srv.exporter.Find(path, h.conn.Port); ok {
		return http.MethodGet
	}
	if h.conn.Port != "" {
		return ""
	}
	if _, ok := api.At(path); ok || slices.Contains(hookPaths[:], string(path)) {
		return http.MethodPost
	}
	switch string(path) {
	case "/", "/health", "/v1/models":
		return http.MethodGet
	}
	return ""
}

func notFound(message string) *httpd.Error {
	return &httpd.Error{Status: http.StatusNotFound, Message: message}
}

func (h *handler) sendText(json string) error {
	return h.send(http.StatusOK, api.JSONType, []byte(json))
}

// models lists the models; requests may name others.
func (h *handler) models() error {
	s := h.srv
	if err := s.authorize(h); err != nil {
		return h.refuse(err)
	}
	if s.opts.DisableModels {
		return h.refuse(notFound("the models endpoint is disabled"))
	}
	if err := s.ready(s.opts.ModelsReadyDelay); err != nil {
		return h.refuse(err)
	}
	h.text = s.generator.AppendModels(h.text[:0], s.opts.Models)
	return h.send(http.StatusOK, api.JSONType, h.text)
}

// health answers the open inference protocol's requests for liveness and readiness and for the inputs of a model, if the
// path is one of them.
func (h *handler) health(path string) (known bool, err error) {
	s := h.srv
	question, model := api.OIPQuestion(path)
	switch {
	case path == "/v2/health/live":
		return true, h.sendText("{}")
	case !model && path != "/v2/health/ready":
		return false, nil
	}
	if refusal := s.authorize(h); refusal != nil {
		return true, h.refuse(refusal)
	}
	delay := s.opts.InferReadyDelay
	if model {
		delay = max(delay, s.opts.ModelsReadyDelay)
		name := api.OIPModel(path)
		if names := s.opts.Models; s.opts.DisableModels || len(names) > 0 && !slices.Contains(names, name) &&
			!slices.Contains(names, api.DefaultModel) {
			return true, h.refuse(notFound("no such model: " + name))
		}
	}
	if refusal := s.ready(delay); refusal != nil {
		return true, h.refuse(refusal)
	}
	switch m := api.OIPInputs(api.OIPModel(path)); {
	case model && question == "":
		return true, h.sendText(string(m.AppendMetadataJSON(nil)))
	case model && question == api.OIPConfig:
		return true, h.sendText(string(m.AppendConfigJSON(nil)))
	}
	return true, h.sendText("{}")
}

// videoJob answers a request for the state of a job, or for its video.
func (h *handler) videoJob(id string) error {
	s := h.srv
	if err := s.authorize(h); err != nil {
		return h.refuse(err)
	}
	id, content := strings.CutSuffix(id, "/content")
	job, ok := api.ParseVideoJob(id)
	switch {
	case !ok:
		return h.refuse(notFound("no such video: " + id))
	case content && s.clock.NowNS() < job.Ready:
		return h.refuse(notFound("the video is not ready"))
	case content:
		return h.send(http.StatusOK, "video/mp4", []byte("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"))
	}
	h.text = s.generator.AppendVideoJob(h.text[:0], job)
	return h.send(http.StatusOK, api.JSONType, h.text)
}

// admit returns the refusal of an inference without the key, or before the server is ready.
func (s *Server) admit(h *handler) *httpd.Error {
	if err := s.authorize(h); err != nil {
		return err
	}
	return s.ready(s.opts.InferReadyDelay)
}

func (s *Server) authorize(h *handler) *httpd.Error {
	if s.opts.APIKey == "" {
		return nil
	}
	given := h.fields.credential
	if len(given) > len("bearer ") && httpd.EqualFold(given[:len("bearer ")], "bearer ") {
		given = given[len("bearer "):]
	}
	if subtle.ConstantTimeCompare(given, []byte(s.opts.APIKey)) != 1 {
		return &httpd.Error{Status: http.StatusUnauthorized, Message: "the API key is missing or wrong"}
	}
	return nil
}

func (s *Server) ready(delay time.Duration) *httpd.Error {
	if delay > 0 && s.clock.NowNS() < int64(delay) {
		return &httpd.Error{Status: http.StatusServiceUnavailable, Message: "the server is still starting"}
	}
	return nil
}
