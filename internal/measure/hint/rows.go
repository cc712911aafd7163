package hint

import "aiperf/internal/base/neterr"

// The names of kinds of failure that other parts of the program know.
const (
	// UnknownModel is that on which the server's list of models helps.
	UnknownModel = "unknown model"
	// ContextTooLong and TooLarge are those of requests that are longer than the model or the server takes.
	ContextTooLong = "context too long"
	TooLarge       = "too large"
)

// page are the beginnings of web pages.
var page = []string{"<!doctype html", "<html"}

// rows is the table, special kinds before general ones.
var rows = []Row{
	{
		Hint: Hint{ContextTooLong, "The prompt and the reply together are longer than the model's context",
			"make them shorter with --isl (--synthetic-input-tokens-mean) and --osl (--output-tokens-mean)"},
		Codes: []int{400, 413, 422, 500},
		Says: []string{"context length", "context_length", "maximum context", "context window", "context size",
			"max_model_len", "maximum model length",
			"max_seq_len", "maximum sequence length", "prompt is too long", "prompt too long", "input is too long",
			"too many tokens", "exceed*max*tokens"},
	},
	{
		Hint: Hint{"TLS port", "The server expects TLS at this port",
			"begin --url with https://"},
		Says: []string{"http request to an https server", "plain http request was sent to https port",
			"server speaks tls"},
	},
	{
		Hint: Hint{"plain port", "The server at this port does not speak TLS, but plain HTTP",
			"begin --url with http://"},
		Says: []string{"answered in plain http", "first record does not look like a tls handshake",
			"wrong version number", "http response to https client"},
	},
	{
		Hint: Hint{"bearer", "The server rejects the credentials",
			"give the key with --api-key; for --endpoint-type messages, whose key is sent as x-api-key, vLLM takes it only " +
				"with --header 'Authorization: Bearer KEY'"},
		Codes: []int{401}, Says: []string{`{"error":"unauthorized"}`, `{"error": "unauthorized"}`},
	},
	{
		Hint: Hint{"credentials", "The server rejects the credentials",
			"give the key with --api-key, or the header that the server expects with --header NAME:VALUE"},
		Codes: []int{401, 403},
	},
	{
		Hint: Hint{"unknown model of Triton", "The server has no model with this name, or has not loaded it",
			"--model must be one of the names that POST /v2/repository/index gives"},
		Codes: []int{400, 404}, Says: []string{"request for unknown model"},
	},
	{
		Hint: Hint{UnknownModel, "The server has no model with this name",
			"--model must be one of the names that its list /v1/models gives"},
		Codes: []int{400, 404, 422},
		Says: []string{"model*not found", "model*not exist", "model_not_found", "unknown model", "no such model",
			"invalid model", "model*not a valid",
			"model*is not supported", "model*not available", "unsupported model"},
	},
	{
		Hint: Hint{"web page", "A web server answers with a page, not an inference API",
			"--url must be the base URL of the API; --custom-endpoint sets the path below it"},
		Codes: []int{200, 400, 404, 405}, Says: page,
	},
	{
		Hint: Hint{"web page", "A web server answers with a page, not an inference API",
			"--url must be the base URL of the API; --custom-endpoint sets the path below it"},
		Types: []string{"InvalidInferenceResultError", "JSONDecodeError"}, Says: page,
	},
	{
		Hint: Hint{"path", "The server does not know this path",
			"check the path in --url; --endpoint-type chooses another API, --custom-endpoint another path"},
		Codes: []int{404, 410},
	},
	{
		Hint: Hint{"method", "The server does not accept such a request at this path",
			"check the path in --url; --endpoint-type chooses another API, --custom-endpoint another path"},
		Codes: []int{405, 501},
	},
	{
		Hint: Hint{TooLarge, "The request is larger than the server, or a proxy before it, accepts",
			"make it smaller with --isl (--synthetic-input-tokens-mean) or smaller media, or raise the server's limit"},
		Codes: []int{413},
	},
	{
		Hint: Hint{"content type", "The server does not accept this type of content",
			"check --endpoint-type and --request-content-type"},
		Codes: []int{415},
	},
	{
		Hint: Hint{"content", "The server rejects the content of the request",
			"its message names the field; --extra-inputs and --use-legacy-max-tokens change fields, --endpoint-type " +
				"chooses another API, --export-level raw writes the requests to a file"},
		Codes: []int{400, 422},
	},
	{
		Hint: Hint{"rate limit", "The server limits the rate of requests",
			"lower --concurrency or --request-rate; where the error names Retry-After, wait for that time"},
		Codes: []int{429},
	},
	{
		Hint: Hint{"event", "The server reported a failure in the middle of its reply",
			"its own log says why"},
		Types: []string{"SSEResponseError", "StreamResponseError"},
	},
	{
		Hint: Hint{"server failed", "The server failed",
			"its own log says why; --concurrency 1 shows whether it is the load"},
		Codes: []int{500},
	},
	{
		Hint: Hint{"gateway", "The server is starting, overloaded, or not reached by the gateway before it",
			"--wait-for-model-timeout SECONDS waits until it is ready; --concurrency or --request-rate make the load " +
				"smaller"},
		Codes: []int{502, 503, 504, 529},
	},
	{
		Hint: Hint{"refused", "Nothing listens at this address",
			"check host and port of --url and that the server runs; --wait-for-model-timeout SECONDS waits for it"},
		Types: []string{neterr.Connector, "ConnectionRefusedError"}, Says: []string{"refused"},
	},
	{
		Hint: Hint{"name", "The host name cannot be resolved",
			"check the spelling of --url, and the name service of this machine"},
		Types: []string{neterr.DNS},
	},
	{
		Hint: Hint{"certificate", "The certificate of the server is not accepted",
			"--tls-ca-file names the authority to trust; --url must name the server as its certificate does"},
		Types: []string{neterr.Certificate},
	},
	{
		Hint: Hint{"TLS", "The TLS connection fails",
			"check the port of --url; it begins with http:// for a server without TLS"},
		Types: []string{neterr.SSL},
	},
	{
		Hint: Hint{"no connection", "The server does not take the connection in time",
			"check host and port of --url, and what is in between: a firewall, a proxy, an unreachable network"},
		Types: []string{neterr.ConnectTimeout},
	},
	{
		Hint: Hint{"no TLS", "The server takes the connection but does not answer in TLS",
			"begin --url with http:// for a server without TLS, or check its port"},
		Types: []string{neterr.TLSTimeout},
	},
	{
		Hint: Hint{"no connection", "The server cannot be reached",
			"check host and port of --url, and what is in between: a firewall, a proxy, an unreachable network"},
		Types: []string{neterr.Connector},
	},
	{
		Hint: Hint{"time-out", "No complete reply came in time",
			"--request-timeout-seconds allows more time; --osl or --concurrency make the work smaller"},
		Types: []string{neterr.Timeout},
	},
	{
		Hint: Hint{"closed", "The server closed the connection before its reply was complete",
			"its own log may say why; --connection-reuse-strategy never shows whether it closes idle connections too " +
				"early"},
		Types: []string{neterr.ServerDisconnected, neterr.OS, neterr.Payload},
	},
}
