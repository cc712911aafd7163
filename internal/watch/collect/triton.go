package collect

import (
	"bytes"
	"context"
	"net"
	"net/url"
	"strconv"
	"strings"

	"aiperf/internal/watch/prom"
)

// Triton has its metrics page on a port of its own: 8002 beside 8000 for HTTP and 8001 for gRPC, and by custom the same
// distance from other ports.
const (
	tritonPort     = "8002"
	tritonFamilies = "nv_inference_"
)

// callPort reports whether a URL of the run is a port for gRPC, which has no page.
func callPort(raw string) bool {
	scheme, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(raw)), "://")
	return scheme == "grpc" || scheme == "grpcs"
}

// tritonPages returns where the metrics page of a Triton may be whose port for requests is that of the URL.
func tritonPages(raw string) []string {
	distance := 2
	if callPort(raw) {
		distance = 1
	}
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Hostname() == "" {
		return nil
	}
	var ports []string
	if n, err := strconv.Atoi(u.Port()); err == nil && n+distance < 1<<16 {
		ports = append(ports, strconv.Itoa(n+distance))
	}
	if len(ports) == 0 || ports[0] != tritonPort {
		ports = append(ports, tritonPort)
	}
	var pages []string
	for _, port := range ports {
		page := "http://" + net.JoinHostPort(u.Hostname(), port)
		if normal, err := prom.NormalizeURL(page); err == nil {
			pages = append(pages, normal)
		}
	}
	return pages
}

// newCallEndpoint returns the endpoint of a URL for gRPC: the page of a Triton, if one is there. Its absence is not
// worth a warning: nobody named it.
func newCallEndpoint(raw string) *endpoint {
	pages := tritonPages(raw)
	if len(pages) == 0 {
		return nil
	}
	e := newEndpoint(pages[0])
	e.guessed, e.others = true, pages[1:]
	return e
}

// probeTriton finds the page of a Triton that serves a model of the run among some addresses. Another server may have its
// page there.
func (c *Collector) probeTriton(ctx context.Context, pages []string) (at string, err error) {
	for _, page := range pages {
		var text []byte
		if text, err = c.look(ctx, page); err == nil && c.servesModel(text) {
			return page, nil
		}
	}
	return "", err
}

// servesModel reports whether a page is that of a Triton with a model of the run. It has series of each model that is
// loaded.
func (c *Collector) servesModel(page []byte) bool {
	if !bytes.Contains(page, []byte(tritonFamilies)) {
		return false
	}
	for _, model := range c.options.Models {
		if bytes.Contains(page, []byte(`model=`+strconv.Quote(model))) {
			return true
		}
	}
	return false
}
