package run

import (
	"context"

	"aiperf/internal/compare"
	"aiperf/internal/config"
	"aiperf/internal/dataset/loader"
	"aiperf/internal/endpoint"
	"aiperf/internal/metrics"
)

// Catalog tells config what the endpoint registry and the metric table know.
type Catalog struct{}

// Endpoint implements config.Catalog.
func (Catalog) Endpoint(name string) (config.EndpointFacts, bool) {
	d, built := endpoint.Lookup(name)
	if d.Name == "" {
		return config.EndpointFacts{}, false
	}
	return config.EndpointFacts{
		Built: built, Streams: d.Streams, ProducesTokens: d.ProducesTokens, TokenizesInput: d.TokenizesInput,
		TakesText: d.TakesText, TakesImages: d.SupportsImage, TakesAudio: d.SupportsAudio, TakesVideo: d.SupportsVideo,
		FormData: d.FormData, FormDataOnly: d.FormDataOnly, StreamsOnly: d.StreamsOnly, TokenIDs: d.TokenIDs,
		GRPC: d.GRPC, GRPCStreams: d.GRPCStreams,
	}, true
}

// Metric implements config.Catalog.
func (Catalog) Metric(tag string) (config.MetricFacts, bool) {
	d, ok := metrics.Lookup(tag)
	return config.MetricFacts{Derived: d.Kind != metrics.KindRecord && d.Kind != metrics.KindAggregate}, ok
}

// MetricTags implements config.Catalog.
func (Catalog) MetricTags() []string {
	var tags []string
	for _, d := range metrics.Table() {
		if d.Kind == metrics.KindRecord && !d.IsList() {
			tags = append(tags, d.Tag)
		}
	}
	return tags
}

// Threshold implements config.Catalog.
func (Catalog) Threshold(text string, percentiles []float64) error {
	_, err := compare.ParseThreshold(text, percentiles, nil)
	return err
}

// DatasetFormat implements config.Catalog. What cannot be told is no fault here: the loader says it.
func (Catalog) DatasetFormat(path string) string {
	format, _ := loader.Detect(path)
	return format
}

// DatasetRoots implements config.Catalog.
func (Catalog) DatasetRoots(path string) int64 {
	r, err := loader.Load(context.Background(), path, "dag_jsonl")
	if err != nil {
		return 0
	}
	return int64(r.Dataset.RootCount())
}
