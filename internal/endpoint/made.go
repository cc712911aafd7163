package endpoint

// Made is a body that another program encoded. Text is what is counted as its input; nil: what it shows.
func Made(payload []byte, contentType string, stream bool, text *string) *Body {
	return &Body{Bytes: payload, ContentType: contentType, Stream: stream, text: text}
}
