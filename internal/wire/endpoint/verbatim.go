package endpoint

import "aiperf/internal/base/jsonscan"

// Verbatim is the body of a request that is sent as it was recorded. Whether the reply is streamed is
// what it says itself.
func Verbatim(payload []byte) *Body {
	return newBody(payload, string(jsonscan.Find(payload, "stream")) == "true")
}
