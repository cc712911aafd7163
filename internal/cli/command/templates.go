package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"aiperf/internal/config/file"
	"aiperf/internal/config/flags"
	"aiperf/internal/config/parse"
)

const configInitHelp = `Usage: aiperf config init [--template] NAME [-o FILE]
       aiperf config init --list [-c CATEGORY] [-v]
       aiperf config init --search WORD [-v]

Writes a configuration file with comments to start from, or lists the templates.

Options:
`

const TemplateFooter = `Without --output the file goes to the standard output. An existing FILE is replaced. Data files that a template reads
are written beside FILE; those that exist already are kept.
Exit codes: 0 done; 1 unknown template, or a file that could not be written; 2 nothing to do was given.
`

// TemplateOptions are the flags of a command that writes a file made of a template.
type TemplateOptions struct {
	List, verbose                             bool
	Search, Category, Template, Model, Output string
	Servers                                   []string
}

// Table returns the flags of aiperf config init.
func (o *TemplateOptions) Table() *flags.Table {
	names := make([]string, 0, 32)
	for _, t := range file.Templates() {
		names = append(names, t.Name)
	}
	category := flags.Value("category -c", "CATEGORY", "list only the categories whose name contains this",
		NonEmpty(&o.Category))
	category.Values = file.TemplateCategories()
	chosen := flags.Value("template -t", "NAME", "the template; the flag itself may be omitted", NonEmpty(&o.Template))
	chosen.Values = names
	return &flags.Table{Command: "config init", Page: "configuration", Examples: []flags.Example{
		{For: "which templates there are", Command: "aiperf config init --list"},
		{For: "a file to start from", Command: "aiperf config init -t minimal -m MODEL -u http://localhost:8000 -o bench.yaml"},
	},
		About: configInitHelp, Places: []string{"template"},
		Flags: []flags.Flag{
			chosen,
			flags.Value("model -m", "MODEL", "put this model into it", NonEmpty(&o.Model)),
			flags.Value("url -u", "URL,…", "put this server into it, or these; http:// may be omitted",
				func(v string) error { return o.setServers(v) }),
			flags.Value("output -o", "FILE", "write to this file; folders are made", NonEmpty(&o.Output)),
			flags.Switch("list -l", "list the templates by category", &o.List),
			Off("no-list", &o.List),
			category,
			flags.Value("search -s", "WORD", "list the templates whose name, title, description, category,\n"+
				"tags or features contain this, in any case", NonEmpty(&o.Search)),
			flags.Switch("verbose -v", "list tags and difficulty, too", &o.verbose),
			Off("no-verbose", &o.verbose),
		}, Footer: TemplateFooter}
}

// setServers reads the addresses of servers.
func (o *TemplateOptions) setServers(list string) error {
	o.Servers = nil
	if err := flags.List(&o.Servers)(list); err != nil {
		return err
	}
	for i, server := range o.Servers {
		o.Servers[i] = parse.WithScheme(server)
		if err := parse.CheckURL(o.Servers[i]); err != nil {
			return err
		}
	}
	return nil
}

// RunTemplates lists templates, or writes one.
func RunTemplates(e *Env, args []string) error {
	var o TemplateOptions
	if _, err := e.Parse(o.Table(), args); err != nil {
		return err
	}
	listed := o.List || o.Search != "" || o.Category != ""
	switch {
	case listed && o.Template != "":
		return errors.New("--template writes a file, --list, --search and --category list templates: " +
			"give one or the other")
	case listed:
		listTemplates(e, &o)
		return nil
	case o.Template == "":
		fmt.Fprintln(e.Terminal.Err, "Nothing to do: give --list, --search WORD or --template NAME. "+
			"aiperf config init --help explains them.")
		return Exit(ExitUsage)
	}
	t, err := file.FindTemplate(o.Template)
	if err != nil {
		return err
	}
	text := t.Fill(o.Model, o.Servers)
	if o.Output == "" || o.Output == "-" {
		fmt.Fprint(e.Terminal.Out, text)
		for _, f := range t.Files {
			fmt.Fprintf(e.Terminal.Err, "This template reads %s: --output FILE writes it beside the file.\n", f)
		}
		return nil
	}
	return WriteTemplate(e, t, text, o.Output)
}

// WriteTemplate writes a template to a file, and its data beside it.
func WriteTemplate(e *Env, t file.Template, text, path string) error {
	if err := WriteFile(path, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
		return err
	}
	fmt.Fprintf(e.Terminal.Out, "Wrote %s template to %s\n", t.Name, path)
	for _, name := range t.Files {
		f := filepath.Join(filepath.Dir(path), filepath.FromSlash(name))
		if _, err := os.Lstat(f); err == nil {
			fmt.Fprintf(e.Terminal.Out, "Kept %s, which exists\n", f)
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := WriteFile(f, func(w io.Writer) error {
			_, err := w.Write(file.TemplateData(name))
			return err
		}); err != nil {
			return err
		}
		fmt.Fprintf(e.Terminal.Out, "Wrote its data to %s\n", f)
	}
	return nil
}

// listTemplates prints templates by category, or what a search found.
func listTemplates(e *Env, o *TemplateOptions) {
	w := e.Terminal.Out
	found := file.Templates()
	if o.Category != "" {
		found = file.TemplatesInCategory(found, o.Category)
	}
	if o.Search != "" {
		found = file.SearchTemplates(found, o.Search)
	}
	switch {
	case len(found) == 0 && o.Search != "":
		fmt.Fprintf(w, "No template matches %q.\nAll templates: aiperf config init --list\n", o.Search)
		return
	case len(found) == 0:
		fmt.Fprintf(w, "No category contains %q.\nThe categories are: %s\n", o.Category,
			strings.Join(file.TemplateCategories(), ", "))
		return
	case o.Search != "":
		fmt.Fprintf(w, "%d %s %q\n\n", len(found), Plural(len(found), "template matches", "templates match"), o.Search)
		templateTable(e, found, o.verbose)
		fmt.Fprintln(w)
	default:
		for _, category := range file.TemplateCategories() {
			if in := file.TemplatesInCategory(found, category); len(in) > 0 {
				fmt.Fprintln(w, category)
				templateTable(e, in, o.verbose)
				fmt.Fprintln(w)
			}
		}
	}
	fmt.Fprintln(w, "Write one to a file: aiperf config init --template NAME --output FILE")
}

// templateTable prints templates as a table without lines. On a terminal its texts are broken to its width.
func templateTable(e *Env, list []file.Template, verbose bool) {
	rows := [][]string{{"Name", "Title", "Description"}}
	if verbose {
		rows[0] = append(rows[0], "Tags", "Difficulty")
	}
	for _, t := range list {
		row := []string{t.Name, t.Title, t.Description}
		if verbose {
			row = append(row, strings.Join(t.Tags, ", "), t.Difficulty)
		}
		rows = append(rows, row)
	}
	WriteColumns(e.Terminal.Out, rows, e.Terminal.Width())
}
