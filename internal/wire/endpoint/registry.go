package endpoint

import (
	"fmt"
	"strings"

	"aiperf/internal/wire/api"
	"aiperf/internal/wire/oip"
)

// Descriptor is a row of the list of types.
type Descriptor = api.Descriptor

// overGRPC is the descriptor of the type where gRPC carries it: it has calls instead of paths.
func overGRPC(d Descriptor) Descriptor {
	d.Path, d.StreamingPath, d.Streams = oip.ModelInfer, oip.ModelStreamInfer, d.GRPCStreams
	return d
}

// builders make the endpoints of the types of [api.All].
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
		"voyage_rankings":      always(newRankings),
		"vllm_score":           always(newRankings),
		"vllm_pooling":         always(newPooling),
		"vllm_classify":        always(newClassification),
		"chat_embeddings":      always(newChatEmbeddings),
		"nim_embeddings":       always(newEmbeddings),
		"image_generation":     always(newImageGeneration),
		"image_edit":           always(newImageEdit),
		"video_generation":     always(newVideoGeneration),
		"image_retrieval":      always(newImageRetrieval),
		"audio_transcription":  always(newTranscription),
		"audio_speech":         always(newSpeech),
		"solido_rag":           always(newSolido),
		"sglang_generate":      always(newSGLang),
	}
}

// always makes a builder of one that cannot fail.
func always(build func(Descriptor, Options) Endpoint) func(Descriptor, Options) (Endpoint, error) {
	return func(d Descriptor, o Options) (Endpoint, error) { return build(d, o), nil }
}

// New binds a type to the options of a run.
func New(name string, o Options) (Endpoint, error) {
	d, known := api.Lookup(name)
	switch {
	case !known:
		return nil, fmt.Errorf("unknown endpoint type %q: want one of %s", name, strings.Join(api.Names(), ", "))
	case o.GRPC && !d.GRPC:
		return nil, fmt.Errorf("endpoint type %s is not carried by gRPC", d.Name)
	case o.GRPC:
		d = overGRPC(d)
	}
	return builders()[d.Name](d, o)
}
