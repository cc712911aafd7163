package prom_test

import (
	"strings"
	"testing"

	"aiperf/internal/watch/prom"
)

func TestNormalizeURL(t *testing.T) {
	for raw, want := range map[string]string{
		"localhost:8000":                        "http://localhost:8000/metrics",
		"http://h:8000/":                        "http://h:8000/metrics",
		"https://h/v1":                          "https://h/v1/metrics",
		"http://h:8000/metrics///":              "http://h:8000/metrics",
		"h:9090/prometheus/metrics":             "http://h:9090/prometheus/metrics",
		" h ":                                   "http://h/metrics",
		"grpc://h:8001":                         "http://h:8001/metrics",
		"grpcs://h:8001/":                       "https://h:8001/metrics",
		"HTTPS://Host:1/V1":                     "https://host:1/V1/metrics",
		"http://h:1?token=a/b/":                 "http://h:1/metrics?token=a/b/",
		"http://h:1/metrics/?x=1&y=2":           "http://h:1/metrics?x=1&y=2",
		"http://h:1/v1#part":                    "http://h:1/v1/metrics",
		"http://User:Pass@H:1":                  "http://User:Pass@h:1/metrics",
		"http://metrics":                        "http://metrics/metrics",
		"http://h/mymetrics":                    "http://h/mymetrics/metrics",
		"[::1]:8000":                            "http://[::1]:8000/metrics",
		"h:1/redirect?to=https://elsewhere/abc": "http://h:1/redirect/metrics?to=https://elsewhere/abc",
	} {
		if got, err := prom.NormalizeURL(raw); err != nil || got != want {
			t.Errorf("NormalizeURL(%q) = %q, %v; want %q", raw, got, err, want)
		}
	}
}

func TestNormalizeURLRefuses(t *testing.T) {
	for raw, want := range map[string]string{
		"":                            "is empty",
		"  ":                          "is empty",
		"ftp://h":                     `"ftp://h": scheme must be http or https`,
		"http://":                     "is not a URL",
		"http://:8000":                "is not a URL",
		"h:port":                      "is not a URL",
		"a b:1":                       "is not a URL",
		"http://user:hunter2@h:x":     "<redacted>@h:x",
		"ftp://h:1/x?api_key=hunter2": "api_key=<redacted>",
	} {
		_, err := prom.NormalizeURL(raw)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("NormalizeURL(%q): error %v, want one with %q", raw, err, want)
		}
	}
}

func TestTrapSameEndpointInOtherSpelling(t *testing.T) {
	for _, raw := range []string{"localhost:8000", "http://localhost:8000", "http://localhost:8000/",
		"http://localhost:8000/metrics", "grpc://localhost:8000/metrics/", "LOCALHOST:8000"} {
		if got, _ := prom.NormalizeURL(raw); got != "http://localhost:8000/metrics" {
			t.Errorf("NormalizeURL(%q) = %q", raw, got)
		}
	}
}

func TestRedactURL(t *testing.T) {
	for raw, want := range map[string]string{
		"http://h:8000/metrics":              "http://h:8000/metrics",
		"http://user:pw@h:8000/metrics":      "http://<redacted>@h:8000/metrics",
		"user:pw@h:8000":                     "<redacted>@h:8000",
		"http://a@b@h/x@y":                   "http://<redacted>@h/x@y",
		"http://h/metrics?x=1&Api_Key=2&y=3": "http://h/metrics?x=1&Api_Key=<redacted>&y=3",
		"http://h/?access_token=a&sig=b&signature=c": "http://h/?access_token=<redacted>&sig=<redacted>&" +
			"signature=<redacted>",
		"http://h/?secret=a;password=b&X-Amz-Credential=c#d": "http://h/?secret=<redacted>;password=<redacted>&" +
			"X-Amz-Credential=<redacted>#d",
		"http://h/?to%6ben=a&design=b": "http://h/?to%6ben=<redacted>&design=b",
		"http://h/?token&token=":       "http://h/?token&token=",
	} {
		if got := prom.RedactURL(raw); got != want {
			t.Errorf("RedactURL(%q) = %q, want %q", raw, got, want)
		}
	}
}

func TestDisplay(t *testing.T) {
	for endpoint, want := range map[string]string{
		"http://localhost:8000/metrics":          "localhost:8000",
		"https://h:8000/v1/metrics":              "h:8000/v1",
		"http://h:8000/prometheus/metrics":       "h:8000/prometheus",
		"http://u:p@h:8000/metrics?x=1&token=ab": "<redacted>@h:8000?x=1&token=<redacted>",
		"http://metrics/metrics":                 "metrics",
	} {
		if got := prom.Display(endpoint); got != want {
			t.Errorf("Display(%q) = %q, want %q", endpoint, got, want)
		}
	}
}
