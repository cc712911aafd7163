package session

import (
	"aiperf/internal/dataset"
	"aiperf/internal/endpoint"
)

// shown is what a request shows and plays: the number of its images and the nanoseconds of its sound,
// 0 for none.
func (s *Session) shown(turn int, body *endpoint.Body) (images, audioNS int64) {
	turns := s.conversation.Turns[:turn+1]
	if s.mode == dataset.MessageArrayWithResponses {
		turns = turns[turn:]
	}
	ready, seconds := false, 0.0
	for i := range turns {
		t := &turns[i]
		ready = ready || t.RawMessages != nil || t.RawPayload != nil
		seconds += t.AudioSeconds
		for _, m := range t.Images {
			for _, content := range m.Contents {
				if content != "" {
					images++
				}
			}
		}
	}
	if ready { // the dataset does not say what ready messages hold
		images = int64(endpoint.Images(body.Bytes))
	}
	return images, int64(seconds * 1e9)
}
