package cli

import (
	"errors"
	"fmt"

	"aiperf/internal/base/artifact"
	"aiperf/internal/cluster/fleet"
	"aiperf/internal/config/flags"
	"aiperf/internal/config/settings"
	"aiperf/internal/experiment/server"
)

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
