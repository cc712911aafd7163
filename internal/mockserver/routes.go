package mockserver

import (
	"crypto/subtle"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// hookPaths are the control hooks of inference servers; here they only count.
var hookPaths = [...]string{"/reset_prefix_cache", "/flush_cache", "/start_profile", "/stop_profile"}

// dispatch answers the request that was read. A non-nil error ends the connection.
func (c *conn) dispatch(body []byte) error {
	c.x.begin()
	for i := range apis {
		if string(c.head.path) == apis[i].path && string(c.head.method) == http.MethodPost && c.port == "" {
			return c.infer(api(i), body)
		}
	}
	path, method := string(c.head.path), string(c.head.method)
	if method == http.MethodPost && c.port == "" && isInfer(path) {
		return c.infer(apiInfer, body)
	}
	if method == http.MethodGet && c.port == "" {
		if known, err := c.oipGet(path); known {
			return err
		}
	}
	if strings.HasPrefix(path, videoJobs) && method == http.MethodGet && c.port == "" {
		return c.videoJob(strings.TrimPrefix(path, videoJobs))
	}
	if allowed := c.allowedMethods(); allowed == "" {
		return c.refuse(&httpError{http.StatusNotFound, "no such route: " + method + " " + path})
	} else if method != allowed && (method != http.MethodHead || allowed != http.MethodGet) {
		return c.refuse(&httpError{http.StatusMethodNotAllowed, path + " takes " + allowed})
	}
	if at, ok := c.srv.exporter.find(c.head.path, c.port); ok {
		return c.scrape(at)
	}
	for i := range hookPaths {
		if path == hookPaths[i] {
			n := c.srv.hooks[i].Add(1)
			return c.sendText(`{"status":"ok","count":` + strconv.FormatInt(n, 10) + `}`)
		}
	}
	switch path {
	case "/v1/models":
		return c.models()
	case "/health":
		return c.sendText(`{"status":"healthy"}`)
	}
	return c.sendText(`{"name":"aiperf mock-server","status":"running"}`)
}

// allowedMethods is what the route of the request takes, "" for no route.
func (c *conn) allowedMethods() string {
	path := c.head.path
	if _, ok := c.srv.exporter.find(path, c.port); ok {
		return http.MethodGet
	}
	if c.port != "" {
		return ""
	}
	for i := range apis {
		if string(path) == apis[i].path {
			return http.MethodPost
		}
	}
	if isInfer(string(path)) {
		return http.MethodPost
	}
	for i := range hookPaths {
		if string(path) == hookPaths[i] {
			return http.MethodPost
		}
	}
	switch string(path) {
	case "/", "/health", "/v1/models":
		return http.MethodGet
	}
	return ""
}

func (c *conn) sendText(json string) error { return c.send(http.StatusOK, jsonType, []byte(json)) }

// models lists the models; requests may name others.
func (c *conn) models() error {
	s := c.srv
	if err := s.authorize(c); err != nil {
		return c.refuse(err)
	}
	if s.opts.DisableModels {
		return c.refuse(&httpError{http.StatusNotFound, "the models endpoint is disabled"})
	}
	if err := s.ready(s.opts.ModelsReadyDelay); err != nil {
		return c.refuse(err)
	}
	names := s.opts.Models
	if len(names) == 0 {
		names = []string{strings.Trim(defaultModel, `"`)}
	}
	b := append(c.text[:0], `{"object":"list","data":[`...)
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"id":`...)
		b = appendJSONString(b, name)
		b = append(b, `,"object":"model","created":`...)
		b = strconv.AppendInt(b, s.clock.WallNS(1)/int64(time.Second), 10)
		b = append(b, `,"owned_by":"aiperf"}`...)
	}
	c.text = append(b, `]}`...)
	return c.send(http.StatusOK, jsonType, c.text)
}

// admit refuses inference without the key, or before the server is ready.
func (s *Server) admit(c *conn) *httpError {
	if err := s.authorize(c); err != nil {
		return err
	}
	return s.ready(s.opts.InferReadyDelay)
}

func (s *Server) authorize(c *conn) *httpError {
	if s.opts.APIKey == "" {
		return nil
	}
	given := c.head.credential
	if len(given) > len("bearer ") && equalFold(given[:len("bearer ")], "bearer ") {
		given = given[len("bearer "):]
	}
	if subtle.ConstantTimeCompare(given, []byte(s.opts.APIKey)) != 1 {
		return &httpError{http.StatusUnauthorized, "the API key is missing or wrong"}
	}
	return nil
}

func (s *Server) ready(delay time.Duration) *httpError {
	if delay > 0 && s.clock.NowNS() < int64(delay) {
		return &httpError{http.StatusServiceUnavailable, "the server is still starting"}
	}
	return nil
}
