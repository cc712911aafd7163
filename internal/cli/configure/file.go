package configure

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/cli/command"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/file"
	"aiperf/internal/config/flags"
	"aiperf/internal/config/resolve"
	"aiperf/internal/config/schema"
	"aiperf/internal/config/settings"
	"aiperf/internal/experiment/sweep"
	"aiperf/internal/run"
)

// configOptions are those of the actions on a file; name is the file that they read, file the one that they write.
type configOptions struct {
	format string
	name   string
	file   string
}

// fileFlag is the flag of the file that an action reads. It may be left out before the file.
func fileFlag(to *string) flags.Flag {
	return flags.Value("config-file", "FILE", "the configuration file; the flag itself may be omitted",
		command.NonEmpty(to))
}

// filePlace has the word of an action be its file.
var filePlace = []string{"config-file"}

func (o *configOptions) validateTable() *flags.Table {
	return &flags.Table{Command: "config validate", Page: "configuration", Examples: []flags.Example{
		{For: "check a file", Command: "aiperf config validate bench.yaml"},
	},
		Places: filePlace,
		About: `Usage: aiperf config validate FILE [-o text|json]

Checks a configuration file as a run would, with all variations of a sweep. Neither the server nor data are looked at.
FILE may be - for the standard input.

Options:
`, Footer: `Exit codes: 0 valid, perhaps with warnings; 1 not valid.
`, Flags: []flags.Flag{
			fileFlag(&o.name),
			flags.Choice("output -o", "FORMAT", "text or json", &o.format, "text", "json"),
		}}
}

// configValidate checks a file.
func configValidate(e *command.Env, args []string) error {
	o := configOptions{format: "text"}
	if err := configFile(e, o.validateTable(), &o.name, args); err != nil {
		return err
	}
	warnings, err := validateFile(e, o.name)
	if o.format == "json" {
		return validated(e, o.name, warnings, err)
	}
	for _, w := range warnings {
		fmt.Fprintln(e.Terminal.Err, "Warning:", e.Redactor.URL(w))
	}
	if err != nil {
		return err
	}
	count := ""
	if n := len(warnings); n == 1 {
		count = " with 1 warning"
	} else if n > 1 {
		count = fmt.Sprintf(" with %d warnings", n)
	}
	fmt.Fprintf(e.Terminal.Out, "Configuration valid%s: %s\n", count, o.name)
	return nil
}

// validated writes what was found as JSON.
func validated(e *command.Env, name string, warnings []string, err error) error {
	faults, notes := []any{}, []any{}
	var all fault.List
	if err != nil && !errors.As(err, &all) {
		all = fault.List{{Message: err.Error()}}
	}
	for _, f := range all {
		var place artifact.Object
		if f.Line > 0 {
			place = artifact.Object{{Key: "line", Value: f.Line}, {Key: "column", Value: f.Column}}
		}
		if f.Path != "" {
			place = append(place, artifact.Member{Key: "key", Value: f.Path})
		}
		faults = append(faults, append(place,
			artifact.Member{Key: "message", Value: e.Redactor.URL(cmp.Or(f.Text, f.Message))}))
	}
	for _, w := range warnings {
		notes = append(notes, e.Redactor.URL(w))
	}
	out := artifact.Object{{Key: "file", Value: name}, {Key: "valid", Value: err == nil},
		{Key: "errors", Value: faults}, {Key: "warnings", Value: notes}}
	if writeErr := artifact.WriteIndented(e.Terminal.Out, out); writeErr != nil {
		return writeErr
	}
	if err != nil {
		return command.Exit(command.ExitFailure)
	}
	return nil
}

// configFile parses the arguments of an action on one file.
func configFile(e *command.Env, t *flags.Table, name *string, args []string) error {
	if _, err := e.Parse(t, args); err != nil {
		return err
	}
	if *name == "" {
		return fmt.Errorf("aiperf %s needs one FILE; aiperf %[1]s --help shows how", t.Command)
	}
	e.Redactor = artifact.NewRedactor()
	return nil
}

// validateFile resolves a file, without looking at the files that it names.
func validateFile(e *command.Env, name string) (warnings []string, err error) {
	source, err := e.OpenConfig(name)
	if err != nil {
		return nil, err
	}
	e.HideFile(source, nil)
	if len(source.Faults) > 0 {
		_, _, err := resolveVariation(source, source.Raw)
		return nil, err
	}
	plan, err := sweep.Expand(source.File, source.Raw)
	if err != nil {
		return nil, err
	}
	for _, w := range plan.Warnings {
		warnings = append(warnings, w.Text)
	}
	envelopes := []*document.Node{source.Raw} // of a search, whose points are not known
	if len(plan.Variations) > 0 {
		envelopes = nil
	}
	for i := range plan.Variations {
		envelopes = append(envelopes, plan.Variations[i].Envelope())
	}
	for i, envelope := range envelopes {
		_, found, err := resolveVariation(source, envelope)
		for _, w := range found {
			if w.Level == fault.LevelWarning && !slices.Contains(warnings, w.Text) {
				warnings = append(warnings, w.Text)
			}
		}
		switch {
		case err != nil && len(envelopes) > 1:
			return warnings, fmt.Errorf("variation %d (%s): %w", i, plan.Variations[i].Label, err)
		case err != nil:
			return warnings, err
		}
	}
	return warnings, nil
}

// resolveVariation resolves an envelope of a file; tree is it with its templates rendered.
func resolveVariation(source *file.Source, envelope *document.Node) (tree *document.Node, w []fault.Warning,
	err error) {
	p, tree, err := source.Settings(envelope, file.Options{NoFiles: true})
	if err != nil {
		return nil, nil, err
	}
	_, w, err = resolve.Resolve(p, run.Catalog{})
	return tree, w, err
}

func (o *configOptions) showTable() *flags.Table {
	return &flags.Table{Command: "config show", Page: "configuration", Examples: []flags.Example{
		{For: "what a file amounts to", Command: "aiperf config show bench.yaml"},
		{For: "with an option over it", Command: "aiperf config show bench.yaml -- --concurrency 16"},
	},
		Places: filePlace,
		About: `Usage: aiperf config show FILE [-o yaml|json] [-- options of aiperf profile]

Prints the configuration with all defaults, and where each value comes from: a line of the file, an option, or a
default. Secrets are not printed. After -- stand options of aiperf profile, which win over the file as in a run.

Options:
`, Flags: []flags.Flag{
			fileFlag(&o.name),
			flags.Choice("output -o", "FORMAT", "yaml or json", &o.format, "yaml", "json"),
		}}
}

// configShow prints a complete configuration with origins.
func configShow(e *command.Env, args []string) error {
	o := configOptions{format: "yaml"}
	own, over := args, []string(nil)
	for i, arg := range args {
		if arg == "--" {
			own, over = args[:i], args[i+1:]
			break
		}
	}
	if err := configFile(e, o.showTable(), &o.name, own); err != nil {
		return err
	}
	e.HideSecrets(over)
	parsed, err := settings.Parse(over, e.LookupEnv)
	if err != nil {
		return err
	}
	source, err := e.OpenConfig(o.name)
	if err != nil {
		return err
	}
	e.HideFile(source, parsed)
	lists := sweep.Over{File: source.File, Raw: source.Raw, Flags: parsed}
	if source.Raw, err = lists.Envelope(); err != nil {
		return err
	}
	_, tree, err := source.Settings(source.Raw, file.Options{Flags: parsed, NoFiles: true})
	if err != nil {
		return err
	}
	complete := file.Complete(tree, parsed)
	if err := withFlags(complete, source, parsed); err != nil {
		return err
	}
	complete = file.Hide(complete, e.Redactor.Values)
	if o.format == "json" {
		origins := artifact.Object{}
		eachLeaf(complete, "", "", func(path, origin string) {
			origins = append(origins, artifact.Member{Key: path, Value: cmp.Or(origin, "default")})
		}, source.Name)
		err = artifact.WriteIndented(e.Terminal.Out, artifact.Object{{Key: "config", Value: complete.Any()},
			{Key: "origins", Value: origins}})
	} else {
		_, err = e.Terminal.Out.Write(withOrigins(complete, source.Name))
	}
	return err
}

func (o *configOptions) schemaTable() *flags.Table {
	return &flags.Table{Command: "config schema", Page: "configuration", Examples: []flags.Example{
		{For: "for the editor", Command: "aiperf config schema -o aiperf.schema.json"},
	},
		About: `Usage: aiperf config schema [-o FILE]

Prints the JSON Schema of configuration files, for editors: they complete keys and explain them. For the YAML support
of most editors begin a file with:
  # yaml-language-server: $schema=aiperf.schema.json

Options:
`, Flags: []flags.Flag{
			flags.Value("output -o", "FILE", "write to FILE instead of the standard output", flags.Text(&o.file)),
		}}
}

// configSchema prints the JSON Schema of configuration files.
func configSchema(e *command.Env, args []string) error {
	var o configOptions
	err := e.ParseOnly(o.schemaTable(), args)
	if err != nil {
		return err
	}
	if o.file != "" {
		err = artifact.WriteObject(o.file, schema.JSON())
	} else {
		err = artifact.WriteIndented(e.Terminal.Out, schema.JSON())
	}
	return err
}
