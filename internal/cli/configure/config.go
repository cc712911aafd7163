package configure

import (
	"errors"
	"fmt"
	"strings"

	"aiperf/internal/base/suggest"
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
)

// configAction is something that aiperf config does.
type configAction struct {
	name, summary string
	table         func() *flags.Table
	run           func(*command.Env, []string) error
}

// configActions are the actions in the order of the help text.
func configActions() []configAction {
	return []configAction{
		{"init", "write a configuration file from a template; list the templates",
			func() *flags.Table { return new(command.TemplateOptions).Table() }, command.RunTemplates},
		{"validate", "check a configuration file",
			func() *flags.Table { return new(configOptions).validateTable() }, configValidate},
		{"expand", "list the variations of a sweep",
			func() *flags.Table { return new(expandOptions).table() }, configExpand},
		{"show", "print a configuration with all defaults and where each value comes from",
			func() *flags.Table { return new(configOptions).showTable() }, configShow},
		{"diff", "compare two configuration files",
			func() *flags.Table { return new(diffOptions).table() }, configDiff},
		{"from-flags", "print the file that describes the same run as a command line",
			func() *flags.Table { return new(fromFlagsOptions).table() }, configFromFlags},
		{"schema", "print the JSON Schema of configuration files, for editors",
			func() *flags.Table { return new(configOptions).schemaTable() }, configSchema},
	}
}

// configTables are the flags of each action.
func configTables() (tables []*flags.Table) {
	for _, action := range configActions() {
		tables = append(tables, action.table())
	}
	return tables
}

// runConfig writes, checks and shows configuration files.
func runConfig(e *command.Env, args []string) error {
	var names []string
	for _, action := range configActions() {
		if len(args) > 0 && args[0] == action.name {
			return action.run(e, args[1:])
		}
		names = append(names, action.name)
	}
	if flags.WantsHelp(args) {
		configHelp(e)
		return nil
	}
	if len(args) == 0 {
		return fmt.Errorf("aiperf config needs an action: %s", strings.Join(names, ", "))
	}
	message := fmt.Sprintf("aiperf config: unknown action %q", args[0])
	if near := suggest.Nearest(args[0], names); near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	}
	return errors.New(message + "\nThe actions are: " + strings.Join(names, ", "))
}

func configHelp(e *command.Env) {
	w := e.Terminal.Out
	fmt.Fprint(w, "Usage: aiperf config ACTION [options]\n\nActions:\n")
	for _, action := range configActions() {
		fmt.Fprintf(w, "  %-12s %s\n", action.name, action.summary)
	}
	fmt.Fprint(w, `
A configuration file holds a benchmark that is kept. From nothing to a run:
  aiperf config init -t minimal -m MODEL -u http://HOST:PORT -o bench.yaml
  aiperf profile --config bench.yaml

"aiperf config ACTION --help" shows the options. docs/configuration.md explains the files.
`)
}
