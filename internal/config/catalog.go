package config

// Catalog answers questions about things that live in other rooms.
type Catalog interface {
	// Endpoint finds an endpoint type by its canonical name.
	Endpoint(name string) (EndpointFacts, bool)
	// Metric finds a metric by its tag.
	Metric(tag string) (MetricFacts, bool)
	// MetricTags lists the tags a goodput threshold may name, for suggestions.
	MetricTags() []string
	// Threshold checks a condition of --fail-if; percentiles are the ranks of --percentiles.
	Threshold(text string, percentiles []float64) error
	// DatasetFormat tells the format of a file from its content, "" if it cannot.
	DatasetFormat(path string) string
	// DatasetRoots is the number of sessions of a dag_jsonl file that no other one refers to, 0 if it cannot be read.
	DatasetRoots(path string) int64
}

// EndpointFacts is what resolution needs to know about an endpoint type.
type EndpointFacts struct {
	// Built tells that this release can use the type.
	Built bool
	// Streams: replies may be streamed.
	Streams bool
	// ProducesTokens: replies are text with a length in tokens.
	ProducesTokens bool
	// TokenizesInput: requests have a length in tokens.
	TokenizesInput bool
	// TakesText: requests are made from texts.
	TakesText bool
	// TakesImages, TakesAudio and TakesVideo: requests may hold them.
	TakesImages, TakesAudio, TakesVideo bool
	// FormData: multipart bodies are possible. FormDataOnly: there are no others.
	FormData, FormDataOnly bool
	// StreamsOnly: there is no reply but a streamed one.
	StreamsOnly bool
	// GRPC: gRPC carries it as well. GRPCStreams: replies may be streamed there.
	GRPC, GRPCStreams bool
	// TokenIDs: the prompt is sent as token ids.
	TokenIDs bool
}

// MetricFacts is what resolution needs to know about a metric.
type MetricFacts struct {
	// Derived metrics are computed from aggregates and have no value for a single request.
	Derived bool
}
