package resolve

import (
	"strings"

	"aiperf/internal/config"
)

// BuiltinTokenizer is the name of the vocabulary that needs no download.
const BuiltinTokenizer = "builtin"

// tokens decides which tokenizers count.
type tokens struct {
	*asked
	endpoint *endpoint
	file     *datafile
}

func (tk *tokens) build() config.Tokenizer {
	if !tk.endpoint.facts.ProducesTokens && !tk.endpoint.facts.TokenizesInput || !tk.needed() {
		return config.Tokenizer{}
	}
	t := config.Tokenizer{Given: tk.given("tokenizer"), Revision: tk.p.Text("tokenizer-revision"),
		ChatTemplate: tk.p.Bool("apply-chat-template")}
	own, _ := tk.p.Value("model-tokenizers").([]string)
	for i, model := range tk.endpoint.models {
		name := model
		switch {
		case i < len(own) && own[i] != "":
			name = own[i]
		case t.Given:
			name = tk.p.Text("tokenizer")
		case IsPlaceholder(model):
			tk.warn("the model %s is a placeholder and --tokenizer is not given: token counts follow %s (o200k_base)",
				model, BuiltinTokenizer)
			name = BuiltinTokenizer
		}
		t.ByModel = append(t.ByModel, name)
	}
	t.Name = t.ByModel[0]
	return t
}

// needed is false where the server counts, no text is generated and none is sent as ids.
func (tk *tokens) needed() bool {
	p := tk.p
	return tk.endpoint.facts.TokenIDs || !tk.endpoint.serverCounts() || tk.file.madeOfLengths() ||
		intOr0(p.Int("shared-system-prompt-length")) > 0 || intOr0(p.Int("user-context-prompt-length")) > 0 ||
		*p.Int("prompt-prefix-length") > 0
}

// IsPlaceholder reports whether the name of a model is a usual placeholder.
func IsPlaceholder(model string) bool {
	switch strings.ToLower(model) {
	case "mock-model", "test-model", "fake-model", "dummy-model", "example-model", "sample-model", "placeholder-model":
		return true
	}
	return false
}

func (tk *tokens) check() {
	if tk.endpoint.facts.ProducesTokens || tk.endpoint.facts.TokenizesInput {
		return
	}
	if flags := tk.givenOf("tokenizer", "tokenizer-revision", "tokenizer-trust-remote-code",
		"apply-chat-template"); len(flags) > 0 {
		tk.fault("V32", "%s cannot be used with --endpoint-type %s, which counts no tokens", strings.Join(flags, ", "),
			tk.endpoint.endpointType)
	}
}
