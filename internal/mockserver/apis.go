package mockserver

import "time"

// api is one of the inference routes.
type api uint8

const (
	apiChat api = iota
	apiCompletions
	apiEmbeddings
	apiResponses
	apiMessages
	apiTGI
	apiTGIStream
	apiSGLang // on the path of apiTGI, told by its token ids
	apiCohere
	apiTEI
	apiNIMRanking
	apiImages
	apiImageEdits
	apiImageInfer
	apiImageInferClient
	apiTranscriptions
	apiVideos
	apiSolido
	apiMultimodal
	apiInfer // tensors of text; the kinds below are told by what the request holds
	apiInferEmbeddings
	apiInferRankings
	apiInferImages
	numAPIs = iota
)

// output is what a reply's length is made of.
type output uint8

const (
	tokenOutput output = iota // by the prompt and the limits
	noTokens
	transcript // by the length of the audio
)

// apiInfo describes a route.
type apiInfo struct {
	path, name, idPrefix, object, chunkObject string
	output                                    output
	thinks                                    bool // models that reason do so here
	// whole builds the body of a reply, event one event of a stream; nil: as the chat API does. ends are
	// the events after the tokens.
	whole func(*conn, []byte) []byte
	event func(*stream, int)
	ends  []int
}

// apis describes the inference routes; an api is an index into it.
var apis [numAPIs]apiInfo

func init() { // some of them refer to the table
	done := []int{kindDone}
	apis = [...]apiInfo{
		apiChat: {path: "/v1/chat/completions", name: "chat", idPrefix: "chatcmpl-", object: "chat.completion",
			chunkObject: "chat.completion.chunk",
			thinks:      true, ends: done},
		apiCompletions: {path: "/v1/completions", name: "completions", idPrefix: "cmpl-", object: "text_completion",
			chunkObject: "text_completion", ends: done},
		apiEmbeddings: {path: "/v1/embeddings", name: "embeddings", idPrefix: "emb-", output: noTokens,
			whole: wholeEmbeddings},
		apiResponses: {path: "/v1/responses", name: "responses", idPrefix: "resp_", thinks: true, whole: wholeResponse,
			event: responseEvent, ends: done},
		apiMessages: {path: "/v1/messages", name: "messages", idPrefix: "msg_", thinks: true, whole: wholeMessage,
			event: messageEvent, ends: done},
		apiTGI: {path: "/generate", name: "generate", idPrefix: "gen-", whole: wholeGenerated},
		apiTGIStream: {path: "/generate_stream", name: "generate_stream", idPrefix: "gen-", whole: wholeGenerated,
			event: generatedEvent},
		apiSGLang: {path: "/generate", name: "sglang_generate", idPrefix: "gen-", whole: wholeIDs, event: idsEvent,
			ends: done},
		apiCohere: {path: "/v2/rerank", name: "cohere_rerank", idPrefix: "rank-", output: noTokens,
			whole: wholeRanking},
		apiTEI:        {path: "/rerank", name: "rerank", idPrefix: "rank-", output: noTokens, whole: wholeRanking},
		apiNIMRanking: {path: "/v1/ranking", name: "ranking", idPrefix: "rank-", output: noTokens, whole: wholeRanking},
		apiImages: {path: "/v1/images/generations", name: "images", idPrefix: "img-", output: noTokens,
			whole: wholeImages, event: imageEvent,
			ends: []int{kindPartial, kindImage}},
		apiImageEdits: {path: "/v1/images/edits", name: "image_edits", idPrefix: "img-", output: noTokens,
			whole: wholeImages},
		apiImageInfer: {path: "/v1/image/infer", name: "image_infer", idPrefix: "img-", output: noTokens,
			whole: wholeInfer},
		apiImageInferClient: {path: "/v1/infer", name: "image_infer", idPrefix: "img-", output: noTokens,
			whole: wholeInfer},
		apiTranscriptions: {path: "/v1/audio/transcriptions", name: "transcriptions", idPrefix: "tr-",
			output: transcript, whole: wholeTranscript},
		apiVideos: {path: "/v1/videos", name: "videos", idPrefix: "video-", output: noTokens,
			whole: wholeVideo},
		apiSolido: {path: "/rag/api/prompt", name: "rag", idPrefix: "rag-", whole: wholeAnswer,
			event: answerEvent},
		apiMultimodal: {path: "/v1/custom-multimodal", name: "custom_multimodal", idPrefix: "mm-",
			whole: wholeMultimodal, event: answerEvent},
		apiInfer: {path: oipPath, name: "oip_infer", idPrefix: "oip-", whole: wholeInferText,
			event: inferEvent},
		apiInferEmbeddings: {path: oipPath, name: "oip_embeddings", idPrefix: "oip-", output: noTokens,
			whole: wholeInferEmbeddings},
		apiInferRankings: {path: oipPath, name: "oip_rankings", idPrefix: "oip-", output: noTokens,
			whole: wholeInferRanking},
		apiInferImages: {path: oipPath, name: "oip_images", idPrefix: "oip-", output: noTokens,
			whole: wholeInferImages},
	}
}

// work is how long the reply of an API without tokens takes; negative for the others.
func (o *Options) work(a api, r *request) time.Duration {
	work := time.Duration(-1)
	switch a {
	case apiEmbeddings, apiInferEmbeddings:
		work = o.EmbeddingBase + time.Duration(r.inputs)*o.EmbeddingPerInput
	case apiCohere, apiTEI, apiNIMRanking, apiInferRankings:
		work = o.RankingBase + time.Duration(r.inputs)*o.RankingPerPassage
	case apiImageInfer, apiImageInferClient:
		work = o.ImageInferBase + time.Duration(r.inputs)*o.ImageInferPer
	case apiImages, apiImageEdits, apiInferImages:
		work = o.ImageLatency
	case apiVideos:
		work = 0 // the job takes its time, not its submission
	}
	if o.Fast && work > 0 {
		work = 0
	}
	return work
}
