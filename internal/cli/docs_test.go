package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/testkit"
	"aiperf/internal/config/env"
	"aiperf/internal/config/option"
)

// TestDocsOfTheCommandLine keeps docs/cli.md and docs/environment.md equal to the option and variable tables.
func TestDocsOfTheCommandLine(t *testing.T) {
	testkit.Golden(t, "../../docs/cli.md", []byte(cliPage()))
	testkit.Golden(t, "../../docs/environment.md", []byte(environmentPage()))
}

func cliPage() string {
	var b strings.Builder
	b.WriteString(`# Command line

This page is generated from the option table; ` + "`aiperf profile --help all`" + ` shows the same.

Flags may be written with dashes or underscores, ` + "`--flag value` or `--flag=value`" + `. A list takes its values
separated by commas or, where the table says "…", by spaces; the flag may also be repeated. Other flags are given once.

- **Numbers** may have underscores, as 100_000. Whole numbers also take the decimal endings k (or K), M and G: 1.5M is
  1500000.
- **Times** (SECONDS, MILLISECONDS) are numbers of that unit, or have a unit: ns, us, ms, s, m, h or d, as in 500ms, 10s
  or 1h30m.
- **Shares** (from 0 to 1) may be in percent: 0.01 and 1% are the same. Metrics in percent, such as error_rate, take 1 and
  1%.
- **Booleans** are set by the flag alone, or by =true, t, yes, y, on or 1, and =false, f, no, n, off or 0, in any case.
- **Metrics** have tags or [short names](metrics.md#other-names), such as ttft, itl, e2e and rps. Limits of times may
  have a unit there: ` + "`--goodput 'ttft:300ms e2e:2s'`" + `.

`)
	for _, group := range option.Groups() {
		fmt.Fprintf(&b, "## %s\n\n| Flag | Value | Default | Limits | Meaning |\n|---|---|---|---|---|\n", group)
		for _, o := range option.All() {
			if o.Group != group {
				continue
			}
			note := ""
			if missing := o.MissingValues(); len(missing) > 0 {
				note = fmt.Sprintf(" *Not in this release: %s.*", strings.Join(missing, ", "))
			}
			limits := o.Limits.String()
			if o.ManyValues() {
				limits = "one of " + strings.Join(o.Available(), ", ")
			}
			def := o.Default
			if o.DefaultNote != "" {
				def = o.DefaultNote
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s%s |\n", strings.Join(o.Spellings(), "` `"),
				cell(o.Value), cell(def), cell(limits), cell(o.Help), note)
		}
		b.WriteByte('\n')
	}
	b.WriteString("# Other commands\n\n`aiperf demo` takes the flags above.\n")
	for _, t := range tables() {
		if t.Command == "profile" || t.Command == "demo" {
			continue
		}
		if len(t.Flags) == 0 {
			fmt.Fprintf(&b, "\n## aiperf %s\n\nIt takes no flags.\n", t.Command)
			continue
		}
		fmt.Fprintf(&b, "\n## aiperf %s\n\n| Flag | Value | Meaning |\n|---|---|---|\n", t.Command)
		for _, f := range t.Flags {
			if f.Help == "" {
				continue
			}
			note := ""
			if f.Default != "" && f.Value != "" {
				note = " (default " + f.Default + ")"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s%s |\n", strings.Join(f.Spellings(), "` `"), cell(f.Value),
				cell(strings.ReplaceAll(f.Help, "\n", " ")), note)
		}
	}
	return b.String()
}

// TestEveryCommandHasATable keeps the list of tables equal to the commands: completion and docs/cli.md lack none.
func TestEveryCommandHasATable(t *testing.T) {
	var named []string
	for _, table := range tables() {
		name, _, _ := strings.Cut(table.Command, " ")
		if len(table.Flags) == 0 || len(named) == 0 || named[len(named)-1] != name {
			named = append(named, name)
		}
	}
	var want []string
	for _, c := range commands() {
		want = append(want, c.Name)
	}
	if !slices.Equal(named, want) {
		t.Errorf("there are tables of %q, want %q", named, want)
	}
}

// TestFlagsOfACommandDiffer fails on a spelling that two flags of a command have.
func TestFlagsOfACommandDiffer(t *testing.T) {
	for _, table := range tables() {
		for i := range table.Flags {
			for _, spelling := range table.Flags[i].Spellings() {
				if first, _ := table.Find(spelling); first != i {
					t.Errorf("%s: %s means --%s", table.Command, spelling, table.Flags[first].Name)
				}
			}
		}
	}
}

func environmentPage() string {
	var b strings.Builder
	b.WriteString(`# Environment variables

This page is generated from the variable table. A flag wins over its variable. A value that cannot be read or lies
outside its range ends the program with an error that names the variable. Booleans, numbers and times are written as for
[flags](cli.md); lists are JSON arrays or comma lists. A run that sets a variable marked *No effect* to something else
than its default warns.

| Variable | Default | Range | Meaning |
|---|---|---|---|
`)
	for _, v := range env.Variables() {
		note := ""
		if !v.HasEffect() {
			note = " *No effect.*"
		}
		fmt.Fprintf(&b, "| `%s%s` | %s | %s | %s%s |\n", option.EnvPrefix, v.Name, cell(v.Default),
			cell(v.Limits.String()), cell(v.Help), note)
	}
	return b.String()
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
