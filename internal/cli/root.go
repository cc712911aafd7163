// Package cli is the command line: it finds the command, parses its arguments, lets a room do the work,
// and turns errors into messages and exit codes. Every error is printed once, here.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"aiperf/internal/accuracy/sandbox"
	"aiperf/internal/base/artifact"
	"aiperf/internal/base/suggest"
	"aiperf/internal/cluster/fleet"
	"aiperf/internal/config/flags"
	"aiperf/internal/config/settings"
	"aiperf/internal/experiment/server"
)

// release is the version of the source code.
const release = "0.1.0"

// Version is the program's version: that of the module where the go command installed it by its version, else the
// version of the source code with the revision that it was built from, as in 0.1.0+1a2b3c4d5e6f, where that is known.
// ".modified" follows the revision of a checkout with changes.
var Version = version(debug.ReadBuildInfo())

func version(info *debug.BuildInfo, ok bool) string {
	if !ok {
		return release
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	revision := settings["vcs.revision"]
	if revision == "" { // installed from a module proxy, or built without version control
		if v, isVersion := strings.CutPrefix(info.Main.Version, "v"); isVersion {
			return v
		}
		return release
	}
	v := release + "+" + revision[:min(len(revision), 12)]
	if settings["vcs.modified"] == "true" {
		v += ".modified"
	}
	return v
}

// app is one call of the program.
type app struct {
	terminal *terminal
	env      func(string) (string, bool)
	// redactor knows the secrets of the command, as far as they are known so far.
	redactor *artifact.Redactor
	// loaded is what a plug-in made of the input file.
	loaded loadedFile
	// brief leaves out the reports of single runs: what they say together follows.
	brief bool
	// server is that of --serve-cmd; nil until the first run needs it.
	server *server.Supervisor
	// fleet makes the load of the runs; nil where this process does.
	fleet *fleet.Fleet
}

// command is an entry of the command table.
type command struct {
	name    string
	summary string
	run     func(*app, []string) int
}

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

// reportMemory is from how many bytes on a report collects as often as it must to stay there, unless GOMEMLIMIT says
// otherwise. Nothing waits for a report, and what it keeps of a million requests is less.
const reportMemory = 320 << 20

// browseMemory is the same for the server of finished runs, which keeps indexes while it makes a report.
const browseMemory = 250 << 20

func limitMemory(env func(string) (string, bool), bytes int64) {
	if _, given := env("GOMEMLIMIT"); !given {
		debug.SetMemoryLimit(bytes)
	}
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

// fail prints an error in a box and returns the exit code for it.
func (a *app) fail(err error) int {
	title := "Error"
	var titled interface{ PanelTitle() string }
	if errors.As(err, &titled) {
		title = titled.PanelTitle()
	}
	a.terminal.panel(title, a.loaded.named(a.redactor.URL(err.Error())))
	return ExitFailure
}

// hideSecrets has errors show none of the secrets among the arguments and in the environment.
func (a *app) hideSecrets(args []string) {
	a.redactor = artifact.NewRedactor(settings.SecretsOf(args, a.env)...)
}

// parse has the flags of a command set and returns the other arguments. Where done, the command ends with the code:
// help was asked for, or an argument is wrong.
func (a *app) parse(t *flags.Table, args []string) (words []string, code int, done bool) {
	if flags.WantsHelp(args) {
		fmt.Fprint(a.terminal.out, t.Help())
		return nil, ExitOK, true
	}
	words, err := t.Parse(args)
	if err != nil {
		return nil, a.fail(err), true
	}
	return words, ExitOK, false
}

// writeLines writes the lines of a list.
func writeLines(w io.Writer, lines []string) {
	for _, line := range lines {
		fmt.Fprintln(w, line)
	}
}
