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
	t := config.Tokenizer{Given: tk.p.Tokenizer.Given(), Revision: tk.p.TokenizerRevision.Get(),
		ChatTemplate: tk.p.ApplyChatTemplate.Get()}
	own := tk.p.ModelTokenizers.Get()
	for i, model := range tk.endpoint.models {
		name := model
		switch {
		case i < len(own) && own[i] != "":
			name = own[i]
		case t.Given:
			name = tk.p.Tokenizer.Get()
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
		p.SharedSystemPromptLength.Get() > 0 || p.UserContextPromptLength.Get() > 0 ||
		p.PromptPrefixLength.Get() > 0
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
	if flags := givenOf(&tk.p.Tokenizer, &tk.p.TokenizerRevision, &tk.p.TokenizerTrustRemoteCode,
		&tk.p.ApplyChatTemplate); len(flags) > 0 {
		tk.fault("V32", "%s cannot be used with --endpoint-type %s, which counts no tokens", strings.Join(flags, ", "),
			tk.endpoint.endpointType)
	}
}
