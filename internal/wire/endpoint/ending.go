package endpoint

import "aiperf/internal/base/jsonscan"

// end notes why the server ended the reply: a raw string, or the object around its type. What says nothing ends nothing.
func (r *Reply) end(raw []byte) {
	if startsWith(raw, '{') {
		raw = jsonscan.Find(raw, "type")
	}
	if saysNothing(raw) {
		return
	}
	r.Finished = true
	switch text := name(raw); string(text) {
	case "stop": // of all but a few replies, without a copy
		r.Ending = "stop"
	case "length":
		r.Ending = "length"
	default:
		r.Ending = plainName(string(text))
	}
}

// saysNothing reports whether a raw finish reason is none: some servers have one in each event.
func saysNothing(raw []byte) bool {
	return jsonscan.IsNull(raw) || string(raw) == `""` || string(raw) == `"null"`
}
