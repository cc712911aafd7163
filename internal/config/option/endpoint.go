package option

import "aiperf/internal/wire/api"

// endpointFields are the options of the server and of how it is asked.
type endpointFields struct {
	ModelSelectionStrategy, URLStrategy, EndpointType, EndpointPlugin, CustomEndpoint, APIKey, Transport,
	ConnectionReuseStrategy, RequestContentType, WaitForModelMode, SessionHeader, ResetKVCachePath,
	ServerProfilerStartPath, ServerProfilerStopPath, UnixSocket, TLSCAFile, TLSClientCert, TLSClientKey,
	AuthType, AWSRegion, AWSService, AWSProfile, SageMakerEndpointName, SageMakerTargetModel,
	SageMakerInferenceComponentName, SageMakerTargetVariant Opt[string]
	ModelNames, URL, URLHeader, SourceAddress, EchoHeader Opt[[]string]
	Streaming, UseLegacyMaxTokens, UseServerTokenCount, DownloadVideoContent, SessionCookies, ResetKVCache,
	ServerProfiler, UUIDAndStrip, PerChunkUsage, HTTP2 Opt[bool]
	RequestTimeoutSeconds, WaitForModelTimeout, WaitForModelInterval, ResetKVCacheTimeoutSeconds,
	ServerProfilerTimeoutSeconds Opt[float64]
}

func (e *endpointFields) rows() []Option {
	return []Option{
		opt(&e.ModelNames, "model-names model -m", "", 1,
			"Names of the models to request. The first one names the run.",
			derived("the only one that the server lists"), yaml("models")),
		opt(&e.ModelSelectionStrategy, "model-selection-strategy", "round_robin", 2, "How a turn selects its model "+
			"when there are several; the choice is made when the dataset is built. weighted needs weights, which no "+
			"flag sets.", values("round_robin", "random", "weighted"), yaml("models.strategy")),
		opt(&e.URL, "url -u", "http://localhost:8000", 1, "Base URL or URLs of the server; http:// is added if the "+
			"scheme is missing. grpc:// and grpcs:// use gRPC, for endpoint types that support it.", multi, address,
			yaml("endpoint.urls")),
		opt(&e.URLHeader, "url-header", "", 2, "Header of the requests to one of several URLs: the URL as --url has "+
			"it, or its number from 0, then = and name:value, as in '1=Authorization: Bearer KEY'. It replaces a "+
			"--header of the name.", whole, yaml("endpoint.urls.headers"), urlHeaders),
		opt(&e.URLStrategy, "url-strategy", "round_robin", 2, "How sessions are distributed over several URLs.",
			choices("round_robin", "One URL after the other."), yaml("endpoint.url_strategy")),
		opt(&e.EndpointType, "endpoint-type", "chat", 1, "API of the server: the format of requests and replies.",
			values(api.Names()...), extensible, yaml("endpoint.type")),
		opt(&e.EndpointPlugin, "endpoint-plugin", "", 2,
			"Program that encodes requests and decodes replies, with its arguments; it replaces --endpoint-type.",
			yaml("endpoint.plugin")),
		opt(&e.CustomEndpoint, "custom-endpoint endpoint", "", 1,
			"Path that replaces the endpoint type's own; an empty one appends nothing to the URL.", mayBeEmpty,
			yaml("endpoint.path")),
		opt(&e.Streaming, "streaming", "false", 1,
			"Ask for replies as a stream of events. Switched off with a warning for types that cannot stream.",
			yaml("endpoint.streaming")),
		opt(&e.RequestTimeoutSeconds, "request-timeout-seconds", "21600", 1,
			"Limit on a whole request in seconds; a request that reaches it is an error.", seconds, limits(Above(0)),
			yaml("endpoint.timeout")),
		opt(&e.APIKey, "api-key", "", 1, "Key sent as a bearer token; @FILE reads it from a file, @@KEY is a key that "+
			"begins with @. Without the flag it is that of AIPERF_API_KEY, else of OPENAI_API_KEY, which goes only to "+
			"https URLs and to this machine. Never shown or written.", secret, env("API_KEY"),
			yaml("endpoint.api_key")),
		opt(&e.Transport, "transport transport-type", "http", 3, "Transport protocol.", choices("http",
			"HTTP/1.1, or HTTP/2 with --http2.", "grpc", "Calls of gRPC, for endpoint types that have them."),
			yaml("endpoint.transport"), derived("from the URL's scheme")),
		opt(&e.UseLegacyMaxTokens, "use-legacy-max-tokens", "false", 1,
			"Send max_tokens instead of max_completion_tokens.", yaml("endpoint.use_legacy_max_tokens")),
		opt(&e.UseServerTokenCount, "use-server-token-count", "false", 1,
			"Use the token counts that the server reports; count no tokens here.",
			yaml("endpoint.use_server_token_count")),
		opt(&e.ConnectionReuseStrategy, "connection-reuse-strategy", "pooled", 2,
			"When connections are reused: by all requests, never, or within a session.",
			values("pooled", "never", "sticky-user-sessions"), yaml("endpoint.connection_reuse")),
		opt(&e.SourceAddress, "source-address", "", 2, "IP addresses of this machine that connections use as their "+
			"source, in turn. Each address has its own ports, so several addresses allow more connections.", multi),
		opt(&e.RequestContentType, "request-content-type", "application/json", 3,
			"Encoding of request bodies; multipart/form-data only for types that accept forms.",
			values("application/json", "multipart/form-data"), yaml("endpoint.request_content_type")),
		opt(&e.DownloadVideoContent, "download-video-content", "false", 3,
			"Fetch generated videos; latency then includes the download.", yaml("endpoint.download_video_content")),
		opt(&e.WaitForModelTimeout, "wait-for-model-timeout", "0", 2,
			"Seconds to wait for the server to be ready before the run; 0 does not wait.", seconds, limits(AtLeast(0)),
			yaml("endpoint.wait_for_model_timeout")),
		opt(&e.WaitForModelMode, "wait-for-model-mode", "inference", 2,
			"How readiness is checked: list the models, send a request of one token, or both.",
			values("models", "inference", "both"), yaml("endpoint.wait_for_model_mode")),
		opt(&e.WaitForModelInterval, "wait-for-model-interval", "5", 2, "Seconds between two readiness checks.",
			seconds, limits(Above(0)), yaml("endpoint.wait_for_model_interval")),
		opt(&e.SessionHeader, "session-header", "X-Correlation-ID", 3,
			"Name of the header whose value is the same for all turns of a session.", yaml("endpoint.session_header")),
		opt(&e.SessionCookies, "session-cookies", "false", 2,
			"Send the cookies that replies set with the later requests of the same session, as browsers do.",
			yaml("endpoint.session_cookies")),
		opt(&e.EchoHeader, "echo-header", "", 2,
			"Names of headers whose last value in a reply goes with the later requests of the same session.",
			yaml("endpoint.echo_headers")),
		opt(&e.ResetKVCache, "reset-kv-cache", "false", 3, "Ask the server to reset its prefix cache before each run."),
		opt(&e.ResetKVCachePath, "reset-kv-cache-path", "/reset_prefix_cache", 3, "Path of that request."),
		opt(&e.ResetKVCacheTimeoutSeconds, "reset-kv-cache-timeout-seconds", "30", 3,
			"Limit on that request in seconds.", seconds, limits(Above(0))),
		opt(&e.ServerProfiler, "server-profiler", "false", 3,
			"Start the server's profiler with the profiling phase and stop it afterwards."),
		opt(&e.ServerProfilerStartPath, "server-profiler-start-path", "/start_profile", 3,
			"Path that starts the server's profiler."),
		opt(&e.ServerProfilerStopPath, "server-profiler-stop-path", "/stop_profile", 3,
			"Path that stops the server's profiler."),
		opt(&e.ServerProfilerTimeoutSeconds, "server-profiler-timeout-seconds", "30", 3,
			"Limit on these requests in seconds.", seconds, limits(Above(0))),
		opt(&e.UUIDAndStrip, "uuid-and-strip", "false", 3,
			"Send an image that repeats within a session only once (single_turn data).",
			yaml("endpoint.uuid_and_strip")),
		opt(&e.PerChunkUsage, "per-chunk-usage", "false", 3,
			"Ask for usage on every chunk (streaming chat); implies server token counts."),
		opt(&e.HTTP2, "http2", "false", 2, "Use only HTTP/2: over TLS for https, in clear text for http.",
			yaml("endpoint.http2")),
		opt(&e.UnixSocket, "unix-socket", "", 2,
			"Connect through this Unix socket; the URL still sets the path and the Host header.", mustExist,
			yaml("endpoint.uds_path")),
		opt(&e.TLSCAFile, "tls-ca-file", "", 2,
			"PEM file of the certificate authorities to trust, instead of the system's.", mustExist),
		opt(&e.TLSClientCert, "tls-client-cert", "", 2,
			"PEM file of the client's own certificate, for servers that ask for one.", mustExist),
		opt(&e.TLSClientKey, "tls-client-key", "", 2, "PEM file of the key of that certificate.", mustExist),
		opt(&e.AuthType, "auth-type", "", 3, "Sign requests.", values("sigv4")),
		opt(&e.AWSRegion, "aws-region", "", 3, "AWS region for signing."),
		opt(&e.AWSService, "aws-service", "", 3, "AWS service name for signing, such as bedrock or sagemaker."),
		opt(&e.AWSProfile, "aws-profile", "", 3, "AWS profile that holds the credentials."),
		opt(&e.SageMakerEndpointName, "sagemaker-endpoint-name", "", 3, "SageMaker endpoint to invoke."),
		opt(&e.SageMakerTargetModel, "sagemaker-target-model", "", 3, "Model of a SageMaker multi-model endpoint."),
		opt(&e.SageMakerInferenceComponentName, "sagemaker-inference-component-name", "", 3,
			"SageMaker inference component."),
		opt(&e.SageMakerTargetVariant, "sagemaker-target-variant", "", 3, "SageMaker production variant."),
	}
}

// tokenizerFields are the options of counting tokens.
type tokenizerFields struct {
	Tokenizer, TokenizerRevision                Opt[string]
	TokenizerTrustRemoteCode, ApplyChatTemplate Opt[bool]
}

func (t *tokenizerFields) rows() []Option {
	return []Option{
		opt(&t.Tokenizer, "tokenizer", "", 1, "Tokenizer that counts tokens: a hub id, a local folder or file, or "+
			"builtin (o200k_base, works offline), cl100k_base, o200k_harmony, p50k_base, p50k_edit, r50k_base.",
			derived("the model name"), yaml("tokenizer.name")),
		opt(&t.TokenizerRevision, "tokenizer-revision", "main", 2, "Branch, tag or commit of a hub tokenizer.",
			yaml("tokenizer.revision")),
		opt(&t.TokenizerTrustRemoteCode, "tokenizer-trust-remote-code", "false", 3,
			"Accepted without effect: no code of a tokenizer is ever run.", yaml("tokenizer.trust_remote_code")),
		opt(&t.ApplyChatTemplate, "apply-chat-template", "false", 3, "Include the chat template in input lengths.",
			yaml("tokenizer.apply_chat_template")),
	}
}
