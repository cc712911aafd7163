// Package cli is the command line: it has the table of commands, finds the one that was typed, and prints the error
// with which it ends. The commands are in families below it, which do not know each other; only this package knows all
// of them.
package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"aiperf/internal/accuracy/sandbox"
	"aiperf/internal/base/artifact"
	"aiperf/internal/base/manual"
	"aiperf/internal/base/suggest"
	"aiperf/internal/cli/benchmark"
	"aiperf/internal/cli/chat"
	"aiperf/internal/cli/command"
	"aiperf/internal/cli/configure"
	"aiperf/internal/cli/data"
	"aiperf/internal/cli/docs"
	"aiperf/internal/cli/kube"
	"aiperf/internal/cli/look"
	"aiperf/internal/cli/mock"
	"aiperf/internal/experiment/server"
)

// commands are what this release has, in the order of the help text.
func commands() []command.Command {
	return slices.Concat(benchmark.Commands(), configure.Files(), benchmark.Selftest(), look.Commands(), data.Commands(),
		configure.Plugins(), chat.Commands(), kube.Commands(), mock.Commands(), docs.Commands(), configure.About())
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
	if asks := []string{"help", "--help", "-h"}; len(args) > 1 && slices.Contains(asks, args[0]) {
		if _, found := command.Find(commands(), args[1:]); !found {
			return searchHelp(e, args[1:])
		}
		args = helpOfCommand(args[1:])
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

// helpOfCommand are the arguments for the help of a command, or of an action of it, with the words of a question.
func helpOfCommand(words []string) []string {
	n := 1
	for _, t := range tables() {
		path := strings.Fields(t.Command)
		if len(words) >= len(path) && slices.Equal(path, words[:len(path)]) {
			n = max(n, len(path))
		}
	}
	return slices.Concat(words[:n], []string{"--help"}, words[n:])
}

// families are the commands by purpose, in the order of the help: those of the first hour first.
var families = []struct {
	title string
	names []string
}{
	{"Measure", []string{"quick", "profile", "capacity", "demo", "chat", "top"}},
	{"Decide", []string{"compare", "why", "gate"}},
	{"Look", []string{"report", "serve", "plot", "share", "analyze", "server-metrics", "speed-bench-report"}},
	{"Data and files", []string{"data", "record", "anonymize", "config", "tokenizer", "analyze-trace", "validate", "synthesize"}},
	{"Machines", []string{"agent", "kube", "operator"}},
	{"More", []string{"docs", "mock-server", "selftest", "plugins", "licenses"}},
}

// printHelp prints the commands.
func printHelp(e *command.Env) {
	var b strings.Builder
	fmt.Fprintf(&b, "aiperf v%s - AI Performance Benchmarking Tool\n\n", command.Version)
	b.WriteString("Independent of AIPerf and compatible with it; not affiliated with NVIDIA.\n\n")
	b.WriteString("Usage: aiperf <command> [flags]\n\n" + `Start here:
  aiperf demo                  see it work: a benchmark of a built-in server
  aiperf quick localhost:8000  your server in a minute: five lines
  aiperf profile --help        a benchmark with everything of your choice
`)
	list := commands()
	for _, family := range families {
		var of []command.Command
		for _, name := range family.names {
			c, _ := command.Find(list, []string{name})
			of = append(of, c)
		}
		b.WriteString("\n" + command.Listed(family.title, of))
	}
	b.WriteString(`
Flags:
  -h, --help [WORD]     this text; with a word, which flags mention it
  --version             print the version
  --install-completion  install the completion of your shell: [--shell NAME] [-o PATH]

"aiperf COMMAND --help" shows its usual flags, "aiperf docs" the documentation.
`)
	e.HelpText(b.String())
}

// searchHelp prints which flags of which commands have or mention the words.
func searchHelp(e *command.Env, words []string) error {
	query := strings.Join(words, " ")
	var b strings.Builder
	for _, t := range tables() {
		if t.Command == "demo" {
			continue // its flags are those of profile
		}
		if names := t.Matching(words); len(names) > 0 {
			more := ""
			if n := len(names) - 8; n > 0 {
				names, more = names[:8], fmt.Sprintf(" and %d more", n)
			}
			fmt.Fprintf(&b, "  aiperf %s --help %s  %s%s\n", t.Command, query, strings.Join(names, ", "), more)
		}
	}
	if b.Len() == 0 {
		return command.Unknown(words[0], commands())
	}
	meant := ""
	if near := suggest.Nearest(query, strings.Split(command.Names(commands()), ", ")); near != "" {
		meant = fmt.Sprintf("There is no command %q; did you mean %s?\n\n", query, near)
	}
	e.HelpText(meant + fmt.Sprintf("Flags that have or mention %q:\n%s\nThe documentation: %s\n", query, b.String(),
		manual.Page(query)))
	return nil
}
