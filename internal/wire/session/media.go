package session

import (
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/dataset"
)

// shown is what a request shows and plays: the number of its images and the nanoseconds of its sound,
// 0 for none. The body holds it all, except the length of sound that only the dataset knows.
func (s *Session) shown(turn int, body *endpoint.Body) (images, audioNS int64) {
	n, seconds := body.Media()
	if seconds == 0 {
		turns := s.conversation.Turns[:turn+1]
		if s.mode == dataset.MessageArrayWithResponses || body.Alone() {
			turns = turns[turn:]
		}
		for i := range turns {
			seconds += turns[i].AudioSeconds
		}
	}
	return int64(n), int64(seconds * 1e9)
}
