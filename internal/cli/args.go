package cli

import (
	"fmt"
	"strings"
)

// option is a flag of a command that has no table of its own.
type option struct {
	name string
	// value names what follows; "" is an option without a value.
	value string
	help  string
	set   func(value string) error
}

// parseOptions reads options and other arguments, in any order; after -- all are arguments.
func parseOptions(command string, table []option, args []string) (rest []string, err error) {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			return append(rest, args...), nil
		}
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			rest = append(rest, arg)
			continue
		}
		name, value, given := strings.Cut(strings.ReplaceAll(arg, "_", "-"), "=")
		if given {
			_, value, _ = strings.Cut(arg, "=")
		}
		f := findOption(table, name)
		switch {
		case f == nil:
			return nil, fmt.Errorf("unknown option %s; see aiperf %s --help", name, command)
		case f.value == "" && given:
			return nil, fmt.Errorf("%s takes no value", name)
		case f.value != "" && !given && len(args) == 0:
			return nil, fmt.Errorf("%s needs a value: %s", name, f.value)
		case f.value != "" && !given:
			value, args = args[0], args[1:]
		}
		if err := f.set(value); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return rest, nil
}

func findOption(table []option, name string) *option {
	for i := range table {
		if "--"+table[i].name == name {
			return &table[i]
		}
	}
	return nil
}

// commandHelp prints the help text of a command with such options.
func (a *app) commandHelp(introduction string, table []option) {
	w := a.terminal.out
	fmt.Fprint(w, introduction, "\nOptions:\n")
	for _, f := range table {
		fmt.Fprintf(w, "  --%s\n", strings.TrimRight(f.name+" "+f.value, " "))
		for _, line := range wrap(f.help, helpWidth-8) {
			fmt.Fprintln(w, "        "+line)
		}
	}
}
