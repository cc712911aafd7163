package look

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
	"aiperf/internal/result/judge"
	"aiperf/internal/result/library"
	"aiperf/internal/result/report/console"
	"aiperf/internal/result/summary"
)

const whyHelp = `Usage: aiperf why DIR [DIR …] [options]

Says what is to be thought of finished runs, and why: the state of each run, what limited it and where its time went,
with the evidence and how sure that is, what to change at the server, and how to confirm it; then what could not be seen
of the run, and how the next one shows it. DIR is the folder of a run, its JSON summary, or a folder with runs, such
as that of a sweep: then each run has a line, and the runs at length follow with --all.

Options:
`

type whyOptions struct {
	format string
	all    bool
}

func (o *whyOptions) table() *flags.Table {
	return &flags.Table{Command: "why", Page: "results", Examples: []flags.Example{
		{For: "one run at length", Command: "aiperf why artifacts/RUN"},
		{For: "each run of a sweep at length", Command: "aiperf why artifacts/SWEEP --all"},
		{For: "for a program", Command: "aiperf why artifacts/RUN --format json"},
	},
		About: whyHelp, Flags: []flags.Flag{
			flags.Choice("format", "NAME", "text or json; default: text", &o.format, "text", "json"),
			flags.Switch("all", "of several runs, each at length", &o.all),
		}}
}

// judgedRun is a run with its judgement.
type judgedRun struct {
	Name string `json:"name"`
	judge.Judgement
}

// runWhy prints the judgements of runs.
func runWhy(e *command.Env, args []string) error {
	o := whyOptions{format: "text"}
	paths, err := e.Parse(o.table(), args)
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return errors.New("aiperf why needs the folder of a run: aiperf why artifacts/RUN")
	}
	var runs []judgedRun
	for _, path := range paths {
		more, err := readJudged(path)
		if err != nil {
			return err
		}
		runs = append(runs, more...)
	}
	if o.format == "json" {
		out := json.NewEncoder(e.Terminal.Out)
		out.SetIndent("", "  ")
		out.SetEscapeHTML(false)
		if len(runs) == 1 {
			return out.Encode(runs[0])
		}
		return out.Encode(runs)
	}
	return printWhy(e, runs, len(runs) == 1 || o.all)
}

// readJudged reads the judgement of the run that a path names, or of all runs in a folder.
func readJudged(path string) ([]judgedRun, error) {
	figures, err := summary.ReadFigures(path)
	if err == nil {
		return []judgedRun{{Name: filepath.Base(path), Judgement: figures.Judgement}}, nil
	}
	var none *summary.NoSummaryError
	if !errors.As(err, &none) {
		return nil, err
	}
	found, findErr := library.Find(path)
	if findErr != nil {
		return nil, findErr
	}
	var runs []judgedRun
	for i := range found.Folders {
		d := &found.Folders[i]
		if d.Kind != library.Run || d.File == "" {
			continue
		}
		figures, err := summary.ReadFigures(d.File)
		if err != nil {
			return nil, err
		}
		name, relErr := filepath.Rel(path, d.Home)
		if relErr != nil || name == "." {
			name = d.Home
		}
		runs = append(runs, judgedRun{Name: name, Judgement: figures.Judgement})
	}
	if runs == nil {
		return nil, err
	}
	return runs, nil
}

// printWhy prints the judgements, each at length or on a line.
func printWhy(e *command.Env, runs []judgedRun, long bool) error {
	t := e.Terminal
	options := console.Options{Width: console.Width(t.OutTTY, t.Width(), 0), Styles: t.OutTTY && t.Colour, Screen: t.OutTTY}
	if !long {
		rows := make([]console.Fact, len(runs))
		for i := range runs {
			j := &runs[i].Judgement
			rows[i] = console.Fact{Name: runs[i].Name, Text: cmp.Or(j.Brief(), j.First().Title)}
			if s := j.State; s.Title != "" {
				rows[i].Text = s.Title + ": " + rows[i].Text
			}
		}
		return console.RenderFacts(t.StyledOut, rows, options)
	}
	for i := range runs {
		if i > 0 {
			fmt.Fprintln(t.StyledOut)
		}
		if err := console.RenderWhy(t.StyledOut, runs[i].Name, &runs[i].Judgement, options); err != nil {
			return err
		}
	}
	return nil
}
