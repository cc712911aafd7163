package endpoint

// Made is a body that another program encoded. Text is what is counted as its input; nil: what it shows.
func Made(payload []byte, contentType string, stream bool, text *string) *Body {
	b := newBody(payload, stream)
	b.ContentType, b.text = contentType, text
	return b
}
