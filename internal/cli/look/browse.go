package look

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"aiperf/internal/base/webserver"
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
	"aiperf/internal/result/browse"
)

const browseHelp = `Usage: aiperf serve DIR [DIR …] [options]

Shows the finished runs below folders in the browser: a list with search, the report of each run,
several runs side by side, charts over many runs, sweeps and searches, single requests, and all files.
Runs of the original AIPerf are shown too, and results of vllm bench serve, SGLang, GuideLLM,
GenAI-Perf, inference-perf and llm-d. Nothing is written below the folders, and the pages need
no network beyond this server. Ctrl-C ends it.

Options:
`

// browseOptions are what the server of finished runs is asked for.
type browseOptions struct {
	host, theme string
	port        int
	open        bool
	noCache     bool
	// dashboard reports that aiperf plot --dashboard asks: the charts come first, and the lines are its own.
	dashboard bool
}

func (o *browseOptions) table() *flags.Table {
	return &flags.Table{Command: "serve", Page: "serve", Examples: []flags.Example{
		{For: "all runs of ./artifacts", Command: "aiperf serve"},
		{For: "another folder", Command: "aiperf serve results"},
		{For: "a file of SGLang's bench_serving", Command: "aiperf serve sglang.jsonl"},
	},
		About: browseHelp, Flags: []flags.Flag{
			flags.Value("host", "ADDR", "address to listen on; beyond this machine the address that is printed has a key "+
				"[default: 127.0.0.1]", flags.Text(&o.host)),
			flags.Value("port", "N", "port to listen on, 0 for any that is free [default: 8080]",
				command.Integer(&o.port, 0, 65535)),
			flags.Switch("open", "open the page in the browser", &o.open),
			flags.Choice("theme", "NAME", "light, dark or auto, what the browser prefers [default: auto]", &o.theme, "auto",
				"light", "dark"),
			flags.Switch("no-cache", "keep what is computed from records in memory only, instead of in the user's cache "+
				"folder", &o.noCache),
		}}
}

// runServe shows finished runs.
func runServe(e *command.Env, args []string) error {
	o := browseOptions{host: "127.0.0.1", port: 8080, theme: "auto"}
	paths, err := e.Parse(o.table(), args)
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return errors.New("aiperf serve needs the folder of the results: aiperf serve artifacts")
	}
	return serveRuns(e, paths, o)
}

// serveRuns serves the finished runs below paths until it is interrupted.
func serveRuns(e *command.Env, paths []string, o browseOptions) error {
	limitMemory(e.LookupEnv, browseMemory)
	options := browse.Options{Paths: paths, Version: command.Version}
	if o.theme != "auto" {
		options.Theme = o.theme
	}
	if cache, err := os.UserCacheDir(); err == nil && !o.noCache {
		options.Cache = filepath.Join(cache, "aiperf", "serve")
	}
	runs, err := browse.New(options)
	if err != nil {
		return err
	}
	defer runs.Close()
	server, err := webserver.Listen(webserver.Options{
		Flag: "--port", Address: net.JoinHostPort(o.host, strconv.Itoa(o.port)), Handler: runs.Handler(),
	})
	if err != nil {
		return err
	}
	defer server.Close(time.Second)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	start := "/"
	if o.dashboard {
		start = "/charts"
	}
	address := server.URL(start)
	out := e.Terminal.Out
	// The address comes first: large folders take their time.
	if o.dashboard {
		fmt.Fprintf(out, "Dashboard ready: %s\n", address)
	} else {
		fmt.Fprintf(out, "Serving %s: %s\n", strings.Join(paths, ", "), address)
	}
	searched := make(chan error, 1)
	go func() { searched <- runs.Search() }()
	select {
	case err = <-searched:
	case <-ctx.Done():
		fmt.Fprintln(out, "Stopped")
		return nil
	}
	if err != nil {
		return err
	}
	for _, note := range runs.Notes() {
		fmt.Fprintln(e.Terminal.Err, "Warning: "+note)
	}
	if o.dashboard {
		mode := "single-run"
		if runs.Runs() > 1 {
			mode = "multi-run"
		}
		fmt.Fprintf(out, "Mode: %s (%s), Theme: %s\nPress Ctrl+C to stop\n", mode,
			fmt.Sprintf("%d %s", runs.Runs(), command.Plural(runs.Runs(), "run", "runs")), o.theme)
	} else {
		fmt.Fprintf(out, "%d %s. Press Ctrl+C to stop\n", runs.Runs(), command.Plural(runs.Runs(), "run", "runs"))
	}
	if o.open {
		if err := command.OpenBrowser(address); err != nil {
			fmt.Fprintln(e.Terminal.Err, "Warning: the browser cannot be opened:", err)
		}
	}
	<-ctx.Done()
	fmt.Fprintln(out, "Stopped")
	return nil
}
