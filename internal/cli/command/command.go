// Package command is what all commands of the program have in common. A command is a value; it runs in an environment
// ([Env]) and returns an error, which says with which exit code the program ends ([Env.Finish]). What several families
// of commands need lies here too: the terminal, values of flags, templates and sources of configurations.
// It knows no command.
package command

import "aiperf/internal/config/flags"

// Command is an entry of the table of commands.
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
