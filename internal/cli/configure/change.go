package configure

import (
	"fmt"
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/cli/command"
	"aiperf/internal/config/document"
	"aiperf/internal/config/file"
	"aiperf/internal/config/flags"
	"aiperf/internal/config/resolve"
	"aiperf/internal/config/settings"
	"aiperf/internal/experiment/recipe"
	"aiperf/internal/experiment/sweep"
	"aiperf/internal/run"
)

type expandOptions struct {
	name   string
	format string
	full   bool
	index  *int
}

func (o *expandOptions) table() *flags.Table {
	return &flags.Table{Command: "config expand", Page: "sweeps", Examples: []flags.Example{
		{For: "the cells of a sweep", Command: "aiperf config expand sweep.yaml"},
		{For: "one of them in full", Command: "aiperf config expand sweep.yaml -i 2"},
	},
		Places: filePlace,
		About: `Usage: aiperf config expand FILE [-F] [-i N] [-f text|yaml|json]

Lists the variations of a sweep: their folders, labels and values. A file without a sweep has one variation, base.

Options:
`, Footer: `Exit codes: 0 done; 1 the file is not valid, or N is out of range; 2 an adaptive search, which has no list.
`, Flags: []flags.Flag{
			fileFlag(&o.name),
			flags.Switch("full -F", "with the complete configuration of each variation", &o.full),
			command.Off("no-full", &o.full),
			flags.Value("index -i", "N", "only variation N, from 0, with its complete configuration",
				func(text string) error {
					n, err := strconv.Atoi(text)
					if err != nil {
						return fmt.Errorf("%q is not a whole number", text)
					}
					o.index = &n
					return nil
				}),
			flags.Choice("format -f", "FORMAT", "text, yaml or json", &o.format, sweep.Text, sweep.YAML, sweep.JSON),
		}}
}

// configExpand lists the variations of a file.
func configExpand(e *command.Env, args []string) error {
	o := expandOptions{format: sweep.Text}
	if err := configFile(e, o.table(), &o.name, args); err != nil {
		return err
	}
	source, err := e.OpenConfig(o.name)
	if err != nil {
		return err
	}
	e.HideFile(source, nil)
	if len(source.Faults) > 0 {
		return source.Faults
	}
	plan, err := sweep.Expand(source.File, source.Raw)
	if err != nil {
		return err
	}
	for _, w := range append(source.Warnings, plan.Warnings...) {
		fmt.Fprintln(e.Terminal.Err, "Warning:", w.Text)
	}
	if plan.Type == sweep.AdaptiveSearch {
		return command.WithCode(command.ExitUsage, sweep.ErrSearch)
	}
	if err := plan.Write(e.Terminal.Out, sweep.Output{Format: o.format, Full: o.full, Index: o.index,
		Body: func(v *sweep.Variation) (*document.Node, error) {
			tree, _, err := resolveVariation(source, v.Envelope())
			if err != nil {
				return nil, err
			}
			return file.Hide(file.Body(file.Complete(tree, nil)), e.Redactor.Values), nil
		}}); err != nil {
		return err
	}
	return nil
}

type diffOptions struct{ format string }

func (o *diffOptions) table() *flags.Table {
	return &flags.Table{Command: "config diff", Page: "configuration", Examples: []flags.Example{
		{For: "two files with all their defaults", Command: "aiperf config diff before.yaml after.yaml"},
	},
		About: `Usage: aiperf config diff A B [-f text|json]

Compares two configuration files with all their defaults.

Options:
`, Footer: `Exit codes: 0 identical or compared; 1 a file is not valid.
`, Flags: []flags.Flag{flags.Choice("format -f", "FORMAT", "text or json", &o.format, "text", "json")}}
}

// difference is a value that two files do not share; nil: the file lacks it.
type difference struct {
	path     string
	old, new *document.Node
}

// configDiff compares two files.
func configDiff(e *command.Env, args []string) error {
	o := diffOptions{format: "text"}
	words, err := e.Parse(o.table(), args)
	if err != nil {
		return err
	}
	if len(words) != 2 {
		return fmt.Errorf("aiperf config diff needs two files")
	}
	e.Redactor = artifact.NewRedactor()
	var sides [2]*document.Node
	for i, name := range words {
		source, err := e.OpenConfig(name)
		if err != nil {
			return err
		}
		e.HideFile(source, nil)
		_, tree, err := source.Settings(source.Raw, file.Options{NoFiles: true})
		if err != nil {
			return err
		}
		sides[i] = file.Hide(file.Complete(tree, nil), e.Redactor.Values)
	}
	var list []difference
	differ(sides[0], sides[1], "", &list)
	if o.format == "json" {
		return writeDifferences(e, list)
	}
	w := e.Terminal.Out
	if len(list) == 0 {
		fmt.Fprintln(w, "Configurations are identical")
		return nil
	}
	plural := "s"
	if len(list) == 1 {
		plural = ""
	}
	fmt.Fprintf(w, "Comparing: %s vs %s\nFound %d difference%s:\n", words[0], words[1], len(list), plural)
	for _, d := range list {
		switch {
		case d.old == nil:
			fmt.Fprintf(w, "+ %s: %s (only in %s)\n", d.path, inline(d.new), words[1])
		case d.new == nil:
			fmt.Fprintf(w, "- %s: %s (only in %s)\n", d.path, inline(d.old), words[0])
		default:
			fmt.Fprintf(w, "%s:\n  - %s: %s\n  + %s: %s\n", d.path, words[0], inline(d.old), words[1], inline(d.new))
		}
	}
	return nil
}

func writeDifferences(e *command.Env, list []difference) error {
	items := []any{}
	for _, d := range list {
		switch {
		case d.old == nil:
			items = append(items, artifact.Object{{Key: "type", Value: "added"}, {Key: "path", Value: d.path},
				{Key: "value", Value: d.new.Any()}})
		case d.new == nil:
			items = append(items, artifact.Object{{Key: "type", Value: "removed"}, {Key: "path", Value: d.path},
				{Key: "value", Value: d.old.Any()}})
		default:
			items = append(items, artifact.Object{{Key: "type", Value: "changed"}, {Key: "path", Value: d.path},
				{Key: "old", Value: d.old.Any()}, {Key: "new", Value: d.new.Any()}})
		}
	}
	text, err := artifact.AppendIndented(nil, items)
	if err == nil {
		_, err = fmt.Fprintf(e.Terminal.Out, "%s\n", text)
	}
	return err
}

// inline is a value in one line.
func inline(n *document.Node) string {
	text, err := artifact.AppendJSON(nil, n.Any())
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// differ adds what two trees do not share. Entries of lists are compared by their names where they have one.
func differ(a, b *document.Node, path string, list *[]difference) {
	if a.Kind == document.Map && b.Kind == document.Map {
		for _, m := range a.Members {
			below := document.Path(path, m.Key)
			if other := b.Get(m.Key); other == nil {
				*list = append(*list, difference{below, m.Value, nil})
			} else {
				differ(m.Value, other, below, list)
			}
		}
		for _, m := range b.Members {
			if a.Get(m.Key) == nil {
				*list = append(*list, difference{document.Path(path, m.Key), nil, m.Value})
			}
		}
		return
	}
	if a.Kind == document.List && b.Kind == document.List && len(a.Items) == len(b.Items) {
		for i := range a.Items {
			differ(a.Items[i], b.Items[i], document.Index(path, i), list)
		}
		return
	}
	if inline(a) != inline(b) {
		*list = append(*list, difference{path, a, b})
	}
}

type fromFlagsOptions struct{ file string }

func (o *fromFlagsOptions) table() *flags.Table {
	return &flags.Table{Command: "config from-flags", Page: "configuration", Examples: []flags.Example{
		{For: "keep a command line as a file", Command: "aiperf config from-flags -o bench.yaml -- -m MODEL --concurrency 8"},
	},

		About: `Usage: aiperf config from-flags [-o FILE] -- OPTIONS OF aiperf profile

Prints the configuration file that describes the same run as a command line.

In the place of secrets the file names variables of the environment.

Options:
`, Flags: []flags.Flag{
			flags.Value("output -o", "FILE", "write to FILE instead of the standard output", flags.Text(&o.file)),
		}}
}

// configFromFlags prints the file of a command line.
func configFromFlags(e *command.Env, args []string) error {
	var o fromFlagsOptions
	own, over := args, []string(nil)
	for i, arg := range args {
		if arg == "--" {
			own, over = args[:i], args[i+1:]
			break
		}
	}
	if over == nil && !flags.WantsHelp(own) {
		return fmt.Errorf(
			"write the options of aiperf profile behind --: aiperf config from-flags -- -m MODEL …")
	}
	words, err := e.Parse(o.table(), own)
	if err != nil {
		return err
	}
	if len(words) > 0 {
		return fmt.Errorf("aiperf config from-flags: unexpected argument %q", words[0])
	}
	e.HideSecrets(over)
	parsed, err := settings.Parse(over, e.LookupEnv)
	if err != nil {
		return err
	}
	if parsed.Config.Given() {
		return fmt.Errorf("%s is a file already; aiperf config show %s -- … shows it with options over it",
			parsed.Config.Get(), parsed.Config.Get())
	}
	tree, variables, err := fileOf(parsed)
	if err != nil {
		return err
	}
	text := document.AppendYAML(nil, tree, 0)
	if o.file == "" || o.file == "-" {
		_, err = e.Terminal.Out.Write(text)
	} else {
		err = artifact.WriteFile(o.file, text)
	}
	if err != nil {
		return err
	}
	if tree.Get("benchmark").Get("models") == nil {
		fmt.Fprintln(e.Terminal.Err, "The file has no model: add models, or name it for each run with --model")
	}
	if len(variables) > 0 {
		fmt.Fprintln(e.Terminal.Err, "The file has no secrets: set", strings.Join(variables, ", "))
	}
	return nil
}

// fileOf is the file of a command line, with the sweep or search that its flags stand for, and the variables of the
// environment that it needs.
func fileOf(parsed *settings.Settings) (tree *document.Node, variables []string, err error) {
	question, err := recipe.FromFlags(parsed)
	if err != nil {
		return nil, nil, err
	}
	var block *document.Node
	if question != nil {
		parsed, block = question.Settings(parsed), question.Block
	} else if block, err = sweep.Block(parsed); err != nil {
		return nil, nil, err
	}
	// Which model it is may be left to the run, which asks the server.
	unnamed := resolve.LacksModel(parsed)
	if unnamed {
		parsed = parsed.WithModel("unnamed")
	}
	cfg, _, err := resolve.Resolve(parsed, run.Catalog{})
	if err != nil {
		return nil, nil, err
	}
	tree, variables = file.FromRun(cfg)
	if unnamed {
		tree.Get("benchmark").Delete("models")
	}
	if block != nil {
		tree.Set("sweep", block)
	}
	return tree, variables, nil
}
