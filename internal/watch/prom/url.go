package prom

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"aiperf/internal/base/artifact"
)

// metricsPath is the path that every endpoint ends in.
const metricsPath = "/metrics"

// schemes are the URL schemes that an endpoint may be given with, and the one that is used.
var schemes = [...]struct{ given, used string }{
	{"http://", "http://"}, {"https://", "https://"}, {"grpc://", "http://"}, {"grpcs://", "https://"},
}

// NormalizeURL makes the URL of a metrics page from an address as users give it: without a scheme it is
// http, and the path ends in /metrics. The same endpoint in different spelling gives the same URL.
func NormalizeURL(raw string) (string, error) {
	rest := strings.TrimSpace(raw)
	if rest == "" {
		return "", errors.New("metrics endpoint is empty: give HOST:PORT or a URL")
	}
	scheme := "http://"
	if i := strings.Index(rest, "://"); i >= 0 && !strings.ContainsAny(rest[:i], "/?#@") {
		scheme = ""
		for _, s := range schemes {
			if strings.EqualFold(rest[:i+3], s.given) {
				scheme = s.used
			}
		}
		if scheme == "" {
			return "", fmt.Errorf("metrics endpoint %q: scheme must be http or https", RedactURL(rest))
		}
		rest = rest[i+3:]
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, asked := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	if path = strings.TrimRight("/"+path, "/"); !strings.HasSuffix(path, metricsPath) {
		path += metricsPath
	}
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		authority = authority[:at] + strings.ToLower(authority[at:])
	} else {
		authority = strings.ToLower(authority)
	}
	normal := scheme + authority + path
	if asked {
		normal += "?" + query
	}
	u, err := url.Parse(normal)
	if err != nil || u.Hostname() == "" || strings.ContainsAny(normal, " \t\r\n") {
		return "", fmt.Errorf("metrics endpoint %q is not a URL: give HOST:PORT or http://HOST:PORT/PATH",
			RedactURL(strings.TrimSpace(raw)))
	}
	return normal, nil
}

// RedactURL hides the user information and the sensitive query parameters of a URL, which may lack its
// scheme, and leaves the rest as it is. It also works on text that is not a valid URL.
func RedactURL(raw string) string { return artifact.RedactAddress(raw) }

// Display returns an endpoint as it stands in tables: redacted, without scheme and without /metrics at the
// end of its path.
func Display(endpoint string) string {
	s := RedactURL(endpoint)
	if i := strings.Index(s, "://"); i >= 0 {
		s = s[i+3:]
	}
	s, query, asked := strings.Cut(s, "?")
	if s = strings.TrimSuffix(s, metricsPath); asked {
		s += "?" + query
	}
	return s
}
