package resolve

import (
	"net/url"
	"slices"
	"strings"

	"aiperf/internal/config"
)

// sageMaker turns the name of an endpoint into its address.
func (tr *transport) sageMaker(e *config.Endpoint) {
	p := tr.p
	name := p.Text("sagemaker-endpoint-name")
	if name == "" {
		return
	}
	e.SageMaker = &config.SageMaker{EndpointName: name, TargetModel: p.Text("sagemaker-target-model"),
		InferenceComponent: p.Text("sagemaker-inference-component-name"),
		TargetVariant:      p.Text("sagemaker-target-variant")}
	if e.Signing.Service == "" {
		e.Signing.Service = "sagemaker"
	}
	if !tr.given("url") {
		domain := ".amazonaws.com"
		if strings.HasPrefix(e.Signing.Region, "cn-") {
			domain += ".cn"
		}
		e.URLs = []string{"https://runtime.sagemaker." + e.Signing.Region + domain}
	}
	path := "/endpoints/" + url.PathEscape(name) + "/invocations"
	if tr.endpoint.streaming {
		path += "-response-stream"
	}
	e.CustomPath = &path
}

func (tr *transport) checkAWS() {
	sageMaker := tr.given("sagemaker-endpoint-name")
	if flags := tr.givenOf("aws-region", "aws-service", "aws-profile"); len(flags) > 0 && !tr.endpoint.signs() {
		tr.fault("", "%s can only be used together with --auth-type sigv4", strings.Join(flags, ", "))
	}
	if !tr.endpoint.signs() {
		return
	}
	by := tr.flag("auth-type")
	if sageMaker {
		by = tr.flag("sagemaker-endpoint-name")
	}
	if tr.p.Text("aws-region") == "" {
		tr.fault("", "%s needs --aws-region, such as us-east-1", by)
	}
	if tr.p.Text("aws-service") == "" && !sageMaker {
		tr.fault("", "%s needs --aws-service, the name that the service signs with", by)
	}
	if tr.endpoint.facts.FormDataOnly || tr.p.Text("request-content-type") == "multipart/form-data" {
		tr.fault("", "%s cannot be used with --endpoint-type %s as a form: such requests are not signed", by,
			tr.endpoint.endpointType)
	}
	if !sageMaker {
		return
	}
	if tr.endpoint.streaming && tr.given("sagemaker-target-model") {
		tr.fault("", "%s cannot be used with --streaming: the service does not stream from endpoints of several models",
			tr.flag("sagemaker-target-model"))
	}
	var refused []string
	for _, name := range slices.Concat([]string{"wait-for-model-timeout", "reset-kv-cache", "server-profiler"},
		resetSettings, profilerSettings) {
		if tr.active(name) {
			refused = append(refused, tr.flag(name))
		}
	}
	if len(refused) > 0 {
		tr.fault("", "%s cannot be used with %s: the service forwards only invocations",
			strings.Join(refused, ", "), by)
	}
	if tr.given("url") && len(tr.p.Texts("url")) > 1 {
		tr.fault("", "%s accepts at most one --url, the address of another entry point of the service", by)
	}
}
