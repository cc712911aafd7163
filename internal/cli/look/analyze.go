package look

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/scalar"
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
	"aiperf/internal/result/analysis"
	"aiperf/internal/result/summary"
)

const analyzeHelp = `Usage: aiperf analyze swim-lane RUN_DIR [RUN_DIR …] [options]
       aiperf analyze turn-messages RUN_DIR [RUN_DIR …] [options]

Shows finished runs: swim-lane draws their sessions over time, turn-messages lists the content of their requests.
"aiperf analyze swim-lane --help" and "aiperf analyze turn-messages --help" show the options.
`

const swimLaneHelp = `Usage: aiperf analyze swim-lane RUN_DIR [RUN_DIR …] [options]

Draws a lane for each session of a run, with a bar for each request, and below them how many requests and
sessions were under way: swim_lane.png in the run's folder. More than 100 sessions share lanes. It reads
profile_export.jsonl, of this program or of the original one.

Options:
`

// runAnalyze draws what a run did.
func runAnalyze(e *command.Env, args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "swim-lane":
			return swimLane(e, args[1:])
		case "turn-messages":
			return turnMessages(e, args[1:])
		}
	}
	if flags.WantsHelp(args) {
		e.Terminal.Fitted(analyzeHelp)
		return nil
	}
	return errors.New("no analysis given: aiperf analyze swim-lane RUN_DIR, or aiperf analyze " +
		"turn-messages RUN_DIR")
}

// runDirs are the folders that an analysis reads.
type runDirs struct {
	named []string
	empty bool
}

// flags are the options that name folders, which may also be given without the flag.
func (r *runDirs) flags() []flags.Flag {
	return []flags.Flag{
		flags.Value("run-dirs", "DIR", "a folder to read; the flag itself may be omitted",
			flags.Texts(&r.named)),
		flags.Switch("empty-run-dirs", "no folder at all: nothing is done", &r.empty),
	}
}

// unlisted gives a flag a short name that its help reports.
func unlisted(short string, f flags.Flag) flags.Flag {
	f.Unlisted = short
	return f
}

// all are the folders that were named in either way, in that order.
func (r *runDirs) all(alone []string) ([]string, error) {
	dirs := slices.Concat(r.named, alone)
	if r.empty && len(dirs) > 0 {
		return nil, errors.New("--empty-run-dirs and a folder cannot be used together")
	}
	return dirs, nil
}

type swimLaneOptions struct {
	runDirs
	out               string
	concurrency, ramp *float64
	html              bool
}

func (o *swimLaneOptions) table() *flags.Table {
	atLeast0 := func(into **float64, read func(string) (float64, error)) func(string) error {
		return func(v string) error {
			n, err := read(v)
			if err != nil || !(n >= 0) || n > 1e12 {
				return fmt.Errorf("%q is not a number of at least 0", v)
			}
			*into = &n
			return nil
		}
	}
	noHTML := flags.Switch("no-html", "do not; the default", nil)
	noHTML.On = func() { o.html = false }
	return &flags.Table{Command: "analyze swim-lane", About: swimLaneHelp, Flags: append(o.flags(),
		unlisted("o", flags.Value("out", "FILE", "the picture, of a single run; default: swim_lane.png in the run's "+
			"folder; "+
			"-o is the same", flags.Text(&o.out))),
		unlisted("c", flags.Value("concurrency", "N", "a reference line; default: the concurrency that the run had; "+
			"-c is the same", atLeast0(&o.concurrency, scalar.Number))),
		flags.Value("ramp", "SECONDS", "when the ramp was over; default: as the run was configured",
			atLeast0(&o.ramp, func(v string) (float64, error) { return scalar.In(time.Second, v) })),
		flags.Switch("html", "also write a page with zoom and details of each request (.html)", &o.html),
		noHTML,
	)}
}

func swimLane(e *command.Env, args []string) error {
	var o swimLaneOptions
	runs, err := e.Parse(o.table(), args)
	if err != nil {
		return err
	}
	return eachRun(e, "swim-lane", &o.runDirs, runs, o.out, func(dir string) ([]string, error) {
		chart, err := analysis.ReadSwimlane(runFile(dir, "profile_export.jsonl", ".jsonl"), runTitle(dir))
		if err != nil {
			return nil, err
		}
		var configured summary.Configured
		if file, err := summary.FindSummary(dir); err == nil { // a run that was killed has none
			if configured, err = summary.ReadConfigured(file); err != nil {
				return nil, err
			}
		}
		chart.Concurrency, chart.RampNS = configured.Concurrency, int64(configured.RampSeconds*1e9)
		if o.concurrency != nil {
			chart.Concurrency = *o.concurrency
		}
		if o.ramp != nil {
			chart.RampNS = int64(*o.ramp * 1e9)
		}
		picture := o.out
		if picture == "" {
			picture = filepath.Join(dir, "swim_lane.png")
		}
		written := []string{picture}
		if err := command.WriteFile(picture, chart.WritePNG); err != nil || !o.html {
			return written, err
		}
		page := strings.TrimSuffix(picture, filepath.Ext(picture)) + ".html"
		return append(written, page), command.WriteFile(page, chart.WriteHTML)
	})
}

// eachRun carries out a command for each folder of a run. One that cannot be read does not stop the others; the exit
// code reports it.
func eachRun(e *command.Env, analysis string, dirs *runDirs, alone []string, out string,
	work func(dir string) (written []string, err error)) error {
	runs, err := dirs.all(alone)
	switch {
	case err != nil:
		return err
	case dirs.empty:
		return nil
	case len(runs) == 0:
		return fmt.Errorf("no run given: aiperf analyze %s RUN_DIR [RUN_DIR …]", analysis)
	case len(runs) > 1 && out != "":
		return errors.New("--out is for a single run: without it each run's files go to its own folder")
	}
	failed := false
	for _, dir := range runs {
		written, err := work(dir)
		if err != nil {
			fmt.Fprintf(e.Terminal.Err, "skip %s: %v\n", dir, err)
			failed = true
			continue
		}
		for _, path := range written {
			fmt.Fprintln(e.Terminal.Out, "saved "+path)
		}
	}
	if failed {
		return command.Exit(command.ExitFailure)
	}
	return nil
}

// runFile is a file of a run: by its usual name, or by the prefix that the summary has.
func runFile(dir, name, suffix string) string {
	usual := filepath.Join(dir, name)
	if _, err := os.Stat(usual); err == nil {
		return usual
	}
	if file, err := summary.FindSummary(dir); err == nil {
		if prefixed := strings.TrimSuffix(file, ".json") + suffix; filepath.Base(file) != "profile_export_aiperf.json" {
			return prefixed
		}
	}
	return usual
}

// runTitle is what a picture calls a run.
func runTitle(dir string) string {
	if whole, err := filepath.Abs(dir); err == nil {
		dir = whole
	}
	return filepath.Base(dir)
}
