package collect

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestTrapJSONWithoutFallbackWarnsOnce(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{"/metrics": jsonPage})
	r := newRig(t, Options{URLs: []string{s.URL}}, nil)
	ctx := context.Background()
	if !r.Probe(ctx) {
		t.Fatal("the endpoint answers")
	}
	s.requests()
	r.Baseline(ctx)
	r.Start()
	for range 3 {
		r.scrapeOnce()
	}
	r.Finish(ctx)
	if got := s.requests(); len(got) != 2 || got["/metrics"] != 1 || got["/prometheus/metrics"] != 1 {
		t.Errorf("asked %v", got)
	}
	u, v := s.URL+"/metrics", s.URL+"/prometheus/metrics"
	warnings := r.log.warnings()
	if len(warnings) != 1 {
		t.Fatalf("warnings %q", warnings)
	}
	for _, part := range []string{"WARN Disabling server metrics collection for " + u + ": ", v, "404",
		"return_perf_metrics: true", "extra_llm_api_options.yaml",
		". To suppress this warning, pass --no-server-metrics."} {
		if !strings.Contains(warnings[0], part) {
			t.Errorf("%q lacks %q", warnings[0], part)
		}
	}
	if got := r.log.with("INFO Endpoint '" + u + "' returned non-Prometheus content; probing fallback '" + v +
		"' (TRT-LLM compatibility path)."); len(got) != 1 {
		t.Errorf("log %q", r.log.lines)
	}
	if len(r.Store().Endpoints()) != 0 || len(r.Successful()) != 0 {
		t.Error("the endpoint delivered nothing")
	}
	if errs := r.Errors(); len(errs) != 1 || errs[0].Count != 1 || errs[0].Type != "IncompatibleMetricsEndpointError" {
		t.Errorf("errors %v", errs)
	}
}

func TestFallbackReplacesTheEndpoint(t *testing.T) {
	for name, fallback := range map[string]string{"with metrics": metricsText, "still empty": ""} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, map[string]http.HandlerFunc{"/metrics": jsonPage, "/prometheus/metrics": text(fallback)})
			u, v := s.URL+"/metrics", s.URL+"/prometheus/metrics"
			r := newRig(t, Options{URLs: []string{s.URL}}, nil)
			r.Baseline(context.Background())
			s.set("/prometheus/metrics", text(metricsText))
			r.scrapeOnce()
			r.scrapeOnce()
			if got := s.requests(); got["/metrics"] != 1 || got["/prometheus/metrics"] != 3 {
				t.Errorf("asked %v", got)
			}
			if got := r.log.with("INFO Prometheus fallback succeeded; collector swapped to '" + v +
				"'."); len(got) != 1 || len(r.log.warnings()) != 0 {
				t.Errorf("log %q", r.log.lines)
			}
			if !slices.Equal(r.Configured(), []string{u}) || !slices.Equal(r.Successful(), []string{v}) {
				t.Errorf("configured %v, successful %v", r.Configured(), r.Successful())
			}
			kept := len(strings.Fields(fallback)) / 6 // the page of the fallback itself counts
			if got := r.values(v); len(got) != 2+kept || len(r.Errors()) != 0 {
				t.Errorf("values %v, errors %v", got, r.Errors())
			}
			if stored := r.Store().Endpoints(); len(stored) != 1 || stored[0].URL() != v ||
				stored[0].Info().UniqueUpdates != 1 {
				t.Errorf("stored %v", stored)
			}
		})
	}
}

func TestPageThatIsNoPrometheusIsShown(t *testing.T) {
	for _, c := range []struct{ name, path, body, want string }{
		{"HTML with a fallback that is HTML", "/metrics", "<html>\n\tx</html>", `body sample: '<html>\n\tx</html>'`},
		{"no fallback path", "/prometheus/metrics", "<html>", "body sample: '<html>'"},
		{"binary", "/prometheus/metrics", "\x00\xff\x01", "body sample: '\uFFFD\uFFFD\uFFFD'"},
		{"long", "/prometheus/metrics", "<" + strings.Repeat("é", 300),
			"body sample: '<" + strings.Repeat("é", 199) + "'"},
		{"JSON", "/prometheus/metrics", "{}", "endpoint did not return valid Prometheus exposition format (line 1: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			page := typed("text/html", c.body)
			s := newSite(t, map[string]http.HandlerFunc{"/metrics": page, "/prometheus/metrics": page})
			r := newRig(t, Options{Extra: []string{s.URL + c.path}}, nil)
			r.scrapeOnce()
			r.scrapeOnce()
			warnings := r.log.warnings()
			if len(warnings) != 1 || !strings.Contains(warnings[0], c.want) || strings.Contains(warnings[0], "\n") {
				t.Errorf("warnings %q, want %q", warnings, c.want)
			}
			if got := s.requests()[c.path]; got != 1 {
				t.Errorf("%d requests", got)
			}
		})
	}
}

func TestFallbackThatIsCollectedAlreadyIsNotCollectedTwice(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{"/metrics": jsonPage, "/prometheus/metrics": text(metricsText)})
	r := newRig(t, Options{URLs: []string{s.URL}, Extra: []string{s.URL + "/prometheus/metrics"}}, nil)
	r.Baseline(context.Background())
	r.scrapeOnce()
	if got := s.requests(); got["/metrics"] != 1 || got["/prometheus/metrics"] != 2 {
		t.Errorf("asked %v", got)
	}
	if len(r.log.warnings()) != 0 || len(r.Successful()) != 1 || len(r.Configured()) != 2 {
		t.Errorf("log %q, successful %v", r.log.lines, r.Successful())
	}
}
