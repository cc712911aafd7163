package config

import (
	"net/url"
	"slices"
	"strings"
)

// transport fills in how the server is reached.
func (d *draft) transport(e *Endpoint) {
	p := d.p
	e.GRPC = d.grpc
	e.HTTP2, e.UnixSocket = p.Bool("http2"), p.Text("unix-socket")
	e.TLS = TLS{CAFile: p.Text("tls-ca-file"), CertFile: p.Text("tls-client-cert"), KeyFile: p.Text("tls-client-key")}
	if d.signs() {
		e.Signing = &Signing{Region: p.Text("aws-region"), Service: p.Text("aws-service"),
			Profile: p.Text("aws-profile")}
		if d.given("api-key") {
			d.warn("%s is not sent: requests are signed", d.flag("api-key"))
			e.APIKey = ""
		}
	}
}

func (d *draft) signs() bool { return d.given("auth-type") || d.given("sagemaker-endpoint-name") }

// sageMaker turns the name of an endpoint into its address.
func (d *draft) sageMaker(e *Endpoint) {
	p := d.p
	name := p.Text("sagemaker-endpoint-name")
	if name == "" {
		return
	}
	e.SageMaker = &SageMaker{EndpointName: name, TargetModel: p.Text("sagemaker-target-model"),
		InferenceComponent: p.Text("sagemaker-inference-component-name"),
		TargetVariant:      p.Text("sagemaker-target-variant")}
	if e.Signing.Service == "" {
		e.Signing.Service = "sagemaker"
	}
	if !d.given("url") {
		domain := ".amazonaws.com"
		if strings.HasPrefix(e.Signing.Region, "cn-") {
			domain += ".cn"
		}
		e.URLs = []string{"https://runtime.sagemaker." + e.Signing.Region + domain}
	}
	path := "/endpoints/" + url.PathEscape(name) + "/invocations"
	if d.streaming {
		path += "-response-stream"
	}
	e.CustomPath = &path
}

// maxSocketPath is what every system takes as the path of a socket.
const maxSocketPath = 103

func (d *draft) checkTransport() {
	if path := d.p.Text("unix-socket"); len(path) > maxSocketPath {
		d.fault("", "%s %s: the path of a socket may have %d bytes; this one has %d", d.flag("unix-socket"),
			shorten(path), maxSocketPath, len(path))
	}
	if d.p.Bool("http2") && d.p.Text("timestamp-source") == "kernel" {
		d.fault("", "%s and --timestamp-source kernel cannot be used together: the streams of a connection share its stamps", d.flag("http2"))
	}
	if len(d.givenOf("tls-ca-file", "tls-client-cert")) == 0 {
		return
	}
	secure := func(text string) bool { return schemeOf(text) == "https" || schemeOf(text) == "grpcs" }
	if !slices.ContainsFunc(d.p.Texts("url"), secure) && !d.given("sagemaker-endpoint-name") {
		d.warn("%s has no effect: no --url begins with https:// or grpcs://",
			strings.Join(d.givenOf("tls-ca-file", "tls-client-cert", "tls-client-key"), ", "))
	}
}

func (d *draft) checkAWS() {
	sageMaker := d.given("sagemaker-endpoint-name")
	if flags := d.givenOf("aws-region", "aws-service", "aws-profile"); len(flags) > 0 && !d.signs() {
		d.fault("", "%s can only be used together with --auth-type sigv4", strings.Join(flags, ", "))
	}
	if !d.signs() {
		return
	}
	by := d.flag("auth-type")
	if sageMaker {
		by = d.flag("sagemaker-endpoint-name")
	}
	if d.p.Text("aws-region") == "" {
		d.fault("", "%s needs --aws-region, such as us-east-1", by)
	}
	if d.p.Text("aws-service") == "" && !sageMaker {
		d.fault("", "%s needs --aws-service, the name that the service signs with", by)
	}
	if d.facts.FormDataOnly || d.p.Text("request-content-type") == "multipart/form-data" {
		d.fault("", "%s cannot be used with --endpoint-type %s as a form: such requests are not signed", by,
			d.endpointType)
	}
	if !sageMaker {
		return
	}
	if d.streaming && d.given("sagemaker-target-model") {
		d.fault("", "%s cannot be used with --streaming: the service does not stream from endpoints of several models",
			d.flag("sagemaker-target-model"))
	}
	var refused []string
	for _, name := range slices.Concat([]string{"wait-for-model-timeout", "reset-kv-cache", "server-profiler"},
		resetSettings, profilerSettings) {
		if d.active(name) {
			refused = append(refused, d.flag(name))
		}
	}
	if len(refused) > 0 {
		d.fault("", "%s cannot be used with %s: the service passes on nothing but invocations",
			strings.Join(refused, ", "), by)
	}
	if d.given("url") && len(d.p.Texts("url")) > 1 {
		d.fault("", "%s takes one --url at most, that of another entry to the service", by)
	}
}

// transportConfig is what input_config says of it.
func transportConfig(out Object, e *Endpoint) Object {
	if e.Plugin != "" {
		out = append(out, Member{Key: "plugin", Value: e.Plugin})
	}
	if e.HTTP2 {
		out = append(out, Member{Key: "http2", Value: true})
	}
	for _, m := range []struct{ key, value string }{
		{"uds_path", e.UnixSocket}, {"tls_ca_file", e.TLS.CAFile}, {"tls_client_cert", e.TLS.CertFile},
		{"tls_client_key", e.TLS.KeyFile},
	} {
		if m.value != "" {
			out = append(out, Member{Key: m.key, Value: m.value})
		}
	}
	if s := e.Signing; s != nil {
		auth := Object{{Key: "type", Value: "sigv4"}, {Key: "region", Value: s.Region},
			{Key: "service", Value: s.Service}}
		if s.Profile != "" {
			auth = append(auth, Member{Key: "profile", Value: s.Profile})
		}
		out = append(out, Member{Key: "auth", Value: auth})
	}
	if s := e.SageMaker; s != nil {
		sm := Object{{Key: "endpoint_name", Value: s.EndpointName}}
		for _, m := range []struct{ key, value string }{
			{"target_model", s.TargetModel}, {"inference_component_name", s.InferenceComponent},
			{"target_variant", s.TargetVariant},
		} {
			if m.value != "" {
				sm = append(sm, Member{Key: m.key, Value: m.value})
			}
		}
		out = append(out, Member{Key: "sagemaker", Value: sm})
	}
	return out
}
