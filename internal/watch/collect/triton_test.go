package collect

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"aiperf/internal/base/neterr"
	"aiperf/internal/watch/prom"
)

// hosts are pages by their address; at any other nobody listens, or a server that has no page.
type hosts struct {
	pages map[string]string
	none  map[string]bool

	mu    sync.Mutex
	asked []string
}

func (h *hosts) Probe(ctx context.Context, url string) error {
	_, err := h.Fetch(ctx, url, nil)
	return err
}

func (h *hosts) Fetch(_ context.Context, url string, _ []byte) (prom.Body, error) {
	h.mu.Lock()
	h.asked = append(h.asked, url)
	h.mu.Unlock()
	if text, ok := h.pages[url]; ok {
		return prom.Body{Text: []byte(text)}, nil
	}
	if h.none[url] {
		return prom.Body{}, &prom.Error{Code: 404, Message: "404"}
	}
	return prom.Body{}, errors.New(neterr.Connector)
}

func (h *hosts) Close() {}

const tritonPage = "# TYPE nv_inference_count counter\nnv_inference_count{model=\"m\",version=\"1\"} 1\n"

func TestPageOfATriton(t *testing.T) {
	const other = "# TYPE nv_inference_count counter\nnv_inference_count{model=\"x\"} 1\n"
	for _, c := range []struct {
		name, url string
		pages     map[string]string
		triton    bool
		found     string // "" = none
		asked     []string
	}{
		{"on its usual port", "http://h:8000", map[string]string{"http://h:8002/metrics": tritonPage}, true,
			"http://h:8002/metrics", []string{"http://h:8000/metrics", "http://h:8002/metrics"}},
		{"at the usual distance", "http://h:9000/v2", map[string]string{"http://h:9002/metrics": tritonPage}, true,
			"http://h:9002/metrics", nil},
		{"behind another port", "http://h/v2", map[string]string{"http://h:8002/metrics": tritonPage}, true,
			"http://h:8002/metrics", nil},
		{"not for a server that is none", "http://h:8000", map[string]string{"http://h:8002/metrics": tritonPage}, false, "",
			[]string{"http://h:8000/metrics"}},
		{"not of another Triton", "http://h:8000", map[string]string{"http://h:8002/metrics": other}, true, "", nil},
		{"of a port for calls", "grpc://h:8001", map[string]string{"http://h:8002/metrics": tritonPage}, false,
			"http://h:8002/metrics", []string{"http://h:8002/metrics"}},
		{"of a port for calls, at the usual distance", "grpcs://h:9001", map[string]string{"http://h:9002/metrics": tritonPage},
			false, "http://h:9002/metrics", nil},
		{"of another server beside a port for calls", "grpc://h:8001",
			map[string]string{"http://h:8002/metrics": "# TYPE vllm:num_requests_running gauge\n"}, false, "", nil},
		{"none beside a port for calls", "grpc://h:9001", nil, false, "",
			[]string{"http://h:9002/metrics", "http://h:8002/metrics"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &hosts{pages: c.pages, none: map[string]bool{"http://h:8000/metrics": true, "http://h:9000/metrics": true,
				"http://h:9000/v2/metrics": true, "http://h/v2/metrics": true, "http://h/metrics": true}}
			r := newRig(t, Options{URLs: []string{c.url}, Models: []string{"m"},
				IsTriton: func(context.Context, string) bool { return c.triton }}, h)
			if r.Probe(t.Context()) != (c.found != "") {
				t.Fatalf("log %q", r.log.lines)
			}
			want := []string{c.found}
			if c.found == "" {
				want = nil
			}
			if got := r.Successful(); !slices.Equal(got, want) {
				t.Errorf("found %q", got)
			}
			if c.asked != nil && !slices.Equal(h.asked, c.asked) {
				t.Errorf("asked %q", h.asked)
			}
			if w := r.log.warnings(); len(w) > 0 {
				t.Errorf("warnings %q", w)
			}
		})
	}
}

// Where a page was named, that a port for gRPC has none is not worth a word.
func TestPortForCallsBesideANamedPage(t *testing.T) {
	h := &hosts{pages: map[string]string{"http://w:1/metrics": metricsText}}
	r := newRig(t, Options{URLs: []string{"grpc://h:8001"}, Extra: []string{"http://w:1/metrics"}}, h)
	if !r.Probe(t.Context()) || len(r.log.warnings()) > 0 || slices.ContainsFunc(h.asked, func(url string) bool {
		return strings.Contains(url, ":8001")
	}) {
		t.Errorf("asked %q, log %q", h.asked, r.log.lines)
	}
	if got := r.Configured(); !slices.Equal(got, []string{"http://w:1/metrics"}) {
		t.Errorf("configured %q", got)
	}
}

func TestWarningsAboutMissingPages(t *testing.T) {
	for owner, says := range map[string]string{"triton": "8002", RouterOwner: "--prometheus-port",
		"vllm": "own port", "library": "", "nobody": ""} {
		if got := MissingPage(owner); (got == "") != (says == "") || !strings.Contains(got, says) {
			t.Errorf("%s: %q", owner, got)
		}
	}
}
