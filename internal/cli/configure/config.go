package configure

import (
	"fmt"

	"aiperf/internal/base/manual"
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
)

// configActions are the actions in the order of the help text.
func configActions() []command.Command {
	return []command.Command{
		{Name: "init", Summary: "write a configuration file from a template; list the templates",
			Tables: command.Table(func() *flags.Table { return new(command.TemplateOptions).Table() }), Run: command.RunTemplates},
		{Name: "validate", Summary: "check a configuration file",
			Tables: command.Table(func() *flags.Table { return new(configOptions).validateTable() }), Run: configValidate},
		{Name: "expand", Summary: "list the variations of a sweep",
			Tables: command.Table(func() *flags.Table { return new(expandOptions).table() }), Run: configExpand},
		{Name: "show", Summary: "print a configuration with all defaults and where each value comes from",
			Tables: command.Table(func() *flags.Table { return new(configOptions).showTable() }), Run: configShow},
		{Name: "diff", Summary: "compare two configuration files",
			Tables: command.Table(func() *flags.Table { return new(diffOptions).table() }), Run: configDiff},
		{Name: "from-flags", Summary: "print the file that describes the same run as a command line",
			Tables: command.Table(func() *flags.Table { return new(fromFlagsOptions).table() }), Run: configFromFlags},
		{Name: "schema", Summary: "print the JSON Schema of configuration files, for editors",
			Tables: command.Table(func() *flags.Table { return new(configOptions).schemaTable() }), Run: configSchema},
	}
}

// configTables are the flags of each action.
func configTables() []*flags.Table { return command.TablesOf(configActions()) }

// runConfig writes, checks and shows configuration files.
func runConfig(e *command.Env, args []string) error {
	actions := configActions()
	if action, found := command.Find(actions, args); found {
		return action.Run(e, args[1:])
	}
	switch {
	case flags.WantsHelp(args):
		configHelp(e)
		return nil
	case len(args) == 0:
		return fmt.Errorf("aiperf config needs an action: %s", command.Names(actions))
	}
	return command.UnknownAction("config", args[0], actions)
}

func configHelp(e *command.Env) {
	e.HelpText("Usage: aiperf config ACTION [options]\n\n" + command.Listed("Actions", configActions()) + `
A configuration file holds a benchmark that is kept. From nothing to a run:
  aiperf config init -t minimal -m MODEL -u http://HOST:PORT -o bench.yaml
  aiperf profile --config bench.yaml

"aiperf config ACTION --help" shows the options. ` + manual.Page("configuration") + ` explains the files.
`)
}
