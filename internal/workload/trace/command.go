package trace

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"aiperf/internal/base/scalar"
)

// flag is an option of one of the commands. The values of flags go to where they point.
type flag struct {
	name, value, help string
	set               func(string) error
}

func text(to *string) func(string) error {
	return func(v string) error { *to = v; return nil }
}

// whole is a whole number of at least least.
func whole(to *int, least int) func(string) error {
	return func(v string) error {
		n, err := scalar.Count(v)
		if err != nil || n < int64(least) || n > math.MaxInt {
			return fmt.Errorf("want a whole number of at least %d, got %q", least, v)
		}
		*to = int(n)
		return nil
	}
}

// parse reads the arguments of a command; those without a dash are the flags of positional in order.
func parse(command string, args []string, flags []flag, positional ...string) error {
	byName := map[string]flag{}
	for _, f := range flags {
		byName[f.name] = f
	}
	given := map[string]bool{}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		var name, value string
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			if len(positional) == 0 {
				return fmt.Errorf("there is no place for %q; see aiperf %s --help", arg, command)
			}
			name, value, positional = positional[0], arg, positional[1:]
		} else {
			var inline bool
			name, value, inline = strings.Cut(strings.TrimPrefix(arg, "--"), "=")
			name = strings.ReplaceAll(name, "_", "-")
			if _, ok := byName[name]; !ok || !strings.HasPrefix(arg, "--") {
				return fmt.Errorf("unknown option %s; see aiperf %s --help", arg, command)
			}
			if !inline {
				if len(args) == 0 {
					return fmt.Errorf("option --%s needs a value: %s", name, byName[name].value)
				}
				value, args = args[0], args[1:]
			}
		}
		if given[name] {
			return fmt.Errorf("--%s is given twice", name)
		}
		given[name] = true
		if err := byName[name].set(value); err != nil {
			return fmt.Errorf("--%s: %w", name, err)
		}
	}
	return nil
}

func help(usage, about string, flags []flag) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: aiperf %s\n\n%s\n\nOptions:\n", usage, about)
	for _, f := range flags {
		fmt.Fprintf(&b, "  %-24s %s\n", "--"+f.name+" "+f.value, f.help)
	}
	return b.String()
}

// AnalyzeOptions are those of analyze-trace.
type AnalyzeOptions struct {
	Input, Output string
	BlockSize     int
}

const defaultBlockSize = 512

func (o *AnalyzeOptions) flags() []flag {
	return []flag{
		{"input-file", "FILE", "mooncake trace to read; may stand without the flag", text(&o.Input)},
		{"block-size", "N", "tokens of a hash id (512)", whole(&o.BlockSize, 1)},
		{"output-file", "FILE", "write the report as JSON", text(&o.Output)},
	}
}

// ParseAnalyze reads the arguments of analyze-trace.
func ParseAnalyze(args []string) (AnalyzeOptions, error) {
	o := AnalyzeOptions{BlockSize: defaultBlockSize}
	if err := parse("analyze-trace", args, o.flags(), "input-file"); err != nil {
		return o, err
	}
	if o.Input == "" {
		return o, errors.New("no trace given: aiperf analyze-trace FILE")
	}
	return o, nil
}

// AnalyzeHelp is the text of its --help.
func AnalyzeHelp() string {
	return help("analyze-trace FILE [options]",
		"Tells what a mooncake trace is like: the lengths of inputs and outputs, how much of them other requests share,\n"+
			"and how many blocks an unlimited prefix cache would have found.", new(AnalyzeOptions).flags())
}

type validateOptions struct{ input string }

func (o *validateOptions) flags() []flag {
	return []flag{{"input", "FILE", "trace to check; may stand without the flag", text(&o.input)}}
}

// ParseValidate reads the arguments of validate mooncake-trace.
func ParseValidate(args []string) (input string, err error) {
	var o validateOptions
	if err := parse("validate mooncake-trace", args, o.flags(), "input"); err != nil {
		return "", err
	}
	if o.input == "" {
		return "", errors.New("no trace given: aiperf validate mooncake-trace --input FILE")
	}
	return o.input, nil
}

// ValidateHelp is the text of its --help.
func ValidateHelp() string {
	return help("validate [--target] mooncake-trace --input FILE",
		"Holds every row of a file against the format mooncake_trace and lists the first ten faults.", new(validateOptions).flags())
}
