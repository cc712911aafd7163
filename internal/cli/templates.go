package cli

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

Writes a configuration file with comments to start from, or lists the templates. For example:
  aiperf config init --list
  aiperf config init -t minimal -m MODEL -u http://localhost:8000 -o bench.yaml
  aiperf profile --config bench.yaml

Options:
`

const configInitFooter = `  -h, --help                 this text

Without --output the file goes to the standard output. An existing FILE is replaced. Data files that a template reads
are written beside FILE; those that exist already are kept.
Exit codes: 0 done; 1 unknown template, or a file that could not be written; 2 nothing to do was given.
`

type configInitOptions struct {
	list, verbose                             bool
	search, category, template, model, output string
	servers                                   []string
}

func (o *configInitOptions) table() *flags.Table {
	names := make([]string, 0, 32)
	for _, t := range file.Templates() {
		names = append(names, t.Name)
	}
	category := flags.Value("category -c", "CATEGORY", "list only the categories whose name contains this",
		nonEmpty(&o.category))
	category.Values = file.TemplateCategories()
	chosen := flags.Value("template -t", "NAME", "the template; the flag itself may be omitted", nonEmpty(&o.template))
	chosen.Values = names
	return &flags.Table{Command: "config init", About: configInitHelp, Column: 29, Places: []string{"template"},
		Flags: []flags.Flag{
			chosen,
			flags.Value("model -m", "MODEL", "put this model into it", nonEmpty(&o.model)),
			flags.Value("url -u", "URL,…", "put this server into it, or these; http:// may be omitted",
				func(v string) error { return o.setServers(v) }),
			flags.Value("output -o", "FILE", "write to this file; folders are made", nonEmpty(&o.output)),
			flags.Switch("list -l", "list the templates by category", &o.list),
			off("no-list", &o.list),
			category,
			flags.Value("search -s", "WORD", "list the templates whose name, title, description, category,\n"+
				"tags or features contain this, in any case", nonEmpty(&o.search)),
			flags.Switch("verbose -v", "list tags and difficulty, too", &o.verbose),
			off("no-verbose", &o.verbose),
		}, Footer: configInitFooter}
}

// setServers reads the addresses of servers.
func (o *configInitOptions) setServers(list string) error {
	o.servers = nil
	if err := flags.List(&o.servers)(list); err != nil {
		return err
	}
	for i, server := range o.servers {
		o.servers[i] = parse.WithScheme(server)
		if err := parse.CheckURL(o.servers[i]); err != nil {
			return err
		}
	}
	return nil
}

// configInit lists templates, or writes one.
func (a *app) configInit(args []string) int {
	var o configInitOptions
	if _, code, done := a.parse(o.table(), args); done {
		return code
	}
	listed := o.list || o.search != "" || o.category != ""
	switch {
	case listed && o.template != "":
		return a.fail(errors.New("--template writes a file, --list, --search and --category list templates: " +
			"give one or the other"))
	case listed:
		a.listTemplates(&o)
		return ExitOK
	case o.template == "":
		fmt.Fprintln(a.terminal.err, "Nothing to do: give --list, --search WORD or --template NAME. "+
			"aiperf config init --help explains them.")
		return ExitUsage
	}
	t, err := file.FindTemplate(o.template)
	if err != nil {
		return a.fail(err)
	}
	text := t.Fill(o.model, o.servers)
	if o.output == "" || o.output == "-" {
		fmt.Fprint(a.terminal.out, text)
		for _, f := range t.Files {
			fmt.Fprintf(a.terminal.err, "This template reads %s: --output FILE writes it beside the file.\n", f)
		}
		return ExitOK
	}
	if err := a.writeTemplate(t, text, o.output); err != nil {
		return a.fail(err)
	}
	return ExitOK
}

// writeTemplate writes a template to a file, and its data beside it.
func (a *app) writeTemplate(t file.Template, text, path string) error {
	if err := writeDrawn(path, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
		return err
	}
	fmt.Fprintf(a.terminal.out, "Wrote %s template to %s\n", t.Name, path)
	for _, name := range t.Files {
		f := filepath.Join(filepath.Dir(path), filepath.FromSlash(name))
		if _, err := os.Lstat(f); err == nil {
			fmt.Fprintf(a.terminal.out, "Kept %s, which exists\n", f)
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := writeDrawn(f, func(w io.Writer) error {
			_, err := w.Write(file.TemplateData(name))
			return err
		}); err != nil {
			return err
		}
		fmt.Fprintf(a.terminal.out, "Wrote its data to %s\n", f)
	}
	return nil
}

// listTemplates prints templates by category, or what a search found.
func (a *app) listTemplates(o *configInitOptions) {
	w := a.terminal.out
	found := file.Templates()
	if o.category != "" {
		found = file.TemplatesInCategory(found, o.category)
	}
	if o.search != "" {
		found = file.SearchTemplates(found, o.search)
	}
	switch {
	case len(found) == 0 && o.search != "":
		fmt.Fprintf(w, "No template matches %q.\nAll templates: aiperf config init --list\n", o.search)
		return
	case len(found) == 0:
		fmt.Fprintf(w, "No category contains %q.\nThe categories are: %s\n", o.category,
			strings.Join(file.TemplateCategories(), ", "))
		return
	case o.search != "":
		fmt.Fprintf(w, "%d %s %q\n\n", len(found), plural(len(found), "template matches", "templates match"), o.search)
		a.templateTable(found, o.verbose)
		fmt.Fprintln(w)
	default:
		for _, category := range file.TemplateCategories() {
			if in := file.TemplatesInCategory(found, category); len(in) > 0 {
				fmt.Fprintln(w, category)
				a.templateTable(in, o.verbose)
				fmt.Fprintln(w)
			}
		}
	}
	fmt.Fprintln(w, "Write one to a file: aiperf config init --template NAME --output FILE")
}

// templateTable prints templates as a table without lines. On a terminal its texts are broken to its width.
func (a *app) templateTable(list []file.Template, verbose bool) {
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
	writeColumns(a.terminal.out, rows, a.terminal.width())
}
