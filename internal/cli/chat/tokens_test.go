package chat_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/cli/chat"
	"aiperf/internal/cli/command"
	"aiperf/internal/config/env"
)

// Tokens that a server does not count are those of the tokenizer that was asked for, else of the model's own,
// which is looked for when it is needed; the built-in one stands in for it, with a word.
func TestTokenizerOfAChat(t *testing.T) {
	own := t.TempDir()
	const words = `{"pre_tokenizer":{"type":"Whitespace"},"model":{"type":"WordLevel","unk_token":"?","vocab":{"?":0}}}`
	if err := os.WriteFile(filepath.Join(own, "tokenizer.json"), []byte(words), 0o600); err != nil {
		t.Fatal(err)
	}
	const text = "unbelievably incomprehensible"
	for _, c := range []struct {
		name, model, tokenizer string
		want                   int
		said                   string
	}{
		{"the model's own", own, "", 2, ""},
		{"asked for", "m", own, 2, ""},
		{"built in", own, "builtin", 6, ""},
		{"a placeholder has none", "mock-model", "", 6, ""},
		{"one that cannot be loaded", "nobody/no-such-model", "", 6,
			"the tokenizer of nobody/no-such-model cannot be loaded: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			var said bytes.Buffer
			offline := map[string]string{"HF_HUB_OFFLINE": "1", "HF_HOME": t.TempDir()}
			e := &command.Env{Terminal: &command.Terminal{Err: &said},
				LookupEnv: func(name string) (string, bool) { v, ok := offline[name]; return v, ok }}
			env, _, err := env.Read(e.LookupEnv)
			if err != nil {
				t.Fatal(err)
			}
			count, err := chat.Counter(e, &chat.Arguments{Model: c.model, Tokenizer: c.tokenizer}, &env)
			if err != nil {
				t.Fatal(err)
			}
			if count(""); said.Len() > 0 {
				t.Errorf("a tokenizer was looked for in vain: %s", &said)
			}
			for range 2 {
				if got := count(text); got != c.want {
					t.Errorf("%d tokens, want %d", got, c.want)
				}
			}
			if got := said.String(); c.said == "" && got != "" || strings.Count(got, "\n") > 1 ||
				!strings.Contains(got, c.said) {
				t.Errorf("said %q", got)
			}
		})
	}
}
