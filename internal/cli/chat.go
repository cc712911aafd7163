package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/clock"
	"aiperf/internal/config"
	"aiperf/internal/wire/chat"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/session"
)

// chat talks to a model.
func (a *app) chat(args []string) int {
	if wantsHelp(args) {
		fmt.Fprint(a.terminal.out, chat.Help())
		return ExitOK
	}
	a.hideSecrets(args)
	arguments, err := chat.ParseArguments(args)
	if err != nil {
		return a.fail(err)
	}
	key, err := config.FindKey(arguments.APIKey, []string{arguments.URL}, a.env)
	if err != nil {
		return a.fail(fmt.Errorf("--api-key: %w", err))
	}
	if key.Withheld {
		fmt.Fprintf(a.terminal.err, "The key in %s is not sent: --url is neither https nor on this machine; --api-key or AIPERF_API_KEY sends a key anywhere\n", key.Variable)
	}
	redactor := artifact.NewRedactor(append(config.SecretsOf(args, a.env), key.Value)...)
	a.redactor = redactor
	env, _, err := config.ReadEnv(a.env)
	if err != nil {
		return a.fail(err)
	}
	count, err := a.chatCounter(arguments, &env)
	if err != nil {
		return a.fail(err)
	}
	own, err := client.New(chatOptions(&env, redactor), clock.New())
	if err != nil {
		return a.fail(err)
	}
	defer own.Close()
	headers := session.Headers{Version: Version, APIKey: key.Value}
	s := &chat.Session{
		Arguments: arguments, Sender: own, Headers: headers.List(true, "application/json"),
		Count: count, Out: redactor.Writer(a.terminal.styledOut), Err: a.terminal.err, Redact: redactor.Text,
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
			return a.fail(fmt.Errorf("request failed: %w", err))
		}
		return ExitOK
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
	if err := s.Run(ctx, os.Stdin, interrupts); err != nil {
		return a.fail(err)
	}
	return ExitOK
}

// chatOptions are those of a connection on which a person waits: no limit in total.
func chatOptions(env *config.Env, redactor *artifact.Redactor) client.Options {
	o := client.DefaultOptions()
	o.Timeout, o.ConnectTimeout = 0, env.Chat.ConnectTimeout
	// A person may think longer than a server keeps an idle connection.
	o.KeepAliveTimeout = 30 * time.Second
	o.SSLVerify, o.IPVersion = env.HTTP.SSLVerify, env.HTTP.IPVersion
	if env.HTTP.TrustEnv {
		o.Proxy = client.ProxyFromEnvironment
	}
	o.Redact = redactor.Text
	return o
}
