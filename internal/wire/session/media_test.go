package session

import (
	"encoding/json"
	"testing"

	"aiperf/internal/workload/dataset"
)

func TestTrapImagesAreCountedByContent(t *testing.T) {
	turn := func(seconds float64, contents ...[]string) dataset.Turn {
		t := dataset.Turn{AudioSeconds: seconds}
		for _, c := range contents {
			t.Images = append(t.Images, dataset.Media{Contents: c})
		}
		return t
	}
	turns := []dataset.Turn{
		turn(1.5, []string{"u", "u", "u"}, []string{"u"}),
		turn(0.5, []string{"u", ""}),
		turn(0),
	}
	ready := dataset.Turn{RawMessages: []json.RawMessage{
		json.RawMessage(`{"role":"user","content":[{"type":"text","text":"t"},{"type":"image_url","image_url":{"url":"u"}}]}`),
		json.RawMessage(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}}]}`),
	}}
	whole := dataset.Turn{RawPayload: json.RawMessage(
		`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}}]}]}`)}
	for _, c := range []struct {
		name    string
		mode    dataset.ContextMode
		turns   []dataset.Turn
		turn    int
		images  int64
		audioNS int64
	}{
		{"one item of three contents and one of one", "", turns, 0, 4, 1_500_000_000},
		{"with the turns before", "", turns, 1, 5, 2_000_000_000},
		{"a turn of text after them", "", turns, 2, 5, 2_000_000_000},
		{"a turn alone", dataset.MessageArrayWithResponses, turns, 1, 1, 500_000_000},
		{"ready messages", dataset.MessageArrayWithResponses, []dataset.Turn{ready}, 0, 2, 0},
		{"whole bodies", dataset.MessageArrayWithResponses, []dataset.Turn{whole}, 0, 1, 0},
		{"text", "", []dataset.Turn{turn(0)}, 0, 0, 0},
	} {
		s := store(t, "chat", dataset.Conversation{SessionID: "c", ContextMode: c.mode, Turns: c.turns})
		p := s.Session(0, 0).Prepare(c.turn)
		if p.Err != nil || p.Images != c.images || p.AudioNS != c.audioNS {
			t.Errorf("%s: %d images, %d ns of sound, %v", c.name, p.Images, p.AudioNS, p.Err)
		}
	}
}
