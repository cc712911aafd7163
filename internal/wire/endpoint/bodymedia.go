package endpoint

import (
	"bytes"
	"encoding/base64"
	"strings"

	"aiperf/internal/base/jsonscan"
)

// This file finds the media of an encoded body by its shape, whatever API it is for.

// countImages counts the image parts of a body, those that only refer to a cached image included.
func countImages(body []byte) int {
	if !bytes.Contains(body, []byte(`image`)) {
		return 0
	}
	n := 0
	for part := range parts(body) {
		switch jsonscan.FindText(part, "type") {
		case "image_url", "input_image", "image":
			n++
		}
	}
	return n
}

// audioSeconds64 adds up the lengths of the audio parts of a body.
func audioSeconds64(body []byte) float64 {
	if !bytes.Contains(body, []byte(`"input_audio"`)) {
		return 0
	}
	var seconds float64
	for part := range parts(body) {
		if audio := jsonscan.Find(part, "input_audio"); audio != nil {
			seconds += wavSeconds(jsonscan.FindText(audio, "data"))
		}
	}
	return seconds
}

// parts walks the items of a body's list of messages and the parts of their contents.
func parts(body []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		list := jsonscan.Find(body, "messages")
		if list == nil {
			list = jsonscan.Find(body, "input")
		}
		for item := range jsonscan.Elements(list) {
			if !yield(item) {
				return
			}
			for part := range jsonscan.Elements(jsonscan.Find(item, "content")) {
				if !yield(part) {
					return
				}
			}
		}
	}
}

// wavHeaderBytes is how much of a file is looked at for the start of its samples.
const wavHeaderBytes = 4096

// wavSeconds is the length of a WAV file in base64; 0 for anything else.
func wavSeconds(encoded string) float64 {
	const riff = "UklGR" // RIFF
	if !strings.HasPrefix(encoded, riff) {
		return 0
	}
	total := len(encoded) / 4 * 3
	total -= strings.Count(encoded[max(0, len(encoded)-2):], "=")
	head := encoded
	if limit := wavHeaderBytes / 3 * 4; len(head) > limit {
		head = head[:limit]
	}
	b, err := base64.StdEncoding.DecodeString(head)
	if err != nil {
		return 0
	}
	start, perSecond, promised, ok := wavFormat(b)
	if !ok || perSecond == 0 {
		return 0
	}
	// A writer that streams does not know the size and leaves a large one.
	return float64(min(int64(promised), int64(total-start))) / float64(perSecond)
}
