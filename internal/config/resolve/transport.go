package resolve

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
	"aiperf/internal/config/parse"
	"aiperf/internal/wire/api"
)

// transport decides how the server is reached.
type transport struct {
	*asked
	endpoint *endpoint
}

// fill fills in how the server is reached.
func (tr *transport) fill(e *config.Endpoint) {
	p := tr.p
	e.GRPC = tr.endpoint.grpc
	e.HTTP2, e.UnixSocket = p.Bool("http2"), p.Text("unix-socket")
	e.TLS = config.TLS{CAFile: p.Text("tls-ca-file"), CertFile: p.Text("tls-client-cert"),
		KeyFile: p.Text("tls-client-key")}
	if tr.endpoint.signs() {
		e.Signing = &config.Signing{Region: p.Text("aws-region"), Service: p.Text("aws-service"),
			Profile: p.Text("aws-profile")}
		if tr.given("api-key") {
			tr.warn("%s is not sent: requests are signed", tr.flag("api-key"))
			e.APIKey = ""
		}
	}
	tr.sageMaker(e)
}

func (tr *transport) checkURLs() {
	urls := tr.p.Texts("url")
	if len(urls) == 0 {
		tr.fault("", "%s needs at least one URL", tr.flag("url"))
	}
	for _, text := range urls {
		if err := parse.CheckURL(parse.WithScheme(text)); err != nil {
			tr.fault("", "%s %s: %v", tr.flag("url"), fault.Shorten(artifact.RedactAddress(text)), err)
		}
	}
}

func (tr *transport) checkTransport() {
	if path := tr.p.Text("unix-socket"); len(path) > maxSocketPath {
		tr.fault("", "%s %s: the path of a socket may have %d bytes; this one has %d", tr.flag("unix-socket"),
			fault.Shorten(path), maxSocketPath, len(path))
	}
	if tr.p.Bool("http2") && tr.p.Text("timestamp-source") == "kernel" {
		tr.fault("", "%s and --timestamp-source kernel cannot be used together: the streams of a connection share "+
			"its stamps", tr.flag("http2"))
	}
	if len(tr.givenOf("tls-ca-file", "tls-client-cert")) == 0 {
		return
	}
	secure := func(text string) bool { return parse.SchemeOf(text) == "https" || parse.SchemeOf(text) == "grpcs" }
	if !slices.ContainsFunc(tr.p.Texts("url"), secure) && !tr.given("sagemaker-endpoint-name") {
		tr.warn("%s has no effect: no --url begins with https:// or grpcs://",
			strings.Join(tr.givenOf("tls-ca-file", "tls-client-cert", "tls-client-key"), ", "))
	}
}

// maxSocketPath is what every system takes as the path of a socket.
const maxSocketPath = 103

// checkGRPC checks options that gRPC does not support. Schemes are not mixed: a run has one transport.
func (tr *transport) checkGRPC() {
	urls := tr.p.Texts("url")
	url := tr.flag("url")
	if i := slices.IndexFunc(urls, func(u string) bool {
		return parse.IsGRPC(u) != tr.endpoint.grpc || tr.endpoint.grpc &&
			parse.SchemeOf(u) != parse.SchemeOf(urls[0])
	}); i >= 0 {
		tr.fault("", "%s: %s and %s cannot be mixed: with gRPC, all URLs must have the same scheme", url,
			parse.SchemeOf(urls[0])+"://", parse.SchemeOf(urls[i])+"://")
		return
	}
	if tr.given("transport") && (tr.p.Text("transport") == "grpc") != tr.endpoint.grpc {
		tr.fault("", "%s %s: this contradicts the scheme of %s; write grpc://host:port or grpcs://host:port for gRPC",
			tr.flag("transport"), tr.p.Text("transport"), url)
	}
	if !tr.endpoint.grpc {
		return
	}
	if !tr.endpoint.facts.GRPC {
		carried := typesThat(func(f api.Descriptor) bool { return f.GRPC })
		tr.fault("", "%s %s: --endpoint-type %s is not supported over gRPC, only %s are", url,
			parse.SchemeOf(urls[0])+"://",
			tr.endpoint.endpointType, strings.Join(carried, ", "))
	}
	for _, text := range urls {
		if _, rest, _ := strings.Cut(text, "://"); strings.ContainsAny(strings.TrimSuffix(rest, "/"), "/?#") {
			tr.fault("", "%s %s: a gRPC URL consists of scheme, host and port; the method is that of the endpoint "+
				"type or of --custom-endpoint", url, fault.Shorten(artifact.RedactAddress(text)))
		}
	}
	for _, o := range []struct{ flag, why string }{
		{"http2", "gRPC is HTTP/2 already"},
		{"auth-type", "gRPC calls are not signed"},
		{"sagemaker-endpoint-name", "the service uses HTTP"},
		{"reset-kv-cache", "the hook is an HTTP request"},
		{"server-profiler", "the hook is an HTTP request"},
	} {
		if tr.active(o.flag) {
			tr.fault("", "%s cannot be used with %s://: %s", tr.flag(o.flag), parse.SchemeOf(urls[0]), o.why)
		}
	}
	if tr.p.Text("timestamp-source") == "kernel" {
		tr.fault("", "--timestamp-source kernel cannot be used with %s://: calls share a connection and its stamps",
			parse.SchemeOf(urls[0]))
	}
	for _, h := range tr.p.Pairs("header") {
		value, _ := h.Value.(string)
		tr.checkMetadata("header", h.Key, value)
	}
	for _, text := range tr.p.Texts("url-header") {
		if h, err := option.ParseURLHeader(text); err == nil {
			tr.checkMetadata("url-header", h.Name, h.Value)
		}
	}
	for _, name := range tr.p.Texts("echo-header") {
		tr.checkMetadata("echo-header", name, "")
	}
}

// checkMetadata refuses headers that gRPC cannot carry.
func (tr *transport) checkMetadata(flag, name, value string) {
	switch {
	case strings.HasSuffix(strings.ToLower(name), "-bin"):
		tr.fault("", "%s %s: gRPC reserves names that end in -bin for binary values", tr.flag(flag),
			fault.Shorten(name))
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
		tr.fault("", "%s %s: values in gRPC have printable ASCII characters only", tr.flag(flag), fault.Shorten(name))
	}
}

// checkConnections checks the source addresses of connections and the number of workers that share them.
func (tr *transport) checkConnections() {
	if least, most := tr.p.Int("workers-min"), tr.p.Int("workers-max"); least != nil && most != nil && *least > *most {
		tr.fault("", "%s %d is more than %s %d", tr.flag("workers-min"), *least, tr.flag("workers-max"), *most)
	}
	if tr.given("network-latency-ping-interval") && !tr.p.Bool("network-latency-automatic") {
		tr.warn("%s has no effect without --network-latency-automatic", tr.flag("network-latency-ping-interval"))
	}
	if !tr.given("source-address") {
		return
	}
	flag := tr.flag("source-address")
	sources, err := parse.SourceAddresses(tr.p.Texts("source-address"))
	if err != nil {
		tr.fault("", "%s: %v", flag, err)
		return
	}
	for _, text := range tr.p.Texts("url") {
		if four, six := tr.families(text); !reaches(sources, four, six) {
			tr.fault("", "%s: connections to %s need an address of IP version %s, none is given", flag,
				fault.Shorten(artifact.RedactAddress(text)), version(four, six))
		}
	}
}

// families reports which IP versions the address of a URL can be: that of a literal address, or those
// that AIPERF_HTTP_IP_VERSION lets names have.
func (tr *transport) families(text string) (four, six bool) {
	if u, err := url.Parse(parse.WithScheme(text)); err == nil {
		if a, err := netip.ParseAddr(u.Hostname()); err == nil {
			four = a.Unmap().Is4()
			return four, !four
		}
	}
	v := tr.p.Env.HTTP.IPVersion
	return v != "6", v != "4"
}

// reaches reports whether one of the sources is of one of the versions.
func reaches(sources []netip.Addr, four, six bool) bool {
	for _, a := range sources {
		if a.Is4() && four || !a.Is4() && six {
			return true
		}
	}
	return false
}

func version(four, six bool) string {
	switch {
	case four && six:
		return "4 or 6"
	case four:
		return "4"
	}
	return "6"
}
