package look

import (
	"bufio"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
	"aiperf/internal/result/analysis"
)

const shareHelp = `Usage: aiperf share DIR [DIR] [options]

Prints a finished result as a block of Markdown, ready to be pasted into an issue or a post: the key figures, what
limited them, the client's verdict and the command, without secrets. DIR is a run, a series, a sweep, a search or a
capacity; two folders are compared, the second with the first. A file whose name ends in .svg or .png is a card, a
picture of the same in the size of a link's preview.

Options:
`

type shareOptions struct {
	files []string
	theme string
}

func (o *shareOptions) table() *flags.Table {
	output := flags.Value("output", "FILE", "write to FILE: Markdown, or a card where its name ends in .svg or .png; may be "+
		"repeated", flags.Texts(&o.files))
	output.Short = "o"
	return &flags.Table{Command: "share", Page: "share", Examples: []flags.Example{
		{For: "a text for an issue", Command: "aiperf share artifacts/RUN"},
		{For: "a picture", Command: "aiperf share artifacts/RUN -o card.svg"},
		{For: "before and after", Command: "aiperf share artifacts/BEFORE artifacts/AFTER"},
	},
		About: shareHelp, Flags: []flags.Flag{
			output,
			flags.Choice("theme", "NAME", "colours of the card, light or dark; default: light", &o.theme, "light", "dark"),
		}}
}

// runShare prints a result for others.
func runShare(e *command.Env, args []string) error {
	o := shareOptions{theme: "light"}
	paths, err := e.Parse(o.table(), args)
	if err != nil {
		return err
	}
	var card *analysis.Card
	switch len(paths) {
	case 0:
		err = errors.New("aiperf share needs the folder of a result: aiperf share artifacts/RUN")
	case 1:
		card, err = analysis.ReadCard(paths[0])
	case 2:
		card, err = analysis.CompareCard(paths[0], paths[1])
	default:
		err = fmt.Errorf("aiperf share takes one folder, or two to compare them, not %d", len(paths))
	}
	if err == nil {
		err = writeCard(e, card, &o)
	}
	return err
}

// cardScale is the number of pixels for each point of a card.
const cardScale = 2

// writeCard writes the forms that are asked for.
func writeCard(e *command.Env, card *analysis.Card, o *shareOptions) error {
	if len(o.files) == 0 {
		fmt.Fprint(e.Terminal.Out, card.Markdown())
	}
	for _, path := range o.files {
		var write func(w *bufio.Writer) error
		switch strings.ToLower(filepath.Ext(path)) {
		case ".svg":
			write = func(w *bufio.Writer) error { return card.Scene(o.theme == "dark").WriteSVG(w) }
		case ".png":
			write = func(w *bufio.Writer) error { return card.Scene(o.theme == "dark").WritePNG(w, cardScale) }
		case ".jpg", ".jpeg", ".gif", ".webp", ".pdf", ".html":
			return fmt.Errorf("--output %s: a card is an .svg or a .png file; any other name holds Markdown", path)
		default:
			if path == "-" {
				fmt.Fprint(e.Terminal.Out, card.Markdown())
				continue
			}
			write = func(w *bufio.Writer) error {
				_, err := w.WriteString(card.Markdown())
				return err
			}
		}
		if err := artifact.WriteStream(path, write); err != nil {
			return err
		}
		fmt.Fprintln(e.Terminal.Err, "Wrote "+path)
	}
	return nil
}
