package file

import (
	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
)

func endpointConfig(r *config.Run) Object {
	p, e := r.Asked, r.Endpoint
	urls := make([]any, len(e.URLs))
	for i, u := range e.URLs {
		urls[i] = artifact.RedactURLs(u)
		if i < len(e.URLHeaders) && len(e.URLHeaders[i]) > 0 {
			urls[i] = Object{{Key: "url", Value: urls[i]}, {Key: "headers", Value: headers(e.URLHeaders[i])}}
		}
	}
	out := Object{{Key: "urls", Value: urls}, {Key: "type", Value: e.Type}}
	out = addGiven(out, &p.URLStrategy, "url_strategy", e.URLStrategy)
	if e.CustomPath != nil {
		out = append(out, Member{Key: "path", Value: *e.CustomPath})
	}
	out = addIf(out, e.APIKey != "", "api_key", artifact.Redacted)
	out = addGiven(out, &p.RequestTimeoutSeconds, "timeout", e.TimeoutSeconds)
	if p.Streaming.IsSet() || e.Streaming { // a scenario streams unasked
		out = append(out, Member{Key: "streaming", Value: e.Streaming})
	}
	out = addIf(out, e.GRPC, "grpc", true)
	out = addGiven(out, &p.ConnectionReuseStrategy, "connection_reuse", e.ConnectionReuse)
	out = addIf(out, len(e.SourceAddresses) > 0, "source_addresses", texts(p.SourceAddress.Get()))
	out = addGiven(out, &p.UseLegacyMaxTokens, "use_legacy_max_tokens", e.UseLegacyMaxTokens)
	out = addGiven(out, &p.UseServerTokenCount, "use_server_token_count", e.UseServerTokenCount)
	out = addGiven(out, &p.UUIDAndStrip, "uuid_and_strip", p.UUIDAndStrip.Get())
	out = addGiven(out, &p.PerChunkUsage, "per_chunk_usage", e.ChunkUsage)
	out = setNonEmpty(out, "headers", headers(e.Headers))
	extra, _ := artifact.HideSensitive(e.Extra).(Object)
	template, extra := templateConfig(e.Type, extra)
	out = setNonEmpty(out, "template", template)
	out = setNonEmpty(out, "extra", extra)
	out = addGiven(out, &p.RequestContentType, "request_content_type", p.RequestContentType.Get())
	out = addGiven(out, &p.DownloadVideoContent, "download_video_content", e.DownloadVideo)
	out = addGiven(out, &p.SessionHeader, "session_header", e.SessionHeader)
	out = addGiven(out, &p.SessionCookies, "session_cookies", e.SessionCookies)
	out = addGiven(out, &p.EchoHeader, "echo_headers", texts(e.EchoHeaders))
	return controlConfig(transportConfig(out, &e), &e)
}

// headers are those of requests without their secrets.
func headers(list []config.Header) Object {
	out := Object{}
	for _, h := range list {
		value := artifact.RedactURLs(h.Value)
		if artifact.IsSensitiveName(h.Name) {
			value = artifact.Redacted
		}
		out = append(out, Member{Key: h.Name, Value: value})
	}
	return out
}

// templateConfig takes what makes the bodies of a template endpoint out of the extra inputs.
func templateConfig(kind string, extra Object) (template, rest Object) {
	if kind != "template" {
		return nil, extra
	}
	for _, m := range extra {
		switch m.Key {
		case "payload_template":
			template = append(Object{{Key: "body", Value: m.Value}}, template...)
		case "response_field":
			template = append(template, m)
		default:
			rest = append(rest, m)
		}
	}
	return template, rest
}

// controlConfig is what input_config says of the hooks.
func controlConfig(out Object, e *config.Endpoint) Object {
	if r := e.Ready; r != nil {
		out = append(out, Member{Key: "wait_for_model_timeout", Value: r.Timeout.Seconds()},
			Member{Key: "wait_for_model_mode", Value: r.Mode},
			Member{Key: "wait_for_model_interval", Value: r.Interval.Seconds()})
	}
	if r := e.ResetCache; r != nil {
		out = append(out, Member{Key: "reset_kv_cache",
			Value: Object{{Key: "path", Value: r.Path}, {Key: "timeout_seconds", Value: r.Timeout.Seconds()},
				{Key: "max_retry_seconds", Value: r.Retry.Seconds()}}})
	}
	if p := e.Profiler; p != nil {
		out = append(out, Member{Key: "server_profiler", Value: Object{
			{Key: "start_path", Value: p.StartPath}, {Key: "stop_path", Value: p.StopPath},
			{Key: "timeout_seconds", Value: p.Timeout.Seconds()}}})
	}
	return out
}

// transportConfig is what input_config says of it.
func transportConfig(out Object, e *config.Endpoint) Object {
	out = addText(out, "plugin", e.Plugin)
	out = addIf(out, e.HTTP2, "http2", true)
	out = addText(out, "uds_path", e.UnixSocket)
	out = addText(out, "tls_ca_file", e.TLS.CAFile)
	out = addText(out, "tls_client_cert", e.TLS.CertFile)
	out = addText(out, "tls_client_key", e.TLS.KeyFile)
	if s := e.Signing; s != nil {
		auth := Object{{Key: "type", Value: "sigv4"}, {Key: "region", Value: s.Region},
			{Key: "service", Value: s.Service}}
		auth = addText(auth, "profile", s.Profile)
		out = append(out, Member{Key: "auth", Value: auth})
	}
	if s := e.SageMaker; s != nil {
		sm := addText(Object{{Key: "endpoint_name", Value: s.EndpointName}}, "target_model", s.TargetModel)
		sm = addText(sm, "inference_component_name", s.InferenceComponent)
		sm = addText(sm, "target_variant", s.TargetVariant)
		out = append(out, Member{Key: "sagemaker", Value: sm})
	}
	return out
}
