package collect

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
)

const metricsText = "# TYPE a gauge\na 1\n"

func TestProbeTellsWhatIsReachable(t *testing.T) {
	up := newSite(t, map[string]http.HandlerFunc{"/metrics": text(metricsText),
		"/old/metrics": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/metrics", http.StatusFound)
		}})
	down := newSite(t, nil)
	u, old, d := up.URL+"/metrics", up.URL+"/old/metrics", down.URL+"/metrics"

	r := newRig(t, Options{URLs: []string{up.URL, down.URL}, Extra: []string{old}}, nil)
	if !r.Probe(context.Background()) {
		t.Error("two endpoints answer")
	}
	want := []string{
		"INFO Server Metrics: Discovered 3 endpoints: [" + u + ", " + d + ", " + old + "]",
		"INFO Server metrics enabled - 2/3 endpoint(s) reachable.",
		"WARN Unreachable endpoints: " + d + " (answered with status 404 Not Found)",
	}
	if !slices.Equal(r.log.lines, want) {
		t.Errorf("log %q", r.log.lines)
	}
	if got := r.Successful(); !slices.Equal(got, []string{u, old}) {
		t.Errorf("successful %v", got)
	}
	down.requests()
	r.scrapeOnce()
	if got := down.requests(); len(got) != 0 {
		t.Errorf("an unreachable endpoint was asked again: %v", got)
	}
}

func TestProbeOfNothingReachable(t *testing.T) {
	down := newSite(t, nil)
	r := newRig(t, Options{URLs: []string{down.URL}}, nil)
	if r.Probe(context.Background()) {
		t.Error("no endpoint answers")
	}
	r.Baseline(context.Background())
	r.Start()
	r.scrapeOnce()
	r.Finish(context.Background())
	if got := r.log.lines[len(r.log.lines)-1]; !strings.HasPrefix(got,
		"INFO Server metrics disabled - no Prometheus endpoints reachable: "+down.URL+"/metrics (") ||
		!strings.Contains(got, "404") || len(r.log.warnings()) != 0 {
		t.Errorf("log %q", r.log.lines)
	}
	if got := down.requests()["/metrics"]; got != 1 {
		t.Errorf("%d requests", got)
	}
	if len(r.Successful()) != 0 || len(r.Store().Endpoints()) != 0 {
		t.Error("nothing was successful")
	}
}

func TestAddressIsTakenAsGivenWhereOnlyThatHasMetrics(t *testing.T) {
	html := typed("text/html", "<html></html>")
	for _, c := range []struct {
		name               string
		normalised, stats  http.HandlerFunc
		swapped, reachable bool
		asked              int // times the address as given was asked for
	}{
		{"normalised unreachable", nil, text(metricsText), true, true, 1},
		{"normalised is HTML", html, text(metricsText), true, true, 1},
		{"normalised is JSON", jsonPage, text(metricsText), true, true, 1},
		{"normalised has metrics", text(metricsText), text(metricsText), false, true, 0},
		{"normalised is empty", text(""), text(metricsText), false, true, 0},
		{"given has no TYPE line", html, text("a 1\n# HELP a TYPE\n"), false, true, 1},
		{"given is JSON", jsonPage, jsonPage, false, true, 1},
		{"neither answers", nil, nil, false, false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, map[string]http.HandlerFunc{"/stats/metrics": c.normalised, "/stats": c.stats})
			r := newRig(t, Options{Extra: []string{s.URL + "/stats?x=1"}}, nil)
			normal, given := s.URL+"/stats/metrics?x=1", s.URL+"/stats?x=1"
			if got := r.Probe(context.Background()); got != c.reachable {
				t.Errorf("reachable %v", got)
			}
			want := normal
			if c.swapped {
				want = given
			}
			if got := r.Configured(); !slices.Equal(got, []string{want}) {
				t.Errorf("configured %v", got)
			}
			asked := s.requests()
			if asked["/stats?x=1"] != c.asked || asked["/stats/metrics?x=1"] != 1 {
				t.Errorf("asked %v", asked)
			}
			if lines := r.log.with("using '" + given + "'."); (len(lines) == 1) != c.swapped {
				t.Errorf("log %q", r.log.lines)
			}
			if !c.swapped {
				return
			}
			r.scrapeOnce()
			if got := s.requests(); len(got) != 1 || got["/stats?x=1"] != 1 || len(r.sink.all()) != 1 ||
				r.sink.all()[0].URL != given {
				t.Errorf("asked %v, kept %v", got, r.sink.all())
			}
		})
	}
}

// The base URL of OpenAI clients ends in /v1, and some users give the whole endpoint: the page of the origin is found.
func TestMetricsOfTheOriginAreFound(t *testing.T) {
	html := typed("text/html", "<html></html>")
	for _, c := range []struct {
		name, path  string
		first, root http.HandlerFunc
		want        string
		reachable   bool
	}{
		{"base URL", "/v1", nil, text(metricsText), "/metrics", true},
		{"base URL with a slash", "/v1/", nil, text(metricsText), "/metrics", true},
		{"whole endpoint", "/v1/chat/completions", nil, text(metricsText), "/metrics", true},
		{"any path is a page of HTML", "/v1", html, text(metricsText), "/metrics", true},
		{"proxy with a page of its own", "/v1", text(metricsText), text(metricsText), "/v1/metrics", true},
		{"none anywhere", "/v1", nil, nil, "/v1/metrics", false},
		{"HTML everywhere", "/v1", nil, html, "/v1/metrics", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := strings.TrimRight(c.path, "/")
			s := newSite(t, map[string]http.HandlerFunc{base + "/metrics": c.first, "/metrics": c.root,
				base: text(metricsText)})
			r := newRig(t, Options{URLs: []string{s.URL + c.path}}, nil)
			if got := r.Probe(context.Background()); got != c.reachable {
				t.Errorf("reachable %t", got)
			}
			if got := r.Configured(); !slices.Equal(got, []string{s.URL + c.want}) {
				t.Errorf("configured %v", got)
			}
			if asked := s.requests(); asked[base] != 0 {
				t.Errorf("the address of inference was asked: %v", asked)
			}
		})
	}
}

// Two URLs of one server lead to one page.
func TestMetricsOfTheOriginAreScrapedOnce(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{"/metrics": text(metricsText)})
	r := newRig(t, Options{URLs: []string{s.URL + "/v1", s.URL + "/v1/chat/completions", s.URL}}, nil)
	if !r.Probe(context.Background()) || !slices.Equal(r.Configured(), []string{s.URL + "/metrics"}) {
		t.Errorf("configured %v", r.Configured())
	}
}

// A server that comes up is asked again; one that says that there is no such page is not.
func TestProbeAsksAnExporterOnce(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{"/metrics": func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}})
	r := newRig(t, Options{URLs: []string{s.URL}, Exporters: true}, nil)
	if r.Probe(context.Background()) || s.requests()["/metrics"] != 1 {
		t.Errorf("asked %d times", s.requests()["/metrics"])
	}
}

func TestProbeAsksAServerAgainThatComesUp(t *testing.T) {
	asked := 0
	s := newSite(t, map[string]http.HandlerFunc{"/metrics": func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		text(metricsText)(w, r)
	}})
	r := newRig(t, Options{URLs: []string{s.URL}}, nil)
	if !r.Probe(context.Background()) || s.requests()["/metrics"] != 3 {
		t.Errorf("asked %d times: %q", asked, r.log.lines)
	}
}
