package resolve

import (
	"net/url"
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/config/option"
)

// sageMaker turns the name of an endpoint into its address.
func (tr *transport) sageMaker(e *config.Endpoint) {
	p := tr.p
	name := p.SageMakerEndpointName.Get()
	if name == "" {
		return
	}
	e.SageMaker = &config.SageMaker{EndpointName: name, TargetModel: p.SageMakerTargetModel.Get(),
		InferenceComponent: p.SageMakerInferenceComponentName.Get(),
		TargetVariant:      p.SageMakerTargetVariant.Get()}
	if e.Signing.Service == "" {
		e.Signing.Service = "sagemaker"
	}
	if !tr.p.URL.Given() {
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
	sageMaker := tr.p.SageMakerEndpointName.Given()
	if flags := givenOf(&tr.p.AWSRegion, &tr.p.AWSService, &tr.p.AWSProfile); len(flags) > 0 && !tr.endpoint.signs() {
		tr.fault("", "%s can only be used together with --auth-type sigv4", strings.Join(flags, ", "))
	}
	if !tr.endpoint.signs() {
		return
	}
	by := tr.p.AuthType.Flag()
	if sageMaker {
		by = tr.p.SageMakerEndpointName.Flag()
	}
	if tr.p.AWSRegion.Get() == "" {
		tr.fault("", "%s needs --aws-region, such as us-east-1", by)
	}
	if tr.p.AWSService.Get() == "" && !sageMaker {
		tr.fault("", "%s needs --aws-service, the name that the service signs with", by)
	}
	if tr.endpoint.facts.FormDataOnly || tr.p.RequestContentType.Get() == "multipart/form-data" {
		tr.fault("", "%s cannot be used with --endpoint-type %s as a form: such requests are not signed", by,
			tr.endpoint.endpointType)
	}
	if !sageMaker {
		return
	}
	if tr.endpoint.streaming && tr.p.SageMakerTargetModel.Given() {
		tr.fault("", "%s cannot be used with --streaming: the service does not stream from endpoints of several models",
			tr.p.SageMakerTargetModel.Flag())
	}
	p := &tr.p.Tree
	refused := activeOf(slices.Concat([]option.Field{&p.WaitForModelTimeout, &p.ResetKVCache, &p.ServerProfiler},
		resetSettings(p), profilerSettings(p))...)
	if len(refused) > 0 {
		tr.fault("", "%s cannot be used with %s: the service forwards only invocations",
			strings.Join(refused, ", "), by)
	}
	if tr.p.URL.Given() && len(tr.p.URL.Get()) > 1 {
		tr.fault("", "%s accepts at most one --url, the address of another entry point of the service", by)
	}
}
