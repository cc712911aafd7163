package look

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/scalar"
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
	"aiperf/internal/result/compare"
	"aiperf/internal/result/library"
	"aiperf/internal/result/report/console"
	"aiperf/internal/result/report/html"
)

const compareHelp = `Usage: aiperf compare BASE NEW [NEW …] [options]

Says how runs differ from the base, the most important in the first line, then shows for each figure
whether it is better, worse, or not shown to differ. BASE and NEW are folders of runs, JSON
summaries, folders with repeats of a run, or the aggregate files of repeats, of this program or of
the original one. With repeats, a difference is compared with the spread between repeats; with
single runs, with the spread between their requests, which are paired where both runs sent the same
requests, and for rates with that over their time. Several runs stand side by side. Folders of
sweeps, or their files profile_export_aiperf_sweep.json, are compared cell by cell.

Results of vllm bench serve, SGLang, GuideLLM, GenAI-Perf, inference-perf and llm-d are runs, too:
give the file, or the folder that holds it. Several runs in a file are compared as a sweep, and
FILE#2 is the second of them. aiperf docs other-results says what is read.

Options:
`

type compareOptions struct {
	compare.Options
	format      string
	all         bool
	page        string
	failOnWorse bool
}

func (o *compareOptions) table() *flags.Table {
	return &flags.Table{Command: "compare", Page: "results", Examples: []flags.Example{
		{For: "before and after", Command: "aiperf compare artifacts/BEFORE artifacts/AFTER"},
		{For: "all figures, and a page to pass on", Command: "aiperf compare artifacts/A artifacts/B --all --html compare.html"},
		{For: "a run of another tool with ours", Command: "aiperf compare vllm.json artifacts/RUN"},
		{For: "in a pipeline: exit code 3 if anything is worse", Command: "aiperf compare artifacts/MAIN artifacts/NEW --fail-on-worse"},
	},
		About: compareHelp, Flags: []flags.Flag{
			flags.Value("metrics", "LIST", "tags of the metrics to compare; default: those of the main table",
				flags.List(&o.Tags)),
			flags.Value("stats", "LIST", "statistics of distributions; default: avg,p50,p99", flags.List(&o.Stats)),
			flags.Value("confidence", "LEVEL", "confidence of the intervals, above 0 and below 1, or in percent; default: 0.95",
				numberBetween(&o.Confidence, 0, 1)),
			flags.Value("min-effect", "PERCENT", "differences smaller than this share of the base are none, and 0 counts all; "+
				"default: 1", o.smallestEffect),
			flags.Choice("format", "NAME", "console, markdown or json; default: console", &o.format, "console",
				"markdown", "json"),
			flags.Switch("all", "show all figures with the method of each, rather than the eight that matter most", &o.all),
			flags.Value("html", "FILE", "write the comparison as a page, too: one file that makes no requests",
				flags.Text(&o.page)),
			flags.Switch("fail-on-worse", "end with exit code 3 if any figure or the accuracy is worse, a run lacks a metric "+
				"of the base, or is not complete", &o.failOnWorse),
		}}
}

// smallestEffect reads the smallest difference that counts.
func (o *compareOptions) smallestEffect(text string) error {
	v, err := scalar.Percent(text)
	if err != nil || !(v >= 0 && v < 1e6) {
		return fmt.Errorf("%q is not a number of percent, 0 or more", text)
	}
	if o.MinPercent = v; v == 0 {
		o.MinPercent = -1
	}
	return nil
}

func numberBetween(to *float64, above, below float64) func(string) error {
	return func(text string) error {
		v, err := scalar.Share(text)
		if err != nil || !(v > above && v < below) {
			return fmt.Errorf("%q is not a number above %v and below %v", text, above, below)
		}
		*to = v
		return nil
	}
}

// runCompare compares runs with a base.
func runCompare(e *command.Env, args []string) error {
	o := compareOptions{format: "console"}
	paths, err := e.Parse(o.table(), args)
	if err != nil {
		return err
	}
	if len(paths) < 2 {
		return errors.New("aiperf compare needs a base and at least one run to compare with it: aiperf " +
			"compare BASE NEW")
	}
	sweeps, err := loadSweeps(paths)
	if err != nil {
		return err
	}
	if len(sweeps) > 0 {
		return compareSweeps(e, sweeps, o)
	}
	comparisons, err := compareAll(paths, o.Options)
	if err != nil {
		return err
	}
	if err := printComparisons(e, o, comparisonsOfRuns(comparisons)); err != nil {
		return err
	}
	if err := writeComparison(e, o.page, &html.Comparison{Runs: comparisons, Lines: linesOf(comparisons)}); err != nil {
		return err
	}
	if o.failOnWorse && slices.ContainsFunc(comparisons,
		func(c *compare.Comparison) bool {
			return c.Incomplete || c.Worse()+len(c.Missing) > 0 || c.AnswersLeaning() == compare.Worse
		}) {
		return command.Exit(command.ExitThreshold)
	}
	return nil
}

// loadSweeps reads the sweeps that paths name: all of them, or none if no path names one.
func loadSweeps(paths []string) (list []*compare.Sweep, err error) {
	for i, path := range paths {
		s, err := compare.LoadSweep(path)
		switch {
		case err != nil:
			return nil, err
		case s != nil:
			list = append(list, s)
		}
		if len(list) != 0 && len(list) != i+1 {
			return nil, fmt.Errorf("%s and %s cannot be compared: %w", paths[0], path, compare.ErrMixed)
		}
	}
	return list, nil
}

// compareSweeps compares sweeps with the first one, cell by cell.
func compareSweeps(e *command.Env, sweeps []*compare.Sweep, o compareOptions) error {
	var list comparisonsOfSweeps
	failed := false
	for _, next := range sweeps[1:] {
		c, err := compare.CompareSweeps(sweeps[0], next, o.Options)
		if err != nil {
			return err
		}
		list, failed = append(list, c), failed || c.Failed()
	}
	if err := printComparisons(e, o, list); err != nil {
		return err
	}
	if o.format == "console" {
		if err := drawCurves(e, list); err != nil {
			return err
		}
	}
	if err := writeComparison(e, o.page, &html.Comparison{Sweeps: list}); err != nil {
		return err
	}
	if o.failOnWorse && failed {
		return command.Exit(command.ExitThreshold)
	}
	return nil
}

// drawCurves draws the curves of sweeps whose cells are not the same on common axes.
func drawCurves(e *command.Env, list []*compare.SweepComparison) error {
	const most = 4
	for _, c := range list {
		var figures []console.Overlay
		curves := c.Curves()
		for i := range curves[:min(most, len(curves))] {
			of := &curves[i]
			if len(c.OnlyBase)+len(c.OnlyNew) == 0 || len(of.Base) > 1 || len(of.New) > 1 {
				continue // the cells say it all, or there are too many lines for characters
			}
			figures = append(figures, console.Overlay{Load: of.Load, Metric: of.Metric, Series: []console.OverlaySeries{
				{Name: "base " + c.Base.Name, Points: of.Base[0].Points}, {Name: c.New.Name, Points: of.New[0].Points}}})
		}
		if len(figures) == 0 {
			continue
		}
		fmt.Fprintln(e.Terminal.StyledOut)
		if err := console.RenderOverlays(e.Terminal.StyledOut, figures, console.Options{Width: e.Terminal.Width(),
			Styles: e.Terminal.OutTTY && e.Terminal.Colour, ASCII: !console.Braille(os.Getenv)}); err != nil {
			return err
		}
	}
	return nil
}

// writeComparison writes the page of a comparison, if it was asked for.
func writeComparison(e *command.Env, path string, c *html.Comparison) error {
	if path == "" {
		return nil
	}
	c.Version = command.Version
	var page bytes.Buffer
	if err := html.Compare(&page, c); err != nil {
		return err
	}
	if err := artifact.WriteFile(path, page.Bytes()); err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	fmt.Fprintln(e.Terminal.Err, "Page: "+path)
	return nil
}

// linesOf returns what the requests of runs did over time, of those that have records.
func linesOf(list []*compare.Comparison) (lines []html.TimeLines) {
	systems := []*compare.System{list[0].Base}
	for _, c := range list {
		systems = append(systems, c.New)
	}
	for _, s := range systems {
		path := s.Records()
		if path == "" {
			continue
		}
		index, err := library.BuildIndex(context.Background(), path, library.IndexOptions{})
		if err != nil {
			continue // the figures do not depend on it
		}
		if t := index.Timeline(pointsOfLines); t != nil {
			lines = append(lines, html.TimeLines{Name: s.Name, Timeline: t})
		}
	}
	return lines
}

// pointsOfLines is how many points a line over time has at most.
const pointsOfLines = 200

func compareAll(paths []string, o compare.Options) ([]*compare.Comparison, error) {
	var systems []compare.System
	for _, path := range paths {
		s, err := compare.Load(path)
		if err != nil {
			return nil, err
		}
		systems = append(systems, s)
	}
	var out []*compare.Comparison
	for i := range systems[1:] {
		c, err := compare.Compare(&systems[0], &systems[i+1], o)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// printable are comparisons in each of the formats.
type printable interface {
	text(compare.TextOptions) string
	markdown(all bool) string
	objects() []any
}

type comparisonsOfRuns []*compare.Comparison

func (l comparisonsOfRuns) text(o compare.TextOptions) string { return compare.Text(l, o) }
func (l comparisonsOfRuns) markdown(all bool) string          { return compare.Markdown(l, all) }
func (l comparisonsOfRuns) objects() (list []any) {
	for _, c := range l {
		list = append(list, c.Object())
	}
	return list
}

type comparisonsOfSweeps []*compare.SweepComparison

func (l comparisonsOfSweeps) text(o compare.TextOptions) string {
	var parts []string
	for _, c := range l {
		parts = append(parts, c.Text(o))
	}
	return strings.Join(parts, "\n")
}

func (l comparisonsOfSweeps) markdown(all bool) string {
	var parts []string
	for _, c := range l {
		parts = append(parts, c.Markdown(all))
	}
	return strings.Join(parts, "\n")
}

func (l comparisonsOfSweeps) objects() (list []any) {
	for _, c := range l {
		list = append(list, c.Object())
	}
	return list
}

func printComparisons(e *command.Env, o compareOptions, list printable) error {
	t := e.Terminal
	var err error
	switch o.format {
	case "json":
		return artifact.WriteIndented(t.Out,
			artifact.Object{{Key: "schema_version", Value: "1.1"}, {Key: "comparisons", Value: list.objects()}})
	case "markdown":
		_, err = fmt.Fprint(t.Out, list.markdown(o.all))
	default: // its foreign texts are safe, and it may have colours
		_, err = io.WriteString(t.StyledOut, list.text(compare.TextOptions{Width: t.Width(),
			Colour: t.OutTTY && t.Colour, All: o.all}))
	}
	return err
}
