package run

import (
	"sync"

	"aiperf/internal/endpoint"
	"aiperf/internal/tokenizer/chat"
)

// templated counts conversations with their chat template, other texts as they are.
type templated struct {
	endpoint.Counter
	template *chat.Template
	warn     func(error)
	once     sync.Once // a refusal is told once
}

// CountMessages implements endpoint.MessageCounter.
func (t *templated) CountMessages(messages []byte) (int, bool) {
	text, err := t.template.Render(messages)
	if err != nil {
		t.once.Do(func() { t.warn(err) })
		return 0, false
	}
	return t.Count(text), true
}
