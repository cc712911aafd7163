package parse

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/config/fault"
)

// otelSchemes are those that --otel-url takes; none is http, unless the environment says otherwise.
var otelSchemes = []string{"http", "https", "grpc", "grpcs"}

// OTelURL reads a host, host:port or URL.
func OTelURL(text string) (*url.URL, error) {
	full := text
	if !Schemed.MatchString(text) {
		full = "//" + text
	}
	u, err := url.Parse(full)
	if err != nil { // the parser's own error would repeat the URL, secrets included
		return nil, errors.New("this is not a URL; write host, host:port or http://host:port")
	}
	u.Scheme = strings.ToLower(u.Scheme)
	switch {
	case u.Scheme != "" && !slices.Contains(otelSchemes, u.Scheme):
		return nil, fmt.Errorf("the scheme must be http or https, or grpc or grpcs for OTLP over gRPC")
	case u.Hostname() == "":
		return nil, errors.New("there is no host; write host, host:port or http://host:port")
	case !inPortRange(u.Port()):
		return nil, errors.New("the port must be a number from 1 to 65535")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("a query or fragment cannot be used; put credentials into OTEL_EXPORTER_OTLP_HEADERS")
	case strings.HasPrefix(u.Scheme, "grpc") && strings.Trim(u.Path, "/") != "":
		return nil, errors.New("OTLP over gRPC has no path; leave it out")
	}
	return u, nil
}

// Attributes reads items of key=value; an item may have several, separated by commas. A later one of the same name
// wins.
func Attributes(items []string) ([]config.Attribute, error) {
	var list []config.Attribute
next:
	for _, item := range items {
		name, value, found := strings.Cut(item, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !found || name == "" {
			return nil, fmt.Errorf("%s: each item must be in key=value format", fault.Shorten(item))
		}
		for i := range list {
			if list[i].Name == name {
				list[i].Value = value
				continue next
			}
		}
		list = append(list, config.Attribute{Name: name, Value: value})
	}
	return list, nil
}
