package endpoint

import (
	"strconv"

	"aiperf/internal/base/jsonscan"
)

// completions is the OpenAI text completions API.
type completions struct {
	openAI
}

func newCompletions(d Descriptor, o Options) Endpoint {
	return &completions{newOpenAI(d, o)}
}

// Encode takes exactly one turn; the API has neither history nor system messages.
func (e *completions) Encode(c *Context) (*Body, error) {
	if len(c.Turns) != 1 || c.Turns[0].Turn == nil {
		return nil, valueError("Completions endpoint only supports one turn.")
	}
	turn := c.Turns[0].Turn
	w := objectWriter{buf: make([]byte, 0, sizeHint(c)), over: e.over.with(turn.Extra)}
	if w.key("prompt") {
		var prompts []string
		for _, t := range turn.Texts {
			for _, content := range t.Contents {
				if content != "" {
					prompts = append(prompts, content)
				}
			}
		}
		w.buf = appendPrompts(w.buf, prompts)
	}
	w.text("model", modelOf(turn.Model, e.options.Model))
	w.literal("stream", strconv.FormatBool(e.options.Streaming))
	if turn.MaxTokens != nil && *turn.MaxTokens != 0 {
		w.literal("max_tokens", strconv.Itoa(*turn.MaxTokens))
	}
	return w.finish(e.options.Streaming), nil
}

// appendPrompts writes a lone prompt bare and any other number as a list.
func appendPrompts(dst []byte, prompts []string) []byte {
	if len(prompts) == 1 {
		return jsonscan.AppendString(dst, prompts[0])
	}
	dst = append(dst, '[')
	for i, p := range prompts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonscan.AppendString(dst, p)
	}
	return append(dst, ']')
}
