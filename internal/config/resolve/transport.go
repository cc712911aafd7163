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
	e.HTTP2, e.UnixSocket = p.HTTP2.Get(), p.UnixSocket.Get()
	e.TLS = config.TLS{CAFile: p.TLSCAFile.Get(), CertFile: p.TLSClientCert.Get(),
		KeyFile: p.TLSClientKey.Get()}
	if tr.endpoint.signs() {
		e.Signing = &config.Signing{Region: p.AWSRegion.Get(), Service: p.AWSService.Get(),
			Profile: p.AWSProfile.Get()}
		if tr.p.APIKey.Given() {
			tr.warn("%s is not sent: requests are signed", tr.p.APIKey.Flag())
			e.APIKey = ""
		}
	}
	tr.sageMaker(e)
}

func (tr *transport) checkURLs() {
	urls := tr.p.URL.Get()
	if len(urls) == 0 {
		tr.fault("", "%s needs at least one URL", tr.p.URL.Flag())
	}
	for _, text := range urls {
		if err := parse.CheckURL(parse.WithScheme(text)); err != nil {
			tr.fault("", "%s %s: %v", tr.p.URL.Flag(), fault.Shorten(artifact.RedactAddress(text)), err)
		}
	}
}

func (tr *transport) checkTransport() {
	if path := tr.p.UnixSocket.Get(); len(path) > maxSocketPath {
		tr.fault("", "%s %s: the path of a socket may have %d bytes; this one has %d", tr.p.UnixSocket.Flag(),
			fault.Shorten(path), maxSocketPath, len(path))
	}
	if tr.p.HTTP2.Get() && tr.p.TimestampSource.Get() == "kernel" {
		tr.fault("", "%s and --timestamp-source kernel cannot be used together: the streams of a connection share "+
			"its stamps", tr.p.HTTP2.Flag())
	}
	if len(givenOf(&tr.p.TLSCAFile, &tr.p.TLSClientCert)) == 0 {
		return
	}
	secure := func(text string) bool { return parse.SchemeOf(text) == "https" || parse.SchemeOf(text) == "grpcs" }
	if !slices.ContainsFunc(tr.p.URL.Get(), secure) && !tr.p.SageMakerEndpointName.Given() {
		tr.warn("%s has no effect: no --url begins with https:// or grpcs://",
			strings.Join(givenOf(&tr.p.TLSCAFile, &tr.p.TLSClientCert, &tr.p.TLSClientKey), ", "))
	}
}

// maxSocketPath is what every system takes as the path of a socket.
const maxSocketPath = 103

// checkGRPC checks options that gRPC does not support. Schemes are not mixed: a run has one transport.
func (tr *transport) checkGRPC() {
	urls := tr.p.URL.Get()
	url := tr.p.URL.Flag()
	if i := slices.IndexFunc(urls, func(u string) bool {
		return parse.IsGRPC(u) != tr.endpoint.grpc || tr.endpoint.grpc &&
			parse.SchemeOf(u) != parse.SchemeOf(urls[0])
	}); i >= 0 {
		tr.fault("", "%s: %s and %s cannot be mixed: with gRPC, all URLs must have the same scheme", url,
			parse.SchemeOf(urls[0])+"://", parse.SchemeOf(urls[i])+"://")
		return
	}
	if tr.p.Transport.Given() && (tr.p.Transport.Get() == "grpc") != tr.endpoint.grpc {
		tr.fault("", "%s %s: this contradicts the scheme of %s; write grpc://host:port or grpcs://host:port for gRPC",
			tr.p.Transport.Flag(), tr.p.Transport.Get(), url)
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
	for _, o := range []struct {
		option option.Field
		why    string
	}{
		{&tr.p.HTTP2, "gRPC is HTTP/2 already"},
		{&tr.p.AuthType, "gRPC calls are not signed"},
		{&tr.p.SageMakerEndpointName, "the service uses HTTP"},
		{&tr.p.ResetKVCache, "the hook is an HTTP request"},
		{&tr.p.ServerProfiler, "the hook is an HTTP request"},
	} {
		if active(o.option) {
			tr.fault("", "%s cannot be used with %s://: %s", o.option.Flag(), parse.SchemeOf(urls[0]), o.why)
		}
	}
	if tr.p.TimestampSource.Get() == "kernel" {
		tr.fault("", "--timestamp-source kernel cannot be used with %s://: calls share a connection and its stamps",
			parse.SchemeOf(urls[0]))
	}
	for _, h := range tr.p.Header.Get() {
		value, _ := h.Value.(string)
		tr.checkMetadata(&tr.p.Header, h.Key, value)
	}
	for _, text := range tr.p.URLHeader.Get() {
		if h, err := option.ParseURLHeader(text); err == nil {
			tr.checkMetadata(&tr.p.URLHeader, h.Name, h.Value)
		}
	}
	for _, name := range tr.p.EchoHeader.Get() {
		tr.checkMetadata(&tr.p.EchoHeader, name, "")
	}
}

// checkMetadata refuses headers that gRPC cannot carry.
func (tr *transport) checkMetadata(o option.Field, name, value string) {
	switch {
	case strings.HasSuffix(strings.ToLower(name), "-bin"):
		tr.fault("", "%s %s: gRPC reserves names that end in -bin for binary values", o.Flag(),
			fault.Shorten(name))
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
		tr.fault("", "%s %s: values in gRPC have printable ASCII characters only", o.Flag(), fault.Shorten(name))
	}
}

// checkConnections checks the source addresses of connections and the number of workers that share them.
func (tr *transport) checkConnections() {
	if least, most := tr.p.WorkersMin.Pointer(), tr.p.WorkersMax.Pointer(); least != nil && most != nil &&
		*least > *most {
		tr.fault("", "%s %d is more than %s %d", tr.p.WorkersMin.Flag(), *least, tr.p.WorkersMax.Flag(), *most)
	}
	if tr.p.NetworkLatencyPingInterval.Given() && !tr.p.NetworkLatencyAutomatic.Get() {
		tr.warn("%s has no effect without --network-latency-automatic", tr.p.NetworkLatencyPingInterval.Flag())
	}
	if !tr.p.SourceAddress.Given() {
		return
	}
	flag := tr.p.SourceAddress.Flag()
	sources, err := parse.SourceAddresses(tr.p.SourceAddress.Get())
	if err != nil {
		tr.fault("", "%s: %v", flag, err)
		return
	}
	for _, text := range tr.p.URL.Get() {
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
