package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/flags"
	"aiperf/internal/config/settings"
)

// Env is what a command has of the program's surroundings, in one call of the program.
type Env struct {
	Terminal  *Terminal
	LookupEnv func(string) (string, bool)
	// Redactor knows the secrets of the command, as far as they are known so far.
	Redactor *artifact.Redactor
	// Rename puts the user's names into a message for those that the program made up; nil leaves it as it is.
	Rename func(string) string
}

// Show prints an error in a box: for what goes on after an error. A command that ends with one returns it.
func (e *Env) Show(err error) {
	title := "Error"
	var titled interface{ PanelTitle() string }
	if errors.As(err, &titled) {
		title = titled.PanelTitle()
	}
	e.Terminal.Panel(title, e.Shown(e.Redactor.URL(inWords(err))))
}

// inWords is the text of an error; where a file is missing it says so, rather than the name of the system call.
func inWords(err error) string {
	text := err.Error()
	var file *fs.PathError
	if errors.As(err, &file) && errors.Is(file, fs.ErrNotExist) {
		text = strings.ReplaceAll(text, file.Error(), file.Path+" does not exist")
	}
	return text
}

// Finish prints the error with which a command ended, if it did, and returns the exit code for it.
func (e *Env) Finish(err error) int {
	code, message := codeOf(err)
	if message != nil {
		e.Show(message)
	}
	return code
}

// HideSecrets has errors show none of the secrets among the arguments and in the environment.
func (e *Env) HideSecrets(args []string) {
	e.Redactor = artifact.NewRedactor(settings.SecretsOf(args, e.LookupEnv)...)
}

// Parse has the flags of a command set and returns the other arguments. Where help is asked for it prints that and
// returns [ErrHelp].
func (e *Env) Parse(t *flags.Table, args []string) (words []string, err error) {
	if words, asked := flags.HelpWords(args); asked {
		return nil, e.Help(t, words)
	}
	return t.Parse(args)
}

// Help prints the help of a command: what the words behind --help ask for. It returns [ErrHelp] where there is an
// answer.
func (e *Env) Help(t *flags.Table, words []string) error {
	text, err := t.Help(words, e.look())
	if err != nil {
		return err
	}
	io.WriteString(e.Terminal.StyledOut, text)
	return ErrHelp
}

// HelpText prints a help text that has no flags, such as a list of actions.
func (e *Env) HelpText(text string) {
	io.WriteString(e.Terminal.StyledOut, flags.Written(text, e.look()))
}

// look is how help texts are written here: as wide as the terminal, within limits.
func (e *Env) look() flags.Look {
	return flags.Look{Width: e.Terminal.TextWidth(), Styles: e.Terminal.OutTTY && e.Terminal.Colour}
}

// ParseOnly is [Env.Parse] for a command whose arguments are flags alone, or stand for them.
func (e *Env) ParseOnly(t *flags.Table, args []string) error {
	words, err := e.Parse(t, args)
	if err == nil && len(words) > 0 {
		err = fmt.Errorf("aiperf %s: unexpected argument %q", t.Command, words[0])
	}
	return err
}

// Shown returns a message with the names that the user knows.
func (e *Env) Shown(text string) string {
	if e.Rename == nil {
		return text
	}
	return e.Rename(text)
}
