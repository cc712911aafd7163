package endpoint

import "sync"

// chatEmbeddings sends the body of the chat API and reads embeddings.
type chatEmbeddings struct {
	Endpoint
	decoders *sync.Pool
}

func newChatEmbeddings(d Descriptor, o Options) Endpoint {
	o.Streaming = false
	return &chatEmbeddings{Endpoint: newChat(d, o),
		decoders: newDecoders(func() documentReader { return embeddingFinder{} })}
}

func (e *chatEmbeddings) NewDecoder() Decoder { return e.decoders.Get().(*documentDecoder) }

// embeddingFinder takes embeddings wherever servers put them, and nothing else.
type embeddingFinder struct{}

func (embeddingFinder) reset() {}

func (embeddingFinder) takesBinary() bool { return true }

func (embeddingFinder) read(d *documentDecoder, r *root, _ []byte, atNS int64) {
	if holdsEmbeddings(r) || listsEmbeddings(r) || kindOf(r.array) == someEmbeddings {
		d.content(atNS, true)
	}
}
