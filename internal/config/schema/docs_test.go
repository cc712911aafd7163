package schema_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/testkit"
	"aiperf/internal/config/option"
	"aiperf/internal/config/schema"
)

// TestDocsOfConfigurationKeys keeps docs/config-keys.md equal to the table of keys.
func TestDocsOfConfigurationKeys(t *testing.T) {
	testkit.Golden(t, "../../../docs/config-keys.md", []byte(keysPage()))
}

func keysPage() string {
	var b strings.Builder
	b.WriteString(`# Keys of configuration files

This page is generated from the table of keys; ` + "`aiperf config schema`" + ` prints the same as a JSON Schema for
editors. ` + "`aiperf config show FILE`" + ` shows a file with all defaults.

Every key may be written in snake_case or in camelCase, but not twice in one mapping. A key of null is not given. A text
of a number is a number, ` + "`yes`, `no`, `on` and `off`" + ` are booleans, and any value may be a reference
` + "`${NAME:default}`" + ` or an expression ` + "`{{ … }}`" + `. An unknown key is an error.

- **time**: a number of seconds, or a number with one unit (s, sec, m, min, h, hr, hour), such as 90, 30s, 1.5m, 2 h;
  inf is no limit.
- **ramp**: a time, or a mapping of duration and strategy (linear, exponential, poisson).
- **distribution**: a number, or a mapping; see [datasets](datasets.md).
- **Option** is the flag of [aiperf profile](cli.md) with the same effect and grammar.
- A key marked **°** is not known to the original: a file with it works with this program only.

`)
	section(&b, schema.Envelope(), "", "")
	return b.String()
}

// section writes the table of a section, then those of the sections below it; note tells those of one path apart.
func section(b *strings.Builder, k schema.Key, path, note string) {
	title := "The file"
	if path != "" {
		title = "`" + path + "`"
	}
	fmt.Fprintf(b, "## %s%s\n\n", title, note)
	if text := k.Text(); text != "" {
		fmt.Fprintf(b, "%s\n\n", text)
	}
	if s := shortForms(path); s != "" {
		fmt.Fprintf(b, "%s\n\n", s)
	}
	if len(k.Fields) == 0 {
		b.WriteString("No keys.\n\n")
		return
	}
	b.WriteString("| Key | Value | Default | Option | Meaning |\n|---|---|---|---|---|\n")
	for _, f := range k.Fields {
		fmt.Fprintf(
			b,
			"| %s | %s | %s | %s | %s |\n",
			name(f),
			cell(value(f)),
			cell(preset(f)),
			flag(f),
			cell(meaning(f)),
		)
	}
	b.WriteByte('\n')
	for _, f := range k.Fields {
		if f.Holds() != schema.Section && f.Holds() != schema.Sections && len(f.Fields) == 0 {
			continue
		}
		below := strings.TrimPrefix(path+"."+f.Name, ".")
		if f.Holds() == schema.Sections {
			below += "[]"
		}
		note := ""
		if slices.ContainsFunc(k.Fields, func(o schema.Key) bool {
			return o.Name == f.Name && !slices.Equal(o.Of, f.Of)
		}) {
			note = " of type " + strings.Join(f.Of, " and ")
		}
		section(b, f, below, note)
	}
}

// shortForms are the other ways to write a section.
func shortForms(path string) string {
	return map[string]string{
		"benchmark": "Short forms: `model` for `models`; `dataset: {…}` for a list of one dataset; `phases: {…}` or " +
			"`profiling: {…}`, with\n`warmup: {…}` before it, for a list of phases.",
		"benchmark.endpoint.urls":  "An item is a URL, or a mapping with these keys.",
		"benchmark.endpoint":       "`url` is short for `urls` with one URL. `http://` may be omitted.",
		"benchmark.gpu_telemetry":  "Short forms: a URL, true or false.",
		"benchmark.server_metrics": "Short forms: a URL, true or false.",
		"benchmark.datasets[]": "`isl` and `osl` of a synthetic dataset are short for `prompts.isl` and " +
			"`prompts.osl`, " +
			"`count` for `entries`.",
	}[path]
}

func name(k schema.Key) string {
	mark := ""
	if k.Ours {
		mark = " °"
	}
	return "`" + k.Name + "`" + mark
}

// value says what a key holds, and its limits.
func value(k schema.Key) string {
	kind := map[schema.Kind]string{schema.Switch: "boolean", schema.Whole: "whole number", schema.Number: "number",
		schema.Word: "text", schema.Duration: "time", schema.Ramp: "ramp", schema.Distribution: "distribution",
		schema.Words: "list of texts", schema.Numbers: "list of numbers", schema.Section: "mapping",
		schema.Sections: "list of mappings", schema.Table: "mapping", schema.TextTable: "mapping of texts",
		schema.Anything: "see meaning"}[k.Holds()]
	if choices := k.Choices(); len(choices) > 0 && (k.Holds() == schema.Choice || k.Values != nil) {
		kind = cmp.Or(strings.TrimPrefix(kind, "see meaning"), "one of") + " " + strings.Join(choices, ", ")
	}
	if limits := k.Bounds().String(); limits != "" && k.Holds() != schema.Section {
		kind += ", " + limits
	}
	return kind
}

// preset is the default of a key.
func preset(k schema.Key) string {
	switch {
	case k.Default != nil:
		text, err := artifact.AppendJSON(nil, k.Default)
		if err != nil {
			panic(err) // a value of the table
		}
		return strings.Trim(string(text), `"`)
	case k.Required:
		return "required"
	}
	return ""
}

func flag(k schema.Key) string {
	if k.Option == nil {
		return ""
	}
	if _, ok := option.Find("--" + k.Option.Name); !ok {
		return "" // one that only files have
	}
	return "`--" + k.Option.Usual() + "`"
}

// meaning is the help of a key, with the types that have it.
func meaning(k schema.Key) string {
	parts := []string{strings.ReplaceAll(k.Text(), "\n", " ")}
	if k.Of != nil {
		parts = append(parts, "Type "+strings.Join(k.Of, ", ")+".")
	}
	if k.Unused != "" {
		parts = append(parts, "*No effect: "+k.Unused+".*")
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
