// Package api lists the endpoint types: what each can do and under which path it is served. Package endpoint encodes
// and decodes their requests and replies; packages that only choose a type need this list alone.
package api

import (
	"strings"

	"aiperf/internal/workload/dataset"
)

// Descriptor describes what an API can do. A false capability removes metrics, it does not zero them.
type Descriptor struct {
	Name          string
	Path          string // appended to the base URL; empty for types that take the URL as it is
	StreamingPath string // empty: Path
	Streams       bool   // replies may be streamed
	StreamsOnly   bool   // replies are always streamed

	ProducesTokens, TokenizesInput              bool
	TakesText                                   bool // requests are made from texts
	Ranks                                       bool // these are a query and passages
	SupportsImage, SupportsAudio, SupportsVideo bool // as input
	ProducesImages, ProducesVideo               bool
	ProducesAudio                               bool // replies are sound
	FormData                                    bool // multipart bodies are possible
	FormDataOnly                                bool // bodies are never JSON
	Polls                                       bool // the result is polled for
	InlineMedia                                 bool // media must be data URIs
	TokenIDs                                    bool // the prompt is sent as token ids
	SingleTurn                                  bool // requests carry no history
	SystemMessage                               bool // requests may begin with a system message
	Marks                                       bool // a message may carry a cache-bust marker
	GRPC, GRPCStreams                           bool // gRPC carries it as well, and streams
	// Accept is what requests accept; empty: JSON, or events where the reply is to be streamed.
	Accept string
	// KeyHeader carries the API key instead of Authorization.
	KeyHeader string
	// Headers go with every request unless the user sets them.
	Headers []dataset.Header

	MetricsTitle string // title of the console's main table
	// ServiceKind is part of the artifact directory's name.
	ServiceKind string
}

const (
	titleLLM        = "LLM Metrics"
	titleEmbeddings = "Embeddings Metrics"
	// serviceKind is that of every built-in type.
	serviceKind = "openai"
)

// All is the list of endpoint types, in the order in which the help names them.
func All() []Descriptor {
	llm := Descriptor{Streams: true, ProducesTokens: true, TokenizesInput: true, TakesText: true,
		MetricsTitle: titleLLM}
	input := Descriptor{TokenizesInput: true, TakesText: true}
	media := Descriptor{}
	return []Descriptor{
		llm.with("chat", "/v1/chat/completions", "", images, audios, videos, system, marks),
		llm.with("completions", "/v1/completions", "", singleTurn),
		llm.with("responses", "/v1/responses", "", images, audios, system, marks),
		input.with("embeddings", "/v1/embeddings", titleEmbeddings, singleTurn),
		input.with("chat_embeddings", "/v1/embeddings", titleEmbeddings, images, system),
		input.with("nim_embeddings", "/v1/embeddings", "NIM Embeddings Metrics", images, singleTurn),
		input.with("cohere_rankings", "/v2/rerank", "Ranking Metrics", singleTurn, ranks),
		input.with("hf_tei_rankings", "/rerank", "Ranking Metrics", singleTurn, ranks),
		input.with("nim_rankings", "/v1/ranking", "Rankings Metrics", singleTurn, ranks),
		llm.with("huggingface_generate", "/generate", "", singleTurn, streamingPath("/generate_stream")),
		input.with("image_generation", "/v1/images/generations", "Image Generation Metrics",
			func(d *Descriptor) { d.Streams, d.ProducesImages = true, true }),
		media.with("image_retrieval", "/v1/infer", "Image Retrieval Metrics", images,
			func(d *Descriptor) { d.InlineMedia = true }),
		input.with("video_generation", "/v1/videos", "Video Generation Metrics",
			func(d *Descriptor) { d.ProducesVideo, d.FormData, d.Polls = true, true, true }),
		llm.with("solido_rag", "/rag/api/prompt", "SOLIDO RAG Metrics"),
		llm.with("template", "", "", images, audios, videos),
		llm.with("messages", "/v1/messages", "", images, system, marks, func(d *Descriptor) {
			d.KeyHeader, d.Headers = "x-api-key", []dataset.Header{{Name: "anthropic-version", Value: "2023-06-01"}}
		}),
		input.with("image_edit", "/v1/images/edits", "Image Edit Metrics", images,
			func(d *Descriptor) { d.ProducesImages, d.FormData, d.FormDataOnly = true, true, true }),
		media.with("audio_transcription", "/v1/audio/transcriptions", "Audio Transcription Metrics", audios,
			func(d *Descriptor) { d.FormData, d.FormDataOnly = true, true }),
		llm.with("raw", "", "", images, audios, videos),
		llm.with("sglang_generate", "/generate", "",
			func(d *Descriptor) { d.StreamsOnly, d.TokenIDs = true, true }),
		llm.with("kserve_chat", "/openai/v1/chat/completions", "", images, audios, videos, system, marks),
		llm.with("kserve_completions", "/openai/v1/completions", "", singleTurn),
		input.with("kserve_embeddings", "/openai/v1/embeddings", titleEmbeddings, singleTurn),
		llm.with("kserve_v1_predict", "/v1/models/{model}:predict", "", noStream, singleTurn),
		llm.with("kserve_v2_infer", kserveV2Path, "", noStream, singleTurn, grpcStreams),
		input.with("kserve_v2_embeddings", kserveV2Path, titleEmbeddings, singleTurn, grpc),
		input.with("kserve_v2_rankings", kserveV2Path, "Rankings Metrics", singleTurn, ranks, grpc),
		llm.with("kserve_v2_vlm", kserveV2Path, "", noStream, images, singleTurn, grpcStreams),
		input.with("kserve_v2_images", kserveV2Path, "Image Generation Metrics", singleTurn, grpc,
			func(d *Descriptor) { d.ProducesImages = true }),
		input.with("voyage_rankings", "/v1/rerank", "Ranking Metrics", singleTurn, ranks),
		input.with("vllm_score", "/score", "Score Metrics", singleTurn, ranks),
		input.with("vllm_pooling", "/pooling", "Pooling Metrics", singleTurn),
		input.with("vllm_classify", "/classify", "Classification Metrics", singleTurn),
		input.with("audio_speech", "/v1/audio/speech", "Audio Speech Metrics", singleTurn,
			func(d *Descriptor) { d.Streams, d.ProducesAudio, d.Accept = true, true, "*/*" }),
	}
}

func images(d *Descriptor)     { d.SupportsImage = true }
func audios(d *Descriptor)     { d.SupportsAudio = true }
func videos(d *Descriptor)     { d.SupportsVideo = true }
func noStream(d *Descriptor)   { d.Streams = false }
func singleTurn(d *Descriptor) { d.SingleTurn = true }
func ranks(d *Descriptor)      { d.Ranks = true }
func system(d *Descriptor)     { d.SystemMessage = true }
func marks(d *Descriptor)      { d.Marks = true }

func grpc(d *Descriptor)        { d.GRPC = true }
func grpcStreams(d *Descriptor) { d.GRPC, d.GRPCStreams = true, true }

const kserveV2Path = "/v2/models/{model}/infer"

func streamingPath(path string) func(*Descriptor) {
	return func(d *Descriptor) { d.StreamingPath = path }
}

// RequestPath is the path of a run's requests.
func (d Descriptor) RequestPath(streaming bool) string {
	if streaming && d.StreamingPath != "" {
		return d.StreamingPath
	}
	return d.Path
}

// with derives a descriptor; an empty title stays the base's.
func (d Descriptor) with(name, path, title string, more ...func(*Descriptor)) Descriptor {
	d.Name, d.Path, d.ServiceKind = name, path, serviceKind
	if title != "" {
		d.MetricsTitle = title
	}
	for _, f := range more {
		f(&d)
	}
	return d
}

// Names lists the endpoint types.
func Names() []string {
	all := All()
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	return names
}

// Lookup finds a type by its name, in any case.
func Lookup(name string) (d Descriptor, known bool) {
	for _, d := range All() {
		if strings.EqualFold(d.Name, name) {
			return d, true
		}
	}
	return Descriptor{}, false
}
