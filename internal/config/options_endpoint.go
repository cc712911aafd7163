package config

import "aiperf/internal/wire/api"

func endpointOptions() []Option {
	return []Option{
		opt("model-names model -m", String, "", 1, "Model name or names that requests ask for. The first one names the run.", derived("the only one that the server lists"), repeat, yaml("models")),
		opt("model-selection-strategy", Enum, "round_robin", 2, "How a turn gets its model when there are several, decided when the data set is built. weighted needs weights, which no flag gives.",
			values("round_robin", "random", "weighted"), yaml("models.strategy")),
		opt("url -u", String, "http://localhost:8000", 1, "Base URL or URLs of the server; http:// is added where there is no scheme. grpc:// and grpcs:// speak gRPC to types that have it.", multi, address, yaml("endpoint.urls")),
		opt("url-strategy", Enum, "round_robin", 2, "How sessions spread over several URLs.", values("round_robin"), yaml("endpoint.url_strategy")),
		opt("endpoint-type", Enum, "chat", 1, "The API that is spoken: the form of requests and replies.",
			values(api.Names()...), yaml("endpoint.type")),
		opt("endpoint-plugin", String, "", 2, "Program that encodes requests and decodes replies, with its arguments; it stands in place of --endpoint-type.", yaml("endpoint.plugin")),
		opt("custom-endpoint endpoint", String, "", 1, "Path that replaces the endpoint type's own; an empty one appends nothing to the URL.", mayBeEmpty, yaml("endpoint.path")),
		opt("streaming", Bool, "false", 1, "Ask for replies as a stream of events. Switched off with a warning for types that cannot stream.", yaml("endpoint.streaming")),
		opt("request-timeout-seconds", Float, "21600", 1, "Limit on a whole request in seconds; a request that reaches it is an error.", seconds, limits(above(0)), yaml("endpoint.timeout")),
		opt("api-key", String, "", 1, "Key sent as a bearer token; @FILE reads it from a file, @@KEY is a key that begins with @. Without the flag it is that of AIPERF_API_KEY, else of OPENAI_API_KEY, which goes only to https URLs and to this machine. Never shown or written.", secret, env("API_KEY"), yaml("endpoint.api_key")),
		opt("transport transport-type", Enum, "http", 3, "Transport protocol.", values("http", "grpc"), yaml("endpoint.transport"), derived("from the URL's scheme")),
		opt("use-legacy-max-tokens", Bool, "false", 1, "Send max_tokens where max_completion_tokens is usual.", yaml("endpoint.use_legacy_max_tokens")),
		opt("use-server-token-count", Bool, "false", 1, "Take token counts from the server's usage report and count nothing here.", yaml("endpoint.use_server_token_count")),
		opt("connection-reuse-strategy", Enum, "pooled", 2, "When connections are reused: by all requests, never, or within a session.",
			values("pooled", "never", "sticky-user-sessions"), yaml("endpoint.connection_reuse")),
		opt("source-address", String, "", 2, "IP addresses of this machine that connections start from in turn. Each has ports of its own: several take more connections than one has ports.", multi),
		opt("request-content-type", Enum, "application/json", 3, "Encoding of request bodies; multipart/form-data only for types that take forms.",
			values("application/json", "multipart/form-data"), yaml("endpoint.request_content_type")),
		opt("download-video-content", Bool, "false", 3, "Fetch generated videos; latency then includes the download.", yaml("endpoint.download_video_content")),
		opt("wait-for-model-timeout", Float, "0", 2, "Seconds to wait for the server to be ready before the run; 0 does not ask.", seconds, limits(atLeast(0)), yaml("endpoint.wait_for_model_timeout")),
		opt("wait-for-model-mode", Enum, "inference", 2, "Ask the list of models, send a request of one token, or do both.", values("models", "inference", "both"), yaml("endpoint.wait_for_model_mode")),
		opt("wait-for-model-interval", Float, "5", 2, "Seconds between two questions whether the server is ready.", seconds, limits(above(0)), yaml("endpoint.wait_for_model_interval")),
		opt("session-header", String, "X-Correlation-ID", 3, "Name of the header that is the same for all turns of a session.", yaml("endpoint.session_header")),
		opt("reset-kv-cache", Bool, "false", 3, "Ask the server to forget its prefix cache before each run."),
		opt("reset-kv-cache-path", String, "/reset_prefix_cache", 3, "Path of that request."),
		opt("reset-kv-cache-timeout-seconds", Float, "30", 3, "Limit on that request in seconds.", seconds, limits(above(0))),
		opt("server-profiler", Bool, "false", 3, "Start the server's profiler with profiling and stop it afterwards."),
		opt("server-profiler-start-path", String, "/start_profile", 3, "Path that starts the server's profiler."),
		opt("server-profiler-stop-path", String, "/stop_profile", 3, "Path that stops the server's profiler."),
		opt("server-profiler-timeout-seconds", Float, "30", 3, "Limit on these requests in seconds.", seconds, limits(above(0))),
		opt("uuid-and-strip", Bool, "false", 3, "Send an image that repeats within a session only once (single_turn data).", yaml("endpoint.uuid_and_strip")),
		opt("per-chunk-usage", Bool, "false", 3, "Ask for usage on every chunk (streaming chat); implies server token counts."),
		opt("http2", Bool, "false", 2, "Speak HTTP/2, and nothing else: over TLS for https, in clear text for http.", yaml("endpoint.http2")),
		opt("unix-socket", Path, "", 2, "Connect through this Unix socket; the URL still gives path and Host.", mustExist, yaml("endpoint.uds_path")),
		opt("tls-ca-file", Path, "", 2, "PEM file of the authorities that server certificates are checked against, instead of the system's.", mustExist),
		opt("tls-client-cert", Path, "", 2, "PEM file of the client's own certificate, for servers that ask for one.", mustExist),
		opt("tls-client-key", Path, "", 2, "PEM file of the key of that certificate.", mustExist),
		opt("auth-type", Enum, "", 3, "Sign requests.", values("sigv4")),
		opt("aws-region", String, "", 3, "AWS region for signing."),
		opt("aws-service", String, "", 3, "AWS service name for signing, such as bedrock or sagemaker."),
		opt("aws-profile", String, "", 3, "AWS profile that holds the credentials."),
		opt("sagemaker-endpoint-name", String, "", 3, "SageMaker endpoint to invoke."),
		opt("sagemaker-target-model", String, "", 3, "Model of a SageMaker multi-model endpoint."),
		opt("sagemaker-inference-component-name", String, "", 3, "SageMaker inference component."),
		opt("sagemaker-target-variant", String, "", 3, "SageMaker production variant."),
	}
}

func tokenizerOptions() []Option {
	return []Option{
		opt("tokenizer", String, "", 1, "Vocabulary that counts tokens: a hub id, a local folder or file, or builtin (o200k_base, works offline), cl100k_base, o200k_harmony, p50k_base, p50k_edit, r50k_base.",
			derived("the model name"), yaml("tokenizer.name")),
		opt("tokenizer-revision", String, "main", 2, "Branch, tag or commit of a hub tokenizer.", yaml("tokenizer.revision")),
		opt("tokenizer-trust-remote-code", Bool, "false", 3, "Accepted without effect: no code of a tokenizer is ever run.", yaml("tokenizer.trust_remote_code")),
		opt("apply-chat-template", Bool, "false", 3, "Count the chat template in input lengths.", yaml("tokenizer.apply_chat_template")),
	}
}
