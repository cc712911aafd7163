package endpoint

import (
	"slices"
	"strings"
	"testing"

	"aiperf/internal/wire/api"
)

// What a type says about system messages is what its bodies show.
func TestTypesThatTakeSystemMessages(t *testing.T) {
	var takes, bear []string
	for _, d := range api.All() {
		if d.SystemMessage {
			takes = append(takes, d.Name)
			if body := string(encode(t, d.Name, Options{},
				with(turns(text("a")), "SYSTEM", "")).Bytes); !strings.Contains(body, "SYSTEM") {
				t.Errorf("%s: %s", d.Name, body)
			}
		}
		if d.Marks {
			bear = append(bear, d.Name)
			for _, m := range []Mark{{Text: "[m]"}, {Text: "[m]", After: true}, {Text: "[m]", System: true}} {
				c := with(turns(text("a")), "SYSTEM", "")
				if c.Mark(m) != m.System {
					t.Errorf("%s: the system message is not found", d.Name)
				}
				if body := string(encode(t, d.Name, Options{}, c).Bytes); !strings.Contains(body, "[m]") {
					t.Errorf("%s, %+v: %s", d.Name, m, body)
				}
			}
		}
	}
	if want := []string{"chat", "responses", "chat_embeddings", "messages", "kserve_chat"}; !slices.Equal(takes, want) {
		t.Errorf("system messages: %v", takes)
	}
	if want := []string{"chat", "responses", "messages", "kserve_chat"}; !slices.Equal(bear, want) {
		t.Errorf("marks: %v", bear)
	}
}
