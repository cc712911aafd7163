package collect

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestEndpointsAreNormalisedInOrder(t *testing.T) {
	r := newRig(t, Options{
		URLs:  []string{"localhost:8000", "http://localhost:8000/", "https://user:pw@h/v1"},
		Extra: []string{"http://localhost:8000/metrics", "localhost:8081", "h:9/x?token=abc"},
	}, nil)
	want := []string{
		"http://localhost:8000/metrics", "https://<redacted>@h/v1/metrics",
		"http://localhost:8081/metrics", "http://h:9/x/metrics?token=<redacted>",
	}
	if got := r.Configured(); !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestTrapSameEndpointInDifferentSpellingIsScrapedOnce(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{"/metrics": text("a 1\n")})
	host := strings.TrimPrefix(s.URL, "http://")
	r := newRig(t, Options{URLs: []string{s.URL},
		Extra: []string{host, s.URL + "/", s.URL + "/metrics///", "HTTP://" + host + "/metrics"}}, nil)
	r.Probe(context.Background())
	s.requests()
	r.scrapeOnce()
	if got := s.requests()["/metrics"]; got != 1 || len(r.Configured()) != 1 {
		t.Errorf("%d requests, endpoints %v", got, r.Configured())
	}
}

func TestInvalidOptionsAreNamed(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"no URL", Options{Extra: []string{"nonsense"}}, "Invalid server metrics endpoint: nonsense"},
		{"other scheme", Options{Extra: []string{"ftp://h"}}, "Invalid server metrics endpoint: ftp://h"},
		{"empty", Options{Extra: []string{" "}}, "Invalid server metrics endpoint: "},
		{"URL", Options{URLs: []string{"http://:8000"}}, `"http://:8000"`},
		{"secret", Options{Extra: []string{"ftp://me:pw@h"}}, "ftp://<redacted>@h"},
		{"mode", Options{Discovery: Discovery{Mode: "maybe"}}, `discovery mode "maybe"`},
		{"selector without discovery", Options{Discovery: Discovery{Mode: Disabled, LabelSelector: "app=x"}},
			"label_selector"},
		{"namespace without discovery", Options{Discovery: Discovery{Mode: Disabled, Namespace: "n"}}, "namespace"},
	} {
		_, err := New(c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "pw") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestAddressAsGiven(t *testing.T) {
	for raw, want := range map[string]string{
		"h:9090/stats":            "http://h:9090/stats",
		"HTTPS://H/a/b/?x=1#frag": "https://h/a/b/?x=1",
		"grpc://h/x":              "http://h/x",
		"http://h/federate?m=a/b": "http://h/federate?m=a/b",
		"http://u:p@h/stats":      "http://u:p@h/stats",
		"http://h/metrics/":       "",
		"http://h/a/metrics?x=/y": "",
		"http://h///":             "",
		"http://h?x=/stats":       "",
		"h:8000":                  "",
	} {
		e, err := extraEndpoint(raw)
		if err != nil || strings.Join(e.others, " ") != want {
			t.Errorf("%s: got %q, want %q (%v)", raw, e.others, want, err)
		}
	}
}

func TestFallbackPath(t *testing.T) {
	for from, want := range map[string]string{
		"http://h/metrics":            "http://h/prometheus/metrics",
		"http://h/v1/metrics?k=1":     "http://h/v1/prometheus/metrics?k=1",
		"http://h/prometheus/metrics": "",
		"http://h/stats":              "",
		"http://h/stats?x=/metrics":   "",
	} {
		if got := fallbackOf(from); got != want {
			t.Errorf("%s: got %q, want %q", from, got, want)
		}
	}
}
