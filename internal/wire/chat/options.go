// Package chat is a conversation with a model by hand: it sends what is typed, prints the reply as it
// streams, and says how fast it was. It is for a look at a server, not for a measurement: nothing is
// written to files.
package chat

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/pflag"
)

// Arguments are what the command was given.
type Arguments struct {
	Model, URL   string
	SystemPrompt *string
	// Quick is the only message; nil asks for messages.
	Quick *string
	// History sends the turns so far with each message.
	History   bool
	APIKey    string
	Tokenizer string
}

const (
	defaultURL = "http://localhost:8000"
	path       = "/v1/chat/completions"
)

// Help is the help text of the command.
func Help() string {
	return `Usage: aiperf chat --model NAME [flags]

Talks to a model and says how fast it answers. For example:
  aiperf chat -m my-model -u localhost:8000
  aiperf chat -m my-model -u localhost:8000 --quick "Say hello"

  -m, --model NAME          model that requests ask for (required)
  -u, --url URL             address of the server [default: http://localhost:8000]; /v1/chat/completions is
                            appended unless it is there
      --system-prompt TEXT  system message of the conversation
  -q, --quick MESSAGE       send this one message and end; a failure is exit code 1
      --history             send the conversation so far with each message (the default)
      --no-history          send each message alone
      --api-key KEY         key sent as a bearer token; @FILE reads it from a file. Else the key is that of AIPERF_API_KEY or
                            OPENAI_API_KEY; the latter goes only to https addresses and to this machine
      --tokenizer NAME      tokenizer that counts tokens where the server reports none [default: the model's,
                            or builtin where that cannot be had]

Messages are lines of the standard input; Ctrl-D ends. Settings of the connection are those of the environment
(AIPERF_HTTP_SSL_VERIFY, AIPERF_HTTP_TRUST_ENV, AIPERF_HTTP_IP_VERSION).
`
}

// ParseArguments reads the command's arguments. The key is as it was typed.
func ParseArguments(args []string) (*Arguments, error) {
	a := &Arguments{}
	f := pflag.NewFlagSet("chat", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-"))
	})
	f.StringVarP(&a.Model, "model", "m", "", "")
	f.StringVarP(&a.URL, "url", "u", defaultURL, "")
	system, quick := f.String("system-prompt", "", ""), f.StringP("quick", "q", "", "")
	f.BoolVar(&a.History, "history", true, "")
	without := f.Bool("no-history", false, "")
	f.StringVar(&a.APIKey, "api-key", "", "")
	f.StringVar(&a.Tokenizer, "tokenizer", "", "")
	if err := f.Parse(args); err != nil {
		return nil, fmt.Errorf("%w; see aiperf chat --help", err)
	}
	switch {
	case f.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q: a message is given by --quick, or typed", f.Arg(0))
	case strings.TrimSpace(a.Model) == "":
		return nil, errors.New("--model is required: give the name of the model to talk to, for example --model my-model")
	case f.Changed("history") && f.Changed("no-history") && a.History == *without:
		return nil, errors.New("--history and --no-history cannot be used together")
	case f.Changed("quick") && strings.TrimSpace(*quick) == "":
		return nil, errors.New("--quick needs a message")
	}
	if *without {
		a.History = false
	}
	if f.Changed("system-prompt") {
		a.SystemPrompt = system
	}
	if f.Changed("quick") {
		a.Quick = quick
	}
	var err error
	a.URL, err = address(a.URL)
	return a, err
}

// address is the whole address of the API below a URL as it was typed.
func address(text string) (string, error) {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	text = strings.TrimRight(text, "/")
	switch {
	case strings.HasSuffix(text, "/chat/completions"):
	case strings.HasSuffix(text, "/v1"):
		text += strings.TrimPrefix(path, "/v1")
	default:
		text += path
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", errors.New("--url is no address of a server; write http://host:port")
	}
	return text, nil
}
