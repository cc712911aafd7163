package run

import (
	"errors"
	"sync"
	"sync/atomic"

	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/jinja"
	"aiperf/internal/workload/tokenizer/chat"
)

// templated counts conversations with their chat template, other texts as they are.
type templated struct {
	endpoint.Counter
	template *chat.Template
	warn     func(error)
	once     sync.Once   // a refusal is told once
	off      atomic.Bool // the template does not end; it is not tried again
}

// CountMessages implements endpoint.MessageCounter.
func (t *templated) CountMessages(messages []byte) (int, bool) {
	if t.off.Load() {
		return 0, false
	}
	text, err := t.template.Render(messages)
	if err != nil {
		if errors.Is(err, jinja.ErrEndless) {
			t.off.Store(true)
		}
		t.once.Do(func() { t.warn(err) })
		return 0, false
	}
	return t.Count(text), true
}
