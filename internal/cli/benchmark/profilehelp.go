package benchmark

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
	"aiperf/internal/config/option"
)

// profileHelp prints the flags of profile, group by group.
func profileHelp(e *command.Env) {
	w := new(strings.Builder)
	fmt.Fprint(w, `Usage: aiperf profile [URL] [flags]

Runs a benchmark against an inference server and writes its reports. For example:
  aiperf profile --model M --url localhost:8000 --streaming --concurrency 10 --request-count 100
`)
	for _, group := range option.Groups() {
		fmt.Fprintf(w, "\n%s\n", group)
		for _, o := range option.All() {
			if o.Group == group {
				fmt.Fprint(w, flags.Paragraph(o.Head(), o.Help+facts(o), 0))
			}
		}
	}
	fmt.Fprint(w, `
Lists: a flag that takes several values takes them separated by commas or spaces, or is repeated.
Numbers may be written as 100_000; whole numbers also as 100k, 2M or 1G (decimal); times with units,
as 500ms, 10s, 5m or 1h30m; booleans as true/false, t/f, yes/no, y/n, on/off or 1/0 in any case.
Metrics have short names, such as ttft, itl, tpot, e2e, tps, rps, isl and osl: docs/metrics.md.
Underscores and dashes in flag names are the same. docs/cli.md has all this as tables.
Exit codes: 0 finished (some requests may have failed); 1 usage or start-up error, no
results, a file that could not be written, or all requests failed; 3 a condition of --fail-if is
met; 4 --require-valid was given and the verdict is not valid; 130 second Ctrl-C; 143 SIGTERM.
`)
	e.Terminal.Fitted(w.String())
}

// facts are the default, the limits and the state of a flag in words.
func facts(o option.Option) string {
	var list []string
	switch {
	case o.DefaultNote != "":
		list = append(list, "default: "+o.DefaultNote)
	case o.Default != "" && (o.Type != option.Bool || o.Default != "false"):
		list = append(list, "default: "+o.Default)
	}
	if limits := o.Limits.String(); limits != "" {
		list = append(list, limits)
	}
	missing := MissingValues(o)
	if o.ManyValues() {
		list = append(list, "one of "+strings.Join(Without(o.Values, missing), ", "))
	}
	if o.Env != "" {
		list = append(list, "environment: "+o.Env)
	}
	if len(missing) > 0 {
		list = append(list, "not in this release: "+strings.Join(missing, ", "))
	}
	if len(list) == 0 {
		return ""
	}
	return " [" + strings.Join(list, "; ") + "]"
}

// MissingValues are the values of a flag that this release cannot do.
func MissingValues(o option.Option) []string {
	if len(o.BuiltValues) == 0 {
		return nil
	}
	return Without(o.Values, o.BuiltValues)
}

// Without are the values that the others lack.
func Without(values, others []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return slices.Contains(others, v) })
}
