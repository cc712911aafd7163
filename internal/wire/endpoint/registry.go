package endpoint

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/wire/oip"
	"aiperf/internal/workload/dataset"
)

// Descriptor says what an API can do. A false capability removes metrics, it does not zero them.
type Descriptor struct {
	Name          string
	Path          string // appended to the base URL; empty for types that take the URL as it is
	StreamingPath string // empty: Path
	Streams       bool   // replies may be streamed
	StreamsOnly   bool   // there is no reply but a streamed one

	ProducesTokens, TokenizesInput              bool
	TakesText                                   bool // requests are made from texts
	SupportsImage, SupportsAudio, SupportsVideo bool // as input
	ProducesImages, ProducesVideo               bool
	FormData                                    bool // multipart bodies are possible
	FormDataOnly                                bool // there is no JSON body
	Polls                                       bool // the result is polled for
	InlineMedia                                 bool // media must be data URIs
	TokenIDs                                    bool // the prompt is sent as token ids
	SingleTurn                                  bool // requests carry no history
	SystemMessage                               bool // requests may begin with a system message
	Marks                                       bool // a message may bear a mark against caches
	GRPC, GRPCStreams                           bool // gRPC carries it as well, and streams
	// KeyHeader carries the API key instead of Authorization.
	KeyHeader string
	// Headers go with every request unless the user sets them.
	Headers []dataset.Header

	MetricsTitle string // title of the console's main table
	// ServiceKind stands in the artifact directory's name.
	ServiceKind string
}

const (
	titleLLM        = "LLM Metrics"
	titleEmbeddings = "Embeddings Metrics"
	// serviceKind is that of every built-in type.
	serviceKind = "openai"
)

// registry is the only list of endpoint types.
func registry() []Descriptor {
	llm := Descriptor{Streams: true, ProducesTokens: true, TokenizesInput: true, TakesText: true, MetricsTitle: titleLLM}
	input := Descriptor{TokenizesInput: true, TakesText: true}
	media := Descriptor{}
	return []Descriptor{
		llm.with("chat", "/v1/chat/completions", "", images, audios, videos, system, marks),
		llm.with("completions", "/v1/completions", "", singleTurn),
		input.with("embeddings", "/v1/embeddings", titleEmbeddings, singleTurn),
		llm.with("responses", "/v1/responses", "", images, audios, system, marks),
		llm.with("messages", "/v1/messages", "", images, system, marks, func(d *Descriptor) {
			d.KeyHeader, d.Headers = "x-api-key", []dataset.Header{{Name: "anthropic-version", Value: "2023-06-01"}}
		}),
		llm.with("huggingface_generate", "/generate", "", singleTurn, streamingPath("/generate_stream")),
		llm.with("template", "", "", images, audios, videos),
		llm.with("raw", "", "", images, audios, videos),
		input.with("cohere_rankings", "/v2/rerank", "Ranking Metrics", singleTurn),
		input.with("hf_tei_rankings", "/rerank", "Ranking Metrics", singleTurn),
		input.with("nim_rankings", "/v1/ranking", "Rankings Metrics", singleTurn),
		input.with("chat_embeddings", "/v1/embeddings", titleEmbeddings, images, system),
		input.with("nim_embeddings", "/v1/embeddings", "NIM Embeddings Metrics", images, singleTurn),
		input.with("image_generation", "/v1/images/generations", "Image Generation Metrics",
			func(d *Descriptor) { d.Streams, d.ProducesImages = true, true }),
		input.with("image_edit", "/v1/images/edits", "Image Edit Metrics", images,
			func(d *Descriptor) { d.ProducesImages, d.FormData, d.FormDataOnly = true, true, true }),
		input.with("video_generation", "/v1/videos", "Video Generation Metrics",
			func(d *Descriptor) { d.ProducesVideo, d.FormData, d.Polls = true, true, true }),
		media.with("image_retrieval", "/v1/infer", "Image Retrieval Metrics", images,
			func(d *Descriptor) { d.InlineMedia = true }),
		media.with("audio_transcription", "/v1/audio/transcriptions", "Audio Transcription Metrics", audios,
			func(d *Descriptor) { d.FormData, d.FormDataOnly = true, true }),
		llm.with("solido_rag", "/rag/api/prompt", "SOLIDO RAG Metrics"),
		llm.with("sglang_generate", "/generate", "",
			func(d *Descriptor) { d.StreamsOnly, d.TokenIDs = true, true }),
		llm.with("kserve_chat", "/openai/v1/chat/completions", "", images, audios, videos, system, marks),
		llm.with("kserve_completions", "/openai/v1/completions", "", singleTurn),
		input.with("kserve_embeddings", "/openai/v1/embeddings", titleEmbeddings, singleTurn),
		llm.with("kserve_v1_predict", "/v1/models/{model}:predict", "", noStream, singleTurn),
		llm.with("kserve_v2_infer", kserveV2Path, "", noStream, singleTurn, grpcStreams),
		input.with("kserve_v2_embeddings", kserveV2Path, titleEmbeddings, singleTurn, grpc),
		input.with("kserve_v2_rankings", kserveV2Path, "Rankings Metrics", singleTurn, grpc),
		llm.with("kserve_v2_vlm", kserveV2Path, "", noStream, images, singleTurn, grpcStreams),
		input.with("kserve_v2_images", kserveV2Path, "Image Generation Metrics", singleTurn, grpc,
			func(d *Descriptor) { d.ProducesImages = true }),
	}
}

func images(d *Descriptor)     { d.SupportsImage = true }
func audios(d *Descriptor)     { d.SupportsAudio = true }
func videos(d *Descriptor)     { d.SupportsVideo = true }
func noStream(d *Descriptor)   { d.Streams = false }
func singleTurn(d *Descriptor) { d.SingleTurn = true }
func system(d *Descriptor)     { d.SystemMessage = true }
func marks(d *Descriptor)      { d.Marks = true }

func grpc(d *Descriptor)        { d.GRPC = true }
func grpcStreams(d *Descriptor) { d.GRPC, d.GRPCStreams = true, true }

const kserveV2Path = "/v2/models/{model}/infer"

// overGRPC is the descriptor of the type where gRPC carries it: calls stand in place of paths.
func (d Descriptor) overGRPC() Descriptor {
	d.Path, d.StreamingPath, d.Streams = oip.ModelInfer, oip.ModelStreamInfer, d.GRPCStreams
	return d
}

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

// builders make the endpoints that this release can drive.
func builders() map[string]func(Descriptor, Options) (Endpoint, error) {
	return map[string]func(Descriptor, Options) (Endpoint, error){
		"kserve_chat":          always(newChat),
		"kserve_completions":   always(newCompletions),
		"kserve_embeddings":    always(newEmbeddings),
		"kserve_v1_predict":    always(newKServe),
		"kserve_v2_infer":      always(newInference),
		"kserve_v2_embeddings": always(newInference),
		"kserve_v2_rankings":   always(newInference),
		"kserve_v2_vlm":        always(newInference),
		"kserve_v2_images":     always(newInference),
		"chat":                 always(newChat),
		"completions":          always(newCompletions),
		"embeddings":           always(newEmbeddings),
		"responses":            always(newResponses),
		"messages":             always(newAnthropic),
		"huggingface_generate": always(newTGI),
		"template":             newTemplate,
		"raw":                  always(newRaw),
		"cohere_rankings":      always(newRankings),
		"hf_tei_rankings":      always(newRankings),
		"nim_rankings":         always(newRankings),
		"chat_embeddings":      always(newChatEmbeddings),
		"nim_embeddings":       always(newEmbeddings),
		"image_generation":     always(newImageGeneration),
		"image_edit":           always(newImageEdit),
		"video_generation":     always(newVideoGeneration),
		"image_retrieval":      always(newImageRetrieval),
		"audio_transcription":  always(newTranscription),
		"solido_rag":           always(newSolido),
		"sglang_generate":      always(newSGLang),
	}
}

// always makes a builder of one that cannot fail.
func always(build func(Descriptor, Options) Endpoint) func(Descriptor, Options) (Endpoint, error) {
	return func(d Descriptor, o Options) (Endpoint, error) { return build(d, o), nil }
}

// Names lists the endpoint types in the order of the registry.
func Names() []string {
	all := registry()
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	return names
}

// Lookup finds a type by its name, in any case; built tells whether this release can drive it. The
// name of an unknown type yields a Descriptor without a name.
func Lookup(name string) (d Descriptor, built bool) {
	all := registry()
	i := slices.IndexFunc(all, func(d Descriptor) bool { return strings.EqualFold(d.Name, name) })
	if i < 0 {
		return Descriptor{}, false
	}
	_, built = builders()[all[i].Name]
	return all[i], built
}

// New binds a type to the options of a run.
func New(name string, o Options) (Endpoint, error) {
	d, built := Lookup(name)
	switch {
	case d.Name == "":
		return nil, fmt.Errorf("unknown endpoint type %q: want one of %s", name, strings.Join(Names(), ", "))
	case !built:
		return nil, fmt.Errorf("endpoint type %s is not available in this release", d.Name)
	case o.GRPC && !d.GRPC:
		return nil, fmt.Errorf("endpoint type %s is not carried by gRPC", d.Name)
	case o.GRPC:
		d = d.overGRPC()
	}
	return builders()[d.Name](d, o)
}
