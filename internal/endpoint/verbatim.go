package endpoint

// Verbatim is the body of a request that is sent as it was recorded. Whether the reply is streamed is
// what it says itself.
func Verbatim(payload []byte) *Body {
	return &Body{Bytes: payload, ContentType: contentTypeJSON, Stream: string(find(payload, "stream")) == "true"}
}
