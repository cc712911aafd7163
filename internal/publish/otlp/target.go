package otlp

import (
	"encoding/base64"
	"maps"
	"net"
	"net/url"
	"strings"

	"aiperf/internal/base/artifact"
)

// The ports of collectors.
const (
	portHTTP = "4318"
	portGRPC = "4317"
)

// metricsPath is where OTLP over HTTP takes metrics.
const metricsPath = "/v1/metrics"

// collector is where metrics go: the address, the protocol and the headers.
type collector struct {
	grpc, secure bool
	// address is host:port, path begins with a slash and belongs to HTTP.
	address, path string
	headers       map[string]string
	password      string
}

// newTarget returns the collector of an address as the user wrote it. Defaults: the protocol of the environment or else
// HTTP, the port of the protocol (443 for https), the path of OTLP metrics.
func newTarget(u *url.URL, e *Environment) collector {
	t := collector{grpc: strings.HasPrefix(u.Scheme, "grpc"), secure: strings.HasSuffix(u.Scheme, "s"),
		headers: maps.Clone(e.headers)}
	if !t.grpc && e.grpc {
		t.grpc = true
	}
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	case t.grpc:
		port = portGRPC
	default:
		port = portHTTP
	}
	t.address = net.JoinHostPort(u.Hostname(), port)
	if !t.grpc {
		t.path = strings.TrimRight(u.Path, "/")
		if !strings.HasSuffix(t.path, metricsPath) {
			t.path += metricsPath
		}
	}
	if u.User != nil {
		if t.headers == nil {
			t.headers = map[string]string{}
		}
		t.password, _ = u.User.Password()
		t.headers["authorization"] = "Basic " +
			base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+t.password))
	}
	return t
}

// String returns the collector's address without secrets.
func (t *collector) String() string {
	scheme := map[bool]string{false: "http", true: "grpc"}[t.grpc]
	if t.secure {
		scheme += "s"
	}
	return scheme + "://" + t.address + t.path
}

// url returns the address for metrics over HTTP.
func (t *collector) url() string {
	u := url.URL{Scheme: "http", Host: t.address, Path: t.path}
	if t.secure {
		u.Scheme = "https"
	}
	return u.String()
}

// secrets returns what must not be shown.
func (t *collector) secrets() []string {
	var list []string
	if t.password != "" {
		list = append(list, t.password)
	}
	for name, value := range t.headers {
		if value == "" || name == "user-agent" {
			continue
		}
		list = append(list, value)
		if _, credentials, found := strings.Cut(value, " "); found && artifact.IsSensitiveName(name) {
			list = append(list, credentials)
		}
	}
	return list
}
