// Package cli is the command line: it finds the command, parses its arguments, lets a room do the work,
// and turns errors into messages and exit codes. Every error is printed once, here.
package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"aiperf/internal/accuracy/sandbox"
	"aiperf/internal/base/artifact"
	"aiperf/internal/base/suggest"
	"aiperf/internal/experiment/server"
)

// commands are what this release has, in the order of the help text.
func commands() []command {
	return []command{
		{"profile", "run a benchmark against an inference server", (*app).profile},
		{"agent", "make a share of the load of runs that another machine coordinates", (*app).agent},
		{"quick", "measure a server for a minute and answer in five lines", (*app).quick},
		{"top", "watch servers and GPUs without a load", (*app).top},
		{"demo", "run a short benchmark against the embedded mock server", (*app).demo},
		{"capacity", "find how much load a server takes within limits", (*app).capacity},
		{"config", "write, check, show and compare configuration files", (*app).config},
		{"selftest", "check this program on this machine and measure the capacity of the machine", (*app).selftest},
		{"report", "recompute the summaries of a run from its records", (*app).reportAgain},
		{"gate", "check a finished run against thresholds", (*app).gate},
		{"compare", "compare runs with a base: better, worse, no difference", (*app).compare},
		{"serve", "show finished runs in the browser", (*app).serve},
		{"plot", "draw finished runs as pictures", (*app).plot},
		{"share", "print a result to paste into an issue or a post, or draw it as a card", (*app).share},
		{"speed-bench-report", "show runs of SPEED-Bench categories as a matrix", (*app).speedBenchReport},
		{"analyze", "draw the sessions of a run, or show the content of its requests", (*app).analyze},
		{"server-metrics", "recompute the server metrics of a run from its recording", (*app).serverMetrics},
		{"data", "show what a data file holds and what would be sent of it", (*app).data},
		{"analyze-trace", "describe a trace: lengths, shared prefixes, hit rates", (*app).analyzeTrace},
		{"synthesize", "generate a trace of coding sessions", (*app).synthesize},
		{"validate", "validate a trace against its format", (*app).validate},
		{"tokenizer", "pack a tokenizer into one file; count or encode lines of text with it", (*app).tokenizer},
		{"plugins", "list what this program can do, and check plug-ins", (*app).plugins},
		{"chat", "chat with a model and see how fast it answers", (*app).chat},
		{"kube", "run benchmarks in a Kubernetes cluster", (*app).kube},
		{"operator", "run the benchmarks of a Kubernetes cluster", (*app).operate},
		{"mock-server", "serve exact, known answers like an OpenAI-compatible server", (*app).mockServer},
	}
}

// missingCommands are documented commands that this release lacks, and what to do without them.
var missingCommands = []struct{ name, instead string }{
	{"proxy", "a run is one process and needs none; start it with aiperf profile; the agents of a run on " +
		"several machines (aiperf agent) need none either"},
}

// temporaryCommands are those that put files among the temporary ones.
var temporaryCommands = []string{"profile", "capacity", "agent", "selftest"}

// Main runs the program with its arguments and returns the exit code.
func Main(args []string, stdout, stderr *os.File) int {
	limitHeap(os.LookupEnv)
	a := &app{terminal: newTerminal(stdout, stderr, os.LookupEnv), env: os.LookupEnv}
	if len(args) > 0 && slices.Contains(temporaryCommands, args[0]) {
		artifact.RemoveAbandoned() // what processes left that were killed
	}
	return a.profiled(func() int { return a.main(args) })
}

func (a *app) main(args []string) int {
	if len(args) == 0 {
		a.help()
		return ExitOK
	}
	if len(args) > 1 && args[0] == "help" {
		args = []string{args[1], "--help"}
	}
	switch name := args[0]; {
	case name == "--help" || name == "-h" || name == "help":
		a.help()
		return ExitOK
	case name == "--version":
		fmt.Fprintln(a.terminal.out, Version)
		return ExitOK
	case name == "--install-completion":
		return a.installCompletion(args[1:])
	case name == sandbox.Command:
		return sandbox.Child(args[1:])
	case name == serviceCommand:
		return a.service(args[1:])
	case name == server.GuardCommand:
		return server.Guard(args[1:])
	case isCompletion(name):
		return a.complete(args)
	}
	var names []string
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(a, args[1:])
		}
		names = append(names, c.name)
	}
	for _, c := range missingCommands {
		if c.name == args[0] {
			return a.fail(fmt.Errorf("the command %q is not available in this release: %s", c.name, c.instead))
		}
	}
	message := fmt.Sprintf("unknown command %q", args[0])
	if near := suggest.Nearest(args[0], names); near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	}
	return a.fail(errors.New(message + "\nThe commands are: " + strings.Join(names, ", ")))
}

func (a *app) help() {
	w := a.terminal.out
	fmt.Fprintf(w, "aiperf v%s - AI Performance Benchmarking Tool\n", Version)
	fmt.Fprint(w, "An independent implementation, compatible with AIPerf; not affiliated with NVIDIA.\n\n")
	fmt.Fprint(w, "Usage: aiperf <command> [flags]\n\nCommands:\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-18s %s\n", c.name, c.summary)
	}
	fmt.Fprint(w, `
Flags:
  -h, --help            show this text; "aiperf <command> --help" shows a command's flags
  --version             print the version
  --install-completion [--shell bash|zsh|fish|powershell] [-o|--output PATH]
                        install the completion of your shell

Try it: aiperf demo
`)
}
