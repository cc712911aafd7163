package benchmark

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/scalar"
	"aiperf/internal/base/webserver"
	"aiperf/internal/cli/command"
	"aiperf/internal/cluster/fleet"
	"aiperf/internal/config/env"
	"aiperf/internal/config/flags"
	"aiperf/internal/view/runlog"
)

const agentHelp = `Usage: aiperf agent --join nats://HOST:PORT [options]
       aiperf agent --read-journal PATH

Makes a share of the load of each run that a coordinator asks for: aiperf profile --wait-for-agents N
on another machine, or on this one. The coordinator prints the command, with the token. An agent ends
with its coordinator. The exit code is 0 if the coordinator let it go, 143 if a signal ended it, 1
otherwise: refused, no coordinator, counted as lost.

With --read-journal it makes nothing and prints what the journal of an agent counts, such as that of an
agent that was lost.

Options:
`

type agentOptions struct {
	fleet.AgentOptions
	tokenFile, journal string
	verbose            bool
}

func (o *agentOptions) table() *flags.Table {
	return &flags.Table{Command: "agent", Page: "fleet", Examples: []flags.Example{
		{For: "on the second machine, as the coordinator prints it", Command: "aiperf agent --join nats://10.0.0.1:4222 --token-file token"},
		{For: "what a lost agent counted", Command: "aiperf agent --read-journal journal.jsonl"},
	},
		About: agentHelp, Flags: []flags.Flag{
			flags.Value("join", "URL", "NATS server of the coordinator: nats://HOST:PORT or tls://HOST:PORT",
				flags.Text(&o.Join)),
			flags.Value("token-file", "PATH", "file with the token of the coordinator [default: "+fleet.TokenVariable+"]",
				flags.Text(&o.tokenFile)),
			flags.Value("nkey-file", "PATH", "file with the seed of an nkey", flags.Text(&o.Security.NKeyFile)),
			flags.Value("creds-file", "PATH", "file with credentials for the server", flags.Text(&o.Security.CredentialsFile)),
			flags.Value("ca-file", "PATH", "PEM file of the authorities of the server's certificate",
				flags.Text(&o.Security.CAFile)),
			flags.Value("cert-file", "PATH", "PEM file of a certificate of this agent", flags.Text(&o.Security.CertFile)),
			flags.Value("key-file", "PATH", "PEM file of its key", flags.Text(&o.Security.KeyFile)),
			flags.Switch("allow-clear-text", "send the token to another machine without encryption", &o.ClearText),
			flags.Value("fleet-name", "NAME", "name of the fleet [default: "+fleet.DefaultName+"]", flags.Text(&o.Fleet)),
			flags.Value("name", "NAME", "name of this agent in reports [default: HOST:PID]", flags.Text(&o.Name)),
			flags.Value("join-timeout", "SECONDS", "time within which there must be a coordinator [default: 300]",
				func(v string) error { return scalar.SetTime(&o.Wait, v, time.Second, 24*time.Hour) }),
			flags.Value("dir", "PATH", "folder of journals and of files that stay here\n[default: a temporary one]",
				flags.Text(&o.Dir)),
			flags.Value("cache-dir", "PATH", "folder of data sets that were fetched [default: aiperf/fleet in the user's cache]",
				flags.Text(&o.CacheDir)),
			flags.Switch("allow-programs", "start the program of a run with --endpoint-plugin here", &o.Programs),
			flags.Value("allow-path", "PATHS", "files, or folders of files, that a run may name here, separated by commas:\n"+
				"a Unix socket, certificates, keys", flags.List(&o.Paths)),
			flags.Value("read-journal", "PATH", "print what a journal counts, and end", flags.Text(&o.journal)),
			flags.Switch("keep-journals", "leave the journals of runs that ended in order", &o.KeepJournals),
			flags.Switch("verbose -v", "show the log of the runs", &o.verbose),
			flags.Switch("local", "", &o.Local),
		}}
}

// runAgent makes shares of runs for a coordinator.
func runAgent(e *command.Env, args []string) error {
	var o agentOptions
	e.HideSecrets(args)
	words, err := e.Parse(o.table(), args)
	switch {
	case err != nil:
		return err
	case len(words) > 0:
		return fmt.Errorf("aiperf agent takes options only, not %q", words[0])
	case o.journal != "":
		return readJournal(e, o.journal)
	case o.Join == "":
		return errors.New("aiperf agent needs --join nats://HOST:PORT; aiperf profile --wait-for-agents N prints " +
			"the command")
	}
	if o.tokenFile != "" {
		token, err := fleet.ReadToken(o.tokenFile)
		if err != nil {
			return fmt.Errorf("--token-file: %w", err)
		}
		o.Security.Token = token
	} else if o.Security.NKeyFile == "" && o.Security.CredentialsFile == "" {
		o.Security.Token, _ = e.LookupEnv(fleet.TokenVariable)
	}
	interrupts := watchInterrupts(e.Terminal, io.Discard, func() {})
	defer interrupts.close()
	o.Version, o.Stop = command.Version, interrupts.Stop
	var joined atomic.Bool
	o.Say = func(line string) {
		if strings.HasPrefix(line, joinedLine) {
			joined.Store(true)
		}
		fmt.Fprintln(e.Terminal.Out, line)
	}
	values, _, err := env.Read(e.LookupEnv)
	if err != nil {
		return err
	}
	if s := &values.Service; s.Health {
		server, err := webserver.Listen(webserver.Options{Flag: "AIPERF_SERVICE_HEALTH_PORT",
			Address: net.JoinHostPort(s.HealthHost, strconv.Itoa(s.HealthPort)), Handler: health(joined.Load),
			Open: true})
		if err != nil {
			return err
		}
		defer server.Close(time.Second)
	}
	o.Log = func(secrets []string) *runlog.Log {
		return runlog.New(runlog.Options{Level: slog.LevelInfo, Brief: !o.verbose, Console: e.Terminal.Err,
			Redactor: artifact.NewRedactor(secrets...)})
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if o.Local { // it ends with its coordinator, however that ends
		go func() {
			io.Copy(io.Discard, os.Stdin)
			interrupts.interrupt()
		}()
	}
	err = fleet.Agent(ctx, o.AgentOptions)
	switch {
	case err == nil:
		return nil
	case fleet.IsDrained(err) && interrupts.stopped():
		fmt.Fprintln(e.Terminal.Out, "Ended by a signal")
		return command.Exit(interrupts.exit(command.ExitOK))
	}
	return interrupts.failed(err)
}

// readJournal prints what the journal of an agent counts.
func readJournal(e *command.Env, path string) error {
	count, err := fleet.ReadJournal(path)
	if err != nil {
		return fmt.Errorf("--read-journal: %w", err)
	}
	fmt.Fprintf(e.Terminal.Out, "%d requests sent, %d recorded\n", count.Sent, count.Records)
	return nil
}

// joinedLine begins the line by which an agent says that it has joined its fleet.
const joinedLine = "Joined the fleet"

// health answers whether the program lives, at /healthz, and whether it is ready.
func health(ready func() bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !ready() {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintln(w, "no coordinator so far")
			return
		}
		fmt.Fprintln(w, "ok")
	})
	return mux
}
