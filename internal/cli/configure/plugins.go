package configure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"unicode/utf8"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/suggest"
	safe "aiperf/internal/base/terminal"
	"aiperf/internal/cli/command"
	"aiperf/internal/config/env"
	"aiperf/internal/config/flags"
	"aiperf/internal/config/pluginfile"
	"aiperf/internal/config/resolve"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/run"
)

const pluginsHelp = `Usage: aiperf plugins [CATEGORY] [NAME] [options]

Lists what this program can do, category by category, and the programs that plug-ins add: the categories,
the entries of one, or one entry. A program of your own can become a plug-in.

Options:
`

type pluginsOptions struct {
	category, name string
	all, validate  bool
	dirs           []string
	format         string
}

func (o *pluginsOptions) table() *flags.Table {
	off := func(name, help string, on *bool) flags.Flag {
		f := flags.Switch(name, help, on)
		f.On = func() { *on = false }
		return f
	}
	category := flags.Value("category", "NAME", "the same as CATEGORY", flags.Text(&o.category))
	for _, c := range Categories() {
		category.Values = append(category.Values, c.Name)
	}
	return &flags.Table{Command: "plugins", Page: "plugins", Examples: []flags.Example{
		{For: "all categories", Command: "aiperf plugins"},
		{For: "one of them", Command: "aiperf plugins endpoint"},
	},
		About: pluginsHelp, Once: true, Places: []string{"category", "name"},
		Flags: []flags.Flag{
			category,
			flags.Value("name", "NAME", "the same as NAME", flags.Text(&o.name)),
			flags.Switch("all -a", "the entries of all categories", &o.all),
			off("no-all", "no entries of all categories, as without --all", &o.all),
			flags.Switch("validate -v", "read the manifests of all plug-ins, and start each of their programs once; "+
				"the exit code is 1 if one of them fails", &o.validate),
			off("no-validate", "start no program, as without --validate", &o.validate),
			flags.Value("plugin-dir", "DIR", "folder of a plug-in, or of several; more than one separated by commas",
				flags.List(&o.dirs)),
			flags.Choice("output -o", "FORMAT", "text or json; default: text", &o.format, "text", "json"),
		}}
}

// runPlugins lists what the program can do.
func runPlugins(e *command.Env, args []string) error {
	o := pluginsOptions{format: "text"}
	if _, err := e.Parse(o.table(), args); err != nil {
		return err
	}
	limits, _, err := env.Read(e.LookupEnv)
	if err != nil {
		return err
	}
	found := pluginfile.Find(resolve.PluginFolders(o.dirs, limits.Plugin.Path, e.LookupEnv))
	if o.validate {
		return validatePlugins(e, found, &limits.Plugin)
	}
	for _, note := range found.Notes {
		fmt.Fprintln(e.Terminal.Err, "Warning: "+note)
	}
	if err := found.Faults.Err(); err != nil {
		return err
	}
	list, err := o.chosen()
	if err != nil {
		return err
	}
	if o.name != "" {
		one, err := entry(&list[0], o.name, found)
		if err != nil {
			return err
		}
		if o.format == "json" {
			return printJSON(e, entryObject(one, &list[0]))
		}
		printEntry(e.Terminal.Out, &list[0], one)
		return nil
	}
	switch {
	case o.format == "json":
		return printJSON(e, pluginsObject(list, found))
	case o.category == "" && !o.all:
		printOverview(e, list, found)
	default:
		for i := range list {
			printCategory(e.Terminal.Out, &list[i], found, listWidth(e))
		}
	}
	return nil
}

// chosen are the categories that are asked for.
func (o *pluginsOptions) chosen() ([]Category, error) {
	all := Categories()
	if o.category == "" {
		return all, nil
	}
	if o.all {
		return nil, errors.New("--all and a category cannot be used together")
	}
	var names []string
	for i := range all {
		if all[i].Name == pluginfile.Category(o.category) {
			return all[i : i+1], nil
		}
		names = append(names, all[i].Name)
	}
	return nil, unknownOf("category", o.category, names)
}

// entry is the entry of a category with a name; that of a plug-in comes before a built-in one.
func entry(c *Category, name string, found *pluginfile.Set) (*capability, error) {
	list := withPlugins(c, found)
	var names []string
	if c.Name == pluginfile.Metric {
		name = metrics.Canonical(name)
	}
	for i := len(list) - 1; i >= 0; i-- {
		if strings.EqualFold(list[i].Name, name) {
			return &list[i], nil
		}
	}
	for i := range list {
		names = append(names, list[i].Name)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("there is no %s in this release: %s", c.Name, c.Lacks)
	}
	return nil, unknownOf(c.Name, name, names)
}

func unknownOf(what, name string, known []string) error {
	hint := ""
	if near := suggest.Nearest(name, known); near != "" {
		hint = "; did you mean " + near + "?"
	}
	const most = 50
	if len(known) > most {
		return fmt.Errorf("unknown %s %q%s\naiperf plugins %[1]s lists all %[4]d", what, name, hint, len(known))
	}
	return fmt.Errorf("unknown %s %q%s\nAvailable: %s", what, name, hint, strings.Join(known, ", "))
}

// listWidth is the width of lines.
func listWidth(e *command.Env) int {
	if !e.Terminal.OutTTY {
		return 0
	}
	return e.Terminal.Width()
}

// printOverview prints the packages and the categories.
func printOverview(e *command.Env, list []Category, found *pluginfile.Set) {
	w, width := e.Terminal.Out, listWidth(e)
	packages := [][2]string{{"aiperf " + command.Version, "what is built in"}}
	for _, p := range found.Plugins {
		n := len(p.Provides)
		about := fmt.Sprintf("%d %s in %s. %s", n, command.Plural(n, "program", "programs"), p.Path, p.Description)
		packages = append(packages, [2]string{strings.TrimSpace(p.Name + " " + p.Version), strings.TrimSpace(about)})
	}
	fmt.Fprintln(w, "Installed Packages")
	printPairs(w, packages, width)
	var rows [][2]string
	for i := range list {
		c := &list[i]
		n := len(withPlugins(c, found))
		about := fmt.Sprintf("%d: %s", n, c.About)
		if n == 0 {
			about = "none: " + c.Lacks
		}
		rows = append(rows, [2]string{c.Name, about})
	}
	fmt.Fprintln(w, "\nPlugin Categories")
	printPairs(w, rows, width)
	fmt.Fprint(w, "\naiperf plugins CATEGORY lists the entries of one, --all those of all.\n")
}

func printCategory(w io.Writer, c *Category, found *pluginfile.Set, width int) {
	fmt.Fprintf(w, "%s\n", c.Name)
	list := withPlugins(c, found)
	if len(list) == 0 {
		fmt.Fprintf(w, "  %s None in this release: %s.\n\n", c.About, c.Lacks)
		return
	}
	fmt.Fprintf(w, "  %s\n\n", c.About)
	var rows [][2]string
	for i := range list {
		about := list[i].About
		if p := list[i].from; p != nil {
			about += " [" + strings.TrimSpace(p.Plugin+" "+p.Version) + "]"
		}
		rows = append(rows, [2]string{list[i].Name, about})
	}
	printPairs(w, rows, width)
	fmt.Fprintln(w)
}

func printEntry(w io.Writer, c *Category, e *capability) {
	fmt.Fprintf(w, "%s:%s\n  %s\n\n", c.Name, safe.Text(e.Name), safe.Text(e.About))
	from := "aiperf " + command.Version
	if e.from != nil {
		from = "plug-in " + strings.TrimSpace(e.from.Plugin+" "+e.from.Version)
	}
	rows := [][2]string{{"Type", e.Name}, {"Category", c.Name}, {"Package", from}}
	for _, f := range e.facts {
		if f.value != "" {
			rows = append(rows, [2]string{f.name, f.value})
		}
	}
	printPairs(w, rows, 0)
}

// printPairs prints names and texts in two columns, a line each; in lines of width columns if that is not 0.
func printPairs(w io.Writer, rows [][2]string, width int) {
	column := 0
	for _, r := range rows {
		column = max(column, utf8.RuneCountInString(r[0]))
	}
	for _, r := range rows {
		lines := []string{safe.Text(r[1])}
		if room := width - column - 4; room >= 30 {
			lines = safe.Wrap(lines[0], room)
		}
		for i, line := range lines {
			name := ""
			if i == 0 {
				name = safe.Text(r[0])
			}
			fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %-*s  %s", column, name, line), " "))
		}
	}
}

func printJSON(e *command.Env, o artifact.Object) error {
	if err := artifact.WriteIndented(e.Terminal.StyledOut, o); err != nil {
		return err
	}
	fmt.Fprintln(e.Terminal.Out)
	return nil
}

// pluginsObject is the list of categories as JSON.
func pluginsObject(list []Category, found *pluginfile.Set) artifact.Object {
	packages := []any{artifact.Object{{Key: "name", Value: "aiperf"}, {Key: "version", Value: command.Version}}}
	for _, p := range found.Plugins {
		packages = append(packages, artifact.Object{{Key: "name", Value: p.Name}, {Key: "version", Value: p.Version},
			{Key: "description", Value: p.Description}, {Key: "manifest", Value: p.Path}})
	}
	var out []any
	for i := range list {
		c := &list[i]
		entries := []any{}
		all := withPlugins(c, found)
		for j := range all {
			entries = append(entries, entryObject(&all[j], nil))
		}
		o := artifact.Object{{Key: "name", Value: c.Name}, {Key: "description", Value: c.About}}
		if len(all) == 0 {
			o = append(o, artifact.Member{Key: "lacks", Value: c.Lacks})
		}
		out = append(out, append(o, artifact.Member{Key: "entries", Value: entries}))
	}
	return artifact.Object{{Key: "packages", Value: packages}, {Key: "categories", Value: out}}
}

// entryObject is an entry as JSON; with its category where it stands alone.
func entryObject(e *capability, c *Category) artifact.Object {
	o := artifact.Object{{Key: "name", Value: e.Name}, {Key: "description", Value: e.About}}
	if c != nil {
		o = append(o, artifact.Member{Key: "category", Value: c.Name})
	}
	from := "aiperf"
	if e.from != nil {
		from = e.from.Plugin
	}
	o = append(o, artifact.Member{Key: "package", Value: from})
	for _, f := range e.facts {
		if f.value != "" {
			key := strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(f.name), " ", "_"), "-", "_")
			o = append(o, artifact.Member{Key: key, Value: f.value})
		}
	}
	return o
}

// validatePlugins reads all manifests and starts each program once.
func validatePlugins(e *command.Env, found *pluginfile.Set, limits *env.Plugin) error {
	w := e.Terminal.Out
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	failed := len(found.Faults)
	line := func(mark, text string) {
		fmt.Fprintln(w, mark, strings.ReplaceAll(safe.Text(text), "\n", "\n  "))
	}
	for _, f := range found.Faults {
		line("✗", strings.TrimSpace(f.Message+"\n"+f.Excerpt))
	}
	for _, p := range found.Plugins {
		line("✓", p.Path+": "+strings.TrimSpace(p.Name+" "+p.Version))
		for i := range p.Provides {
			if err := run.CheckProgram(ctx, &p.Provides[i], limits); err != nil {
				failed++
				line("✗", err.Error())
				continue
			}
			line("✓", p.Provides[i].String()+" answers")
		}
	}
	for _, note := range found.Notes {
		line("!", note)
	}
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case failed > 0:
		fmt.Fprintln(w, "Validation failed")
		return command.Exit(command.ExitFailure)
	case len(found.Plugins) == 0:
		fmt.Fprintln(w, "No plug-ins: they are found by --plugin-dir, AIPERF_PLUGIN_PATH and in ~/.aiperf/plugins")
		return nil
	}
	fmt.Fprintln(w, "All checks passed")
	return nil
}
