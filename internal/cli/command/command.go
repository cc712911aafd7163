// Package command is what all commands of the program have in common. A command is a value; it runs in an environment
// ([Env]) and returns an error, which says with which exit code the program ends ([Env.Finish]). What several families
// of commands need lies here too: the terminal, values of flags, templates and sources of configurations.
// It knows no command.
package command

import (
	"errors"
	"fmt"
	"strings"

	"aiperf/internal/base/suggest"
	"aiperf/internal/config/flags"
)

// Command is an entry of the table of commands, or an action of a command that has several.
type Command struct {
	Name, Summary string
	// Tables makes the flags: a table, or one for each thing that the command does.
	Tables func() []*flags.Table
	// Run carries out the command with the arguments behind its name.
	Run func(*Env, []string) error
}

// Table makes the flags of a command that has one table.
func Table(make func() *flags.Table) func() []*flags.Table {
	return func() []*flags.Table { return []*flags.Table{make()} }
}

// Find returns the command whose name is the first argument.
func Find(list []Command, args []string) (c Command, found bool) {
	for _, c := range list {
		if len(args) > 0 && args[0] == c.Name {
			return c, true
		}
	}
	return c, false
}

// TablesOf are the flags of all commands of a list, in their order.
func TablesOf(list []Command) (tables []*flags.Table) {
	for _, c := range list {
		tables = append(tables, c.Tables()...)
	}
	return tables
}

// Names are the names of commands, separated by commas.
func Names(list []Command) string { return strings.Join(names(list), ", ") }

// Listed is a list of commands below a heading, a line each.
func Listed(heading string, list []Command) string {
	var b strings.Builder
	b.WriteString(heading + ":\n")
	for _, c := range list {
		fmt.Fprintf(&b, "  %s  %s\n", c.Name, c.Summary)
	}
	return b.String()
}

func names(list []Command) (names []string) {
	for _, c := range list {
		names = append(names, c.Name)
	}
	return names
}

// Unknown is the error of a word that is no command.
func Unknown(word string, commands []Command) error {
	return unknown("unknown command", "commands", word, commands)
}

// UnknownAction is the error of a word that is no action of a command.
func UnknownAction(command, word string, actions []Command) error {
	return unknown("aiperf "+command+": unknown action", "actions", word, actions)
}

func unknown(what, all, word string, list []Command) error {
	message := fmt.Sprintf("%s %q", what, word)
	if near := suggest.Nearest(word, names(list)); near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	}
	return errors.New(message + "\nThe " + all + " are: " + Names(list))
}
