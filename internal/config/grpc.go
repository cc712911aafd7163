package config

import (
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/wire/api"
)

// schemeOf is the scheme of a URL as the user wrote it, in lower case.
func schemeOf(text string) string {
	scheme, _, _ := strings.Cut(withScheme(text), "://")
	return strings.ToLower(scheme)
}

func isGRPC(text string) bool { s := schemeOf(text); return s == "grpc" || s == "grpcs" }

// checkGRPC looks at what goes over gRPC. Schemes are not mixed: one transport carries a run.
func (d *draft) checkGRPC() {
	urls := d.p.Texts("url")
	url := d.flag("url")
	if i := slices.IndexFunc(urls, func(u string) bool {
		return isGRPC(u) != d.grpc || d.grpc &&
			schemeOf(u) != schemeOf(urls[0])
	}); i >= 0 {
		d.fault("", "%s: %s and %s in one run: all URLs must have one scheme where gRPC is among them", url,
			schemeOf(urls[0])+"://", schemeOf(urls[i])+"://")
		return
	}
	if d.given("transport") && (d.p.Text("transport") == "grpc") != d.grpc {
		d.fault("", "%s %s: the scheme of %s says otherwise; write grpc://host:port or grpcs://host:port for gRPC",
			d.flag("transport"), d.p.Text("transport"), url)
	}
	if !d.grpc {
		return
	}
	if !d.facts.GRPC {
		carried := typesThat(func(f api.Descriptor) bool { return f.GRPC })
		d.fault("", "%s %s: --endpoint-type %s is not carried by gRPC, only %s are", url, schemeOf(urls[0])+"://",
			d.endpointType, strings.Join(carried, ", "))
	}
	for _, text := range urls {
		if _, rest, _ := strings.Cut(text, "://"); strings.ContainsAny(strings.TrimSuffix(rest, "/"), "/?#") {
			d.fault("", "%s %s: a URL of gRPC is scheme, host and port; the call is the endpoint type's, or "+
				"--custom-endpoint's", url, shorten(artifact.RedactAddress(text)))
		}
	}
	for _, o := range []struct{ flag, why string }{
		{"http2", "gRPC is HTTP/2 already"},
		{"auth-type", "gRPC calls are not signed"},
		{"sagemaker-endpoint-name", "the service speaks HTTP"},
		{"reset-kv-cache", "the hook is an HTTP request"},
		{"server-profiler", "the hook is an HTTP request"},
	} {
		if d.active(o.flag) {
			d.fault("", "%s cannot be used with %s://: %s", d.flag(o.flag), schemeOf(urls[0]), o.why)
		}
	}
	if d.p.Text("timestamp-source") == "kernel" {
		d.fault("", "--timestamp-source kernel cannot be used with %s://: calls share a connection and its stamps",
			schemeOf(urls[0]))
	}
	for _, h := range d.p.Pairs("header") {
		value, _ := h.Value.(string)
		switch {
		case strings.HasSuffix(strings.ToLower(h.Key), "-bin"):
			d.fault("", "%s %s: gRPC keeps names that end in -bin for values that are no text", d.flag("header"),
				shorten(h.Key))
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
			d.fault("", "%s %s: values in gRPC have printable ASCII characters only", d.flag("header"), shorten(h.Key))
		}
	}
}
