// Package cli is the command line: it has the table of commands, finds the one that was typed, and prints the error
// with which it ends. The commands are in families below it, which do not know each other; only this package knows all
// of them.
package cli

import (
	"fmt"
	"os"
	"slices"

	"aiperf/internal/accuracy/sandbox"
	"aiperf/internal/base/artifact"
	"aiperf/internal/cli/benchmark"
	"aiperf/internal/cli/chat"
	"aiperf/internal/cli/command"
	"aiperf/internal/cli/configure"
	"aiperf/internal/cli/data"
	"aiperf/internal/cli/kube"
	"aiperf/internal/cli/look"
	"aiperf/internal/cli/mock"
	"aiperf/internal/experiment/server"
)

// commands are what this release has, in the order of the help text.
func commands() []command.Command {
	return slices.Concat(benchmark.Commands(), configure.Files(), benchmark.Selftest(), look.Commands(), data.Commands(),
		configure.Plugins(), chat.Commands(), kube.Commands(), mock.Commands(), configure.About())
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
	e := &command.Env{Terminal: command.NewTerminal(stdout, stderr, os.LookupEnv), LookupEnv: os.LookupEnv}
	if len(args) > 0 && slices.Contains(temporaryCommands, args[0]) {
		artifact.RemoveAbandoned() // what processes left that were killed
	}
	return profiled(e, func() int { return execute(e, args) })
}

// execute carries out the command of the arguments, prints its error and returns the exit code.
func execute(e *command.Env, args []string) int { return e.Finish(dispatch(e, args)) }

// dispatch carries out the command of the arguments.
func dispatch(e *command.Env, args []string) error {
	if len(args) == 0 {
		printHelp(e)
		return nil
	}
	if len(args) > 1 && args[0] == "help" {
		args = []string{args[1], "--help"}
	}
	switch name := args[0]; {
	case name == "--help" || name == "-h" || name == "help":
		printHelp(e)
		return nil
	case name == "--version" || name == "version":
		fmt.Fprintln(e.Terminal.Out, command.Version)
		return nil
	case name == "--install-completion":
		return installCompletion(e, args[1:])
	case name == sandbox.Command:
		return command.Exit(sandbox.Child(args[1:]))
	case name == server.GuardCommand:
		return command.Exit(server.Guard(args[1:]))
	case isCompletion(name):
		return complete(e, args)
	}
	list := commands()
	if c, found := command.Find(append(list, kube.Service()), args); found {
		return c.Run(e, args[1:])
	}
	for _, c := range missingCommands {
		if c.name == args[0] {
			return fmt.Errorf("the command %q is not available in this release: %s", c.name, c.instead)
		}
	}
	return command.Unknown(args[0], list)
}

func printHelp(e *command.Env) {
	w := e.Terminal.Out
	fmt.Fprintf(w, "aiperf v%s - AI Performance Benchmarking Tool\n", command.Version)
	fmt.Fprint(w, "An independent implementation, compatible with AIPerf; not affiliated with NVIDIA.\n\n")
	fmt.Fprint(w, "Usage: aiperf <command> [flags]\n\nCommands:\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-18s %s\n", c.Name, c.Summary)
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
