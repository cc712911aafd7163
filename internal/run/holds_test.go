package run

import (
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/wire/api"
	"aiperf/internal/workload/dataset"
)

// talks is a store of conversations of two turns.
type talks struct{ endless }

func (talks) TurnsOf(int) int { return 2 }

func (talks) At(int) *dataset.Conversation {
	return &dataset.Conversation{SessionID: "s", Turns: make([]dataset.Turn, 2)}
}

// What is refused and told of data in memory is refused and told of data that stays in its file.
func TestAFileOutsideOfMemoryIsHeldAgainstTheEndpoint(t *testing.T) {
	t.Parallel()
	completions, _ := api.Lookup("completions")
	stored := &dataset.Dataset{Conversations: &talks{endless{n: 5}}}
	if w := sendAlone(stored, completions); !strings.Contains(w, "conversation s has 2 turns") ||
		stored.DefaultContextMode != dataset.MessageArrayWithResponses {
		t.Errorf("histories: %q, %s", w, stored.DefaultContextMode)
	}
	if w := sendAlone(stored, completions); w != "" {
		t.Errorf("turns that are sent alone: %s", w)
	}
	payload := dataset.Conversation{Turns: []dataset.Turn{{RawPayload: []byte(`{"stream":true}`)},
		{RawPayload: []byte(`{}`)}, {Images: texts("", "x")}}}
	for name, data := range map[string]*dataset.Dataset{
		"memory": {Conversations: dataset.Memory{payload}},
		"file":   {Conversations: &talks{endless{n: 5, holds: dataset.Contents{Payloads: 2, Streams: 1, Images: 1}}}},
	} {
		if got := strings.Join(unsentMedia(data, completions),
			""); got != "1 turns have images, which --endpoint-type completions does not send" {
			t.Errorf("%s: %s", name, got)
		}
		for streaming, want := range map[bool]string{true: "1 of 2 request bodies do not say",
			false: "1 of 2 request bodies say"} {
			cfg := &config.Run{}
			cfg.Endpoint.Streaming = streaming
			if got := strings.Join(verbatimWarnings(data, cfg), ""); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %q", name, got)
			}
		}
		if err := checkCacheBust(data, "system_prefix"); err == nil ||
			!strings.Contains(err.Error(), "2 turns are sent as they are") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
