package cli

import (
	"errors"
	"fmt"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/flags"
	"aiperf/internal/config/settings"
)

// app is one call of the program.
type app struct {
	terminal *terminal
	env      func(string) (string, bool)
	// redactor knows the secrets of the command, as far as they are known so far.
	redactor *artifact.Redactor
	// named puts the user's names into a message for those that the program made up; nil leaves it as it is.
	named func(string) string
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
	a.terminal.panel(title, a.name(a.redactor.URL(err.Error())))
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

// name returns a message with the names that the user knows.
func (a *app) name(text string) string {
	if a.named == nil {
		return text
	}
	return a.named(text)
}
