package cli

import (
	"flag"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/endpoint"
)

var update = flag.Bool("update", false, "rewrite the generated pages")

// TestDocsOfTheCommandLine keeps docs/cli.md and docs/environment.md equal to the option and variable tables.
func TestDocsOfTheCommandLine(t *testing.T) {
	for path, want := range map[string]string{
		"../../docs/cli.md":         cliPage(),
		"../../docs/environment.md": environmentPage(),
	} {
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is not what the tables say; go test ./internal/cli -run Docs -update rewrites it", path)
		}
	}
}

func cliPage() string {
	var b strings.Builder
	b.WriteString(`# Command line

This page is generated from the option table; ` + "`aiperf profile --help`" + ` shows the same.

Flags may be written with dashes or underscores, ` + "`--flag value` or `--flag=value`" + `. A list takes its values separated by commas or,
where the table says "…", by spaces; the flag may also be repeated. Other flags are given once. A flag of a capability that
this release lacks is checked and then ends the run before the first request.

`)
	for _, group := range config.Groups() {
		fmt.Fprintf(&b, "## %s\n\n| Flag | Value | Default | Limits | Meaning |\n|---|---|---|---|---|\n", group)
		for _, o := range config.Options() {
			if o.Group != group {
				continue
			}
			note := ""
			if !o.Built() {
				note = " *Not in this release.*"
			} else if missing := missingValues(o); len(missing) > 0 {
				note = fmt.Sprintf(" *Not in this release: %s.*", strings.Join(missing, ", "))
			}
			limits := o.Limits.String()
			if hasManyValues(o) {
				limits = "one of " + strings.Join(without(o.Values, missingValues(o)), ", ")
			}
			def := o.Default
			if o.DefaultNote != "" {
				def = o.DefaultNote
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s%s |\n", strings.Join(o.Spellings(), "` `"),
				cell(valueName(o)), cell(def), cell(limits), cell(o.Help), note)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func environmentPage() string {
	var b strings.Builder
	b.WriteString("# Environment variables\n\nThis page is generated from the variable table. A flag wins over its variable. A value that cannot be read or lies outside\n" +
		"its range ends the program with an error that names the variable. Booleans are 1/0, true/false, yes/no, on/off; lists are\n" +
		"JSON arrays or comma lists.\n\n| Variable | Default | Range | Meaning |\n|---|---|---|---|\n")
	for _, v := range config.Variables() {
		fmt.Fprintf(&b, "| `%s%s` | %s | %s | %s |\n", config.EnvPrefix, v.Name, cell(v.Default), cell(v.Limits.String()), cell(v.Help))
	}
	return b.String()
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// TestEndpointNamesAgree keeps config's list of endpoint types equal to the registry.
func TestEndpointNamesAgree(t *testing.T) {
	for _, o := range config.Options() {
		if o.Name != "endpoint-type" {
			continue
		}
		registered := map[string]bool{}
		for _, name := range endpoint.Names() {
			registered[name] = true
		}
		for _, name := range o.Values {
			if !registered[name] {
				t.Errorf("--endpoint-type lists %s, which the registry does not know", name)
			}
			delete(registered, name)
		}
		for name := range registered {
			t.Errorf("the registry knows %s, which --endpoint-type does not list", name)
		}
		return
	}
	t.Fatal("there is no option endpoint-type")
}

// TestMissingCapabilitiesAreListed holds the list of what is missing against the tables.
func TestMissingCapabilitiesAreListed(t *testing.T) {
	text, err := os.ReadFile("../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "| Capability |")
	section, _, _ = strings.Cut(section, "\n## ")
	var listed []string
	for i, part := range strings.Split(section, "`") {
		if i%2 == 1 {
			listed = append(listed, part)
		}
	}
	has := func(what string) bool {
		return slices.ContainsFunc(listed, func(pattern string) bool {
			ok, err := path.Match(pattern, what)
			return err == nil && ok
		})
	}
	for _, o := range config.Options() {
		named := func(spelling string) bool {
			return has(spelling) || slices.ContainsFunc(missingValues(o), func(v string) bool { return has(spelling + " " + v) })
		}
		if (!o.Built() || len(missingValues(o)) > 0) && !slices.ContainsFunc(o.Spellings(), named) {
			t.Errorf("docs/compatibility.md does not list --%s as missing", o.Name)
		}
	}
	for _, name := range missingCommands {
		if !has("aiperf " + name) {
			t.Errorf("docs/compatibility.md does not list aiperf %s as missing", name)
		}
	}
	// And nothing that is there.
	for _, o := range config.Options() {
		if o.Built() && len(missingValues(o)) == 0 && slices.Contains(listed, "--"+o.Name) && !slices.Contains([]string{"tokenizer-trust-remote-code", "metrics-listen", "input-file"}, o.Name) {
			t.Errorf("docs/compatibility.md lists --%s as missing", o.Name)
		}
	}
}
