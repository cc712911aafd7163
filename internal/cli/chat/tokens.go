package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"aiperf/internal/cli/command"
	"aiperf/internal/config/env"
	"aiperf/internal/config/resolve"
	"aiperf/internal/workload/tokenizer"
	"aiperf/internal/workload/tokenizer/load"
)

// Counter counts the tokens of replies whose server does not. A tokenizer that was asked for must be
// there; the model's own, which is the default, is looked for when the first count is due, since most
// servers report their counts, and the built-in one replaces it.
func Counter(e *command.Env, arguments *Arguments, env *env.Values) (func(text string) int, error) {
	find := func(name string) (tokenizer.Tokenizer, error) {
		ctx, cancel := context.WithTimeout(context.Background(), env.Service.TokenizerPreloadTimeout)
		defer cancel()
		return e.FindTokenizer(ctx, name, "")
	}
	if name := arguments.Tokenizer; name != "" {
		tok, err := find(name)
		if err != nil {
			return nil, err
		}
		return tok.Count, nil
	}
	var tok tokenizer.Tokenizer
	return func(text string) int {
		if tok == nil && text != "" {
			tok = tokenizer.Builtin()
			if name := arguments.Model; !resolve.IsPlaceholder(name) {
				if own, err := find(name); err == nil {
					tok = own
				} else {
					fmt.Fprintf(e.Terminal.Err, "tokens are counted with %s, because the tokenizer of %s cannot be "+
						"loaded: %s; choose another with --tokenizer\n",
						tok.Name(), name, short(err))
				}
			}
		}
		if text == "" {
			return 0
		}
		return tok.Count(text)
	}, nil
}

// short is an error without the advice on it.
func short(err error) string {
	var failed *load.Failure
	if errors.As(err, &failed) {
		err = failed.Err
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
