package docs

import (
	"fmt"
	"io"
	"strings"

	"aiperf/docs"
	"aiperf/internal/base/manual"
	"aiperf/internal/base/suggest"
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
)

const help = `Usage: aiperf docs [PAGE [HEADING]] [--raw]
       aiperf docs WORD…

Shows the documentation, which is part of this program. Without a word it lists the pages. The name of a page shows the
page, with a word of a heading only those parts of it. Any other words are searched in all pages: the best places come
first.
`

type options struct{ raw bool }

func (o *options) table() *flags.Table {
	return &flags.Table{Command: "docs", About: help, Flags: []flags.Flag{
		flags.Switch("raw", "print the Markdown of the page, or of the list of pages", &o.raw),
	}, Examples: []flags.Example{
		{For: "a page, with a pager", Command: "aiperf docs guide | less"},
		{For: "one part of a page", Command: "aiperf docs results compare"},
		{For: "where is something explained", Command: "aiperf docs prefix cache"},
	}}
}

// run shows a page, or the places that have the words.
func run(e *command.Env, args []string) error {
	var o options
	words, err := e.Parse(o.table(), args)
	if err != nil {
		return err
	}
	list, err := readPages(docs.Pages)
	if err != nil {
		return err
	}
	look := flags.Look{Width: e.Terminal.TextWidth(), Styles: e.Terminal.OutTTY && e.Terminal.Colour}
	show := func(markdown string) error {
		if !o.raw {
			markdown = Render(markdown, look)
		}
		_, err := io.WriteString(e.Terminal.StyledOut, markdown)
		return err
	}
	if len(words) == 0 {
		return show(index(list))
	}
	if text, err := docs.Pages.ReadFile(words[0]); err == nil && strings.HasSuffix(words[0], ".json") {
		_, err := e.Terminal.StyledOut.Write(text)
		return err
	}
	if p, ok := find(list, words[0]); ok {
		if len(words) == 1 {
			return show(p.text)
		}
		if parts := p.parts(words[1:]); parts != "" {
			return show(parts)
		}
		list = []page{p}
		words = words[1:]
	}
	places := search(list, words)
	if len(places) == 0 {
		return nothing(list, words)
	}
	_, err = io.WriteString(e.Terminal.StyledOut, painted(listed(places, words, look.Width), look.Styles))
	return err
}

// nothing is the error of words that no page has.
func nothing(list []page, words []string) error {
	where := "no page of the documentation has"
	if len(list) == 1 {
		where = "the page " + list[0].name + " does not have"
	}
	message := fmt.Sprintf("%s %q", where, strings.Join(words, " "))
	var names []string
	for _, p := range list {
		names = append(names, p.name)
	}
	if near := suggest.Nearest(words[0], names); near != "" {
		message += "; did you mean " + manual.Page(near) + "?"
	}
	return fmt.Errorf("%s\naiperf docs lists the pages", message)
}
