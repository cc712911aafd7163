package api

// API is one of the inference APIs.
type API uint8

// The APIs. Several kinds of requests may share a path: see SGLang and Infer.

const (
	Chat API = iota
	Completions
	Embeddings
	Responses
	Messages
	TGI
	TGIStream
	SGLang // on the path of TGI, recognized by its token ids
	Cohere
	TEI
	NIMRanking
	Images
	ImageEdits
	ImageInfer
	ImageInferClient
	Transcriptions
	Videos
	Solido
	Multimodal
	Voyage
	Score
	Pooling
	Classify
	Speech
	Infer // tensors of text; the kinds below follow from the tensors and names of a request
	InferEmbeddings
	InferRankings
	InferImages
	// Count is the number of APIs.
	Count = iota
)

// output is what a reply's length is made of.
type output uint8

const (
	tokenOutput output = iota // by the prompt and the limits
	noTokens
	transcript // by the length of the audio
	spoken     // a piece of sound for each token of the prompt
)

// info describes an API.
type info struct {
	path, name, idPrefix, object, chunkObject string
	output                                    output
	thinks                                    bool // models that reason do so here
	// whole appends the body of a reply, event one event of a stream; nil: as the chat API does. ends are
	// the events after the tokens.
	whole func(*Reply, []byte) []byte
	event func(*Events, []byte, int) []byte
	ends  []int
}

// apis describes the APIs; an [API] is an index into it.
var apis [Count]info

// init fills the table of APIs. Chunks of chat and completions have no function: they are written by hand, see
// Events.appendToken.
func init() { // not at the declaration: some of them refer to the table
	apis = [...]info{
		Chat: {path: "/v1/chat/completions", name: "chat", idPrefix: "chatcmpl-", object: "chat.completion",
			chunkObject: "chat.completion.chunk",
			thinks:      true, ends: endDone},
		Completions: {path: "/v1/completions", name: "completions", idPrefix: "cmpl-", object: "text_completion",
			chunkObject: "text_completion", ends: endDone},
		Embeddings: {path: "/v1/embeddings", name: "embeddings", idPrefix: "emb-", output: noTokens,
			whole: wholeEmbeddings},
		Responses: {path: "/v1/responses", name: "responses", idPrefix: "resp_", thinks: true, whole: wholeResponse,
			event: responseEvent, ends: endDone},
		Messages: {path: "/v1/messages", name: "messages", idPrefix: "msg_", thinks: true, whole: wholeMessage,
			event: messageEvent, ends: endDone},
		TGI: {path: "/generate", name: "generate", idPrefix: "gen-", whole: wholeGenerated},
		TGIStream: {path: "/generate_stream", name: "generate_stream", idPrefix: "gen-", whole: wholeGenerated,
			event: generatedEvent},
		SGLang: {path: "/generate", name: "sglang_generate", idPrefix: "gen-", whole: wholeIDs, event: idsEvent,
			ends: endDone},
		Cohere: {path: "/v2/rerank", name: "cohere_rerank", idPrefix: "rank-", output: noTokens,
			whole: wholeRanking},
		TEI:        {path: "/rerank", name: "rerank", idPrefix: "rank-", output: noTokens, whole: wholeRanking},
		NIMRanking: {path: "/v1/ranking", name: "ranking", idPrefix: "rank-", output: noTokens, whole: wholeRanking},
		Images: {path: "/v1/images/generations", name: "images", idPrefix: "img-", output: noTokens,
			whole: wholeImages, event: imageEvent,
			ends: []int{PartialEvent, ImageEvent}},
		ImageEdits: {path: "/v1/images/edits", name: "image_edits", idPrefix: "img-", output: noTokens,
			whole: wholeImages},
		ImageInfer: {path: "/v1/image/infer", name: "image_infer", idPrefix: "img-", output: noTokens,
			whole: wholeInfer},
		ImageInferClient: {path: "/v1/infer", name: "image_infer", idPrefix: "img-", output: noTokens,
			whole: wholeInfer},
		Transcriptions: {path: "/v1/audio/transcriptions", name: "transcriptions", idPrefix: "tr-",
			output: transcript, whole: wholeTranscript},
		Videos: {path: "/v1/videos", name: "videos", idPrefix: "video-", output: noTokens,
			whole: wholeVideo},
		Solido: {path: "/rag/api/prompt", name: "rag", idPrefix: "rag-", whole: wholeAnswer,
			event: answerEvent},
		Multimodal: {path: "/v1/custom-multimodal", name: "custom_multimodal", idPrefix: "mm-",
			whole: wholeMultimodal, event: answerEvent},
		Voyage: {path: "/v1/rerank", name: "voyage_rerank", idPrefix: "rank-", output: noTokens,
			whole: wholeRanking},
		Score: {path: "/score", name: "score", idPrefix: "score-", output: noTokens, whole: wholeScores},
		Pooling: {path: "/pooling", name: "pooling", idPrefix: "pool-", output: noTokens,
			whole: wholePooling},
		Classify: {path: "/classify", name: "classify", idPrefix: "classify-", output: noTokens,
			whole: wholeClasses},
		Speech: {path: "/v1/audio/speech", name: "speech", idPrefix: "speech-", output: spoken,
			event: speechEvent, ends: []int{SpeechEnd}},
		Infer: {path: oipPath, name: "oip_infer", idPrefix: "oip-", whole: wholeInferText,
			event: inferEvent},
		InferEmbeddings: {path: oipPath, name: "oip_embeddings", idPrefix: "oip-", output: noTokens,
			whole: wholeInferEmbeddings},
		InferRankings: {path: oipPath, name: "oip_rankings", idPrefix: "oip-", output: noTokens,
			whole: wholeInferRanking},
		InferImages: {path: oipPath, name: "oip_images", idPrefix: "oip-", output: noTokens,
			whole: wholeInferImages},
	}
}

// Path returns the path of the API; {model} stands for the name of a model.
func (a API) Path() string { return apis[a].path }

// Name returns the name of the API in the request record.
func (a API) Name() string { return apis[a].name }

// At returns the API of a path, or false if there is none.
func At(path []byte) (API, bool) {
	for i := range apis {
		if string(path) == apis[i].path {
			return API(i), true
		}
	}
	return Infer, isInfer(string(path))
}
