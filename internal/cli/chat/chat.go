package chat

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/clock"
	"aiperf/internal/cli/command"
	"aiperf/internal/config/env"
	"aiperf/internal/config/flags"
	"aiperf/internal/config/option"
	"aiperf/internal/config/parse"
	"aiperf/internal/config/settings"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/session"
)

const help = `Usage: aiperf chat --model NAME [flags]

Chats with a model and shows how fast it answers.

`

// Options are the flags of the command.
type Options struct {
	Arguments
	with, without *bool
}

// Table returns the flags of the command.
func (o *Options) Table() *flags.Table {
	text := func(to **string) func(string) error { return func(v string) error { *to = &v; return nil } }
	return &flags.Table{Command: "chat", Foreign: option.Foreign, Page: "chat", Examples: []flags.Example{
		{For: "a conversation", Command: "aiperf chat -m my-model -u localhost:8000"},
		{For: "one question", Command: "aiperf chat -m my-model -u localhost:8000 --quick \"Say hello\""},
	},
		About: help, Clustered: true,
		Flags: []flags.Flag{
			flags.Value("model -m", "NAME", "model that requests ask for (required)", flags.Text(&o.Model)),
			flags.Value("url -u", "URL",
				"address of the server [default: "+DefaultURL+"]; /v1/chat/completions is\n"+
					"appended unless it is there", flags.Text(&o.URL)),
			flags.Value("system-prompt", "TEXT", "system message of the conversation", text(&o.SystemPrompt)),
			flags.Value("quick -q", "MESSAGE", "send this one message and end; a failure is exit code 1",
				text(&o.Arguments.Quick)),
			flags.Value("history", "", "send the conversation so far with each message (the default)",
				command.Truth(func(v bool) { o.with = &v })),
			flags.Value("no-history", "", "send each message alone", command.Truth(func(v bool) { o.without = &v })),
			flags.Value("api-key", "KEY",
				"key sent as a bearer token; @FILE reads it from a file. Else the key is that of AIPERF_API_KEY or\n"+
					"OPENAI_API_KEY; the latter goes only to https addresses and to this machine",
				flags.Text(&o.APIKey)),
			flags.Value("tokenizer", "NAME",
				"tokenizer that counts tokens where the server reports none [default: the model's,\n"+
					"or builtin if it cannot be loaded]", flags.Text(&o.Tokenizer)),
		}, Footer: `
Messages are lines of the standard input; Ctrl-D ends. Settings of the connection come from the environment
(AIPERF_HTTP_SSL_VERIFY, AIPERF_HTTP_TRUST_ENV, AIPERF_HTTP_IP_VERSION).
`}
}

// Complete decides what flags leave open.
func (o *Options) Complete(words []string) error {
	switch {
	case len(words) > 0:
		return fmt.Errorf("unexpected argument %q: a message is given by --quick, or typed", words[0])
	case o.with != nil && o.without != nil && *o.with == *o.without:
		return errors.New("--history and --no-history cannot be used together")
	}
	o.History = (o.with == nil || *o.with) && (o.without == nil || !*o.without)
	return o.Arguments.Complete()
}

// run talks to a model.
func run(e *command.Env, args []string) error {
	e.HideSecrets(args)
	o := Options{Arguments: Arguments{URL: DefaultURL}}
	words, err := e.Parse(o.Table(), args)
	if err != nil {
		return err
	}
	if err := o.Complete(words); err != nil {
		return err
	}
	arguments := &o.Arguments
	key, err := parse.FindKey(arguments.APIKey, []string{arguments.URL}, e.LookupEnv)
	if err != nil {
		return fmt.Errorf("--api-key: %w", err)
	}
	if key.Withheld {
		fmt.Fprintf(e.Terminal.Err, "The key in %s is not sent: --url is neither https nor on this machine; "+
			"--api-key or AIPERF_API_KEY sends a key anywhere\n", key.Variable)
	}
	redactor := artifact.NewRedactor(append(settings.SecretsOf(args, e.LookupEnv), key.Value)...)
	e.Redactor = redactor
	env, _, err := env.Read(e.LookupEnv)
	if err != nil {
		return err
	}
	count, err := Counter(e, arguments, &env)
	if err != nil {
		return err
	}
	own, err := client.New(connectionOptions(&env), clock.New())
	if err != nil {
		return err
	}
	defer own.Close()
	headers := session.Headers{Version: command.Version, APIKey: key.Value}
	s := &Session{
		Arguments: arguments, Sender: own, Headers: headers.List(true, "application/json"),
		Count: count, Out: redactor.Writer(e.Terminal.StyledOut), Err: e.Terminal.Err, Redact: redactor.Text,
		ReadGap: env.Chat.ReadTimeout,
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if arguments.Quick != nil {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() {
			select {
			case <-signals:
				cancel()
			case <-ctx.Done():
			}
		}()
		if err := s.Quick(ctx); err != nil {
			return fmt.Errorf("request failed: %w", err)
		}
		return nil
	}
	interrupts, done := make(chan struct{}), make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case <-signals:
			case <-done:
				return
			}
			select {
			case interrupts <- struct{}{}:
			case <-done:
				return
			}
		}
	}()
	return s.Run(ctx, os.Stdin, interrupts)
}

// connectionOptions are those of a connection on which a person waits: no limit in total.
func connectionOptions(env *env.Values) client.Options {
	o := client.DefaultOptions()
	o.Timeout, o.ConnectTimeout = 0, env.Chat.ConnectTimeout
	// A person may think longer than a server keeps an idle connection.
	o.KeepAliveTimeout = 30 * time.Second
	o.SSLVerify, o.IPVersion = env.HTTP.SSLVerify, env.HTTP.IPVersion
	if env.HTTP.TrustEnv {
		o.Proxy = client.ProxyFromEnvironment
	}
	return o
}
