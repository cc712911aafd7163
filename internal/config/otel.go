package config

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
)

// OTel says where the run's figures are pushed as OpenTelemetry metrics.
type OTel struct {
	// URL is nil when nothing is pushed. Its scheme is http, https, grpc or grpcs, or empty where the user gave none;
	// it may hold user information.
	URL *url.URL
	// Metrics asks for the figures of requests, Timing for those of the load.
	Metrics, Timing bool
	// Attributes describe the run to the collector, unique by name.
	Attributes []Attribute
	// Provider is the name of who serves the model, "" = found by the host.
	Provider string
}

// Attribute is a name and a value.
type Attribute struct{ Name, Value string }

// otelSchemes are those that --otel-url takes; none is http, unless the environment says otherwise.
var otelSchemes = []string{"http", "https", "grpc", "grpcs"}

// parseOTelURL reads a host, host:port or URL.
func parseOTelURL(text string) (*url.URL, error) {
	full := text
	if !schemed.MatchString(text) {
		full = "//" + text
	}
	u, err := url.Parse(full)
	if err != nil { // the parser's own error would repeat the URL, secrets included
		return nil, errors.New("this is not a URL; write host, host:port or http://host:port")
	}
	u.Scheme = strings.ToLower(u.Scheme)
	port, err := strconv.Atoi(u.Port())
	switch {
	case u.Scheme != "" && !slices.Contains(otelSchemes, u.Scheme):
		return nil, fmt.Errorf("the scheme must be http or https, or grpc or grpcs for OTLP over gRPC")
	case u.Hostname() == "":
		return nil, errors.New("there is no host; write host, host:port or http://host:port")
	case u.Port() != "" && (err != nil || port < 1 || port > 65535):
		return nil, errors.New("the port must be a number from 1 to 65535")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("a query or fragment cannot be used; put credentials into OTEL_EXPORTER_OTLP_HEADERS")
	case strings.HasPrefix(u.Scheme, "grpc") && strings.Trim(u.Path, "/") != "":
		return nil, errors.New("OTLP over gRPC has no path; leave it out")
	}
	return u, nil
}

// parseAttributes reads items of key=value; several may stand in one, separated by commas. A later one of the same name
// wins.
func parseAttributes(items []string) ([]Attribute, error) {
	var list []Attribute
next:
	for _, item := range items {
		name, value, found := strings.Cut(item, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !found || name == "" {
			return nil, fmt.Errorf("%s: each item must be in key=value format", shorten(item))
		}
		for i := range list {
			if list[i].Name == name {
				list[i].Value = value
				continue next
			}
		}
		list = append(list, Attribute{name, value})
	}
	return list, nil
}

// checkOTel checks the options of the stream of OpenTelemetry metrics.
func (d *draft) checkOTel() {
	if d.given("otel-url") {
		text := d.p.Text("otel-url")
		if _, err := parseOTelURL(text); err != nil {
			d.fault("", "%s %s: %v", d.flag("otel-url"), shorten(artifact.RedactAddress(text)), err)
		}
	}
	if d.given("otel-resource-attributes") {
		if _, err := parseAttributes(d.p.Texts("otel-resource-attributes")); err != nil {
			d.fault("", "%s: %v", d.flag("otel-resource-attributes"), err)
		}
	}
	if d.given("gen-ai-provider") && strings.TrimSpace(d.p.Text("gen-ai-provider")) == "" {
		d.fault("", "%s is empty; leave it out to have the provider found by the host", d.flag("gen-ai-provider"))
	}
}

func (d *draft) otel() OTel {
	if !d.given("otel-url") {
		return OTel{}
	}
	o := OTel{Provider: strings.TrimSpace(d.p.Text("gen-ai-provider"))}
	o.URL, _ = parseOTelURL(d.p.Text("otel-url"))                            // checked before
	o.Attributes, _ = parseAttributes(d.p.Texts("otel-resource-attributes")) // checked before
	streams := d.p.Texts("stream")
	everything := len(streams) == 0 || slices.Contains(streams, "default")
	o.Metrics = everything || slices.Contains(streams, "metrics")
	o.Timing = everything || slices.Contains(streams, "timing")
	return o
}

// otelConfig is the part of the configuration that exports carry.
func otelConfig(r *Run) Object {
	o := r.OTel
	if o.URL == nil {
		return nil
	}
	out := Object{{Key: "metrics_url", Value: artifact.RedactAddress(strings.TrimPrefix(o.URL.String(), "//"))}}
	out = addGiven(out, r.parsed, "stream", "stream_metrics_enabled", o.Metrics)
	out = addGiven(out, r.parsed, "stream", "stream_timing_enabled", o.Timing)
	if len(o.Attributes) > 0 {
		attributes := Object{}
		for _, a := range o.Attributes {
			attributes = append(attributes, Member{Key: a.Name, Value: a.Value})
		}
		out = append(out, Member{Key: "custom_resource_attributes", Value: artifact.HideSensitive(attributes)})
	}
	return addGiven(out, r.parsed, "gen-ai-provider", "gen_ai_provider", o.Provider)
}
